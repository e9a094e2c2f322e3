//! How far auto-attach reaches in a browser that is not ours: narrow by default, wide only around our own actions.
//!
//! Only a browser-level auto-attach that takes pages holds every kind of popup before its first script (facts E1,
//! E4), and it takes the pages of everybody. So it is wide only while an action of ours can open a popup, and whatever
//! comes meanwhile that is not ours is let go at once: resumed, then detached, in this order (fact E3).
//!
//! ```text
//!   narrow ──input, or a script with a user gesture──▶ wide ──its user activation has run out──▶ narrow
//!                                                       └── we were late to notice anything ─────▶ narrow
//! ```
//!
//! While it is wide every new page in the browser waits for us (fact E8), so a daemon that finds itself standing still
//! takes no chances: it lets go of what waits, and is narrow until the next action (consequence 28).

use std::time::Duration;

use super::timers::{Timer, TimerId};
use super::{Purpose, Scope, Supervisor, object, wire};
use crate::ids::{SessionId, TargetId, TaskId};
use crate::time::Timestamp;

/// How long after an action its user activation can still open a popup: Chromium's about 5 s, and some.
const ACTIVATION: Duration = Duration::from_secs(6);
/// How long after a page asked for a new tab that tab may come (fact E11: 0 to 28 ms, seen on a quiet machine).
const REQUESTED: Duration = Duration::from_secs(3);

/// How often we look whether we stand still while it is wide.
const BEAT: Duration = Duration::from_millis(500);
/// How late such a look is where we did: a busy machine makes it late by less.
const LATE: Duration = Duration::from_secs(1);
/// How long after that it takes to let go of everything that came meanwhile.
const CATCH_UP: Duration = Duration::from_millis(100);

pub(super) const NARROW: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[]}"#;
const WIDE: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page"}]}"#;

/// Auto-attach takes the pages of everybody.
#[derive(Debug)]
pub(super) struct Wide {
    /// When it does not any more.
    until: TimerId,
    /// The next look at whether we stand still.
    beat: TimerId,
}

/// A new tab that a page of ours asked for, such as by ctrl+click: it will name no opener (fact E11).
#[derive(Debug)]
pub(super) struct RequestedTab {
    pub(super) task: TaskId,
    url: String,
    at: Timestamp,
}

/// Returns whether a call gives its page the user activation that opens popups.
fn can_open_popup(method: &str, params: Option<&[u8]>) -> bool {
    let gesture = || params.is_some_and(|params| memchr::memmem::find(params, b"userGesture").is_some());
    method.starts_with("Input.") || method.starts_with("Runtime.") && gesture()
}

impl Supervisor {
    /// Called before a client's call is sent: goes wide if it can open a popup. The call goes right behind, and the
    /// browser takes them in this order.
    pub(super) fn reach_out(&mut self, method: &str, params: Option<&[u8]>) {
        if self.scope != Scope::Guest || !can_open_popup(method, params) {
            return;
        }
        if !self.forget_wide() {
            self.send_own(Purpose::Ignored, None, "Target.setAutoAttach", WIDE);
        }
        let until = self.start_timer(ACTIVATION, Timer::Narrow);
        self.wide = Some(Wide { until, beat: self.start_beat() });
    }

    /// Returns whether it was wide.
    pub(super) fn forget_wide(&mut self) -> bool {
        let Some(wide) = self.wide.take() else { return false };
        self.timers.stop(wide.until);
        self.timers.stop(wide.beat);
        true
    }

    pub(super) fn on_narrow_due(&mut self) {
        if self.forget_wide() {
            self.send_own(Purpose::Ignored, None, "Target.setAutoAttach", NARROW);
        }
    }

    fn start_beat(&mut self) -> TimerId {
        self.start_timer(BEAT, Timer::Beat(self.now + BEAT))
    }

    pub(super) fn on_beat(&mut self, due: Timestamp) {
        let late = self.now.since(due) > LATE;
        let beat = self.start_beat();
        let Some(wide) = &mut self.wide else { return self.timers.stop(beat) };
        wide.beat = beat;
        if late {
            let before = std::mem::replace(&mut wide.until, self.timers.start(self.now + CATCH_UP, Timer::Narrow));
            self.timers.stop(before);
            self.note("ostler stood still while new pages waited for it; auto-attach is narrow again".to_owned());
        }
    }

    /// A page came by auto-attach. Returns the task whose it is; one that is nobody's is let go at once.
    pub(super) fn claim_or_let_go(&mut self, id: &SessionId, info: &wire::TargetInfo) -> Option<TaskId> {
        let opener = info.opener_id.as_ref().and_then(|opener| self.tabs.get(opener));
        let task = opener.map(|tab| tab.task.clone()).or_else(|| self.take_requested(&info.target_id));
        if task.is_none() {
            self.remember_target(info);
            self.let_go(id);
        }
        task
    }

    /// Lets go of a page: resumed if it may wait, then detached, back to back. Detached before it is resumed a popup would
    /// hang for good (fact E3), and a resume that nobody needs frees others before their set-up (fact F3).
    pub(super) fn let_go(&mut self, id: &SessionId) {
        let may_wait = |target: &TargetId| self.may_be_left_held(target) && !self.was_let_run(target);
        if self.sessions.get(id).is_none_or(|session| session.held || may_wait(&session.target)) {
            self.send_own(Purpose::Ignored, Some(id), "Runtime.runIfWaitingForDebugger", "{}");
        }
        self.detach(id);
    }

    /// Returns whether a tab runs, whatever it looks like: its own session has let it, if it was held at all.
    fn was_let_run(&self, target: &TargetId) -> bool {
        let root = self.tabs.get(target).and_then(|tab| self.sessions.get(tab.session.as_ref()?));
        root.is_some_and(|root| root.supervised && !root.held)
    }

    pub(super) fn detach(&mut self, id: &SessionId) {
        let params = object(&[("sessionId", id.as_str())]);
        self.send_own(Purpose::Ignored, None, "Target.detachFromTarget", &params);
    }

    pub(super) fn on_requested_navigation(&mut self, params: &str, id: &SessionId) {
        let Some(event) = wire::read::<wire::RequestedNavigation<'_>>(params) else { return };
        if !matches!(event.disposition.as_deref(), Some("newTab" | "newWindow")) {
            return;
        }
        let tab = self.sessions.get(id).and_then(|session| session.tab.as_ref()).and_then(|tab| self.tabs.get(tab));
        let Some(task) = tab.map(|tab| tab.task.clone()) else { return };
        let now = self.now;
        self.requested.retain(|requested| now.since(requested.at) <= REQUESTED);
        self.requested.push(RequestedTab { task, url: event.url.0, at: now });
    }

    /// Returns the task that asked for this tab. The address is that of `targetCreated`: the attach event has none yet.
    pub(super) fn take_requested(&mut self, target: &TargetId) -> Option<TaskId> {
        let info = self.targets.iter().find(|info| info.target_id == *target)?;
        let now = self.now;
        let fits = |requested: &RequestedTab| requested.url == info.url.0 && now.since(requested.at) <= REQUESTED;
        let at = self.requested.iter().position(fits).filter(|_| info.opener_id.is_none())?;
        Some(self.requested.remove(at).task)
    }
}

#[cfg(test)]
mod tests {
    use super::can_open_popup;

    #[test]
    fn input_and_scripts_with_a_gesture_can_open_popups_and_nothing_else() {
        assert!(can_open_popup("Input.dispatchMouseEvent", None));
        assert!(can_open_popup("Runtime.evaluate", Some(br#"{"expression":"1","userGesture":true}"#)));
        assert!(!can_open_popup("Runtime.evaluate", Some(br#"{"expression":"1"}"#)));
        assert!(!can_open_popup("Page.navigate", None));
    }
}
