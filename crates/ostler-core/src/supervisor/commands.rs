//! What is sent, why, and what the end of it means: each command is in one table, and is taken out of it once.

use std::time::Duration;

use bytes::Bytes;

use super::answers::AnsweredBy;
use super::closing::Closing;
use super::requests::Then;
use super::timers::Timer;
use super::{Effect, OnDialog, Outcome, Supervisor, blocking, bridge};
use crate::cdp::calls::Flight;
use crate::cdp::envelope::{self, WireError};
use crate::error::CallError;
use crate::ids::{CallId, DialogId, SessionId, TargetId, TaskId, Waiter};

/// How long a command of our own may take (design: browser-level 5 s, session 10 s).
pub const OWN_CALL: Duration = Duration::from_secs(10);

/// How long a command may take whose answer counts however late it comes. A page that is blocked before
/// it is set up answers once it is free; a popup that a slow browser attaches late may be held, and a tab
/// that it opens late is still there. What ends the page or the connection ends the wait.
const AS_LONG_AS_IT_TAKES: Duration = Duration::from_secs(7 * 24 * 3600);

/// Why a command was sent, and so what its answer means.
#[derive(Debug)]
pub(super) enum Purpose {
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
    /// Whether the script has ended that asks one question after another.
    Row(SessionId),
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
    /// Whether a tab that is to be closed is about to get its next document; see `closing.rs`.
    Close(TargetId),
    /// The same of a tab of ours whose task has ended.
    CloseLater(Closing),
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
    /// Whether it asks nothing more.
    LastWord(SessionId),
    /// Whether it can be left without harm, somebody else having it by now.
    LastLook(SessionId),
    /// Whether a page that is about to be left asks nothing more; see `leave_page.rs`.
    LedOut(TargetId, CallId),
    /// It never stops asking, and goes to another process.
    Evicted(TargetId, CallId),
    /// One of the commands that end the daemon's hold on the browser.
    Leave,
    /// Nobody looks at the answer.
    Ignored,
}

/// How a command ended.
#[derive(Debug)]
pub(super) enum End {
    /// The browser answered.
    Answer(Result<Bytes, WireError>),
    /// It did not, and will not, for this reason.
    Failed(CallError),
}

impl Supervisor {
    /// Sends a command and starts its time.
    pub(super) fn send(
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
        if let Some(session) = session.filter(|_| blocking::ends_scripts(method)) {
            self.on_script_stopped(session);
        }
        let of_client = matches!(purpose, Purpose::Client { .. }).then_some(id);
        self.effects.push_back(Effect::Send(of_client, envelope::write_command(id, method, params, session)));
        self.calls.insert(id, Flight { purpose, session: session.cloned(), method: method.into(), deadline });
        id
    }

    /// Sends a command of our own with text parameters.
    pub(super) fn send_own(
        &mut self,
        purpose: Purpose,
        session: Option<&SessionId>,
        method: &str,
        params: &str,
    ) -> CallId {
        let timeout = match purpose {
            Purpose::Release(_) | Purpose::CreateTab { .. } | Purpose::Reload { .. } => AS_LONG_AS_IT_TAKES,
            Purpose::SetUp(_) | Purpose::PageEnable(_) | Purpose::Focus(_) | Purpose::FrameTree(_) => {
                AS_LONG_AS_IT_TAKES
            }
            Purpose::Console { .. } | Purpose::Row(_) => AS_LONG_AS_IT_TAKES,
            // A guess could end the browser (fact F48).
            Purpose::Close(_) | Purpose::CloseLater(_) => AS_LONG_AS_IT_TAKES,
            Purpose::BridgeProbe(_) | Purpose::BridgeScript(_) => AS_LONG_AS_IT_TAKES,
            _ => OWN_CALL,
        };
        self.send(purpose, session, method, Some(params.as_bytes()), timeout)
    }

    /// Ends a command: each is taken out of the table once, so each ends once (invariant 1).
    pub(super) fn end_flight(&mut self, flight: Flight<Purpose>, end: End) {
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
            Purpose::Row(session) => self.end_row(&session),
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
            Purpose::Close(tab) => self.on_close_looked_at(&tab, &end),
            Purpose::CloseLater(closing) => self.on_closing_looked_at(&closing, &end),
            Purpose::CloseDisarmed(tab) => self.on_disarmed_to_close(&tab),
            Purpose::Reload { tab } => self.on_recovery_reload(&tab, end),
            Purpose::Console { session, waiter } => self.on_console_told(&session, waiter),
            Purpose::Interrupt(waiter) => self.on_interrupt_answered(waiter, flight.session.as_ref(), end),
            Purpose::HoldEnded(session) => self.on_hold_ended(&session),
            Purpose::LastAnswer(root) => self.on_last_answer(&root, &end),
            Purpose::LastWord(root) => self.on_last_word(&root, &end),
            Purpose::LastLook(root) => self.on_last_look(&root, &end),
            Purpose::LedOut(tab, probe) => self.on_led_out(&tab, probe, &end),
            Purpose::Evicted(tab, call) => self.on_evicted(&tab, call, &end),
            Purpose::Alive | Purpose::Leave | Purpose::Ignored => {}
        }
    }

    /// Ends every flight that `wanted` picks with what `error` makes of it.
    pub(super) fn fail_flights(
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

    pub(super) fn finish(&mut self, waiter: Waiter, outcome: Result<Outcome, CallError>) {
        self.effects.push_back(Effect::Finish(waiter, outcome));
    }
}
