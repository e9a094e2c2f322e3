//! A command's environment names another browser than the one that the running daemon was started for.

mod sandbox;

use sandbox::{Ran, Sandbox};

#[test]
fn the_command_is_refused_and_the_url_is_not_spilled() {
    let sandbox = Sandbox::new();
    let pid = sandbox.start();
    for verb in [&["js", "1"] as &[&str], &["cdp", "Browser.getVersion"], &["interrupt"], &["dialog", "list"]] {
        let ran = Ran::of(sandbox.ostler(verb).env("BU_CDP_WS", "wss://other.example/?token=S3CRET"));
        ran.assert_failed(2, &["BU_CDP_WS", "wss://other.example", "ostler connect", "BU_NAME"]);
        assert!(!ran.stderr.contains("S3CRET"), "{ran:?}");
    }
    assert_eq!(sandbox.start(), pid);
}

#[test]
fn what_is_no_url_is_told_as_that_and_not_as_another_browser() {
    let sandbox = Sandbox::new();
    sandbox.start();
    Ran::of(sandbox.ostler(&["js", "1"]).env("BU_CDP_WS", "junk"))
        .assert_failed(2, &["BU_CDP_WS does not start with ws://"]);
}

#[test]
fn an_address_that_the_daemon_was_started_with_is_told_to_whoever_does_not_name_it() {
    let sandbox = Sandbox::new();
    sandbox.start();
    let ran = Ran::of(sandbox.ostler(&["js", "1"]).env_remove("BU_CDP_WS"));
    ran.assert_failed(1, &["the daemon was started with that address, from BU_CDP_WS", "`ostler stop`"]);
}

#[test]
fn a_command_that_names_no_browser_takes_the_daemons() {
    let sandbox = Sandbox::new();
    sandbox.start();
    Ran::of(sandbox.call().env_remove("BU_CDP_WS")).assert_daemon_answered();
}

#[test]
fn status_and_stop_work_whatever_the_environment_names() {
    let sandbox = Sandbox::new();
    sandbox.start();
    let stop = Ran::of(sandbox.ostler(&["stop"]).env("BU_CDP_WS", "ws://other.example"));
    stop.assert_done();
}
