//! The registry: task → browser. One connection per browser, however many tasks share it; state never
//! crosses from one browser to another.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use ostler_core::supervisor::{self, ClientCall, Input, Outcome};
use ostler_core::view::{ClosedDialogView, DialogBridge, DialogPolicy, TaskView};
use ostler_core::{CallError, SessionId, TargetId, TaskId};
use tokio::sync::watch;

use super::{CallRequest, ConnectRequest, ConnectTarget, DialogAnswer, TaskEvents, TaskSummary};
use crate::connection::{ChooserHold, Handle};
use crate::endpoint::cloud::{CloudSettings, Provider};
use crate::endpoint::{BrowserKind, Given, Machine, Source, Wanted};
use crate::page::Memory;
use crate::secret::SecretUrl;

/// How long `connect` waits: for a launch, for a person who is asked for consent, and for a tab.
const CONNECT: Duration = Duration::from_secs(100);
/// How long a request for the current tab waits.
const CURRENT_TAB: Duration = Duration::from_secs(30);
/// How often somebody who waits for a browser to appear has its port looked at.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How many names of ended tasks are remembered.
const MAX_REMEMBERED: usize = 10_000;

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
    defaults: Defaults,
    machine: Arc<Machine>,
    state: Mutex<State>,
    ending: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    browsers: Vec<Browser>,
    tasks: BTreeMap<TaskId, Entry>,
    /// How far the numbers of tasks went that are over: a name that comes back counts on.
    ended: BTreeMap<TaskId, Counts>,
}

/// The newest numbers that a task's events and dialogs had.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    events: u64,
    dialogs: u64,
}

/// A browser that a task is, or is to be, bound to.
#[derive(Debug)]
struct Binding {
    entry: Entry,
    /// Whether the task was not there before.
    is_new: bool,
}

#[derive(Debug)]
struct Browser {
    /// What two tasks must have in common to share it.
    key: Key,
    handle: Handle,
}

#[derive(Clone, Debug)]
struct Entry {
    handle: Handle,
    feed: Arc<TaskEvents>,
    memory: Arc<Memory>,
}

/// What tells one browser from another before it is dialled.
#[derive(Clone, Debug, PartialEq)]
enum Key {
    Running(Wanted),
    /// A cloud browser that somebody else started, before its address is known.
    Adopted,
    Url(SecretUrl),
    /// Launched for this task alone.
    Launched(TaskId),
    /// Rented for this task alone.
    Cloud(Provider, TaskId),
}

impl Registry {
    /// Starts with the default task, which is always there. Nothing is dialled yet.
    pub(crate) fn new(defaults: Defaults, machine: Machine) -> Self {
        let registry =
            Self { defaults, machine: Arc::new(machine), state: Mutex::default(), ending: watch::Sender::new(false) };
        registry.start_default_task();
        registry
    }

    /// Makes a call; the outcome is its raw result.
    pub(crate) async fn call(&self, request: CallRequest) -> Result<Bytes, CallError> {
        let entry = self.entry(&request.task)?;
        let CallRequest { task, session_id, frame_id, target_id, method, params, timeout, on_dialog } = request;
        let outcome = entry
            .handle
            .call(|waiter| ClientCall {
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
            .await?;
        match outcome {
            Outcome::Result(result) => Ok(result),
            other => Err(out_of_place(&other)),
        }
    }

    /// Returns what is known of the task; never waits.
    pub(crate) fn view(&self, task: &TaskId) -> Result<Arc<TaskView>, CallError> {
        Ok(self.entry(task)?.feed.view())
    }

    /// Returns the task's current tab, attached. Chooses or opens one if there is none.
    pub(crate) async fn current_session(&self, task: &TaskId) -> Result<(TargetId, SessionId), CallError> {
        let entry = self.entry(task)?;
        let task = task.clone();
        tab(entry.handle.ask(|waiter| Input::CurrentTab { waiter, task, timeout: CURRENT_TAB }).await?)
    }

    /// Makes a tab the current one; returns the session on it.
    pub(crate) async fn set_session(
        &self,
        task: &TaskId,
        session: Option<SessionId>,
        target: Option<TargetId>,
    ) -> Result<SessionId, CallError> {
        let entry = self.entry(task)?;
        let task = task.clone();
        let outcome = entry.handle.ask(|waiter| Input::SelectTab { waiter, task, session, target }).await?;
        Ok(tab(outcome)?.1)
    }

    /// Answers a dialog; returns it closed.
    pub(crate) async fn answer_dialog(
        &self,
        task: &TaskId,
        answer: DialogAnswer,
    ) -> Result<ClosedDialogView, CallError> {
        let entry = self.entry(task)?;
        let task = task.clone();
        let DialogAnswer { accept, prompt_text, dialog_id } = answer;
        let outcome = entry
            .handle
            .answer(|waiter| supervisor::DialogAnswer { waiter, task, accept, prompt_text, dialog_id })
            .await?;
        match outcome {
            Outcome::Dialog(closed) => Ok(closed),
            other => Err(out_of_place(&other)),
        }
    }

    /// Brings the console of the task's view up to date, where it is not told as it comes.
    pub(crate) async fn fetch_console(&self, task: &TaskId) -> Result<(), CallError> {
        let entry = self.entry(task)?;
        let task = task.clone();
        entry.handle.ask(|waiter| Input::FetchConsole { waiter, task }).await.map(|_| ())
    }

    /// Holds the file choosers of a tab back until what is returned is dropped.
    pub(crate) fn hold_choosers(&self, task: &TaskId, target: TargetId) -> Result<ChooserHold, CallError> {
        Ok(self.entry(task)?.handle.hold_choosers(target))
    }

    /// Stops the script that keeps the current tab busy.
    pub(crate) async fn interrupt(&self, task: &TaskId) -> Result<(), CallError> {
        let entry = self.entry(task)?;
        let task = task.clone();
        entry.handle.ask(|waiter| Input::Interrupt { waiter, task }).await.map(|_| ())
    }

    /// Starts a task, or binds it to another browser with all its state dropped. Asking again for what it has
    /// changes nothing but the policy. Waits until a tab is attached there; until then, and if that fails, the task
    /// is as it was, but for a browser that asks for consent: the task is in it as soon as somebody gives that.
    pub(crate) async fn connect(&self, request: ConnectRequest) -> Result<TaskSummary, CallError> {
        let ConnectRequest { task, target, dialog_policy, dialog_timeout_s, quiet, dialog_bridge } = request;
        let dialog_timeout = match dialog_timeout_s {
            Some(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| CallError::BadRequest {
                field: "dialog_timeout_s",
                why: "not a number of seconds".to_owned(),
            })?,
            None => self.defaults.dialog_timeout,
        };
        let policy = dialog_policy.unwrap_or(self.defaults.dialog_policy);
        let quiet = quiet.unwrap_or(self.defaults.quiet);
        let binding = self.prepare(&task, target);
        let entry = binding.entry.clone();
        let bridge = dialog_bridge.unwrap_or(self.defaults.dialog_bridge);
        self.start(&task, &entry, policy, dialog_timeout, quiet, bridge);
        entry.handle.dial();
        let attached = entry.handle.ask(|waiter| Input::CurrentTab { waiter, task: task.clone(), timeout: CONNECT });
        let given_up = GiveUp { registry: self, task: &task, binding: Some(&binding) };
        let attached = attached.await;
        if let Err(error) = &attached
            && !entry.handle.status().asking
        {
            return Err(error.clone());
        }
        // A browser whose person is asked for consent is kept: letting go of it would take the prompt away.
        given_up.keep();
        let summary = self.summary(&task, &entry);
        if let Some(unused) = self.settle(&task, binding) {
            unused.leave().await;
        }
        attached.map(|_| summary)
    }

    /// Ends a task; the default one is there again at once, with nothing attached.
    pub(crate) async fn disconnect(&self, task: &TaskId) -> Result<TaskSummary, CallError> {
        let entry = self.entry(task)?;
        let summary =
            TaskSummary { active: false, tabs: 0, pending_dialogs: 0, cloud: None, ..self.summary(task, &entry) };
        let unused = {
            let mut state = self.state();
            state.tasks.remove(task);
            state.end(task, &entry)
        };
        if *task == TaskId::default_task() {
            self.start_default_task();
        }
        if let Some(unused) = unused {
            unused.leave().await;
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
        let browser = entry.and_then(|entry| state.browsers.iter().find(|browser| browser.handle.is(&entry.handle)));
        browser.is_some_and(|browser| browser.key == Key::Url(url.clone()))
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
            let _ = tokio::time::timeout(LOOK_AGAIN, handle.connection_changed()).await;
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
            browsers.into_iter().map(|browser| tokio::spawn(async move { browser.handle.leave().await })).collect();
        for leaving in leaving {
            // A driver that panicked has nothing left to let go of.
            let _ = leaving.await;
        }
    }

    /// Finds or makes the browser that a task is to be bound to. A task that is there already keeps what it has.
    fn prepare(&self, task: &TaskId, target: ConnectTarget) -> Binding {
        let mut state = self.state();
        let (key, source) = self.choose(task, target, &state);
        let handle = match state.browsers.iter().find(|browser| browser.key == key) {
            Some(browser) => browser.handle.clone(),
            None => {
                let handle = Handle::start(source, Arc::clone(&self.machine));
                state.browsers.push(Browser { key, handle: handle.clone() });
                handle
            }
        };
        match state.tasks.get(task).filter(|entry| entry.handle.is(&handle)) {
            Some(entry) => Binding { entry: entry.clone(), is_new: false },
            None => {
                let Counts { events, .. } = state.counts(task);
                Binding {
                    entry: Entry {
                        handle,
                        feed: Arc::new(TaskEvents::new(task.clone(), events)),
                        memory: Arc::default(),
                    },
                    is_new: true,
                }
            }
        }
    }

    fn start(
        &self,
        task: &TaskId,
        entry: &Entry,
        policy: DialogPolicy,
        dialog_timeout: Duration,
        quiet: bool,
        dialog_bridge: DialogBridge,
    ) {
        let dialogs_before = self.state().counts(task).dialogs;
        let input =
            Input::StartTask { task: task.clone(), policy, dialog_timeout, quiet, dialog_bridge, dialogs_before };
        entry.handle.start_task(input, task.clone(), Arc::clone(&entry.feed));
    }

    /// Makes a binding the task's, and ends the one before. Returns a browser that nobody uses any more.
    fn settle(&self, task: &TaskId, binding: Binding) -> Option<Handle> {
        let mut state = self.state();
        let before = state.tasks.insert(task.clone(), binding.entry).filter(|_| binding.is_new)?;
        state.end(task, &before)
    }

    /// The default task is always there; its browser is dialled when somebody needs it.
    fn start_default_task(&self) {
        let task = TaskId::default_task();
        let binding = self.prepare(&task, ConnectTarget::Default);
        let Defaults { dialog_policy, dialog_timeout, quiet, dialog_bridge, .. } = self.defaults;
        self.start(&task, &binding.entry, dialog_policy, dialog_timeout, quiet, dialog_bridge);
        self.settle(&task, binding);
    }

    fn choose(&self, task: &TaskId, target: ConnectTarget, state: &State) -> (Key, Source) {
        match target {
            ConnectTarget::Url(url) => source_of_url(url),
            ConnectTarget::Running(wanted) => {
                // A browser that was discovered already is not dialled a second time under another name.
                let is_it =
                    |browser: &&Browser| browser.handle.status().found.as_ref().is_some_and(|it| it.is(&wanted));
                let key = state.browsers.iter().find(is_it).map(|browser| browser.key.clone());
                (key.unwrap_or_else(|| Key::Running(wanted.clone())), Source::Discover(wanted))
            }
            ConnectTarget::Launch(mut options) => {
                options.executable = options.executable.or_else(|| self.defaults.executable.clone());
                // Where Chromium takes a flag twice, the last one wins.
                options.extra_flags = [self.defaults.flags.clone(), options.extra_flags].concat();
                // A name; the folder is ours to know.
                options.profile = options.profile.map(|name| self.defaults.profiles.join(name));
                (Key::Launched(task.clone()), Source::Launch(options))
            }
            ConnectTarget::Cloud(options) => {
                (Key::Cloud(options.provider, task.clone()), Source::Cloud(self.defaults.cloud.order(options)))
            }
            ConnectTarget::Default => {
                // The browser that it is in, else the default task's, else the one that the daemon was given.
                let entry = state.tasks.get(task).or_else(|| state.tasks.get(&TaskId::default_task()));
                let browser =
                    entry.and_then(|entry| state.browsers.iter().find(|browser| browser.handle.is(&entry.handle)));
                let key = browser.map(|browser| browser.key.clone());
                let key = key.unwrap_or_else(|| match &self.defaults.source {
                    Source::WebSocket(given) | Source::Http(given) => Key::Url(given.url.clone()),
                    Source::Discover(wanted) => Key::Running(wanted.clone()),
                    Source::CloudRunning(facts) => facts.address.clone().map_or(Key::Adopted, Key::Url),
                    // No setting starts a browser unasked.
                    Source::Launch(_) | Source::Cloud(_) => Key::Launched(task.clone()),
                });
                (key, self.defaults.source.clone())
            }
        }
    }

    fn entry(&self, task: &TaskId) -> Result<Entry, CallError> {
        let state = self.state();
        state.tasks.get(task).cloned().ok_or_else(|| CallError::UnknownTask {
            task: task.clone(),
            known: state.tasks.keys().map(ToString::to_string).collect(),
        })
    }

    fn summary(&self, task: &TaskId, entry: &Entry) -> TaskSummary {
        let (view, status) = (entry.feed.view(), entry.handle.status());
        TaskSummary {
            task: task.clone(),
            browser_kind: status.kind,
            browser: status.text.clone(),
            active: view.active,
            tabs: view.tabs.len(),
            pending_dialogs: view.pending_dialogs.len(),
            cloud: status.cloud.clone(),
        }
    }

    /// Held only while the tables are read or changed, never across a wait.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Ends a task in the browser that it was in, and remembers how far its numbers went. Returns the browser if
    /// nobody uses it any more.
    fn end(&mut self, task: &TaskId, entry: &Entry) -> Option<Handle> {
        let counts = Counts { events: entry.feed.newest(), dialogs: entry.feed.view().dialogs_so_far };
        if self.ended.len() < MAX_REMEMBERED || self.ended.contains_key(task) {
            self.ended.insert(task.clone(), counts);
        }
        entry.handle.end_task(task.clone());
        self.take_unused()
    }

    fn counts(&self, task: &TaskId) -> Counts {
        let of_entry =
            |entry: &Entry| Counts { events: entry.feed.newest(), dialogs: entry.feed.view().dialogs_so_far };
        self.tasks.get(task).map(of_entry).or_else(|| self.ended.get(task).copied()).unwrap_or_default()
    }

    fn take_unused(&mut self) -> Option<Handle> {
        let used = |handle: &Handle| self.tasks.values().any(|entry| entry.handle.is(handle));
        let at = self.browsers.iter().position(|browser| !used(&browser.handle))?;
        Some(self.browsers.remove(at).handle)
    }
}

/// Undoes a binding that did not come about, also when nobody waits for it any more.
struct GiveUp<'a> {
    registry: &'a Registry,
    task: &'a TaskId,
    binding: Option<&'a Binding>,
}

impl GiveUp<'_> {
    fn keep(mut self) {
        self.binding = None;
    }
}

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        let Some(binding) = self.binding.filter(|binding| binding.is_new) else { return };
        let unused = self.registry.state().end(self.task, &binding.entry);
        if let Some(unused) = unused {
            // Nothing here may wait; the driver lets go of its browser by itself when its last handle goes.
            drop(unused);
        }
    }
}

fn source_of_url(url: SecretUrl) -> (Key, Source) {
    let given = Given::new(url.clone(), "cdp_url");
    let is_websocket = url.expose().starts_with("ws");
    (Key::Url(url), if is_websocket { Source::WebSocket(given) } else { Source::Http(given) })
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
