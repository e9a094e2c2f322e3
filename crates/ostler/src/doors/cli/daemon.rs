//! `ostler daemon`: the daemon itself, in the foreground.

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use crate::config::Environment;
use crate::daemon::{run_in_background, run_in_foreground};
use crate::exit_code::Exit;

/// Runs the daemon in the foreground.
///
/// It logs to standard error and ends with Ctrl-C or `ostler stop`. Seldom needed: every command starts a daemon in the background when none runs. OSTLER_LOG sets what is logged.
#[derive(Args, Debug)]
#[command(name = "daemon")]
pub(super) struct Daemon {
    /// Leave the terminal, report on standard output, log to the file: how other commands start it
    #[arg(long, hide = true)]
    background: bool,
}

impl Daemon {
    /// Whether another command started this one and waits for its report.
    pub(super) fn in_background(&self) -> bool {
        self.background
    }

    /// Runs in the background; failures go into the report, so there is none to return.
    pub(super) fn run_in_background(&self) -> Exit {
        run_in_background(&Environment::of_this_process())
    }

    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        run_in_foreground(&context.environment)?;
        Ok(Exit::Success)
    }
}
