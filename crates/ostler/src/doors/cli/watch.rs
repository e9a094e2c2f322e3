//! `ostler watch`: what `status` shows, live.
//!
//! The daemon says when there is news, so nothing is asked in vain. On a terminal the table is redrawn in place, and the
//! terminal is left as it was after every single drawing: whatever ends us, there is nothing to restore.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::context::{Context, print_line};
use super::dialog;
use super::failure::Failure;
use super::overview::{self, Overview};
use super::screen;
use crate::client::ClientError;
use crate::exit_code::Exit;

/// Shows what `status` shows, live
///
/// On a terminal the table is redrawn in place until Ctrl-C; elsewhere each change is a line, with --json an object. Ends when the daemon does. Never starts a daemon.
#[derive(Args, Debug)]
#[command(name = "watch")]
pub(super) struct Watch {}

/// How long the daemon waits for news: the ages of dialogs go on meanwhile.
const TICK_MS: u64 = 1_000;
/// The least time between two drawings: more of them nobody can read.
const PAUSE: Duration = Duration::from_millis(100);

impl Watch {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let paths = context.settings()?.paths;
        let name = &paths.name;
        let Some(mut client) = context.connect_if_running()? else {
            print_line(&if context.json {
                json!({"name": name, "daemon": null}).to_string()
            } else {
                format!("no daemon runs (name {name}); the next command starts one")
            })?;
            return Ok(Exit::Success);
        };
        let head = overview::daemon_line(name, client.greet()?, &paths.socket);
        let mut display = Display::new(context.json, head);
        let mut seen = None;
        loop {
            match Overview::news(&mut client, seen, TICK_MS) {
                Ok(overview) => {
                    display.show(&overview)?;
                    seen = Some(overview.next);
                }
                Err(Failure::Client(ClientError::Gone { .. })) => return display.end(name),
                Err(failure) => return Err(failure),
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Where it is shown, and what has been.
enum Display {
    /// A table that is drawn over itself.
    Table { head: String, drawn: Option<Drawn> },
    /// A line for each change.
    Lines { head: Option<String>, facts: BTreeMap<String, String> },
    /// An object for each change.
    Json { last: serde_json::Value },
}

/// What is on the terminal.
#[derive(Clone, Copy)]
struct Drawn {
    columns: usize,
    height: usize,
}

impl Display {
    fn new(json: bool, head: String) -> Self {
        match (json, io::stdout().is_terminal()) {
            (true, _) => Self::Json { last: serde_json::Value::Null },
            (false, true) => Self::Table { head, drawn: None },
            (false, false) => Self::Lines { head: Some(head), facts: BTreeMap::new() },
        }
    }

    fn show(&mut self, overview: &Overview) -> Result<(), Failure> {
        match self {
            Self::Table { head, drawn } => {
                let (columns, rows) = screen::size().unwrap_or((80, 24));
                let lines = [head.clone(), String::new()].into_iter().chain(overview.lines(dialog::now()));
                // The last row is for the cursor, and for whatever the shell writes there when we are gone.
                let lines = lines.map(|line| screen::harmless(&screen::cut(&line, columns)).into_owned());
                let lines: Vec<_> = lines.take(rows.saturating_sub(1).max(1)).collect();
                let drawing = redraw(*drawn, columns, &lines);
                *drawn = Some(Drawn { columns, height: lines.len() });
                let mut stdout = io::stdout().lock();
                stdout.write_all(drawing.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Stdout)
            }
            Self::Lines { head, facts } => {
                let now = facts_of(overview);
                let changes = changes(facts, &now);
                *facts = now;
                head.take().into_iter().chain(changes).try_for_each(|line| print_line(&line))
            }
            Self::Json { last } if *last == overview.raw => Ok(()),
            Self::Json { last } => {
                last.clone_from(&overview.raw);
                print_line(&json!({"tasks": last}).to_string())
            }
        }
    }

    fn end(self, name: &str) -> Result<Exit, Failure> {
        if let Self::Json { .. } = self {
            print_line(&json!({"name": name, "daemon": null}).to_string())?;
        } else {
            print_line(&format!("the daemon has ended (name {name})"))?;
        }
        Ok(Exit::Success)
    }
}

/// Returns what draws the lines over those that were drawn before.
///
/// Nothing is switched on that would have to be switched off: whatever ends us, the terminal is as it was.
fn redraw(before: Option<Drawn>, columns: usize, lines: &[String]) -> String {
    let mut drawing = match before {
        // Lines that were drawn for another width have been wrapped by the terminal, nobody knows how.
        Some(before) if before.columns != columns => "\x1b[H\x1b[2J".to_owned(),
        Some(before) if before.height > 0 => format!("\x1b[{}A\r", before.height),
        _ => String::new(),
    };
    for line in lines {
        drawing.push_str(line);
        drawing.push_str("\x1b[K\n");
    }
    drawing.push_str("\x1b[J");
    drawing
}

/// Returns what is so, by what it is about. Numbers that grow all the time are left out.
fn facts_of(overview: &Overview) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for task in &overview.tasks {
        let name = &task.task;
        facts.insert(format!("task {name}"), task.browser.clone());
        facts.extend(task.tab_list.iter().map(|tab| (format!("task {name} tab t{}", tab.number), tab.words())));
        let dialogs = task.dialogs().iter();
        facts.extend(dialogs.map(|dialog| (format!("task {name} dialog {}", dialog.id()), dialog.question())));
    }
    facts
}

/// Returns a line for each fact that is new, another one, or no more.
fn changes(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let gone = before.keys().filter(|what| !now.contains_key(*what)).map(|what| format!("{what}: gone"));
    let new = now.iter().filter(|(what, is)| before.get(*what) != Some(*is)).map(|(what, is)| format!("{what}: {is}"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(facts: &[(&str, &str)]) -> BTreeMap<String, String> {
        facts.iter().map(|(what, is)| ((*what).to_owned(), (*is).to_owned())).collect()
    }

    #[test]
    fn a_change_is_a_line_and_what_stays_is_none() {
        let before = facts(&[("tab t1", "a"), ("tab t2", "b"), ("dialog d-1", "?")]);
        let now = facts(&[("tab t1", "a"), ("tab t2", "c"), ("tab t3", "d")]);
        assert_eq!(changes(&before, &now), ["dialog d-1: gone", "tab t2: c", "tab t3: d"]);
        assert!(changes(&now, &now).is_empty());
    }

    #[test]
    fn a_drawing_covers_the_one_before_and_switches_nothing_on() {
        let lines = ["one".to_owned(), "two".to_owned()];
        let drawn = |columns| Some(Drawn { columns, height: 3 });
        assert_eq!(redraw(None, 80, &lines), "one\x1b[K\ntwo\x1b[K\n\x1b[J");
        assert_eq!(redraw(drawn(80), 80, &lines[..1]), "\x1b[3A\rone\x1b[K\n\x1b[J");
        assert_eq!(redraw(drawn(80), 60, &lines[..1]), "\x1b[H\x1b[2Jone\x1b[K\n\x1b[J");
    }
}
