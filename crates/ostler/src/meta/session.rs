//! `session`: the session of the task's current tab.

use ostler_core::SessionId;
use serde::Serialize;

use super::{Answer, Fields, TaskLayer, reply};

/// The reply of `session` and `set_session`.
#[derive(Serialize)]
pub(super) struct Session {
    pub(super) session_id: SessionId,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = fields.task()?;
    // Known already in all but the first moment of a task, and then this never waits for the page.
    let session_id = match tasks.view(&task)?.current_session.clone() {
        Some(session_id) => session_id,
        None => tasks.current_session(&task).await?.1,
    };
    Ok(reply(&Session { session_id }))
}
