//! `set_session`: makes a tab the task's current one.

use super::session::Session;
use super::value::bad;
use super::{Answer, Fields, TaskLayer, reply};

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = fields.task()?;
    let session = fields.id("session_id")?;
    let target = fields.id("target_id")?;
    if session.is_none() && target.is_none() {
        return Err(bad("session_id", "is missing; name the tab by `session_id` or `target_id`"));
    }
    let session_id = tasks.set_session(&task, session, target).await?;
    Ok(reply(&Session { session_id }))
}
