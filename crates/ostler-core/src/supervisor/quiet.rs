//! Quiet tasks: page script can tell that `Runtime` or `Debugger` is on (fact B15), so in their tabs both stay off.
//!
//! Dialogs, frames, input and most calls do not need it. What does is had in another way (fact B16):
//!
//! ```text
//!   evaluate in a frame of its parent's process ──▶ createIsolatedWorld ──▶ evaluate in there
//!   the console, when somebody asks for it      ──▶ enable, which tells the stored messages again, and disable
//!   the bridge                                  ──▶ by requests, never by pauses (`bridge/mod.rs`)
//! ```

use std::time::Duration;

use super::requests::{Then, gone};
use super::routing::with_field;
use super::sessions::{Kind, Session};
use super::timers::Timer;
use super::{End, Flight, Outcome, Purpose, Supervisor, object, wire};
use crate::cdp::envelope::WireEvent;
use crate::error::CallError;
use crate::ids::{FrameId, SessionId, TargetId, TaskId, Waiter};

/// How long whoever asks for the console waits for a page that is busy; what it said comes when it is free.
const PATIENCE: Duration = Duration::from_secs(1);
/// The name of the worlds that evaluates run in. Chromium gives the same one to each call with this name.
const WORLD: &str = "ostler";

impl Supervisor {
    /// Returns whether the session belongs to a task that leaves `Runtime` and `Debugger` off.
    pub(super) fn is_quiet(&self, id: &SessionId) -> bool {
        let tab = self.sessions.get(id).and_then(|session| session.tab.as_ref()).and_then(|tab| self.tabs.get(tab));
        tab.and_then(|tab| self.tasks.get(&tab.task)).is_some_and(|task| task.quiet)
    }

    /// Brings what a tab's sessions have on in line with its task, which has changed.
    pub(super) fn match_quiet(&mut self, target: &TargetId) {
        let watched = |session: &Session| session.supervised && session.tab.as_ref() == Some(target);
        let sessions = self.sessions.iter().filter(|(_, session)| watched(session)).map(|(id, _)| id.clone());
        for id in sessions.collect::<Vec<_>>() {
            let quiet = self.is_quiet(&id);
            let Some(session) = self.sessions.get_mut(&id).filter(|session| session.runtime == quiet) else { continue };
            session.runtime = !quiet;
            if quiet {
                session.contexts.clear();
            }
            let method = if quiet { "Runtime.disable" } else { "Runtime.enable" };
            self.send_own(Purpose::Ignored, Some(&id), method, "{}");
        }
    }

    /// A client turns the domain on or off for itself: in a quiet task it may.
    pub(super) fn on_client_uses_runtime(&mut self, id: &SessionId, method: &str) {
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.supervised) else { return };
        match method {
            "Runtime.enable" => session.runtime = true,
            "Runtime.disable" => {
                session.runtime = false;
                session.contexts.clear();
            }
            _ => {}
        }
    }

    // --- frames of their parent's process ---

    /// Sends the first of the two steps of an evaluate in such a frame. It counts as the client's call, so whatever
    /// ends that ends this.
    pub(super) fn make_world(&mut self, purpose: Purpose, session: &SessionId, frame: &FrameId, left: Duration) {
        let params = object(&[("frameId", frame.as_str()), ("worldName", WORLD)]);
        let id =
            self.send_for_client(purpose, Some(session), "Page.createIsolatedWorld", Some(params.as_bytes()), left);
        if let Some(flight) = self.calls.get_mut(id) {
            // What becomes of it is told in the words of what was asked for.
            flight.method = "Runtime.evaluate".into();
        }
    }

    /// The world is there: sends the second step. Until then nothing of the client's was sent.
    pub(super) fn on_world(&mut self, mut flight: Flight<Purpose>, end: End) {
        let Purpose::Client { waiter, task, then, .. } = &mut flight.purpose else { return };
        let (waiter, task) = (*waiter, task.clone());
        let Then::Evaluate { frame, params, deadline } = std::mem::replace(then, Then::Nothing) else { return };
        let end = match end {
            End::Answer(Ok(result)) => {
                let created = str::from_utf8(&result).ok().and_then(wire::read::<wire::WorldCreated>);
                if let Some(params) = created
                    .and_then(|world| with_field(&params, &format!(r#""contextId":{}"#, world.execution_context_id)))
                {
                    let (left, session) = (deadline.since(self.now), flight.session.as_ref());
                    self.send_for_client(flight.purpose, session, "Runtime.evaluate", Some(params.as_bytes()), left);
                    return;
                }
                End::Failed(gone("frame", frame.as_str()))
            }
            End::Failed(CallError::UnknownOutcome { .. }) => {
                End::Failed(self.gone_error().unwrap_or_else(|| gone("frame", frame.as_str())))
            }
            end => end,
        };
        self.on_client_end(waiter, &task, Then::Nothing, &flight, end);
    }

    // --- the console ---

    /// Has a quiet task's pages tell what they have printed. All others tell it as it comes.
    pub(super) fn on_fetch_console(&mut self, waiter: Waiter, id: &TaskId) {
        let Some(task) = self.tasks.get(id) else {
            let error = self.unknown_task(id);
            return self.finish(waiter, Err(error));
        };
        let tells = |session: &Session| {
            let tab = session.tab.as_ref().filter(|tab| task.tabs.contains(tab)).and_then(|tab| self.tabs.get(tab));
            let quiet = session.supervised && !session.runtime && !session.held && !session.crashed;
            quiet && !matches!(session.kind, Kind::Other(_)) && tab.is_some_and(|tab| !tab.armed)
        };
        let sessions = self.sessions.iter().filter(|(_, session)| tells(session)).map(|(id, _)| id.clone());
        let mut sessions: Vec<_> =
            sessions.filter(|id| self.blocking_dialog(id, "Runtime.enable", None).is_none()).collect();
        sessions.sort();
        if sessions.is_empty() {
            return self.finish(waiter, Ok(Outcome::Done));
        }
        for session in sessions {
            self.send_own(Purpose::Ignored, Some(&session), "Runtime.enable", "{}");
            let purpose = Purpose::Console { session: session.clone(), waiter: Some(waiter) };
            self.send_own(purpose, Some(&session), "Runtime.disable", "{}");
        }
        self.start_timer(PATIENCE, Timer::Console(waiter));
    }

    /// A page has told all, or will not.
    pub(super) fn on_console_told(&mut self, id: &SessionId, waiter: Option<Waiter>) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.console.seen = session.console.newest;
            if !session.runtime {
                session.contexts.clear();
            }
        }
        if let Some(waiter) = waiter.filter(|waiter| !self.calls.any(|flight| flight.tells_console(*waiter))) {
            self.finish(waiter, Ok(Outcome::Done));
        }
    }

    /// Some page is busy: what the others told has to do.
    pub(super) fn on_console_due(&mut self, waiter: Waiter) {
        if self.forget_console_waiter(waiter) {
            self.finish(waiter, Ok(Outcome::Done));
        }
    }

    /// Returns whether the waiter waited for any page.
    pub(super) fn forget_console_waiter(&mut self, waiter: Waiter) -> bool {
        let flights = self.calls.select(|flight| flight.tells_console(waiter));
        for id in &flights {
            if let Some(Flight { purpose: Purpose::Console { waiter, .. }, .. }) = self.calls.get_mut(*id) {
                *waiter = None;
            }
        }
        !flights.is_empty()
    }

    /// Returns whether a console message was told before: each fetch tells all that is stored, the old as well.
    pub(super) fn is_told_again(&mut self, event: &WireEvent, params: &str, id: &SessionId) -> bool {
        if !matches!(&*event.method, "Runtime.consoleAPICalled" | "Runtime.exceptionThrown") {
            return false;
        }
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.supervised && !session.runtime) else {
            return false;
        };
        let Some(wire::HasTimestamp { timestamp }) = wire::read(params) else { return false };
        session.console.newest = session.console.newest.max(timestamp);
        timestamp <= session.console.seen
    }
}

impl Flight<Purpose> {
    fn tells_console(&self, wanted: Waiter) -> bool {
        matches!(self.purpose, Purpose::Console { waiter: Some(waiter), .. } if waiter == wanted)
    }
}

/// How the console of a quiet session has been told so far, by the messages' own timestamps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    /// Up to where earlier fetches went.
    seen: f64,
    /// The newest of all.
    newest: f64,
}
