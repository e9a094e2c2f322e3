//! Turns the signals that ask a program to end into the daemon's own orderly end.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// SIGTERM, SIGINT and SIGHUP, caught from the moment this exists.
#[derive(Debug)]
pub(crate) struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl EndSignals {
    /// Starts catching them. Needs a runtime.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Asks for an orderly end at the first signal, and returns at the second: whoever sends one more has waited enough.
    pub(crate) async fn relay(mut self, end: oneshot::Sender<()>) {
        let name = self.next().await;
        tracing::info!("{name}: ending");
        // Nobody listens any more when the end has begun for another reason.
        let _ = end.send(());
        let name = self.next().await;
        tracing::warn!("{name} again: ending at once");
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.hang_up.recv() => "SIGHUP",
        }
    }
}
