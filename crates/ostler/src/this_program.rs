//! How to start this very program once more.

use std::io;
use std::path::PathBuf;

/// Returns a path that runs this binary, also when an upgrade has replaced its file since we started: the file's name is
/// then that of a deleted one.
pub(crate) fn path() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}
