//! `ostler dialog`: shows the open dialogs and answers them.

use std::time::SystemTime;

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::context::{Context, Meta, print_line};
use super::failure::Failure;
use super::{reply, screen, text};
use crate::exit_code::Exit;
use crate::times::CALL_DEFAULT;

/// Answers an open dialog, or lists them.
///
/// With one dialog open no id is needed; with several, `ostler dialog list` shows their ids.
#[derive(Args, Debug)]
#[command(name = "dialog")]
pub(super) struct Dialog {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Press OK
    Accept {
        /// What to type into a prompt first [default: the text that the page offers]
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        text: Option<String>,

        /// Which dialog, such as d-3
        #[arg(long, value_name = "ID")]
        id: Option<String>,
    },
    /// Press Cancel
    Dismiss {
        /// Which dialog, such as d-3
        #[arg(long, value_name = "ID")]
        id: Option<String>,
    },
    /// Show the open dialogs
    List,
}

/// The `dialog` request.
#[derive(Serialize)]
struct Answer<'a> {
    meta: &'static str,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog_id: Option<&'a str>,
}

/// Its reply.
#[derive(Deserialize)]
struct Answered {
    dialog: ClosedDialog,
}

#[derive(Deserialize)]
struct ClosedDialog {
    id: String,
    #[serde(rename = "type")]
    kind: String,
}

/// The reply to `state`, as far as dialogs go.
#[derive(Deserialize)]
pub(super) struct State {
    pub(super) state: Dialogs,
}

#[derive(Deserialize)]
pub(super) struct Dialogs {
    /// Absent while no supervisor is attached.
    #[serde(default)]
    pub(super) pending_dialogs: Vec<OpenDialog>,
}

/// An open dialog.
#[derive(Deserialize)]
pub(super) struct OpenDialog {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    message: String,
    opened_at: f64,
    #[serde(default = "answerable")]
    answerable: bool,
}

/// A dialog is answerable unless it says otherwise.
fn answerable() -> bool {
    true
}

impl Dialog {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        match &self.action {
            Action::Accept { text, id } => answer(context, "accept", text.as_deref(), id.as_deref()),
            Action::Dismiss { id } => answer(context, "dismiss", None, id.as_deref()),
            Action::List => list(context),
        }
    }
}

fn answer(
    context: &Context,
    action: &'static str,
    prompt_text: Option<&str>,
    dialog_id: Option<&str>,
) -> Result<Exit, Failure> {
    let request = Answer { meta: "dialog", action, task: context.task.as_deref(), prompt_text, dialog_id };
    let reply = context.ask(&mut context.connect()?, &request, CALL_DEFAULT)?;
    let Answered { dialog } = reply::read(&reply)?;
    let done = if action == "accept" { "accepted" } else { "dismissed" };
    context.print(&reply, &format!("{done} the {} {}", dialog.kind, dialog.id))?;
    Ok(Exit::Success)
}

fn list(context: &Context) -> Result<Exit, Failure> {
    let request = Meta { meta: "state", task: context.task.as_deref() };
    let reply = context.ask(&mut context.connect()?, &request, CALL_DEFAULT)?;
    if context.json {
        // The daemon's own objects, with fields that this version may not know.
        #[derive(Deserialize, Serialize)]
        struct Raw {
            #[serde(default)]
            pending_dialogs: Vec<Box<serde_json::value::RawValue>>,
        }
        #[derive(Deserialize)]
        struct Outer {
            state: Raw,
        }
        let Outer { state } = reply::read(&reply)?;
        print_line(&serde_json::to_string(&state).expect("plain data with text keys serializes"))?;
        return Ok(Exit::Success);
    }
    let State { state } = reply::read(&reply)?;
    if state.pending_dialogs.is_empty() {
        print_line(&format!("no dialog is open in task {}", context.task_name()))?;
    }
    for dialog in &state.pending_dialogs {
        print_line(&dialog.words(now()))?;
    }
    Ok(Exit::Success)
}

impl OpenDialog {
    /// Returns its id, such as `d-3`.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Returns what it asks.
    pub(super) fn question(&self) -> String {
        format!("{} {:?}", self.kind, screen::one_line(&self.message, 80))
    }

    /// Returns the dialog on one line, with how long it has been open.
    pub(super) fn words(&self, now: f64) -> String {
        let age = text::age(now - self.opened_at);
        let message = screen::one_line(&self.message, 80);
        let hint = if self.answerable { "" } else { "  (not answerable: navigate, reload or close the tab)" };
        format!("{:<5} {:<12} open {age:<7} {message:?}{hint}", self.id, self.kind)
    }
}

/// Returns the time in the unit of `opened_at`: seconds since the Unix epoch.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |age| age.as_secs_f64())
}
