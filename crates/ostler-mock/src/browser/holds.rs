//! Targets that wait: a popup or an OOPIF that was attached with `waitForDebuggerOnStart` runs no script before it is
//! resumed, and who has to resume it depends on what it is.
//!
//! ```text
//! OOPIF, noopener popup   runs once every session that it waits for has resumed it, or lost its connection
//! popup with an opener    runs once any session has resumed it; nothing else frees it
//! ```

use super::state::{ConnectionId, Stall, State};
use crate::ids::{SessionId, TargetId};

impl State {
    /// A session says that the target may run.
    pub(super) fn resume(&mut self, session: &SessionId, target: &TargetId) {
        let held = self.targets.get(target).and_then(|target| target.held.as_ref());
        match held {
            Some(held) if held.one_resume_frees => self.begin(target),
            Some(_) => self.unhold(target, |(_, holder)| holder == session),
            None => {}
        }
    }

    /// Takes out the holders that no longer hold it.
    pub(super) fn unhold(&mut self, id: &TargetId, ends: impl Fn(&(ConnectionId, SessionId)) -> bool) {
        let held = self.targets.get_mut(id).and_then(|target| target.held.as_mut());
        let Some(held) = held.filter(|held| !held.one_resume_frees) else {
            return;
        };
        held.by.retain(|holder| !ends(holder));
        if held.by.is_empty() {
            self.begin(id);
        }
    }

    /// Starts a target that was held, or that nobody holds.
    pub(super) fn begin(&mut self, id: &TargetId) {
        let Some(target) = self.targets.get_mut(id) else {
            return;
        };
        let Some(held) = target.held.take() else {
            return;
        };
        if target.stall == Some(Stall::NotStarted) {
            target.stall = None;
            self.drain_queue(id);
        }
        match held.left_context {
            Some(left) => self.begin_oopif(id, &held.url, Some(left)),
            None if self.targets.get(id).is_some_and(|target| target.kind == "iframe") => {
                self.begin_oopif(id, &held.url, None);
            }
            None => self.navigate(&id.root_frame(), &held.url, None),
        }
    }

    /// Ends a stall of this kind, and runs what waited for it.
    pub(super) fn free(&mut self, id: &TargetId, stall: Stall) {
        let target = self.targets.get_mut(id);
        if let Some(target) = target.filter(|target| target.stall == Some(stall)) {
            target.stall = None;
            self.drain_queue(id);
        }
    }
}
