//! The folder that a launched browser keeps its data in: a fresh one that goes with it, or one that stays.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};

use super::super::error::EndpointError;
use super::guard::{NotStarted, remove_folder};
use super::meeting_place;
use crate::room;

/// How the names of fresh profile folders begin.
pub(crate) const PROFILE_PREFIX: &str = "ostler-profile-";

/// The least that a browser writes before it can be reached is about this much.
const NEEDED: u64 = 4 << 20;

/// Which folder a browser gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// A new one below this folder, removed with the browser.
    Fresh(PathBuf),
    /// This one, which stays: logins and settings are there the next time.
    Kept(PathBuf),
}

impl Profile {
    /// Says so if the disk is full. Chromium would start all the same, write nothing, and never be reached.
    pub(super) fn check_room(&self) -> Result<(), EndpointError> {
        let (Self::Fresh(folder) | Self::Kept(folder)) = self;
        // What is not known is tried.
        if room::left(folder).is_none_or(|left| left >= NEEDED) {
            return Ok(());
        }
        Err(EndpointError::NotStarted {
            happened: format!("no browser was started, since the disk of {} is full", folder.display()),
            next_step: match self {
                Self::Fresh(_) => {
                    "free some space, or set TMPDIR to a folder on another disk and start the daemon anew \
                                   with `ostler stop`"
                }
                Self::Kept(_) => "free some space, or launch without a profile name",
            }
            .to_owned(),
        })
    }

    /// Returns it as two arguments of the guard's command line.
    pub(super) fn to_args(&self) -> [OsString; 2] {
        match self {
            Self::Fresh(parent) => ["fresh".into(), parent.into()],
            Self::Kept(folder) => ["kept".into(), folder.into()],
        }
    }

    /// Reads what [`to_args`] wrote.
    ///
    /// [`to_args`]: Self::to_args
    pub(super) fn from_args(kind: &OsString, folder: OsString) -> Option<Self> {
        match kind.to_str()? {
            "fresh" => Some(Self::Fresh(folder.into())),
            "kept" => Some(Self::Kept(folder.into())),
            _ => None,
        }
    }

    /// Makes the folder ready for a browser, or says why it cannot be had. `announce` hears of it before it is there.
    pub(super) fn prepare(&self, mut announce: impl FnMut(&Path)) -> Result<PathBuf, NotStarted> {
        let failed = |folder: &Path, error: io::Error| NotStarted {
            happened: format!(
                "no browser was started, since its profile cannot be made in {} ({error})",
                folder.display()
            ),
            next_step: match self {
                Self::Fresh(_) => {
                    "make that folder usable, or set TMPDIR to another one and start the daemon anew \
                                   with `ostler stop`"
                }
                Self::Kept(_) => "make that folder usable, or launch without a profile name",
            }
            .to_owned(),
        };
        match self {
            Self::Fresh(parent) => tempfile::Builder::new()
                .prefix(PROFILE_PREFIX)
                .make_in(parent, |folder| {
                    announce(folder);
                    fs::DirBuilder::new().mode(0o700).create(folder)
                })
                .and_then(|made| made.into_temp_path().keep().map_err(|error| error.error))
                .map_err(|error| failed(parent, error)),
            Self::Kept(folder) => {
                fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(folder)
                    .map_err(|error| failed(folder, error))?;
                if let Some(pid) = user(folder) {
                    return Err(NotStarted {
                        happened: format!(
                            "no browser was started, since another one (process {pid}) has the profile {} open",
                            folder.display()
                        ),
                        next_step:
                            "end that one first (`ostler disconnect` if it is this task's own), or take another \
                                    profile name"
                                .to_owned(),
                    });
                }
                announce(folder);
                // It tells where the last browser listened; this one writes its own.
                match fs::remove_file(folder.join("DevToolsActivePort")) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(folder, error)),
                    _ => Ok(folder.clone()),
                }
            }
        }
    }

    /// Removes what is not to stay, once the browser is gone.
    pub(super) fn clean_up(&self, folder: &Path) {
        meeting_place::remove(folder);
        match self {
            Self::Fresh(_) => remove_folder(folder),
            Self::Kept(_) => {}
        }
    }
}

/// Returns the process that has a profile open. Chromium notes it in a link to `HOST-PID`.
pub(super) fn user(folder: &Path) -> Option<i32> {
    let link = fs::read_link(folder.join("SingletonLock")).ok()?;
    let pid = link.to_str()?.rsplit_once('-')?.1.parse().ok()?;
    // A browser that was killed leaves its note behind.
    test_kill_process(Pid::from_raw(pid)?).ok().map(|()| pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_survives_the_guards_command_line() {
        for profile in [Profile::Fresh("/tmp".into()), Profile::Kept("/home/me/with blanks".into())] {
            let [kind, folder] = profile.to_args();
            assert_eq!(Profile::from_args(&kind, folder), Some(profile));
        }
        assert_eq!(Profile::from_args(&"other".into(), "/tmp".into()), None);
    }

    #[test]
    fn a_kept_folder_stays_without_the_note_of_the_last_browser_and_a_fresh_one_goes() {
        let home = tempfile::tempdir().expect("a folder");
        let kept = Profile::Kept(home.path().join("profiles/work"));
        let folder = kept.prepare(|_| {}).expect("it can be made");
        fs::write(folder.join("DevToolsActivePort"), "1\n/devtools/browser/old").expect("a note");
        fs::write(folder.join("Cookies"), "login").expect("a file");
        assert_eq!(kept.prepare(|_| {}).expect("it is there"), folder);
        kept.clean_up(&folder);
        assert!(folder.join("Cookies").exists() && !folder.join("DevToolsActivePort").exists());

        let fresh = Profile::Fresh(home.path().to_owned());
        let folder = fresh.prepare(|_| {}).expect("it can be made");
        fresh.clean_up(&folder);
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_that_a_living_browser_has_open_is_refused() {
        let home = tempfile::tempdir().expect("a folder");
        let kept = Profile::Kept(home.path().to_owned());
        let lock = home.path().join("SingletonLock");
        std::os::unix::fs::symlink(format!("host-{}", std::process::id()), &lock).expect("a link");
        let why = kept.prepare(|_| {}).expect_err("this very process has it open");
        assert!(why.happened.contains(&std::process::id().to_string()), "{why:?}");
        fs::remove_file(&lock).expect("a link");
        std::os::unix::fs::symlink("host-999999999", &lock).expect("a link");
        kept.prepare(|_| {}).expect("that one is dead");
    }
}
