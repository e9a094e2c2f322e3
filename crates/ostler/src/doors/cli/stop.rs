//! `ostler stop`: ends the daemon and waits until it is gone; with `--all`, every daemon and whatever one left behind.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;

use super::context::{Context, Meta, print_line};
use super::failure::Failure;
use crate::client::Client;
use crate::config::ClientSettings;
use crate::daemon::lock;
use crate::endpoint::cloud::leftovers::{self, Leftover};
use crate::exit_code::Exit;
use crate::paths::Paths;
use crate::times::CALL_DEFAULT;

/// Ends the daemon in good order.
///
/// Dialogs are answered, a browser of its own is closed, a cloud browser is stopped, its files are removed. Returns when it is gone, so that the next command starts a fresh one. Without a daemon there is nothing to do.
#[derive(Args, Debug)]
#[command(name = "stop")]
pub(super) struct Stop {
    /// End every daemon of the runtime folder, and stop the cloud browsers that killed ones left behind
    #[arg(long)]
    all: bool,
}

impl Stop {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        if self.all {
            return stop_all(context);
        }
        let settings = context.settings()?;
        let name = &settings.paths.name;
        let stopped = stop(&settings)?;
        if context.json {
            print_line(&json!({"ok": true, "stopped": stopped}).to_string())?;
        } else if stopped {
            print_line(&format!("stopped (name {name})"))?;
        } else {
            print_line(&format!("no daemon runs (name {name})"))?;
        }
        Ok(Exit::Success)
    }
}

/// Ends one daemon; returns whether there was one.
fn stop(settings: &ClientSettings) -> Result<bool, Failure> {
    let paths = &settings.paths;
    let Some(client) = Client::connect(settings)? else {
        if let Some(pid) = lock::holder(&paths.pid_file) {
            return Err(still_there(&paths.name, pid));
        }
        return Ok(false);
    };
    let mut client = client.with_any_browser();
    let pid = client.greet()?.pid;
    // Not `ask`: that the daemon is of another version is no news to someone who ends it.
    super::reply::not_an_error(client.request(&Meta { meta: "shutdown", task: None }, CALL_DEFAULT)?)?;
    drop(client);
    wait_until_gone(paths, pid)?;
    Ok(true)
}

/// Goes on after a failure, so that one daemon that does not end keeps no other alive.
fn stop_all(context: &Context) -> Result<Exit, Failure> {
    let ours = context.settings()?;
    let (mut stopped, mut failures) = (Vec::new(), Vec::new());
    for paths in ours.paths.all_in_folder() {
        let name = paths.name.clone();
        match stop(&ClientSettings { paths, ..ours.clone() }) {
            Ok(true) => stopped.push(name),
            Ok(false) => {}
            Err(failure) => failures.push(failure.to_string()),
        }
    }
    let environment = &context.environment;
    let found = leftovers::end_all(&environment.cloud_folder()?, &environment.cloud_keys()?);
    let (ended, left): (Vec<_>, Vec<_>) = found.iter().partition(|leftover| leftover.is_stopped());
    failures.extend(left.into_iter().map(Leftover::to_string));
    if context.json {
        let ended: Vec<_> = ended.iter().map(|one| json!({"provider": one.provider, "id": one.id})).collect();
        let reply = json!({"ok": failures.is_empty(), "stopped": stopped, "cloud": ended, "failures": failures});
        print_line(&reply.to_string())?;
        return Ok(if failures.is_empty() { Exit::Success } else { Exit::WorkFailed });
    }
    for name in &stopped {
        print_line(&format!("stopped (name {name})"))?;
    }
    for leftover in &ended {
        print_line(&leftover.to_string())?;
    }
    if stopped.is_empty() && ended.is_empty() && failures.is_empty() {
        print_line("no daemon runs, and none left a cloud browser behind")?;
    }
    if failures.is_empty() { Ok(Exit::Success) } else { Err(Failure::Work(failures.join("\nostler: "))) }
}

/// Waits until the daemon has let go of its name.
fn wait_until_gone(paths: &Paths, pid: Option<u32>) -> Result<(), Failure> {
    let deadline = Instant::now() + DEADLINE;
    while is_there(paths, pid) {
        if Instant::now() > deadline {
            return Err(match pid {
                Some(pid) => still_there(&paths.name, pid),
                None => Failure::Work(format!("the daemon's socket {} is still there", paths.socket.display())),
            });
        }
        thread::sleep(STEP);
    }
    Ok(())
}

/// Whether that daemon still has its files. It removes the pid file last; one that names another process belongs to
/// the next daemon. A daemon of another kind may have no pid file, so then the socket has to tell.
fn is_there(paths: &Paths, pid: Option<u32>) -> bool {
    match pid {
        Some(pid) if paths.pid_file.exists() => lock::holder(&paths.pid_file) == Some(pid),
        Some(_) => false,
        None => fs::symlink_metadata(&paths.socket).is_ok(),
    }
}

fn still_there(name: &str, pid: u32) -> Failure {
    Failure::Work(format!(
        "the daemon {name} (pid {pid}) does not end; look at its log, or end it at once with `kill -9 {pid}`"
    ))
}

/// How long an orderly end may take: the daemon's own steps, the stopping of a cloud browser among them, have shorter
/// limits.
const DEADLINE: Duration = Duration::from_secs(45);
/// How often to look.
const STEP: Duration = Duration::from_millis(5);
