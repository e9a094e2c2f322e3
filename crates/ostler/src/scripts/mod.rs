//! Runs Python scripts: this holds the place of the script runner, with its interface.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder that holds the agent's helpers.
#[derive(Debug)]
pub(crate) struct ScriptHome(PathBuf);

impl ScriptHome {
    pub(crate) fn new(home: PathBuf) -> Self {
        Self(home)
    }

    pub(crate) fn helpers_path(&self) -> PathBuf {
        self.0.join("helpers.py")
    }

    pub(crate) fn prepare(&self) -> Result<(), ScriptError> {
        Ok(())
    }

    pub(crate) fn diff(&self) -> Result<String, ScriptError> {
        Err(ScriptError)
    }

    pub(crate) fn reset(&self) -> Result<Option<PathBuf>, ScriptError> {
        Err(ScriptError)
    }
}

/// Where a script comes from.
#[derive(Debug)]
pub(crate) enum Script {
    /// Standard input.
    Stdin,
    /// A file, and the arguments that the script sees.
    File(PathBuf, Vec<OsString>),
}

/// A script and everything it needs to run.
#[derive(Debug)]
pub(crate) struct ScriptRun<'a> {
    pub(crate) home: &'a ScriptHome,
    pub(crate) script: Script,
    pub(crate) python: Option<PathBuf>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) socket: UnixStream,
    pub(crate) socket_path: &'a Path,
}

impl ScriptRun<'_> {
    /// Turns this process into the running script; it returns only if that fails.
    pub(crate) fn exec(self) -> Result<Infallible, ScriptError> {
        let Self { home, script, python, time_limit, socket, socket_path } = self;
        tracing::debug!(?home, ?python, ?time_limit, ?socket, ?socket_path, "no runner yet");
        match script {
            Script::Stdin => tracing::debug!("for a script on standard input"),
            Script::File(file, args) => tracing::debug!(?file, ?args, "for a script"),
        }
        Err(ScriptError)
    }
}

/// Why a script could not be run.
#[derive(Debug)]
pub(crate) struct ScriptError;

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("scripts are not part of this build")
    }
}
