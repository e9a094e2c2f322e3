//! The registry: task → browser. One connection per browser, however many tasks share it; state never
//! crosses from one browser to another.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use ostler_core::supervisor::{self, BridgeSecret, ClientCall, Input, OnDialog, Outcome};
use ostler_core::view::{ClosedDialogView, DialogBridge, DialogPolicy, TaskView};
use ostler_core::{CallError, SessionId, TargetId, TaskId, Waiter};
use tokio::sync::watch;
use tokio::time::timeout;

use super::table::{Entry, State};
use super::turns::Turns;
use super::{CallRequest, DialogAnswer, TaskEvents, TaskSummary};
use crate::connection::{ChooserHold, Handle};
use crate::endpoint::cloud::CloudSettings;
use crate::endpoint::{BrowserKind, Machine, Source};
use crate::page::Memory;
use crate::secret::SecretUrl;

/// How long a request that names no time of its own waits.
const REQUEST: Duration = Duration::from_secs(30);
/// How often somebody who waits for a browser to appear has its port looked at.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What a task gets that asks for nothing else.
#[derive(Clone, Debug)]
pub(crate) struct Defaults {
    /// The browser.
    pub(crate) source: Source,
    /// The program that a launch takes when it is told no other.
    pub(crate) executable: Option<PathBuf>,
    /// Flags for every launch, before those that it is told.
    pub(crate) flags: Vec<String>,
    /// Where named profiles are.
    pub(crate) profiles: PathBuf,
    /// Where launched browsers are noted.
    pub(crate) launched: PathBuf,
    /// What `connect --cloud` goes by.
    pub(crate) cloud: CloudSettings,
    /// How dialogs are answered.
    pub(crate) dialog_policy: DialogPolicy,
    /// How long a dialog waits for an answer.
    pub(crate) dialog_timeout: Duration,
    /// Whether pages are kept from telling that they are watched.
    pub(crate) quiet: bool,
    /// Whether dialogs come over the bridge.
    pub(crate) dialog_bridge: DialogBridge,
}

/// All tasks of the daemon.
#[derive(Debug)]
pub(crate) struct Registry {
    pub(super) defaults: Defaults,
    pub(super) machine: Arc<Machine>,
    /// One for all of its connections: a page is still known after its browser was let go and is held again.
    pub(super) bridge_secret: BridgeSecret,
    pub(super) turns: Turns,
    state: Mutex<State>,
    ending: watch::Sender<bool>,
}

impl Registry {
    /// Starts with the default task, which is always there. Nothing is dialled yet.
    pub(crate) fn new(defaults: Defaults, machine: Machine, bridge_secret: BridgeSecret) -> Self {
        let (state, ending) = (Mutex::default(), watch::Sender::new(false));
        let (machine, turns) = (Arc::new(machine), Turns::default());
        let registry = Self { defaults, machine, bridge_secret, turns, state, ending };
        registry.start_default_task(&mut registry.state());
        registry
    }

    /// Makes a call; the outcome is its raw result.
    pub(crate) async fn call(&self, request: CallRequest) -> Result<Bytes, CallError> {
        let asked = Instant::now();
        let timeout_ms = u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX);
        let entry = self.entry_to_use(&request.task, request.timeout).await?;
        let call = |waiter| {
            let CallRequest { task, session_id, frame_id, target_id, method, params, on_dialog, .. } = request.clone();
            // What it waited for its browser is part of its time.
            let timeout = request.timeout.saturating_sub(asked.elapsed());
            Input::Call(ClientCall {
                waiter,
                task,
                session: session_id,
                frame: frame_id,
                target: target_id,
                method,
                params,
                timeout,
                on_dialog,
            })
        };
        match self.ask_there(entry, &request.task, call).await {
            Ok(Outcome::Result(result)) => Ok(result),
            Ok(other) => Err(out_of_place(&other)),
            // The time that the caller gave, not what was left of it.
            Err(CallError::Timeout { method, hint, .. }) => Err(CallError::Timeout { method, timeout_ms, hint }),
            Err(error) => Err(error),
        }
    }

    /// Returns what is known of the task; never waits.
    pub(crate) fn view(&self, task: &TaskId) -> Result<Arc<TaskView>, CallError> {
        Ok(self.entry(task)?.feed.view())
    }

    /// Returns the task's current tab, attached. Chooses or opens one if there is none.
    pub(crate) async fn current_session(&self, task: &TaskId) -> Result<(TargetId, SessionId), CallError> {
        let asked = Instant::now();
        let ask =
            |waiter| Input::CurrentTab { waiter, task: task.clone(), timeout: REQUEST.saturating_sub(asked.elapsed()) };
        tab(self.ask(task, ask).await?)
    }

    /// Makes a tab the current one; returns the session on it.
    pub(crate) async fn set_session(
        &self,
        task: &TaskId,
        session: Option<SessionId>,
        target: Option<TargetId>,
    ) -> Result<SessionId, CallError> {
        let select =
            |waiter| Input::SelectTab { waiter, task: task.clone(), session: session.clone(), target: target.clone() };
        Ok(tab(self.ask(task, select).await?)?.1)
    }

    /// Answers a dialog; returns it closed.
    pub(crate) async fn answer_dialog(
        &self,
        task: &TaskId,
        answer: DialogAnswer,
    ) -> Result<ClosedDialogView, CallError> {
        let answer = |waiter| {
            let DialogAnswer { accept, prompt_text, dialog_id } = answer.clone();
            Input::AnswerDialog(supervisor::DialogAnswer { waiter, task: task.clone(), accept, prompt_text, dialog_id })
        };
        match self.ask(task, answer).await? {
            Outcome::Dialog(closed) => Ok(closed),
            other => Err(out_of_place(&other)),
        }
    }

    /// Brings the console of the task's view up to date, where it is not told as it comes.
    pub(crate) async fn fetch_console(&self, task: &TaskId) -> Result<(), CallError> {
        self.ask(task, |waiter| Input::FetchConsole { waiter, task: task.clone() }).await.map(|_| ())
    }

    /// Holds the file choosers of a tab back until what is returned is dropped.
    pub(crate) fn hold_choosers(&self, task: &TaskId, target: TargetId) -> Result<ChooserHold, CallError> {
        Ok(self.entry(task)?.handle.hold_choosers(target))
    }

    /// Stops the script that keeps the current tab busy.
    pub(crate) async fn interrupt(&self, task: &TaskId) -> Result<(), CallError> {
        self.ask(task, |waiter| Input::Interrupt { waiter, task: task.clone() }).await.map(|_| ())
    }

    /// Ends a task; the default one is there again at once, with nothing attached.
    pub(crate) async fn disconnect(&self, task: &TaskId) -> Result<TaskSummary, CallError> {
        let turn = self.turns.take(task, REQUEST).await?;
        let entry = self.entry(task)?;
        let mut summary =
            TaskSummary { active: false, tabs: 0, pending_dialogs: 0, cloud: None, ..self.summary(task, &entry) };
        let unused = {
            let mut state = self.state();
            state.tasks.remove(task);
            state.astray.remove(task);
            let unused = state.end(task, &entry);
            if *task == TaskId::default_task() {
                self.start_default_task(&mut state);
            }
            unused
        };
        drop(turn);
        if let Some(unused) = unused {
            summary.left_behind = unused.leave().await;
        }
        Ok(summary)
    }

    /// Returns all tasks.
    pub(crate) fn tasks(&self) -> Vec<TaskSummary> {
        let tasks = self.state().tasks.clone();
        tasks.iter().map(|(task, entry)| self.summary(task, entry)).collect()
    }

    /// Returns what `ping` says of the default task's browser.
    pub(crate) fn browser_kind(&self) -> BrowserKind {
        self.entry(&TaskId::default_task()).map_or(BrowserKind::Local, |entry| entry.handle.status().kind)
    }

    /// Returns whether the default task's browser is the one at this URL.
    pub(crate) fn drives(&self, url: &SecretUrl) -> bool {
        let state = self.state();
        let entry = state.tasks.get(&TaskId::default_task());
        let at_url = state.browsers.at_url(url);
        entry.zip(at_url).is_some_and(|(entry, browser)| browser.handle.is(&entry.handle))
    }

    /// Returns whether the browser of a task can be reached, or that of the default task where there is none of that
    /// name: a new one would be in the same. With `unlike` it returns once the answer is another.
    pub(crate) async fn reachable(&self, task: &TaskId, unlike: Option<bool>) -> bool {
        loop {
            // Each time anew: the task may have been moved to another browser.
            let entry = self.entry(task).or_else(|_| self.entry(&TaskId::default_task()));
            let Ok(Entry { handle, .. }) = entry else { return false };
            let reachable = handle.is_reachable().await;
            if Some(reachable) != unlike {
                return reachable;
            }
            let _ = timeout(LOOK_AGAIN, handle.connection_changed()).await;
        }
    }

    /// Returns whether the browser of a task answers within `limit`; none if there is no connection to it, which then is
    /// not made either.
    pub(crate) async fn browser_answers(&self, task: &TaskId, limit: Duration) -> Option<bool> {
        let entry = self.entry(task).ok().filter(|entry| entry.handle.is_connected())?;
        self.answers(task, &entry.handle, limit).await
    }

    /// Returns whether a browser that is held answers within `limit`.
    pub(super) async fn answers(&self, task: &TaskId, handle: &Handle, limit: Duration) -> Option<bool> {
        let asked = handle.call(|waiter| ClientCall {
            waiter,
            task: task.clone(),
            session: None,
            frame: None,
            target: None,
            method: "Browser.getVersion".to_owned(),
            params: None,
            timeout: limit,
            on_dialog: OnDialog::Return,
        });
        match asked.await {
            // A backend that refuses it answers, too.
            Ok(_) | Err(CallError::Cdp { .. }) => Some(true),
            Err(CallError::Timeout { .. }) => Some(false),
            Err(_) => None,
        }
    }

    /// Returns a task's events.
    pub(crate) fn events(&self, task: &TaskId) -> Result<Arc<TaskEvents>, CallError> {
        Ok(self.entry(task)?.feed)
    }

    /// Returns what is kept of the pages that the task was shown.
    pub(crate) fn page_memory(&self, task: &TaskId) -> Result<Arc<Memory>, CallError> {
        Ok(self.entry(task)?.memory)
    }

    /// Asks for the daemon's orderly end.
    pub(crate) fn request_shutdown(&self) {
        self.ending.send_replace(true);
    }

    /// Waits until somebody asked for the end.
    pub(crate) async fn shutdown_requested(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.ending.subscribe().wait_for(|ending| *ending).await;
    }

    /// Lets go of every browser, all at once.
    pub(crate) async fn leave_all(&self) {
        let browsers = std::mem::take(&mut self.state().browsers);
        let leaving: Vec<_> =
            browsers.into_handles().map(|handle| tokio::spawn(async move { handle.leave().await })).collect();
        for leaving in leaving {
            // A driver that panicked has nothing left to let go of.
            let _ = leaving.await;
        }
    }

    /// Asks the browser that a task is in.
    async fn ask(&self, task: &TaskId, make: impl Fn(Waiter) -> Input) -> Result<Outcome, CallError> {
        let entry = self.entry_to_use(task, REQUEST).await?;
        self.ask_there(entry, task, make).await
    }

    /// Asks the browser that a task was in a moment ago, or the one that it has been moved to since: a browser that knows
    /// the task no more has sent nothing.
    async fn ask_there(
        &self,
        mut entry: Entry,
        task: &TaskId,
        make: impl Fn(Waiter) -> Input,
    ) -> Result<Outcome, CallError> {
        loop {
            let outcome = entry.handle.ask(&make).await;
            if !matches!(outcome, Err(CallError::UnknownTask { .. })) {
                return outcome;
            }
            let now = self.entry(task)?;
            // One that was ended and begun again has another feed, in the same browser as well.
            if Arc::ptr_eq(&now.feed, &entry.feed) {
                return outcome;
            }
            entry = now;
        }
    }

    pub(super) fn entry(&self, task: &TaskId) -> Result<Entry, CallError> {
        self.state().entry(task)
    }

    pub(super) fn summary(&self, task: &TaskId, entry: &Entry) -> TaskSummary {
        let (view, status) = (entry.feed.view(), entry.handle.status());
        let astray = self.state().astray(task);
        TaskSummary {
            task: task.clone(),
            browser_kind: status.kind,
            browser: astray.unwrap_or_else(|| status.text.clone()),
            active: view.active,
            tabs: view.tabs.len(),
            pending_dialogs: view.pending_dialogs.len(),
            cloud: status.cloud.clone(),
            left_behind: None,
        }
    }

    /// Held only while the tables are read or changed, never across a wait.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tab(outcome: Outcome) -> Result<(TargetId, SessionId), CallError> {
    match outcome {
        Outcome::Tab(target, session) => Ok((target, session)),
        other => Err(out_of_place(&other)),
    }
}

/// The core gives each input one kind of outcome: another one is a fault of ours, and said to be.
fn out_of_place(outcome: &Outcome) -> CallError {
    CallError::BadRequest { field: "meta", why: format!("ostler mixed up an outcome ({outcome:?}); please report it") }
}
