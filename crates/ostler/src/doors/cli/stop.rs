//! `ostler stop`: ends the daemon and waits until it is gone.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use super::context::{Context, Meta, print_line};
use super::failure::Failure;
use crate::daemon::lock;
use crate::exit_code::Exit;
use crate::paths::Paths;
use crate::times::CALL_DEFAULT;

/// Ends the daemon in good order.
///
/// Dialogs are answered, a browser of its own is closed, its files are removed. Returns when it is gone, so that the next command starts a fresh one. Without a daemon there is nothing to do.
#[derive(Args, Debug)]
#[command(name = "stop")]
pub(super) struct Stop {}

impl Stop {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let paths = context.settings()?.paths;
        let name = &paths.name;
        let Some(mut client) = context.connect_if_running()? else {
            if let Some(pid) = lock::holder(&paths.pid_file) {
                return Err(still_there(name, pid));
            }
            print(context, &format!("no daemon runs (name {name})"), false)?;
            return Ok(Exit::Success);
        };
        let pid = client.greet()?.pid;
        // Not `ask`: that the daemon is of another version is no news to someone who ends it.
        super::reply::not_an_error(client.request(&Meta { meta: "shutdown", task: None }, CALL_DEFAULT)?)?;
        drop(client);
        wait_until_gone(&paths, pid)?;
        print(context, &format!("stopped (name {name})"), true)?;
        Ok(Exit::Success)
    }
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

fn print(context: &Context, sentence: &str, stopped: bool) -> Result<(), Failure> {
    if context.json { print_line(&format!(r#"{{"ok":true,"stopped":{stopped}}}"#)) } else { print_line(sentence) }
}

/// How long an orderly end may take: the daemon's own steps have shorter limits.
const DEADLINE: Duration = Duration::from_secs(30);
/// How often to look.
const STEP: Duration = Duration::from_millis(5);
