//! How a target is set up, and let run.
//!
//! A held target is resumed on every path: when its set-up is answered, when it is not answered in time, and when we
//! leave (facts C6 to C12).

use std::time::Duration;

use super::focus::Focus;
use super::frames::Frames;
use super::publish::Dirty;
use super::sessions::{Kind, Phase};
use super::timers::Timer;
use super::{Flight, Purpose, Supervisor, wire};
use crate::ids::{SessionId, TargetId};

/// How long a held target waits for its set-up to be answered (design consequence 4).
const HOLD: Duration = Duration::from_secs(2);
/// How long a page may be silent after it was attached before we ask why (fact A10).
const SILENCE: Duration = Duration::from_secs(2);

/// Makes a session attach the frames and workers below it, held until they are set up. Service
/// workers are left out: one comes once for each page otherwise (fact C2).
const AUTO_ATTACH_BELOW: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,
"filter":[{"type":"service_worker","exclude":true},{}]}"#;

impl Supervisor {
    /// Makes `id` the session through which we watch the tab, and sets it up.
    pub(super) fn supervise(&mut self, id: &SessionId, target: &TargetId) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        if tab.armed {
            return self.recover(id, target);
        }
        // Of another target it would be another tab's.
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.target == *target) else { return };
        session.tab = Some(target.clone());
        tab.session = Some(id.clone());
        tab.phase = Phase::SettingUp;
        tab.crashed = false;
        tab.frames = Some(Frames::new(target.as_frame(), id.clone(), tab.url.clone()));
        self.touch(target, Dirty::ALL);
        self.forget_leaving(id);
        self.set_up(id);
        self.watch_sleep(target);
        self.flush(target);
    }

    /// Sends a session's set-up, all at once. A held target is resumed when the commands that must
    /// come first are answered; one without a renderer yet answers nothing before, so it is resumed
    /// right behind them, in the same order on the wire (fact C8a).
    pub(super) fn set_up(&mut self, id: &SessionId) {
        if self.ending {
            // We are leaving, and what we held then would be held for good (fact E3): it runs at once.
            return self.let_run(id);
        }
        let quiet = self.is_quiet(id);
        self.set_focus(id, Focus::Due);
        let Some(session) = self.sessions.get_mut(id) else { return };
        if let Some(timer) = session.deadline.take() {
            self.timers.stop(timer);
        }
        let again = std::mem::replace(&mut session.supervised, true);
        let (is_page, held, target) = (session.kind == Kind::Page, session.held, session.target.clone());
        session.runtime |= !quiet;
        let attaches = std::mem::replace(&mut session.auto_attaches, true);
        session.awaiting = 1 + usize::from(!quiet) + usize::from(!attaches);
        session.set_up = false;
        // Questions of an earlier set-up count for nothing any more.
        let stale = |flight: &Flight<Purpose>| {
            let set_up = matches!(
                flight.purpose,
                Purpose::PageEnable(_)
                    | Purpose::SetUp(_)
                    | Purpose::Focus(_)
                    | Purpose::BridgeProbe(_)
                    | Purpose::BridgeScript(_)
            );
            flight.session.as_ref() == Some(id) && set_up
        };
        for stale in self.calls.select(stale) {
            if let Some(flight) = self.calls.get_mut(stale) {
                flight.purpose = Purpose::Ignored;
            }
        }
        self.send_own(Purpose::PageEnable(id.clone()), Some(id), "Page.enable", "{}");
        if !quiet {
            self.send_own(Purpose::SetUp(id.clone()), Some(id), "Runtime.enable", "{}");
        }
        self.arm_bridge(id);
        if !attaches {
            self.send_own(Purpose::SetUp(id.clone()), Some(id), "Target.setAutoAttach", AUTO_ATTACH_BELOW);
        }
        self.send_own(Purpose::Ignored, Some(id), "Log.enable", "{}");
        // A frame's document is requested on its parent's session and finishes on its own.
        self.send_own(Purpose::Ignored, Some(id), "Network.enable", "{}");
        self.send_own(Purpose::FrameTree(id.clone()), Some(id), "Page.getFrameTree", "{}");
        self.ask_isolate(id);
        self.match_choosers_of(id);
        let no_renderer_yet = self
            .targets
            .iter()
            .find(|info| info.target_id == target)
            .is_some_and(|info| info.opener_id.is_some() && !info.can_access_opener);
        if is_page && !again && if held { no_renderer_yet } else { self.may_be_left_held(&target) } {
            self.resume(id);
        }
        let timer = if held && !no_renderer_yet {
            self.start_timer(HOLD, Timer::Resume(id.clone()))
        } else {
            self.start_timer(SILENCE, Timer::Silence(id.clone()))
        };
        if let Some(session) = self.sessions.get_mut(id) {
            session.deadline = Some(timer);
        }
    }

    /// Asks which process the session's renderer is in: the V8 isolate of its main thread.
    pub(super) fn ask_isolate(&mut self, id: &SessionId) {
        self.send_own(Purpose::Isolate(id.clone()), Some(id), "Runtime.getIsolateId", "{}");
    }

    pub(super) fn on_set_up_answered(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.awaiting = session.awaiting.saturating_sub(1);
        if session.awaiting > 0 {
            return;
        }
        if session.held {
            self.resume(id);
        } else if let Some(timer) = session.deadline.take() {
            self.timers.stop(timer);
        }
        self.let_calls_through(id);
    }

    /// A held target has waited for its set-up long enough (facts C8, C12).
    pub(super) fn on_resume_due(&mut self, id: &SessionId) {
        self.resume(id);
        self.let_calls_through(id);
    }

    pub(super) fn let_calls_through(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        let Some(target) = session.tab.clone().filter(|_| session.kind == Kind::Page && session.supervised) else {
            return;
        };
        if let Some(tab) = self.tabs.get_mut(&target)
            && tab.phase == Phase::SettingUp
        {
            tab.phase = Phase::Ready;
            self.touch(&target, Dirty::TABS);
        }
        self.flush(&target);
    }

    /// Lets a target run that waits, or may. One that runs gets no resume: that frees whatever popup is held in the same
    /// renderer process, before its set-up (fact F3).
    pub(super) fn let_run(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        if session.held || self.may_be_left_held(&session.target) {
            self.resume(id);
        }
    }

    /// Not held says nothing of an opener popup that an earlier connection left behind (fact E3), or that is attached by
    /// name under a filter that leaves pages out (fact E2).
    pub(super) fn may_be_left_held(&self, target: &TargetId) -> bool {
        self.targets.iter().find(|info| info.target_id == *target).is_some_and(wire::TargetInfo::may_be_left_held)
    }

    /// Lets a held target run.
    pub(super) fn resume(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let held = std::mem::take(&mut session.held);
        if let Some(timer) = session.deadline.take() {
            self.timers.stop(timer);
        }
        // Whoever leaves waits until it runs.
        let purpose = if held && self.ending { Purpose::Leave } else { Purpose::Ignored };
        self.send_own(purpose, Some(id), "Runtime.runIfWaitingForDebugger", "{}");
    }

    /// Lets the requests go on that waited for this tab.
    pub(super) fn flush(&mut self, target: &TargetId) {
        if !self.takes_calls(target) {
            return;
        }
        let waiting = self.tabs.get_mut(target).map(|tab| std::mem::take(&mut tab.queue)).unwrap_or_default();
        for request in waiting {
            self.on_request(request);
        }
    }
}
