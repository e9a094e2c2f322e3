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
use super::timers::{Timer, TimerId};
use super::{End, Flight, Purpose, Supervisor, blocking, wire};
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
    /// A navigation waits for the answer, and the page's script is stopped for it at this time.
    Awaited(TimerId),
    /// That script was stopped, so that the page can answer; nobody waits longer than until this time.
    Hurried(TimerId),
    /// The page has it, or navigations do not wait for it any more.
    On,
}

impl Focus {
    /// Returns whether a navigation now could overtake the command.
    fn is_open(self) -> bool {
        matches!(self, Self::Asked | Self::Awaited(_) | Self::Hurried(_))
    }
}

/// Whether a page is being left for a document that has not come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Leaving {
    #[default]
    No,
    /// A navigation was sent.
    Sent,
    /// And the page answers: at this time it gets the command, if it still is the one that is there.
    Until(TimerId),
}

impl Supervisor {
    /// A page answers: sends it the command, unless it is being left.
    pub(super) fn emulate_focus(&mut self, id: &SessionId) {
        let wanted = |session: &&mut super::Session| {
            session.kind == Kind::Page && session.supervised && session.set_up && session.focus == Focus::Due
        };
        let Some(session) = self.sessions.get_mut(id).filter(wanted) else { return };
        match session.leaving {
            Leaving::No => {}
            Leaving::Sent => return self.leave_until(id),
            Leaving::Until(_) => return,
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

    fn leave_until(&mut self, id: &SessionId) {
        let timer = self.start_timer(COMMIT, Timer::Leaving(id.clone()));
        self.set_leaving(id, Leaving::Until(timer));
    }

    /// Something is sent that makes the browser replace the page's document: whatever was to end an earlier navigation
    /// counts for nothing any more.
    pub(super) fn on_navigation_sent(&mut self, id: &SessionId, params: Option<&[u8]>) {
        let Some(session) = self.sessions.get(id) else { return };
        let named = params.and_then(|params| wire::read::<wire::MayNameFrame>(str::from_utf8(params).ok()?)?.frame_id);
        if named.is_some_and(|frame| frame != session.target.as_frame()) {
            // The page around that frame stays.
            return;
        }
        self.set_leaving(id, Leaving::Sent);
        self.emulate_focus(id);
    }

    /// A navigation was answered. It may have been one to a place in the document, or a download, or refused.
    pub(super) fn on_navigation_answered(&mut self, id: &SessionId, method: &str, end: &End) {
        let leaves = match end {
            End::Answer(Ok(result)) if method == "Page.navigate" => {
                let answer = str::from_utf8(result).ok().and_then(wire::read::<wire::Navigating>);
                answer.is_none_or(|answer| answer.brings_document())
            }
            End::Answer(result) => result.is_ok(),
            End::Failed(_) => true,
        };
        if !leaves && !self.is_navigating(id) {
            self.on_left(id);
        }
    }

    /// Returns whether somebody of ours sent the page away: its open dialogs go along.
    pub(super) fn is_being_left(&self, id: &SessionId) -> bool {
        self.sessions.get(id).is_some_and(|session| session.leaving != Leaving::No) || self.is_navigating(id)
    }

    /// The page has a new document, or keeps the one that it has.
    pub(super) fn on_left(&mut self, id: &SessionId) {
        self.set_leaving(id, Leaving::No);
        self.emulate_focus(id);
    }

    /// A page's set-up begins anew: what has been answered before then is over, though perhaps nobody told of its end.
    pub(super) fn forget_leaving(&mut self, id: &SessionId) {
        if !self.is_navigating(id) {
            self.set_leaving(id, Leaving::No);
        }
    }

    fn is_navigating(&self, id: &SessionId) -> bool {
        let navigates =
            |flight: &Flight<Purpose>| flight.session.as_ref() == Some(id) && blocking::navigates(&flight.method);
        self.calls.any(navigates)
    }

    fn set_leaving(&mut self, id: &SessionId, leaving: Leaving) {
        let before = self.sessions.get_mut(id).map(|session| std::mem::replace(&mut session.leaving, leaving));
        if let Some(Leaving::Until(timer)) = before {
            self.timers.stop(timer);
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
        if self.focus_of(target) == Some(Focus::Asked) {
            let timer = self.start_timer(PATIENCE, Timer::MakeWay(id.clone()));
            self.set_focus(&id, Focus::Awaited(timer));
        }
    }

    pub(super) fn on_make_way_due(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        let (focus, tab) = (session.focus, session.tab.clone());
        let dialogs = tab.as_ref().and_then(|tab| self.tabs.get(tab)).map(|tab| tab.dialogs.as_slice());
        let asks = dialogs.unwrap_or_default().iter().any(|dialog| dialog.view.answerable);
        match focus {
            // It waits for its dialog, and so would whatever stops its script.
            Focus::Awaited(_) if asks => {
                let timer = self.start_timer(PATIENCE, Timer::MakeWay(id.clone()));
                self.set_focus(id, Focus::Awaited(timer));
            }
            Focus::Awaited(_) => {
                self.send_own(Purpose::Ignored, Some(id), "Runtime.terminateExecution", "{}");
                let timer = self.start_timer(STOPPING, Timer::MakeWay(id.clone()));
                self.set_focus(id, Focus::Hurried(timer));
            }
            Focus::Hurried(_) => {
                self.set_focus(id, Focus::On);
                tab.into_iter().for_each(|target| self.flush(&target));
            }
            Focus::Due | Focus::Asked | Focus::On => {}
        }
    }

    /// Changes how far it is. A timer belongs to its state, and ends with that.
    pub(super) fn set_focus(&mut self, id: &SessionId, focus: Focus) {
        let before = self.sessions.get_mut(id).map(|session| std::mem::replace(&mut session.focus, focus));
        if let Some(Focus::Awaited(timer) | Focus::Hurried(timer)) = before {
            self.timers.stop(timer);
        }
    }
}
