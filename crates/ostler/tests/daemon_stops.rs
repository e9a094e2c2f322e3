//! A daemon ends in good order: by `stop`, by a signal, or because it never ran.

mod sandbox;

use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use sandbox::{FakeDaemon, Ran, Sandbox, kill, wait_until};

#[test]
fn stop_returns_when_everything_is_gone() {
    let sandbox = Sandbox::new();
    for _ in 0..5 {
        sandbox.start();
        let ran = sandbox.run(&["stop"]);
        ran.assert_done();
        assert_eq!(ran.stdout, "stopped (name t)\n");
        assert!(!sandbox.socket().exists() && !sandbox.pid_file().exists());
    }
    assert_eq!(sandbox.daemons_that_listened(), 5);
}

#[test]
fn a_daemon_whose_process_is_stopped_is_told_as_that_soon_and_ends_in_good_order() {
    let sandbox = Sandbox::new();
    let pid = sandbox.start();
    kill(pid, Signal::STOP);
    let began = Instant::now();
    for args in [&["status"] as &[&str], &["js", "1"]] {
        let ran = sandbox.run(args);
        ran.assert_failed(1, &["is stopped", &format!("`kill -CONT {pid}`"), "`ostler stop`"]);
        assert!(!ran.stderr.contains("ostler status"), "that is where one comes from: {ran:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let ran = sandbox.run(&["stop"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "stopped (name t)\n"), "{ran:?}");
    assert!(!sandbox.socket().exists() && !sandbox.pid_file().exists());
}

#[test]
fn stop_and_status_without_a_daemon_succeed_and_start_none() {
    let sandbox = Sandbox::new();
    for (args, printed) in [
        (&["stop"] as &[&str], "no daemon runs (name t)\n"),
        (&["stop", "--json"], "{\"ok\":true,\"stopped\":false}\n"),
        (&["status"], "no daemon runs (name t); the next command starts one\n"),
        (&["status", "--json"], "{\"daemon\":null,\"name\":\"t\",\"tasks\":[]}\n"),
        (&["disconnect"], "no daemon runs, so there is nothing to disconnect\n"),
    ] {
        let ran = sandbox.run(args);
        ran.assert_done();
        assert_eq!(ran.stdout, printed);
    }
    assert!(!sandbox.socket().exists() && !sandbox.pid_file().exists());
}

#[test]
fn each_ending_signal_is_an_orderly_end() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let sandbox = Sandbox::new();
        let mut daemon = sandbox.ostler(&["daemon"]);
        let daemon = daemon.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ostler");
        wait_until("the daemon listens", || UnixStream::connect(sandbox.socket()).is_ok());
        Ran::of(&mut sandbox.call()).assert_daemon_answered();
        assert_eq!(sandbox.pid(), Some(daemon.id()));
        assert!(!sandbox.log().exists(), "in the foreground the log is on standard error");

        kill(daemon.id(), signal);
        let ran = Ran::from(daemon.wait_with_output().expect("its output"));
        assert_eq!(ran.code, Some(0), "{signal:?}: {ran:?}");
        assert!(ran.stderr.contains("listens on") && ran.stdout.is_empty(), "{ran:?}");
        assert!(!sandbox.socket().exists() && !sandbox.pid_file().exists());
    }
}

#[test]
fn a_daemon_in_the_background_ends_on_a_signal_too() {
    let sandbox = Sandbox::new();
    let pid = sandbox.start();
    kill(pid, Signal::TERM);
    wait_until("its files are gone", || !sandbox.socket().exists() && !sandbox.pid_file().exists());
    assert_ne!(sandbox.start(), pid);
}

#[test]
fn a_refused_stop_is_told() {
    let sandbox = Sandbox::new();
    let _daemon = FakeDaemon::start(&sandbox, |_| r#"{"error":"not now","error_code":"bad_request"}"#.to_owned());
    sandbox.run(&["stop"]).assert_failed(2, &["not now"]);
}

#[test]
fn a_daemon_that_is_full_is_stopped_all_the_same() {
    /// How many clients it serves at once.
    const MOST: usize = 512;
    let sandbox = Sandbox::new();
    sandbox.start();
    let idle: Vec<_> =
        (0..MOST).map(|_| UnixStream::connect(sandbox.socket()).expect("it takes connections")).collect();
    let refused = Ran::of(&mut sandbox.call());
    assert!(refused.stdout.contains("serves 512 connections already"), "{refused:?}");
    let ran = sandbox.run(&["stop"]);
    ran.assert_done();
    assert_eq!(ran.stdout, "stopped (name t)\n");
    assert!(!sandbox.socket().exists() && !sandbox.pid_file().exists());
    drop(idle);
    let log = std::fs::read_to_string(sandbox.log()).expect("its log");
    assert_eq!(log.matches("turns clients away").count(), 1, "{log}");
}
