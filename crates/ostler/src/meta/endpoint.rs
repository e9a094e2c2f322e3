//! `endpoint`: can the task's browser be reached?
//!
//! Asking dials nothing. With `unlike`, the answer comes once it is another than the one that the client knows: so a
//! client that offers tools only while they make sense need not ask over and over.

use serde::Serialize;

use super::{Answer, Fields, TaskLayer, reply, value};

#[derive(Serialize)]
struct Endpoint {
    reachable: bool,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = fields.task()?;
    let unlike = fields.raw("unlike").map(|raw| value::flag("unlike", raw)).transpose()?;
    Ok(reply(&Endpoint { reachable: tasks.reachable(&task, unlike).await }))
}
