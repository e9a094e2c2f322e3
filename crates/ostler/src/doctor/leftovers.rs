//! What killed daemons left on this machine: sockets that nobody listens on, browsers that nobody drives, profiles of
//! browsers that are gone.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Finding, processes};
use crate::config::Environment;
use crate::daemon::lock::DaemonLock;
use crate::daemon::ownership::{self, Expected};
use crate::endpoint::{self, LeftBrowser, PROFILE_PREFIX};
use crate::paths::Paths;

/// A younger profile may be that of a browser which is being started.
const IN_THE_MAKING: Duration = Duration::from_secs(60);

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let sockets = environment.paths().map(|ours| dead_sockets(&ours)).unwrap_or_default();
    let mut findings: Vec<_> = sockets.into_iter().map(dead_socket).collect();
    findings.extend(environment.launched_folder().ok().and_then(left_browsers));
    // Where nobody tells which processes there are, a folder may be in use.
    if let Some(command_lines) = processes::command_lines() {
        let profiles = processes::unused(old_profiles(&environment.machine().temp), &command_lines);
        findings.extend(profiles.into_iter().map(left_profile));
    }
    if findings.is_empty() {
        findings.push(Finding::ok("none"));
    }
    findings
}

/// Returns the daemons in the runtime folder of which only the socket is left.
fn dead_sockets(ours: &Paths) -> Vec<Paths> {
    let folder = ours.socket.parent().unwrap_or(Path::new("/"));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut dead: Vec<_> = entries
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            Paths::new(file.strip_prefix("bu-")?.strip_suffix(".sock")?, folder).ok()
        })
        .filter(|paths| is_dead(&paths.socket))
        .collect();
    dead.sort_by(|one, other| one.name.cmp(&other.name));
    dead
}

/// Says whether a socket of ours refuses connections: its daemon is gone, however it went.
fn is_dead(socket: &Path) -> bool {
    matches!(ownership::look(socket, Expected::Socket), Ok(Some(_)))
        && matches!(UnixStream::connect(socket), Err(error) if error.kind() == io::ErrorKind::ConnectionRefused)
}

fn dead_socket(paths: Paths) -> Finding {
    let note = Finding::note(format!("nobody listens on {}: its daemon was killed", paths.socket.display()));
    note.fix("`ostler doctor --fix` removes it; so does the next daemon of that name").repair(move || {
        // With the name in our hands no daemon can start in between, so what refuses now stays dead.
        let lock = DaemonLock::acquire(&paths.pid_file).map_err(|refused| refused.to_string())?;
        let _lock = lock.ok_or("a daemon of that name has started meanwhile")?;
        if is_dead(&paths.socket) {
            fs::remove_file(&paths.socket).map_err(|error| error.to_string())?;
        }
        Ok(format!("removed {}", paths.socket.display()))
    })
}

/// Says that browsers run on whose daemon and guard were both killed.
fn left_browsers(folder: PathBuf) -> Option<Finding> {
    let count = endpoint::count_left(&folder).ok().filter(|count| *count > 0)?;
    let (behind, them) = match count {
        1 => ("a launched browser, or its profile, behind".to_owned(), "it"),
        _ => (format!("{count} launched browsers, or their profiles, behind"), "them"),
    };
    let problem = Finding::problem(format!("a killed daemon left {behind}"));
    let fix = format!("`ostler doctor --fix` or `ostler stop --all` ends {them}; so does the next daemon");
    Some(problem.fix(fix).repair(move || {
        let (ended, left): (Vec<_>, Vec<_>) = endpoint::end_left(&folder).into_iter().partition(|one| one.is_ended);
        let words = |all: Vec<LeftBrowser>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        if left.is_empty() { Ok(words(ended)) } else { Err(words(left)) }
    }))
}

/// Returns the profile folders of ours that have not been made just now.
fn old_profiles(temp: &Path) -> Vec<PathBuf> {
    let is_old = |path: &Path| {
        let Ok(found) = fs::symlink_metadata(path) else { return false };
        let age = found.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        found.is_dir() && found.uid() == ownership::our_uid() && age.is_some_and(|age| age > IN_THE_MAKING)
    };
    let entries = fs::read_dir(temp).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PROFILE_PREFIX));
    let mut profiles: Vec<_> = named.map(|entry| entry.path()).filter(|path| is_old(path)).collect();
    profiles.sort();
    profiles
}

fn left_profile(folder: PathBuf) -> Finding {
    let shown = folder.display().to_string();
    let note = Finding::note(format!("{shown} is the profile of a launched browser that is gone"));
    note.fix(format!("`ostler doctor --fix`, or `rm -r {shown}`")).repair(move || {
        fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok(format!("removed {shown}"))
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_socket_without_a_listener_is_removed_and_a_living_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = |name| Paths::new(name, folder.path()).expect("a good name");
        drop(UnixListener::bind(&paths("dead").socket).expect("a free path"));
        let _living = UnixListener::bind(&paths("living").socket).expect("a free path");
        fs::write(folder.path().join("bu-file.sock"), "mine").expect("a file");
        let dead = dead_sockets(&paths("t"));
        assert_eq!(dead.iter().map(|paths| &paths.name[..]).collect::<Vec<_>>(), ["dead"]);
        for paths in dead {
            assert_eq!(dead_socket(paths).repaired().level, Level::Fixed);
        }
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).expect("ours").flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["bu-file.sock", "bu-living.sock"]);
    }

    #[test]
    fn a_name_that_a_daemon_took_meanwhile_keeps_its_socket() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = Paths::new("t", folder.path()).expect("a good name");
        drop(UnixListener::bind(&paths.socket).expect("a free path"));
        let finding = dead_socket(dead_sockets(&paths).pop().expect("a dead socket"));
        let _daemon = DaemonLock::acquire(&paths.pid_file).expect("our file").expect("a free name");
        let finding = finding.repaired();
        assert!(finding.level == Level::Note && finding.what.contains("meanwhile"), "{finding:?}");
        assert!(paths.socket.exists());
    }

    #[test]
    fn a_profile_is_left_over_when_it_is_old_and_nobody_has_it_on_the_command_line() {
        let temp = tempfile::tempdir().expect("a folder");
        let make = |name: &str, age: u64| {
            let folder = temp.path().join(name);
            fs::create_dir(&folder).expect("a folder");
            let at = SystemTime::now() - Duration::from_secs(age);
            File::open(&folder).and_then(|folder| folder.set_modified(at)).expect("a time");
            folder
        };
        let (gone, used) = (make("ostler-profile-gone", 3600), make("ostler-profile-used", 3600));
        make("ostler-profile-new", 0);
        make("somebody-elses", 3600);
        std::os::unix::fs::symlink("/etc", temp.path().join("ostler-profile-link")).expect("a link");
        let line = format!("/usr/bin/chromium\0--user-data-dir={}\0about:blank\0", used.display());
        let mut unused = processes::unused(old_profiles(temp.path()), &[line.into_bytes()]);
        assert_eq!(unused, std::slice::from_ref(&gone));
        assert_eq!(left_profile(unused.remove(0)).repaired().level, Level::Fixed);
        assert!(!gone.exists() && used.exists());
    }

    #[test]
    fn our_own_command_line_is_among_those_of_the_system() {
        let Some(lines) = processes::command_lines() else { return };
        let ours = std::env::args_os().next().expect("a program has a name");
        assert!(processes::unused(vec![PathBuf::from(ours)], &lines).is_empty());
    }
}
