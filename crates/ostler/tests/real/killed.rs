//! Daemon and guard killed at any instant, together or one of them: the next command finds nothing of theirs, or ends it.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::processes;
use super::sandbox::{Sandbox, wait_until};

/// How often each instant is tried.
const ROUNDS: u64 = 20;

/// What runs for the sandbox beside its daemon: guards and browsers name a folder of it.
fn running(sandbox: &Sandbox) -> Vec<u32> {
    processes::naming(&format!("{}/", sandbox.path("").display()).replace("//", "/"))
}

fn entries(folder: PathBuf, prefix: &str) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)).count()
}

#[track_caller]
fn assert_nothing_is_left(sandbox: &Sandbox) {
    wait_until("nothing of it runs", || running(sandbox).is_empty());
    wait_until("its profile is gone", || entries(sandbox.path(""), "ostler-profile-") == 0);
    wait_until("its note is gone", || entries(sandbox.home().join("launched"), "browser-") == 0);
}

fn launching(sandbox: &Sandbox, more: &[&str]) -> Command {
    let mut command = sandbox.ostler(&[&["connect", "--launch", "--flag=--disable-gpu"], more].concat());
    command.env_remove("BU_CDP_WS").env("TMPDIR", sandbox.path(""));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The browsers themselves: their helpers come and go as they like.
fn browsers(sandbox: &Sandbox) -> HashSet<u32> {
    let is_helper = |pid: &u32| processes::command_line(*pid).contains("--type=");
    running(sandbox).into_iter().filter(|pid| !is_helper(pid)).collect()
}

/// Kills what is there; what has gone by itself is as good.
fn kill_all(pids: impl IntoIterator<Item = u32>) {
    for pid in pids {
        let _ = kill_process(Pid::from_raw(pid.cast_signed()).expect("a pid"), Signal::KILL);
    }
}

/// Kills daemon and guard so that neither sees the other go.
fn kill_both(sandbox: &Sandbox) {
    let guards = processes::naming("guard-browser").into_iter().filter(|pid| running(sandbox).contains(pid));
    sandbox.kill_with(&guards.collect::<Vec<_>>());
}

#[test]
fn a_browser_whose_daemon_and_guard_were_killed_together_is_ended_by_whoever_comes_next() {
    for next in [&["cdp", "Browser.getVersion", "--timeout", "5"][..], &["stop", "--all"], &["doctor", "--fix"]] {
        let sandbox = Sandbox::new();
        assert!(launching(&sandbox, &[]).status().expect("ostler runs").success());
        kill_both(&sandbox);
        let left = browsers(&sandbox);
        assert!(!left.is_empty(), "a browser without daemon and guard runs on");
        assert_eq!(entries(sandbox.home().join("launched"), "browser-"), 1);
        let looked = sandbox.run(&["doctor"]);
        assert!(
            looked.stdout.contains("a killed daemon left a launched browser, or its profile, behind"),
            "{looked:?}"
        );
        assert_eq!(browsers(&sandbox), left, "a look ends nothing");
        sandbox.run(next);
        assert_nothing_is_left(&sandbox);
        sandbox.run(&["stop"]);
    }
}

#[test]
fn a_living_daemon_keeps_its_browser_though_the_guard_was_killed() {
    let sandbox = Sandbox::new();
    assert!(launching(&sandbox, &[]).status().expect("ostler runs").success());
    kill_all(processes::naming("guard-browser").into_iter().filter(|pid| running(&sandbox).contains(pid)));
    // Another daemon of this user looks around when it starts.
    let mut other = sandbox.ostler(&["cdp", "Browser.getVersion", "--timeout", "5"]);
    other.env("BU_NAME", "other").output().expect("ostler runs");
    sandbox.ostler(&["stop"]).env("BU_NAME", "other").output().expect("ostler runs");
    let mut asked = sandbox.ostler(&["js", "6*7"]);
    assert_eq!(asked.env_remove("BU_CDP_WS").output().expect("ostler runs").stdout, b"42\n");
    sandbox.run(&["stop"]).assert_done();
    assert_nothing_is_left(&sandbox);
}

#[test]
fn a_person_who_opened_a_kept_profile_meanwhile_keeps_that_browser() {
    let sandbox = Sandbox::new();
    let fake = fake_browser(&sandbox);
    let profile = sandbox.home().join("profiles/work");
    let mut client = start(&sandbox, &fake, &["--profile-name", "work"]);
    wait_until("it is noted", || entries(sandbox.home().join("launched"), "browser-") == 1);
    wait_until("it runs", || !processes::naming(&format!("--user-data-dir={}", profile.display())).is_empty());
    end(&mut client);
    let theirs = processes::naming(&format!("--user-data-dir={}", profile.display()));
    kill_both(&sandbox);
    kill_all(theirs);
    let mut person =
        Command::new(&fake).arg(format!("--user-data-dir={}", profile.display())).spawn().expect("it runs");
    sandbox.run(&["stop", "--all"]);
    assert!(person.try_wait().expect("ours").is_none(), "it was not noted, so it is not ours");
    end(&mut person);
    kill_all(running(&sandbox));
}

/// A browser that starts and never listens, so that a launch can be killed at any instant of it.
fn fake_browser(sandbox: &Sandbox) -> PathBuf {
    let path = sandbox.path("fake-browser");
    fs::write(&path, "#!/bin/sh\nsleep 1000 >/dev/null 2>&1 & wait\n").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("ours");
    path
}

fn start(sandbox: &Sandbox, fake: &std::path::Path, more: &[&str]) -> Child {
    let executable = format!("--executable={}", fake.display());
    launching(sandbox, &[&[executable.as_str()], more].concat()).spawn().expect("ostler runs")
}

fn end(child: &mut Child) {
    child.kill().and_then(|()| child.wait()).expect("ours");
}

#[test]
fn whatever_is_killed_at_whatever_instant_of_a_launch_leaves_nothing() {
    kill_at_any_instant(&[]);
}

#[test]
fn whatever_is_killed_at_whatever_instant_of_a_launch_with_a_kept_profile_leaves_nothing_either() {
    kill_at_any_instant(&["--profile-name", "work"]);
}

fn kill_at_any_instant(more: &[&str]) {
    let sandbox = Sandbox::new();
    let fake = fake_browser(&sandbox);
    for round in 0..2 * ROUNDS {
        let mut client = start(&sandbox, &fake, more);
        std::thread::sleep(Duration::from_millis(round / 2 * 12));
        // Whoever waits would start another daemon in the place of the one that is killed.
        end(&mut client);
        let daemon = sandbox.pid().filter(|pid| processes::command_line(*pid).contains("daemon"));
        let guards = if round % 2 == 0 { processes::naming("guard-browser") } else { Vec::new() };
        let guards = guards.into_iter().filter(|pid| running(&sandbox).contains(pid)).collect::<Vec<_>>();
        kill_all(guards.into_iter().chain(daemon));
        // One that was not there yet when we looked goes on, and ends in good order.
        sandbox.run(&["stop", "--all"]);
        sandbox.run(&["cdp", "Browser.getVersion", "--timeout", "5"]);
        assert_nothing_is_left(&sandbox);
        sandbox.run(&["stop"]);
    }
}
