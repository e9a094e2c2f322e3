//! A client's request, and how long it waits: for the connection, for a task's tab, for a tab that is being set up. Where
//! it goes is in `routing.rs`, how it ends in `in_flight.rs`.

use std::time::Duration;

use bytes::Bytes;

use super::in_flight::PROBE;
use super::timers::{Timer, TimerId};
use super::{ClientCall, Link, OnDialog, Purpose, Supervisor};
use crate::error::CallError;
use crate::ids::{FrameId, SessionId, TargetId, TaskId, Waiter};
use crate::time::Timestamp;

/// How long a request may take that has no time of its own.
const REQUEST: Duration = Duration::from_secs(30);

/// A client's request, kept whole while it waits for the connection or for a tab.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) waiter: Waiter,
    pub(super) task: TaskId,
    /// When it ends with `timeout` at the latest, and the time that it was given.
    pub(super) deadline: Timestamp,
    pub(super) timeout: Duration,
    pub(super) what: What,
    /// Running while it waits.
    pub(super) timer: Option<TimerId>,
    pub(super) leaves: Leaves,
}

/// Whether it is a navigation that waits for its tab to be made ready for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    No,
    /// `Page` is being switched off; see `recovery.rs`.
    Unseen,
    /// The page is led out of its dialogs; see `leave_page.rs`.
    LedOut,
}

#[derive(Debug)]
pub(super) enum What {
    Call(Call),
    SelectTab { session: Option<SessionId>, target: Option<TargetId> },
    CurrentTab,
    Interrupt,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) session: Option<SessionId>,
    pub(super) frame: Option<FrameId>,
    pub(super) target: Option<TargetId>,
    pub(super) method: String,
    pub(super) params: Option<Bytes>,
    pub(super) on_dialog: OnDialog,
    /// The frame without a session of its own that it is for, in a task that knows no script contexts.
    pub(super) world: Option<FrameId>,
}

/// What a client's call means to us when it succeeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// `Target.createTarget`: the tab is the task's.
    OwnCreated,
    /// `Target.closeTarget`: the tab is gone for us, however long its renderer takes to end.
    Close(TargetId),
    /// `Target.attachToTarget`: the session that comes of it is the client's.
    ClientAttach(TargetId),
    /// `Debugger.enable`: the client has the Debugger on, unless that is refused.
    Debug,
    /// `Page.handleJavaScriptDialog` on this tab.
    RawAnswer(TargetId),
    /// The world is being made that a `Runtime.evaluate` with these parameters runs in; see `quiet.rs`.
    Evaluate {
        frame: FrameId,
        params: Box<str>,
        deadline: Timestamp,
    },
}

impl Request {
    pub(super) fn from_call(call: ClientCall, now: Timestamp) -> Self {
        let ClientCall { waiter, task, session, frame, target, method, params, timeout, on_dialog } = call;
        let call = Call { session, frame, target, method, params, on_dialog, world: None };
        Self { waiter, task, deadline: now + timeout, timeout, what: What::Call(call), timer: None, leaves: Leaves::No }
    }

    pub(super) fn select_tab(
        waiter: Waiter,
        task: TaskId,
        session: Option<SessionId>,
        target: Option<TargetId>,
        now: Timestamp,
    ) -> Self {
        Self::new(waiter, task, What::SelectTab { session, target }, now)
    }

    pub(super) fn current_tab(waiter: Waiter, task: TaskId, timeout: Duration, now: Timestamp) -> Self {
        Self { deadline: now + timeout, timeout, ..Self::new(waiter, task, What::CurrentTab, now) }
    }

    pub(super) fn interrupt(waiter: Waiter, task: TaskId, now: Timestamp) -> Self {
        Self::new(waiter, task, What::Interrupt, now)
    }

    fn new(waiter: Waiter, task: TaskId, what: What, now: Timestamp) -> Self {
        Self { waiter, task, deadline: now + REQUEST, timeout: REQUEST, what, timer: None, leaves: Leaves::No }
    }

    fn name(&self) -> &str {
        match &self.what {
            What::Call(call) => &call.method,
            What::SelectTab { .. } => "set_session",
            What::CurrentTab => "session",
            What::Interrupt => "interrupt",
        }
    }
}

impl Supervisor {
    pub(super) fn on_request(&mut self, mut request: Request) {
        if let Some(error) = self.gone_error() {
            return self.fail_request(request, error);
        }
        if self.ending {
            let why = "the daemon is ending".to_owned();
            return self.fail_request(request, CallError::BrowserGone { why, retry_after_ms: Some(1000) });
        }
        if !matches!(self.link, Link::Ready) {
            self.arm(&mut request);
            return self.waiting.push(request);
        }
        if !self.tasks.contains_key(&request.task) {
            let error = self.unknown_task(&request.task);
            return self.fail_request(request, error);
        }
        self.arm(&mut request);
        match &request.what {
            What::Call(_) => self.route_call(request),
            What::SelectTab { .. } => self.select_tab(request),
            What::CurrentTab => {
                let task = request.task.clone();
                if let Some((target, request)) = self.current_or_wait(&task, request) {
                    self.answer_with_tab(request, &target);
                }
            }
            What::Interrupt => {
                let task = request.task.clone();
                if let Some((target, request)) = self.current_or_wait(&task, request) {
                    self.interrupt(request, &target);
                }
            }
        }
    }

    /// Starts the request's own time, which runs while it waits.
    fn arm(&mut self, request: &mut Request) {
        if request.timer.is_none() {
            let left = request.deadline.since(self.now);
            let first = if left >= 2 * PROBE { left - PROBE } else { left };
            request.timer = Some(self.start_timer(first, Timer::Queued(request.waiter)));
        }
    }

    /// Ends the waiting; from here on another timer, or nobody, ends the request.
    pub(super) fn disarm(&mut self, request: &mut Request) {
        if let Some(timer) = request.timer.take() {
            self.timers.stop(timer);
        }
    }

    pub(super) fn fail_request(&mut self, mut request: Request, error: CallError) {
        self.disarm(&mut request);
        self.finish(request.waiter, Err(error));
    }

    pub(super) fn answer_with_tab(&mut self, mut request: Request, target: &TargetId) {
        self.disarm(&mut request);
        let outcome = self.tab_outcome(target).ok_or_else(|| gone("tab", target.as_str()));
        self.finish(request.waiter, outcome);
    }

    /// Shortly before a request has waited long enough the browser is asked whether it answers, if nothing was heard.
    pub(super) fn on_queued_for_long(&mut self, waiter: Waiter) {
        let Some(request) = self.queued(waiter) else { return };
        let (deadline, timeout) = (request.deadline, request.timeout);
        if deadline <= self.now {
            return self.on_queued_too_long(waiter);
        }
        let timer = self.timers.start(deadline, Timer::Queued(waiter));
        if let Some(request) = self.queued(waiter) {
            request.timer = Some(timer);
        }
        if matches!(self.link, Link::Ready) {
            self.ask_browser(timeout.saturating_sub(PROBE));
        }
    }

    fn queued(&mut self, waiter: Waiter) -> Option<&mut Request> {
        let queues = std::iter::once(&mut self.waiting)
            .chain(self.tabs.values_mut().map(|tab| &mut tab.queue))
            .chain(self.tasks.values_mut().map(|task| &mut task.queue));
        queues.flatten().find(|request| request.waiter == waiter)
    }

    fn on_queued_too_long(&mut self, waiter: Waiter) {
        let Some(mut request) = self.take_queued(waiter) else { return };
        request.timer = None;
        let error = if matches!(self.link, Link::Ready) {
            CallError::Timeout {
                method: request.name().to_owned(),
                timeout_ms: millis(request.timeout),
                hint: self.hint_of_silence(request.timeout),
            }
        } else {
            let why = "the browser has not accepted the connection yet; if it shows a prompt, click Allow".to_owned();
            CallError::BrowserGone { why, retry_after_ms: Some(1000) }
        };
        self.fail_request(request, error);
    }

    fn take_queued(&mut self, waiter: Waiter) -> Option<Request> {
        let queues = std::iter::once(&mut self.waiting)
            .chain(self.tabs.values_mut().map(|tab| &mut tab.queue))
            .chain(self.tasks.values_mut().map(|task| &mut task.queue));
        for queue in queues {
            if let Some(at) = queue.iter().position(|request| request.waiter == waiter) {
                return Some(queue.remove(at));
            }
        }
        None
    }

    /// The client is gone: what it sent may still act, but nobody hears of it.
    pub(super) fn on_cancel(&mut self, waiter: Waiter) {
        if let Some(mut request) = self.take_queued(waiter) {
            return self.disarm(&mut request);
        }
        self.forget_console_waiter(waiter);
        let mine = |purpose: &Purpose| matches!(purpose, Purpose::Client { waiter: other, .. } if *other == waiter);
        for id in self.calls.select(|flight| mine(&flight.purpose)) {
            // What the call means to us, such as a tab that it opens, still counts.
            if let Some(flight) = self.calls.get_mut(id)
                && let Purpose::Client { then: Then::Nothing | Then::Evaluate { .. }, .. } = flight.purpose
            {
                flight.purpose = Purpose::Ignored;
            }
        }
    }

    pub(super) fn unknown_task(&self, task: &TaskId) -> CallError {
        CallError::UnknownTask { task: task.clone(), known: self.task_names() }
    }
}

pub(super) fn gone(kind: &str, id: &str) -> CallError {
    CallError::SessionGone { what: format!("{kind} {id}") }
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
