//! `connection_status`: what the task is attached to at this moment, without waiting for the page.
//!
//! The browser is asked for the tab's newest title; `"fresh": false` does without, and then nothing is waited for.

use ostler_core::{SessionId, TargetId};
use serde::Serialize;

use super::current_tab::{self, Tab};
use super::{Answer, Fields, TaskLayer, reply, value};

#[derive(Serialize)]
struct Status<'a> {
    target_id: Option<&'a TargetId>,
    session_id: Option<&'a SessionId>,
    page: Option<Tab<'a>>,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = fields.task()?;
    let view = tasks.view(&task)?;
    let fresh = fields.raw("fresh").map_or(Ok(true), |raw| value::flag("fresh", raw))?;
    let attached = view.current_session.as_ref().and(view.current_tab());
    let asked = match attached.filter(|_| fresh) {
        Some(tab) => current_tab::ask_browser(tasks, &task, &tab.target_id).await,
        None => None,
    };
    let page = match (attached, &asked) {
        (Some(tab), Some(asked)) => Some(asked.as_tab(&tab.target_id)),
        (known, _) => known.map(Tab::from),
    };
    Ok(reply(&Status { target_id: view.current.as_ref(), session_id: view.current_session.as_ref(), page }))
}
