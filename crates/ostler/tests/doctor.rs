//! `ostler doctor`: what it says of a sound machine and of a broken one, what `--fix` mends, and no secret in any of it.

mod sandbox;

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use sandbox::{FakeDaemon, Ran, Sandbox};
use serde_json::Value;

/// Makes the sandbox a machine of its own, with a Python, a browser to launch, and folders that hold nothing.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("tmp")).expect("a folder");
    program(&sandbox, "python3", "echo 3.12.1");
    program(&sandbox, "chromium", "exit 1");
    // The machine that runs the tests may have little shared memory, which is no part of this.
    configure(&sandbox, "browser: {flags: [--disable-dev-shm-usage]}\n");
    sandbox
}

fn configure(sandbox: &Sandbox, yaml: &str) {
    let file = sandbox.home().join("config.yaml");
    fs::write(&file, yaml).expect("a configuration");
    fs::set_permissions(file, Permissions::from_mode(0o600)).expect("our file");
    fs::set_permissions(sandbox.home(), Permissions::from_mode(0o700)).expect("our folder");
}

fn program(sandbox: &Sandbox, name: &str, script: &str) {
    let folder = sandbox.path("bin");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(name), format!("#!/bin/sh\n{script}\n")).expect("a program");
    fs::set_permissions(folder.join(name), Permissions::from_mode(0o755)).expect("our file");
}

fn doctor(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.ostler(&[&["doctor"], args].concat());
    command.env("PATH", sandbox.path("bin")).env("HOME", sandbox.path("nobody")).env("TMPDIR", sandbox.path("tmp"));
    command
}

/// Returns the findings of one check: level and text.
fn findings(ran: &Ran, check: &str) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON on standard output");
    let all = report["findings"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.iter()
        .filter(|finding| finding["check"] == check)
        .map(|finding| (text(&finding["level"]), format!("{} → {}", text(&finding["what"]), text(&finding["fix"]))))
        .collect()
}

#[track_caller]
fn assert_found(ran: &Ran, check: &str, level: &str, words: &[&str]) {
    let found = findings(ran, check);
    let is_it = |(of, text): &(String, String)| of == level && words.iter().all(|word| text.contains(word));
    assert!(found.iter().any(is_it), "{check}: no {level} with {words:?} in {found:#?}");
}

/// Serves one browser's version page to whoever asks, until the test ends.
fn serve_version_page() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    let url = format!("ws://127.0.0.1:{port}/devtools/browser/S3CRET");
    let body = format!(r#"{{"Browser":"Chrome/1","webSocketDebuggerUrl":"{url}"}}"#);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let asked = BufReader::new(&client).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            assert!(asked.count() > 0);
            let length = body.len();
            let _ = write!(&client, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        }
    });
    port
}

#[test]
fn a_sound_machine_has_no_problem() {
    let sandbox = machine();
    let port = serve_version_page();
    let mut command = doctor(&sandbox, &[]);
    command.env_remove("BU_CDP_WS").env("BU_CDP_URL", format!("http://127.0.0.1:{port}/?token=S3CRET"));
    let ran = Ran::of(&mut command);
    ran.assert_done();
    let at = |name: &str| sandbox.path(name).display().to_string();
    let root = if rustix::process::geteuid().is_root() {
        format!(
            "note     launch     as root a browser is launched with --no-sandbox, so a hostile page is not contained\n\
             {:<19} → run ostler as a user that is not root\n",
            ""
        )
    } else {
        String::new()
    };
    let expected = format!(
        "ok       program    ostler {version}, {binary}\n\
         ok       settings   {config} is valid\n\
         ok       home       {home} is this user's alone to change\n\
         ok       files      {folder}: socket, pid file and log are this user's alone\n\
         ok       room       there is enough on every disk that is written to\n\
         ok       daemon     none runs (name t); the next command starts one\n\
         ok       browsers   the browser that BU_CDP_URL names answers (http://127.0.0.1:{port})\n\
         ok       launch     {chromium} is there to be launched\n\
         {root}\
         ok       cloud      no key is set; only `ostler connect --cloud` needs one\n\
         ok       proxy      no proxy variable is set\n\
         ok       python     python3 3.12.1\n\
         ok       leftovers  none\n\
         no problem\n",
        version = env!("CARGO_PKG_VERSION"),
        binary = env!("CARGO_BIN_EXE_ostler"),
        config = at("home/config.yaml"),
        home = at("home"),
        folder = at("").trim_end_matches('/'),
        chromium = at("bin/chromium"),
    );
    assert_eq!(ran.stdout, expected);
}

#[test]
fn a_broken_machine_is_told_one_fix_for_each_fault_and_no_secret() {
    let sandbox = machine();
    fs::remove_file(sandbox.path("bin/python3")).expect("it was there");
    fs::remove_file(sandbox.path("bin/chromium")).expect("it was there");
    fs::set_permissions(sandbox.home(), Permissions::from_mode(0o777)).expect("our folder");
    drop(UnixListener::bind(sandbox.path("bu-dead.sock")).expect("a free path"));
    let mut command = doctor(&sandbox, &["--json"]);
    command
        .env("BU_CDP_WS", "ws://127.0.0.1:1/devtools/browser/S3CRET")
        .env("BROWSER_USE_API_KEY", "S3CRET")
        .env("https_proxy", "http://ada:S3CRET@proxy.example");
    let ran = Ran::of(&mut command);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{ran:?}");
    assert!(!ran.stdout.contains("S3CRET"), "{}", ran.stdout);
    assert_found(&ran, "home", "problem", &["mode 777", "chmod go-w"]);
    assert_found(&ran, "browsers", "problem", &["no browser answers at", "connect --launch"]);
    assert_found(&ran, "launch", "note", &["no browser to launch", "install Chromium"]);
    assert_found(&ran, "cloud", "ok", &["BROWSER_USE_API_KEY is set"]);
    assert_found(&ran, "proxy", "note", &["https_proxy is set", "--proxy-server"]);
    assert_found(&ran, "python", "problem", &["there is no python3 on PATH", "OSTLER_PYTHON"]);
    assert_found(&ran, "leftovers", "note", &["bu-dead.sock", "doctor --fix"]);
    // It looked, and started nothing.
    assert!(!sandbox.pid_file().exists() && sandbox.path("bu-dead.sock").exists());
}

#[test]
fn a_setting_that_is_wrong_is_named_and_the_rest_is_still_looked_at() {
    let sandbox = machine();
    configure(&sandbox, "browser: {dialog_policy: maybe}\n");
    let ran = Ran::of(&mut doctor(&sandbox, &["--json"]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_found(
        &ran,
        "settings",
        "problem",
        &["browser.dialog_policy", "line 1", "use must_respond, auto_dismiss or auto_accept"],
    );
    assert_found(&ran, "python", "ok", &["3.12.1"]);
    configure(&sandbox, "");
    let ran = Ran::of(doctor(&sandbox, &["--json"]).env("BU_NAME", "a/b"));
    assert_found(&ran, "settings", "problem", &["BU_NAME"]);
}

#[test]
fn a_link_to_nowhere_and_a_folder_in_the_place_of_a_file_are_problems_that_can_be_mended() {
    let sandbox = machine();
    fs::remove_file(sandbox.home().join("config.yaml")).expect("it was there");
    std::os::unix::fs::symlink("/nowhere/at/all", sandbox.home().join("config.yaml")).expect("a link");
    fs::create_dir(sandbox.home().join("helpers.py")).expect("a folder");
    let ran = Ran::of(&mut doctor(&sandbox, &["--json"]));
    assert_found(
        &ran,
        "settings",
        "problem",
        &["config.yaml cannot be read: it is a link that leads nowhere", "move it"],
    );
    assert_found(&ran, "helpers", "problem", &["helpers.py cannot be read (it is a folder", "`ostler helpers reset`"]);
    sandbox.run(&["js", "1"]).assert_failed(2, &["config.yaml cannot be read: it is a link that leads nowhere"]);
    fs::remove_file(sandbox.home().join("config.yaml")).expect("the link");
    sandbox.run(&["helpers", "reset"]).assert_done();
    let ran = Ran::of(doctor(&sandbox, &["--json"]).env("OSTLER_PYTHON", "/nowhere/python3"));
    assert_eq!(findings(&ran, "helpers"), [], "what Python makes of it is for Python to say");
}

#[test]
fn what_is_wrong_in_one_place_is_told_by_one_check() {
    let sandbox = machine();
    fs::write(sandbox.socket(), "mine").expect("a file");
    let ran = Ran::of(&mut doctor(&sandbox, &["--json"]));
    assert_found(&ran, "files", "problem", &["is a regular file where a socket is needed", "remove it if you know it"]);
    assert_eq!(findings(&ran, "daemon"), []);
    let ran = Ran::of(doctor(&sandbox, &["--json"]).env("OSTLER_HOME", sandbox.socket()));
    assert_found(&ran, "home", "problem", &["is no folder"]);
    assert_eq!(findings(&ran, "settings"), []);
    let mut both = doctor(&sandbox, &["--json"]);
    let both = Ran::of(both.env("OSTLER_HOME", sandbox.socket()).env("BU_NAME", "a/b"));
    assert_found(&both, "settings", "problem", &["BU_NAME"]);
    assert!(findings(&ran, "cloud").iter().all(|(level, _)| level == "ok"), "{ran:?}");
}

#[test]
fn fix_mends_permissions_and_leftovers_and_a_second_look_finds_none() {
    let sandbox = machine();
    fs::set_permissions(sandbox.home(), Permissions::from_mode(0o777)).expect("our folder");
    drop(UnixListener::bind(sandbox.path("bu-dead.sock")).expect("a free path"));
    let profile = sandbox.path("tmp/ostler-profile-x");
    fs::create_dir(&profile).expect("a folder");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    fs::File::open(&profile).and_then(|folder| folder.set_modified(long_ago)).expect("a time");

    let ran = Ran::of(&mut doctor(&sandbox, &["--json", "--fix"]));
    assert_found(&ran, "home", "fixed", &["mode 755"]);
    assert_found(&ran, "leftovers", "fixed", &["removed", "bu-dead.sock"]);
    if Path::new("/proc/self").exists() {
        assert_found(&ran, "leftovers", "fixed", &["removed", "ostler-profile-x"]);
        assert!(!profile.exists());
    }
    let again = Ran::of(&mut doctor(&sandbox, &["--json"]));
    assert_found(&again, "leftovers", "ok", &["none"]);
    assert!(findings(&again, "home").iter().all(|(level, _)| level != "problem"), "{again:?}");
}

#[test]
fn a_cloud_browser_that_a_killed_daemon_left_is_a_problem_until_somebody_stops_it() {
    let sandbox = machine();
    let folder = sandbox.home().join("cloud");
    fs::create_dir(&folder).expect("a folder");
    let record = r#"{"provider":"browser-use","id":"b-1","api_base":"http://127.0.0.1:1","project":null,"daemon":"t"}"#;
    fs::write(folder.join("browser-use-x.json"), record).expect("a record");
    let ran = Ran::of(&mut doctor(&sandbox, &["--json"]));
    assert_found(&ran, "cloud", "problem", &["a cloud browser", "cost money", "stop --all"]);
    // Nobody can stop it without the key, and then it stays written down.
    let ran = Ran::of(&mut doctor(&sandbox, &["--json", "--fix"]));
    assert_found(&ran, "cloud", "problem", &["b-1", "BROWSER_USE_API_KEY"]);
    assert!(folder.join("browser-use-x.json").exists());
}

#[test]
fn a_daemon_of_another_version_is_a_problem_until_it_is_replaced() {
    let sandbox = machine();
    let _daemon = FakeDaemon::with_version(&sandbox, "0.0.1", |_| r#"{"ok":true}"#.to_owned());
    let ran = Ran::of(doctor(&sandbox, &["--json"]).env_remove("BU_CDP_WS"));
    assert_found(&ran, "daemon", "problem", &["version 0.0.1", "doctor --fix"]);
}

#[test]
fn fix_leaves_a_daemon_of_this_version_alone() {
    let sandbox = machine();
    let pid = sandbox.start();
    let ran = Ran::of(&mut doctor(&sandbox, &["--json", "--fix"]));
    assert_found(&ran, "daemon", "ok", &["t answers", &format!("pid {pid}")]);
    assert_eq!(sandbox.pid(), Some(pid));
}

#[cfg(target_os = "linux")]
#[test]
fn fix_replaces_a_daemon_whose_program_was_replaced() {
    let sandbox = machine();
    // A copy that can be replaced as an upgrade would do it.
    let copy = sandbox.path("ostler");
    fs::copy(env!("CARGO_BIN_EXE_ostler"), &copy).expect("room for a copy");
    let run = |args: &[&str]| {
        let of_this_test = doctor(&sandbox, &[]);
        let mut command = Command::new(&copy);
        command.args(args).env_clear();
        command.envs(of_this_test.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(&mut command)
    };
    run(&["--json", "cdp", "Browser.getVersion", "--timeout", "5"]).assert_daemon_answered();
    let before = sandbox.pid().expect("a daemon");
    let upgrade = sandbox.path("upgrade");
    fs::copy(env!("CARGO_BIN_EXE_ostler"), &upgrade).expect("room for a copy");
    fs::rename(&upgrade, &copy).expect("one step");
    assert_found(&run(&["doctor", "--json"]), "daemon", "problem", &["program file was replaced"]);
    assert_found(&run(&["doctor", "--json", "--fix"]), "daemon", "fixed", &["was replaced by one of this version"]);
    let after = sandbox.pid().expect("a daemon");
    assert_ne!(before, after);
    assert_found(&run(&["doctor", "--json"]), "daemon", "ok", &["t answers"]);
}
