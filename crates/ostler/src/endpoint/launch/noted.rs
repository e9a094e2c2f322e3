//! What is written down about a launched browser, and what is done where nobody looks after it any more.
//!
//! The guard ends its browser when the daemon is gone. Where both are killed, the note is left: whoever comes next finds it
//! with nobody holding it, and ends the browser if that is provably the one that was noted.
//!
//! The proof is a flag with a random word, which Chromium does not know and passes over. It is noted before the browser is
//! there, so that there is no moment at which one runs that nobody would know again: not even in a profile that is kept,
//! which a person may have open in a browser of their own.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use super::super::note::Note;
use super::super::process::{self, Process};
use super::ending;
use super::guard::remove_folder;
use super::meeting_place;
use super::profile::PROFILE_PREFIX;

/// A browser of ours.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Noted {
    /// Whose it is. While that one lives it looks after the browser, also without the guard.
    daemon: Process,
    /// The flag that no other browser has.
    mark: String,
    /// The folder that it is started with.
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
    /// Whether that was to go with it.
    is_fresh: bool,
    /// Whether nothing of it runs any more, and a profile that was to go is gone.
    pub(crate) is_ended: bool,
}

impl Noted {
    /// Notes a browser before it is started with the flag `mark`.
    pub(super) fn begin(
        folder: &Path,
        daemon: Process,
        mark: &str,
        profile: &Path,
        is_fresh: bool,
    ) -> io::Result<Note<Self>> {
        let said = Self { daemon, mark: mark.to_owned(), profile: profile.to_owned(), is_fresh };
        Note::begin(folder, "browser", said)
    }

    /// Ends what is left of it.
    fn end(&self) -> LeftBrowser {
        let first = || self.running().first().map(|pid| pid.as_raw_nonzero().get());
        let found = first();
        let nothing_runs = ending::end(|| self.running());
        // Only a folder that we named ourselves: a note is no proof that everything in it is to go.
        let is_named_by_us =
            self.profile.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PROFILE_PREFIX));
        let is_fresh = self.is_fresh && is_named_by_us;
        if nothing_runs {
            meeting_place::remove(&self.profile);
        }
        if is_fresh {
            remove_folder(&self.profile);
        }
        let folder_stays = is_fresh && self.profile.exists();
        // What is told is what is still to be done, and else what was done.
        let pid = if nothing_runs && folder_stays { None } else { first().or(found) };
        LeftBrowser { pid, profile: self.profile.clone(), is_fresh, is_ended: nothing_runs && !folder_stays }
    }

    /// Returns its processes, the browser itself first.
    fn running(&self) -> Vec<Pid> {
        let mut found = process::with_argument(&[self.mark.as_ref()]);
        if self.is_fresh {
            // The profile is nobody else's either, and some of the browser's own processes have no more than that.
            let mut argument = OsString::from("--user-data-dir=");
            argument.push(&self.profile);
            found.extend(process::with_argument(&[&argument]));
        }
        found
    }
}

/// Returns a flag that no browser has.
pub(super) fn fresh_mark() -> String {
    format!("--ostler-launch={:016x}", RandomState::new().build_hasher().finish())
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

impl fmt::Display for LeftBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let profile = self.profile.display();
        match (self.pid, self.is_ended, self.is_fresh) {
            (Some(pid), true, true) => write!(
                f,
                "ended the launched browser (pid {pid}) that a killed daemon left behind, and removed its profile \
                 {profile}"
            ),
            (Some(pid), true, false) => write!(
                f,
                "ended the launched browser (pid {pid}) that a killed daemon left behind; its profile {profile} stays \
                 as it is"
            ),
            (Some(pid), false, _) => write!(
                f,
                "the launched browser (pid {pid}) that a killed daemon left behind with {profile} does not end, or not \
                 all of it; end it with `kill -9 {pid}`, and try again"
            ),
            (None, true, true) => {
                write!(f, "removed {profile}, the profile of a launched browser whose daemon was killed")
            }
            (None, true, false) => write!(
                f,
                "the launched browser of a killed daemon had ended already; its profile {profile} stays as it is"
            ),
            (None, false, _) => write!(
                f,
                "{profile}, the profile of a launched browser whose daemon was killed, cannot be removed; remove it with \
                 `rm -r {profile}`"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// Plays a browser that was started with these flags. It waits for its input to end, and has no child that could
    /// outlive it.
    fn browser(flags: &[&str]) -> Child {
        let mut shell = Command::new("sh");
        shell.args(["-c", "read _", "browser"]).args(flags).stdin(Stdio::piped());
        let child = shell.spawn().expect("a shell");
        let pid = Pid::from_child(&child);
        // Until it runs the shell the child has our own arguments.
        while !process::with_argument(&[flags[0].as_ref()]).contains(&pid) {
            std::thread::yield_now();
        }
        child
    }

    /// The note of a daemon that is gone.
    fn noted(profile: &Path, is_fresh: bool) -> Noted {
        let mut daemon = Command::new("true").spawn().expect("it runs");
        let process = Process::of(Pid::from_child(&daemon));
        daemon.wait().expect("ours");
        Noted { daemon: process, mark: fresh_mark(), profile: profile.to_owned(), is_fresh }
    }

    #[test]
    fn a_browser_of_a_kept_profile_is_ended_though_nobody_noted_its_process() {
        let home = tempfile::tempdir().expect("a folder");
        let profile = home.path().join("work");
        fs::create_dir(&profile).expect("a folder");
        let noted = noted(&profile, false);
        let user_data_dir = format!("--user-data-dir={}", profile.display());
        let mut ours = browser(&[&noted.mark, &user_data_dir]);
        let mut persons = browser(&[&user_data_dir]);
        // Waiting would end its input, and so itself.
        let input = ours.stdin.take();
        // Whoever ends it is not its parent, and sees it go; here the parent has to take note.
        let left = std::thread::scope(|scope| {
            scope.spawn(|| ours.wait().expect("ours"));
            noted.end()
        });
        drop(input);
        assert!(left.is_ended && left.to_string().contains("stays as it is"), "{left}");
        assert!(profile.exists() && persons.try_wait().expect("ours").is_none());
        persons.kill().and_then(|()| persons.wait()).expect("ours");
    }

    #[test]
    fn what_became_of_a_browser_is_said_as_it_is() {
        let home = tempfile::tempdir().expect("a folder");
        let kept = home.path().join("work");
        let fresh = home.path().join(format!("{PROFILE_PREFIX}x"));
        let not_ours = home.path().join("other");
        for folder in [&kept, &fresh, &not_ours] {
            fs::create_dir(folder).expect("a folder");
        }
        let left = noted(&kept, false).end();
        assert!(left.is_ended && kept.exists(), "{left}");
        let said = "the launched browser of a killed daemon had ended already; its profile";
        assert_eq!(left.to_string(), format!("{said} {} stays as it is", kept.display()));
        let left = noted(&fresh, true).end();
        assert!(left.is_ended && !fresh.exists() && left.to_string().starts_with("removed "), "{left}");
        let left = noted(&not_ours, true).end();
        assert!(left.is_ended && not_ours.exists() && left.to_string().contains("stays as it is"), "{left}");
        let left = LeftBrowser { pid: None, profile: fresh, is_fresh: true, is_ended: false };
        assert!(left.to_string().contains("cannot be removed"), "{left}");
        let left = LeftBrowser { pid: Some(7), profile: kept, is_fresh: false, is_ended: false };
        assert!(left.to_string().contains("does not end"), "{left}");
    }
}
