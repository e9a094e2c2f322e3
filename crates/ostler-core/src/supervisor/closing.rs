//! Closing a tab in which a frame asks.
//!
//! Two facts want opposite things. With `Page` on, the dialog of any frame but the top one ends the whole browser when its
//! tab is closed (F40), and so does one whose frame has gone (F24). But where the dialog and the page's next document wait
//! for each other it is `Page.disable` that ends the browser (F48). Which of the two it is only the browser knows, and it
//! tells by whether it still lets anybody look at the page's history:
//!
//! ```text
//!   close ──▶ no frame asks ──────────────────────────────────────────────────────────▶ closed
//!         ├─▶ one of another process ──────────────────────────────────▶ `Page` off ──▶ closed
//!         └─▶ one of the page's own ──▶ is the next document waiting? ──no─▶ `Page` off ──▶ closed
//!                                                                     └yes────────────▶ closed
//! ```

use super::answers::is_not_ready;
use super::dialogs::Dialog;
use super::requests::{Request, Then, What};
use super::sessions::{Kind, Session, Tab};
use super::{End, Flight, Purpose, Supervisor};
use crate::ids::{SessionId, TargetId};
use crate::view::Arrival;

/// What the browser answers itself, unless the page is about to be replaced.
pub(super) const HISTORY: &str = "Page.getNavigationHistory";

/// A tab of ours whose task has ended, and which is closed once the browser has told how.
#[derive(Debug)]
pub(super) struct Closing {
    target: TargetId,
    /// Those of its documents, which `Page` is taken from if that is how.
    sessions: Vec<SessionId>,
}

/// Why a client may not take `Page` from a session of its own now.
pub(super) const GOES_WHILE_IT_ASKS: &str = "the page goes to another one while it asks, and that could end the whole browser; \
     answer its dialog first, or close the tab with Target.closeTarget";

impl Tab {
    /// Returns whether a dialog that blocks the page itself is open, other than over the bridge.
    fn asks_itself(&self) -> bool {
        self.dialogs.iter().any(|dialog| self.is_of_own_process(dialog))
    }

    fn is_of_own_process(&self, dialog: &Dialog) -> bool {
        !dialog.is_bridged() && (dialog.orphan || self.session.as_ref() == Some(&dialog.owner))
    }

    /// Returns whether the browser has to be asked how this tab can be closed.
    fn needs_a_look(&self, top: &TargetId) -> bool {
        let known = self.armed || self.dialogs.iter().any(|dialog| dialog.stuck);
        let may_wait = |dialog: &Dialog| self.is_of_own_process(dialog) && is_of_frame(dialog, top);
        !known && self.dialogs.iter().any(may_wait)
    }
}

impl Supervisor {
    /// Called right before a client's closing of a tab is sent. Returns whether it has to wait in the tab's queue.
    pub(super) fn must_wait_to_close(&mut self, target: &TargetId) -> bool {
        let Some(tab) = self.tabs.get(target) else { return false };
        if tab.armed {
            // Closing it now would end the browser (fact A25).
            return true;
        }
        let root = tab.session.clone().filter(|root| tab.needs_a_look(target) && self.sessions.contains_key(root));
        match root {
            Some(root) => {
                let asked = |flight: &Flight<Purpose>| matches!(&flight.purpose, Purpose::Close(tab) if tab == target);
                if !self.calls.any(asked) {
                    self.send_own(Purpose::Close(target.clone()), Some(&root), HISTORY, "{}");
                }
                true
            }
            None => {
                self.make_safe_to_close(target);
                false
            }
        }
    }

    /// If a frame of another process asks in a tab, that frame may be gone when the browser reads that the tab is to be
    /// closed, and we not know it yet; with `Page` off that does no harm, and to a tab that is closed neither does the lack
    /// of it. The browser takes both in the order in which they come (fact F24).
    pub(super) fn make_safe_to_close(&mut self, target: &TargetId) {
        let Some(tab) = self.tabs.get(target).filter(|tab| !tab.armed) else { return };
        let native = |dialog: &&Dialog| !dialog.is_bridged();
        let stuck = tab.dialogs.iter().any(|dialog| dialog.stuck);
        if !stuck && tab.dialogs.iter().filter(native).any(|dialog| is_of_frame(dialog, target)) {
            self.switch_page_off(target, || Purpose::Ignored);
        }
    }

    /// Whether its next document waits is known, or will not be.
    pub(super) fn on_close_looked_at(&mut self, target: &TargetId, end: &End) {
        let Some(tab) = self.tabs.get_mut(target).filter(|tab| !tab.armed) else { return };
        let requests: Vec<Request> = tab.queue.extract_if(.., |request| closes(request)).collect();
        if requests.is_empty() {
            // Whoever wanted to close it has given up.
            return;
        }
        match end {
            End::Answer(Err(error)) if is_not_ready(error) => {
                let root = tab.session.clone();
                let of_page = |dialog: &&mut Dialog| !dialog.is_bridged() && root.as_ref() == Some(&dialog.owner);
                tab.dialogs.iter_mut().filter(of_page).for_each(|dialog| dialog.stuck = true);
            }
            End::Answer(_) => self.make_safe_to_close(target),
            // Without its session it is another matter.
            End::Failed(_) => return requests.into_iter().for_each(|request| self.on_request(request)),
        }
        for request in requests {
            self.send_call(request, None, Then::Close(target.clone()));
        }
    }

    /// Returns what there is to close of a tab of ours if the browser has to be asked first; it has left its task by then.
    pub(super) fn closes_later(&self, target: &TargetId) -> Option<Closing> {
        self.tabs.get(target).filter(|tab| tab.session.is_some() && tab.needs_a_look(target))?;
        Some(Closing { target: target.clone(), sessions: self.document_sessions(target) })
    }

    pub(super) fn close_later(&mut self, root: &SessionId, closing: Closing) {
        self.send_own(Purpose::CloseLater(closing), Some(root), HISTORY, "{}");
    }

    pub(super) fn on_closing_looked_at(&mut self, closing: &Closing, end: &End) {
        // Another task may have taken it meanwhile.
        if !self.is_connected() || self.tabs.contains_key(&closing.target) {
            return;
        }
        if matches!(end, End::Answer(Err(error)) if is_not_ready(error)) {
            return self.close_stuck(&closing.target);
        }
        for session in &closing.sessions {
            self.send_own(Purpose::Ignored, Some(session), "Page.disable", "{}");
        }
        self.close_own(&closing.target);
    }

    /// Returns whether somebody who takes `Page` from a session of a tab may end the browser with it (fact F48).
    pub(super) fn goes_while_it_asks(&self, id: &SessionId) -> bool {
        let tab = self.sessions.get(id).and_then(|session| self.tabs.get(session.tab.as_ref()?));
        let being_left = |root: &SessionId| self.is_being_left(root);
        let goes = |tab: &Tab| tab.arrival != Arrival::None || tab.session.as_ref().is_some_and(being_left);
        let waits = |tab: &Tab| tab.dialogs.iter().any(|dialog| dialog.stuck);
        tab.is_some_and(|tab| waits(tab) || tab.asks_itself() && goes(tab))
    }

    /// Returns the sessions of a tab's documents, whoever has attached them.
    pub(super) fn document_sessions(&self, target: &TargetId) -> Vec<SessionId> {
        let of_document = |session: &Session| {
            session.tab.as_ref() == Some(target) && matches!(session.kind, Kind::Page | Kind::Iframe)
        };
        self.sessions.iter().filter(|(_, session)| of_document(session)).map(|(id, _)| id.clone()).collect()
    }
}

/// Returns whether the dialog may be one of another frame than the top one.
fn is_of_frame(dialog: &Dialog, top: &TargetId) -> bool {
    dialog.orphan || dialog.view.frame_id != top.as_frame()
}

fn closes(request: &Request) -> bool {
    matches!(&request.what, What::Call(call) if call.method == "Target.closeTarget")
}
