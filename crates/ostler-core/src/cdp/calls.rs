//! The commands in flight: who asked, on which session, and by when.

use crate::ids::{CallId, IdMap, SessionId};
use crate::supervisor::timers::TimerId;

/// One command that was sent and not yet answered.
#[derive(Debug)]
pub(crate) struct Flight<P> {
    /// Who asked, and what to do with the answer.
    pub(crate) purpose: P,
    /// The session it went to; `None` for the browser.
    pub(crate) session: Option<SessionId>,
    /// The method, for errors and for what a dialog blocks.
    pub(crate) method: Box<str>,
    /// What ends it when nothing else does.
    pub(crate) deadline: TimerId,
}

/// All commands in flight. Ids count up and are never reused.
#[derive(Debug)]
pub(crate) struct Calls<P> {
    next: u64,
    flights: IdMap<CallId, Flight<P>>,
}

impl<P> Default for Calls<P> {
    fn default() -> Self {
        Self { next: 1, flights: IdMap::default() }
    }
}

impl<P> Calls<P> {
    /// Returns the number for the next command.
    pub(crate) fn next_id(&mut self) -> CallId {
        let id = CallId(self.next);
        self.next += 1;
        id
    }

    /// Returns the id under which the next call goes out: those of before are smaller.
    pub(crate) fn coming_id(&self) -> CallId {
        CallId(self.next)
    }

    pub(crate) fn insert(&mut self, id: CallId, flight: Flight<P>) {
        self.flights.insert(id, flight);
    }

    /// Takes the command out: whoever takes it ends it, so each ends once.
    pub(crate) fn take(&mut self, id: CallId) -> Option<Flight<P>> {
        self.flights.remove(&id)
    }

    /// Returns the ids of all flights that `wanted` picks, in the order in which they were sent.
    pub(crate) fn select(&self, mut wanted: impl FnMut(&Flight<P>) -> bool) -> Vec<CallId> {
        self.flights.iter().filter(|(_, flight)| wanted(flight)).map(|(id, _)| *id).collect()
    }

    pub(crate) fn get(&self, id: CallId) -> Option<&Flight<P>> {
        self.flights.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: CallId) -> Option<&mut Flight<P>> {
        self.flights.get_mut(&id)
    }

    /// Returns what `wanted` makes of the flight that was sent first of those for which it makes anything.
    pub(crate) fn find_map<T>(&self, mut wanted: impl FnMut(&Flight<P>) -> Option<T>) -> Option<T> {
        self.flights.values().find_map(&mut wanted)
    }

    /// Returns whether any flight is such.
    pub(crate) fn any(&self, mut wanted: impl FnMut(&Flight<P>) -> bool) -> bool {
        self.flights.values().any(&mut wanted)
    }

    pub(crate) fn len(&self) -> usize {
        self.flights.len()
    }
}
