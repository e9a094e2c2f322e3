//! A person's own browser: found by its profile, found again, asked for consent once, and its pages left alone.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::browser::Chromium;
use super::host::Host;
use super::line::Line;
use super::sandbox::{Ran, Sandbox, kill, wait_until};

/// A person's home folder, and ostler's place beside it.
struct Person {
    sandbox: Sandbox,
}

impl Person {
    fn new() -> Self {
        let person = Self { sandbox: Sandbox::new() };
        fs::create_dir_all(person.profile("chromium")).expect("a profile folder");
        person
    }

    fn profile(&self, name: &str) -> PathBuf {
        self.sandbox.path("person/.config").join(name)
    }

    /// Starts a browser in one of the person's profiles, at a port of its own choosing.
    fn browser(&self, name: &str, page: &str) -> Chromium {
        Chromium::start_in(&self.profile(name), &["--remote-debugging-port=0", page])
    }

    /// Runs a command as the person does who set nothing, but for proxies that lead nowhere.
    fn ostler(&self, args: &[&str]) -> Ran {
        let mut command = self.sandbox.ostler(args);
        command.env_remove("BU_CDP_WS").env("HOME", self.sandbox.path("person"));
        for variable in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            command.env(variable, "http://127.0.0.1:1");
        }
        Ran::of(&mut command)
    }

    fn line(&self) -> Line {
        Line::connect(&self.sandbox.socket())
    }
}

/// Returns what of a tool's result a model reads.
fn texts(result: &Value) -> String {
    let content = result["content"].as_array().expect("a result's content");
    content.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Asserts that a command did its work and said which browser the new daemon found.
#[track_caller]
fn assert_done_and_told(ran: &Ran, words: &str) {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("found a browser by itself") && ran.stderr.contains(words), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
}

fn evaluate() -> Value {
    json!({"method": "Runtime.evaluate", "params": {"expression": "6 * 7", "returnByValue": true}})
}

#[test]
fn a_browser_started_again_on_another_port_answers_the_next_call() {
    let person = Person::new();
    let mut browser = person.browser("chromium", "about:blank");
    assert_done_and_told(&person.ostler(&["js", "6 * 7"]), "the DevToolsActivePort of Chromium");
    person.ostler(&["js", "6 * 7"]).assert_done();
    let mut line = person.line();
    let task = |line: &mut Line| line.ask(json!({"meta": "tasks"}))["tasks"][0]["browser"].to_string();
    let shown = task(&mut line);
    assert!(
        shown.contains("the DevToolsActivePort of Chromium") && shown.contains(&browser.port().to_string()),
        "{shown}"
    );

    let before = browser.port();
    browser.kill();
    wait_until("the loss is noticed", || line.ask(evaluate())["error_code"] == "browser_gone");
    // Another browser of the person's runs meanwhile: nothing is sent there.
    fs::create_dir_all(person.profile("microsoft-edge")).expect("a profile folder");
    let _other = person.browser("microsoft-edge", "about:blank");
    assert_eq!(line.ask(evaluate())["error_code"], "browser_gone");

    let browser = person.browser("chromium", "about:blank");
    assert_ne!(browser.port(), before);
    wait_until("the next call works", || line.ask(evaluate())["result"]["result"]["value"] == 42);
    let shown = task(&mut line);
    assert!(shown.contains(&browser.port().to_string()), "{shown}");
}

#[test]
fn a_browser_that_was_away_for_long_answers_the_very_next_call_when_it_is_back() {
    let person = Person::new();
    let mut browser = person.browser("chromium", "about:blank");
    person.ostler(&["connect", "--browser", "chromium"]).assert_done();
    let mut line = person.line();
    browser.kill();
    wait_until("nobody looks again for a good while by itself", || {
        line.ask(evaluate())["retry_after_ms"].as_u64().is_some_and(|wait| wait > 3000)
    });
    let _browser = person.browser("chromium", "about:blank");
    let answer = line.ask(evaluate());
    assert_eq!(answer["result"]["result"]["value"], 42, "{answer}");
}

#[test]
fn a_browser_that_was_told_its_port_is_found_by_its_profile_and_its_name() {
    let person = Person::new();
    // Free a moment ago; a fixed port leaves no note in the profile.
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("bound").port();
    let profile = person.profile("chromium");
    let _browser = Chromium::start_in(&profile, &[&format!("--remote-debugging-port={port}"), "about:blank"]);
    assert!(!profile.join("DevToolsActivePort").exists(), "else there is nothing to see here");
    for named in [["--profile", &profile.display().to_string()], ["--browser", "chromium"]] {
        let ran = person.ostler(&["connect", named[0], named[1]]);
        ran.assert_done();
        assert!(ran.stdout.contains(&format!("127.0.0.1:{port} (the command line of Chromium")), "{ran:?}");
        person.sandbox.kill();
    }
}

#[test]
fn one_of_two_browsers_is_chosen_and_both_are_named() {
    let person = Person::new();
    fs::create_dir_all(person.profile("microsoft-edge")).expect("a profile folder");
    let first = person.browser("microsoft-edge", "about:blank");
    let second = person.browser("chromium", "about:blank");
    person.ostler(&["connect", "--browser", "edge"]).assert_done();
    let mut line = person.line();
    let tasks = line.ask(json!({"meta": "tasks"}))["tasks"].to_string();
    for said in ["the DevToolsActivePort of Microsoft Edge", "Chromium (`ostler connect --browser chromium`)"] {
        assert!(tasks.contains(said), "{tasks}");
    }
    assert!(tasks.contains(&first.port().to_string()), "{tasks}");

    let profile = person.profile("chromium").display().to_string();
    person.ostler(&["connect", "--profile", &profile, "--task", "other"]).assert_done();
    // The same browser by another name is the same connection.
    person.ostler(&["connect", "--browser", "Chromium", "--task", "third"]).assert_done();
    let tasks = line.ask(json!({"meta": "tasks"}))["tasks"].clone();
    for task in [&tasks[1], &tasks[2]] {
        assert!(task["browser"].to_string().contains(&second.port().to_string()), "{tasks}");
    }
    let log = fs::read_to_string(person.sandbox.log()).expect("a log");
    assert_eq!(log.matches("connected to").count(), 2, "{log}");
    let refused = person.ostler(&["connect", "--browser", "firefox"]);
    refused.assert_failed(2, &["firefox", "chrome, chromium, edge"]);
}

#[test]
fn after_a_connect_that_failed_nothing_is_done_in_a_browser_that_happens_to_run() {
    let person = Person::new();
    let browser = person.browser("chromium", "about:blank");
    for named in [
        &["connect", "--launch", "--executable", "/nowhere/chrome"] as &[&str],
        &["connect", "--browser", "edge"],
        &["connect", "http://127.0.0.1:1"],
    ] {
        person.ostler(named).assert_failed(1, &[]);
        let refused = person.ostler(&["js", "document.title = 'hijacked'"]);
        refused.assert_failed(
            1,
            &["task default is in no browser", "the last `ostler connect`", "a plain `ostler connect`"],
        );
        let tasks = person.line().ask(json!({"meta": "tasks"}))["tasks"].clone();
        assert!(tasks[0]["browser"].to_string().contains("is in no browser"), "{tasks}");
    }
    // Nor because another task has it dialled.
    person.ostler(&["--task", "other", "connect"]).assert_done();
    person.ostler(&["js", "1"]).assert_failed(1, &["task default is in no browser"]);
    person.ostler(&["connect"]).assert_done();
    let ran = person.ostler(&["js", "document.title + 1"]);
    ran.assert_done();
    assert_eq!(ran.stdout.trim(), "1", "nobody was there before");
    // A task that has a browser keeps it.
    person.ostler(&["connect", "--browser", "edge"]).assert_failed(1, &[]);
    person.ostler(&["js", "1"]).assert_done();
    drop(browser);
}

#[test]
fn after_a_daemon_was_killed_whoever_starts_another_is_told_which_browser_it_found() {
    let person = Person::new();
    let _browser = person.browser("chromium", "about:blank");
    let start_over = || {
        let mut launch = person.sandbox.ostler(&["connect", "--launch", "--flag=--disable-gpu"]);
        launch
            .env_remove("BU_CDP_WS")
            .env("HOME", person.sandbox.path("person"))
            .env("TMPDIR", person.sandbox.path(""));
        Ran::of(&mut launch).assert_done();
        person.sandbox.kill();
    };
    start_over();
    assert_done_and_told(&person.ostler(&["--json", "js", "1"]), "DevToolsActivePort of Chromium");
    person.ostler(&["stop"]).assert_done();
    start_over();
    let script = person.sandbox.path("script.py");
    fs::write(&script, "print(js('6 * 7')); print(js('6 * 7'))").expect("a file");
    let ran = person.ostler(&["run", &script.display().to_string()]);
    assert_done_and_told(&ran, "DevToolsActivePort of Chromium");
    assert_eq!(ran.stdout, "42\n42\n");
    // One who says which browser it is to be needs no words.
    person.sandbox.kill();
    person.ostler(&["connect"]).assert_done();
}

#[test]
fn a_browser_whose_process_is_stopped_is_passed_over_with_a_word() {
    let person = Person::new();
    fs::create_dir_all(person.profile("microsoft-edge")).expect("a profile folder");
    let _other = person.browser("chromium", "about:blank");
    let stopped = person.browser("microsoft-edge", "about:blank");
    let pid = fs::read_link(person.profile("microsoft-edge").join("SingletonLock")).expect("a lock");
    let pid: u32 = pid.to_string_lossy().rsplit_once('-').expect("host and pid").1.parse().expect("a pid");
    kill(pid, rustix::process::Signal::STOP);
    let words = format!("passed over: Microsoft Edge (pid {pid}), which answers nothing");
    assert_done_and_told(&person.ostler(&["js", "1"]), &words);
    let named = person.ostler(&["connect", "--browser", "edge"]);
    named.assert_failed(1, &["took the connection but did not answer"]);
    kill(pid, rustix::process::Signal::CONT);
    person.ostler(&["connect", "--browser", "edge"]).assert_done();
    drop(stopped);
}

/// Counts the connections to browsers that the daemon made.
fn connections(person: &Person) -> usize {
    fs::read_to_string(person.sandbox.log()).expect("a log").matches("connected to").count()
}

#[test]
fn a_browser_that_another_task_named_first_is_not_dialled_again_by_whoever_finds_it() {
    let person = Person::new();
    let browser = person.browser("chromium", "about:blank");
    person.ostler(&["connect", "--browser", "chromium", "--task", "a"]).assert_done();
    let mut line = person.line();
    // The default task is there since the daemon started, and has dialled nothing. Whoever listens to it goes on to.
    let mut listener = person.line();
    listener.send(&json!({"meta": "subscribe", "since": 0, "methods": ["Runtime.consoleAPICalled"]}));
    assert_eq!(line.ask(evaluate())["result"]["result"]["value"], 42);
    line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": "console.log('heard')"}}));
    let mut heard = listener.receive();
    while heard["method"].is_null() {
        heard = listener.receive();
    }
    assert_eq!(heard["params"]["args"][0]["value"], "heard");
    // By its address it is the same browser as well, for a third task and for one that had another.
    for task in ["b", "b", "default"] {
        for url in [browser.url(), browser.websocket_url(), browser.url().replace("127.0.0.1", "localhost")] {
            assert_eq!(line.ask(json!({"meta": "connect", "cdp_url": url, "task": task}))["ok"], true);
        }
    }
    assert_eq!(connections(&person), 1);
    let tasks = line.ask(json!({"meta": "tasks"}))["tasks"].clone();
    for task in tasks.as_array().expect("tasks") {
        assert_eq!([&task["active"], &task["tabs"]], [&json!(true), &json!(1)], "{tasks}");
    }
    // The one that named it leaves; the others stay in it.
    assert_eq!(line.ask(json!({"meta": "disconnect", "task": "a"}))["ok"], true);
    assert_eq!(line.ask(evaluate())["result"]["result"]["value"], 42);
    assert_eq!(connections(&person), 1);
}

#[test]
fn of_two_tasks_that_look_for_the_same_browser_at_once_one_dials_it() {
    let person = Person::new();
    let _browser = person.browser("chromium", "about:blank");
    // Starts the daemon, and touches no browser.
    person.ostler(&["dialog", "list"]);
    let mut first = person.line();
    let mut second = person.line();
    first.send(&evaluate());
    second.send(&json!({"meta": "connect", "browser": "chromium", "task": "a"}));
    assert_eq!(first.receive()["result"]["result"]["value"], 42);
    assert_eq!(second.receive()["ok"], true);
    assert_eq!(connections(&person), 1);
}

/// Chromium without a window cannot show its prompt, so it waits for ever: as for a person who is away.
#[test]
fn a_browser_that_asks_is_waited_for_and_everybody_is_told_at_once() {
    let person = Person::new();
    let allowed = r#"{"devtools":{"remote_debugging":{"user-enabled":true}}}"#;
    fs::write(person.profile("chromium").join("Local State"), allowed).expect("a setting");
    let browser = Chromium::start_in(&person.profile("chromium"), &["about:blank"]);

    let told = ["asks whether it may be debugged", "click Allow", &format!("127.0.0.1:{}", browser.port())];
    person.ostler(&["js", "1"]).assert_failed(1, &told);
    // The same prompt is still open: no second one was raised, whoever asks and however.
    person.ostler(&["js", "1"]).assert_failed(1, &told);
    person.ostler(&["connect"]).assert_failed(1, &told);
    let other = person.ostler(&["connect", "--browser", "chromium", "--task", "other"]);
    other.assert_failed(1, &told);
    other.assert_failed(1, &["the connection goes on by itself, with task other in it"]);
    let mut line = person.line();
    let answer = line.ask(evaluate());
    assert_eq!(answer["error_code"], "browser_gone", "{answer}");
    assert!(answer["retry_after_ms"].is_u64());
    let shown = line.ask(json!({"meta": "tasks"}))["tasks"].clone();
    for task in shown.as_array().expect("tasks") {
        assert!(task["browser"].to_string().contains("click Allow"), "{shown}");
    }
    assert_eq!(prompts(browser.port()), 1);
    person.ostler(&["stop"]).assert_done();
}

/// Counts the connections to a port that are established: each that waits is a prompt.
fn prompts(port: u16) -> usize {
    let table = fs::read_to_string("/proc/net/tcp").expect("Linux");
    let local = format!(":{port:04X}");
    table
        .lines()
        .filter(|line| {
            line.split_whitespace().nth(1).is_some_and(|at| at.ends_with(&local))
                && line.split_whitespace().nth(3) == Some("01")
        })
        .count()
}

#[test]
fn an_internal_page_is_not_driven_and_a_tab_of_our_own_is_opened_behind_it() {
    let person = Person::new();
    // Chromium makes a new tab page of it; beside it stand the popups of its address bar, as targets of their own.
    let _browser = person.browser("chromium", "chrome://newtab");
    let ran = person.ostler(&["js", "location.href"]);
    assert_done_and_told(&ran, "Chromium");
    assert_eq!(ran.stdout.trim(), "about:blank");
    let mut line = person.line();
    let targets = line.ask(json!({"method": "Target.getTargets"}))["result"]["targetInfos"].clone();
    let attached = |target: &&Value| target["attached"] == true;
    let ours: Vec<_> = targets.as_array().expect("targets").iter().filter(attached).collect();
    assert_eq!((ours.len(), &ours[0]["url"]), (1, &json!("about:blank")), "{targets}");
    let internal = |target: &Value| target["url"].as_str().is_some_and(|url| url.starts_with("chrome://"));
    assert!(targets.as_array().expect("targets").iter().any(internal), "{targets}");
}

#[test]
fn a_host_that_has_a_daemon_started_is_told_once_which_browser_it_found() {
    let person = Person::new();
    let _browser = person.browser("chromium", "about:blank");
    let mut mcp = person.sandbox.ostler(&["mcp"]);
    let mut host = Host::start(mcp.env_remove("BU_CDP_WS").env("HOME", person.sandbox.path("person")));
    // Nothing is driven for that, so there is no browser to tell of yet.
    let told = texts(&host.call("browser_tabs", json!({"action": "list"})));
    assert!(!told.contains("this is the browser it works in"), "{told}");
    let told = texts(&host.call("browser_cdp", evaluate()));
    let note = told.lines().last().expect("a line");
    assert!(
        note.contains("this is the browser it works in") && note.contains("DevToolsActivePort of Chromium"),
        "{told}"
    );
    let told = texts(&host.call("browser_cdp", evaluate()));
    assert!(!told.contains("this is the browser it works in"), "{told}");
    host.end();
    // A daemon that was there is no news.
    let mut mcp = person.sandbox.ostler(&["mcp"]);
    let mut host = Host::start(mcp.env_remove("BU_CDP_WS").env("HOME", person.sandbox.path("person")));
    let told = texts(&host.call("browser_cdp", evaluate()));
    assert!(!told.contains("this is the browser it works in"), "{told}");
    host.end();
}
