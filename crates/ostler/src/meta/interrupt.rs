//! `interrupt`: stops the script that keeps the task's current tab busy.

use super::{Answer, Fields, TaskLayer, Worked, reply};

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    tasks.interrupt(&fields.task()?).await?;
    Ok(reply(&Worked::YES))
}
