//! `current_tab`: which tab the task's calls go to.
//!
//! The browser is asked, since it tells a new title only after a while; its answer does not need the page. A browser
//! that does not answer is not waited for: what is known is shown.

use std::time::Duration;

use ostler_core::cdp::text::LossyText;
use ostler_core::supervisor::OnDialog;
use ostler_core::view::TabView;
use ostler_core::{CallError, TargetId, TaskId};
use serde::{Deserialize, Serialize};

use super::{Answer, Fields, TaskLayer, reply};
use crate::tasks::CallRequest;

/// How long the browser may take.
const PATIENCE: Duration = Duration::from_secs(2);

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
    let known = tasks.view(&task)?.current_tab().map(|tab| tab.target_id.clone());
    let target_id = match known {
        Some(target_id) => target_id,
        None => tasks.current_session(&task).await?.0,
    };
    if let Some(asked) = ask_browser(tasks, &task, &target_id).await {
        return Ok(reply(&asked.as_tab(&target_id)));
    }
    let view = tasks.view(&task)?;
    let tab = view.tabs.iter().find(|tab| tab.target_id == target_id);
    let tab = tab.ok_or_else(|| CallError::SessionGone { what: format!("tab {target_id}") })?;
    Ok(reply(&Tab::from(tab)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfoResult {
    target_info: TargetInfo,
}

/// What the browser tells of a tab.
#[derive(Deserialize)]
pub(super) struct TargetInfo {
    #[serde(default)]
    url: LossyText,
    #[serde(default)]
    title: LossyText,
}

impl TargetInfo {
    pub(super) fn as_tab<'a>(&'a self, target_id: &'a TargetId) -> Tab<'a> {
        Tab { target_id, url: &self.url.0, title: &self.title.0 }
    }
}

/// Asks the browser's own side for the tab's address and title; `None` if it does not answer in time.
pub(super) async fn ask_browser<T: TaskLayer>(tasks: &T, task: &TaskId, target: &TargetId) -> Option<TargetInfo> {
    let params = serde_json::json!({ "targetId": target }).to_string();
    let call = CallRequest {
        task: task.clone(),
        session_id: None,
        frame_id: None,
        target_id: None,
        method: "Target.getTargetInfo".to_owned(),
        params: Some(params.into()),
        timeout: PATIENCE,
        on_dialog: OnDialog::Return,
    };
    let result = tasks.call(call).await.ok()?;
    serde_json::from_slice::<TargetInfoResult>(&result).ok().map(|result| result.target_info)
}
