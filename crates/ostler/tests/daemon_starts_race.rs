//! Many commands need a daemon at the same moment, and none runs.

mod sandbox;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sandbox::{Ran, Sandbox};

/// How long an end that must not come is waited for. Too short a time lets a fault pass, and fails nothing else.
const NO_END: Duration = Duration::from_millis(500);

#[test]
fn twenty_commands_at_once_get_one_daemon_and_all_are_answered() {
    let sandbox = Sandbox::new();
    let commands: Vec<_> = (0..20)
        .map(|_| {
            let mut command = sandbox.call();
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ostler runs")
        })
        .collect();
    for command in commands {
        Ran::from(command.wait_with_output().expect("its output")).assert_daemon_answered();
    }
    assert_eq!(sandbox.daemons_that_listened(), 1);
    let pid = sandbox.start();
    assert_eq!((sandbox.start(), sandbox.daemons_that_listened()), (pid, 1));
}

#[test]
fn twenty_commands_that_find_a_dead_daemons_files_get_one_daemon() {
    let sandbox = Sandbox::new();
    sandbox.start();
    sandbox.kill();
    assert!(sandbox.socket().exists(), "kill -9 leaves the socket behind");
    let commands: Vec<_> = (0..20)
        .map(|_| {
            let mut command = sandbox.call();
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ostler runs")
        })
        .collect();
    for command in commands {
        Ran::from(command.wait_with_output().expect("its output")).assert_daemon_answered();
    }
    assert_eq!(sandbox.daemons_that_listened(), 2, "one before the kill, one after");
}

#[test]
fn who_finds_the_socket_file_finds_the_daemon_listening() {
    for _ in 0..10 {
        let sandbox = Sandbox::new();
        let mut daemon = sandbox.ostler(&["daemon"]).stderr(Stdio::null()).spawn().expect("ostler runs");
        let found = loop {
            match UnixStream::connect(sandbox.socket()) {
                Err(error) if error.kind() == ErrorKind::NotFound => std::hint::spin_loop(),
                found => break found,
            }
        };
        found.expect("a connection");
        sandbox.run(&["stop"]).assert_done();
        daemon.wait().expect("its end");
    }
}

#[test]
fn stops_among_starts_end_whatever_daemon_there_is_and_blame_none() {
    let sandbox = Sandbox::new();
    let spawn = |mut command: Command| {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ostler runs")
    };
    for _ in 0..5 {
        let starts: Vec<_> = (0..3).map(|_| spawn(sandbox.call())).collect();
        let stops: Vec<_> = (0..4).map(|_| spawn(sandbox.ostler(&["stop"]))).collect();
        for stop in stops {
            let ran = Ran::from(stop.wait_with_output().expect("its output"));
            // Whoever asks a daemon that another stop has ended in this very moment may hear that it went away.
            assert!(!ran.stderr.contains("kill -9"), "{ran:?}");
        }
        for start in starts {
            start.wait_with_output().expect("its output");
        }
    }
    sandbox.run(&["stop"]).assert_done();
}

#[test]
fn a_stop_waits_for_a_daemon_that_has_its_name_and_does_not_listen_yet() {
    // A start that is held at that point.
    let sandbox = Sandbox::new();
    let mut starting = Command::new("sleep").arg("60").spawn().expect("sleep runs");
    fs::write(sandbox.pid_file(), starting.id().to_string()).expect("a pid file");
    let name = File::open(sandbox.pid_file()).expect("the pid file");
    name.lock().expect("nobody else has it");

    let mut stop = sandbox.ostler(&["stop"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("ostler runs");
    let began = Instant::now();
    while began.elapsed() < NO_END {
        let ended = stop.try_wait().expect("our child");
        assert!(ended.is_none(), "it says that there is no daemon while one is on its way: {ended:?}");
        thread::sleep(Duration::from_millis(5));
    }
    drop(name);
    assert!(stop.wait().expect("its end").success());
    starting.kill().and_then(|()| starting.wait()).expect("the end of sleep");
}

#[test]
fn daemons_of_different_names_live_side_by_side() {
    let sandbox = Sandbox::new();
    let first = sandbox.start();
    Ran::of(sandbox.call().env("BU_NAME", "other")).assert_daemon_answered();
    assert!(sandbox.path("bu-other.sock").exists());
    assert_eq!(sandbox.start(), first);
    Ran::of(sandbox.ostler(&["stop"]).env("BU_NAME", "other")).assert_done();
    assert_eq!(sandbox.start(), first);
}

#[test]
fn a_second_daemon_in_the_foreground_is_refused() {
    let sandbox = Sandbox::new();
    let pid = sandbox.start();
    sandbox.run(&["daemon"]).assert_failed(1, &["runs already", &pid.to_string(), "ostler stop"]);
}
