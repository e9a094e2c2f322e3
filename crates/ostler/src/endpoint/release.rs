//! What the guard processes have in common: how they hear that the daemon has let go, and how they speak to it.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

/// What tells a guard to end what it guards: the pipe on standard input closes, or someone signals us.
///
/// The daemon holds the only write end. The kernel closes that however the daemon goes, so no goodbye is needed.
pub(super) struct Release {
    pipe: BufReader<pipe::Receiver>,
    signals: [Signals; 3],
}

impl Release {
    /// Must come before there is anything to guard: from then on no signal may end us by surprise.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            pipe: BufReader::new(pipe::Receiver::from_owned_fd(io::stdin().as_fd().try_clone_to_owned()?)?),
            signals: [
                signal(SignalKind::terminate())?,
                signal(SignalKind::interrupt())?,
                signal(SignalKind::hangup())?,
            ],
        })
    }

    /// Returns the order that comes first, where a guard gets it this way. None if the daemon went before it was whole.
    pub(super) async fn first_line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.pipe.read_line(&mut line).await.ok()?;
        line.ends_with('\n').then_some(line)
    }

    /// Waits until the daemon lets go. May be dropped and called again.
    pub(super) async fn wait(&mut self) {
        let [terminate, interrupt, hangup] = &mut self.signals;
        tokio::select! {
            () = closed(&mut self.pipe) => {}
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }

    /// Tells a person who started a guard by hand that this is not for people.
    pub(super) fn misuse(subcommand: &str) -> ExitCode {
        let _ = writeln!(io::stderr().lock(), "ostler {subcommand} is run by the daemon, not by hand");
        ExitCode::from(2)
    }
}

async fn closed(pipe: &mut BufReader<pipe::Receiver>) {
    // Nothing more is ever written; whatever comes but an end is passed over.
    let mut ignored = [0; 64];
    while matches!(pipe.read(&mut ignored).await, Ok(1..)) {}
}

/// Tells the daemon something, in one line.
pub(super) fn report(report: &impl Serialize) {
    let line = serde_json::to_string(report).expect("a report is plain data");
    // A daemon that has gone does not hear it, and that is no reason to stop guarding.
    let _ = writeln!(io::stdout().lock(), "{line}");
}
