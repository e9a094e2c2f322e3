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
fn what_can_be_no_tasks_name_is_refused_by_verbs_too_that_look_at_all_tasks() {
    let sandbox = Sandbox::new();
    for verb in ["status", "watch", "interrupt"] {
        let ran = sandbox.run(&[verb, "--task", "a b"]);
        ran.assert_failed(2, &["--task: must be 1 to 128 characters out of A-Z, a-z, 0-9"]);
    }
    let ran = Ran::of(sandbox.ostler(&["status"]).env("OSTLER_TASK", "a/b"));
    ran.assert_failed(2, &["OSTLER_TASK: must be 1 to 128 characters"]);
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

/// Runs the command and returns its exit code and the one line of JSON that it printed.
#[track_caller]
fn told_as_json(command: &mut std::process::Command) -> (i32, serde_json::Value) {
    let ran = Ran::of(command);
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""), "{ran:?}");
    (ran.code.expect("it ended by itself"), serde_json::from_str(&ran.stdout).expect("JSON"))
}

#[test]
fn under_json_every_error_is_one_line_with_its_code() {
    let sandbox = Sandbox::new();
    let ostler = |args: &[&str]| {
        let mut command = sandbox.ostler(args);
        command.arg("--json");
        command
    };
    let with = |args: &[&str], variable: &str, value: &str| {
        let mut command = ostler(args);
        command.env(variable, value);
        command
    };
    std::fs::write(sandbox.path("file"), "").expect("a file");
    for (command, exit, code, word) in [
        (&mut ostler(&["no-such-verb"]), 2, "bad_request", "no-such-verb"),
        (&mut ostler(&["js"]), 2, "bad_request", "EXPR"),
        (&mut ostler(&["dialog"]), 2, "bad_request", "--help"),
        (&mut ostler(&["connect", "--launhc"]), 2, "bad_request", "'--launch'"),
        (&mut ostler(&["cdp", "A.b", "{no json}"]), 2, "bad_request", "no JSON"),
        (&mut with(&["js", "1"], "BU_NAME", "a/b"), 2, "bad_config", "BU_NAME"),
        (&mut with(&["daemon"], "OSTLER_LOG", "ostler=shout"), 2, "bad_config", "OSTLER_LOG"),
        (&mut with(&["js", "1"], "OSTLER_LOG", "ostler=shout"), 2, "bad_config", "OSTLER_LOG"),
        (&mut with(&["js", "1"], "BH_RUNTIME_DIR", "/nowhere"), 1, "no_daemon", "/nowhere"),
        (&mut with(&["helpers", "reset"], "OSTLER_HOME", "/dev/null/x"), 1, "failed", "OSTLER_HOME"),
        (&mut ostler(&["man", "--to", "/dev/null/x"]), 1, "failed", "/dev/null/x"),
        (&mut ostler(&["js", "1"]), 1, "browser_gone", "127.0.0.1:1"),
        (&mut with(&["js", "1"], "BU_CDP_WS", "ws://127.0.0.1:2/x"), 2, "other_browser", "BU_CDP_WS"),
    ] {
        let (exited, told) = told_as_json(command);
        assert_eq!((exited, told["error_code"].as_str()), (exit, Some(code)), "{command:?}: {told}");
        assert!(told["error"].as_str().is_some_and(|error| error.contains(word)), "{command:?}: {told}");
    }
}

#[test]
fn a_script_that_cannot_start_is_told_as_json_too() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.ostler(&["--json"]);
    let (exit, told) = told_as_json(command.env("OSTLER_PYTHON", "/no/python"));
    assert_eq!((exit, told["error_code"].as_str()), (1, Some("failed")), "{told}");
    assert!(told["error"].as_str().is_some_and(|error| error.contains("OSTLER_PYTHON")), "{told}");
}

#[test]
fn texts_are_values_under_json() {
    let sandbox = Sandbox::new();
    for (args, key, word) in [
        (&["skill"] as &[&str], "skill", "ostler"),
        (&["man"], "page", ".TH"),
        (&["completions", "bash"], "script", "complete"),
        (&["config", "schema"], "$schema", "json-schema"),
    ] {
        let mut command = sandbox.ostler(args);
        let (exit, told) = told_as_json(command.arg("--json"));
        assert_eq!(exit, 0, "{args:?}");
        assert!(told[key].as_str().is_some_and(|text| text.contains(word)), "{args:?}: {told}");
    }
    let folder = sandbox.path("man1").display().to_string();
    let (exit, told) = told_as_json(&mut sandbox.ostler(&["--json", "man", "--to", &folder]));
    assert_eq!((exit, told), (0, serde_json::json!({"folder": folder})));
}

#[test]
fn a_url_that_cannot_be_dialled_is_a_wrong_call_in_the_commands_words() {
    let sandbox = Sandbox::new();
    for (url, words) in [
        ("http://127.0.0.1:99999/S3CRET", "the URL has no valid port"),
        ("http://ada:S3CRET@127.0.0.1:1", "the URL carries a user name or password"),
        ("S3CRET", "the URL must be a ws://, wss://, http:// or https:// URL"),
    ] {
        let ran = sandbox.run(&["connect", url]);
        ran.assert_failed(2, &[words]);
        assert!(!ran.stderr.contains("S3CRET") && !ran.stderr.contains("cdp_url"), "{ran:?}");
    }
    assert_eq!(sandbox.pid(), None, "no daemon was started for it");
}

#[test]
fn a_flag_that_would_part_the_browser_from_ostler_is_refused_by_its_name() {
    let sandbox = Sandbox::new();
    for (flag, words) in [
        ("--user-data-dir=/tmp/x", "--user-data-dir is ostler's own to set"),
        ("--remote-debugging-pipe", "--remote-debugging-pipe is ostler's own to set"),
        ("--remote-debugging-port=9333", "--remote-debugging-port is ostler's own to set"),
        ("foo", "\"foo\" is no flag"),
    ] {
        sandbox.run(&["connect", "--launch", &format!("--flag={flag}")]).assert_failed(2, &["launch.flags", words]);
    }
}

#[test]
fn a_url_that_cannot_be_dialled_is_told_by_the_variable_that_has_it() {
    let sandbox = Sandbox::new();
    for (variable, value, words) in [
        ("BU_CDP_WS", "http://127.0.0.1:9222", "BU_CDP_WS is an http:// URL"),
        ("BU_CDP_WS", "S3CRET", "BU_CDP_WS does not start with ws:// or wss://"),
        ("BU_CDP_WS", "ws://h:99999/S3CRET", "BU_CDP_WS has no valid port"),
        ("BU_CDP_URL", "ws://127.0.0.1:9222/S3CRET", "BU_CDP_URL is a ws:// URL"),
        ("BU_CDP_URL", "127.0.0.1:9222", "BU_CDP_URL does not start with http:// or https://"),
    ] {
        let ran = |args: &[&str]| {
            let mut command = sandbox.ostler(args);
            Ran::of(command.env_remove("BU_CDP_WS").env(variable, value))
        };
        let connected = ran(&["connect"]);
        connected.assert_failed(2, &[words]);
        let called = ran(&["js", "1"]);
        called.assert_failed(2, &[words]);
        let examined = ran(&["doctor"]);
        assert!(examined.code == Some(1) && examined.stdout.contains(words), "{examined:?}");
        assert!(!format!("{connected:?}{called:?}{examined:?}").contains("S3CRET"), "{value}");
    }
    assert_eq!(sandbox.pid(), None, "no daemon was started for it");
}
