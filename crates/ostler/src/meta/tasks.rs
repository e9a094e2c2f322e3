//! `tasks`: which tasks there are.

use serde::Serialize;

use super::{Answer, Fields, TaskLayer, reply};
use crate::tasks::TaskSummary;

#[derive(Serialize)]
struct Tasks {
    tasks: Vec<TaskSummary>,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, _: &Fields<'_>) -> Answer<T> {
    Ok(reply(&Tasks { tasks: tasks.tasks() }))
}
