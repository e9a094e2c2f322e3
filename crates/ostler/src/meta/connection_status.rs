//! `connection_status`: what the task is attached to at this moment, without waiting for anything.

use ostler_core::{SessionId, TargetId};
use serde::Serialize;

use super::current_tab::Tab;
use super::{Answer, Fields, TaskLayer, reply};

#[derive(Serialize)]
struct Status<'a> {
    target_id: Option<&'a TargetId>,
    session_id: Option<&'a SessionId>,
    page: Option<Tab<'a>>,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let view = tasks.view(&fields.task()?)?;
    let session_id = view.current_session.as_ref();
    let page = session_id.and_then(|_| view.current_tab()).map(Tab::from);
    Ok(reply(&Status { target_id: view.current.as_ref(), session_id, page }))
}
