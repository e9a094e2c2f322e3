//! Starts the process that answers for a browser of ours when we are gone, and hears what it reports.
//!
//! What a guard does for its browser is its own affair; how the daemon holds on to it is the same for all of them: a pipe
//! that the guard waits to see closed, and a line for each thing that it has to tell.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::config::SECRET_VARIABLES;

/// The command that runs a guard; what it is told of its browser is appended.
#[derive(Debug, Clone)]
pub(crate) struct GuardCommand {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
}

/// A guard that runs.
pub(super) struct Guard {
    pub(super) process: Child,
    /// The write end of its pipe. Nobody else may ever hold it; std opens it close-on-exec.
    pub(super) release: ChildStdin,
    pub(super) reports: Reports,
}

/// What a guard tells, one line each.
#[derive(Debug)]
pub(super) struct Reports(Lines<BufReader<ChildStdout>>);

impl GuardCommand {
    /// Returns the command that runs this very binary under a subcommand, even if the file was replaced by an upgrade
    /// since we started.
    pub(crate) fn of(subcommand: &str) -> Self {
        let program = crate::this_program::path().unwrap_or_else(|_| PathBuf::from("ostler"));
        Self { program, args: vec![subcommand.into()] }
    }

    /// Starts the guard.
    pub(super) fn spawn(&self, more: impl IntoIterator<Item = impl AsRef<OsStr>>) -> io::Result<Guard> {
        let mut command = Command::new(&self.program);
        for variable in SECRET_VARIABLES {
            // Neither the guard nor the browser has any use for them.
            command.env_remove(variable);
        }
        let mut process = command
            .arg0("ostler")
            .args(&self.args)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Whoever waits for the end of the daemon's standard error must not wait for the guard.
            .stderr(Stdio::null())
            // Ctrl+C in the daemon's terminal is for the daemon.
            .process_group(0)
            .spawn()?;
        let release = process.stdin.take().expect("standard input was piped");
        let stdout = process.stdout.take().expect("standard output was piped");
        Ok(Guard { process, release, reports: Reports(BufReader::new(stdout).lines()) })
    }
}

impl Reports {
    /// Waits for the next report; `None` when the guard ended without one.
    pub(super) async fn next<R: DeserializeOwned>(&mut self) -> io::Result<Option<R>> {
        while let Some(line) = self.0.next_line().await? {
            // A line that is no report is not from us: a library that greets on standard output.
            if let Ok(report) = serde_json::from_str(&line) {
                return Ok(Some(report));
            }
        }
        Ok(None)
    }
}
