//! Secrets in every place that takes one: none of them is seen anywhere, however things go wrong.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::browser::Chromium;
use super::cloud_service::{BROWSER_USE_KEY, BROWSERBASE_KEY, CloudService};
use super::line::Line;
use super::processes;
use super::sandbox::{Ran, Sandbox, wait_until};

/// What all secrets of this test have in them, those of the service included.
const SECRET: &str = "S3CRET";

/// Everything that anybody can see of ostler, by where it is seen.
#[derive(Default)]
struct Seen(BTreeMap<String, String>);

impl Seen {
    fn add(&mut self, place: &str, text: &str) {
        self.0.entry(place.to_owned()).or_default().push_str(text);
    }

    fn add_run(&mut self, args: &[&str], ran: &Ran) {
        self.add(&format!("ostler {}", args.join(" ").replace(SECRET, "…")), &format!("{}{}", ran.stdout, ran.stderr));
    }

    #[track_caller]
    fn assert_clean(&self) {
        for (place, text) in &self.0 {
            let line = text.lines().find(|line| line.contains(SECRET));
            assert_eq!(line, None, "a secret is seen in: {place}");
        }
    }
}

/// Looks at what a daemon shows of itself and what the processes that it started were given.
fn look_around(sandbox: &Sandbox, seen: &mut Seen) {
    for args in [&["status"] as &[&str], &["status", "--json"], &["config", "show"], &["config", "show", "--json"]] {
        seen.add_run(args, &Ran::of(&mut with_keys(sandbox, args)));
    }
    let mut line = Line::connect(&sandbox.socket());
    for meta in ["ping", "tasks", "state", "connection_status", "events"] {
        seen.add(meta, &line.ask(json!({"meta": meta, "fresh": false})).to_string());
    }
    let daemon = sandbox.pid().expect("a daemon");
    seen.add("the daemon's arguments", &processes::command_line(daemon));
    for child in processes::descendants(daemon) {
        let arguments = processes::command_line(child);
        seen.add(&format!("the environment of {arguments}"), &processes::environment(child));
        seen.add("the arguments of a child", &arguments);
    }
}

/// A command in an environment full of secrets, that names no browser.
fn with_keys(sandbox: &Sandbox, args: &[&str]) -> std::process::Command {
    let mut command = sandbox.ostler(args);
    command.env_remove("BU_CDP_WS").env("OSTLER_LOG", "debug");
    command.env("BROWSER_USE_API_KEY", BROWSER_USE_KEY).env("BROWSERBASE_API_KEY", BROWSERBASE_KEY);
    command
}

fn with_stdin(mut command: std::process::Command, text: &str) -> Ran {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("ostler");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), text.as_bytes()).expect("it reads");
    Ran::from(child.wait_with_output().expect("its output"))
}

#[test]
fn no_secret_is_seen_while_all_goes_well() {
    let (sandbox, chromium) = (Sandbox::new(), Chromium::start());
    let service = CloudService::with_browser_at(&chromium.url());
    let options = "    options:\n      proxyPassword: S3CRET-of-the-options\n";
    let browser = format!(
        "browser:\n  cdp_url: {}/?token=S3CRET-of-the-url\n  headers:\n    X-Key: S3CRET-of-the-header\n",
        chromium.url()
    );
    fs::write(sandbox.home().join("config.yaml"), service.config(options, "") + &browser).expect("a file");

    let mut seen = Seen::default();
    let version = ["cdp", "Browser.getVersion"];
    let ran = Ran::of(&mut with_keys(&sandbox, &version));
    ran.assert_done();
    seen.add_run(&version, &ran);
    let ran =
        Ran::of(with_keys(&sandbox, &["connect", "--task", "far", "--cloud", "browser-use"]).stdin(Stdio::null()));
    ran.assert_done();
    // Its live URL is for whoever asked for it, and for nobody else.
    assert!(ran.stdout.contains(super::cloud_service::LIVE));
    let launch = ["connect", "--task", "own", "--launch", "--flag=--disable-gpu"];
    let ran = Ran::of(&mut with_keys(&sandbox, &launch));
    ran.assert_done();
    seen.add_run(&launch, &ran);
    look_around(&sandbox, &mut seen);
    for record in fs::read_dir(sandbox.home().join("cloud")).expect("a folder").flatten() {
        seen.add("the record of a cloud browser", &fs::read_to_string(record.path()).expect("a record"));
    }
    let ran = Ran::of(&mut with_keys(&sandbox, &["stop"]));
    ran.assert_done();
    seen.add_run(&["stop"], &ran);
    seen.add("the log", &fs::read_to_string(sandbox.log()).expect("a log"));
    seen.assert_clean();
    assert!(seen.0["the log"].contains("cloud browser"), "the log tells of it");
}

#[test]
fn no_secret_is_seen_on_any_path_that_fails() {
    let (sandbox, chromium) = (Sandbox::new(), Chromium::start());
    let service = CloudService::with_browser_at("http://127.0.0.1:1/S3CRET-path?token=S3CRET-token");
    fs::write(sandbox.home().join("config.yaml"), service.config("", "")).expect("a file");
    let mut seen = Seen::default();

    // URLs: of all shapes, by every way in, at ports where nobody or somebody else answers.
    let dead = "127.0.0.1:1";
    let other = format!("127.0.0.1:{}", chromium.port());
    for (scheme, host) in [
        ("ws", dead),
        ("wss", dead),
        ("http", dead),
        ("https", dead),
        ("ws", &other),
        ("wss", &other),
        ("http", &other),
        ("https", &other),
        ("ftp", &other),
        ("", ""),
    ] {
        let url = format!("{scheme}://{host}/S3CRET-path?token=S3CRET-token");
        let ran = with_stdin(with_keys(&sandbox, &["connect", "-"]), &url);
        seen.add_run(&["connect", "-", scheme, host], &ran);
        for variable in ["BU_CDP_WS", "BU_CDP_URL"] {
            let args = ["--json", "cdp", "Browser.getVersion", "--timeout", "3"];
            let mut command = with_keys(&sandbox, &args);
            command.env(variable, &url).env("BU_NAME", "u");
            seen.add_run(&[variable, scheme, host], &Ran::of(&mut command));
            Ran::of(with_keys(&sandbox, &["stop"]).env("BU_NAME", "u")).assert_done();
        }
    }
    let userinfo = format!("http://user:S3CRET-password@{other}");
    seen.add_run(&["connect", "-", "userinfo"], &with_stdin(with_keys(&sandbox, &["connect", "-"]), &userinfo));

    // The cloud: refusals that repeat what they were sent, answers that make no sense, addresses that lead nowhere.
    let echo = format!(r#"{{"detail": "{BROWSER_USE_KEY} {BROWSERBASE_KEY} S3CRET-option"}}"#);
    for status in [400, 401, 402, 403, 404, 422, 429, 500] {
        service.prepare("POST /bu/browsers", status, &echo.replace(BROWSERBASE_KEY, ""));
        let args = ["connect", "--cloud", "browser-use", "--options", "-"];
        let ran = with_stdin(with_keys(&sandbox, &args), r#"{"customProxy": {"password": "S3CRET-option"}}"#);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        seen.add_run(&args, &ran);
    }
    for answer in
        ["", "no JSON S3CRET-answer", r#"{"id": "S3CRET/answer"}"#, r#"{"id": "b-1", "cdpUrl": "S3CRET-url"}"#]
    {
        service.prepare("POST /bu/browsers", 201, answer);
        let args = ["connect", "--cloud", "browser-use"];
        seen.add_run(&args, &Ran::of(&mut with_keys(&sandbox, &args)));
    }
    for options in ["S3CRET", r#"["S3CRET"]"#, ""] {
        let args = ["connect", "--cloud", "browser-use", "--options", "-"];
        let ran = with_stdin(with_keys(&sandbox, &args), options);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        seen.add_run(&args, &ran);
    }
    let args = ["connect", "--cloud", "browser-use", "--option", "S3CRET-without-a-value"];
    seen.add_run(&args, &Ran::of(&mut with_keys(&sandbox, &args)));
    let mut unsendable = with_keys(&sandbox, &["connect", "--cloud", "browser-use"]);
    seen.add_run(&["with a key that cannot be sent"], &Ran::of(unsendable.env("BROWSER_USE_API_KEY", "S3CRET\nkey")));
    let mut adopted = with_keys(&sandbox, &["js", "1"]);
    adopted.env("BU_NAME", "u").env("BU_BROWSER_ID", "S3CRET/../id");
    seen.add_run(&["with a bad BU_BROWSER_ID"], &Ran::of(&mut adopted));

    // The file: wrong in every place that may hold a secret.
    let good = fs::read_to_string(sandbox.home().join("config.yaml")).expect("it was written");
    for wrong in [
        "browser:\n  cdp_url: S3CRET-url\n",
        "browser:\n  cdp_url: [S3CRET-url]\n",
        "browser:\n  headers:\n    X-Key: \"S3CRET\\nheader\"\n",
        "browser:\n  headers: S3CRET-header\n",
        "cloud:\n  browser_use:\n    api_base: ftp://S3CRET-base\n",
        "cloud:\n  browser_use:\n    options: S3CRET-options\n",
    ] {
        fs::write(sandbox.home().join("config.yaml"), wrong).expect("a file");
        for args in [&["js", "1"] as &[&str], &["config", "show"]] {
            let ran = Ran::of(with_keys(&sandbox, args).env("BU_NAME", "u"));
            assert_eq!(ran.code, Some(2), "{wrong}: {ran:?}");
            seen.add_run(args, &ran);
        }
    }
    fs::write(sandbox.home().join("config.yaml"), good).expect("a file");

    look_around(&sandbox, &mut seen);
    // Some of the services above may have started a browser that they never named, which is told once and fails.
    let ran = Ran::of(&mut with_keys(&sandbox, &["stop", "--all"]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("never learned its name"), "{ran:?}");
    seen.add_run(&["stop", "--all"], &ran);
    for name in ["t", "u"] {
        let log = sandbox.path(&format!("bu-{name}.log"));
        wait_until("the log is written", || log.exists());
        seen.add(&format!("the log of {name}"), &fs::read_to_string(log).expect("a log"));
    }
    seen.assert_clean();
}
