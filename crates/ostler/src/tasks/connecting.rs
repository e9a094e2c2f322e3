//! How a task gets its browser: by `connect`, as the default one, or by sharing what another task holds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ostler_core::supervisor::Input;
use ostler_core::{CallError, TaskId};
use tokio::time::timeout;

use super::browsers::{Browser, Key};
use super::registry::{Defaults, Registry};
use super::table::{Binding, Entry, State, Terms};
use super::{ConnectRequest, ConnectTarget, TaskSummary};
use crate::connection::Handle;
use crate::endpoint::{self, Found, Given, LaunchOptions, Source, Wanted};
use crate::secret::SecretUrl;

/// How long `connect` waits in all: for others who connect the task, for a launch, for a person who is asked for consent,
/// and for a tab.
const CONNECT: Duration = Duration::from_secs(100);
/// How long a browser that is held already may take to say its version.
const ANSWER: Duration = Duration::from_secs(5);

impl Registry {
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
        let names_one = !matches!(target, ConnectTarget::Default);
        let asked = Instant::now();
        let turn = self.turns.take(&task, CONNECT).await?;
        let binding = self.prepare(&mut self.state(), &task, target, terms);
        let mut attempt = Attempt::new(self, &task, binding, names_one);
        let wanted = self.state().browsers.unknown_yet(&attempt.binding().entry.handle);
        if let Some(wanted) = wanted
            && let Some(found) = self.look(wanted).await
        {
            attempt.share(found);
        }
        let entry = attempt.binding().entry.clone();
        let was_held = entry.handle.is_connected();
        self.state().start(&task, &entry);
        if was_held && self.answers(&task, &entry.handle, ANSWER).await == Some(false) {
            let error = silent(&entry.handle);
            attempt.failed(&error);
            return Err(error);
        }
        entry.handle.dial();
        let left = CONNECT.saturating_sub(asked.elapsed());
        let ask = |waiter| Input::CurrentTab { waiter, task: task.clone(), timeout: left };
        let attached = entry.handle.ask(ask).await;
        if let Err(error) = &attached
            && !entry.handle.status().asking
        {
            attempt.failed(error);
            return Err(error.clone());
        }
        // A browser whose person is asked for consent is kept: letting go of it would take the prompt away.
        let binding = attempt.keep();
        let unused = self.state().settle(&task, binding);
        let mut summary = self.summary(&task, &entry);
        // The task is where it is to be: nobody else has to wait for the end of what it left.
        drop(turn);
        if let Some(unused) = unused {
            summary.left_behind = unused.leave().await;
        }
        match attached {
            Ok(_) => Ok(summary),
            Err(error) => Err(goes_on_later(error, &task, summary.left_behind)),
        }
    }

    /// Finds or makes the browser that a task is to be bound to. A task that is there already keeps what it has.
    fn prepare(&self, state: &mut State, task: &TaskId, target: ConnectTarget, terms: Terms) -> Binding {
        let handle = match self.choose(task, target, state) {
            Choice::Held(handle) => handle,
            Choice::New(key, source) => {
                let handle = Handle::start(source.clone(), Arc::clone(&self.machine), self.bridge_secret);
                state.browsers.add(Browser::new(key, source, handle.clone()));
                handle
            }
        };
        state.bind(task, handle, terms)
    }

    /// Returns the browser that dialling `wanted` would find. Looking raises no prompt; where there is nothing to be
    /// found, whoever dials is told why.
    async fn look(&self, wanted: Wanted) -> Option<Found> {
        endpoint::find(&Source::Discover(wanted), &self.machine, &[]).await.ok()?.found
    }

    /// Returns the task as it is, for a request that may dial its browser: one that another task's connection turns out
    /// to hold already is shared, and not asked for consent a second time.
    /// Takes no longer than `limit`.
    pub(super) async fn entry_to_use(&self, task: &TaskId, limit: Duration) -> Result<Entry, CallError> {
        let (entry, is_sure) = {
            let state = self.state();
            let entry = state.entry(task)?;
            let is_sure = state.browsers.unknown_yet(&entry.handle).is_none() && !state.astray.contains_key(task);
            (entry, is_sure)
        };
        match is_sure {
            true => Ok(entry),
            // Boxed, because looking is rare and would otherwise weigh on every call.
            false => Box::pin(self.entry_looked_for(task, limit)).await,
        }
    }

    async fn entry_looked_for(&self, task: &TaskId, limit: Duration) -> Result<Entry, CallError> {
        // Whoever puts the task into a browser at this moment has the first word on which one that is.
        let asked = Instant::now();
        let _turn = self.turns.take(task, limit).await?;
        let (entry, wanted) = {
            let state = self.state();
            let entry = state.entry(task)?;
            // Also where another task has had the browser dialled meanwhile that this one was not to be in.
            if let Some(why) = state.astray(task) {
                return Err(CallError::BrowserGone { why, retry_after_ms: None });
            }
            let Some(wanted) = state.browsers.unknown_yet(&entry.handle) else { return Ok(entry) };
            (entry, wanted)
        };
        let left = limit.saturating_sub(asked.elapsed());
        let Ok(Some(found)) = timeout(left, self.look(wanted)).await else { return Ok(entry) };
        if let Some(unused) = self.share(task, &entry, found) {
            // It was never dialled, so there is nothing to be said of it.
            let _ = unused.leave().await;
        }
        self.entry(task)
    }

    /// Moves a task that has seen nothing yet to the connection that holds its browser, if another one does. Returns
    /// the one that it was to dial, if nobody uses that now.
    pub(super) fn share(&self, task: &TaskId, entry: &Entry, found: Found) -> Option<Handle> {
        let mut state = self.state();
        let handle = state.browsers.holder(found, &entry.handle)?;
        let moved = Entry { handle, ..entry.clone() };
        state.tasks.insert(task.clone(), moved.clone());
        entry.handle.end_task(task.clone());
        state.start(task, &moved);
        state.take_unused()
    }

    /// The default task is always there; its browser is dialled when somebody needs it.
    pub(super) fn start_default_task(&self, state: &mut State) {
        let task = TaskId::default_task();
        let Defaults { dialog_policy: policy, dialog_timeout, quiet, dialog_bridge, .. } = self.defaults;
        let terms = Terms { policy, dialog_timeout, quiet, dialog_bridge };
        let binding = self.prepare(state, &task, ConnectTarget::Default, terms);
        state.start(&task, &binding.entry);
        state.settle(&task, binding);
    }

    fn choose(&self, task: &TaskId, target: ConnectTarget, state: &State) -> Choice {
        let browsers = &state.browsers;
        match target {
            // A browser that is held already is not dialled a second time under another name.
            ConnectTarget::Url(url) => Choice::or_new(browsers.at_url(&url), || source_of_url(url.clone())),
            ConnectTarget::Running(wanted) => {
                let key = Key::Running(wanted.clone());
                let held = browsers.wanted(&wanted).or_else(|| browsers.keyed(&key));
                Choice::or_new(held, || (key, Source::Discover(wanted)))
            }
            ConnectTarget::Launch(mut asked) => {
                // A name; the folder is ours to know.
                asked.profile = asked.profile.map(|name| self.defaults.profiles.join(name));
                let options = self.launch_options(asked.clone());
                let suits = |held: &LaunchOptions, runs| {
                    runs && held.satisfy(&asked, &self.machine) || held.start_the_same(&options)
                };
                let held = browsers.launched(task, suits);
                Choice::or_new(held, || (Key::Launched(task.clone()), Source::Launch(options.clone())))
            }
            ConnectTarget::Cloud(asked) => {
                let held = browsers.rented(task, &asked);
                let order = || Source::Cloud(self.defaults.cloud.order(asked.clone()));
                Choice::or_new(held, || (Key::Cloud(task.clone()), order()))
            }
            ConnectTarget::Default => {
                // The browser that it is in, else the default task's, else the one that the daemon was given.
                let entry = state.tasks.get(task).or_else(|| state.tasks.get(&TaskId::default_task()));
                if let Some(browser) = entry.and_then(|entry| browsers.of(&entry.handle)) {
                    return Choice::Held(browser.handle.clone());
                }
                let key = match &self.defaults.source {
                    Source::WebSocket(given) | Source::Http(given) => Key::Url(given.url.clone()),
                    Source::Discover(wanted) => Key::Running(wanted.clone()),
                    Source::CloudRunning(facts) => facts.address.clone().map_or(Key::Adopted, Key::Url),
                    // No setting starts a browser unasked.
                    Source::Launch(_) | Source::Cloud(_) => Key::Launched(task.clone()),
                };
                Choice::or_new(browsers.keyed(&key), || (key.clone(), self.defaults.source.clone()))
            }
        }
    }

    /// Completes what a command asked for with what the daemon was told.
    fn launch_options(&self, asked: LaunchOptions) -> LaunchOptions {
        LaunchOptions {
            executable: asked.executable.or_else(|| self.defaults.executable.clone()),
            // Where Chromium takes a flag twice, the last one wins.
            extra_flags: [self.defaults.flags.clone(), asked.extra_flags].concat(),
            notes: Some(self.defaults.launched.clone()),
            ..asked
        }
    }
}

/// The browser that a task is to be bound to.
enum Choice {
    /// One that there is a connection for.
    Held(Handle),
    /// One that is to be dialled.
    New(Key, Source),
}

impl Choice {
    fn or_new(held: Option<&Browser>, new: impl FnOnce() -> (Key, Source)) -> Self {
        match held {
            Some(browser) => Self::Held(browser.handle.clone()),
            None => {
                let (key, source) = new();
                Self::New(key, source)
            }
        }
    }
}

/// A binding on its way. Undone if it does not come about, also when nobody waits for it any more.
struct Attempt<'a> {
    registry: &'a Registry,
    task: &'a TaskId,
    binding: Option<Binding>,
    /// Whether it is for a certain browser, and not for whichever runs.
    names_one: bool,
    /// Why it does not come about.
    why: String,
}

impl<'a> Attempt<'a> {
    fn new(registry: &'a Registry, task: &'a TaskId, binding: Binding, names_one: bool) -> Self {
        Self { registry, task, binding: Some(binding), names_one, why: "it was given up".to_owned() }
    }

    fn binding(&self) -> &Binding {
        self.binding.as_ref().expect("it is there until it is kept")
    }

    /// Binds the task to the connection that holds the browser already, if another one does.
    pub(super) fn share(&mut self, found: Found) {
        let Entry { handle, terms, .. } = self.binding().entry.clone();
        let mut state = self.registry.state();
        let Some(holder) = state.browsers.holder(found, &handle) else { return };
        state.unbind(&handle);
        self.binding = Some(state.bind(self.task, holder, terms));
        // It has not been dialled, so its driver has nothing to let go of: it ends with its last handle.
        drop(state.take_unused());
    }

    fn failed(&mut self, error: &CallError) {
        self.why = error.to_string();
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
        if self.names_one {
            state.note_astray(self.task, std::mem::take(&mut self.why));
        }
        if binding.is_new {
            // Nothing here may wait; the driver lets go of its browser by itself when its last handle goes.
            drop(state.end(self.task, &binding.entry));
        }
    }
}

/// Says that a browser is held and does not answer: nothing that a task is told to do in it would be done.
fn silent(handle: &Handle) -> CallError {
    let why = format!(
        "the browser answers nothing, so its process is stopped or overloaded: {}; let it go on, or let go of it with \
         `ostler disconnect` and connect again",
        handle.status().text
    );
    CallError::BrowserGone { why, retry_after_ms: None }
}

/// Says that nobody has to connect again once the person has allowed it, and what became of the browser that the task
/// was in before: a cloud browser that still runs costs money.
fn goes_on_later(error: CallError, task: &TaskId, left_behind: Option<String>) -> CallError {
    match error {
        CallError::BrowserGone { why, retry_after_ms } => {
            let left = left_behind.map(|left| format!("; also, {left}")).unwrap_or_default();
            CallError::BrowserGone { why: format!("{why}, with task {task} in it{left}"), retry_after_ms }
        }
        other => other,
    }
}

fn source_of_url(url: SecretUrl) -> (Key, Source) {
    let given = Given::new(url.clone(), Given::BY_COMMAND);
    let is_websocket = url.expose().starts_with("ws");
    (Key::Url(url), if is_websocket { Source::WebSocket(given) } else { Source::Http(given) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cloud_browser_that_was_left_is_told_of_while_the_new_one_asks_for_consent() {
        let asks = CallError::BrowserGone { why: "click Allow".to_owned(), retry_after_ms: Some(2000) };
        let task = TaskId::from("t");
        let left = "the browser-use cloud browser 1 was not stopped".to_owned();
        let error = goes_on_later(asks.clone(), &task, Some(left)).to_string();
        assert!(
            error.starts_with("click Allow, with task t in it; also, the browser-use cloud browser 1 was not"),
            "{error}"
        );
        let error = goes_on_later(asks, &task, None).to_string();
        assert!(error.starts_with("click Allow, with task t in it") && !error.contains("also"), "{error}");
    }
}
