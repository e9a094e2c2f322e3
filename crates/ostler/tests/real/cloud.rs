//! Cloud browsers: asked for, driven, and stopped exactly once, whatever dies when.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::browser::Chromium;
use super::cloud_service::{BROWSER_USE_KEY, BROWSERBASE_KEY, CloudService, LIVE, Request};
use super::line::Line;
use super::processes;
use super::sandbox::{Ran, Sandbox, kill, wait_until};

/// A service with a browser behind it, and a place to run ostler in that knows both.
struct Rented {
    sandbox: Sandbox,
    service: CloudService,
    chromium: Chromium,
}

impl Rented {
    fn new() -> Self {
        let chromium = Chromium::start();
        let rented =
            Self { sandbox: Sandbox::new(), service: CloudService::with_browser_at(&chromium.url()), chromium };
        rented.configure("", "");
        rented
    }

    fn configure(&self, browser_use: &str, browserbase: &str) {
        let config = self.service.config(browser_use, browserbase);
        std::fs::write(self.sandbox.home().join("config.yaml"), config).expect("a file");
    }

    /// Returns a command whose environment has the keys and names no browser.
    fn ostler(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.sandbox.ostler(args);
        command.env_remove("BU_CDP_WS");
        command.env("BROWSER_USE_API_KEY", BROWSER_USE_KEY).env("BROWSERBASE_API_KEY", BROWSERBASE_KEY);
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.ostler(args))
    }

    fn doctor(&self) -> Ran {
        Ran::of(self.ostler(&["doctor"]).env("HOME", self.sandbox.path("nobody")))
    }

    #[track_caller]
    fn connect(&self, args: &[&str]) -> Value {
        let ran = self.run(&[&["connect", "--json", "--cloud"], args].concat());
        ran.assert_done();
        serde_json::from_str(&ran.stdout).expect("JSON")
    }

    /// Starts a command that asks a service which has been asked and does not answer before it is let.
    fn connecting(&self) -> Child {
        self.service.hold(true);
        let mut command = self.ostler(&["connect", "--cloud", "browser-use"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("ostler");
        wait_until("it was asked for", || !self.service.seen().is_empty());
        child
    }

    /// Returns the records of the browsers that somebody has to stop.
    fn records(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.sandbox.home().join("cloud"));
        entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    }

    /// Asserts that as many browsers were asked for, each was stopped once, and nothing is left to do.
    #[track_caller]
    fn assert_all_stopped(&self, created: usize) {
        assert_eq!(self.service.created_and_stops(), (created, vec![1; created]), "{:?}", self.service.seen());
        assert_eq!(self.records(), Vec::<PathBuf>::new());
    }

    fn guard(&self) -> u32 {
        let daemon = self.sandbox.pid().expect("a daemon");
        let guards = processes::children(daemon, "guard-cloud-browser");
        assert_eq!(guards.len(), 1, "one guard for one browser");
        guards[0]
    }
}

#[test]
fn a_browser_use_browser_is_asked_for_driven_and_stopped_once() {
    let rented = Rented::new();
    rented.configure("    options:\n      proxyCountryCode: de\n      timeout: 15\n", "");
    let reply = rented.connect(&["browser-use", "--option", "timeout=30", "--option", "enableRecording=true"]);
    let id = reply["cloud"]["id"].as_str().expect("an id");
    assert_eq!(reply["cloud"]["provider"], "browser-use");
    assert_eq!(reply["cloud"]["live_url"], format!("https://live.example/?wss={LIVE}"));
    assert_eq!(reply["task"]["browser_kind"], "cloud");
    let asked = json!({"proxyCountryCode": "de", "timeout": 30, "enableRecording": true});
    assert_eq!(rented.service.seen(), [Request::new("POST", "/bu/browsers", asked.clone())]);
    assert_eq!(rented.records().len(), 1, "it is written down while it runs");

    let mut line = Line::connect(&rented.sandbox.socket());
    assert_eq!(line.js("6 * 7"), 42);
    assert_eq!(line.ask(json!({"meta": "ping"}))["browser_kind"], "cloud");
    // Asking again for what it has starts nothing.
    assert_eq!(rented.connect(&["browser-use"])["cloud"]["id"], id);

    rented.run(&["stop"]).assert_done();
    rented.assert_all_stopped(1);
    let stopped = Request::new("PATCH", &format!("/bu/browsers/{id}"), json!({"action": "stop"}));
    assert_eq!(rented.service.seen(), [Request::new("POST", "/bu/browsers", asked), stopped]);
}

#[test]
fn a_browserbase_browser_is_asked_for_driven_and_released_once() {
    let rented = Rented::new();
    rented.configure("", "    project_id: proj-1\n    options:\n      region: eu-central-1\n      browserSettings: '{\"viewport\": {\"width\": 800}}'\n");
    rented.service.set_address(&rented.chromium.websocket_url());
    let reply = rented.connect(&["browserbase"]);
    let id = reply["cloud"]["id"].as_str().expect("an id");
    assert_eq!(reply["cloud"]["live_url"], format!("https://live.example/{LIVE}"));
    assert_eq!(Line::connect(&rented.sandbox.socket()).js("6 * 7"), 42);

    rented.run(&["stop"]).assert_done();
    rented.assert_all_stopped(1);
    let asked =
        json!({"region": "eu-central-1", "browserSettings": {"viewport": {"width": 800}}, "projectId": "proj-1"});
    let released = json!({"status": "REQUEST_RELEASE", "projectId": "proj-1"});
    assert_eq!(
        rented.service.seen(),
        [
            Request::new("POST", "/bb/sessions", asked),
            Request::new("GET", &format!("/bb/sessions/{id}/debug"), Value::Null),
            Request::new("POST", &format!("/bb/sessions/{id}"), released),
        ]
    );
}

#[test]
fn a_task_that_ends_or_moves_on_stops_its_browser() {
    let rented = Rented::new();
    rented.connect(&["browser-use"]);
    rented.run(&["disconnect"]).assert_done();
    rented.assert_all_stopped(1);

    rented.connect(&["browser-use"]);
    rented.run(&["connect", &rented.chromium.url()]).assert_done();
    rented.assert_all_stopped(2);
}

#[test]
fn a_cloud_browser_is_kept_unless_other_options_ask_for_another_one() {
    let rented = Rented::new();
    let id = |reply: Value| reply["cloud"]["id"].as_str().expect("an id").to_owned();
    let first = id(rented.connect(&["browser-use", "--option", "timeout=30", "--option", "proxyCountryCode=de"]));
    assert_eq!(id(rented.connect(&["browser-use", "--option", "timeout=30"])), first);
    let second = id(rented.connect(&["browser-use", "--option", "timeout=60"]));
    assert_ne!(second, first);
    assert_eq!(rented.service.created_and_stops(), (2, vec![1, 0]), "the first one costs nothing any more");
    rented.run(&["stop"]).assert_done();
    rented.assert_all_stopped(2);
}

#[test]
fn an_address_that_comes_later_is_waited_for() {
    let rented = Rented::new();
    rented.service.tell_address_later();
    rented.connect(&["browser-use"]);
    assert_eq!(Line::connect(&rented.sandbox.socket()).js("1 + 1"), 2);
    rented.run(&["stop"]).assert_done();
    rented.assert_all_stopped(1);
}

#[test]
fn a_killed_daemon_leaves_a_guard_that_stops_the_browser() {
    let rented = Rented::new();
    rented.connect(&["browser-use"]);
    rented.sandbox.kill();
    wait_until("the record is gone", || rented.records().is_empty());
    rented.assert_all_stopped(1);
}

#[test]
fn what_a_killed_daemon_and_its_killed_guard_leave_is_stopped_by_the_next_command() {
    let rented = Rented::new();
    rented.connect(&["browser-use"]);
    let guard = rented.guard();
    rented.sandbox.kill_with(&[guard]);
    assert_eq!(rented.service.created_and_stops(), (1, vec![0]), "nobody is left to stop it");
    // Any command that needs a daemon; this one fails, since there is no browser.
    rented
        .ostler(&["js", "1"])
        .env("BU_CDP_WS", super::sandbox::NO_BROWSER)
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    rented.assert_all_stopped(1);

    rented.connect(&["browser-use"]);
    let guard = rented.guard();
    rented.sandbox.kill_with(&[guard]);
    let mut keyless = rented.sandbox.ostler(&["stop", "--all"]);
    let ran = Ran::of(&mut keyless);
    ran.assert_failed(1, &["may still run", "BROWSER_USE_API_KEY"]);
    let ran = rented.run(&["stop", "--all"]);
    ran.assert_done();
    assert!(ran.stdout.contains("stopped the browser-use cloud browser 3c90c3cc-0001"), "{ran:?}");
    rented.assert_all_stopped(2);
}

#[test]
fn a_guard_that_was_killed_is_stood_in_for() {
    let rented = Rented::new();
    rented.connect(&["browser-use"]);
    kill(rented.guard(), Signal::KILL);
    rented.run(&["stop"]).assert_done();
    rented.assert_all_stopped(1);
}

#[test]
fn a_daemon_that_is_killed_while_it_asks_leaves_no_browser() {
    let rented = Rented::new();
    let mut connecting = rented.connecting();
    rented.sandbox.kill();
    connecting.wait().expect("it ends");
    assert_eq!(rented.records().len(), 1, "the intent is written down");
    rented.service.hold(false);
    wait_until("the record is gone", || rented.records().is_empty());
    rented.assert_all_stopped(1);
}

#[test]
fn a_daemon_that_is_killed_at_any_instant_of_a_create_or_a_stop_leaves_no_browser() {
    let rented = Rented::new();
    for round in 0..20 {
        let mut connecting = rented.ostler(&["connect", "--cloud", "browser-use"]);
        let connecting = connecting.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if round % 2 == 0 {
            let mut client = connecting.spawn().expect("ostler runs");
            std::thread::sleep(Duration::from_millis(round * 15));
            // Whoever waits would start another daemon in the place of the one that is killed.
            client.kill().and_then(|()| client.wait()).expect("ours");
        } else {
            assert!(connecting.status().expect("ostler runs").success());
            let mut client = rented.ostler(&["stop"]).spawn().expect("ostler runs");
            std::thread::sleep(Duration::from_millis(round * 2));
            client.kill().and_then(|()| client.wait()).expect("ours");
        }
        if let Some(daemon) = rented.sandbox.pid() {
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_raw(daemon.cast_signed()).expect("a pid"),
                Signal::KILL,
            );
        }
        rented.run(&["stop", "--all"]);
        wait_until("its guard has ended", || {
            let guards = processes::naming("guard-cloud-browser");
            !guards
                .iter()
                .any(|pid| processes::environment(*pid).contains(&rented.sandbox.home().display().to_string()))
        });
        rented.run(&["stop", "--all"]);
    }
    let (created, _) = rented.service.created_and_stops();
    assert!(created >= 10, "every other round has a browser: {created}");
    rented.assert_all_stopped(created);
}

#[test]
fn a_command_that_gives_up_waiting_leaves_no_browser() {
    let rented = Rented::new();
    let mut connecting = rented.connecting();
    connecting.kill().and_then(|()| connecting.wait()).expect("it ends");
    rented.service.hold(false);
    wait_until("the record is gone", || rented.records().is_empty());
    rented.assert_all_stopped(1);
}

#[test]
fn a_refusal_is_told_in_the_services_own_words_and_leaves_nothing() {
    let rented = Rented::new();
    let said = format!(r#"{{"detail": "no credits left for {BROWSER_USE_KEY} and pw-S3CRET"}}"#);
    rented.service.prepare("POST /bu/browsers", 402, &said);
    let ran = rented.run(&["connect", "--cloud", "browser-use", "--option", "proxyPassword=pw-S3CRET"]);
    ran.assert_failed(
        1,
        &["browser-use refused to start a browser (status 402: no credits left for ‹hidden› and ‹hidden›)"],
    );
    assert!(!ran.stderr.contains("S3CRET"), "{ran:?}");
    rented.assert_all_stopped(0);

    let ran = Ran::of(rented.ostler(&["connect", "--cloud", "browserbase"]).env("BROWSERBASE_API_KEY", "wrong-S3CRET"));
    ran.assert_failed(1, &["status 401: Invalid API key", "check BROWSERBASE_API_KEY"]);
}

#[test]
fn a_service_that_may_have_started_a_browser_without_naming_it_is_not_forgotten() {
    for (status, answer, words) in
        [(200, r#"{"status": "active"}"#, "names no browser"), (502, "bad gateway", "status 502")]
    {
        let rented = Rented::new();
        rented.service.prepare("POST /bu/browsers", status, answer);
        rented.run(&["connect", "--cloud", "browser-use"]).assert_failed(1, &[words, "dashboard of browser-use"]);
        assert_eq!(rented.service.seen().len(), 1, "nothing is asked for twice");
        assert_eq!(rented.records().len(), 1, "somebody may have to pay for it");
        let ran = rented.doctor();
        let said = "browser-use was asked for a browser by daemon t and never named one";
        assert!(ran.stdout.contains(said) && ran.stdout.contains("dashboard of browser-use"), "{ran:?}");
        assert!(!ran.stdout.contains("has ended was not stopped"), "{ran:?}");
        let ran = rented.run(&["stop", "--all"]);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains("never learned its name"), "{ran:?}");
        assert_eq!(rented.records().len(), 0, "it is told once");
    }
}

#[test]
fn without_a_key_every_try_is_told_so_at_once() {
    let rented = Rented::new();
    for (service, variable) in [("browser-use", "BROWSER_USE_API_KEY"), ("browserbase", "BROWSERBASE_API_KEY")] {
        for _ in 0..2 {
            // Neither the command has a key nor the daemon that the first one started.
            let ran = Ran::of(&mut rented.sandbox.ostler(&["connect", "--cloud", service]));
            ran.assert_failed(1, &["no API key", variable]);
        }
    }
    assert!(rented.service.seen().is_empty(), "there is nothing to ask with");
}

#[test]
fn a_browser_that_cannot_be_reached_is_stopped() {
    let rented = Rented::new();
    rented.service.set_address("ftp://127.0.0.1/S3CRET");
    let ran = rented.run(&["connect", "--cloud", "browser-use"]);
    ran.assert_failed(1, &["the address that the cloud service gave"]);
    assert!(!ran.stderr.contains("S3CRET"), "{ran:?}");
    wait_until("the record is gone", || rented.records().is_empty());
    rented.assert_all_stopped(1);
}

#[test]
fn a_stop_that_fails_for_a_moment_is_tried_again_and_one_that_fails_for_good_is_left_for_later() {
    let rented = Rented::new();
    rented.connect(&["browser-use"]);
    rented.service.prepare("PATCH /bu/browsers", 503, "");
    rented.run(&["stop"]).assert_done();
    rented.assert_all_stopped(1);

    rented.connect(&["browser-use"]);
    rented.service.prepare("PATCH /bu/browsers", 403, r#"{"detail": "not now"}"#);
    let ran = rented.run(&["stop"]);
    ran.assert_failed(
        1,
        &["daemon t has ended", "3c90c3cc-0001 was not stopped", "status 403: not now", "`ostler stop --all`"],
    );
    assert_eq!(rented.records().len(), 1, "whoever comes next knows of it");
    let ran = rented.doctor();
    let said = "a cloud browser of a daemon that has ended was not stopped (browser-use refused";
    assert!(ran.code == Some(1) && ran.stdout.contains(said), "{ran:?}");
    rented.run(&["stop", "--all"]).assert_done();
    rented.assert_all_stopped(2);
}

#[test]
fn a_task_that_leaves_a_browser_which_cannot_be_stopped_says_so() {
    let rented = Rented::new();
    for (stops, leave) in [(1, &["disconnect"] as &[&str]), (2, &["connect", &rented.chromium.url()])] {
        rented.connect(&["browser-use"]);
        rented.service.prepare("PATCH /bu/browsers", 403, r#"{"detail": "not now"}"#);
        let ran = rented.run(leave);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("was not stopped, and may still run and cost money"), "{ran:?}");
        assert!(!ran.stdout.is_empty(), "what was asked for is done: {ran:?}");
        rented.run(&["stop", "--all"]).assert_done();
        rented.assert_all_stopped(stops);
    }
}

#[test]
fn a_browser_whose_guard_was_killed_is_its_living_daemons_own() {
    let rented = Rented::new();
    rented.connect(&["browser-use"]);
    kill(rented.guard(), Signal::KILL);
    // A daemon of another name starts and finds the record with nobody holding it.
    let mut other = rented.ostler(&["js", "1"]);
    other.env("BU_NAME", "other").env("BU_CDP_WS", super::sandbox::NO_BROWSER);
    assert_eq!(Ran::of(&mut other).code, Some(1));
    let ran = rented.doctor();
    assert!(!ran.stdout.contains("was not stopped"), "{ran:?}");
    assert_eq!(rented.service.created_and_stops(), (1, vec![0]));
    assert_eq!(Line::connect(&rented.sandbox.socket()).js("6 * 7"), 42);
    rented.run(&["stop", "--all"]).assert_done();
    rented.assert_all_stopped(1);
}

#[test]
fn a_lost_connection_is_restored_without_another_browser_and_a_browser_that_is_over_says_so() {
    let mut rented = Rented::new();
    rented.connect(&["browser-use"]);
    let port = rented.chromium.port();
    rented.chromium.kill();
    let mut line = Line::connect(&rented.sandbox.socket());
    let evaluate = json!({"method": "Runtime.evaluate", "params": {"expression": "1"}});
    wait_until("the loss is known", || {
        let answer = line.ask(evaluate.clone());
        let said = answer["error"].as_str().unwrap_or_default();
        said.contains("3c90c3cc-0000 cannot be reached")
            && said.contains("`ostler connect --cloud browser-use` starts another")
    });
    rented.chromium = Chromium::start_on(port);
    wait_until("the connection is restored", || line.ask(evaluate.clone()).get("result").is_some());
    assert_eq!(rented.service.created_and_stops(), (1, vec![0]));

    // The same address, and nobody knows that browser any more.
    rented.chromium.kill();
    let _gone = super::cloud_service::Gone::at(port);
    wait_until("it is over", || line.ask(evaluate.clone())["error"].as_str().unwrap_or_default().contains("is over"));
    assert!(
        line.ask(evaluate)["error"].as_str().is_some_and(|error| error.contains("ostler connect --cloud browser-use"))
    );
    assert_eq!(rented.service.created_and_stops(), (1, vec![0]), "and nothing is rented unasked");
    rented.run(&["stop"]).assert_done();
    rented.assert_all_stopped(1);
}

#[test]
fn a_browser_that_somebody_else_started_is_stopped_with_the_daemon() {
    let rented = Rented::new();
    let version = ["cdp", "Browser.getVersion"];
    // With its address, or by its id alone.
    for address in [Some(rented.chromium.url()), None] {
        let before = rented.service.created_and_stops().0;
        let id = rented.service.add_browser();
        let mut command = rented.ostler(&version);
        command.env("BU_BROWSER_ID", &id);
        if let Some(address) = &address {
            command.env("BU_CDP_URL", address);
        }
        Ran::of(&mut command).assert_done();
        assert_eq!(rented.records().len(), 1);
        let mut line = Line::connect(&rented.sandbox.socket());
        assert_eq!(line.ask(json!({"meta": "ping"}))["browser_kind"], "cloud");
        // It is the daemon's, not a task's.
        line.ask(json!({"meta": "disconnect"}));
        line.cdp("Browser.getVersion", json!({}));
        rented.run(&["stop"]).assert_done();
        rented.assert_all_stopped(before + 1);
    }
}

#[test]
fn a_browser_id_that_could_not_be_stopped_is_refused() {
    let rented = Rented::new();
    let mut keyless = rented.sandbox.ostler(&["js", "1"]);
    Ran::of(keyless.env("BU_BROWSER_ID", "b-1")).assert_failed(2, &["BU_BROWSER_ID", "BROWSER_USE_API_KEY"]);
    let mut bad = rented.ostler(&["js", "1"]);
    Ran::of(bad.env("BU_BROWSER_ID", "../../billing")).assert_failed(2, &["BU_BROWSER_ID"]);
    let mut unknown = rented.ostler(&["js", "1"]);
    Ran::of(unknown.env("BU_BROWSER_ID", "b-1")).assert_failed(1, &["BU_BROWSER_ID", "404", "dashboard"]);
    rented.assert_all_stopped(0);
}

#[test]
fn a_script_rents_a_browser_under_a_name_of_its_own_and_gives_it_back() {
    let rented = Rented::new();
    let script = rented.sandbox.path("script.py");
    let text = r#"
browser = start_remote_daemon("far", timeout=20, proxyCountryCode="de")
print(browser["name"], browser["provider"], browser["id"])
print(stop_remote_daemon("far"), stop_remote_daemon("far"))
try:
    start_remote_daemon("far", refuse=True)
except RuntimeError as error:
    print(error)
"#;
    std::fs::write(&script, text).expect("a file");
    let path = script.to_str().expect("a plain path");
    let mut command = rented.ostler(&["run", path]);
    // The script's own daemon has another browser, which is none of the other one's business.
    command.env("BU_CDP_WS", super::sandbox::NO_BROWSER).env("OSTLER_TASK", "mine");
    rented.service.prepare("POST /bu/browsers", 201, &rented.service.new_browser());
    rented.service.prepare("POST /bu/browsers", 402, r#"{"detail": "no credits"}"#);
    let ran = Ran::of(&mut command);
    ran.assert_done();
    let mut lines = ran.stdout.lines();
    assert_eq!(lines.next(), Some("far browser-use 3c90c3cc-0000"), "{ran:?}");
    assert_eq!(lines.next(), Some("True False"), "{ran:?}");
    assert!(lines.next().is_some_and(|line| line.contains("status 402: no credits")), "{ran:?}");
    rented.assert_all_stopped(1);
    let asked = json!({"timeout": 20, "proxyCountryCode": "de"});
    assert_eq!(rented.service.seen()[0], Request::new("POST", "/bu/browsers", asked));
}

#[test]
fn a_killed_daemon_leaves_neither_a_launched_browser_nor_a_cloud_browser() {
    let rented = Rented::new();
    rented.connect(&["browser-use", "--task", "far"]);
    let ran =
        Ran::of(rented.ostler(&["connect", "--launch", "--flag=--disable-gpu"]).env("TMPDIR", rented.sandbox.path("")));
    ran.assert_done();
    let daemon = rented.sandbox.pid().expect("a daemon");
    let started = processes::descendants(daemon);
    // Two guards, and Chromium's own.
    assert!(started.len() > 3, "{started:?}");
    rented.sandbox.kill();
    // One more command, as a person would run it.
    rented.run(&["stop", "--all"]).assert_done();
    wait_until("every process is gone", || started.iter().all(|pid| processes::command_line(*pid).is_empty()));
    wait_until("the record is gone", || rented.records().is_empty());
    rented.assert_all_stopped(1);
}

#[test]
fn stop_all_ends_every_daemon() {
    let rented = Rented::new();
    rented.connect(&["browser-use"]);
    Ran::of(rented.ostler(&["connect", "--cloud", "browser-use"]).env("BU_NAME", "second")).assert_done();
    let ran = rented.run(&["stop", "--all"]);
    ran.assert_done();
    assert_eq!(ran.stdout, "stopped (name second)\nstopped (name t)\n");
    rented.assert_all_stopped(2);
    assert_eq!(rented.run(&["stop", "--all"]).stdout, "no daemon runs, and none left a browser behind\n");
}
