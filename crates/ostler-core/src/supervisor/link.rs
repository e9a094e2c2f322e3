//! The connection as the core sees it: there, being made, or gone.

use std::time::Duration;

use super::{End, Purpose, Scope, Supervisor};
use crate::error::CallError;
use crate::time::Timestamp;

/// ```text
///   Dialling ──connected──▶ Starting(n) ──n answers──▶ Ready ──lost──▶ Gone ──connected──▶ Starting
///      │                                                                ▲
///      └──────────────────────────── could not ─────────────────────────┘
/// ```
#[derive(Debug)]
pub(super) enum Link {
    /// Requests wait for how the dialling ends.
    Dialling,
    /// This many of the first commands are unanswered; requests wait.
    Starting(usize),
    /// Requests go through.
    Ready,
    /// Requests fail at once; nothing is sent.
    Gone { why: String, retry_at: Option<Timestamp> },
}

/// In a browser of our own every target is taken and held until it is set up. In one that is not, see `reach.rs`.
fn auto_attach(scope: Scope) -> &'static str {
    match scope {
        Scope::Own => r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}"#,
        Scope::Guest => super::reach::NARROW,
    }
}

/// How soon asking again can help at the earliest: the next attempt to dial may be under way already.
const SOON: Duration = Duration::from_millis(100);

impl Supervisor {
    pub(super) fn on_dialling(&mut self) {
        if matches!(self.link, Link::Gone { .. }) {
            self.link = Link::Dialling;
        }
    }

    pub(super) fn on_connected(&mut self, browser_id: Option<String>, scope: Scope, answers_dialogs: bool) {
        if browser_id != self.browser_id {
            self.forget_browser();
        }
        self.browser_id = browser_id;
        self.scope = scope;
        (self.answers_dialogs, self.transport) = (answers_dialogs, None);
        self.targets.clear();
        self.closing.clear();
        self.ending = false;
        self.link = Link::Starting(2);
        self.send_own(Purpose::Start, None, "Target.setDiscoverTargets", r#"{"discover":true}"#);
        self.send_own(Purpose::Start, None, "Target.setAutoAttach", auto_attach(scope));
    }

    pub(super) fn on_start_answered(&mut self, end: End) {
        let Link::Starting(left) = &mut self.link else { return };
        *left -= 1;
        if let End::Answer(Err(error)) = end {
            // A backend that refuses it can still be driven, tab by tab; its popups are then raced.
            self.scope = Scope::Guest;
            self.note(format!("the browser refused a start command: {}", error.message));
        }
        if matches!(self.link, Link::Starting(0)) {
            self.link = Link::Ready;
            self.reattach_known_tabs();
            self.release_leftovers();
            for request in std::mem::take(&mut self.waiting) {
                self.on_request(request);
            }
            self.mark_all_dirty();
        }
    }

    /// Ends all that is in flight: the connection is gone, and with it every session.
    pub(super) fn on_gone(&mut self, why: String, retry_after: Option<Duration>) {
        self.link = Link::Gone { why: why.clone(), retry_at: retry_after.map(|wait| self.now + wait) };
        for session in std::mem::take(&mut self.sessions).into_values() {
            if let Some(timer) = session.deadline {
                self.timers.stop(timer);
            }
        }
        self.rows.clear();
        self.suspend_tabs();
        // Last, so that nothing that follows from an end finds a session to send on.
        self.fail_flights(
            |_| true,
            |flight| CallError::UnknownOutcome {
                method: flight.method.to_string(),
                why: "the connection to the browser was lost",
            },
        );
        self.departed.clear();
        self.forget_wide();
        let error = self.gone_error().unwrap_or(CallError::BrowserGone { why, retry_after_ms: None });
        let queued = std::mem::take(&mut self.waiting);
        let in_tabs = self.tabs.values_mut().flat_map(|tab| std::mem::take(&mut tab.queue)).collect::<Vec<_>>();
        let in_tasks = self.tasks.values_mut().flat_map(|task| std::mem::take(&mut task.queue)).collect::<Vec<_>>();
        for request in queued.into_iter().chain(in_tabs).chain(in_tasks) {
            self.fail_request(request, error.clone());
        }
        self.mark_all_dirty();
    }

    /// Returns whether there is a browser to send anything to.
    pub(super) fn is_connected(&self) -> bool {
        matches!(self.link, Link::Starting(_) | Link::Ready)
    }

    /// Returns the error for a request while there is no connection; `None` while there is hope or one.
    pub(super) fn gone_error(&self) -> Option<CallError> {
        let Link::Gone { why, retry_at } = &self.link else { return None };
        let wait = retry_at.map(|at| at.since(self.now).max(SOON).as_millis());
        let retry_after_ms = wait.map(|wait| u64::try_from(wait).unwrap_or(u64::MAX));
        Some(CallError::BrowserGone { why: why.clone(), retry_after_ms })
    }
}
