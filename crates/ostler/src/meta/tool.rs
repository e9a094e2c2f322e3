//! `tool`: runs one of the tools.

use super::{Answer, Fields, Outcome, TaskLayer};
use crate::tools;

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = fields.task()?;
    let name = fields.required_text("name")?;
    Ok(match tools::run(tasks, &task, &name, fields.raw("args")).await {
        Ok(result) => Outcome::Reply([br#"{"result":"#, &result[..], b"}"].concat().into()),
        Err(failure) => Outcome::Failed(failure),
    })
}
