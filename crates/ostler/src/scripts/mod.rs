//! ⑥ Runs a Python script with every helper imported: what a bare `ostler` and `ostler run FILE` do.
//!
//! ```text
//!  ostler ──prepare──▶ $OSTLER_HOME ┬ helpers.py    the agent's
//!    │                              └ lib/          ours: boot.py, client.py
//!    └──exec──▶ python3 lib/boot.py LIMIT SCRIPT ARGS...     (the daemon's socket goes along, connected)
//! ```
//!
//! ostler *becomes* the interpreter (`exec`) rather than start a child and wait for it. That makes what a script
//! promises true by construction, with nothing to forward: its exit status and the signal that ended it are the
//! command's own, Ctrl-C and Ctrl-Z at a terminal work, and even `kill -9` of the command cannot leave the script
//! behind, driving the browser with nobody watching. For the same reason there is no process group of its own:
//! whoever starts agents' commands ends them by the group they were started in, and a script that had left that
//! group would live on.

mod diff;
mod home;

use std::convert::Infallible;
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

pub(crate) use home::ScriptHome;

/// Where a script comes from.
#[derive(Debug)]
pub(crate) enum Script {
    /// Standard input holds the script.
    Stdin,
    /// A file, and the arguments that the script finds in `sys.argv`.
    File(PathBuf, Vec<OsString>),
}

/// A script and everything it needs to run.
#[derive(Debug)]
pub(crate) struct ScriptRun<'a> {
    /// The folder that holds the helpers.
    pub(crate) home: &'a ScriptHome,
    /// The script.
    pub(crate) script: Script,
    /// The task that its requests are for, unless one of them names another; none means the daemon's default.
    pub(crate) task: Option<&'a str>,
    /// The interpreter that the user named (`$OSTLER_PYTHON`), else the `python3` on the path.
    pub(crate) python: Option<PathBuf>,
    /// After this long the script gets a `TimeoutError`.
    pub(crate) time_limit: Option<Duration>,
    /// Whether the daemon has just been started: the script then says which browser that found by itself.
    pub(crate) new_daemon: bool,
    /// A connection to the daemon, whose owner has been checked. It goes to the script, because `import socket`
    /// alone costs about as much as the whole start of the interpreter.
    pub(crate) socket: UnixStream,
    /// Where the script connects again, should the daemon be restarted meanwhile.
    pub(crate) socket_path: &'a Path,
}

impl ScriptRun<'_> {
    /// Turns this process into the running script; it returns only if that fails.
    ///
    /// What the caller has buffered for standard output must be flushed before, and nothing may have been read
    /// from a standard input that holds the script.
    pub(crate) fn exec(self) -> Result<Infallible, ScriptError> {
        self.home.prepare()?;
        let mut command = self.command()?;
        Err(self.start_error(command.exec()))
    }

    /// The interpreter's command line. The socket stays open in processes started from now on.
    fn command(&self) -> Result<Command, ScriptError> {
        let mut command = Command::new(self.interpreter());
        command.arg(self.home.boot_path());
        command.arg(self.time_limit.map_or_else(String::new, |limit| limit.as_secs_f64().to_string()));
        match &self.script {
            Script::Stdin => command.arg("-"),
            Script::File(path, arguments) => command.arg(readable(path)?).args(arguments),
        };
        self.inherit_socket().map_err(ScriptError::Socket)?;
        command.env("OSTLER_FD", self.socket.as_raw_fd().to_string()).env("OSTLER_SOCKET", self.socket_path);
        // For the helpers that start a daemon of another name; without it they go by the path.
        if let Some(program) = std::env::current_exe().ok().filter(|program| program.exists()) {
            command.env("OSTLER_PROGRAM", program);
        }
        if self.new_daemon {
            command.env("OSTLER_NEW_DAEMON", "1");
        }
        if let Some(task) = self.task {
            command.env("OSTLER_TASK", task);
        }
        Ok(command)
    }

    /// Lets the connection pass through `exec`, in the blocking mode that the client reads it in.
    fn inherit_socket(&self) -> io::Result<()> {
        self.socket.set_nonblocking(false)?;
        Ok(rustix::io::fcntl_setfd(&self.socket, rustix::io::FdFlags::empty())?)
    }

    fn interpreter(&self) -> &Path {
        self.python.as_deref().unwrap_or(Path::new("python3"))
    }

    fn start_error(&self, source: io::Error) -> ScriptError {
        match (source.kind(), &self.python) {
            (io::ErrorKind::NotFound, None) => ScriptError::NoPython,
            _ => ScriptError::Start { python: self.interpreter().to_owned(), source },
        }
    }
}

/// Returns the script's path in a form that cannot be taken for standard input, if it is a file one can read.
fn readable(path: &Path) -> Result<PathBuf, ScriptError> {
    let failed = |source| ScriptError::Unreadable { script: path.to_owned(), source };
    let found = fs::metadata(path).map_err(failed)?;
    if found.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    // A pipe is the interpreter's to open: its writer would take our look for the reader, and find it gone.
    if found.is_file() {
        fs::File::open(path).map_err(failed)?;
    }
    Ok(if path == Path::new("-") { Path::new(".").join(path) } else { path.to_owned() })
}

/// Why a script could not be started, or its home not be prepared.
#[derive(Debug)]
pub(crate) enum ScriptError {
    /// There is no `python3` on the path.
    NoPython,
    /// The interpreter is there, or was named, but does not start.
    Start { python: PathBuf, source: io::Error },
    /// The script cannot be read.
    Unreadable { script: PathBuf, source: io::Error },
    /// A file of ostler's own cannot be read or written.
    Home { path: PathBuf, source: io::Error },
    /// What stands in the place of the helpers is no text that can be read.
    Helpers { path: PathBuf, source: io::Error },
    /// The connection to the daemon cannot be handed over.
    Socket(io::Error),
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoPython => f.write_str(
                "no python3 was found on the path, and scripts need one: install it or name one in OSTLER_PYTHON; \
                 `ostler cdp` and `ostler js` work without it",
            ),
            Self::Start { python, source } => write!(
                f,
                "the Python interpreter {} does not start ({source}): correct OSTLER_PYTHON, or unset it to use the \
                 python3 on the path; `ostler cdp` and `ostler js` work without it",
                python.display()
            ),
            Self::Unreadable { script, source } => {
                write!(f, "the script {} cannot be read ({source}): check its path", script.display())
            }
            Self::Home { path, source } => write!(
                f,
                "{} cannot be read or written ({source}): make it accessible, or set OSTLER_HOME to a folder that is",
                path.display()
            ),
            Self::Helpers { path, source } => write!(
                f,
                "the helpers at {} cannot be read ({source}); put that right, or have ours in its place with `ostler \
                 helpers reset`, which keeps what is there beside them",
                path.display()
            ),
            Self::Socket(source) => {
                write!(f, "the connection to the daemon cannot be handed to the script ({source}): try again")
            }
        }
    }
}

impl std::error::Error for ScriptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoPython => None,
            Self::Start { source, .. } | Self::Unreadable { source, .. } | Self::Home { source, .. } => Some(source),
            Self::Helpers { source, .. } | Self::Socket(source) => Some(source),
        }
    }
}

#[cfg(test)]
mod tests;
