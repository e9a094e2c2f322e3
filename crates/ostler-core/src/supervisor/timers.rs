//! What can fire, and when.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::ids::{CallId, DialogId, SessionId, TargetId, Waiter};
use crate::time::Timestamp;

/// Everything that waits for a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A command's time is over.
    Call(CallId),
    /// A request that waits for a tab or for the connection has waited long enough, or nearly so.
    Queued(Waiter),
    /// A target waits to be resumed, and its set-up has not answered (facts C8, C12).
    Resume(SessionId),
    /// A page has not answered its set-up: is it blocked? (fact A10)
    Silence(SessionId),
    /// Its browser's side has answered, and it had longer than a slow machine keeps it silent.
    StillSilent(SessionId),
    /// A page that answers was being left, and may have its new document by now.
    Leaving(SessionId),
    /// A navigation has waited for a page that does not answer what must not be overtaken (fact F2).
    MakeWay(SessionId),
    /// Nobody answered a dialog.
    Watchdog(TargetId, DialogId),
    /// Sessions that have not told their process by now share the dialog's.
    Suspects(TargetId, DialogId),
    /// A page that was asked to be free has not answered: its script is stopped.
    Interrupt(Waiter),
    /// Whoever asked for the console has waited long enough for a page that is busy.
    Console(Waiter),
    /// A tab that sleeps has not answered, or takes its time to wake.
    Wake(TargetId),
    /// A tab that was reloaded from a removed frame's dialog is set up again at the latest (fact A25).
    Rearm(TargetId, SessionId),
    /// That reload is tried again.
    ReloadAgain(TargetId),
    /// The user activation of our latest action has run out: auto-attach may be narrow again.
    Narrow,
    /// While that is wide: have we stood still since this look was to come?
    Beat(Timestamp),
    /// A client's call is about to run out of time: is its page busy, or only the call slow?
    Probe(CallId),
    /// A pause that is not the bridge's was left to whoever made it for long enough.
    StrayPause(SessionId),
    /// A client that answers a question of the bridge by plain CDP has waited as long as it wanted to.
    RawAnswer(Waiter, Duration),
    /// An answer to a dialog is tried again (fact A19).
    AnswerAgain(TargetId, DialogId),
    /// The same for the dialog of a tab that was left.
    LastAnswer(SessionId),
    /// The process of a page that never stopped asking has had its time to end.
    ProcessEnds(TargetId, CallId),
    /// The browser has had its time to answer what leaving it takes.
    Leave,
}

/// One timer that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerId {
    at: Timestamp,
    number: u64,
}

/// All timers, the next one first.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    number: u64,
    pending: BTreeMap<TimerId, Timer>,
}

impl Timers {
    pub(crate) fn start(&mut self, at: Timestamp, timer: Timer) -> TimerId {
        self.number += 1;
        let id = TimerId { at, number: self.number };
        self.pending.insert(id, timer);
        id
    }

    /// Stops a timer; one that has fired already is none the worse.
    pub(crate) fn stop(&mut self, id: TimerId) {
        self.pending.remove(&id);
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.pending.keys().next().map(|id| id.at)
    }

    /// Takes the earliest timer that is due.
    pub(crate) fn take_due(&mut self, now: Timestamp) -> Option<Timer> {
        let first = self.pending.first_entry()?;
        (first.key().at <= now).then(|| first.remove())
    }
}
