//! Which processes of this machine use a folder, as far as the system tells.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::endpoint::process;

/// Returns the command lines of all processes, where the system tells.
pub(super) fn command_lines() -> Option<Vec<Vec<u8>>> {
    Some(process::all()?.into_iter().map(|process| process.command_line).collect())
}

/// Returns those of the folders that no command line names.
pub(super) fn unused(folders: Vec<PathBuf>, command_lines: &[Vec<u8>]) -> Vec<PathBuf> {
    let is_named = |folder: &Path| {
        let name = folder.as_os_str().as_bytes();
        command_lines.iter().any(|line| line.windows(name.len()).any(|part| part == name))
    };
    folders.into_iter().filter(|folder| !is_named(folder)).collect()
}
