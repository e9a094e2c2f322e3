//! `ostler interrupt`: frees a tab that a script keeps busy.

use clap::Args;

use super::context::{Context, Meta};
use super::failure::Failure;
use crate::exit_code::Exit;
use crate::times::CALL_DEFAULT;

/// Stops the script that keeps the current tab busy.
///
/// An endless loop, for one. Returns when the page answers again.
#[derive(Args, Debug)]
#[command(name = "interrupt")]
pub(super) struct Interrupt {}

impl Interrupt {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let request = Meta { meta: "interrupt", task: context.task.as_deref() };
        let reply = context.ask(&mut context.connect()?, &request, CALL_DEFAULT)?;
        context.print(&reply, "the page answers again")?;
        Ok(Exit::Success)
    }
}
