//! Calls that cannot be carried out, and how the shell learns of it.

mod sandbox;

use sandbox::{FakeDaemon, Ran, Sandbox};

#[test]
fn names_that_are_none_are_refused_by_every_verb() {
    let sandbox = Sandbox::new();
    let long = "n".repeat(65);
    for name in ["a/b", "..", "a b", "é", "a.b", "a\nb", &long] {
        for verb in [&["js", "1"] as &[&str], &["status"], &["stop"], &["daemon"]] {
            let ran = Ran::of(sandbox.ostler(verb).env("BU_NAME", name));
            ran.assert_failed(2, &["BU_NAME", "letters, digits"]);
        }
    }
}

#[test]
fn an_empty_name_is_the_default_one() {
    let sandbox = Sandbox::new();
    let ran = Ran::of(sandbox.ostler(&["status"]).env("BU_NAME", ""));
    ran.assert_done();
    assert!(ran.stdout.contains("(name default)"), "{ran:?}");
}

#[test]
fn a_runtime_folder_that_is_too_deep_is_refused() {
    let sandbox = Sandbox::new();
    let deep = sandbox.path(&"d".repeat(100));
    let ran = Ran::of(sandbox.ostler(&["status"]).env("BH_RUNTIME_DIR", deep));
    ran.assert_failed(2, &["BH_RUNTIME_DIR", "bytes"]);
}

#[test]
fn wrong_arguments_exit_with_2_and_reach_no_daemon() {
    let sandbox = Sandbox::new();
    let daemon = FakeDaemon::start(&sandbox, |_| "{}".to_owned());
    for args in [
        &["no-such-verb"] as &[&str],
        &["js"],
        &["cdp"],
        &["cdp", "A.b", "{no json}"],
        &["cdp", "A.b", "@/nowhere/at/all"],
        &["cdp", "A.b", "--timeout", "0"],
        &["cdp", "A.b", "--timeout", "nan"],
        &["cdp", "A.b", "--timeout", "3601"],
        &["cdp", "A.b", "--session", "S", "--frame", "F"],
        &["cdp", "A.b", "--on-dialog", "ignore"],
        &["dialog"],
        &["dialog", "dismiss", "--text", "x"],
        &["connect", "ws://h", "--launch"],
        &["connect", "--headed"],
        &["connect", "--policy", "sometimes"],
        &["connect", "--dialog-timeout", "-1"],
    ] {
        let ran = sandbox.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {ran:?}");
    }
    assert_eq!(daemon.asked(), Vec::<String>::new());
}

#[test]
fn the_daemons_error_is_one_sentence_or_its_own_object() {
    let sandbox = Sandbox::new();
    let object = r#"{"error":"no frame F; the frames are: G","error_code":"unknown_frame","known":["G"],"later":1}"#;
    let _daemon = FakeDaemon::start(&sandbox, move |_| object.to_owned());
    sandbox.run(&["js", "1"]).assert_failed(1, &["ostler: no frame F; the frames are: G\n"]);
    let ran = sandbox.run(&["js", "1", "--json"]);
    assert_eq!((ran.code, ran.stdout, ran.stderr), (Some(1), format!("{object}\n"), String::new()));
}

#[test]
fn a_request_that_the_daemon_calls_bad_exits_with_2() {
    let sandbox = Sandbox::new();
    let reply = r#"{"error":"`task`: too long","error_code":"bad_request"}"#;
    let _daemon = FakeDaemon::start(&sandbox, move |_| reply.to_owned());
    sandbox.run(&["js", "1", "--task", "x"]).assert_failed(2, &["`task`: too long"]);
}

#[test]
fn a_program_that_answers_nonsense_is_told_from_a_daemon() {
    let sandbox = Sandbox::new();
    let _daemon = FakeDaemon::start(&sandbox, |_| "220 mail.example ESMTP".to_owned());
    sandbox.run(&["js", "1"]).assert_failed(1, &["makes no sense"]);
}

#[test]
fn help_and_version_succeed() {
    let sandbox = Sandbox::new();
    for args in [&["--help"] as &[&str], &["--version"], &["help", "cdp"], &["completions", "bash"]] {
        sandbox.run(args).assert_done();
    }
}
