//! `ostler stop`: ends the daemon and waits until it is gone; with `--all`, every daemon and whatever one left behind.

use clap::Args;
use serde_json::json;

use super::context::{Context, print_line};
use super::failure::{FAILED, Failure};
use crate::config::ClientSettings;
use crate::ending;
use crate::endpoint::cloud::Record;
use crate::endpoint::cloud::leftovers::{self, Leftover};
use crate::endpoint::{self, LeftBrowser};
use crate::exit_code::Exit;

/// Ends the daemon in good order.
///
/// Dialogs are answered, a browser of its own is closed, a cloud browser is stopped, its files are removed. Returns when it is gone, so that the next command starts a fresh one. Without a daemon there is nothing to do.
#[derive(Args, Debug)]
#[command(name = "stop")]
pub(super) struct Stop {
    /// End every daemon of the runtime folder, and the browsers, launched or rented, that killed ones left behind
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
        let stopped = ending::end(&settings)?;
        if stopped && let Some(left) = left_by(name, context)? {
            return Err(Failure::Work(left));
        }
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

/// Says which cloud browsers a daemon that has ended could not stop.
fn left_by(name: &str, context: &Context) -> Result<Option<String>, Failure> {
    // A folder that cannot be read is one that the daemon could not write to: there was no cloud browser.
    let left = leftovers::left(&context.environment.cloud_folder()?).unwrap_or_default();
    let sentence = |record: Record| {
        let why = record.not_stopped.map_or_else(String::new, |why| format!(" ({why})"));
        let provider = record.provider.name();
        record.id.map(|id| format!("the {provider} cloud browser {id} was not stopped{why}"))
    };
    let theirs = left.into_iter().filter(|record| record.daemon == name);
    let left: Vec<_> = theirs.filter_map(sentence).collect();
    Ok((!left.is_empty()).then(|| {
        format!(
            "the daemon {name} has ended, but {}, and may still run and cost money: try again with `ostler stop --all`, or \
             stop it in the service's dashboard",
            left.join("; ")
        )
    }))
}

/// Goes on after a failure, so that one daemon that does not end keeps no other alive.
fn stop_all(context: &Context) -> Result<Exit, Failure> {
    let ours = context.settings()?;
    let (mut stopped, mut failures) = (Vec::new(), Vec::new());
    for paths in ours.paths.all_in_folder() {
        let name = paths.name.clone();
        match ending::end(&ClientSettings { paths, ..ours.clone() }) {
            Ok(true) => stopped.push(name),
            Ok(false) => {}
            Err(error) => failures.push(error.to_string()),
        }
    }
    let environment = &context.environment;
    let found = leftovers::end_all(&environment.cloud_folder()?, &environment.cloud_keys()?);
    let browsers = endpoint::end_left(&environment.launched_folder()?);
    failures.extend(browsers.iter().filter(|browser| !browser.is_ended).map(LeftBrowser::to_string));
    let (ended, left): (Vec<_>, Vec<_>) = found.iter().partition(|leftover| leftover.is_stopped());
    failures.extend(left.into_iter().map(Leftover::to_string));
    if context.json {
        let ended: Vec<_> = ended.iter().map(|one| json!({"provider": one.provider, "id": one.id})).collect();
        let launched = browsers.iter().filter(|browser| browser.is_ended);
        let launched: Vec<_> = launched.map(|one| json!({"pid": one.pid, "profile": one.profile})).collect();
        let mut reply = json!({
            "ok": failures.is_empty(), "stopped": stopped, "cloud": ended, "launched": launched, "failures": failures,
        });
        if !failures.is_empty() {
            (reply["error"], reply["error_code"]) = (failures.join("; ").into(), FAILED.into());
        }
        print_line(&reply.to_string())?;
        return Ok(if failures.is_empty() { Exit::Success } else { Exit::WorkFailed });
    }
    for name in &stopped {
        print_line(&format!("stopped (name {name})"))?;
    }
    for leftover in &ended {
        print_line(&leftover.to_string())?;
    }
    for browser in browsers.iter().filter(|browser| browser.is_ended) {
        print_line(&browser.to_string())?;
    }
    if stopped.is_empty() && ended.is_empty() && browsers.is_empty() && failures.is_empty() {
        print_line("no daemon runs, and none left a browser behind")?;
    }
    if failures.is_empty() { Ok(Exit::Success) } else { Err(Failure::Work(failures.join("\nostler: "))) }
}
