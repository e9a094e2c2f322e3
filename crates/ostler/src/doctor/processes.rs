//! Which processes of this machine use a folder, as far as the system tells.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the command lines of all processes, where the system has `/proc`; none of them where it has not.
pub(super) fn command_lines() -> Option<Vec<Vec<u8>>> {
    let entries = fs::read_dir("/proc").ok()?;
    let pids = entries.flatten().filter(|entry| entry.file_name().as_bytes().iter().all(u8::is_ascii_digit));
    // A process that has ended meanwhile has none.
    Some(pids.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok()).collect())
}

/// Returns those of the folders that no command line names.
pub(super) fn unused(folders: Vec<PathBuf>, command_lines: &[Vec<u8>]) -> Vec<PathBuf> {
    let is_named = |folder: &Path| {
        let name = folder.as_os_str().as_bytes();
        command_lines.iter().any(|line| line.windows(name.len()).any(|part| part == name))
    };
    folders.into_iter().filter(|folder| !is_named(folder)).collect()
}
