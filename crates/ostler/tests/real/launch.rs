//! A browser of our own: what the command says of it, and which profile it gets.

use std::time::{Duration, Instant};

use serde_json::json;

use super::line::Line;
use super::processes;
use super::sandbox::{Ran, Sandbox, kill, wait_until};

fn launch(sandbox: &Sandbox, args: &[&str]) -> Ran {
    let mut command = sandbox.ostler(&[&["connect", "--launch", "--flag=--disable-gpu"], args].concat());
    Ran::of(command.env_remove("BU_CDP_WS").env("TMPDIR", sandbox.path("")))
}

#[test]
fn the_command_says_aloud_that_root_has_no_sandbox() {
    let sandbox = Sandbox::new();
    let ran = launch(&sandbox, &[]);
    ran.assert_done();
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(ran.stdout.contains("with --no-sandbox, since ostler runs as root"), is_root, "{ran:?}");
    sandbox.run(&["stop"]).assert_done();
}

#[test]
fn a_named_profile_is_there_the_next_time_and_a_fresh_one_is_not() {
    let sandbox = Sandbox::new();
    let remember = "document.cookie = 'seen=yes; max-age=3600'; document.cookie";
    let site = super::site::Site::with(&[("/", "<p>hello")]);
    for (args, before) in
        [(&[] as &[&str], ""), (&[], ""), (&["--profile-name", "work"], ""), (&["--profile-name", "work"], "seen=yes")]
    {
        launch(&sandbox, args).assert_done();
        let mut line = Line::connect(&sandbox.socket());
        line.cdp("Page.navigate", serde_json::json!({"url": site.here("/")}));
        wait_until("the page is there", || line.js("document.readyState + location.pathname") == "complete/");
        assert_eq!(line.js("document.cookie"), before, "{args:?}");
        assert_eq!(line.js(remember), "seen=yes");
        let folder = sandbox.home().join("profiles/work");
        assert_eq!(folder.is_dir(), args.len() == 2 || before == "seen=yes");
        sandbox.run(&["stop"]).assert_done();
        wait_until("it is gone", || processes::naming(&sandbox.path("").display().to_string()).is_empty());
    }
    let profiles = std::fs::read_dir(sandbox.path("")).expect("a folder").flatten();
    let left = profiles.filter(|entry| entry.file_name().to_string_lossy().starts_with("ostler-profile-")).count();
    assert_eq!(left, 0, "fresh profiles go with their browsers");
}

#[test]
fn a_launch_with_other_options_is_another_browser_and_one_with_no_other_keeps_it() {
    let sandbox = Sandbox::new();
    let theirs = format!("--user-data-dir={}", sandbox.path("").display());
    let browsers = || {
        let all = processes::naming(&theirs).into_iter();
        all.filter(|pid| !processes::command_line(*pid).contains("--type=")).collect::<Vec<_>>()
    };
    launch(&sandbox, &[]).assert_done();
    let (first, mut line) = (browsers(), Line::connect(&sandbox.socket()));
    line.js("window.kept = 'yes'");
    launch(&sandbox, &[]).assert_done();
    assert_eq!((line.js("window.kept"), browsers()), ("yes".into(), first.clone()), "it has what was asked for");

    launch(&sandbox, &["--flag=--force-prefers-reduced-motion"]).assert_done();
    let reduced = "matchMedia('(prefers-reduced-motion)').matches";
    assert_eq!(line.js(reduced), true);
    let second = browsers();
    assert!(second.len() == 1 && second != first, "the first one has ended: {first:?} {second:?}");
    launch(&sandbox, &[]).assert_done();
    assert_eq!((line.js(reduced), browsers()), (true.into(), second), "nothing that was asked for differs");

    let ran = launch(&sandbox, &["--profile-name", "work"]);
    ran.assert_done();
    assert!(ran.stdout.contains(", profile work)"), "{ran:?}");
    assert_eq!(line.js(reduced), false);
    let ran = launch(&sandbox, &["--profile-name", "work", "--flag=--force-prefers-reduced-motion"]);
    ran.assert_failed(1, &["has the profile", "profiles/work open", "`ostler disconnect`"]);
    assert_eq!(line.js(reduced), false, "the task is where it was");
    sandbox.run(&["disconnect"]).assert_done();
    launch(&sandbox, &["--profile-name", "work", "--flag=--force-prefers-reduced-motion"]).assert_done();
    assert_eq!(line.js(reduced), true);
    sandbox.run(&["stop"]).assert_done();
}

#[test]
fn nothing_of_a_launched_browser_is_left_among_the_temporary_files() {
    let sandbox = Sandbox::new();
    let left = || {
        let entries = std::fs::read_dir(sandbox.path("")).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains("org.chromium") || name.contains("ostler-profile")).collect::<Vec<_>>()
    };
    for args in [&[] as &[&str], &["--profile-name", "work"]] {
        launch(&sandbox, args).assert_done();
        assert!(left().iter().any(|name| name.contains("org.chromium")), "it makes one: {:?}", left());
        sandbox.run(&["stop"]).assert_done();
        assert_eq!(left(), [""; 0], "after an orderly end");
        launch(&sandbox, args).assert_done();
        sandbox.kill();
        wait_until("the guard has cleaned up", || left().is_empty());
    }
}

#[test]
fn a_window_without_a_display_is_told_as_that() {
    let sandbox = Sandbox::new();
    let ran = launch(&sandbox, &["--headed"]);
    ran.assert_failed(1, &["its window needs a display", "DISPLAY", "`ostler stop`", "xvfb-run"]);
    // One that leads nowhere is Chromium's to find.
    sandbox.run(&["stop"]).assert_done();
    let mut command = sandbox.ostler(&["connect", "--launch", "--headed", "--flag=--disable-gpu"]);
    command.env_remove("BU_CDP_WS").env("TMPDIR", sandbox.path("")).env("DISPLAY", ":4711");
    Ran::of(&mut command).assert_failed(1, &["no display can be reached", "xvfb-run"]);
}

#[test]
fn a_browser_whose_process_is_stopped_is_told_from_a_page_that_is_busy() {
    let sandbox = Sandbox::new();
    launch(&sandbox, &[]).assert_done();
    let mut line = Line::connect(&sandbox.socket());
    assert_eq!(line.js("1 + 1"), 2);
    let doctor = || Ran::of(sandbox.ostler(&["doctor"]).env_remove("BU_CDP_WS").env("HOME", sandbox.path("nobody")));
    let ran = doctor();
    assert!(ran.stdout.contains("task default is in ws://") && !ran.stdout.contains("none runs"), "{ran:?}");
    assert!(!sandbox.run(&["status"]).stdout.contains("silent"));

    let theirs = format!("--user-data-dir={}", sandbox.path("").display());
    let browser = processes::naming(&theirs);
    for pid in &browser {
        kill(*pid, rustix::process::Signal::STOP);
    }
    for call in [
        serde_json::json!({"method": "Runtime.evaluate", "params": {"expression": "1"}, "timeout_ms": 600}),
        serde_json::json!({"method": "Target.getTargets", "timeout_ms": 600}),
    ] {
        let late = line.ask(call);
        assert_eq!(late["error_code"], "timeout", "{late}");
        let said = late["error"].as_str().unwrap_or_default();
        assert!(said.contains("the browser itself answers nothing") && !said.contains("busy"), "{late}");
    }
    for (tool, args) in [("browser_click", json!({"x": 1, "y": 1})), ("browser_snapshot", json!({}))] {
        let asked = Instant::now();
        let told = line.ask(json!({"meta": "tool", "name": tool, "args": args}));
        let said = told["error"].as_str().or(told["result"]["text"].as_str()).unwrap_or_default();
        assert!(said.contains("the browser itself answers nothing") && !said.contains("a script"), "{tool}: {told}");
        assert!(asked.elapsed() < Duration::from_secs(10), "{tool}: {:?}", asked.elapsed());
    }
    let tabs = line.ask(json!({"meta": "tool", "name": "browser_tabs", "args": {"action": "list"}}));
    assert!(!tabs["result"]["text"].as_str().unwrap_or_default().contains("hung"), "{tabs}");
    let ran = launch(&sandbox, &[]);
    ran.assert_failed(1, &["the browser answers nothing, so its process is stopped", "`ostler disconnect`"]);
    let ran = sandbox.run(&["status"]);
    ran.assert_done();
    assert!(ran.stdout.contains("silent  the browser answers nothing: its process is stopped"), "{ran:?}");
    let ran = doctor();
    assert!(ran.code == Some(1) && ran.stdout.contains("the browser of task default has answered nothing"), "{ran:?}");

    for pid in browser {
        kill(pid, rustix::process::Signal::CONT);
    }
    assert_eq!(line.js("1 + 2"), 3);
    assert!(!sandbox.run(&["status"]).stdout.contains("silent"));
    sandbox.run(&["stop"]).assert_done();
}

#[test]
fn a_browser_that_has_ended_is_launched_again_only_when_somebody_says_so() {
    let sandbox = Sandbox::new();
    launch(&sandbox, &[]).assert_done();
    let mut change = sandbox.ostler(&["connect", "--policy", "must_respond"]);
    Ran::of(change.env_remove("BU_CDP_WS")).assert_done();
    let theirs = sandbox.path("").display().to_string();
    let browser = || processes::naming(&format!("--user-data-dir={theirs}"));
    for process in browser() {
        kill(process, rustix::process::Signal::KILL);
    }
    let mut line = Line::connect(&sandbox.socket());
    let call = serde_json::json!({"method": "Runtime.evaluate", "params": {"expression": "1"}});
    let said = |reply: serde_json::Value| reply["error"].as_str().unwrap_or_default().contains("start another with");
    // Its own helpers end on their own, a moment later.
    wait_until("it has ended", || browser().is_empty());
    wait_until("calls are told that it has ended", || said(line.ask(call.clone())));
    assert!(said(line.ask(call.clone())) && browser().is_empty(), "and nobody has started another");
    launch(&sandbox, &[]).assert_done();
    assert_eq!(line.js("1 + 1"), 2);
    sandbox.run(&["stop"]).assert_done();
    let log = std::fs::read_to_string(sandbox.log()).expect("its log");
    assert_eq!(log.matches("connected to").count(), 2, "{log}");
}

#[test]
fn another_task_that_names_a_launched_browser_by_its_url_shares_its_connection() {
    let sandbox = Sandbox::new();
    launch(&sandbox, &[]).assert_done();
    let mut line = Line::connect(&sandbox.socket());
    assert_eq!(line.js("1 + 0"), 1);
    let said = sandbox.run(&["status"]).stdout;
    let address = said.split("ws://").nth(1).and_then(|rest| rest.split(' ').next()).expect("where it listens");
    let call = serde_json::json!({"method": "Runtime.evaluate", "params": {"expression": "1 + 1"}, "task": "guest"});
    for url in [format!("http://{address}"), format!("ws://{address}")] {
        sandbox.run(&["--task", "guest", "connect", &url]).assert_done();
        assert_eq!(line.ask(call.clone())["result"]["result"]["value"], 2);
    }
    let log = std::fs::read_to_string(sandbox.log()).expect("its log");
    assert_eq!(log.matches("connected to").count(), 1, "{log}");
    sandbox.run(&["disconnect"]).assert_done();
    assert_eq!(line.ask(call)["result"]["result"]["value"], 2, "it is held for whoever is left");
    sandbox.run(&["stop"]).assert_done();
}
