//! `ostler helpers`: the Python helpers, which are the agent's to edit.

use clap::{Args, Subcommand};

use super::context::{Context, print_line};
use super::failure::Failure;
use crate::exit_code::Exit;
use crate::scripts::ScriptHome;

/// Shows, compares or resets the Python helpers.
#[derive(Args, Debug)]
#[command(name = "helpers")]
pub(super) struct Helpers {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the path of helpers.py; an edit works from the next script on
    Path,
    /// Print what differs from the shipped helpers
    Diff,
    /// Replace helpers.py by the shipped one, keeping what was there beside it
    Reset,
}

impl Helpers {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let home = ScriptHome::new(context.environment.home()?);
        match self.action {
            Action::Path => {
                // So that the path leads somewhere, also before the first script.
                home.prepare()?;
                context.print_value("path", &home.helpers_path().display().to_string())?;
            }
            Action::Diff => context.print_value("diff", home.diff()?.trim_end())?,
            Action::Reset => match home.reset()? {
                Some(kept) if context.json => context.print_value("kept", &kept.display().to_string())?,
                Some(kept) => print_line(&format!(
                    "the helpers are the shipped ones; what was there is kept in {}",
                    kept.display()
                ))?,
                None if context.json => print_line(r#"{"kept":null}"#)?,
                None => print_line("the helpers are the shipped ones")?,
            },
        }
        Ok(Exit::Success)
    }
}
