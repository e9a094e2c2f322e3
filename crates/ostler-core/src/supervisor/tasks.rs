//! One agent's work in the browser: its tabs, dialogs and console, and which tab is the current one.

use std::collections::VecDeque;
use std::time::Duration;

use super::console::Console;
use super::publish::{Dirty, Parts};
use super::requests::Request;
use super::sessions::{Phase, Tab};
use super::sleep::Sleep;
use super::{End, Purpose, Scope, Supervisor, object, wire};
use crate::error::CallError;
use crate::ids::{DialogId, SessionId, TargetId, TaskId};
use crate::view::{ClosedDialogView, DialogBridge, DialogPolicy, MAX_RECENT_DIALOGS};

/// What is known of a task.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) policy: DialogPolicy,
    pub(super) dialog_timeout: Duration,
    /// Whether `Runtime` stays off in its tabs; see `quiet.rs`.
    pub(super) quiet: bool,
    pub(super) dialog_bridge: DialogBridge,
    /// Somebody else was seen to answer its dialogs, as fast as a machine (fact A14).
    pub(super) answered_by_others: bool,
    /// The number of the newest dialog.
    pub(super) dialogs_so_far: u64,
    pub(super) recent: VecDeque<ClosedDialogView>,
    pub(super) console: Console,
    /// The number of the newest tab.
    tabs_so_far: u64,
    /// In the order in which the task got them.
    pub(super) tabs: Vec<TargetId>,
    pub(super) current: Option<TargetId>,
    /// A frame's session that a client made the current one, in place of its tab's.
    pub(super) chosen_session: Option<SessionId>,
    /// Whether a tab is being opened because there was none.
    opening: bool,
    /// Requests that wait for that tab.
    pub(super) queue: Vec<Request>,
    pub(super) dirty: Dirty,
    pub(super) parts: Parts,
}

impl Task {
    fn new(
        policy: DialogPolicy,
        dialog_timeout: Duration,
        quiet: bool,
        dialog_bridge: DialogBridge,
        dialogs_before: u64,
    ) -> Self {
        Self {
            policy,
            dialog_timeout,
            quiet,
            dialog_bridge,
            answered_by_others: false,
            dialogs_so_far: dialogs_before,
            recent: VecDeque::new(),
            console: Console::default(),
            tabs_so_far: 0,
            tabs: Vec::new(),
            current: None,
            chosen_session: None,
            opening: false,
            queue: Vec::new(),
            dirty: Dirty::ALL,
            parts: Parts::default(),
        }
    }

    /// Returns a number that no tab of the task has had.
    fn next_tab_number(&mut self) -> u64 {
        self.tabs_so_far += 1;
        self.tabs_so_far
    }

    /// Returns a number that no dialog of the task has had.
    pub(super) fn next_dialog_id(&mut self) -> DialogId {
        self.dialogs_so_far += 1;
        DialogId(self.dialogs_so_far)
    }

    pub(super) fn remember(&mut self, closed: ClosedDialogView) {
        if self.recent.len() == MAX_RECENT_DIALOGS {
            self.recent.pop_front();
        }
        self.recent.push_back(closed);
        self.dirty |= Dirty::DIALOGS;
    }
}

/// Returns whether a person would call it a page: an agent never gets an internal one by itself.
fn is_real_page(info: &wire::TargetInfo) -> bool {
    let url = info.url.0.as_str();
    info.kind == "page"
        && (url.is_empty()
            || url.starts_with("about:blank")
            || ["http://", "https://", "file://", "data:", "blob:"].iter().any(|scheme| url.starts_with(scheme)))
}

impl Supervisor {
    pub(super) fn on_start_task(
        &mut self,
        id: TaskId,
        policy: DialogPolicy,
        dialog_timeout: Duration,
        quiet: bool,
        dialog_bridge: DialogBridge,
        dialogs_before: u64,
    ) {
        match self.tasks.get_mut(&id) {
            Some(task) => {
                let before = (task.policy, task.dialog_timeout);
                (task.policy, task.dialog_timeout, task.quiet) = (policy, dialog_timeout, quiet);
                task.dialog_bridge = dialog_bridge;
                task.dirty |= Dirty::POLICY;
                for target in task.tabs.clone() {
                    self.match_quiet(&target);
                }
                self.adjust_bridge(&id);
                self.on_policy_changed(&id, before);
            }
            None => {
                self.tasks.insert(id.clone(), Task::new(policy, dialog_timeout, quiet, dialog_bridge, dialogs_before));
                self.adopt_unowned_tabs(&id);
            }
        }
    }

    pub(super) fn close_own(&mut self, target: &TargetId) {
        self.send_own(Purpose::Ignored, None, "Target.closeTarget", &object(&[("targetId", target.as_str())]));
    }

    /// Returns the task that gets what no other has: the default one, else the first.
    pub(super) fn fallback_task(&self) -> Option<TaskId> {
        let default = self.tasks.get_key_value(&TaskId::default_task()).or_else(|| self.tasks.first_key_value());
        default.map(|(id, _)| id.clone())
    }

    pub(super) fn task_names(&self) -> Vec<String> {
        self.tasks.keys().map(ToString::to_string).collect()
    }

    /// Drops all that belonged to another browser (invariant 5). Tasks, their policies and their
    /// dialog numbers stay: they are the client's, not the browser's.
    pub(super) fn forget_browser(&mut self) {
        for target in self.tabs.keys().cloned().collect::<Vec<_>>() {
            self.forget_tab(&target, "the browser is another one now");
        }
        self.sessions.clear();
        self.left_armed.clear();
        for task in self.tasks.values_mut() {
            (task.current, task.chosen_session, task.opening) = (None, None, false);
            task.recent.clear();
            task.console.clear();
            task.dirty = Dirty::ALL;
        }
    }

    /// Makes sure that the task has a current tab that calls go through to. Returns it when that is
    /// so; otherwise `request` waits for it and nothing is returned.
    pub(super) fn current_or_wait(&mut self, id: &TaskId, request: Request) -> Option<(TargetId, Request)> {
        let task = self.tasks.get_mut(id)?;
        if !task.current.as_ref().is_some_and(|current| self.tabs.contains_key(current)) {
            // The current tab was closed: another one of the task takes its place.
            task.current = task.tabs.last().cloned();
            task.chosen_session = None;
            task.dirty |= Dirty::ALL;
        }
        if task.current.is_none() {
            task.queue.push(request);
            if !task.opening {
                self.find_tab(id);
            }
            return None;
        }
        let target = task.current.clone()?;
        if self.takes_calls(&target) {
            return Some((target, request));
        }
        self.tabs.get_mut(&target)?.queue.push(request);
        self.wake(&target);
        None
    }

    /// Returns whether calls can be sent to a tab. While a document that was there before is being set up they go
    /// right behind the set-up; only what navigates has to wait (fact F2).
    pub(super) fn takes_calls(&self, target: &TargetId) -> bool {
        let Some(tab) = self.tabs.get(target).filter(|tab| tab.sleep == Sleep::Awake) else { return false };
        let held = || tab.session.as_ref().and_then(|id| self.sessions.get(id)).is_none_or(|session| session.held);
        tab.phase == Phase::Ready || tab.phase == Phase::SettingUp && !held()
    }

    /// Chooses a tab for a task that has none. The default task takes a real page that nobody has;
    /// any other task, and one that finds none, opens a tab of its own in the background (fact E18).
    fn find_tab(&mut self, id: &TaskId) {
        let free = |info: &&wire::TargetInfo| is_real_page(info) && !self.tabs.contains_key(&info.target_id);
        let found = self.targets.iter().find(free).map(|info| info.target_id.clone());
        match found.filter(|_| *id == TaskId::default_task()) {
            Some(target) => self.adopt(&target, id, self.unclaimed_session(&target)),
            None => {
                if let Some(task) = self.tasks.get_mut(id) {
                    task.opening = true;
                }
                let params = r#"{"url":"about:blank","background":true}"#;
                self.send_own(Purpose::CreateTab { task: id.clone() }, None, "Target.createTarget", params);
            }
        }
    }

    /// Makes a tab that nobody has the task's, and attaches to it unless a session is at hand.
    pub(super) fn adopt(&mut self, target: &TargetId, id: &TaskId, session: Option<SessionId>) {
        self.add_tab(target, id);
        match session {
            Some(session) => self.supervise(&session, target),
            None => self.attach(target),
        }
    }

    fn add_tab(&mut self, target: &TargetId, id: &TaskId) {
        let info = self.targets.iter().find(|info| info.target_id == *target);
        let number = self.tasks.get_mut(id).map_or(0, Task::next_tab_number);
        let mut tab = Tab::new(id.clone(), number);
        tab.armed = self.left_armed.extract_if(.., |left| left == target).next().is_some();
        if let Some(info) = info {
            (tab.url, tab.title) = (info.url.0.clone(), info.title.0.clone());
            (tab.opener, tab.opener_frame) = (info.opener_id.clone(), info.opener_frame_id.clone());
        }
        self.tabs.insert(target.clone(), tab);
        if let Some(task) = self.tasks.get_mut(id) {
            task.tabs.push(target.clone());
            task.current.get_or_insert_with(|| target.clone());
            task.dirty = Dirty::ALL;
            let queue = std::mem::take(&mut task.queue);
            if let Some(tab) = self.tabs.get_mut(target) {
                tab.queue = queue;
            }
        }
        // Whatever clients have attached to it already is the task's too, and nobody else's from now on.
        for other in self.sessions.values_mut().filter(|other| other.target == *target) {
            other.tab = Some(target.clone());
        }
    }

    pub(super) fn attach(&mut self, target: &TargetId) {
        self.send_attach(Purpose::Attach { target: target.clone() }, target);
    }

    /// Attaches to a target by name, for whatever purpose.
    pub(super) fn send_attach(&mut self, purpose: Purpose, target: &TargetId) {
        let params = format!(r#"{{"targetId":{},"flatten":true}}"#, serde_json::Value::from(target.as_str()));
        self.send_own(purpose, None, "Target.attachToTarget", &params);
    }

    pub(super) fn on_tab_created(&mut self, id: &TaskId, end: End) {
        if let Some(task) = self.tasks.get_mut(id) {
            task.opening = false;
        }
        let created = match &end {
            End::Answer(Ok(result)) => str::from_utf8(result).ok().and_then(wire::read::<wire::NamesTarget>),
            _ => None,
        };
        match created {
            // The task ended meanwhile, and nobody asked for this tab but it.
            Some(created) if !self.tasks.contains_key(id) => {
                if !self.tabs.contains_key(&created.target_id) {
                    self.close_own(&created.target_id);
                }
            }
            Some(created) => {
                self.own_created(&created.target_id, id);
                if let Some(tab) = self.tabs.get_mut(&created.target_id) {
                    tab.ours = true;
                }
            }
            None => {
                let error = match end {
                    // Whoever waits for the tab sent nothing yet.
                    End::Failed(_) if self.gone_error().is_some() => return,
                    End::Answer(Err(error)) => CallError::Cdp { code: error.code, message: error.message },
                    End::Failed(error) => error,
                    End::Answer(Ok(_)) => CallError::SessionGone { what: "the tab that was opened".to_owned() },
                };
                let queue = self.tasks.get_mut(id).map(|task| std::mem::take(&mut task.queue)).unwrap_or_default();
                for request in queue {
                    self.fail_request(request, error.clone());
                }
            }
        }
    }

    /// A tab was opened for the task. Where auto-attach takes every tab it may have come already.
    pub(super) fn own_created(&mut self, target: &TargetId, id: &TaskId) {
        if !self.tasks.contains_key(id) {
            return;
        }
        match self.tabs.get(target) {
            Some(tab) if tab.task == *id => {
                let queue = self.tasks.get_mut(id).map(|task| {
                    task.current.get_or_insert_with(|| target.clone());
                    std::mem::take(&mut task.queue)
                });
                for request in queue.unwrap_or_default() {
                    self.on_request(request);
                }
            }
            Some(_) => {
                self.move_tab(target, id);
                self.own_created(target, id);
            }
            None => match self.unclaimed_session(target) {
                // Auto-attach brings every new tab of a browser of our own.
                None if self.scope == Scope::Own => self.add_tab(target, id),
                session => self.adopt(target, id, session),
            },
        }
    }

    fn move_tab(&mut self, target: &TargetId, id: &TaskId) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        let from = std::mem::replace(&mut tab.task, id.clone());
        if let Some(task) = self.tasks.get_mut(&from) {
            task.tabs.retain(|other| other != target);
            if task.current.as_ref() == Some(target) {
                task.current = None;
            }
            task.dirty = Dirty::ALL;
        }
        if let Some(task) = self.tasks.get_mut(id) {
            task.tabs.push(target.clone());
            task.dirty = Dirty::ALL;
            tab.number = task.next_tab_number();
        }
        self.match_quiet(target);
        self.adjust_bridge(id);
    }
}
