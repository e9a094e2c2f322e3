//! Why the daemon cannot be used, in words for whoever ran the command.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::ClientSettings;
use crate::daemon::lock;
use crate::daemon::ownership::PathRefused;
use crate::daemon::start::StartError;
use crate::endpoint::process;
use crate::exit_code::Exit;

/// The environment or `config.yaml` cannot be used.
pub(crate) const BAD_CONFIG: &str = "bad_config";
/// No daemon of ours can be reached, or started.
pub(crate) const NO_DAEMON: &str = "no_daemon";

/// Why the daemon cannot be used.
#[derive(Debug)]
pub(crate) enum ClientError {
    /// What stands at the socket's path is not our daemon's socket.
    Path(PathRefused),
    /// Another user's program listens there.
    Stranger {
        /// The path.
        socket: PathBuf,
        /// The user.
        uid: u32,
    },
    /// None answers and none can be started.
    Start {
        /// What happened.
        error: StartError,
        /// Where the daemon's own words are.
        log: PathBuf,
    },
    /// A daemon holds the name and its socket does not answer.
    Silent {
        /// Its process, when known.
        pid: Option<u32>,
        /// The path.
        socket: PathBuf,
    },
    /// The daemon turned us away with a sentence of its own.
    Refused {
        /// The sentence.
        error: String,
        /// Its `error_code`.
        code: String,
    },
    /// The connection broke.
    Gone {
        /// The path.
        socket: PathBuf,
        /// How.
        error: io::Error,
    },
    /// The daemon does not answer.
    Stuck {
        /// The path.
        socket: PathBuf,
        /// How long it was given.
        patience: Duration,
        /// Its process, if that is stopped.
        stopped: Option<u32>,
    },
    /// The daemon drives another browser than the one that the environment names.
    OtherBrowser {
        /// The variable that names ours.
        variable: &'static str,
        /// The part of its URL that may be shown.
        label: String,
    },
}

impl ClientError {
    /// The daemon at this socket does not answer. Tells whether its process is stopped, which only letting it go on mends.
    pub(crate) fn stuck(socket: &Path, patience: Duration) -> Self {
        Self::Stuck { socket: socket.to_owned(), patience, stopped: stopped_daemon(socket) }
    }

    /// Says whether the daemon at this socket is stopped, so that nobody need wait for it.
    pub(crate) fn is_stopped(socket: &Path) -> bool {
        stopped_daemon(socket).is_some()
    }

    pub(super) fn start(error: StartError, settings: &ClientSettings) -> Self {
        Self::Start { error, log: settings.paths.log.clone() }
    }

    /// Returns the `error_code` that stands beside the sentence under `--json`.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Refused { code, .. } => code,
            Self::Gone { .. } => "unknown_outcome",
            Self::OtherBrowser { .. } => "other_browser",
            Self::Start { .. } if self.exit() == Exit::WrongCall => BAD_CONFIG,
            Self::Path(_) | Self::Stranger { .. } | Self::Start { .. } | Self::Silent { .. } | Self::Stuck { .. } => {
                NO_DAEMON
            }
        }
    }

    /// Returns what a command that fails with this exits with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Start { error: StartError::Failed { exit, .. }, .. } => *exit,
            Self::OtherBrowser { .. } => Exit::WrongCall,
            _ => Exit::WorkFailed,
        }
    }
}

/// Returns the process of the daemon at this socket if it is stopped.
fn stopped_daemon(socket: &Path) -> Option<u32> {
    // The pid file stands beside the socket.
    lock::holder(&socket.with_extension("pid")).filter(|pid| process::is_stopped(*pid))
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(refused) => refused.fmt(f),
            Self::Stranger { socket, uid } => write!(
                f,
                "{} is served by another user (uid {uid}); choose another BU_NAME or BH_RUNTIME_DIR",
                socket.display()
            ),
            Self::Start { error: error @ (StartError::Failed { .. } | StartError::Spawn(_)), .. } => error.fmt(f),
            Self::Start { error, log } => write!(f, "{error}; its log is {}", log.display()),
            Self::Silent { pid, socket } => {
                let who = pid.map_or_else(|| "a daemon".to_owned(), |pid| format!("the daemon (pid {pid})"));
                let how = pid.map_or_else(String::new, |pid| format!(" with `kill {pid}`"));
                write!(f, "{who} holds the name but {} does not answer; end it{how} and try again", socket.display())
            }
            Self::Refused { error, .. } => f.write_str(error),
            Self::Gone { socket, error } => write!(
                f,
                "the daemon at {} went away before it answered ({error}), so whether the request took effect is not known; \
                 look with `ostler status`",
                socket.display()
            ),
            Self::Stuck { stopped: Some(pid), .. } => write!(
                f,
                "the daemon answers nothing, since its process (pid {pid}) is stopped; let it go on with `kill -CONT {pid}`, or end it \
                 with `ostler stop`"
            ),
            Self::Stuck { socket, patience, stopped: None } => write!(
                f,
                "the daemon at {} gave no answer within {} s; end it with `ostler stop`, and the next command starts another",
                socket.display(),
                patience.as_secs()
            ),
            Self::OtherBrowser { variable, label } => write!(
                f,
                "the running daemon drives another browser than {variable} names ({label}); move the task with \
                 `ostler connect`, stop the daemon with `ostler stop`, or run a second one under another BU_NAME"
            ),
        }
    }
}

impl std::error::Error for ClientError {}
