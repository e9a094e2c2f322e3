//! `ostler config`: what holds, who said so, and no secret in it.

mod sandbox;

use std::fs;

use sandbox::{Ran, Sandbox};
use serde_json::{Value, json};

const FILE: &str = "\
browser:
  cdp_url: wss://file.example/?token=S3CRET
  headers:
    X-Key: S3CRET
  dialog_timeout_s: 12.50
  flags: [--mute-audio, --lang=de]
cloud: {browser_use: {api_base: 'https://api.example/S3CRET'}}
";

fn settings(ran: &Ran) -> Value {
    ran.assert_done();
    assert!(!ran.stdout.contains("S3CRET"), "{}", ran.stdout);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn each_setting_says_where_it_comes_from_and_secrets_are_hidden() {
    let sandbox = Sandbox::new();
    let file = sandbox.home().join("config.yaml");
    fs::write(&file, FILE).expect("a configuration");
    let line = |line: u32| format!("{} line {line}", file.display());
    let shown = settings(&Ran::of(sandbox.ostler(&["--json", "config", "show"]).env_remove("BU_CDP_WS")));
    for (name, value, from) in [
        ("browser.cdp_url", json!("wss://file.example/‹hidden›"), line(2)),
        ("browser.headers", json!({"X-Key": "‹hidden›"}), line(4)),
        ("browser.dialog_timeout_s", json!(12.5), line(5)),
        ("browser.flags", json!(["--mute-audio", "--lang=de"]), line(6)),
        ("cloud.browser_use.api_base", json!("https://api.example/‹hidden›"), line(7)),
        ("browser.dialog_policy", json!("must_respond"), "default".to_owned()),
        ("daemon.idle_timeout", Value::Null, "default".to_owned()),
        ("BU_NAME", json!("t"), "environment".to_owned()),
        ("OSTLER_LOG", json!("info"), "default".to_owned()),
    ] {
        assert_eq!(shown[name], json!({"value": value, "from": from}), "{name}");
    }
}

#[test]
fn the_environment_wins_over_the_file() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.home().join("config.yaml"), FILE).expect("a configuration");
    let mut command = sandbox.ostler(&["--json", "config", "show"]);
    let shown = settings(&Ran::of(command.env("BU_CDP_WS", "ws://127.0.0.1:9/devtools/browser/S3CRET")));
    assert_eq!(shown["browser.cdp_url"], json!({"value": "ws://127.0.0.1:9/‹hidden›", "from": "BU_CDP_WS"}));
}

#[test]
fn the_table_is_for_people() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["config", "show"]);
    ran.assert_done();
    let row = |name: &str| ran.stdout.lines().find(|line| line.starts_with(name)).expect(name).split_whitespace();
    assert_eq!(row("browser.dialog_policy ").collect::<Vec<_>>(), ["browser.dialog_policy", "must_respond", "default"]);
    assert_eq!(row("browser.executable ").collect::<Vec<_>>(), ["browser.executable", "-", "default"]);
}

#[test]
fn a_wrong_file_is_refused_by_place_and_key() {
    let sandbox = Sandbox::new();
    let file = sandbox.home().join("config.yaml");
    fs::write(&file, "daemon:\n  idle_timeout: soon\n").expect("a configuration");
    let said = format!("{} line 2, column 17: `daemon.idle_timeout`: \"soon\" must be", file.display());
    sandbox.run(&["config", "show"]).assert_failed(2, &[&said]);
}

#[test]
fn path_and_schema_need_no_file() {
    let sandbox = Sandbox::new();
    let path = sandbox.run(&["config", "path"]);
    path.assert_done();
    assert_eq!(path.stdout.trim_end(), sandbox.home().join("config.yaml").display().to_string());
    let schema = sandbox.run(&["config", "schema"]);
    schema.assert_done();
    let schema: Value = serde_json::from_str(&schema.stdout).expect("JSON");
    assert_eq!(schema["properties"]["browser"]["properties"]["quiet"]["default"], false);
}
