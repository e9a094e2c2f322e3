//! `ostler man`: the man pages, made from the same definitions as `--help`.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;
use serde_json::json;

use super::context::{Context, print_line};
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
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        // The pages say what there is: that every command also explains itself with `help` needs none of its own.
        let command = super::Arguments::command().disable_help_subcommand(true);
        let Some(folder) = self.to else {
            let mut page = Vec::new();
            Page::new(command).render(&mut page).map_err(Failure::Stdout)?;
            context.print_value("page", String::from_utf8_lossy(&page).trim_end())?;
            return Ok(Exit::Success);
        };
        let written = fs::create_dir_all(&folder).and_then(|()| clap_mangen::generate_to(command, &folder));
        written.map_err(|error| Failure::Work(format!("{} cannot be written to: {error}", folder.display())))?;
        let folder = folder.display().to_string();
        let words = format!("wrote the man pages to {folder}");
        print_line(&if context.json { json!({ "folder": folder }).to_string() } else { words })?;
        Ok(Exit::Success)
    }
}
