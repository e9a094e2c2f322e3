//! The registry: task → browser. One connection per browser, however many tasks share it; state never
//! crosses from one browser to another.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use ostler_core::supervisor::{self, ClientCall, Input, Outcome};
use ostler_core::view::{ClosedDialogView, DialogBridge, DialogPolicy, TaskView};
use ostler_core::{CallError, SessionId, TargetId, TaskId, TimeoutHint};
use tokio::sync::watch;
use tokio::time::timeout;

use super::browsers::{Browser, Browsers, Key};
use super::{CallRequest, ConnectRequest, ConnectTarget, DialogAnswer, TaskEvents, TaskSummary};
use crate::connection::{ChooserHold, Handle};
use crate::endpoint::cloud::CloudSettings;
use crate::endpoint::{self, BrowserKind, Found, Given, Machine, Source, Wanted};
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
    defaults: Defaults,
    machine: Arc<Machine>,
    state: Mutex<State>,
    ending: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    browsers: Browsers,
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

#[derive(Clone, Debug)]
struct Entry {
    handle: Handle,
    feed: Arc<TaskEvents>,
    memory: Arc<Memory>,
    terms: Terms,
}

/// What a task was started with.
#[derive(Clone, Copy, Debug)]
struct Terms {
    policy: DialogPolicy,
    dialog_timeout: Duration,
    quiet: bool,
    dialog_bridge: DialogBridge,
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
        let too_late = |_| CallError::Timeout {
            method: request.method.clone(),
            timeout_ms: u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX),
            hint: TimeoutHint::None,
        };
        let entry = timeout(request.timeout, self.entry_to_use(&request.task)).await.map_err(too_late)??;
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
        let entry = self.entry_to_use(task).await?;
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
        let entry = self.entry_to_use(task).await?;
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
        let entry = self.entry_to_use(task).await?;
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
        let entry = self.entry_to_use(task).await?;
        let task = task.clone();
        entry.handle.ask(|waiter| Input::FetchConsole { waiter, task }).await.map(|_| ())
    }

    /// Holds the file choosers of a tab back until what is returned is dropped.
    pub(crate) fn hold_choosers(&self, task: &TaskId, target: TargetId) -> Result<ChooserHold, CallError> {
        Ok(self.entry(task)?.handle.hold_choosers(target))
    }

    /// Stops the script that keeps the current tab busy.
    pub(crate) async fn interrupt(&self, task: &TaskId) -> Result<(), CallError> {
        let entry = self.entry_to_use(task).await?;
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
        let defaults = &self.defaults;
        let terms = Terms {
            policy: dialog_policy.unwrap_or(defaults.dialog_policy),
            dialog_timeout,
            quiet: quiet.unwrap_or(defaults.quiet),
            dialog_bridge: dialog_bridge.unwrap_or(defaults.dialog_bridge),
        };
        let mut attempt = Attempt::new(self, &task, self.prepare(&task, target, terms));
        let wanted = self.state().browsers.unknown_yet(&attempt.binding().entry.handle);
        if let Some(wanted) = wanted
            && let Some(found) = self.look(wanted).await
        {
            attempt.share(found);
        }
        let entry = attempt.binding().entry.clone();
        self.start(&task, &entry);
        entry.handle.dial();
        let attached = entry.handle.ask(|waiter| Input::CurrentTab { waiter, task: task.clone(), timeout: CONNECT });
        let attached = attached.await;
        if let Err(error) = &attached
            && !entry.handle.status().asking
        {
            return Err(error.clone());
        }
        // A browser whose person is asked for consent is kept: letting go of it would take the prompt away.
        let binding = attempt.keep();
        let summary = self.summary(&task, &entry);
        if let Some(unused) = self.settle(&task, binding) {
            unused.leave().await;
        }
        match attached {
            Ok(_) => Ok(summary),
            Err(error) => Err(goes_on_later(error, &task)),
        }
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

    /// Finds or makes the browser that a task is to be bound to. A task that is there already keeps what it has.
    fn prepare(&self, task: &TaskId, target: ConnectTarget, terms: Terms) -> Binding {
        let mut state = self.state();
        let (key, source) = self.choose(task, target, &state);
        let handle = match state.browsers.keyed(&key) {
            Some(browser) => browser.handle.clone(),
            None => {
                let handle = Handle::start(source.clone(), Arc::clone(&self.machine));
                state.browsers.add(Browser::new(key, &source, handle.clone()));
                handle
            }
        };
        state.bind(task, handle, terms)
    }

    /// Starts the task in the browser of the entry, or tells it there on which terms it goes on.
    fn start(&self, task: &TaskId, entry: &Entry) {
        let Terms { policy, dialog_timeout, quiet, dialog_bridge } = entry.terms;
        let dialogs_before = self.state().counts(task).dialogs;
        let input =
            Input::StartTask { task: task.clone(), policy, dialog_timeout, quiet, dialog_bridge, dialogs_before };
        entry.handle.start_task(input, task.clone(), Arc::clone(&entry.feed));
    }

    /// Returns the browser that a connection will find which looks for this and has yet to be dialled. Looking raises no prompt; where there
    /// is nothing to be found, whoever dials is told why.
    async fn look(&self, wanted: Wanted) -> Option<Found> {
        endpoint::find(&Source::Discover(wanted), &self.machine, &[]).await.ok()?.found
    }

    /// Returns the task as it is, for a request that may dial its browser: one that another task's connection turns out
    /// to hold already is shared, and not asked for consent a second time.
    async fn entry_to_use(&self, task: &TaskId) -> Result<Entry, CallError> {
        let (entry, wanted) = {
            let state = self.state();
            let entry = state.entry(task)?;
            let wanted = state.browsers.unknown_yet(&entry.handle);
            (entry, wanted)
        };
        let Some(wanted) = wanted else { return Ok(entry) };
        // Boxed, because looking is rare and would otherwise weigh on every call.
        let Some(found) = Box::pin(self.look(wanted)).await else { return Ok(entry) };
        if let Some(unused) = self.share(task, &entry, found) {
            unused.leave().await;
        }
        self.entry(task)
    }

    /// Moves a task that has seen nothing yet to the connection that holds its browser, if another one does. Returns
    /// the one that it was to dial, if nobody uses that now.
    fn share(&self, task: &TaskId, entry: &Entry, found: Found) -> Option<Handle> {
        let moved = {
            let mut state = self.state();
            // It may have been bound to another browser meanwhile, or have ended.
            state.tasks.get(task).filter(|now| now.handle.is(&entry.handle))?;
            let handle = state.browsers.holder(found, &entry.handle)?;
            let moved = Entry { handle, ..entry.clone() };
            state.tasks.insert(task.clone(), moved.clone());
            moved
        };
        entry.handle.end_task(task.clone());
        self.start(task, &moved);
        self.state().take_unused()
    }

    /// Makes a binding the task's, and ends the one before. Returns a browser that nobody uses any more.
    fn settle(&self, task: &TaskId, binding: Binding) -> Option<Handle> {
        let mut state = self.state();
        state.unbind(&binding.entry.handle);
        let before = state.tasks.insert(task.clone(), binding.entry).filter(|_| binding.is_new)?;
        state.end(task, &before)
    }

    /// The default task is always there; its browser is dialled when somebody needs it.
    fn start_default_task(&self) {
        let task = TaskId::default_task();
        let Defaults { dialog_policy: policy, dialog_timeout, quiet, dialog_bridge, .. } = self.defaults;
        let terms = Terms { policy, dialog_timeout, quiet, dialog_bridge };
        let binding = self.prepare(&task, ConnectTarget::Default, terms);
        self.start(&task, &binding.entry);
        self.settle(&task, binding);
    }

    fn choose(&self, task: &TaskId, target: ConnectTarget, state: &State) -> (Key, Source) {
        match target {
            // A browser that is held already is not dialled a second time under another name.
            ConnectTarget::Url(url) => {
                let held = state.browsers.at_url(&url).map(|browser| browser.key.clone());
                let (key, source) = source_of_url(url);
                (held.unwrap_or(key), source)
            }
            ConnectTarget::Running(wanted) => {
                let held = state.browsers.wanted(&wanted).map(|browser| browser.key.clone());
                (held.unwrap_or_else(|| Key::Running(wanted.clone())), Source::Discover(wanted))
            }
            ConnectTarget::Launch(mut options) => {
                options.executable = options.executable.or_else(|| self.defaults.executable.clone());
                // Where Chromium takes a flag twice, the last one wins.
                options.extra_flags = [self.defaults.flags.clone(), options.extra_flags].concat();
                // A name; the folder is ours to know.
                options.profile = options.profile.map(|name| self.defaults.profiles.join(name));
                options.notes = Some(self.defaults.launched.clone());
                (Key::Launched(task.clone()), Source::Launch(options))
            }
            ConnectTarget::Cloud(options) => {
                (Key::Cloud(options.provider, task.clone()), Source::Cloud(self.defaults.cloud.order(options)))
            }
            ConnectTarget::Default => {
                // The browser that it is in, else the default task's, else the one that the daemon was given.
                let entry = state.tasks.get(task).or_else(|| state.tasks.get(&TaskId::default_task()));
                let browser = entry.and_then(|entry| state.browsers.of(&entry.handle));
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
        self.state().entry(task)
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
    fn entry(&self, task: &TaskId) -> Result<Entry, CallError> {
        self.tasks.get(task).cloned().ok_or_else(|| CallError::UnknownTask {
            task: task.clone(),
            known: self.tasks.keys().map(ToString::to_string).collect(),
        })
    }

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
        let tasks = &self.tasks;
        self.browsers.take_unused(|handle| tasks.values().any(|entry| entry.handle.is(handle)))
    }

    /// Makes what a task will have in a browser. Until that is settled or given up nobody takes the browser away.
    fn bind(&mut self, task: &TaskId, handle: Handle, terms: Terms) -> Binding {
        if let Some(browser) = self.browsers.of_mut(&handle) {
            browser.bindings += 1;
        }
        if let Some(entry) = self.tasks.get(task).filter(|entry| entry.handle.is(&handle)) {
            return Binding { entry: Entry { terms, ..entry.clone() }, is_new: false };
        }
        let feed = Arc::new(TaskEvents::new(task.clone(), self.counts(task).events));
        Binding { entry: Entry { handle, feed, memory: Arc::default(), terms }, is_new: true }
    }

    fn unbind(&mut self, handle: &Handle) {
        if let Some(browser) = self.browsers.of_mut(handle) {
            browser.bindings -= 1;
        }
    }
}

/// A binding on its way. Undone if it does not come about, also when nobody waits for it any more.
struct Attempt<'a> {
    registry: &'a Registry,
    task: &'a TaskId,
    binding: Option<Binding>,
}

impl<'a> Attempt<'a> {
    fn new(registry: &'a Registry, task: &'a TaskId, binding: Binding) -> Self {
        Self { registry, task, binding: Some(binding) }
    }

    fn binding(&self) -> &Binding {
        self.binding.as_ref().expect("it is there until it is kept")
    }

    /// Binds the task to the connection that holds the browser already, if another one does.
    fn share(&mut self, found: Found) {
        let Entry { handle, terms, .. } = self.binding().entry.clone();
        let mut state = self.registry.state();
        let Some(holder) = state.browsers.holder(found, &handle) else { return };
        state.unbind(&handle);
        self.binding = Some(state.bind(self.task, holder, terms));
        // It has not been dialled, so its driver has nothing to let go of: it ends with its last handle.
        drop(state.take_unused());
    }

    fn keep(mut self) -> Binding {
        self.binding.take().expect("it is there until it is kept")
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let Some(binding) = self.binding.take() else { return };
        let mut state = self.registry.state();
        state.unbind(&binding.entry.handle);
        if binding.is_new {
            // Nothing here may wait; the driver lets go of its browser by itself when its last handle goes.
            drop(state.end(self.task, &binding.entry));
        }
    }
}

/// Says that nobody has to connect again once the person has allowed it.
fn goes_on_later(error: CallError, task: &TaskId) -> CallError {
    match error {
        CallError::BrowserGone { why, retry_after_ms } => {
            CallError::BrowserGone { why: format!("{why}, with task {task} in it"), retry_after_ms }
        }
        other => other,
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
