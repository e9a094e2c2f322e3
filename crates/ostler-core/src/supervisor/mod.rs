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
mod console;
mod dialog_ends;
mod dialogs;
mod documents;
mod effect;
mod focus;
mod frames;
mod hold;
mod in_flight;
mod input;
mod interrupt;
mod leaving;
mod link;
mod policies;
mod publish;
mod quiet;
mod reach;
mod recovery;
mod requests;
mod routing;
mod sessions;
mod silence;
mod sleep;
mod tasks;
#[cfg(test)]
mod tests;
pub(crate) mod timers;
mod titles;
mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;

use self::answers::AnsweredBy;
pub use self::bridge::BridgeSecret;
use self::bridge::Told;
pub use self::effect::{Effect, Outcome};
pub use self::input::{ClientCall, DialogAnswer, Input, OnDialog, Scope};
pub use self::leaving::LEAVE;
use self::leaving::{Departed, Leave};
use self::link::Link;
use self::requests::{Request, Then};
use self::sessions::{Session, Tab};
use self::tasks::Task;
use self::timers::{Timer, TimerId, Timers};
use crate::cdp::calls::{Calls, Flight};
use crate::cdp::envelope::{self, Message, WireError, WireEvent};
use crate::error::CallError;
use crate::ids::{CallId, DialogId, IdMap, SessionId, TargetId, TaskId, Waiter};
use crate::time::Timestamp;

/// How long a command of our own may take (design: browser-level 5 s, session 10 s).
const OWN_CALL: Duration = Duration::from_secs(10);

/// How long a command may take whose answer counts however late it comes. A page that is blocked before
/// it is set up answers once it is free; a popup that a slow browser attaches late may be held, and a tab
/// that it opens late is still there. What ends the page or the connection ends the wait.
const AS_LONG_AS_IT_TAKES: Duration = Duration::from_secs(7 * 24 * 3600);

/// Why a command was sent, and so what its answer means.
#[derive(Debug)]
enum Purpose {
    /// A client's call.
    Client {
        waiter: Waiter,
        task: TaskId,
        on_dialog: OnDialog,
        timeout: Duration,
        awaits: bool,
        then: Then,
    },
    /// One of the commands that begin a connection.
    Start,
    /// Attaching to a tab that a task chose.
    Attach {
        target: TargetId,
    },
    /// Attaching to a popup that is not ours, to let it go on (consequence 25).
    Release(TargetId),
    /// Opening a tab for a task that has none.
    CreateTab {
        task: TaskId,
    },
    /// A set-up command that must be answered before its target may run.
    SetUp(SessionId),
    /// The set-up command whose silence tells a blocked page (fact A10).
    PageEnable(SessionId),
    /// What a tab's title is, now that its document has been read.
    Title(TargetId),
    /// Is the browser's side of a silent page there?
    Silence(SessionId),
    /// Does the browser itself answer, of which nothing at all is heard?
    Alive,
    /// What makes a page behave as the one in front, sent once it answers.
    Focus(SessionId),
    /// The session's part of the frame tree.
    FrameTree(SessionId),
    /// Which process the session's renderer is in; also proof that it answers.
    Isolate(SessionId),
    /// Whether a page that does not answer is being left.
    Standing(SessionId),
    /// Whether the backend lets us have the Debugger domain: part of the set-up, as is the next.
    BridgeProbe(SessionId),
    /// The script that asks in place of the native dialogs.
    BridgeScript(SessionId),
    /// Which element holds the frame of a page that is paused in that script.
    BridgeOwner(bridge::Asking),
    /// What that element lets the frame do.
    BridgeOwnerNode(bridge::Asking),
    /// The same two of a frame that does not ask.
    BridgeOwnerAhead(bridge::Ahead),
    BridgeOwnerNodeAhead(bridge::Ahead),
    /// What a page asks that is paused in that script.
    BridgeQuestion(bridge::Asking),
    /// Lets a page go on whose dialog is over, if it still waits in the script.
    BridgeFree(SessionId),
    /// An answer to a dialog.
    Answer {
        tab: TargetId,
        dialog: DialogId,
        by: AnsweredBy,
    },
    /// `Page.disable` before the reload that frees a tab from a removed frame's dialog (fact A25).
    Disarm {
        tab: TargetId,
    },
    /// That reload.
    Reload {
        tab: TargetId,
    },
    /// `Page.disable` before closing a tab of ours in that state, whose task has ended.
    CloseDisarmed(TargetId),
    /// Ends the fetch of a quiet session's console.
    Console {
        session: SessionId,
        waiter: Option<Waiter>,
    },
    /// Letting a document run that was held until `Page` was on again.
    HoldEnded(SessionId),
    /// Asking a page that may be busy: it answers once it is not.
    Interrupt(Waiter),
    /// The answer to what is open in a tab whose task has ended, on its root session.
    LastAnswer(SessionId),
    /// One of the commands that end the daemon's hold on the browser.
    Leave,
    /// Nobody looks at the answer.
    Ignored,
}

/// How a command ended.
#[derive(Debug)]
enum End {
    /// The browser answered.
    Answer(Result<Bytes, WireError>),
    /// It did not, and will not, for this reason.
    Failed(CallError),
}

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

    fn on_message(&mut self, message: &Bytes) {
        self.heard = self.now;
        match envelope::read(message) {
            Some(Message::Response { id, outcome }) => {
                // An answer that nobody waits for any more was ended for a reason that was told.
                if let Some(flight) = self.calls.take(id) {
                    self.on_sign_of_life(&flight);
                    self.end_flight(flight, End::Answer(outcome));
                }
            }
            Some(Message::Event(event)) => self.on_event(event),
            // Neither a response nor an event: there is nothing in it that we could act on or lose.
            None => {}
        }
    }

    /// Remembers that the session's renderer answers: a call beside it that does not waits for
    /// something else than the page's script.
    fn on_sign_of_life(&mut self, flight: &Flight<Purpose>) {
        if let Some(session) = flight.session.as_ref().and_then(|id| self.sessions.get_mut(id))
            && !blocking::finishes_despite_dialog(&flight.method)
        {
            session.heard = self.now;
            if let Some(target) = session.tab.clone().filter(|_| session.kind == sessions::Kind::Page) {
                self.forget_hung(&target);
                if let Some(tab) = self.tabs.get_mut(&target) {
                    tab.met = true;
                }
            }
        }
    }

    /// Applies one event; the whole table of what the core acts on.
    fn on_event(&mut self, event: WireEvent) {
        let params = &*event.params;
        // Asked before, because afterwards a closed tab has no owner; and again, because a new one has.
        let owner = self.task_of_event(&event);
        if let Some(session) = &event.session
            && self.is_told_again(&event, params, session)
        {
            return;
        }
        let told = match (&*event.method, &event.session) {
            (method, Some(session)) if method.starts_with("Debugger.") => match self.is_told_while_held(session) {
                Told::Yes => self.on_debugger_event(method, params, session),
                Told::No => Told::No,
            },
            (method, Some(session)) if method.starts_with("Fetch.") || method.starts_with("Network.") => {
                self.on_request_event(method, params, session)
            }
            _ => Told::Yes,
        };
        if matches!(told, Told::No) {
            return;
        }
        match (&*event.method, &event.session) {
            ("Target.attachedToTarget", parent) => self.on_attached(params, parent.as_ref()),
            ("Target.detachedFromTarget", _) => self.on_detached(params),
            ("Target.targetCreated", _) => self.on_target_created(params),
            ("Target.targetInfoChanged", _) => self.on_target_changed(params),
            ("Target.targetCrashed", _) => self.on_target_crashed(params),
            ("Target.targetDestroyed", _) => self.on_target_destroyed(params),
            ("Inspector.targetCrashed", Some(session)) => self.on_crashed(session),
            ("Inspector.targetReloadedAfterCrash", Some(session)) => self.on_reloaded_after_crash(session),
            ("Page.frameAttached", Some(session)) => self.on_frame_attached(params, session),
            ("Page.frameDetached", Some(session)) => self.on_frame_detached(params, session),
            ("Page.frameStartedNavigating", Some(session)) => self.on_frame_started_navigating(params, session),
            ("Page.frameStoppedLoading", Some(session)) => self.on_frame_stopped_loading(params, session),
            ("Page.frameNavigated", Some(session)) => self.on_frame_navigated(params, session),
            ("Page.domContentEventFired" | "Page.loadEventFired", Some(session)) => self.ask_title(session),
            ("Page.frameRequestedNavigation", Some(session)) => self.on_requested_navigation(params, session),
            ("Page.navigatedWithinDocument", Some(session)) => self.on_navigated_within(params, session),
            ("Page.javascriptDialogOpening", Some(session)) => self.on_dialog_opening(&event, params, session),
            ("Page.javascriptDialogClosed", Some(session)) => self.on_dialog_closed(params, session),
            ("Runtime.executionContextCreated", Some(session)) => self.on_context_created(params, session),
            ("Runtime.executionContextDestroyed", Some(session)) => self.on_context_destroyed(params, session),
            ("Runtime.executionContextsCleared", Some(session)) => self.on_contexts_cleared(session),
            ("Runtime.consoleAPICalled", Some(session)) => {
                self.on_console(session, |found| console::read_console_call(params, found))
            }
            ("Runtime.exceptionThrown", Some(session)) => {
                self.on_console(session, |found| console::read_exception(params, found))
            }
            ("Network.responseReceived", Some(session)) => self.on_response(params, session),
            ("Log.entryAdded", Some(session)) => self.on_console(session, |_| console::read_log_entry(params)),
            _ => {}
        }
        let owner = owner.or_else(|| self.task_of_event(&event)).or_else(|| self.owner_of_the_rest(&event));
        if let Some(task) = owner {
            self.effects.push_back(Effect::Record(task, event));
        }
    }

    /// Returns whose event it is: that of the session's tab, or of the target that it names.
    fn task_of_event(&self, event: &WireEvent) -> Option<TaskId> {
        if let Some(session) = &event.session {
            let tab = self.sessions.get(session)?.tab.as_ref()?;
            return Some(self.tabs.get(tab)?.task.clone());
        }
        let params = &*event.params;
        let named = wire::read::<wire::TargetEvent>(params).map(|named| named.target_info.target_id);
        let target = named.or_else(|| wire::read::<wire::NamesTarget>(params).map(|named| named.target_id));
        target.and_then(|target| self.tabs.get(&target)).map(|tab| tab.task.clone())
    }

    /// Returns whose the browser's own events are that concern no task's tab: the default task's in a
    /// browser of our own, and nobody's business in one that is not.
    fn owner_of_the_rest(&self, event: &WireEvent) -> Option<TaskId> {
        if event.session.is_some() || self.scope == Scope::Guest {
            return None;
        }
        self.fallback_task()
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
            Timer::Leave => self.on_leave_due(),
        }
    }

    /// Ends a command: each is taken out of the table once, so each ends once (invariant 1).
    fn end_flight(&mut self, flight: Flight<Purpose>, end: End) {
        self.timers.stop(flight.deadline);
        let answered = matches!(end, End::Answer(_));
        if let Some(session) = flight.session.as_ref().filter(|_| blocking::navigates(&flight.method)) {
            self.on_navigation_answered(session, &flight.method, &end);
            if !matches!(flight.purpose, Purpose::Reload { .. }) {
                self.on_unseen_navigation_answered(session, &flight.method, &end);
            }
        }
        match flight.purpose {
            Purpose::Client { then: Then::Evaluate { .. }, .. } => self.on_world(flight, end),
            Purpose::Client { waiter, ref task, ref then, .. } => {
                let (task, then) = (task.clone(), then.clone());
                self.on_client_end(waiter, &task, then, &flight, end);
            }
            Purpose::Start => self.on_start_answered(end),
            Purpose::Attach { target } => self.on_attach_answered(&target, end),
            Purpose::Release(target) => self.on_release_answered(&target, end),
            Purpose::CreateTab { task } => self.on_tab_created(&task, end),
            Purpose::SetUp(session) => self.on_set_up_answered(&session),
            Purpose::PageEnable(session) => {
                self.on_page_enabled(&session, answered);
                self.on_set_up_answered(&session);
            }
            Purpose::Focus(session) => self.on_focus_answered(&session, &end),
            Purpose::Title(tab) => self.on_title(&tab, end),
            Purpose::Silence(session) => self.on_silence_answered(&session, answered),
            Purpose::FrameTree(session) => self.on_frame_tree(&session, end),
            Purpose::Isolate(session) => self.on_isolate(&session, end),
            Purpose::Standing(session) => self.on_standing(&session, &end),
            Purpose::BridgeProbe(session) => self.on_bridge_probed(&session, end),
            Purpose::BridgeScript(session) => self.on_bridge_script(&session, end),
            Purpose::BridgeOwner(asking) => self.go_on_asking(asking, &end, Self::on_owner),
            Purpose::BridgeOwnerNode(asking) => self.go_on_asking(asking, &end, Self::on_owner_node),
            Purpose::BridgeOwnerAhead(ahead) => self.on_owner_ahead(ahead, &end),
            Purpose::BridgeOwnerNodeAhead(ahead) => self.on_owner_node_ahead(&ahead, &end),
            Purpose::BridgeQuestion(asking) => self.go_on_asking(asking, &end, Self::on_question_read),
            Purpose::BridgeFree(session) => {
                self.on_pause_answered(&session, &end, true);
            }
            Purpose::Answer { tab, dialog, by } => self.on_answer_ended(&tab, dialog, by, end),
            Purpose::Disarm { tab } => self.on_disarmed(&tab),
            Purpose::CloseDisarmed(tab) => self.on_disarmed_to_close(&tab),
            Purpose::Reload { tab } => self.on_recovery_reload(&tab, end),
            Purpose::Console { session, waiter } => self.on_console_told(&session, waiter),
            Purpose::Interrupt(waiter) => self.on_interrupt_answered(waiter, flight.session.as_ref(), end),
            Purpose::HoldEnded(session) => self.on_hold_ended(&session),
            Purpose::LastAnswer(root) => self.on_last_answer(&root, &end),
            Purpose::Alive | Purpose::Leave | Purpose::Ignored => {}
        }
    }

    /// Sends a command and starts its time.
    fn send(
        &mut self,
        purpose: Purpose,
        session: Option<&SessionId>,
        method: &str,
        params: Option<&[u8]>,
        timeout: Duration,
    ) -> CallId {
        let id = self.calls.next_id();
        let deadline = self.timers.start(self.now + timeout, Timer::Call(id));
        if let Some(session) = session.filter(|_| blocking::navigates(method)) {
            self.on_navigation_sent(session, params);
        }
        let of_client = matches!(purpose, Purpose::Client { .. }).then_some(id);
        self.effects.push_back(Effect::Send(of_client, envelope::write_command(id, method, params, session)));
        self.calls.insert(id, Flight { purpose, session: session.cloned(), method: method.into(), deadline });
        id
    }

    /// Sends a command of our own with text parameters.
    fn send_own(&mut self, purpose: Purpose, session: Option<&SessionId>, method: &str, params: &str) -> CallId {
        let timeout = match purpose {
            Purpose::Release(_) | Purpose::CreateTab { .. } | Purpose::Reload { .. } => AS_LONG_AS_IT_TAKES,
            Purpose::SetUp(_) | Purpose::PageEnable(_) | Purpose::Focus(_) | Purpose::FrameTree(_) => {
                AS_LONG_AS_IT_TAKES
            }
            Purpose::Console { .. } => AS_LONG_AS_IT_TAKES,
            Purpose::BridgeProbe(_) | Purpose::BridgeScript(_) => AS_LONG_AS_IT_TAKES,
            _ => OWN_CALL,
        };
        self.send(purpose, session, method, Some(params.as_bytes()), timeout)
    }

    fn start_timer(&mut self, wait: Duration, timer: Timer) -> TimerId {
        self.timers.start(self.now + wait, timer)
    }

    fn finish(&mut self, waiter: Waiter, outcome: Result<Outcome, CallError>) {
        self.effects.push_back(Effect::Finish(waiter, outcome));
    }

    /// Ends every flight that `wanted` picks with what `error` makes of it.
    fn fail_flights(
        &mut self,
        wanted: impl FnMut(&Flight<Purpose>) -> bool,
        mut error: impl FnMut(&Flight<Purpose>) -> CallError,
    ) {
        for id in self.calls.select(wanted) {
            if let Some(flight) = self.calls.take(id) {
                let error = error(&flight);
                self.end_flight(flight, End::Failed(error));
            }
        }
    }
}

/// Writes a JSON object of text fields, for the few parameters that we make ourselves.
fn object(fields: &[(&str, &str)]) -> String {
    let map: serde_json::Map<String, serde_json::Value> =
        fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
    serde_json::Value::Object(map).to_string()
}
