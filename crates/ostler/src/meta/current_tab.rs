//! `current_tab`: which tab the task's calls go to.
//!
//! Address and title come from the published view, so a page that hangs does not hold up the answer.

use ostler_core::view::TabView;
use ostler_core::{CallError, TargetId};
use serde::Serialize;

use super::{Answer, Fields, TaskLayer, reply};

/// A tab in CDP's own spelling, as programs written against CDP expect it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tab<'a> {
    target_id: &'a TargetId,
    url: &'a str,
    title: &'a str,
}

impl<'a> From<&'a TabView> for Tab<'a> {
    fn from(tab: &'a TabView) -> Self {
        Self { target_id: &tab.target_id, url: &tab.url, title: &tab.title }
    }
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = fields.task()?;
    let view = tasks.view(&task)?;
    if let Some(tab) = view.current_tab() {
        return Ok(reply(&Tab::from(tab)));
    }
    let (target_id, _) = tasks.current_session(&task).await?;
    let view = tasks.view(&task)?;
    let tab = view.tabs.iter().find(|tab| tab.target_id == target_id);
    let tab = tab.ok_or_else(|| CallError::SessionGone { what: format!("tab {target_id}") })?;
    Ok(reply(&Tab::from(tab)))
}
