//! Where the daemon's log goes: standard error, which in the background is the log file.
//!
//! Pointing standard error itself at the file, instead of writing to the file beside it, brings panics and whatever
//! a library prints into the same log.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use tracing_subscriber::EnvFilter;

use super::ownership::{self, Expected, PathRefused};

/// A log that has grown beyond this is set aside when a daemon starts.
const MAX_LEN: u64 = 5 * 1024 * 1024;

/// Makes the file at `path` this process's standard error.
///
/// A file that has grown too long becomes `<path>.old`, in the place of the one before. The caller holds the
/// daemon's lock, so nobody else writes to it or renames it.
pub(crate) fn become_stderr(path: &Path) -> Result<(), PathRefused> {
    let refused = |error| PathRefused::io(path, error);
    if ownership::look(path, Expected::File)?.is_some_and(|log| log.len() > MAX_LEN) {
        // Renaming replaces a link without following it.
        fs::rename(path, path.with_extension("log.old")).map_err(refused)?;
    }
    let log = ownership::open_private(path, OpenOptions::new().append(true).create(true))?;
    rustix::stdio::dup2_stderr(log).map_err(|error| refused(error.into()))
}

/// Starts writing what `filter` lets through to standard error.
pub(crate) fn start(filter: &str) -> Result<(), BadFilter> {
    let filter = EnvFilter::builder().parse(filter).map_err(|error| BadFilter(error.to_string()))?;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    Ok(())
}

/// `OSTLER_LOG` cannot be understood.
#[derive(Debug)]
pub(crate) struct BadFilter(String);

impl fmt::Display for BadFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "OSTLER_LOG: {}; use error, warn, info, debug or trace, or a list such as `info,ostler=debug`",
            self.0
        )
    }
}

impl std::error::Error for BadFilter {}
