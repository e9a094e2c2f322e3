//! Holds a document before its first script while `Page` is off.
//!
//! A tab that may have lost the frame that asks in it is left with `Page` off (fact A25), and its next document's first
//! script can open a dialog that nobody sees then. `Page` is on again as soon as we hear that the old document goes, but
//! the new one does not wait for that. The Debugger makes it wait: it stops at the first statement of any script until
//! we have caught up (fact F38).

use super::bridge::Told;
use super::requests::Then;
use super::sessions::Session;
use super::{Purpose, Supervisor};
use crate::ids::{SessionId, TargetId};

/// Whether the next document of a session's page is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hold {
    #[default]
    No,
    /// The Debugger is on for that alone.
    On,
    /// It is being switched off, and may still tell of what it saw.
    Ending,
}

impl Supervisor {
    /// Returns whether we can hold a page's next document. Not where the Debugger is somebody else's or the bridge's, and
    /// not in a quiet task, whose pages are not to tell that it is on (fact B15).
    pub(super) fn can_hold_document(&self, id: &SessionId) -> bool {
        let free = |session: &Session| session.bridge.is_none() && !session.debugged;
        self.sessions.get(id).is_some_and(free) && !self.is_quiet(id)
    }

    pub(super) fn hold_document(&mut self, id: &SessionId, target: &TargetId) {
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.hold != Hold::On) else { return };
        session.hold = Hold::On;
        let first = r#"{"eventName":"scriptFirstStatement"}"#;
        for (method, params) in [("Debugger.enable", "{}"), ("EventBreakpoints.setInstrumentationBreakpoint", first)] {
            self.send_own(Purpose::Disarm { tab: target.clone() }, Some(id), method, params);
        }
    }

    /// `Page` is on again, in front of this on the wire.
    pub(super) fn let_document_run(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.hold == Hold::On) else { return };
        session.hold = Hold::Ending;
        // Either lets a page go on that it has stopped. Somebody may have come to need it meanwhile.
        let needed = session.debugged || session.bridge.is_some();
        let method = if needed { "Debugger.resume" } else { "Debugger.disable" };
        self.send_own(Purpose::Ignored, Some(id), "EventBreakpoints.disable", "{}");
        self.send_own(Purpose::HoldEnded(id.clone()), Some(id), method, "{}");
    }

    pub(super) fn on_hold_ended(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get_mut(id).filter(|session| session.hold == Hold::Ending) {
            session.hold = Hold::No;
        }
    }

    /// Returns whether clients are told of a Debugger event: not of what only we have asked for.
    pub(super) fn is_told_while_held(&self, id: &SessionId) -> Told {
        let only_ours = |session: &Session| session.hold != Hold::No && !session.debugged && session.bridge.is_none();
        if self.sessions.get(id).is_some_and(only_ours) { Told::No } else { Told::Yes }
    }

    /// A client switches the Debugger on or off for itself. Returns what it means for the call.
    pub(super) fn on_client_uses_debugger(&mut self, id: &SessionId, method: &str) -> Then {
        let Some(session) = self.sessions.get_mut(id) else { return Then::Nothing };
        match method {
            "Debugger.enable" if !session.debugged => {
                session.debugged = true;
                return Then::Debug;
            }
            "Debugger.disable" => session.debugged = false,
            _ => {}
        }
        Then::Nothing
    }

    /// The backend does not let it have the Debugger.
    pub(super) fn on_debugger_refused(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.debugged = false;
        }
    }
}
