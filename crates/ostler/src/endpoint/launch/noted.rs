//! What is written down about a launched browser, and what is done where nobody looks after it any more.
//!
//! The guard ends its browser when the daemon is gone. Where both are killed, the note is left: whoever comes next finds it
//! with nobody holding it, and ends the browser if that is provably the one that was noted.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};

use super::super::note::Note;
use super::super::process::{self, Process};
use super::guard::{CLEAR_LIMIT, GRACE, remove_folder};
use super::profile::PROFILE_PREFIX;

/// How often to look whether processes have ended.
const STEP: Duration = Duration::from_millis(20);

/// A browser of ours.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Noted {
    /// Whose it is. While that one lives it looks after the browser, also without the guard.
    daemon: Process,
    /// The browser's process; none while it is being started.
    browser: Option<Process>,
    /// The folder that it was started with.
    profile: PathBuf,
    /// Whether that folder goes with the browser.
    is_fresh: bool,
}

/// A browser that was left behind, and what became of it.
#[derive(Debug)]
pub(crate) struct LeftBrowser {
    /// Its process, if it still had one.
    pub(crate) pid: Option<i32>,
    /// Its profile.
    pub(crate) profile: PathBuf,
    /// Whether nothing of it runs any more.
    pub(crate) is_ended: bool,
}

impl Noted {
    /// Notes a browser before it is started.
    pub(super) fn begin(folder: &Path, daemon: Process, profile: &Path, is_fresh: bool) -> io::Result<Note<Self>> {
        Note::begin(folder, "browser", Self { daemon, browser: None, profile: profile.to_owned(), is_fresh })
    }

    /// Adds its process.
    pub(super) fn with_browser(&self, browser: Pid) -> Self {
        Self { browser: Some(Process::of(browser)), ..self.clone() }
    }

    /// Ends what is left of it.
    fn end(&self) -> LeftBrowser {
        let mut argument = OsString::from("--user-data-dir=");
        argument.push(&self.profile);
        let found = || process::with_argument(&argument);
        let named = self.browser.filter(|browser| browser.is_alive()).map(|browser| browser.pid);
        // The profile of a fresh browser is nobody else's. One that is kept may be open in a browser that the person started.
        let ours: Vec<_> = match named {
            _ if self.is_fresh => found(),
            Some(named) => found().into_iter().filter(|pid| pid.as_raw_nonzero().get() == named).collect(),
            None => Vec::new(),
        };
        let pid = ours.iter().map(|pid| pid.as_raw_nonzero().get()).find(|pid| Some(*pid) == named);
        let pid = pid.or_else(|| ours.first().map(|pid| pid.as_raw_nonzero().get()));
        let is_left = || found().iter().any(|pid| ours.contains(pid));
        signal(&ours, Signal::TERM);
        if !passes(GRACE, || !is_left()) {
            signal(&ours, Signal::KILL);
            passes(CLEAR_LIMIT, || !is_left());
        }
        if self.is_fresh {
            // Whoever was started meanwhile by one that is gone now.
            signal(&found(), Signal::KILL);
            passes(CLEAR_LIMIT, || found().is_empty());
            if self.profile.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PROFILE_PREFIX)) {
                remove_folder(&self.profile);
            }
        }
        LeftBrowser { pid, profile: self.profile.clone(), is_ended: !is_left() }
    }
}

/// Returns how many browsers of killed daemons there are, and leaves them alone.
pub(crate) fn count_left(folder: &Path) -> io::Result<usize> {
    Ok(abandoned(folder)?.len())
}

/// Ends the browsers of killed daemons. Blocks for some seconds where one does not end in good order.
pub(crate) fn end_left(folder: &Path) -> Vec<LeftBrowser> {
    let found = abandoned(folder).unwrap_or_else(|error| {
        tracing::warn!("{} cannot be read, so browsers may have been left running: {error}", folder.display());
        Vec::new()
    });
    let end = |note: Note<Noted>| {
        let left = note.said.end();
        if left.is_ended {
            note.remove();
        }
        left
    };
    found.into_iter().map(end).collect()
}

/// Forgets a browser that is gone, from another process than the one that noted it.
pub(super) fn forget(note: &Path) {
    let _ = fs::remove_file(note);
}

/// A daemon that outlived its guard still looks after its browser.
fn abandoned(folder: &Path) -> io::Result<Vec<Note<Noted>>> {
    let mut found = Note::<Noted>::abandoned(folder)?;
    found.retain(|note| !note.said.daemon.is_alive());
    Ok(found)
}

fn signal(processes: &[Pid], signal: Signal) {
    for process in processes {
        // The browser leads a group; of the others each is on its own.
        if kill_process_group(*process, signal).is_err() {
            let _ = kill_process(*process, signal);
        }
    }
}

/// Waits until something is so, for at most so long; returns whether it is.
fn passes(limit: Duration, is_so: impl Fn() -> bool) -> bool {
    let until = Instant::now() + limit;
    while !is_so() {
        if Instant::now() > until {
            return false;
        }
        sleep(STEP);
    }
    true
}

impl fmt::Display for LeftBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let profile = self.profile.display();
        match (self.pid, self.is_ended) {
            (Some(pid), true) => {
                write!(f, "ended the launched browser (pid {pid}) that a killed daemon left behind with {profile}")
            }
            (None, _) => write!(f, "put away {profile}, which a killed daemon left behind"),
            (Some(pid), false) => write!(
                f,
                "the launched browser (pid {pid}) that a killed daemon left behind with {profile} does not end; \
                 end it with `kill -9 {pid}`"
            ),
        }
    }
}
