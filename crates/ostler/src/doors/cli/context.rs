//! What every verb has at hand: the settings, the task, and the way to the daemon.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::{reply, screen};
use crate::client::Client;
use crate::config::{ClientSettings, ConfigError, Environment};
use crate::exit_code::Exit;
use crate::meta::value::task_name;

/// One run of the command.
#[derive(Debug)]
pub(super) struct Context {
    /// The variables that the user set.
    pub(super) environment: Environment,
    /// The task that the user named; none means the daemon's default.
    pub(super) task: Option<String>,
    /// Whether JSON is wanted.
    pub(super) json: bool,
}

impl Context {
    /// Fills in from the environment what the arguments leave open.
    pub(super) fn new(task: Option<String>, json: bool) -> Result<Self, Failure> {
        let environment = Environment::of_this_process();
        let (source, task) = match task {
            Some(task) => ("--task", Some(task)),
            None => ("OSTLER_TASK", environment.task()?),
        };
        // Some verbs look at all tasks and would never say that this cannot be one.
        if let Some(Err(why)) = task.as_deref().map(task_name) {
            return Err(Failure::WrongCall(format!("{source}: {why}")));
        }
        Ok(Self { environment, task, json })
    }

    /// Returns the task's name for people.
    pub(super) fn task_name(&self) -> &str {
        self.task.as_deref().unwrap_or("default")
    }

    /// Returns where the daemon is and which browser it should have.
    pub(super) fn settings(&self) -> Result<ClientSettings, Failure> {
        Ok(self.environment.client_settings()?)
    }

    /// Connects to the daemon, starting it if need be.
    pub(super) fn connect(&self) -> Result<Client, Failure> {
        let settings = self.settings()?;
        if let Some(named) = &settings.browser {
            // What is no URL is told as that, and not as another browser than the running daemon's.
            named.check().map_err(ConfigError::Browser)?;
        }
        Ok(Client::connect_or_start(&settings)?)
    }

    /// Connects to the daemon if it runs. For verbs about the daemon itself, whichever browser it has.
    pub(super) fn connect_if_running(&self) -> Result<Option<Client>, Failure> {
        Ok(Client::connect(&self.settings()?)?.map(Client::with_any_browser))
    }

    /// Sends one request and returns the reply's line, which is no error. Where the daemon has just been started and has
    /// found a browser by itself, the user is told which one.
    pub(super) fn ask(
        &self,
        client: &mut Client,
        request: &impl Serialize,
        patience: Duration,
    ) -> Result<Vec<u8>, Failure> {
        let answered = self.ask_for_one(client, request, patience);
        if client.is_first
            && let Some(note) = self.found_by_itself(client)
        {
            eprintln!("ostler: {}", screen::harmless(&note));
        }
        answered
    }

    /// The same for a request that says which browser it is about.
    pub(super) fn ask_for_one(
        &self,
        client: &mut Client,
        request: &impl Serialize,
        patience: Duration,
    ) -> Result<Vec<u8>, Failure> {
        let reply = client.request(&Spoken { request, words: "cli" }, patience)?;
        Self::mention_version(client);
        reply::not_an_error(reply)
    }

    /// Returns a sentence about the browser that a new daemon found. What an earlier one had, launched or rented, is gone
    /// with that one, and a person's own browser is easily taken for it.
    fn found_by_itself(&self, client: &mut Client) -> Option<String> {
        let reply = client.request(&Meta { meta: "tasks", task: None }, Duration::ZERO).ok()?;
        let Tasks { tasks } = serde_json::from_slice(&reply).ok()?;
        let ours = tasks.into_iter().find(|task| task.task == self.task_name())?;
        (ours.active && ours.browser_kind == "local").then(|| {
            format!(
                "no daemon ran, and the one that was started for this found a browser by itself: {}; `ostler connect` takes \
                 another",
                ours.browser
            )
        })
    }

    /// Tells the user when the daemon that answered is older or newer than this command.
    pub(super) fn mention_version(client: &Client) {
        if let Some(note) = client.version_note() {
            eprintln!("ostler: {}", screen::harmless(&note));
        }
    }

    /// Tells of a browser that was to end and was not, and returns what the command exits with: its work is done, and
    /// something costs money that nobody knows of.
    pub(super) fn mind_what_is_left(&self, left_behind: Option<&str>) -> Exit {
        let Some(left) = left_behind else { return Exit::Success };
        if !self.json {
            eprintln!("ostler: {}", screen::harmless(left));
        }
        Exit::WorkFailed
    }

    /// Prints the reply under `--json`, else the sentence.
    pub(super) fn print(&self, reply: &[u8], sentence: &str) -> Result<(), Failure> {
        if self.json { print_data(reply) } else { print_line(sentence) }
    }

    /// Prints a text that was asked for, under `--json` as the value of `key`. No text, no line.
    pub(super) fn print_value(&self, key: &str, text: &str) -> Result<(), Failure> {
        if self.json {
            print_line(&serde_json::json!({ key: text }).to_string())
        } else if text.is_empty() {
            Ok(())
        } else {
            print_data(text.as_bytes())
        }
    }

    /// Prints the reply under `--json`, else a text that is what was asked for, not words about it.
    pub(super) fn print_text(&self, reply: &[u8], text: &str) -> Result<(), Failure> {
        print_data(if self.json { reply } else { text.as_bytes() })
    }
}

/// What the tasks are in.
#[derive(Deserialize)]
struct Tasks {
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    task: String,
    browser_kind: String,
    browser: String,
    active: bool,
}

/// A request whose answer is read by somebody who has the command: errors name its verbs.
#[derive(Serialize)]
struct Spoken<'a, R: Serialize> {
    #[serde(flatten)]
    request: &'a R,
    words: &'static str,
}

/// Prints a line for people, or JSON of ours. What a page put into it cannot act on a terminal, nor on that of whoever
/// looks at it later in a file.
pub(super) fn print_line(line: &str) -> Result<(), Failure> {
    print_bytes(screen::harmless(line).as_bytes())
}

/// Prints what was asked for, byte by byte; only a terminal gets no byte of it that it would act on.
pub(super) fn print_data(data: &[u8]) -> Result<(), Failure> {
    if io::stdout().is_terminal() { print_line(&String::from_utf8_lossy(data)) } else { print_bytes(data) }
}

fn print_bytes(line: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(line).and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()).map_err(Failure::Stdout)
}

/// A `meta` request that says no more than its name and task.
#[derive(Debug, Serialize)]
pub(super) struct Meta<'a> {
    /// The request's name.
    pub(super) meta: &'static str,
    /// The task, unless it is the daemon's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<&'a str>,
}
