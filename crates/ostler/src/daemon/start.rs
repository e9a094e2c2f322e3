//! Starts a daemon in the background, as the command line does when none answers.

use std::env;
use std::fmt;
use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::report::StartReport;
use crate::exit_code::Exit;

/// How a start that did not fail went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    /// Our daemon answers.
    Ours,
    /// Somebody else's start was faster, or an older daemon has not ended yet.
    Theirs,
}

/// Runs this program again as a daemon and waits until it says how that went, at most until `deadline`.
///
/// The daemon leaves our session and closes its end of the pipe by itself; a daemon that misses the deadline is
/// left running, since on a slow machine the next command will find it.
pub(crate) fn start_in_background(deadline: Instant) -> Result<Started, StartError> {
    // A socket pair in the place of a pipe: it is one, and it can be read with a deadline.
    let (ours, theirs) = UnixStream::pair().map_err(StartError::Spawn)?;
    let child = spawn(theirs).map_err(StartError::Spawn)?;
    match read_report(ours, deadline).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => StartError::Deadline,
        _ => StartError::Spawn(error),
    })? {
        Some(StartReport::Ready) => Ok(Started::Ours),
        Some(StartReport::Taken) => Ok(Started::Theirs),
        Some(StartReport::Failed { exit, why }) => Err(StartError::Failed { exit, why }),
        None => Err(StartError::Died { how: last_words(child) }),
    }
}

fn spawn(stdout: UnixStream) -> io::Result<Child> {
    Command::new(env::current_exe()?)
        .args(["daemon", "--background"])
        .stdin(Stdio::null())
        .stdout(OwnedFd::from(stdout))
        // Its own log takes this place as soon as it is open; until then, a panic should be seen.
        .stderr(Stdio::inherit())
        .spawn()
}

/// Returns the daemon's line, or `None` when it closed the pipe without one that makes sense.
fn read_report(pipe: UnixStream, deadline: Instant) -> io::Result<Option<StartReport>> {
    // One time limit is enough: the line is short and comes in one write.
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    pipe.set_read_timeout(Some(left))?;
    let mut line = String::new();
    BufReader::new(pipe).read_line(&mut line)?;
    Ok(StartReport::parse(&line))
}

/// Says how a daemon that closed its pipe ended.
fn last_words(mut child: Child) -> String {
    match child.wait() {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Why there is no daemon.
#[derive(Debug)]
pub(crate) enum StartError {
    /// It could not be run at all.
    Spawn(io::Error),
    /// It said why it cannot run.
    Failed {
        /// What the command should exit with.
        exit: Exit,
        /// The daemon's own sentence.
        why: String,
    },
    /// It ended without a word.
    Died {
        /// How it ended.
        how: String,
    },
    /// It did not say anything in time.
    Deadline,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn(error) => {
                write!(
                    f,
                    "the daemon could not be started: {error}; run `ostler daemon` to see it start in the foreground"
                )
            }
            Self::Failed { why, .. } => f.write_str(why),
            Self::Died { how } => write!(f, "the daemon ended as it started ({how})"),
            Self::Deadline => f.write_str("the daemon did not get ready in time"),
        }
    }
}

impl std::error::Error for StartError {}
