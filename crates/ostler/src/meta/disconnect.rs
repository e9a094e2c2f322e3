//! `disconnect`: ends a task.

use super::connect::Bound;
use super::{Answer, Fields, TaskLayer, reply};

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = tasks.disconnect(&fields.task()?).await?;
    Ok(reply(&Bound::of(task)))
}
