//! One browser's supervisor: it knows the tabs, sessions, frames and dialogs, and decides what to do next.
//!
//! There is one for each connection; what the contract calls a task's supervisor is that task's share of it.
//!
//! A pure state machine. Its driver loops like this:
//!
//! ```text
//!   handle_input(now, input)   for everything that came in, in wire order
//!   poll_effect()              until it gives nothing more
//!   poll_timeout()             how long to sleep at most
//! ```
//!
//! Views come out before anything else that a batch caused, so whoever is told an outcome finds it
//! in the view.

mod answers;
mod attach;
mod blocking;
mod bridge;
mod choosers;
mod closing;
mod commands;
mod console;
mod detach;
mod dialog_ends;
mod dialogs;
mod documents;
mod effect;
mod events;
mod focus;
mod frames;
mod hold;
mod in_flight;
mod input;
mod interrupt;
mod leave_page;
mod leaving;
mod link;
mod lost_frames;
mod policies;
mod publish;
mod quiet;
mod reach;
mod recovery;
mod requests;
mod routing;
mod rows;
mod sessions;
mod set_up;
mod silence;
mod sleep;
mod targets;
mod tasks;
#[cfg(test)]
mod tests;
pub(crate) mod timers;
mod titles;
mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

pub use self::bridge::BridgeSecret;
pub use self::commands::OWN_CALL;
use self::commands::{End, Purpose};
pub use self::effect::{Effect, Outcome};
pub use self::input::{ClientCall, DialogAnswer, Input, OnDialog, Scope};
pub use self::leaving::LEAVE;
use self::leaving::{Departed, Leave};
use self::link::Link;
use self::requests::Request;
use self::rows::Row;
use self::sessions::{Session, Tab};
use self::tasks::Task;
use self::timers::{Timer, TimerId, Timers};
use crate::cdp::calls::{Calls, Flight};
use crate::ids::{CallId, IdMap, SessionId, TargetId, TaskId};
use crate::time::Timestamp;

/// The state machine for one browser. See the module's documentation for how it is driven.
#[derive(Debug)]
pub struct Supervisor {
    now: Timestamp,
    link: Link,
    scope: Scope,
    browser_id: Option<String>,
    /// The backend is known to answer native dialogs by itself.
    answers_dialogs: bool,
    /// How the bridge's questions come, once this connection's first session has told what the backend allows.
    transport: Option<bridge::Transport>,
    /// What asks in pages, with the secret by which it is known. It stays the same over connections, as documents do.
    script: bridge::Script,
    calls: Calls<Purpose>,
    timers: Timers,
    tasks: BTreeMap<TaskId, Task>,
    tabs: IdMap<TargetId, Tab>,
    sessions: IdMap<SessionId, Session>,
    /// All targets that the browser told of, ours or not, in the order in which it told.
    targets: Vec<wire::TargetInfo>,
    /// Tabs that were left while a removed frame's dialog made them dangerous, and of which no reload is known (fact A25).
    left_armed: Vec<TargetId>,
    /// The tabs that have open dialogs, and some that had.
    asking: Vec<TargetId>,
    /// What pages have asked whose script has not been seen to end.
    rows: IdMap<SessionId, Row>,
    /// Tabs that clients have closed and that the browser has not yet told to be gone.
    closing: Vec<TargetId>,
    /// Requests that wait for the connection.
    waiting: Vec<Request>,
    /// Runs while auto-attach takes the pages of everybody; see `reach.rs`.
    wide: Option<reach::Wide>,
    requested: Vec<reach::RequestedTab>,
    effects: VecDeque<Effect>,
    /// Tabs that were left, and wait for their last dialog to go.
    departed: Vec<Departed>,
    /// The daemon is about to end: what opens from now on is dismissed at once, and nothing new is begun.
    ending: bool,
    /// Until that is done.
    leave: Option<Leave>,
    /// When the browser told anything last, whatever it was.
    heard: Timestamp,
}

impl Supervisor {
    /// Starts without a connection. Nobody else may know the secret.
    pub fn new(secret: BridgeSecret) -> Self {
        Self {
            now: Timestamp::default(),
            link: Link::Dialling,
            scope: Scope::Guest,
            browser_id: None,
            answers_dialogs: false,
            transport: None,
            script: bridge::Script::new(secret),
            calls: Calls::default(),
            timers: Timers::default(),
            tasks: BTreeMap::new(),
            tabs: IdMap::default(),
            sessions: IdMap::default(),
            targets: Vec::new(),
            left_armed: Vec::new(),
            asking: Vec::new(),
            rows: IdMap::default(),
            closing: Vec::new(),
            waiting: Vec::new(),
            wide: None,
            requested: Vec::new(),
            effects: VecDeque::new(),
            departed: Vec::new(),
            ending: false,
            leave: None,
            heard: Timestamp::default(),
        }
    }

    /// Takes in one thing that happened at `now`, and fires every timer that is due.
    pub fn handle_input(&mut self, now: Timestamp, input: Input) {
        self.now = self.now.max(now);
        match input {
            Input::Dialling => self.on_dialling(),
            Input::Connected { browser_id, scope, answers_dialogs } => {
                self.on_connected(browser_id, scope, answers_dialogs);
            }
            Input::Gone { why, retry_after } => self.on_gone(why, retry_after),
            Input::Message(message) => self.on_message(&message),
            Input::StartTask { task, policy, dialog_timeout, quiet, dialog_bridge, dialogs_before } => {
                self.on_start_task(task, policy, dialog_timeout, quiet, dialog_bridge, dialogs_before);
            }
            Input::EndTask(task) => self.on_end_task(&task),
            Input::Call(call) => {
                let request = Request::from_call(call, self.now);
                self.on_request(request);
            }
            Input::Cancel(waiter) => self.on_cancel(waiter),
            Input::AnswerDialog(answer) => self.on_answer_dialog(answer),
            Input::SelectTab { waiter, task, session, target } => {
                let request = Request::select_tab(waiter, task, session, target, self.now);
                self.on_request(request);
            }
            Input::CurrentTab { waiter, task, timeout } => {
                let request = Request::current_tab(waiter, task, timeout, self.now);
                self.on_request(request);
            }
            Input::Interrupt { waiter, task } => {
                let request = Request::interrupt(waiter, task, self.now);
                self.on_request(request);
            }
            Input::FetchConsole { waiter, task } => self.on_fetch_console(waiter, &task),
            Input::HoldChoosers(target) => self.on_hold_choosers(&target),
            Input::ReleaseChoosers(target) => self.on_release_choosers(&target),
            Input::Leave(waiter) => self.on_leave(waiter),
            Input::Tick => {}
        }
        while let Some(timer) = self.timers.take_due(self.now) {
            self.on_timer(timer);
        }
        if self.leave.is_some() {
            self.leave_if_done();
        }
    }

    /// Returns the next thing to do. Call it until it returns `None` after each batch of inputs.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        if let Some(view) = self.publish_next() {
            return Some(Effect::Publish(view));
        }
        self.effects.pop_front()
    }

    /// Returns when [`Input::Tick`] is due at the latest.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// Returns whether somebody still waits for the answer to this command.
    pub fn awaits(&self, id: CallId) -> bool {
        self.calls.get(id).is_some()
    }

    /// Returns how many commands are in flight.
    pub fn in_flight(&self) -> usize {
        self.calls.len()
    }

    fn on_timer(&mut self, timer: Timer) {
        match timer {
            Timer::Call(id) => {
                if let Some(flight) = self.calls.take(id) {
                    let error = self.timeout_of(&flight);
                    self.note_hung(&flight, &error);
                    self.end_flight(flight, End::Failed(error));
                }
            }
            Timer::Probe(id) => self.on_probe_due(id),
            Timer::Queued(waiter) => self.on_queued_for_long(waiter),
            Timer::Resume(session) => self.on_resume_due(&session),
            Timer::Silence(session) => self.on_silence(&session),
            Timer::StillSilent(session) => self.on_still_silent(&session),
            Timer::Leaving(session) => self.on_left(&session),
            Timer::MakeWay(session) => self.on_make_way_due(&session),
            Timer::Watchdog(tab, dialog) => self.on_watchdog(&tab, dialog),
            Timer::Suspects(tab, dialog) => self.on_suspects_due(&tab, dialog),
            Timer::RawAnswer(waiter, timeout) => self.on_raw_answer_due(waiter, timeout),
            Timer::AnswerAgain(tab, dialog) => self.on_answer_again(&tab, dialog),
            Timer::Interrupt(waiter) => self.on_interrupt_due(waiter),
            Timer::StrayPause(session) => self.on_stray_pause_due(&session),
            Timer::Rearm(tab, session) => self.rearm(&tab, &session),
            Timer::ReloadAgain(tab) => self.reload_armed(&tab),
            Timer::Console(waiter) => self.on_console_due(waiter),
            Timer::Wake(tab) => self.on_wake_due(&tab),
            Timer::Narrow => self.on_narrow_due(),
            Timer::Beat(due) => self.on_beat(due),
            Timer::LastAnswer(root) => self.on_last_answer_again(&root),
            Timer::ProcessEnds(tab, call) => self.on_process_ended(&tab, call),
            Timer::Leave => self.on_leave_due(),
        }
    }

    fn start_timer(&mut self, wait: Duration, timer: Timer) -> TimerId {
        self.timers.start(self.now + wait, timer)
    }
}

/// Writes a JSON object of text fields, for the few parameters that we make ourselves.
fn object(fields: &[(&str, &str)]) -> String {
    let map: serde_json::Map<String, serde_json::Value> =
        fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
    serde_json::Value::Object(map).to_string()
}
