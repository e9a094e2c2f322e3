//! What each verb sends to the daemon, and what it makes of the reply.

mod sandbox;

use std::io::Write;
use std::process::Stdio;

use sandbox::{FakeDaemon, Ran, Sandbox};

/// Runs a verb against a daemon that always answers `reply`, and returns what it did and what it sent.
fn exchange(args: &[&str], reply: &'static str) -> (Ran, Vec<String>) {
    let sandbox = Sandbox::new();
    let daemon = FakeDaemon::start(&sandbox, move |_| reply.to_owned());
    // Without a browser in the environment, as most people have it: the request travels with the greeting.
    let ran = Ran::of(sandbox.ostler(args).env_remove("BU_CDP_WS"));
    (ran, daemon.asked())
}

#[track_caller]
fn assert_exchange(args: &[&str], sent: &str, reply: &'static str, printed: &str) {
    let (ran, asked) = exchange(args, reply);
    ran.assert_done();
    assert_eq!((asked, ran.stdout), (vec![sent.to_owned()], format!("{printed}\n")));
}

#[test]
fn cdp_passes_parameters_and_result_untouched() {
    assert_exchange(
        &["cdp", "A.b", "{\"x\": \"\\ud800\",\n \"n\": 1.0}"],
        r#"{"method":"A.b","params":{"x": "\ud800",  "n": 1.0}}"#,
        r#"{"result":{"y":"\udfff","n":2.0}}"#,
        r#"{"y":"\udfff","n":2.0}"#,
    );
    assert_exchange(
        &["cdp", "A.b", "--frame", "F", "--target", "T", "--timeout", "1.5", "--on-dialog", "wait", "--task", "x"],
        r#"{"method":"A.b","task":"x","frame_id":"F","target_id":"T","timeout_ms":1500,"on_dialog":"wait"}"#,
        r#"{"result":{}}"#,
        "{}",
    );
    let sent = r#"{"method":"A.b","session_id":"S"}"#;
    assert_exchange(&["cdp", "A.b", "--session", "S"], sent, r#"{"result":{}}"#, "{}");
}

#[test]
fn every_verb_wants_its_errors_in_the_commands_words() {
    let sandbox = Sandbox::new();
    let daemon = FakeDaemon::start(&sandbox, |_| r#"{"error":"no","error_code":"timeout"}"#.to_owned());
    let verbs: [&[&str]; 6] =
        [&["cdp", "A.b"], &["js", "1"], &["dialog", "accept"], &["snapshot"], &["interrupt"], &["tool", "tabs"]];
    for verb in verbs {
        sandbox.run(verb).assert_failed(1, &["no"]);
    }
    assert_eq!(daemon.asked_in_the_commands_words(), verbs.len());
}

#[test]
fn cdp_reads_parameters_from_a_file_or_standard_input() {
    let sandbox = Sandbox::new();
    let daemon = FakeDaemon::start(&sandbox, |_| r#"{"result":{}}"#.to_owned());
    let file = sandbox.path("params.json");
    std::fs::write(&file, "{\"from\":\"file\"}\n").expect("a file");
    sandbox.run(&["cdp", "A.b", &format!("@{}", file.display())]).assert_done();

    let mut command = sandbox.ostler(&["cdp", "A.b", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ostler runs");
    child.stdin.take().expect("a pipe").write_all(b"{\"from\":\"pipe\"}").expect("room in the pipe");
    Ran::from(child.wait_with_output().expect("its output")).assert_done();

    let sent = |from| format!(r#"{{"method":"A.b","params":{{"from":"{from}"}}}}"#);
    assert_eq!(daemon.asked(), [sent("file"), sent("pipe")]);
}

#[test]
fn js_evaluates_and_prints_the_value() {
    let sent = r#"{"method":"Runtime.evaluate","params":{"expression":"-1","awaitPromise":true,"returnByValue":true}}"#;
    assert_exchange(&["js", "-1"], sent, r#"{"result":{"result":{"type":"number","value":-1}}}"#, "-1");
    assert_exchange(&["js", "-1"], sent, r#"{"result":{"result":{"type":"string","value":"a\nb"}}}"#, "a\nb");
    let nan = r#"{"result":{"result":{"type":"number","unserializableValue":"NaN"}}}"#;
    assert_exchange(&["js", "-1"], sent, nan, "NaN");
    let whole = r#"{"result":{"type":"number","unserializableValue":"NaN"}}"#;
    assert_exchange(&["js", "-1", "--json"], sent, nan, whole);
}

#[test]
fn js_tells_an_exception_on_standard_error() {
    let thrown = r#"{"result":{"result":{"type":"object"},"exceptionDetails":{"text":"Uncaught","exception":{"type":"object","description":"Error: no\n    at <anonymous>:1:7"}}}}"#;
    let (ran, _) = exchange(&["js", "f()"], thrown);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert_eq!(ran.stderr, "ostler: Uncaught Error: no\n    at <anonymous>:1:7\n");
    let (ran, _) = exchange(&["js", "f()", "--json"], thrown);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
    let start = r#"{"error":"Uncaught Error: no\n    at <anonymous>:1:7","error_code":"exception","result":{"type":"object"},"exceptionDetails":"#;
    assert!(ran.stdout.starts_with(start), "{ran:?}");
}

#[test]
fn dialog_answers_and_lists() {
    let closed = r#"{"ok":true,"dialog":{"id":"d-2","type":"prompt","message":"?","opened_at":1.0,"closed_at":2.0,"closed_by":"agent"}}"#;
    assert_exchange(
        &["dialog", "accept", "--text", "-x", "--id", "d-2"],
        r#"{"meta":"dialog","action":"accept","prompt_text":"-x","dialog_id":"d-2"}"#,
        closed,
        "accepted the prompt d-2",
    );
    let sent = r#"{"meta":"dialog","action":"dismiss","task":"x"}"#;
    assert_exchange(&["--task", "x", "dialog", "dismiss"], sent, closed, "dismissed the prompt d-2");

    let sent = r#"{"meta":"state"}"#;
    assert_exchange(&["dialog", "list"], sent, r#"{"state":{"console":[]}}"#, "no dialog is open in task default");
    let one =
        r#"{"state":{"pending_dialogs":[{"id":"d-1","type":"confirm","message":"Sure?","opened_at":9e9,"new":1}]}}"#;
    assert_exchange(&["dialog", "list"], sent, one, "d-1   confirm      open 0.0 s   \"Sure?\"");
    let same = r#"{"pending_dialogs":[{"id":"d-1","type":"confirm","message":"Sure?","opened_at":9e9,"new":1}]}"#;
    assert_exchange(&["dialog", "list", "--json"], sent, one, same);
}

#[test]
fn connect_says_which_browser() {
    let reply =
        r#"{"ok":true,"task":{"task":"default","browser_kind":"cdp","browser":"ws://h","active":true,"tabs":1}}"#;
    let printed = "task default has a cdp browser, 1 tab: ws://h";
    assert_exchange(&["connect"], r#"{"meta":"connect"}"#, reply, printed);
    let sent = r#"{"meta":"connect","cdp_url":"ws://h/x","dialog_policy":"auto_accept","dialog_timeout_s":5.0,"dialog_bridge":"always"}"#;
    let flags = ["--policy", "auto_accept", "--dialog-timeout", "5", "--dialog-bridge", "always"];
    assert_exchange(&[&["connect", "ws://h/x"][..], &flags].concat(), sent, reply, printed);
    assert_exchange(
        &["connect", "--launch", "--headed", "--flag=--a=1", "--flag", "--b", "--executable", "/opt/c"],
        r#"{"meta":"connect","launch":{"headed":true,"flags":["--a=1","--b"],"executable":"/opt/c"}}"#,
        reply,
        printed,
    );
    assert_exchange(&["connect", "--browser", "edge"], r#"{"meta":"connect","browser":"edge"}"#, reply, printed);
    let sent = r#"{"meta":"connect","profile":"/home/ada/data"}"#;
    assert_exchange(&["connect", "--profile", "/home/ada/data"], sent, reply, printed);
}

#[test]
fn connect_without_a_url_means_the_browser_of_this_commands_environment() {
    let sandbox = Sandbox::new();
    let reply =
        r#"{"ok":true,"task":{"task":"default","browser_kind":"cdp","browser":"ws://h","active":true,"tabs":2}}"#;
    let daemon = FakeDaemon::start(&sandbox, move |_| reply.to_owned());
    let ran = Ran::of(sandbox.ostler(&["connect"]).env("BU_CDP_WS", "ws://mine/"));
    ran.assert_done();
    assert_eq!(daemon.asked(), [r#"{"meta":"connect","cdp_url":"ws://mine/"}"#]);
}

#[test]
fn disconnect_and_interrupt_name_the_task() {
    assert_exchange(&["interrupt"], r#"{"meta":"interrupt"}"#, r#"{"ok":true}"#, "the page answers again");
    let sent = r#"{"meta":"disconnect","task":"x"}"#;
    assert_exchange(&["disconnect", "--task", "x"], sent, r#"{"ok":true,"task":{}}"#, "task x has ended");
}

#[test]
fn the_task_of_the_environment_counts_unless_one_is_named() {
    let sandbox = Sandbox::new();
    let daemon = FakeDaemon::start(&sandbox, |_| r#"{"ok":true}"#.to_owned());
    Ran::of(sandbox.ostler(&["interrupt"]).env("OSTLER_TASK", "env")).assert_done();
    Ran::of(sandbox.ostler(&["interrupt", "--task", "flag"]).env("OSTLER_TASK", "env")).assert_done();
    let sent = |task| format!(r#"{{"meta":"interrupt","task":"{task}"}}"#);
    assert_eq!(daemon.asked(), [sent("env"), sent("flag")]);
}

/// What a daemon with two tasks says of them; `dialogs` are those of the first one.
fn overview(dialogs: &str, next: u64) -> String {
    let tabs = r#"[{"number":1,"target_id":"T","session_id":"S","url":"https://shop.example/","title":"Shop","state":"dialog"},{"number":3,"target_id":"U","session_id":null,"url":"about:blank","title":"","state":"ready"}]"#;
    let a = format!(
        r#"{{"task":"a","browser_kind":"local","browser":"ws://127.0.0.1:9222 (found)","active":true,"tabs":2,"pending_dialogs":1,"frames":3,"events":1204,"lost":7,"page":{{"targetId":"T","url":"https://shop.example/","title":"Shop"}},"tab_list":{tabs},"state":{{"pending_dialogs":{dialogs},"console":[]}}}}"#
    );
    let b = r#"{"task":"browse","browser_kind":"cdp","browser":"not looked for yet","active":false,"tabs":0,"pending_dialogs":0,"frames":0,"events":0,"lost":0,"page":null,"tab_list":[],"state":{"console":[]},"new":1}"#;
    format!(r#"{{"tasks":[{a},{b}],"next":{next}}}"#)
}

const DIALOG: &str = r#"[{"id":"d-1","type":"alert","message":"Hi\n","opened_at":9e9}]"#;

#[test]
fn status_is_one_request_and_a_table() {
    let sandbox = Sandbox::new();
    let daemon = FakeDaemon::start(&sandbox, |_| overview(DIALOG, 1204));
    let ran = sandbox.run(&["status"]);
    ran.assert_done();
    let expected = format!(
        "daemon t, pid 7, version {}, {}\n\n\
         TASK    BROWSER  TABS  FRAMES  DIALOGS    EVENTS    LOST\n\
         a       local       2       3        1      1204       7\n  \
           in      ws://127.0.0.1:9222 (found)\n  \
           tab   > t1   (dialog) https://shop.example/  Shop\n  \
           tab     t3   about:blank\n  \
           dialog  d-1   alert        open 0.0 s   \"Hi \"\n\
         browse  cdp         0       0        0         0       0\n  \
           in      not attached: not looked for yet\n",
        env!("CARGO_PKG_VERSION"),
        sandbox.socket().display()
    );
    assert_eq!(ran.stdout, expected);
    // Nothing here makes the daemon ask a browser, so none is waited for.
    assert_eq!(daemon.asked(), [r#"{"meta":"overview","ask_browser_ms":2000}"#]);

    let ran = sandbox.run(&["status", "--json"]);
    ran.assert_done();
    let status: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(status["daemon"]["pid"], 7);
    assert_eq!(status["tasks"][0]["page"]["title"], "Shop");
    assert_eq!(status["tasks"][0]["state"]["pending_dialogs"][0]["id"], "d-1");
    // What this version does not know is passed on.
    assert_eq!((&status["tasks"][1]["task"], &status["tasks"][1]["new"]), (&"browse".into(), &1.into()));
}

/// A daemon in whose first task a dialog opens after a while, and that then ends.
fn short_lived_daemon(sandbox: &Sandbox) -> FakeDaemon {
    FakeDaemon::start(sandbox, |line| match line {
        r#"{"meta":"overview","wait_ms":1000}"# => overview("[]", 1),
        r#"{"meta":"overview","seen":1,"wait_ms":1000}"# => overview("[]", 2),
        r#"{"meta":"overview","seen":2,"wait_ms":1000}"# => overview(DIALOG, 3),
        _ => FakeDaemon::HANG_UP.to_owned(),
    })
}

#[test]
fn watch_tells_each_change_as_a_line_where_there_is_no_terminal() {
    let sandbox = Sandbox::new();
    let _daemon = short_lived_daemon(&sandbox);
    let ran = Ran::of(sandbox.ostler(&["watch"]).env_remove("BU_CDP_WS"));
    ran.assert_done();
    let expected = format!(
        "daemon t, pid 7, version {}, {}\n\
         task a: ws://127.0.0.1:9222 (found)\n\
         task a tab t1: (dialog) https://shop.example/  Shop\n\
         task a tab t3: about:blank\n\
         task browse: not looked for yet\n\
         task a dialog d-1: alert \"Hi \"\n\
         the daemon has ended (name t)\n",
        env!("CARGO_PKG_VERSION"),
        sandbox.socket().display()
    );
    assert_eq!(ran.stdout, expected);
}

#[test]
fn watch_prints_an_object_for_each_change_under_json() {
    let sandbox = Sandbox::new();
    let _daemon = short_lived_daemon(&sandbox);
    let ran = sandbox.run(&["watch", "--json"]);
    ran.assert_done();
    let lines: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let dialogs = |line: &serde_json::Value| line["tasks"][0]["state"]["pending_dialogs"].as_array().map(Vec::len);
    assert_eq!(lines.iter().map(dialogs).collect::<Vec<_>>(), [Some(0), Some(1), None]);
    assert!(lines[2]["daemon"].is_null());
}

#[test]
fn watch_without_a_daemon_says_so_and_starts_none() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["watch"]);
    ran.assert_done();
    assert_eq!(ran.stdout, "no daemon runs (name t); the next command starts one\n");
    assert!(!sandbox.pid_file().exists());
}

#[test]
fn man_pages_are_printed_or_written_one_for_each_command() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["man"]);
    ran.assert_done();
    assert!(ran.stdout.contains(".TH ostler 1") && ran.stdout.contains("BU_NAME"), "{ran:?}");
    let folder = sandbox.path("man1");
    sandbox.run(&["man", "--to", folder.to_str().expect("UTF-8")]).assert_done();
    for page in ["ostler.1", "ostler-doctor.1", "ostler-dialog-accept.1"] {
        assert!(folder.join(page).exists(), "{page}");
    }
    assert!(!folder.join("ostler-help.1").exists());
}

#[test]
fn a_daemon_of_another_version_is_named_and_used() {
    let sandbox = Sandbox::new();
    let _daemon = FakeDaemon::with_version(&sandbox, "0.0.1", |_| r#"{"ok":true}"#.to_owned());
    let ran = sandbox.run(&["interrupt"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "the page answers again\n"));
    assert!(ran.stderr.contains("0.0.1") && ran.stderr.contains("ostler stop"), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1);
}
