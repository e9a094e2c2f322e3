//! `ostler man`: the man pages, made from the same definitions as `--help`.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;

use super::context::{Context, print_data, print_line};
use super::failure::Failure;
use crate::exit_code::Exit;

/// Prints the man page, or writes one for each command into a folder
///
///     ostler man --to ~/.local/share/man/man1
#[derive(Args, Debug)]
#[command(name = "man", verbatim_doc_comment)]
pub(super) struct Man {
    /// The folder, made if need be
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, _context: &Context) -> Result<Exit, Failure> {
        // The pages say what there is: that every command also explains itself with `help` needs none of its own.
        let command = super::Arguments::command().disable_help_subcommand(true);
        let Some(folder) = self.to else {
            let mut page = Vec::new();
            Page::new(command).render(&mut page).map_err(Failure::Stdout)?;
            print_data(page.trim_ascii_end())?;
            return Ok(Exit::Success);
        };
        let written = fs::create_dir_all(&folder).and_then(|()| clap_mangen::generate_to(command, &folder));
        written.map_err(|error| Failure::Work(format!("{} cannot be written to: {error}", folder.display())))?;
        print_line(&format!("wrote the man pages to {}", folder.display()))?;
        Ok(Exit::Success)
    }
}
