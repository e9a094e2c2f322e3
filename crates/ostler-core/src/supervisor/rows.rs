//! Questions in a row: whether a script that has just asked something will ever end.
//!
//! A script that asks in a loop looks like many short questions, each of them answered, and holds its page all the same.
//! So when a page asks a third time it is also asked something itself, which it answers only once its script is over:
//!
//! ```text
//!   asked ──the third time──▶ probed ──answered──▶ forgotten
//!                               └── asks on ──▶ a row: agents are told how long it is, and
//!                                               what waits for its end under a policy is ended
//! ```

use std::sync::Arc;
use std::time::Duration;

use super::bridge::Via;
use super::sessions::Kind;
use super::{End, Flight, OnDialog, Purpose, Supervisor, blocking};
use crate::error::CallError;
use crate::ids::{DialogId, FrameId, SessionId, TargetId};
use crate::time::Timestamp;
use crate::view::{DialogPolicy, DialogView};

/// With which question the page is asked whether its script has ended.
const PROBED_AT: u32 = 3;
/// How long a row is, and for how long it goes on, before calls do not wait for its end any more. A script that asks for
/// each of a list's entries ends before: a hundred dialogs took up to two seconds on a machine with more work than
/// processors.
const LONG: u32 = 10;
const LASTS: Duration = Duration::from_secs(5);
/// A script that has asked nothing for so long does something else, and may well end.
const ASKS_ON: Duration = Duration::from_secs(1);

/// What is answered only once no script runs, under a native dialog and in the bridge: there a page answers all that does
/// not wait for a promise (fact B5).
pub(super) const PROBE: &str = r#"{"expression":"0","awaitPromise":true}"#;

/// What a page has asked on one session since it last showed that no script runs.
#[derive(Debug, Default)]
pub(super) struct Row {
    asked: u32,
    /// Since when the page owes the answer that ends the row.
    since: Option<Timestamp>,
    /// When it asked the newest question.
    asked_at: Option<Timestamp>,
    last: Option<Last>,
    /// It is to be stopped once it has the answer to what it asks now.
    stops: bool,
}

/// The newest question of a row.
#[derive(Debug)]
struct Last {
    tab: TargetId,
    dialog: Arc<DialogView>,
    /// Whether V8 paused the page for it, so that the page answers much meanwhile.
    paused: bool,
    /// The frame that asks, if it has a process of its own.
    frame: Option<FrameId>,
}

impl Last {
    fn error(&self, sent: bool) -> CallError {
        CallError::AsksOn { dialog: Arc::clone(&self.dialog), sent, frame: self.frame.clone() }
    }
}

impl Row {
    /// Returns how many questions the script that runs now has certainly asked.
    fn of_one_script(&self) -> u32 {
        if self.since.is_some() { self.asked - (PROBED_AT - 1) } else { 1 }
    }

    /// Returns for how long it has asked them.
    fn lasts(&self) -> Duration {
        self.since.zip(self.asked_at).map_or(Duration::ZERO, |(since, last)| last.since(since))
    }

    /// Returns whether it has asked so shortly ago that it can be expected to ask again.
    fn goes_on(&self, now: Timestamp) -> bool {
        self.asked_at.is_some_and(|last| now < last + ASKS_ON)
    }
}

impl Supervisor {
    /// Counts a question; returns how many its script has asked by now.
    pub(super) fn count_in_row(&mut self, owner: &SessionId) -> u32 {
        let row = self.rows.entry(owner.clone()).or_default();
        (row.asked, row.asked_at) = (row.asked.saturating_add(1), Some(self.now));
        if row.asked == PROBED_AT {
            row.since = Some(self.now);
            self.send_own(Purpose::Row(owner.clone()), Some(owner), "Runtime.evaluate", PROBE);
        }
        self.rows.get(owner).map_or(1, Row::of_one_script)
    }

    /// The page has shown that the script which asked is over, or it is gone.
    pub(super) fn end_row(&mut self, owner: &SessionId) {
        self.rows.remove(owner);
    }

    /// A script is told to stop. It takes that in only after some more questions, so its row is counted anew. One that is
    /// paused in the bridge loses it to the answer that is evaluated there, and is told again behind that (fact F46).
    pub(super) fn on_script_stopped(&mut self, stopped: &SessionId) {
        let Some(target) = self.sessions.get(stopped).map(|session| &session.target) else { return };
        for (owner, row) in &mut self.rows {
            let Some(asks) = self.sessions.get(owner).filter(|session| session.target == *target) else { continue };
            if row.since.is_some() {
                (row.asked, row.since, row.stops) = (PROBED_AT, Some(self.now), asks.bridge.is_some());
            }
        }
    }

    /// A script has taken in that it is to stop. One that asks natively has ended by then.
    pub(super) fn on_script_ended(&mut self, stopped: &SessionId) {
        let Some(target) = self.sessions.get(stopped).map(|session| session.target.clone()) else { return };
        let sessions = &self.sessions;
        self.rows.retain(|owner, _| {
            sessions.get(owner).is_none_or(|session| session.target != target || session.bridge.is_some())
        });
    }

    /// Returns whether the script that is paused on a session is to be stopped.
    pub(super) fn is_to_stop(&self, owner: &SessionId) -> bool {
        self.rows.get(owner).is_some_and(|row| row.stops)
    }

    /// A paused page has its answer and is about to go on: stops its script if that was wanted.
    pub(super) fn stop_if_wanted(&mut self, owner: &SessionId) {
        if self.is_to_stop(owner) {
            self.send_own(Purpose::Ignored, Some(owner), "Runtime.terminateExecution", "{}");
            if let Some(row) = self.rows.get_mut(owner) {
                row.stops = false;
            }
        }
    }

    /// A policy answers the question, and the script may ask the next one: what waits for its end is not kept waiting
    /// for that.
    pub(super) fn end_calls_behind_row(&mut self, target: &TargetId, number: DialogId) {
        let Some(dialog) = self.dialog(target, number) else { return };
        let (asked, paused) = (Arc::clone(&dialog.view), matches!(dialog.via, Via::Pause { .. }));
        let frame = self.frame_apart(&dialog.owner);
        let Some(row) = self.rows.get_mut(&dialog.owner.clone()) else { return };
        row.last = Some(Last { tab: target.clone(), dialog: asked, paused, frame });
        for id in self.calls.select(|flight| self.waits_behind_row(flight).is_some()) {
            let error = self.calls.get(id).and_then(|flight| self.waits_behind_row(flight));
            if let Some((flight, error)) = self.calls.take(id).zip(error) {
                self.end_flight(flight, End::Failed(error));
            }
        }
    }

    fn waits_behind_row(&self, flight: &Flight<Purpose>) -> Option<CallError> {
        let Purpose::Client { on_dialog: OnDialog::Return, awaits, .. } = flight.purpose else { return None };
        self.asks_on(flight.session.as_ref()?, &flight.method, awaits, true)
    }

    /// Returns the error of a call that waits for the end of a script which asks on and on under a policy.
    pub(super) fn asks_on(&self, session: &SessionId, method: &str, awaits: bool, sent: bool) -> Option<CallError> {
        let long = |row: &Row| row.of_one_script() >= LONG && row.lasts() >= LASTS && row.goes_on(self.now);
        self.row_before(session, method, awaits, long).map(|last| last.error(sent))
    }

    /// The same for a call whose time is over, of a script that may not be told yet to ask without end.
    pub(super) fn asked_meanwhile(&self, session: &SessionId, method: &str, awaits: bool) -> Option<CallError> {
        self.row_before(session, method, awaits, |row| row.of_one_script() > 1 && row.goes_on(self.now))
            .map(|last| last.error(true))
    }

    fn row_before(
        &self,
        session: &SessionId,
        method: &str,
        awaits: bool,
        counts: impl Fn(&Row) -> bool,
    ) -> Option<&Last> {
        // A call must not cost a look at every tab: nearly always none asks anything.
        if self.rows.is_empty() || blocking::finishes_despite_dialog(method) || blocking::ends_scripts(method) {
            return None;
        }
        let known = self.sessions.get(session)?;
        let stands_before = |(owner, row): (&SessionId, &'_ Row)| {
            let last = row.last.as_ref().filter(|_| counts(row))?;
            let policy = self.tasks.get(&self.tabs.get(&last.tab)?.task)?.policy;
            let answers = last.paused && !awaits && !blocking::stops_in_pause(method);
            let asks = self.sessions.get(owner)?;
            let same = asks.target == known.target;
            let shares = asks.isolate.is_some() && asks.isolate == known.isolate;
            let swallowed = !last.paused && blocking::is_swallowed_in_tab(method) && known.tab == asks.tab;
            Some(policy != DialogPolicy::MustRespond && !answers && (same || shares || swallowed))
        };
        let (_, row) = self.rows.iter().find(|row| stands_before((row.0, row.1)) == Some(true))?;
        row.last.as_ref()
    }

    /// Returns the frame of a session, where that is not a whole tab's.
    pub(super) fn frame_apart(&self, session: &SessionId) -> Option<FrameId> {
        let session = self.sessions.get(session).filter(|session| session.kind == Kind::Iframe)?;
        Some(session.target.as_frame())
    }
}
