//! `tool`: runs one of the tools.

use ostler_core::Words;

use super::{Answer, Fields, Outcome, TaskLayer};
use crate::tools;

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = fields.task()?;
    let name = fields.required_text("name")?;
    // Who runs a tool has tools, unless it says otherwise.
    let words = fields.words()?.unwrap_or(Words::Tools);
    Ok(match tools::run(tasks, &task, &name, fields.raw("args"), words).await {
        Ok(result) => Outcome::Reply([br#"{"result":"#, &result[..], b"}"].concat().into()),
        Err(failure) => Outcome::Failed(failure),
    })
}
