//! One task, and several who put it into a browser at the same time.

use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::json;

use super::browser::Chromium;
use super::line::Line;
use super::sandbox::{Ran, Sandbox};

/// Starts a command, which is to run beside others.
fn spawn(mut command: Command) -> Child {
    let quiet = command.env_remove("BU_CDP_WS").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    quiet.spawn().expect("ostler runs")
}

fn ended(child: Child) -> Ran {
    child.wait_with_output().expect("it ends").into()
}

fn browser_of_the_task(line: &mut Line) -> String {
    let tasks = line.ask(json!({"meta": "tasks"}));
    assert_eq!(tasks["tasks"][0]["active"], true, "{tasks}");
    tasks["tasks"][0]["browser"].as_str().expect("a phrase").to_owned()
}

#[test]
fn launches_at_the_same_time_end_in_one_browser_that_the_task_is_in() {
    let sandbox = Sandbox::new();
    let launch = || {
        let mut command = sandbox.ostler(&["connect", "--launch", "--flag=--disable-gpu"]);
        command.env("TMPDIR", sandbox.path(""));
        spawn(command)
    };
    let launches: Vec<_> = (0..4).map(|_| launch()).collect();
    for launched in launches {
        let ran = ended(launched);
        ran.assert_done();
        assert!(ran.stdout.contains("1 tab"), "{ran:?}");
    }
    let ran = ended(spawn(sandbox.ostler(&["js", "6 * 7"])));
    ran.assert_done();
    assert_eq!(ran.stdout.trim(), "42");
    let log = std::fs::read_to_string(sandbox.log()).expect("a log");
    assert_eq!(log.matches("connected to").count(), 1, "{log}");
    sandbox.run(&["stop"]).assert_done();
}

#[test]
fn of_two_browsers_that_are_named_at_the_same_time_the_task_ends_in_one_and_works() {
    let sandbox = Sandbox::new();
    let (one, other) = (Chromium::start(), Chromium::start());
    let connect = |browser: &Chromium| spawn(sandbox.ostler(&["connect", &browser.url()]));
    for _ in 0..6 {
        // The first of them is where the task is already, but for the first time.
        for connected in [connect(&one), connect(&other), connect(&one)] {
            ended(connected).assert_done();
        }
        let mut line = Line::connect(&sandbox.socket());
        let shown = browser_of_the_task(&mut line);
        assert_eq!(line.js("6 * 7"), 42);
        assert!([&one, &other].iter().any(|browser| shown.contains(&browser.port().to_string())), "{shown}");
    }
}

#[test]
fn a_call_never_hears_that_there_is_no_such_task_while_the_task_is_moved() {
    let sandbox = Sandbox::new();
    let (one, other) = (Chromium::start(), Chromium::start());
    let connect = |line: &mut Line, browser: &Chromium| {
        let reply = line.ask(json!({"meta": "connect", "cdp_url": browser.url()}));
        assert_eq!(reply["ok"], true, "{reply}");
    };
    ended(spawn(sandbox.ostler(&["connect", &one.url()]))).assert_done();
    thread::scope(|scope| {
        let socket = sandbox.socket();
        let moves = scope.spawn(move || {
            let mut line = Line::connect(&socket);
            for _ in 0..20 {
                connect(&mut line, &other);
                line.ask(json!({"meta": "disconnect"}));
                connect(&mut line, &one);
            }
        });
        let mut line = Line::connect(&sandbox.socket());
        while !moves.is_finished() {
            for request in
                [json!({"method": "Runtime.evaluate", "params": {"expression": "1"}}), json!({"meta": "session"})]
            {
                let answer = line.ask(request);
                assert_ne!(answer["error_code"], "unknown_task", "{answer}");
            }
        }
    });
}
