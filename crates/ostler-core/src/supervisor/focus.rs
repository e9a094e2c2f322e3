//! Focus emulation: it makes a tab in the background draw, scroll and keep time like the one in front (fact C30).
//!
//! A navigation that overtakes the command can crash the renderer (fact F2), and a blocked page leaves it unanswered for
//! as long as it is blocked, with a navigation for its only way out. So a page gets the command only once it has shown
//! that it answers, and never while it is being left:
//!
//! ```text
//!   due ──Page.enable is answered──▶ asked ──answered──▶ on
//!    ▲            │                    └── a navigation waits for it: a script that keeps the page from it is stopped
//!    │            └── a navigation was sent before: its new document is asked
//!    └── crash
//! ```

use std::sync::Arc;
use std::time::Duration;

use super::sessions::Kind;
use super::timers::Timer;
use super::{End, Purpose, Supervisor};
use crate::ids::{SessionId, TargetId};
use crate::view::DialogView;

/// How long a navigation may take to bring its document before the page is asked all the same: it may bring none.
const COMMIT: Duration = Duration::from_secs(5);
/// How long a navigation waits for a page that answered a moment ago before the page's script is stopped, which it
/// would have ended in any case.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long after that it still waits: what no script does, stopping the script does not end.
const STOPPING: Duration = Duration::from_secs(1);

/// How far a page's focus emulation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Focus {
    /// Not sent yet.
    #[default]
    Due,
    /// Sent and not answered.
    Asked,
    /// A navigation waits for the answer.
    Awaited,
    /// And the page's script was stopped, so that it can answer.
    Hurried,
    /// The page has it, or navigations do not wait for it any more.
    On,
}

impl Focus {
    /// Returns whether a navigation now could overtake the command.
    fn is_open(self) -> bool {
        matches!(self, Self::Asked | Self::Awaited | Self::Hurried)
    }
}

impl Supervisor {
    /// A page answers: sends it the command, unless it is being left.
    pub(super) fn emulate_focus(&mut self, id: &SessionId) {
        let wanted = |session: &&mut super::Session| {
            session.kind == Kind::Page && session.supervised && session.set_up && session.focus == Focus::Due
        };
        let Some(session) = self.sessions.get_mut(id).filter(wanted) else { return };
        if session.leaving {
            self.start_timer(COMMIT, Timer::Leaving(id.clone()));
            return;
        }
        session.focus = Focus::Asked;
        session.awaiting += 1;
        let tab = session.tab.clone();
        let enabled = r#"{"enabled":true}"#;
        self.send_own(Purpose::Focus(id.clone()), Some(id), "Emulation.setFocusEmulationEnabled", enabled);
        if let Some(target) = tab {
            // Input waited for it, and goes right behind.
            self.flush(&target);
        }
    }

    pub(super) fn on_focus_answered(&mut self, id: &SessionId, end: &End) {
        self.set_focus(id, if matches!(end, End::Answer(_)) { Focus::On } else { Focus::Due });
        self.on_set_up_answered(id);
    }

    /// Something was sent that makes the browser replace the page's document.
    pub(super) fn on_navigation_sent(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.leaving = true;
        }
    }

    /// The page has a new document, or takes too long to have one.
    pub(super) fn on_left(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.leaving = false;
            self.emulate_focus(id);
        }
    }

    /// Returns whether a call to a tab that is being set up would come before the focus that it needs.
    pub(super) fn comes_before_focus(&self, target: &TargetId, method: &str) -> bool {
        method.starts_with("Input.") && self.focus_of(target) == Some(Focus::Due)
    }

    /// Returns whether a navigation would overtake the focus of its tab.
    pub(super) fn overtakes_focus(&self, target: &TargetId) -> bool {
        self.focus_of(target).is_some_and(Focus::is_open)
    }

    fn focus_of(&self, target: &TargetId) -> Option<Focus> {
        let session = self.tabs.get(target)?.session.as_ref()?;
        Some(self.sessions.get(session)?.focus)
    }

    /// Returns the dialog that keeps a page from taking its set-up in, and so a navigation from being sent.
    pub(super) fn dialog_before_navigation(&self, target: &TargetId) -> Option<Arc<DialogView>> {
        let open = self.tabs.get(target)?.dialogs.iter().find(|dialog| dialog.view.answerable)?;
        open.answer.is_none().then(|| Arc::clone(&open.view))
    }

    /// A navigation waits for the page's answer. If a script keeps it from that, the navigation ends the script.
    pub(super) fn make_way(&mut self, target: &TargetId) {
        let Some(id) = self.tabs.get(target).and_then(|tab| tab.session.clone()) else { return };
        if let Some(session) = self.sessions.get_mut(&id).filter(|session| session.focus == Focus::Asked) {
            session.focus = Focus::Awaited;
            self.start_timer(PATIENCE, Timer::MakeWay(id));
        }
    }

    pub(super) fn on_make_way_due(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        let (focus, tab) = (session.focus, session.tab.clone());
        let dialogs = tab.as_ref().and_then(|tab| self.tabs.get(tab)).map(|tab| tab.dialogs.as_slice());
        let asks = dialogs.unwrap_or_default().iter().any(|dialog| dialog.view.answerable);
        let (next, wait) = match focus {
            // It waits for its dialog, and so would whatever stops its script.
            Focus::Awaited if asks => (Focus::Awaited, PATIENCE),
            Focus::Awaited => {
                self.send_own(Purpose::Ignored, Some(id), "Runtime.terminateExecution", "{}");
                (Focus::Hurried, STOPPING)
            }
            Focus::Hurried => {
                self.set_focus(id, Focus::On);
                return tab.into_iter().for_each(|target| self.flush(&target));
            }
            Focus::Due | Focus::Asked | Focus::On => return,
        };
        self.set_focus(id, next);
        self.start_timer(wait, Timer::MakeWay(id.clone()));
    }

    fn set_focus(&mut self, id: &SessionId, focus: Focus) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.focus = focus;
        }
    }
}
