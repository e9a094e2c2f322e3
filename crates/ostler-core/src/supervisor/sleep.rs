//! Tabs whose page the browser has thrown away to save memory: they sleep until somebody needs them (fact E12).
//!
//! Such a tab goes on under a new target, which looks like any other; only that the old one is told to be no page any
//! more says so (fact F8). It keeps its place, and in a browser that is not ours nothing is even attached to it.
//!
//! ```text
//!   awake ──the browser discards it──▶ asleep ──a call needs it: attached, set up──▶ silent ──Page.reload──▶ waking
//!     ▲                                  │                                                                    │
//!     │                                  └── answers its set-up: its person has woken it meanwhile ──┐        │
//!     └──────────────────────────────────────────────────────────────────────────────────────────────┴─committed
//! ```

use std::time::Duration;

use super::publish::Dirty;
use super::sessions::Phase;
use super::timers::Timer;
use super::{Purpose, Supervisor, wire};
use crate::ids::{SessionId, TargetId};

/// How long a tab that sleeps gets to answer its set-up before it is woken: one that is awake takes milliseconds.
const SILENT: Duration = Duration::from_millis(300);
/// How long its document may take to come before calls go through all the same, such as one that leads elsewhere.
const WAKING: Duration = Duration::from_secs(3);

/// Whether a tab's page is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sleep {
    /// It is.
    Awake,
    /// The browser has thrown it away. Its session, if there is one, waits for nothing but `Page.reload`.
    Asleep,
    /// It is being loaded again.
    Waking,
}

impl Supervisor {
    /// A tab's target is no page any more. If a page has come in its place, that is the tab from now on.
    pub(super) fn on_no_page_any_more(&mut self, old: &wire::TargetInfo) {
        let newest = self.targets.iter().rev().find(|info| info.kind == "page" && info.target_id != old.target_id);
        let Some(new) = newest.filter(|new| (&new.url.0, &new.title.0) == (&old.url.0, &old.title.0)) else { return };
        if self.tabs.get(&new.target_id).is_some_and(|tab| tab.met || tab.sleep != Sleep::Awake) {
            // It was somebody's tab before, and only looks the same.
            return;
        }
        let (old, new) = (old.target_id.clone(), new.target_id.clone());
        self.close_all_dialogs(&old);
        self.drop_sessions_of(&old, "the browser put the tab to sleep");
        let Some(mut tab) = self.tabs.remove(&old) else { return };
        (tab.session, tab.frames, tab.phase) = (None, None, Phase::Attaching);
        // What was wrong with its page went with it.
        (tab.crashed, tab.hung, tab.held_up, tab.armed) = (false, None, false, false);
        tab.sleep = Sleep::Asleep;
        if let Some(timer) = tab.sleep_timer.take() {
            self.timers.stop(timer);
        }
        if let Some(come) = self.tabs.remove(&new) {
            // Auto-attach has brought it already, as somebody's new tab.
            (tab.session, tab.frames, tab.phase) = (come.session, come.frames, come.phase);
            tab.queue.extend(come.queue);
            if let Some(task) = self.tasks.get_mut(&come.task) {
                task.tabs.retain(|other| *other != new);
                task.current = task.current.take().filter(|current| *current != new);
                task.dirty = Dirty::ALL;
            }
        }
        if let Some(task) = self.tasks.get_mut(&tab.task) {
            for target in task.tabs.iter_mut().chain(&mut task.current).filter(|target| **target == old) {
                *target = new.clone();
            }
            task.dirty = Dirty::ALL;
        }
        for popup in self.tabs.values_mut().filter(|popup| popup.opener.as_ref() == Some(&old)) {
            popup.opener = Some(new.clone());
        }
        let needed = !tab.queue.is_empty();
        self.tabs.insert(new.clone(), tab);
        self.match_quiet(&new);
        if needed {
            self.wake(&new);
        }
    }

    /// A request waits for this tab. If it sleeps, that is the time to wake it.
    pub(super) fn wake(&mut self, target: &TargetId) {
        let Some(tab) = self.tabs.get(target).filter(|tab| tab.sleep == Sleep::Asleep) else { return };
        match &tab.session {
            // Whether it is silent is being found out.
            Some(_) if tab.sleep_timer.is_some() => {}
            // Its set-up was sent long ago.
            Some(_) => self.on_wake_due(target),
            None if self.is_being_attached(target) => {}
            None => self.attach(target),
        }
    }

    /// A tab that sleeps was attached: whether it still does, its silence tells.
    pub(super) fn watch_sleep(&mut self, target: &TargetId) {
        let needed = |tab: &super::Tab| tab.sleep == Sleep::Asleep && !tab.queue.is_empty();
        if self.tabs.get(target).is_some_and(needed) {
            self.time_sleep(target, SILENT);
        }
    }

    /// One of the two times runs at most: what is left of the one must not cut the other short.
    fn time_sleep(&mut self, target: &TargetId, wait: Duration) {
        let timer = self.start_timer(wait, Timer::Wake(target.clone()));
        let before = self.tabs.get_mut(target).and_then(|tab| tab.sleep_timer.replace(timer));
        if let Some(before) = before {
            self.timers.stop(before);
        }
    }

    /// The connection is gone: a tab that was being woken sleeps again.
    pub(super) fn fall_asleep_again(&mut self, target: &TargetId) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        if tab.sleep == Sleep::Waking {
            tab.sleep = Sleep::Asleep;
        }
        if let Some(timer) = tab.sleep_timer.take() {
            self.timers.stop(timer);
        }
    }

    /// It has been silent, or has taken its time to wake.
    pub(super) fn on_wake_due(&mut self, target: &TargetId) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        // Fired, or not needed any more.
        if let Some(timer) = tab.sleep_timer.take() {
            self.timers.stop(timer);
        }
        match (tab.sleep, tab.session.clone()) {
            (Sleep::Asleep, Some(session)) => {
                tab.sleep = Sleep::Waking;
                // Behind the set-up, which takes effect before the document's first script does.
                self.send_own(Purpose::Ignored, Some(&session), "Page.reload", "{}");
                self.time_sleep(target, WAKING);
            }
            (Sleep::Waking, _) => self.on_awake(target),
            _ => {}
        }
    }

    /// Its page is there.
    pub(super) fn on_awake(&mut self, target: &TargetId) {
        let Some(tab) = self.tabs.get_mut(target).filter(|tab| tab.sleep != Sleep::Awake) else { return };
        tab.sleep = Sleep::Awake;
        if let Some(timer) = tab.sleep_timer.take() {
            self.timers.stop(timer);
        }
        self.touch(target, Dirty::TABS);
        self.flush(target);
    }

    /// A page that answers its set-up without having been reloaded was woken by somebody else.
    pub(super) fn on_answers_set_up(&mut self, id: &SessionId) {
        let tab = self.sessions.get(id).and_then(|session| session.tab.clone());
        if let Some(target) = tab
            && self.tabs.get(&target).is_some_and(|tab| tab.sleep == Sleep::Asleep && tab.session.as_ref() == Some(id))
        {
            self.on_awake(&target);
        }
    }
}
