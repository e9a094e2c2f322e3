//! `console`: the task's newest errors and exceptions. In a quiet task its pages are asked for them first, which
//! `state` never does.

use ostler_core::view::ConsoleEntry;
use serde::Serialize;

use super::{Answer, Fields, TaskLayer, reply};

#[derive(Serialize)]
struct Console<'a> {
    console: &'a [ConsoleEntry],
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = fields.task()?;
    tasks.fetch_console(&task).await?;
    Ok(reply(&Console { console: &tasks.view(&task)?.console }))
}
