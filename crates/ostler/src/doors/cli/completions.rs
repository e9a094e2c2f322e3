//! `ostler completions`: what a shell needs to complete our verbs and flags.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::context::Context;
use super::failure::Failure;
use crate::exit_code::Exit;

/// Prints a completion script for a shell
///
///     ostler completions bash > ~/.local/share/bash-completion/completions/ostler
#[derive(Args, Debug)]
#[command(name = "completions", verbatim_doc_comment)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Arguments::command(), "ostler", &mut script);
        context.print_value("script", String::from_utf8_lossy(&script).trim_end())?;
        Ok(Exit::Success)
    }
}
