//! What a daemon puts into a folder that others can write to, and what it refuses to touch there.

mod sandbox;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;

use sandbox::{Ran, Sandbox, wait_until};

/// Starts a daemon from a shell that has done `first`.
fn start_after(first: &str, sandbox: &Sandbox) {
    let ostler = sandbox.call();
    let mut shell = Command::new("sh");
    let script = format!("{first}; exec \"$0\" \"$@\"");
    shell.args(["-c", &script]).arg(ostler.get_program()).args(ostler.get_args()).env_clear();
    shell.envs(ostler.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ran::of(&mut shell).assert_daemon_answered();
}

#[test]
fn files_are_private_whatever_the_umask() {
    let sandbox = Sandbox::new();
    start_after("umask 0", &sandbox);
    for path in [sandbox.socket(), sandbox.pid_file(), sandbox.log()] {
        let mode = fs::symlink_metadata(&path).expect("one of the daemon's files").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

/// The kernel says of each process how many files it may have open.
#[cfg(target_os = "linux")]
#[test]
fn a_low_limit_of_open_files_leaves_room_for_every_client() {
    let sandbox = Sandbox::new();
    start_after("ulimit -S -n 256", &sandbox);
    let limits = fs::read_to_string(format!("/proc/{}/limits", sandbox.pid().expect("a daemon"))).expect("a process");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a limit");
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(numbers[0] == 4_096.min(numbers[1]), "{line}");
}

#[test]
fn a_file_a_folder_or_a_link_in_the_place_of_the_socket_is_left_alone() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("victim"), "precious").expect("a file");
    let place = sandbox.socket();
    let cases: [(&str, &dyn Fn()); 4] = [
        ("a regular file", &|| fs::write(&place, "mine").expect("a file")),
        ("a folder", &|| fs::create_dir(&place).expect("a folder")),
        ("a symbolic link", &|| symlink(sandbox.path("victim"), &place).expect("a link")),
        ("a symbolic link", &|| symlink(sandbox.path("nowhere"), &place).expect("a link")),
    ];
    for (what, put) in cases {
        put();
        let before = fs::symlink_metadata(&place).expect("what we put there").file_type();
        for ran in [Ran::of(&mut sandbox.call()), sandbox.run(&["daemon"]), sandbox.run(&["status"])] {
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.stderr.contains(what) || ran.stdout.contains(what), "{what}: {ran:?}");
        }
        assert_eq!(fs::symlink_metadata(&place).expect("still there").file_type(), before);
        if before.is_dir() { fs::remove_dir(&place) } else { fs::remove_file(&place) }.expect("ours to remove");
    }
    assert_eq!(fs::read_to_string(sandbox.path("victim")).expect("the file"), "precious");
    sandbox.start();
}

#[test]
fn a_link_to_another_daemons_socket_is_not_followed() {
    let sandbox = Sandbox::new();
    sandbox.start();
    symlink(sandbox.socket(), sandbox.path("bu-b.sock")).expect("a link");
    let ran = Ran::of(sandbox.ostler(&["status"]).env("BU_NAME", "b"));
    ran.assert_failed(1, &["bu-b.sock", "a symbolic link", "BU_NAME"]);
}

#[test]
fn another_programs_living_socket_is_not_taken_away() {
    let sandbox = Sandbox::new();
    let listener = UnixListener::bind(sandbox.socket()).expect("a free path");
    sandbox.run(&["daemon"]).assert_failed(1, &["another program listens on", "bu-t.sock"]);
    assert!(sandbox.socket().exists() && !sandbox.pid_file().exists());
    drop(listener);
    // A child that another test is just forking may hold a copy for a moment longer.
    wait_until("the listener is gone", || UnixStream::connect(sandbox.socket()).is_err());
    sandbox.start();
}

#[test]
fn links_in_the_place_of_pid_file_and_log_are_refused_before_anything_is_written() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("victim"), "precious").expect("a file");
    for place in [sandbox.pid_file(), sandbox.log()] {
        symlink(sandbox.path("victim"), &place).expect("a link");
        let ran = sandbox.run(&["cdp", "Browser.getVersion"]);
        ran.assert_failed(1, &[&place.display().to_string(), "a symbolic link"]);
        fs::remove_file(&place).expect("still a link");
        fs::hard_link(sandbox.path("victim"), &place).expect("a hard link");
        let ran = sandbox.run(&["cdp", "Browser.getVersion"]);
        ran.assert_failed(1, &[&place.display().to_string(), "2 names"]);
        fs::remove_file(&place).expect("the second name");
    }
    assert_eq!(fs::read_to_string(sandbox.path("victim")).expect("the file"), "precious");
}

#[test]
fn another_users_files_are_refused() {
    let sandbox = Sandbox::new();
    for place in [sandbox.socket(), sandbox.pid_file(), sandbox.log()] {
        if place == sandbox.socket() {
            drop(UnixListener::bind(&place).expect("a free path"));
        } else {
            fs::write(&place, "").expect("a file");
        }
        fs::set_permissions(&place, Permissions::from_mode(0o666)).expect("a wide mode");
        if chown(&place, Some(12345), None).is_err() {
            // Only root can give files away, as it does in a container; elsewhere the other tests have to do.
            return;
        }
        let ran = sandbox.run(&["cdp", "Browser.getVersion"]);
        ran.assert_failed(1, &[&place.display().to_string(), "another user (uid 12345)"]);
        assert!(place.exists());
        fs::remove_file(&place).expect("root may");
    }
}

#[test]
fn a_log_that_has_grown_too_long_is_set_aside_at_start() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(5 * 1024 * 1024 + 1);
    fs::write(sandbox.log(), &long).expect("a long log");
    sandbox.start();
    assert_eq!(fs::read_to_string(sandbox.path("bu-t.log.old")).expect("the old log").len(), long.len());
    assert_eq!(sandbox.daemons_that_listened(), 1);
    assert!(fs::metadata(sandbox.log()).expect("the new log").len() < 100_000);
}

#[test]
fn a_daemon_whose_socket_file_is_removed_ends_and_makes_room() {
    let sandbox = Sandbox::new();
    let first = sandbox.start();
    fs::remove_file(sandbox.socket()).expect("a socket");
    wait_until("the daemon that nobody can reach ends", || !sandbox.pid_file().exists());
    assert_ne!(sandbox.start(), first);
}
