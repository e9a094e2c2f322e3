//! What every tool has at hand: the task it works for, and the tab that it works in.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ostler_core::supervisor::OnDialog;
use ostler_core::view::{DialogPolicy, TabState, TabView, TaskView};
use ostler_core::{CallError, FrameId, SessionId, TargetId, TaskId, Words};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

use crate::meta::TaskLayer;
use crate::page::{self, Page};
use crate::tasks::CallRequest;
use crate::times::CALL_DEFAULT;

/// How long a page that is known to hang may take to show that it does not any more.
pub(super) const HUNG: Duration = Duration::from_millis(500);

/// The task that a tool works for.
#[derive(Debug)]
pub(super) struct Context<'a, T> {
    pub(super) tasks: &'a T,
    pub(super) task: &'a TaskId,
    /// The words of whoever reads what comes of it.
    pub(super) words: Words,
}

/// One tab of the task. A tool that holds it stays in it, whichever tab others make the current one meanwhile.
#[derive(Debug)]
pub(super) struct Tab<'a, T> {
    context: &'a Context<'a, T>,
    /// Its `page` target.
    pub(super) target: TargetId,
    /// The supervisor's session on it.
    pub(super) session: SessionId,
}

/// Where a call goes, and for how long.
#[derive(Debug, Default)]
pub(super) struct Route {
    pub(super) target: Option<TargetId>,
    pub(super) session: Option<SessionId>,
    pub(super) frame: Option<FrameId>,
    pub(super) timeout: Option<Duration>,
}

impl<'a, T: TaskLayer> Context<'a, T> {
    /// Begins a tool's work in a task.
    pub(super) fn new(tasks: &'a T, task: &'a TaskId, words: Words) -> Self {
        Self { tasks, task, words }
    }

    /// Returns what is known of the task; never waits.
    pub(super) fn view(&self) -> Result<Arc<TaskView>, CallError> {
        self.tasks.view(self.task)
    }

    /// Returns the task's current tab, attached. Chooses or opens one if there is none.
    pub(super) async fn tab(&'a self) -> Result<Tab<'a, T>, CallError> {
        let (target, _) = self.tasks.current_session(self.task).await?;
        let view = self.view()?;
        // What a client made the current session may be a frame's; the tab's own is the supervisor's.
        let known = view.tabs.iter().find(|tab| tab.target_id == target);
        self.tab_of(known.ok_or_else(|| CallError::SessionGone { what: format!("tab {target}") })?)
    }

    /// Returns a tab of the task, if it is attached.
    pub(super) fn tab_of(&'a self, tab: &TabView) -> Result<Tab<'a, T>, CallError> {
        let (target, session) = (tab.target_id.clone(), tab.session_id.clone());
        let session = session.ok_or_else(|| CallError::SessionGone { what: format!("tab {target}") })?;
        Ok(Tab { context: self, target, session })
    }

    /// The same for one who needs its page to answer. A page that is known to hang is asked first: by its answer it shows
    /// that it has recovered, and without one it is not waited for as long as a page that may only be slow.
    pub(super) async fn answering_tab(&'a self) -> Result<Tab<'a, T>, CallError> {
        let tab = self.tab().await?;
        if tab.view()?.state == TabState::Hung {
            tab.ask(HUNG).await?;
        }
        Ok(tab)
    }

    /// Asks a page or a frame whether it answers at all.
    pub(super) async fn ask(&self, route: Route, patience: Duration) -> Result<(), CallError> {
        let route = Route { timeout: Some(patience), ..route };
        self.call::<IgnoredAny>("Runtime.getIsolateId", &json!({}), route).await.map(drop)
    }

    /// Makes a call with raw parameters and returns its raw result.
    pub(super) async fn call_raw(&self, method: &str, params: Option<Bytes>, route: Route) -> Result<Bytes, CallError> {
        self.tasks.call(self.request(method, params, route)).await
    }

    fn request(&self, method: &str, params: Option<Bytes>, route: Route) -> CallRequest {
        CallRequest {
            task: self.task.clone(),
            session_id: route.session,
            frame_id: route.frame,
            target_id: route.target,
            method: method.to_owned(),
            params,
            timeout: route.timeout.unwrap_or(CALL_DEFAULT),
            on_dialog: OnDialog::Return,
        }
    }

    /// Makes a call and reads what `R` wants of its result.
    pub(super) async fn call<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &Value,
        route: Route,
    ) -> Result<R, CallError> {
        let result = self.call_raw(method, Some(params.to_string().into()), route).await?;
        read_result(method, &result)
    }
}

impl<'a, T: TaskLayer> Tab<'a, T> {
    /// Returns the task that the tab belongs to.
    pub(super) fn context(&self) -> &'a Context<'a, T> {
        self.context
    }

    /// Makes a call that the page on the tab's root has to answer, and reads what `R` wants of its result.
    pub(super) async fn call_within<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &Value,
        timeout: Duration,
    ) -> Result<R, CallError> {
        self.call_on(Route { timeout: Some(timeout), ..self.route() }, method, params).await
    }

    /// The same, of the page or one of its frames.
    pub(super) async fn call_on<R: DeserializeOwned>(
        &self,
        route: Route,
        method: &str,
        params: &Value,
    ) -> Result<R, CallError> {
        read_result(method, &self.call_raw(method, params.to_string().into(), route).await?)
    }

    /// The same with raw parameters, and its raw result.
    pub(super) async fn call_raw(&self, method: &str, params: Bytes, route: Route) -> Result<Bytes, CallError> {
        page::call(self.context.tasks, &self.target, self.context.request(method, Some(params), route)).await
    }

    /// Asks the page whether it answers at all.
    pub(super) async fn ask(&self, patience: Duration) -> Result<(), CallError> {
        self.context.ask(self.route(), patience).await
    }

    /// Returns whether what the task's pages ask is answered by its policy, and over in a moment.
    pub(super) fn policy_answers(&self) -> Result<bool, CallError> {
        let view = self.context.view()?;
        let answerable = view.pending_dialogs.iter().all(|dialog| dialog.answerable);
        Ok(view.policy.dialog_policy != DialogPolicy::MustRespond && answerable)
    }

    /// Returns the tab's page, as one who reads it or acts on its elements sees it.
    pub(super) fn page(&self) -> Result<Page<'a, T>, CallError> {
        let Context { tasks, task, .. } = *self.context;
        Page::of(tasks, task, self.target.clone(), self.session.clone())
    }

    /// Returns address and session of each frame that has a process of its own; none unless the tab is the current one.
    pub(super) fn frames_apart(&self) -> Vec<(String, SessionId)> {
        let Ok(view) = self.context.view() else { return Vec::new() };
        let tree = view.all_frames.as_ref().filter(|_| view.current.as_ref() == Some(&self.target));
        let frames = tree.iter().flat_map(|tree| &tree.children);
        frames.filter_map(|frame| Some((frame.url.clone(), frame.session_id.clone()?))).collect()
    }

    /// Returns the way to the tab's root.
    pub(super) fn route(&self) -> Route {
        Route { target: Some(self.target.clone()), ..Route::default() }
    }

    /// Returns what is known of the tab; never waits. It fails once the tab is gone.
    pub(super) fn view(&self) -> Result<TabView, CallError> {
        let view = self.context.view()?;
        let tab = view.tabs.iter().find(|tab| tab.target_id == self.target).cloned();
        tab.ok_or_else(|| CallError::SessionGone { what: format!("tab {}", self.target) })
    }
}

/// Reads what `R` wants of a result.
fn read_result<R: DeserializeOwned>(method: &str, result: &[u8]) -> Result<R, CallError> {
    serde_json::from_slice(result).map_err(|error| CallError::Cdp {
        code: 0,
        message: format!("the browser's answer to {method} is not what ostler knows: {error}"),
    })
}
