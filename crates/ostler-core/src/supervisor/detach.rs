//! How sessions and tabs leave: detached, closed, left behind by a lost connection.

use super::Supervisor;
use super::publish::Dirty;
use super::sessions::{Kind, Phase, Session};
use super::sleep::Sleep;
use super::wire;
use crate::error::CallError;
use crate::ids::{SessionId, TargetId};

impl Supervisor {
    pub(super) fn on_detached(&mut self, params: &str) {
        let Some(wire::NamesSession { session_id }) = wire::read(params) else { return };
        let Some(session) = self.drop_session(&session_id, "its target was closed or detached") else { return };
        let Some(target) = session.tab else { return };
        let Some(tab) = self.tabs.get_mut(&target) else { return };
        if let Some(frames) = &mut tab.frames {
            frames.on_session_gone(&session_id);
        }
        self.touch(&target, Dirty::FRAMES | Dirty::SESSIONS);
        if session.kind == Kind::Iframe && session.supervised {
            // Whether the frame was removed or only left its process is told later, if at all: the worse counts.
            let asking = self.frames_asking_in(&target, &session_id);
            self.on_frames_removed(&target, &asking);
            self.close_dialogs_of_session(&target, &session_id);
        }
        let Some(tab) = self.tabs.get_mut(&target) else { return };
        if tab.session.as_ref() == Some(&session_id) {
            // Closed, or detached by somebody: only the browser knows, and attaching again tells.
            tab.session = None;
            tab.phase = Phase::Attaching;
            self.close_all_dialogs(&target);
            if !self.ending {
                self.attach(&target);
            }
            self.touch(&target, Dirty::ALL);
        }
    }

    /// Forgets a session and ends what is in flight on it.
    fn drop_session(&mut self, id: &SessionId, why: &'static str) -> Option<Session> {
        let session = self.sessions.remove(id)?;
        self.end_row(id);
        let tab = session.tab.as_ref().and_then(|target| self.tabs.get_mut(target));
        if let Some(tab) = tab.filter(|tab| tab.session.as_ref() == Some(id)) {
            // Before its calls end, so that nothing which follows from that is sent on it.
            tab.phase = Phase::Attaching;
        }
        if let Some(timer) = session.deadline {
            self.timers.stop(timer);
        }
        for task in self.tasks.values_mut() {
            if task.chosen_session.as_ref() == Some(id) {
                task.chosen_session = None;
            }
        }
        self.fail_flights(
            |flight| flight.session.as_ref() == Some(id),
            |flight| CallError::UnknownOutcome { method: flight.method.to_string(), why },
        );
        Some(session)
    }

    /// Forgets the sessions of a tab and of its frames.
    pub(super) fn drop_sessions_of(&mut self, target: &TargetId, why: &'static str) {
        let belongs = |session: &Session| session.tab.as_ref() == Some(target);
        let ids: Vec<_> =
            self.sessions.iter().filter(|(_, session)| belongs(session)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.drop_session(&id, why);
        }
    }

    /// Forgets a tab with its sessions, frames and dialogs.
    pub(super) fn forget_tab(&mut self, target: &TargetId, why: &'static str) {
        self.close_all_dialogs(target);
        let Some(tab) = self.tabs.remove(target) else { return };
        self.drop_sessions_of(target, why);
        if let Some(task) = self.tasks.get_mut(&tab.task) {
            task.tabs.retain(|other| other != target);
            if task.current.as_ref() == Some(target) {
                (task.current, task.chosen_session) = (None, None);
            }
            task.dirty = Dirty::ALL;
        }
        for request in tab.queue {
            self.on_request(request);
        }
    }

    /// The connection is gone: tabs stay by name, to be attached again if the same browser comes back.
    pub(super) fn suspend_tabs(&mut self) {
        for target in self.tabs.keys().cloned().collect::<Vec<_>>() {
            self.orphan_dialogs(&target);
            if let Some(tab) = self.tabs.get_mut(&target) {
                (tab.session, tab.frames, tab.phase) = (None, None, Phase::Attaching);
            }
            self.fall_asleep_again(&target);
        }
    }

    /// Attaches again to the tabs that the same browser still has after a lost connection.
    pub(super) fn reattach_known_tabs(&mut self) {
        for target in self.tabs.keys().cloned().collect::<Vec<_>>() {
            if !self.targets.iter().any(|info| info.target_id == target) {
                self.forget_tab(&target, "the tab was closed");
            } else if self.tabs.get(&target).is_some_and(|tab| tab.session.is_none() && tab.sleep == Sleep::Awake) {
                self.attach(&target);
            }
        }
    }
}
