//! What `status` and `watch` show: the daemon's `overview`, as it is for programs and as a table for people.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::context::Context;
use super::dialog::{Dialogs, OpenDialog};
use super::failure::Failure;
use super::{reply, text};
use crate::client::{Client, Pong};
use crate::times::CALL_DEFAULT;

/// The request.
#[derive(Serialize)]
struct AskOverview {
    meta: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_ms: Option<u64>,
}

/// All tasks, at one moment.
pub(super) struct Overview {
    pub(super) tasks: Vec<Task>,
    /// The tasks as the daemon wrote them, with fields that this version may not know.
    pub(super) raw: Value,
    /// What a request for news begins from.
    pub(super) next: u64,
}

#[derive(Deserialize)]
struct Reply {
    tasks: Box<RawValue>,
    next: u64,
}

/// One task.
#[derive(Deserialize)]
pub(super) struct Task {
    pub(super) task: String,
    browser_kind: String,
    /// Which one it is and how it was found, or why there is none.
    pub(super) browser: String,
    active: bool,
    frames: u64,
    events: u64,
    lost: u64,
    page: Option<Page>,
    pub(super) tab_list: Vec<Tab>,
    state: Dialogs,
}

/// A tab.
#[derive(Deserialize)]
pub(super) struct Tab {
    pub(super) number: u64,
    target_id: String,
    url: String,
    title: String,
    state: String,
}

/// The tab that calls go to.
#[derive(Deserialize)]
struct Page {
    #[serde(rename = "targetId")]
    target_id: String,
}

impl Overview {
    /// Asks for it; with `seen`, waits for news since then, for `wait_ms` at most.
    pub(super) fn ask(client: &mut Client, seen: Option<u64>, wait_ms: Option<u64>) -> Result<Self, Failure> {
        let request = AskOverview { meta: "overview", seen, wait_ms };
        let line = reply::not_an_error(client.request(&request, CALL_DEFAULT)?)?;
        Context::mention_version(client);
        let Reply { tasks, next } = reply::read(&line)?;
        let raw = tasks.get().as_bytes();
        Ok(Self { tasks: reply::read(raw)?, raw: reply::read(raw)?, next })
    }

    /// Returns the table: a row for each task, and below it the browser, the tabs and the open dialogs.
    pub(super) fn lines(&self, now: f64) -> Vec<String> {
        let width = self.tasks.iter().map(|task| task.task.len()).max().unwrap_or(0).max("TASK".len());
        let heads = ["BROWSER", "TABS", "FRAMES", "DIALOGS", "EVENTS", "LOST"];
        let mut lines = vec![row("TASK", width, &heads.map(str::to_owned))];
        for task in &self.tasks {
            let counts = [
                task.browser_kind.clone(),
                task.tab_list.len().to_string(),
                task.frames.to_string(),
                task.dialogs().len().to_string(),
                task.events.to_string(),
                task.lost.to_string(),
            ];
            lines.push(row(&task.task, width, &counts));
            lines.extend(task.details(now));
        }
        lines
    }
}

fn row(name: &str, width: usize, cells: &[String; 6]) -> String {
    let [browser, tabs, frames, dialogs, events, lost] = cells;
    format!("{name:width$}  {browser:<7}  {tabs:>4}  {frames:>6}  {dialogs:>7}  {events:>8}  {lost:>6}")
}

impl Task {
    /// Returns the open dialogs, the oldest first.
    pub(super) fn dialogs(&self) -> &[OpenDialog] {
        &self.state.pending_dialogs
    }

    fn details(&self, now: f64) -> Vec<String> {
        let attached = if self.active { "" } else { "not attached: " };
        let mut lines = vec![format!("  in      {attached}{}", text::short(&self.browser, 160))];
        lines.extend(self.tab_list.iter().map(|tab| {
            let current = self.page.as_ref().is_some_and(|page| page.target_id == tab.target_id);
            format!("  tab   {} t{:<3} {}", if current { '>' } else { ' ' }, tab.number, tab.words())
        }));
        lines.extend(self.dialogs().iter().map(|dialog| format!("  dialog  {}", dialog.words(now))));
        lines
    }
}

impl Tab {
    /// Returns where it is, on one line, and what stops it if anything does.
    pub(super) fn words(&self) -> String {
        let state = if self.state == "ready" { String::new() } else { format!("({}) ", self.state) };
        let (url, title) = (text::short(&self.url, 80), text::short(&self.title, 40));
        format!("{state}{url}  {title}").trim_end().to_owned()
    }
}

/// Returns who the daemon is, on one line.
pub(super) fn daemon_line(name: &str, daemon: &Pong, socket: &std::path::Path) -> String {
    let pid = daemon.pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
    let version = daemon.version.as_deref().unwrap_or("unknown");
    format!("daemon {name}{pid}, version {version}, {}", socket.display())
}
