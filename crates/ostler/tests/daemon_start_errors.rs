//! A daemon in the background cannot start: whoever asked for it learns why.

mod sandbox;

use std::fs;

use sandbox::{Ran, Sandbox};

#[test]
fn a_missing_runtime_folder_is_named() {
    let sandbox = Sandbox::new();
    let gone = sandbox.path("gone");
    let ran = Ran::of(sandbox.ostler(&["js", "1"]).env("BH_RUNTIME_DIR", &gone));
    ran.assert_failed(1, &["gone/bu-t.pid", "BH_RUNTIME_DIR"]);
}

#[test]
fn the_daemons_own_words_reach_standard_error_and_json() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.log()).expect("a folder in the log's place");
    sandbox.run(&["js", "1"]).assert_failed(1, &["bu-t.log is a folder"]);
    sandbox.run(&["--json", "js", "1"]).assert_failed_json(1, "bu-t.log is a folder");
    assert!(!sandbox.pid_file().exists(), "a daemon that cannot run leaves the name free");
}

#[test]
fn a_wrong_configuration_stops_every_start_by_file_line_and_key() {
    let sandbox = Sandbox::new();
    let file = sandbox.home().join("config.yaml");
    for (text, line, key) in [
        ("browser:\n  dialog_policy: sometimes\n", "line 2, column 18", "browser.dialog_policy"),
        ("browser:\n  dialog_timeout_s: 5\n  dialog_polcy: x\n", "line 3", "dialog_polcy"),
        ("brwser: {}\n", "line 1", "brwser"),
        ("browser: [\n", "line", "config.yaml"),
    ] {
        fs::write(&file, text).expect("a configuration");
        for verb in [&["js", "1"] as &[&str], &["daemon"]] {
            sandbox.run(verb).assert_failed(2, &[&file.display().to_string(), line, key]);
        }
        assert!(!sandbox.pid_file().exists() && !sandbox.socket().exists());
    }
    fs::write(&file, "browser:\n  dialog_policy: auto_accept\n").expect("a configuration");
    sandbox.start();
}

#[test]
fn a_running_daemon_does_not_mind_a_file_that_went_wrong() {
    let sandbox = Sandbox::new();
    let pid = sandbox.start();
    fs::write(sandbox.home().join("config.yaml"), "nonsense: 1\n").expect("a configuration");
    assert_eq!(sandbox.start(), pid);
}

#[test]
fn a_wrong_log_filter_is_a_wrong_call() {
    let sandbox = Sandbox::new();
    let ran = Ran::of(sandbox.ostler(&["js", "1"]).env("OSTLER_LOG", "ostler=loud"));
    ran.assert_failed(2, &["OSTLER_LOG", "debug"]);
}

#[test]
fn relative_folders_mean_the_callers() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.home().join("config.yaml"), "nonsense: 1\n").expect("a configuration");
    let relative = |command: &mut std::process::Command| {
        Ran::of(command.current_dir(sandbox.path("")).env("BH_RUNTIME_DIR", ".").env("OSTLER_HOME", "home"))
    };
    relative(&mut sandbox.call()).assert_failed_json(2, "config.yaml");
    fs::remove_file(sandbox.home().join("config.yaml")).expect("the file");
    relative(&mut sandbox.call()).assert_daemon_answered();
    sandbox.start();
    assert_eq!(sandbox.daemons_that_listened(), 1);
}
