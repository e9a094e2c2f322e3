//! Stopping the script that keeps a page busy.

use std::time::Duration;

use super::requests::{Request, gone, millis};
use super::rows::PROBE;
use super::sessions::Kind;
use super::timers::Timer;
use super::{End, Flight, Outcome, Purpose, Supervisor};
use crate::error::{CallError, TimeoutHint};
use crate::ids::{SessionId, TargetId, Waiter};

/// How long a page gets to show that it is not busy, before its script is stopped.
const PATIENCE: Duration = Duration::from_millis(150);

impl Supervisor {
    /// Asks every document of the tab whether it is free. One that has not answered after a moment has
    /// its script stopped, on the session that was there before it hung; when all answer, it is done.
    pub(super) fn interrupt(&mut self, mut request: Request, target: &TargetId) {
        self.disarm(&mut request);
        let waiter = request.waiter;
        let documents = self.sessions.iter().filter(|(_, session)| {
            session.supervised && session.tab.as_ref() == Some(target) && !matches!(session.kind, Kind::Other(_))
        });
        let documents: Vec<_> = documents.filter(|(_, session)| !session.crashed).map(|(id, _)| id.clone()).collect();
        if self.tabs.get(target).is_some_and(|tab| tab.crashed) {
            return self.finish(waiter, Err(CallError::TargetCrashed { what: format!("tab {target}") }));
        }
        if documents.is_empty() {
            return self.finish(waiter, Err(gone("tab", target.as_str())));
        }
        let blocked = documents.iter().find_map(|id| self.blocking_dialog(id, "Runtime.terminateExecution", None));
        if let Some(dialog) = blocked {
            // It waits for the dialog, not for a script, and stopping the script would hang as well (fact A12).
            return self.finish(waiter, Err(CallError::DialogOpen { dialog, sent: false }));
        }
        for id in documents {
            // A script that asks over the bridge again and again lets much else be answered meanwhile.
            let bridged = self.sessions.get(&id).is_some_and(|session| session.bridge.is_some());
            let (method, params) = if bridged { ("Runtime.evaluate", PROBE) } else { ("Runtime.getIsolateId", "{}") };
            self.send_own(Purpose::Interrupt(waiter), Some(&id), method, params);
        }
        self.start_timer(PATIENCE, Timer::Interrupt(waiter));
    }

    pub(super) fn on_interrupt_due(&mut self, waiter: Waiter) {
        let mine = |flight: &Flight<Purpose>| matches!(flight.purpose, Purpose::Interrupt(other) if other == waiter);
        let unanswered = self.calls.select(mine);
        if !unanswered.is_empty() {
            self.ask_browser(PATIENCE);
        }
        for id in unanswered {
            if let Some(session) = self.calls.get(id).and_then(|flight| flight.session.clone()) {
                self.send_own(Purpose::Ignored, Some(&session), "Runtime.terminateExecution", "{}");
                self.ask_standing(&session);
            }
        }
    }

    pub(super) fn on_interrupt_answered(&mut self, waiter: Waiter, session: Option<&SessionId>, end: End) {
        let mine = |flight: &Flight<Purpose>| matches!(flight.purpose, Purpose::Interrupt(other) if other == waiter);
        if let End::Failed(error) = end {
            let tab = session.and_then(|id| self.sessions.get(id)).and_then(|session| session.tab.as_ref());
            let held_up = tab.and_then(|tab| self.tabs.get(tab)).is_some_and(|tab| tab.held_up);
            // One failure ends the request; the rest of its questions are nobody's any more.
            for id in self.calls.select(mine) {
                if let Some(flight) = self.calls.get_mut(id) {
                    flight.purpose = Purpose::Ignored;
                }
            }
            let error = match error {
                CallError::Timeout { timeout_ms, hint, .. } => {
                    let hint = match hint {
                        TimeoutHint::BrowserSilent => TimeoutHint::BrowserSilent,
                        _ if held_up => TimeoutHint::Leaving,
                        _ => TimeoutHint::StillBusy,
                    };
                    CallError::Timeout { method: "interrupt".to_owned(), timeout_ms, hint }
                }
                error => error,
            };
            return self.finish(waiter, Err(error));
        }
        if !self.calls.any(mine) {
            self.finish(waiter, Ok(Outcome::Done));
        }
    }

    /// Nothing stops the script of a page any more: whoever waits for that hears so at once.
    pub(super) fn give_up_interrupting(&mut self, id: &SessionId) {
        let tried = |flight: &Flight<Purpose>| {
            matches!(flight.purpose, Purpose::Interrupt(_)) && flight.session.as_ref() == Some(id)
        };
        self.fail_flights(tried, |flight| CallError::Timeout {
            method: flight.method.to_string(),
            timeout_ms: millis(PATIENCE),
            hint: TimeoutHint::Leaving,
        });
    }

    /// A page is about to be left whose script is known never to end. It is stopped first: a document of the same site
    /// would wait for it, and once one waits nothing stops it any more (fact F33).
    pub(super) fn clear_the_way(&mut self, id: &SessionId) {
        let tab = self.sessions.get(id).and_then(|session| self.tabs.get(session.tab.as_ref()?));
        if tab.is_some_and(|tab| tab.hung.is_some() && !tab.held_up) {
            self.send_own(Purpose::Ignored, Some(id), "Runtime.terminateExecution", "{}");
        }
    }

    /// Leaves a line for the daemon's log.
    pub(super) fn note(&mut self, text: String) {
        self.effects.push_back(super::Effect::Note(text));
    }
}
