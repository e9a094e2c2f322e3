//! A tab in which a frame went away under its open dialog (fact A25).
//!
//! From then on an answer, a navigation, a reload, a close or another dialog in the tab ends the whole
//! browser, and so does the page's own `location=`, as long as any session of the tab has `Page` on. So
//! at once, without asking anybody:
//!
//! ```text
//!   removed ──Page.disable on every session──▶ all answered ──Page.reload──▶ document replaced ──▶ set up again
//!      ▲                                                                          │
//!      └── the session or the connection was lost meanwhile: reload first, then ──┘
//! ```

use std::time::Duration;

use super::frames::Frames;
use super::publish::Dirty;
use super::requests::Leaves;
use super::sessions::{Kind, Phase, Session, Tab};
use super::timers::Timer;
use super::{End, Flight, Purpose, Supervisor, answers, wire};
use crate::ids::{FrameId, SessionId, TargetId};

/// How long a reload may take to replace the document before the tab is set up again all the same. In a quiet task
/// nothing tells that it did, so there it always takes so long.
const REARM: Duration = Duration::from_secs(5);

impl Supervisor {
    /// Frames have gone, and what may have gone with them.
    pub(super) fn on_frames_removed(&mut self, target: &TargetId, gone: &[FrameId]) {
        // Under the bridge there is no native dialog, and nothing to fear from its frame's removal (fact B7).
        self.close_bridged_dialogs_of_frames(target, gone);
        let Some(tab) = self.tabs.get(target) else { return };
        if !tab.dialogs.iter().any(|dialog| gone.contains(&dialog.view.frame_id)) {
            return;
        }
        let root = tab.session.clone();
        self.close_dialogs_of_frames(target, gone);
        self.switch_page_off(target, || Purpose::Disarm { tab: target.clone() });
        if let Some(root) = root.filter(|root| self.can_hold_document(root)) {
            self.hold_document(&root, target);
        }
        self.note(format!("tab {target}: a frame was removed under its open dialog; reloading the tab"));
    }

    /// Makes a tab harmless, and unfit for anything but being replaced.
    pub(super) fn switch_page_off(&mut self, target: &TargetId, purpose: impl Fn() -> Purpose) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        (tab.phase, tab.armed) = (Phase::Recovering, true);
        // What was to end an earlier recovery would switch `Page` on again in the midst of this one.
        if let Some(timer) = tab.rearm.take() {
            self.timers.stop(timer);
        }
        // What is open stays so until the document goes, and without `Page` nobody can answer it (fact A11).
        self.orphan_dialogs(target);
        // Whoever waited for the page to be led out of them waits for the tab now.
        self.end_lead_out(target);
        for session in self.document_sessions(target) {
            self.send_own(purpose(), Some(&session), "Page.disable", "{}");
            self.forget_choosers(&session);
        }
    }

    fn asking_frame_may_be_gone(&self, target: &TargetId) -> bool {
        let Some(tab) = self.tabs.get(target).filter(|tab| !tab.armed) else { return false };
        let may_go = |dialog: &super::dialogs::Dialog| {
            // The root's own frames cannot: their process stands still.
            !dialog.is_bridged() && !dialog.orphan && tab.session.as_ref() != Some(&dialog.owner)
        };
        tab.dialogs.iter().any(may_go)
    }

    /// Called right before a client's navigation is sent: the frame that asks may be gone when the browser reads it, and we
    /// not know it yet. Returns whether it has to wait until `Page` is off: then it is sent in the place of our reload
    /// (fact F38).
    pub(super) fn must_leave_unseen(&mut self, id: &SessionId, method: &str, params: Option<&[u8]>) -> bool {
        let Some(target) = self.left_by(id, method, params) else { return false };
        // What a client has switched on for itself we could not switch on again as it was. Workers have no `Page`.
        let by_client = |other: &Session| {
            let of_document = matches!(other.kind, Kind::Page | Kind::Iframe);
            of_document && !other.supervised && other.tab.as_ref() == Some(&target)
        };
        let all_ours = !self.sessions.values().any(by_client);
        let unsafe_now = all_ours && self.can_hold_document(id) && self.asking_frame_may_be_gone(&target);
        if unsafe_now {
            self.switch_page_off(&target, || Purpose::Disarm { tab: target.clone() });
            self.hold_document(id, &target);
        }
        unsafe_now
    }

    /// Returns the tab whose document goes with a call, if it is one on the tab's root session.
    pub(super) fn left_by(&self, id: &SessionId, method: &str, params: Option<&[u8]>) -> Option<TargetId> {
        let (target, tab) = self.tab_at_root(id)?;
        let params = params.and_then(|params| str::from_utf8(params).ok()).unwrap_or("{}");
        let leaves = match method {
            "Page.reload" => true,
            "Page.navigate" => wire::read::<wire::NamesFrameAndUrl>(params).is_some_and(|named| {
                let around = named.frame_id.is_none_or(|frame| frame == target.as_frame());
                around && !is_same_document(&tab.url, &named.url.0)
            }),
            _ => false,
        };
        leaves.then(|| target.clone())
    }

    /// Returns the tab whose root session this is.
    pub(super) fn tab_at_root(&self, id: &SessionId) -> Option<(&TargetId, &Tab)> {
        let (target, tab) = self.tabs.get_key_value(self.sessions.get(id)?.tab.as_ref()?)?;
        (tab.session.as_ref() == Some(id)).then_some((target, tab))
    }

    /// A navigation was answered that somebody else than the recovery has sent.
    pub(super) fn on_unseen_navigation_answered(&mut self, id: &SessionId, method: &str, end: &End) {
        let Some(target) = self.sessions.get(id).and_then(|session| session.tab.clone()) else { return };
        let unseen = |tab: &Tab| tab.phase == Phase::Recovering && tab.session.as_ref() == Some(id);
        if !self.tabs.get(&target).is_some_and(unseen) || self.is_replacing(&target) {
            return;
        }
        let leaves = match end {
            End::Answer(Ok(result)) => method != "Page.navigate" || brings_document(result),
            End::Answer(Err(_)) | End::Failed(_) => false,
        };
        if leaves {
            // It is answered before it acts, and perhaps nothing tells that it did.
            self.rearm_later(&target, id);
        } else {
            // The document stays, and nobody knows whether it is safe.
            self.reload_armed(&target);
        }
    }

    /// Returns whether the tab is not safe yet: `Page` is still being switched off, or our reload has not begun.
    fn is_replacing(&self, target: &TargetId) -> bool {
        let reloads = |flight: &Flight<Purpose>| matches!(&flight.purpose, Purpose::Reload { tab } if tab == target);
        self.calls.any(reloads) || self.is_disarming(target)
    }

    /// The browser would not close it.
    pub(super) fn on_close_refused(&mut self, target: &TargetId) {
        if !self.is_disarming(target) {
            self.reload_armed(target);
        }
    }

    pub(super) fn on_disarmed(&mut self, target: &TargetId) {
        if self.is_disarming(target) {
            return;
        }
        let tab = self.tabs.get_mut(target).filter(|tab| tab.phase == Phase::Recovering && tab.session.is_some());
        match tab.and_then(|tab| tab.queue.extract_if(.., |request| request.leaves == Leaves::Unseen).next()) {
            Some(request) => self.send_leaving(request, target),
            None => self.reload_armed(target),
        }
    }

    /// Closes a tab that ostler opened, and whose task ended while closing it would have ended the browser.
    pub(super) fn on_disarmed_to_close(&mut self, target: &TargetId) {
        if self.is_connected() {
            self.close_own(target);
        }
    }

    fn is_disarming(&self, target: &TargetId) -> bool {
        self.calls.any(|flight| matches!(&flight.purpose, Purpose::Disarm { tab } if tab == target))
    }

    pub(super) fn reload_armed(&mut self, target: &TargetId) {
        let Some(tab) = self.tabs.get(target).filter(|tab| tab.armed && tab.phase == Phase::Recovering) else { return };
        if let Some(session) = tab.session.clone() {
            self.send_own(Purpose::Reload { tab: target.clone() }, Some(&session), "Page.reload", "{}");
        }
    }

    pub(super) fn on_recovery_reload(&mut self, target: &TargetId, end: End) {
        if matches!(end, End::Answer(Ok(_))) {
            self.left_armed.retain(|left| left != target);
        }
        let Some(session) = self.tabs.get(target).and_then(|tab| tab.session.clone()) else { return };
        match end {
            End::Answer(Ok(_)) => {
                // They end with their document (fact A15), and with `Page` off nobody tells so.
                self.close_open_dialogs(target);
                self.rearm_later(target, &session);
            }
            // It may pass (fact A19), and nothing else may reach the tab before it has.
            _ => {
                self.start_timer(answers::RETRY, Timer::ReloadAgain(target.clone()));
            }
        }
    }

    /// The document is a new one: only now may `Page` be enabled again. Our reload is answered before it
    /// acts (fact A21); what came before that was somebody else's doing, and more may follow.
    pub(super) fn on_document_replaced(&mut self, target: &TargetId, id: &SessionId) {
        let recovers = self.tabs.get(target).is_some_and(|tab| tab.phase == Phase::Recovering);
        if recovers && !self.is_replacing(target) {
            // What was open went with the old one.
            self.close_open_dialogs(target);
            self.rearm(target, id);
        }
    }

    fn rearm_later(&mut self, target: &TargetId, id: &SessionId) {
        let timer = self.start_timer(REARM, Timer::Rearm(target.clone(), id.clone()));
        let before = self.tabs.get_mut(target).and_then(|tab| tab.rearm.replace(timer));
        if let Some(before) = before {
            self.timers.stop(before);
        }
    }

    pub(super) fn rearm(&mut self, target: &TargetId, id: &SessionId) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        if tab.phase == Phase::Recovering && tab.session.as_ref() == Some(id) {
            tab.armed = false;
            self.supervise(id, target);
            self.let_document_run(id);
            self.set_up_early_frames(target);
        }
    }

    /// Frames of the new document that were announced before the document itself was let run without set-up.
    fn set_up_early_frames(&mut self, target: &TargetId) {
        let early = |session: &Session| {
            session.kind == Kind::Iframe && !session.supervised && session.tab.as_ref() == Some(target)
        };
        let early: Vec<_> =
            self.sessions.iter().filter(|(_, session)| early(session)).map(|(id, _)| id.clone()).collect();
        for id in early {
            let Some(frame) = self.sessions.get(&id).map(|session| session.target.clone()) else { continue };
            let Some(info) = self.targets.iter().find(|info| info.target_id == frame).cloned() else { continue };
            let Some(frames) = self.tabs.get_mut(target).and_then(|tab| tab.frames.as_mut()) else { return };
            frames.on_oopif_attached(frame.as_frame(), info.parent_frame_id, &info.url.0, &id);
            self.set_up(&id);
        }
    }

    /// A tab whose recovery was cut short is met again: `Page` stays off until it has been reloaded, and
    /// the script contexts tell when it has.
    pub(super) fn recover(&mut self, id: &SessionId, target: &TargetId) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.target == *target) else { return };
        (session.tab, session.supervised) = (Some(target.clone()), true);
        tab.session = Some(id.clone());
        tab.phase = Phase::Recovering;
        tab.frames = Some(Frames::new(target.as_frame(), id.clone(), tab.url.clone()));
        self.touch(target, Dirty::ALL);
        self.let_run(id);
        if !self.is_quiet(id) {
            self.send_own(Purpose::Ignored, Some(id), "Runtime.enable", "{}");
        }
        self.reload_armed(target);
    }
}

/// Returns whether the answer to `Page.navigate` tells of a document that comes.
pub(super) fn brings_document(result: &[u8]) -> bool {
    let answer = str::from_utf8(result).ok().and_then(wire::read::<wire::Navigating>);
    answer.is_some_and(|answer| answer.brings_document())
}

/// Returns whether an address is another place in the document that is there.
fn is_same_document(here: &str, there: &str) -> bool {
    let document = |url: &'_ str| url.split_once('#').map_or(url.len(), |(document, _)| document.len());
    there.contains('#') && here[..document(here)] == there[..document(there)]
}
