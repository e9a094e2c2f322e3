//! Looks at a profile folder from outside: whether a browser uses it now, and whether it lets itself be debugged.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::Deserialize;

use super::Machine;
use super::process;
use crate::plain_file;

/// How long a browser may take to come to listen.
const STARTING: Duration = Duration::from_secs(15);

/// Chromium's state of a whole profile folder is some tens of kilobytes.
const MAX_STATE: u64 = 8 << 20;

/// Returns the process that uses the profile, if one does.
///
/// Chromium keeps a link `SingletonLock` in it that names its host and its process. It stays behind after a crash, so
/// the process must live; and a home folder may be shared, so the host must be ours.
pub(super) fn user_of(folder: &Path, machine: &Machine) -> Option<u32> {
    let lock = fs::read_link(folder.join("SingletonLock")).ok()?;
    let (host, pid) = lock.to_str()?.rsplit_once('-')?;
    if machine.host.as_deref().is_some_and(|ours| ours != host) {
        return None;
    }
    let pid: u32 = pid.parse().ok()?;
    is_alive(pid).then_some(pid)
}

/// Returns when the browser that uses the profile was started: it makes the link then.
pub(super) fn started(folder: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(folder.join("SingletonLock")).and_then(|link| link.modified()).ok()
}

/// Says whether the browser that uses the profile has been started just now, and may not have come to listen yet.
pub(super) fn is_starting(folder: &Path) -> bool {
    started(folder).and_then(|at| at.elapsed().ok()).is_some_and(|age| age < STARTING)
}

/// Returns the port that the browser which uses the profile was told to listen on. A browser that was told leaves no note of
/// it in its profile.
pub(super) fn told_port(folder: &Path, machine: &Machine) -> Option<u16> {
    let arguments = process::arguments(user_of(folder, machine)?);
    let told = arguments.iter().filter_map(|argument| argument.strip_prefix("--remote-debugging-port=")).next_back()?;
    told.parse().ok().filter(|port| *port != 0)
}

fn is_alive(pid: u32) -> bool {
    let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    // Another user's process is one that lives as well; one that was killed and not taken note of yet is none.
    matches!(test_kill_process(process), Ok(()) | Err(Errno::PERM)) && !process::is_dead(pid)
}

/// Returns whether the person allowed remote debugging in the browser's settings; none where that was never touched.
pub(super) fn is_debugging_allowed(folder: &Path) -> Option<bool> {
    #[derive(Deserialize)]
    struct State {
        devtools: Option<DevTools>,
    }
    #[derive(Deserialize)]
    struct DevTools {
        remote_debugging: Option<RemoteDebugging>,
    }
    #[derive(Deserialize)]
    struct RemoteDebugging {
        #[serde(rename = "user-enabled")]
        allowed: Option<bool>,
    }
    let text = plain_file::read(&folder.join("Local State"), MAX_STATE).ok()?;
    let state: State = serde_json::from_slice(&text).ok()?;
    state.devtools?.remote_debugging?.allowed
}

/// Returns why a profile folder that is there cannot be looked into.
pub(super) fn unreadable(folder: &Path) -> Option<io::Error> {
    match fs::read_dir(folder) {
        Ok(_) => None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::super::devtools_port::tests::machine;
    use super::*;

    #[test]
    fn a_lock_counts_while_its_process_lives_on_this_host() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut machine = machine(folder.path());
        machine.host = Some("here-too".to_owned());
        let lock = folder.path().join("SingletonLock");
        assert_eq!(user_of(folder.path(), &machine), None);
        let mut ended = Command::new("true").spawn().expect("true runs");
        ended.wait().expect("it ends");
        let own = std::process::id();
        for (link, user) in [
            (format!("here-too-{own}"), Some(own)),
            (format!("elsewhere-{own}"), None),
            (format!("here-too-{}", ended.id()), None),
            ("here-too-0".to_owned(), None),
            ("here-too--1".to_owned(), None),
            ("nonsense".to_owned(), None),
        ] {
            let _ = fs::remove_file(&lock);
            symlink(&link, &lock).expect("a link");
            assert_eq!(user_of(folder.path(), &machine), user, "{link}");
        }
    }

    #[test]
    fn the_settings_say_whether_debugging_is_allowed() {
        let folder = tempfile::tempdir().expect("a folder");
        for (state, allowed) in [
            (r#"{"devtools":{"remote_debugging":{"user-enabled":true}}}"#, Some(true)),
            (r#"{"devtools":{"remote_debugging":{"user-enabled":false,"allowed":true}}}"#, Some(false)),
            (r#"{"devtools":{"remote_debugging":{}}}"#, None),
            (r#"{"devtools":{}}"#, None),
            (r#"{"browser":{}}"#, None),
            ("no JSON", None),
        ] {
            fs::write(folder.path().join("Local State"), state).expect("a file");
            assert_eq!(is_debugging_allowed(folder.path()), allowed, "{state}");
        }
    }
}
