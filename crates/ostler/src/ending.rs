//! Ends a daemon in good order, and waits until it has let go of its name and its process is gone.

use std::fmt;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::client::{Client, ClientError};
use crate::config::ClientSettings;
use crate::daemon::lock;
use crate::endpoint::process::Process;
use crate::paths::Paths;
use crate::times::CALL_DEFAULT;

/// How long an orderly end may take: the daemon's own steps, the stopping of a cloud browser among them, have shorter
/// limits.
const DEADLINE: Duration = Duration::from_secs(45);
/// How long a daemon may hold its name without a socket: while it starts, and while it ends.
const BETWEEN: Duration = Duration::from_secs(10);
/// How long its process may take to be gone once its name is free. Until then it counts as looking after its browsers.
const LAST_MOMENT: Duration = Duration::from_secs(3);
/// How long somebody waits without a word.
const SILENCE: Duration = Duration::from_secs(5);
/// How often to look.
const STEP: Duration = Duration::from_millis(5);

/// Ends one daemon; returns whether there was one.
pub(crate) fn end(settings: &ClientSettings) -> Result<bool, EndingError> {
    let paths = &settings.paths;
    let Some(client) = reach(settings)? else { return Ok(false) };
    let (pid, reply) = match ask(client) {
        Ok(asked) => asked,
        Err(error) => return end_by_signal(paths, error),
    };
    if let Ok(Refusal { error: sentence }) = serde_json::from_slice(&reply) {
        return Err(EndingError::Refused { sentence, reply });
    }
    wait_until_gone(paths, pid)?;
    Ok(true)
}

/// Connects to the daemon if there is one. One that has the name and no socket is about to listen, or about to end.
fn reach(settings: &ClientSettings) -> Result<Option<Client>, EndingError> {
    let paths = &settings.paths;
    let deadline = Instant::now() + BETWEEN;
    loop {
        if let Some(client) = Client::connect(settings).map_err(EndingError::Client)? {
            return Ok(Some(client));
        }
        let Some(pid) = lock::holder(&paths.pid_file) else { return Ok(None) };
        if Instant::now() > deadline {
            return Err(EndingError::StillThere { name: paths.name.clone(), pid });
        }
        thread::sleep(STEP);
    }
}

/// Asks the daemon to end; returns its process and its answer.
fn ask(client: Client) -> Result<(Option<u32>, Vec<u8>), ClientError> {
    let mut client = client.with_any_browser();
    let pid = client.greet()?.pid;
    Ok((pid, client.request(&Shutdown { meta: "shutdown" }, CALL_DEFAULT)?))
}

/// Ends a daemon that takes no request, being full or stuck: a signal asks for the same orderly end.
fn end_by_signal(paths: &Paths, error: ClientError) -> Result<bool, EndingError> {
    let deaf = matches!(error, ClientError::Stuck { .. } | ClientError::Refused { .. });
    let holder = lock::holder(&paths.pid_file).filter(|_| deaf);
    let Some((pid, process)) = holder.and_then(|pid| Some((pid, Pid::from_raw(pid.try_into().ok()?)?))) else {
        return Err(EndingError::Client(error));
    };
    if kill_process(process, Signal::TERM).is_err() {
        return Err(EndingError::Client(error));
    }
    // One whose process is stopped hears that only when it goes on.
    let _ = kill_process(process, Signal::CONT);
    wait_until_gone(paths, Some(pid))?;
    Ok(true)
}

#[derive(Serialize)]
struct Shutdown {
    meta: &'static str,
}

/// A reply that is an error.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// Waits until the daemon has let go of its name, and then for its process.
fn wait_until_gone(paths: &Paths, pid: Option<u32>) -> Result<(), EndingError> {
    let process = pid.and_then(|pid| Pid::from_raw(pid.cast_signed())).map(Process::of);
    let deadline = Instant::now() + DEADLINE;
    let mut silent_until = Some(Instant::now() + SILENCE);
    while is_there(paths, pid) {
        if silent_until.is_some_and(|until| Instant::now() > until) {
            silent_until = None;
            eprintln!("ostler: the daemon {} is letting go of its browsers, and is waited for", paths.name);
        }
        if Instant::now() > deadline {
            return Err(match pid {
                Some(pid) => EndingError::StillThere { name: paths.name.clone(), pid },
                None => EndingError::SocketStays(paths.clone()),
            });
        }
        thread::sleep(STEP);
    }
    let deadline = Instant::now() + LAST_MOMENT;
    while process.is_some_and(Process::is_alive) && Instant::now() < deadline {
        thread::sleep(STEP);
    }
    Ok(())
}

/// Whether that daemon still has its files. It removes the pid file last; one that names another process belongs to
/// the next daemon. A daemon of another kind may have no pid file, so then the socket has to tell.
fn is_there(paths: &Paths, pid: Option<u32>) -> bool {
    match pid {
        Some(pid) if paths.pid_file.exists() => lock::holder(&paths.pid_file) == Some(pid),
        Some(_) => false,
        None => fs::symlink_metadata(&paths.socket).is_ok(),
    }
}

/// Why a daemon was not ended.
#[derive(Debug)]
pub(crate) enum EndingError {
    /// It cannot be asked.
    Client(ClientError),
    /// It answered with an error.
    Refused {
        /// Its sentence.
        sentence: String,
        /// Its whole object, as it came.
        reply: Vec<u8>,
    },
    /// It lives on.
    StillThere {
        /// Its name.
        name: String,
        /// Its process.
        pid: u32,
    },
    /// It does not say which process it is, and its socket stays.
    SocketStays(Paths),
}

impl fmt::Display for EndingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(error) => error.fmt(f),
            Self::Refused { sentence, .. } => f.write_str(sentence),
            Self::StillThere { name, pid } => write!(
                f,
                "the daemon {name} (pid {pid}) does not end; look at its log, or end it at once with `kill -9 {pid}`"
            ),
            Self::SocketStays(paths) => write!(f, "the daemon's socket {} is still there", paths.socket.display()),
        }
    }
}

impl std::error::Error for EndingError {}
