//! `state`: what the supervisor knows of a task. It is read from the published view and never waits.

use super::{Answer, Fields, Outcome, TaskLayer};

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let state = tasks.view(&fields.task()?)?.state_json();
    Ok(Outcome::Reply([br#"{"state":"#, state.as_bytes(), b"}"].concat().into()))
}
