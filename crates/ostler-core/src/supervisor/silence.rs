//! Targets that do not answer: a page that something blocks, a renderer that crashed.

use std::time::Duration;

use super::in_flight::time_of;
use super::publish::Dirty;
use super::sessions::Kind;
use super::sleep::Sleep;
use super::timers::Timer;
use super::{End, Flight, Purpose, Supervisor, wire};
use crate::error::{CallError, TimeoutHint};
use crate::ids::{SessionId, TargetId};

/// How much longer a page may be silent whose browser answers, before it is told that something blocks it: on a machine
/// with far more work than processors a page that nothing blocks was silent for more than two seconds, and the browser
/// still answered in a millisecond (fact F14).
const GRACE: Duration = Duration::from_secs(3);

/// What the browser says of a page between two documents (fact A19).
pub(super) const NOT_ACTIVE: &str = "Not attached to an active page";

impl Supervisor {
    pub(super) fn on_page_enabled(&mut self, id: &SessionId, answered: bool) {
        if !answered {
            return;
        }
        self.on_answers_set_up(id);
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.set_up = true;
        self.emulate_focus(id);
        let Some(session) = self.sessions.get(id) else { return };
        if session.kind == Kind::Page
            && let Some(target) = session.tab.clone()
            // There they are those of its frames, until the document is replaced.
            && self.tabs.get(&target).is_some_and(|tab| !tab.armed)
        {
            self.close_orphans(&target);
        }
    }

    pub(super) fn on_silence(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.deadline = None;
        if session.tab.as_ref().and_then(|tab| self.tabs.get(tab)).is_some_and(|tab| tab.sleep != Sleep::Awake) {
            // Nothing blocks it, it only sleeps.
            return;
        }
        if session.kind == Kind::Page && self.is_silent(id) {
            self.send_own(Purpose::Silence(id.clone()), Some(id), super::closing::HISTORY, "{}");
        } else {
            // Its script began to spin in the middle of the set-up: what the browser itself answers goes through.
            self.let_calls_through(id);
        }
    }

    /// The browser's side of the page answers, or there is nobody to answer. Only a page of the first kind can be
    /// blocked, and it gets some more time to prove that it is not.
    pub(super) fn on_silence_answered(&mut self, id: &SessionId, answered: bool) {
        if !answered || !self.is_silent(id) {
            return self.let_calls_through(id);
        }
        let timer = self.start_timer(GRACE, Timer::StillSilent(id.clone()));
        if let Some(session) = self.sessions.get_mut(id) {
            session.deadline = Some(timer);
        }
    }

    pub(super) fn on_still_silent(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.deadline = None;
        let tab = session.tab.clone();
        if let Some(target) = tab.filter(|_| self.is_silent(id)) {
            self.report_blocked(&target, id);
        }
        self.let_calls_through(id);
    }

    /// Returns whether a page has not answered the first command of its set-up.
    fn is_silent(&self, id: &SessionId) -> bool {
        self.calls.any(|flight| matches!(&flight.purpose, Purpose::PageEnable(other) if other == id))
    }

    /// Asks the browser whether it answers, if nothing at all was heard from it for so long. One whose process is stopped
    /// keeps its connection, and each of its pages looks as if a script kept it busy.
    pub(super) fn ask_browser(&mut self, silent: Duration) {
        if self.now.since(self.heard) >= silent && !self.asks_browser() {
            self.send_own(Purpose::Alive, None, "Browser.getVersion", "{}");
        }
    }

    /// Returns what is to be said of a wait of this length if the browser told nothing meanwhile, and was asked.
    pub(super) fn hint_of_silence(&self, waited: Duration) -> TimeoutHint {
        let silent = self.now.since(self.heard) >= waited && self.asks_browser();
        if silent { TimeoutHint::BrowserSilent } else { TimeoutHint::None }
    }

    fn asks_browser(&self) -> bool {
        self.calls.any(|flight| matches!(flight.purpose, Purpose::Alive))
    }

    /// Keeps in mind that a script keeps a page or a frame busy, for whoever looks at them: they are told from what is
    /// known.
    pub(super) fn note_hung(&mut self, flight: &Flight<Purpose>, error: &CallError) {
        let busy =
            matches!(error, CallError::Timeout { hint: TimeoutHint::PageBusy { .. } | TimeoutHint::Leaving, .. });
        // The answer to what we ask ourselves may only be late, as when the whole browser is stopped.
        if !busy || !matches!(flight.purpose, Purpose::Client { .. }) {
            return;
        }
        let since = self.now - time_of(flight);
        let Some(session) = flight.session.as_ref().and_then(|id| self.sessions.get_mut(id)) else { return };
        let Some(target) = session.tab.clone() else { return };
        match session.kind {
            Kind::Page => {
                if let Some(tab) = self.tabs.get_mut(&target).filter(|tab| tab.hung.is_none()) {
                    tab.hung = Some(since);
                    self.touch(&target, Dirty::TABS);
                }
            }
            Kind::Iframe if session.hung.is_none() => {
                session.hung = Some(since);
                self.touch(&target, Dirty::SESSIONS);
            }
            _ => {}
        }
    }

    /// The page answers, or has a new document: whatever was known of a script that keeps it busy is over.
    pub(super) fn forget_hung(&mut self, target: &TargetId) {
        if let Some(tab) = self.tabs.get_mut(target) {
            tab.held_up = false;
            if tab.hung.take().is_some() {
                self.touch(target, Dirty::TABS);
            }
        }
    }

    /// The same of a frame.
    pub(super) fn forget_hung_frame(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        if session.hung.take().is_some()
            && let Some(target) = session.tab.clone()
        {
            self.touch(&target, Dirty::SESSIONS);
        }
    }

    /// A page that did not answer was asked what only the browser answers, and only while the page is not being left for a
    /// document that waits for it.
    pub(super) fn on_standing(&mut self, id: &SessionId, end: &End) {
        let End::Answer(answer) = end else { return };
        let held_up = answer.as_ref().is_err_and(|error| error.message == NOT_ACTIVE);
        let tab = self.sessions.get(id).and_then(|session| session.tab.as_ref());
        if let Some(tab) = tab.and_then(|tab| self.tabs.get_mut(tab)) {
            tab.held_up = held_up;
        }
        if held_up {
            self.give_up_interrupting(id);
        }
    }

    /// A frame crashed that may have no session of ours yet, so that nothing else tells that its dialog is over (A24).
    pub(super) fn on_target_crashed(&mut self, params: &str) {
        let Some(wire::NamesTarget { target_id }) = wire::read(params) else { return };
        if self.tabs.contains_key(&target_id) || self.sessions.values().any(|session| session.target == target_id) {
            return;
        }
        for tab in self.tabs.keys().cloned().collect::<Vec<_>>() {
            self.close_dialogs_of_frames(&tab, std::slice::from_ref(&target_id.as_frame()));
        }
    }

    pub(super) fn on_crashed(&mut self, id: &SessionId) {
        self.end_reading(id);
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.crashed = true;
        (session.isolate, session.hung) = (None, None);
        let (kind, tab, supervised) = (session.kind.clone(), session.tab.clone(), session.supervised);
        let what = format!("{} {}", if kind == Kind::Page { "tab" } else { "frame" }, session.target);
        // What the browser answers is still answered (fact C20); the rest never will be.
        self.fail_flights(
            |flight| flight.session.as_ref() == Some(id) && !super::blocking::survives_crash(&flight.method),
            |_| CallError::TargetCrashed { what: what.clone() },
        );
        // A client's own session tells the same of the same tab, sooner or later than ours.
        let Some(target) = tab.filter(|_| supervised) else { return };
        if kind == Kind::Page {
            self.close_open_dialogs(&target);
            if let Some(tab) = self.tabs.get_mut(&target) {
                (tab.crashed, tab.hung, tab.held_up) = (true, None, false);
            }
        } else {
            self.close_dialogs_of_session(&target, id);
        }
        self.touch(&target, Dirty::ALL);
    }

    pub(super) fn on_reloaded_after_crash(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.crashed = false;
        let (supervised, set_up, tab) = (session.supervised, session.set_up, session.tab.clone());
        if let Some(target) = tab.clone() {
            if let Some(tab) = self.tabs.get_mut(&target).filter(|tab| tab.session.as_ref() == Some(id)) {
                tab.crashed = false;
            }
            self.touch(&target, Dirty::TABS);
        }
        if !supervised {
            return;
        }
        if let Some(target) = tab.filter(|tab| self.tabs.get(tab).is_some_and(|tab| tab.armed)) {
            // The document of fact A25 went with the renderer.
            return self.on_document_replaced(&target, id);
        }
        if !set_up {
            // It had crashed before the set-up came, so that nobody was there to take it in.
            return self.set_up(id);
        }
        self.adjust_bridge_of(id);
        self.revive_bridge(id);
        self.send_own(Purpose::FrameTree(id.clone()), Some(id), "Page.getFrameTree", "{}");
        self.ask_isolate(id);
    }
}
