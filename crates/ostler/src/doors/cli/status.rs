//! `ostler status`: who is there, at a glance. It asks nothing that waits for the browser.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::context::{Context, Meta, print_line};
use super::dialog::{self, State};
use super::failure::Failure;
use super::{reply, text};
use crate::client::{Client, Pong};
use crate::exit_code::Exit;
use crate::times::CALL_DEFAULT;

/// Shows the daemon, and each task with its browser, tabs and dialogs.
///
/// Never waits for the browser and never starts a daemon.
#[derive(Args, Debug)]
#[command(name = "status")]
pub(super) struct Status {}

#[derive(Deserialize)]
struct Tasks {
    tasks: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Task {
    task: String,
    browser_kind: String,
    /// Which one it is and how it was found, or why there is none; another daemon's may not say.
    browser: Option<String>,
    active: bool,
    tabs: u64,
}

/// What is known of one task: each part is what the daemon said, or why it did not.
struct Shown {
    raw: Box<RawValue>,
    summary: Task,
    state: Result<Vec<u8>, Failure>,
    page: Result<Vec<u8>, Failure>,
}

/// The `connection_status` request.
#[derive(Serialize)]
struct AskConnection<'a> {
    meta: &'static str,
    task: &'a str,
    /// Never: a browser that has stopped would be waited for.
    fresh: bool,
}

/// The reply to it.
#[derive(Deserialize)]
struct Connection {
    page: Option<Page>,
}

#[derive(Deserialize)]
struct Page {
    url: String,
    title: String,
}

impl Status {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let name = context.settings()?.paths.name;
        let Some(mut client) = context.connect_if_running()? else {
            if context.json {
                print_line(&json!({"name": name, "daemon": null, "tasks": []}).to_string())?;
            } else {
                print_line(&format!("no daemon runs (name {name}); the next command starts one"))?;
            }
            return Ok(Exit::Success);
        };
        let daemon = client.greet()?.clone();
        let tasks: Tasks =
            reply::read(&context.ask(&mut client, &Meta { meta: "tasks", task: None }, CALL_DEFAULT)?)?;
        let mut shown = Vec::with_capacity(tasks.tasks.len());
        for raw in tasks.tasks {
            shown.push(look_at(raw, &mut client)?);
        }
        if context.json {
            print_json(&name, &daemon, &shown)?
        } else {
            print_table(context, &name, &daemon, &shown)?
        }
        Ok(Exit::Success)
    }
}

/// Asks for all that the daemon knows of one task. A task that ended meanwhile leaves gaps, not a failure.
fn look_at(raw: Box<RawValue>, client: &mut Client) -> Result<Shown, Failure> {
    let summary: Task = reply::read(raw.get().as_bytes())?;
    let ask_state = Meta { meta: "state", task: Some(&summary.task) };
    let state = reply::not_an_error(client.request(&ask_state, CALL_DEFAULT)?);
    let ask_page = AskConnection { meta: "connection_status", task: &summary.task, fresh: false };
    let page = reply::not_an_error(client.request(&ask_page, CALL_DEFAULT)?);
    Ok(Shown { raw, summary, state, page })
}

fn print_json(name: &str, daemon: &Pong, shown: &[Shown]) -> Result<(), Failure> {
    let value = |json: &[u8]| serde_json::from_slice::<Value>(json).unwrap_or_default();
    let tasks: Vec<Value> = shown
        .iter()
        .map(|task| {
            let mut entry = value(task.raw.get().as_bytes());
            if let Ok(reply) = &task.state {
                entry["state"] = value(reply)["state"].take();
            }
            if let Ok(reply) = &task.page {
                entry["page"] = value(reply)["page"].take();
            }
            entry
        })
        .collect();
    let daemon = json!({"pid": daemon.pid, "version": daemon.version, "browser_kind": daemon.browser_kind});
    print_line(&json!({"name": name, "daemon": daemon, "tasks": tasks}).to_string())
}

fn print_table(context: &Context, name: &str, daemon: &Pong, shown: &[Shown]) -> Result<(), Failure> {
    let pid = daemon.pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
    let version = daemon.version.as_deref().unwrap_or("unknown");
    print_line(&format!("daemon   {name}{pid}, version {version}, {}", context.settings()?.paths.socket.display()))?;
    for task in shown {
        print_task(task)?;
    }
    Ok(())
}

fn print_task(task: &Shown) -> Result<(), Failure> {
    let Task { task: name, browser_kind, browser, active, tabs } = &task.summary;
    let attached = if *active { "attached" } else { "not attached" };
    let tabs = if *tabs == 1 { "1 tab".to_owned() } else { format!("{tabs} tabs") };
    print_line(&format!("task     {name}: {browser_kind} browser, {attached}, {tabs}"))?;
    if let Some(browser) = browser {
        print_line(&format!("  in     {browser}"))?;
    }
    match &task.page {
        Ok(reply) => {
            if let Some(Page { url, title }) = reply::read::<Connection>(reply)?.page {
                print_line(&format!("  tab    {} {}", text::short(&url, 80), text::short(&title, 40)))?;
            }
        }
        Err(why) => print_line(&format!("  tab    {why}"))?,
    }
    match &task.state {
        Ok(reply) => {
            for dialog in reply::read::<State>(reply)?.state.pending_dialogs {
                print_line(&format!("  dialog {}", dialog.words(dialog::now())))?;
            }
        }
        Err(why) => print_line(&format!("  state  {why}"))?,
    }
    Ok(())
}
