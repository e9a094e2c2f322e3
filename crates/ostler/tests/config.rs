//! `ostler config`: what holds, who said so, and no secret in it.

mod sandbox;

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

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
    let said = format!(
        "{} line 2, column 17: `daemon.idle_timeout`: is the text \"soon\", and must be a number of seconds",
        file.display()
    );
    sandbox.run(&["config", "show"]).assert_failed(2, &[&said]);
}

/// Makes a pipe that nobody writes to.
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success());
}

/// Runs a command that must end at once; one that waits for a pipe never would.
fn said(sandbox: &Sandbox, args: &[&str]) -> String {
    let mut command = Command::new("timeout");
    let ostler = sandbox.ostler(args);
    command.arg("20").arg(ostler.get_program()).args(args).env_clear();
    command.envs(ostler.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::of(&mut command);
    assert_ne!(ran.code, Some(124), "it hangs: {args:?}");
    ran.stderr + &ran.stdout
}

#[test]
fn a_config_that_is_no_file_of_text_is_refused_at_once_and_in_words() {
    let sandbox = Sandbox::new();
    let file = sandbox.home().join("config.yaml");
    let refused = |why: &str| {
        let begins = format!("ostler: {} cannot be read: {why}; put it right", file.display());
        for args in [&["config", "show"][..], &["daemon"], &["status"]] {
            let said = said(&sandbox, args);
            // What needs no settings works without.
            assert!(said.starts_with(&begins) || args == ["status"], "{args:?}: {said}");
        }
        assert!(said(&sandbox, &["doctor"]).contains(&format!("cannot be read: {why}")));
        fs::remove_file(&file).or_else(|_| fs::remove_dir(&file)).expect("ours");
    };
    pipe(&file);
    refused("it is a pipe, and a regular file is needed");
    symlink("/dev/zero", &file).expect("a link");
    refused("it is a device, and a regular file is needed");
    fs::create_dir(&file).expect("a folder");
    refused("it is a folder, and a regular file is needed");
    File::create(&file).and_then(|file| file.set_len(1 << 30)).expect("a file with a hole");
    refused("it has more than the 1 MiB that are read of it");
    fs::write(&file, b"browser:\n  executable: /opt/\xe4\n").expect("a file");
    refused("line 2 is not UTF-8 text");
    symlink(&file, &file).expect("a link");
    refused("Too many levels of symbolic links (os error 40)");
}

#[test]
fn helpers_and_a_token_that_are_pipes_are_refused_at_once() {
    let sandbox = Sandbox::new();
    pipe(&sandbox.home().join("helpers.py"));
    for args in [&["helpers", "diff"][..], &["run", "/dev/null"]] {
        assert!(said(&sandbox, args).contains("it is a pipe"), "{args:?}: {}", said(&sandbox, args));
    }
    pipe(&sandbox.home().join("mcp-token"));
    let said = said(&sandbox, &["mcp", "--http", "127.0.0.1:0"]);
    assert!(said.contains("it is a pipe"), "{said}");
}

#[test]
fn a_key_would_go_out_in_clear_only_to_this_machine() {
    let sandbox = Sandbox::new();
    let file = sandbox.home().join("config.yaml");
    fs::write(&file, "cloud:\n  browser_use:\n    api_base: http://evil.example\n").expect("a configuration");
    let said = "line 3, column 15: `cloud.browser_use.api_base`: is http:// to another machine, which would show the API \
                key to the network; give a URL such as https://api.example.com, or http:// on this machine";
    sandbox.run(&["config", "show"]).assert_failed(2, &[said]);
    fs::write(&file, "cloud:\n  browser_use:\n    api_base: http://127.0.0.1:9\n").expect("a configuration");
    sandbox.run(&["config", "show"]).assert_done();
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
