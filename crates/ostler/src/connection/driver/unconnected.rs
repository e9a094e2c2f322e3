//! While there is no connection: commands are answered all the same, and the browser is looked for and dialled when
//! somebody needs it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ostler_core::supervisor::Input;
use tokio::sync::mpsc;

use super::super::dial::{DialFailure, Prompt, dial};
use super::super::websocket::Socket;
use super::{Driver, FIRST_BACK_OFF, Pause};
use crate::endpoint::{Endpoint, Owned, Source};

/// When it is worth asking again while a person is asked for consent.
const CONSENT_POLL: Duration = Duration::from_secs(2);
impl Driver {
    /// Answers commands while there is no connection, for as long as `pause` says.
    pub(super) async fn idle(&mut self, pause: Pause) -> ControlFlow<()> {
        let started = Instant::now();
        self.rests = matches!(pause, Pause::UntilNamed);
        loop {
            let left = match pause {
                _ if self.named => Some(Duration::ZERO),
                Pause::UntilNamed => None,
                Pause::UntilNeeded => self.needed.then_some(Duration::ZERO),
                // Whoever needs the browser does not wait out the back-off, but a failing dial is not repeated at once.
                Pause::For(wait) => {
                    let wait = if self.needed { wait.min(FIRST_BACK_OFF) } else { wait };
                    Some(wait.saturating_sub(started.elapsed()))
                }
            };
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            let wake = [left, self.until_timer()].into_iter().flatten().min().unwrap_or(Duration::from_secs(3600));
            tokio::select! {
                command = self.inbox.recv() => {
                    if self.on_command(command) {
                        return ControlFlow::Break(());
                    }
                }
                () = tokio::time::sleep(wake) => self.apply(Input::Tick),
            }
            self.carry_out();
        }
        self.rests = false;
        self.widen = self.named;
        (self.needed, self.named) = (false, false);
        if !self.ever_connected {
            // The first time, calls wait for how it ends; after a loss they fail at once (contract: `browser_gone`).
            self.apply(Input::Dialling);
            self.carry_out();
        }
        ControlFlow::Continue(())
    }

    /// Finds the browser and dials it, answering commands meanwhile. `None` when the driver is to end.
    pub(super) async fn dial(&mut self) -> Result<Option<(Socket, Endpoint)>, DialFailure> {
        if !self.ever_connected {
            self.set_status("being looked for".to_owned());
        }
        let sources = self.sources();
        let before = if sources.iter().any(Source::is_running) { None } else { self.owned.take() };
        let (machine, shared) = (Arc::clone(&self.machine), Arc::clone(&self.shared));
        let (asks, mut asked) = mpsc::unbounded_channel();
        let attempt = async move {
            if let Some(before) = before {
                // The one that we had is gone or does not answer: another one takes its place.
                // Whatever is to be said of it stands in the log.
                let _ = before.stop().await;
            }
            dial(&sources, &machine, &shared, &asks).await
        };
        let mut attempt = std::pin::pin!(attempt);
        loop {
            let wake = self.until_timer().unwrap_or(Duration::from_secs(3600));
            tokio::select! {
                outcome = &mut attempt => {
                    self.asking = false;
                    return outcome.map(Some).map_err(|failure| self.judge(failure));
                }
                Some(Prompt { why, found }) = asked.recv() => {
                    // A person may take minutes: everybody is told at once, and the handshake stays open.
                    self.asking = true;
                    self.shared.say_that_it_asks(why.clone(), found);
                    self.gone(why, Some(CONSENT_POLL));
                }
                command = self.inbox.recv() => {
                    if self.on_command(command) {
                        return Ok(None);
                    }
                }
                () = tokio::time::sleep(wake) => self.apply(Input::Tick),
            }
            self.carry_out();
        }
    }

    /// A cloud browser that is refused for good is over: it says so, and is not dialled again.
    fn judge(&mut self, failure: DialFailure) -> DialFailure {
        match &mut self.owned {
            Some(Owned::Cloud(lease)) if !failure.may_pass => {
                let over = lease.spend(failure.happened);
                DialFailure { happened: over.happened(), next_step: Some(over.next_step()), ..failure }
            }
            Some(Owned::Cloud(lease)) => {
                let away = lease.out_of_reach(failure.happened);
                DialFailure { happened: away.happened(), next_step: Some(away.next_step()), ..failure }
            }
            _ => self.name_origin(failure),
        }
    }

    /// Says where the address is from, if the daemon was started with it: no command that is run now shows that.
    fn name_origin(&self, failure: DialFailure) -> DialFailure {
        let Some(by) = self.source.set_at_start() else { return failure };
        let next_step =
            failure.next_step.map(|step| format!("{step}; or end the daemon with `ostler stop`, and start it without"));
        DialFailure {
            happened: format!("{} (the daemon was started with that address, from {by})", failure.happened),
            next_step,
            ..failure
        }
    }

    /// Returns where to look, in this order. A browser that was discovered is looked for where it was found: no task
    /// is moved to another one that happens to run, unless somebody asks for a browser by name.
    fn sources(&self) -> Vec<Source> {
        if let Some(Owned::Cloud(lease)) = &self.owned
            && !lease.is_spent()
        {
            // A cloud browser outlives a lost connection: only a new order costs money again.
            return vec![Source::CloudRunning(lease.facts.clone())];
        }
        let found = self.shared.status.load().found.as_ref().map(|found| Source::Discover(found.again()));
        match found {
            Some(found) if self.widen => vec![found, self.source.clone()],
            Some(found) => vec![found],
            None => vec![self.source.clone()],
        }
    }
}
