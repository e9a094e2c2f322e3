//! File choosers: held back in a tab while tools act there, let through again when the last of them is done.
//!
//! A person may use the same browser, so what is held back comes free whatever becomes of whoever asked for it: a release
//! needs no free page and has no answer that counts. A page that a dialog holds takes the command in once that is over.

use serde::Deserialize;

use super::sessions::{Kind, Session};
use super::{Purpose, Supervisor, wire};
use crate::ids::{SessionId, TargetId};

/// The command behind it all; what it says holds for one session.
pub(super) const METHOD: &str = "Page.setInterceptFileChooserDialog";

/// How a session stands with the choosers of its documents.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Choosers {
    /// A client has asked for them itself, and keeps them.
    client: bool,
    /// What the browser was told last.
    intercepted: bool,
}

#[derive(Deserialize)]
struct Intercept {
    enabled: bool,
}

impl Supervisor {
    /// An action begins in the tab.
    pub(super) fn on_hold_choosers(&mut self, target: &TargetId) {
        if let Some(tab) = self.tabs.get_mut(target) {
            tab.actions += 1;
        }
        self.match_choosers(target);
    }

    /// An action in the tab is over, or nobody waits for it any more.
    pub(super) fn on_release_choosers(&mut self, target: &TargetId) {
        if let Some(tab) = self.tabs.get_mut(target) {
            tab.actions = tab.actions.saturating_sub(1);
        }
        self.match_choosers(target);
    }

    /// A client is about to say what it wants; that is what holds whenever no action runs.
    pub(super) fn on_client_sets_choosers(&mut self, id: &SessionId, params: Option<&[u8]>) {
        let params = params.and_then(|raw| str::from_utf8(raw).ok()).and_then(wire::read::<Intercept>);
        let session = self.sessions.get_mut(id).filter(|session| session.supervised);
        if let (Some(session), Some(Intercept { enabled })) = (session, params) {
            session.choosers = Choosers { client: enabled, intercepted: enabled };
        }
    }

    /// Brings all documents of the tab in line with what runs there.
    pub(super) fn match_choosers(&mut self, target: &TargetId) {
        let of_tab = |session: &Session| session.tab.as_ref() == Some(target);
        let sessions = self.sessions.iter().filter(|(_, session)| of_tab(session)).map(|(id, _)| id.clone());
        for id in sessions.collect::<Vec<_>>() {
            self.match_choosers_of(&id);
        }
    }

    /// The same for one session, such as that of a frame which came meanwhile.
    pub(super) fn match_choosers_of(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        if !session.supervised || !matches!(session.kind, Kind::Page | Kind::Iframe) {
            return;
        }
        let acts = session.tab.as_ref().and_then(|tab| self.tabs.get(tab)).is_some_and(|tab| tab.actions > 0);
        let wanted = acts || session.choosers.client;
        if wanted != session.choosers.intercepted {
            session.choosers.intercepted = wanted;
            let params = if wanted { r#"{"enabled":true}"# } else { r#"{"enabled":false}"# };
            self.send_own(Purpose::Ignored, Some(id), METHOD, params);
        }
    }

    /// `Page.disable` forgets what was said; the next set-up says it again.
    pub(super) fn forget_choosers(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.choosers.intercepted = false;
        }
    }
}
