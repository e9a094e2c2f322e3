//! A client's call on its way: asked after shortly before its time is over, and ended with what that means.

use std::time::Duration;

use super::requests::{Then, gone, millis};
use super::sessions::Kind;
use super::timers::Timer;
use super::{End, Flight, Outcome, Purpose, Supervisor, blocking, wire};
use crate::cdp::envelope::WireError;
use crate::error::{CallError, TimeoutHint};
use crate::ids::{CallId, SessionId, TaskId, Waiter};
use crate::view::Arrival;

/// How long before the end of its time an unanswered call makes us ask whether its page, or the browser, answers at all.
pub(super) const PROBE: Duration = Duration::from_millis(200);

impl Supervisor {
    /// Sends a client's command. Shortly before its time is over its page is asked whether it answers at all, and the
    /// browser too if nothing was heard from it.
    pub(super) fn send_for_client(
        &mut self,
        purpose: Purpose,
        session: Option<&SessionId>,
        method: &str,
        params: Option<&[u8]>,
        left: Duration,
    ) -> CallId {
        let id = self.send(purpose, session, method, params, left);
        if left >= 2 * PROBE {
            self.set_deadline(id, left - PROBE, Timer::Probe(id));
        }
        id
    }

    fn set_deadline(&mut self, id: CallId, wait: Duration, timer: Timer) {
        let timer = self.start_timer(wait, timer);
        if let Some(flight) = self.calls.get_mut(id) {
            let before = std::mem::replace(&mut flight.deadline, timer);
            self.timers.stop(before);
        }
    }

    /// Asks whether anything at all answers, once a call is nearly out of time: one that awaits a promise is silent on an
    /// idle page too.
    pub(super) fn on_probe_due(&mut self, id: CallId) {
        self.set_deadline(id, PROBE, Timer::Call(id));
        let Some(flight) = self.calls.get(id) else { return };
        let session = flight.session.clone().filter(|_| waits_for_the_page(&flight.method));
        let time = time_of(flight);
        self.ask_browser(time.saturating_sub(PROBE));
        if let Some(session) = session.filter(|id| self.sessions.get(id).is_some_and(|session| session.supervised)) {
            self.ask_isolate(&session);
            self.ask_standing(&session);
        }
    }

    /// Asks whether a page that may be busy is being left: nothing stops its script then.
    pub(super) fn ask_standing(&mut self, id: &SessionId) {
        if self.sessions.get(id).is_some_and(|session| session.kind == Kind::Page) {
            self.send_own(Purpose::Standing(id.clone()), Some(id), super::closing::HISTORY, "{}");
        }
    }

    pub(super) fn on_client_end(
        &mut self,
        waiter: Waiter,
        task: &TaskId,
        then: Then,
        flight: &Flight<Purpose>,
        end: End,
    ) {
        let (accepted, refused) = (matches!(end, End::Answer(Ok(_))), matches!(end, End::Answer(Err(_))));
        let outcome = match end {
            End::Answer(Ok(result)) => {
                if then == Then::OwnCreated
                    && let Some(created) = str::from_utf8(&result).ok().and_then(wire::read::<wire::NamesTarget>)
                {
                    self.own_created(&created.target_id, task);
                }
                Ok(Outcome::Result(result))
            }
            End::Answer(Err(error)) => Err(self.name_error(error, flight)),
            End::Failed(error) => Err(error),
        };
        match then {
            Then::Debug if refused => flight.session.iter().for_each(|session| self.on_debugger_refused(session)),
            Then::RawAnswer(tab) => self.on_raw_answer_ended(&tab, accepted),
            // The browser closes it without asking anybody (fact A22), but a busy renderer takes its time to go.
            Then::Close(target) if accepted => self.on_closing(&target),
            Then::Close(target) => self.on_close_refused(&target),
            _ => {}
        }
        self.finish(waiter, outcome);
    }

    /// Gives an error of the browser's its own name where it has one in the contract.
    fn name_error(&self, error: WireError, flight: &Flight<Purpose>) -> CallError {
        let session = flight.session.as_ref();
        match (error.code, error.message.as_str()) {
            (-32001, _) if session.is_some() => gone("session", session.map_or("", SessionId::as_str)),
            (_, "Inspected target navigated or closed") => {
                CallError::UnknownOutcome { method: flight.method.to_string(), why: "the page navigated or closed" }
            }
            (_, "Target crashed") => CallError::TargetCrashed {
                what: session.map_or_else(String::new, |session| format!("session {session}")),
            },
            _ => CallError::Cdp { code: error.code, message: error.message },
        }
    }

    /// Returns the error of a command whose time is over, with what is known of its page.
    pub(super) fn timeout_of(&self, flight: &Flight<Purpose>) -> CallError {
        let timeout = time_of(flight);
        if let (Purpose::Client { awaits, .. }, Some(session)) = (&flight.purpose, &flight.session)
            && let Some(error) = self.asked_meanwhile(session, &flight.method, *awaits)
        {
            return error;
        }
        let session = flight.session.as_ref().and_then(|id| self.sessions.get(id));
        // What was on its way as the command was sent is heard after it.
        let silent = session.is_some_and(|session| self.now.since(session.heard) > timeout / 2);
        let probe =
            |other: &Flight<Purpose>| matches!(other.purpose, Purpose::Isolate(_)) && other.session == flight.session;
        let tab = session.and_then(|session| self.tabs.get(session.tab.as_ref()?));
        let frame = flight.session.as_ref().and_then(|id| self.frame_apart(id));
        let hung_since = match &frame {
            Some(_) => session.and_then(|session| session.hung),
            None => tab.and_then(|tab| tab.hung),
        };
        // What is known to hang and has not been heard of since need not be asked again.
        let busy = silent && waits_for_the_page(&flight.method) && (hung_since.is_some() || self.calls.any(probe));
        let hint = match (self.hint_of_silence(timeout), tab) {
            (TimeoutHint::None, Some(tab)) if busy && tab.held_up => TimeoutHint::Leaving,
            // Until it comes the browser holds back what is meant for the page (fact F41). Before it is requested the page
            // itself is why there is no answer (fact F47).
            (TimeoutHint::None, Some(tab)) if busy && tab.arrival == Arrival::Requested => TimeoutHint::Arriving,
            (TimeoutHint::None, _) if busy => {
                let known = hung_since.map_or(Duration::ZERO, |since| self.now.since(since));
                TimeoutHint::PageBusy { for_ms: millis(known.max(timeout)), frame }
            }
            (hint, _) => hint,
        };
        CallError::Timeout { method: flight.method.to_string(), timeout_ms: millis(timeout), hint }
    }
}

/// Returns how long a command was given in all.
pub(super) fn time_of(flight: &Flight<Purpose>) -> Duration {
    match flight.purpose {
        Purpose::Client { timeout, .. } => timeout,
        _ => super::OWN_CALL,
    }
}

/// Returns whether a method gets no answer from a page whose script never ends. What navigates is the browser's, and
/// waits all the same where an earlier navigation waits for the page.
fn waits_for_the_page(method: &str) -> bool {
    !blocking::finishes_despite_dialog(method) || blocking::navigates(method)
}
