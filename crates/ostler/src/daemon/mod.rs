//! The process that holds the browser: takes its name, opens its socket, serves, and cleans up behind itself.
//!
//! ```text
//! umask ─ settings ─ lock (pid file) ─ log ─ socket ─ runtime ─ serve ─┐
//!                      │ taken: say so and leave                      │ shutdown, signal
//!                      └────────────── files removed, lock dropped ◀──┘
//! ```
//!
//! Everything up to the runtime happens on one thread, which is what makes the umask safe to use.

mod idle;
pub(crate) mod lock;
mod log;
pub(crate) mod ownership;
mod report;
mod serve;
mod signals;
mod socket;
pub(crate) mod start;

use std::env;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid, umask};
use tokio::sync::oneshot;

use self::lock::DaemonLock;
use self::ownership::PathRefused;
use self::report::StartReport;
use self::serve::ServeError;
use self::signals::EndSignals;
use self::socket::SocketFile;
use crate::config::{ConfigError, Environment, Settings};
use crate::exit_code::Exit;

/// Runs the daemon in the foreground until it is asked to end. Logs to standard error.
pub(crate) fn run_in_foreground(environment: &Environment) -> Result<(), DaemonError> {
    keep_files_private();
    let settings = environment.daemon_settings()?;
    let lock = take_name(&settings)?;
    log::start(&settings.log_filter)?;
    run(lock, settings, || {})
}

/// Runs the daemon in the background: detached from the terminal that started it, reporting on standard output
/// until it is ready, logging to its file. Returns what the process exits with.
pub(crate) fn run_in_background(environment: &Environment) -> Exit {
    // First of all, so that a Ctrl-C meant for the starting command does not reach us. Already leading a session
    // is the one way to fail, and as good.
    let _ = setsid();
    let (report, exit) = match background(environment) {
        Ok(()) => return Exit::Success,
        Err(DaemonError::Taken { .. }) => (StartReport::Taken, Exit::Success),
        Err(error) => {
            tracing::error!("{error}");
            let exit = error.exit();
            (StartReport::Failed { exit, why: error.to_string() }, exit)
        }
    };
    tell(&report);
    exit
}

fn background(environment: &Environment) -> Result<(), DaemonError> {
    keep_files_private();
    let settings = environment.daemon_settings()?;
    // After the settings, which may hold paths relative to where the command was started.
    env::set_current_dir("/").map_err(DaemonError::Runtime)?;
    let lock = take_name(&settings)?;
    log::become_stderr(&settings.paths.log)?;
    log::start(&settings.log_filter)?;
    run(lock, settings, || {
        tell(&StartReport::Ready);
        leave_stdout();
    })
}

/// Holds the socket for as long as the daemon serves.
fn run(lock: DaemonLock, settings: Settings, ready: impl FnOnce()) -> Result<(), DaemonError> {
    let (listener, socket_file): (_, SocketFile) = socket::bind(&settings.paths.socket, &lock)?;
    make_room_for_descriptors();
    // Two workers: one burst of work on one of them must not stop the other's clients.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(DaemonError::Runtime)?;
    let served = runtime.block_on(async {
        let signals = EndSignals::catch().map_err(DaemonError::Runtime)?;
        let (end, asked_to_end) = oneshot::channel();
        let (pid, socket) = (std::process::id(), settings.paths.socket.display().to_string());
        let ready = || {
            tracing::info!("daemon {pid} listens on {socket}");
            ready();
        };
        let asked_to_end = async {
            tokio::select! {
                _ = asked_to_end => {}
                () = socket_file.wait_until_removed() => {
                    tracing::warn!("the socket file was removed, so nobody can reach this daemon: it ends");
                }
            }
        };
        tokio::select! {
            served = serve::serve(listener, settings, asked_to_end, ready) => served.map_err(DaemonError::Serve),
            () = signals.relay(end) => Err(DaemonError::EndedAtOnce),
        }
    });
    // Ends what clients left behind; a stuck file or name lookup must not keep an ended daemon alive.
    runtime.shutdown_timeout(LEAVE);
    if served.is_ok() {
        tracing::info!("ended");
    }
    served
}

/// How many descriptors all our clients take, and what else is open beside them.
const DESCRIPTORS: u64 = 4_096;

/// Raises the soft limit of open files where it would leave clients without a descriptor, as the usual 1,024 does: each
/// takes two or three.
fn make_room_for_descriptors() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(DESCRIPTORS, |most| most.min(DESCRIPTORS));
    if current.is_some_and(|current| current < wanted)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
    {
        tracing::warn!("cannot raise the limit of open files: {error}");
    }
}

/// Whatever this process or a browser of its own creates is for this user alone.
fn keep_files_private() {
    umask(Mode::from_raw_mode(0o077));
}

fn take_name(settings: &Settings) -> Result<DaemonLock, DaemonError> {
    let path = &settings.paths.pid_file;
    DaemonLock::acquire(path)?
        .ok_or_else(|| DaemonError::Taken { name: settings.paths.name.clone(), pid: lock::holder(path) })
}

/// Writes the report; the command that started us may be gone already, and that changes nothing.
fn tell(report: &StartReport) {
    let mut stdout = io::stdout();
    let _ = writeln!(stdout, "{report}").and_then(|()| stdout.flush());
}

/// Lets go of the pipe, so that the command that started us can end without us.
fn leave_stdout() {
    if let Ok(null) = File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(null);
    }
}

/// How long work that cannot be interrupted may hold up the end of the process.
const LEAVE: Duration = Duration::from_secs(1);

/// Why the daemon does not run, or no longer.
#[derive(Debug)]
pub(crate) enum DaemonError {
    /// The settings cannot be used.
    Config(ConfigError),
    /// `OSTLER_LOG` cannot be used.
    Log(log::BadFilter),
    /// One of its files cannot be used.
    Path(PathRefused),
    /// A living daemon has the name.
    Taken {
        /// The name.
        name: String,
        /// The daemon, when its number is known.
        pid: Option<u32>,
    },
    /// The system gave no runtime.
    Runtime(io::Error),
    /// Serving failed.
    Serve(ServeError),
    /// A second signal came before the orderly end was over.
    EndedAtOnce,
}

impl DaemonError {
    /// Returns what a command that fails with this exits with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Config(_) | Self::Log(_) => Exit::WrongCall,
            Self::Path(_) | Self::Taken { .. } | Self::Runtime(_) | Self::Serve(_) | Self::EndedAtOnce => {
                Exit::WorkFailed
            }
        }
    }
}

impl fmt::Display for DaemonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
            Self::Path(error) => error.fmt(f),
            Self::Taken { name, pid } => {
                write!(f, "a daemon named {name} runs already")?;
                if let Some(pid) = pid {
                    write!(f, " (pid {pid})")?;
                }
                f.write_str("; use it, stop it with `ostler stop`, or choose another BU_NAME")
            }
            Self::Runtime(error) => write!(f, "the system refused what a daemon needs: {error}"),
            Self::Serve(error) => error.fmt(f),
            Self::EndedAtOnce => f.write_str("ended at once by a second signal"),
        }
    }
}

impl std::error::Error for DaemonError {}

impl From<ConfigError> for DaemonError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<log::BadFilter> for DaemonError {
    fn from(error: log::BadFilter) -> Self {
        Self::Log(error)
    }
}

impl From<PathRefused> for DaemonError {
    fn from(error: PathRefused) -> Self {
        Self::Path(error)
    }
}
