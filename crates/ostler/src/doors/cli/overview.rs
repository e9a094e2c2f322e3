//! What `status` and `watch` show: the daemon's `overview`, as it is for programs and as a table for people.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::context::Context;
use super::dialog::{Dialogs, OpenDialog};
use super::failure::Failure;
use super::{reply, screen};
use crate::client::{Client, Pong};
use crate::times::CALL_DEFAULT;

/// How many tabs of a task are listed for people; the current one is always among them.
const MOST_TABS: usize = 30;

/// The request.
#[derive(Serialize)]
struct AskOverview {
    meta: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ask_browser_ms: Option<u64>,
}

/// How long a browser gets to show that it answers: a thousand times what it takes on an idle machine.
const ANSWERS_WITHIN_MS: u64 = 2_000;

/// What is said of a browser that does not answer.
const SILENT: &str = "the browser answers nothing: its process is stopped or overloaded; let it go on, or let go of it with \
                      `ostler disconnect`, which also ends one that ostler launched";

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
    /// False where its process is stopped or has no time for us, though the connection stands.
    answers: Option<bool>,
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
    /// Asks for it, and each browser whether it answers.
    pub(super) fn ask(client: &mut Client) -> Result<Self, Failure> {
        let ask_browser_ms = Some(ANSWERS_WITHIN_MS);
        Self::request(client, &AskOverview { meta: "overview", seen: None, wait_ms: None, ask_browser_ms })
    }

    /// Asks for it; with `seen`, waits for news since then, for `wait_ms` at most.
    pub(super) fn news(client: &mut Client, seen: Option<u64>, wait_ms: u64) -> Result<Self, Failure> {
        let wait_ms = Some(wait_ms);
        Self::request(client, &AskOverview { meta: "overview", seen, wait_ms, ask_browser_ms: None })
    }

    fn request(client: &mut Client, request: &AskOverview) -> Result<Self, Failure> {
        let line = reply::not_an_error(client.request(request, CALL_DEFAULT)?)?;
        Context::mention_version(client);
        let Reply { tasks, next } = reply::read(&line)?;
        let raw = tasks.get().as_bytes();
        Ok(Self { tasks: reply::read(raw)?, raw: reply::read(raw)?, next })
    }

    /// Returns the table: a row for each task, and below it the browser, the tabs and the open dialogs.
    pub(super) fn lines(&self, now: f64) -> Vec<String> {
        let width = self.tasks.iter().map(|task| screen::width(&task.task)).max().unwrap_or(0).max("TASK".len());
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
    let name = screen::padded(name, width);
    format!("{name}  {browser:<7}  {tabs:>4}  {frames:>6}  {dialogs:>7}  {events:>8}  {lost:>6}")
}

impl Task {
    /// Returns the open dialogs, the oldest first.
    pub(super) fn dialogs(&self) -> &[OpenDialog] {
        &self.state.pending_dialogs
    }

    fn details(&self, now: f64) -> Vec<String> {
        let attached = if self.active { "" } else { "not attached: " };
        let mut lines = vec![format!("  in      {attached}{}", screen::one_line(&self.browser, usize::MAX))];
        if self.answers == Some(false) {
            lines.push(format!("  silent  {SILENT}"));
        }
        let is_current = |tab: &Tab| self.page.as_ref().is_some_and(|page| page.target_id == tab.target_id);
        let shown = self.tab_list.iter().enumerate().filter(|(at, tab)| *at < MOST_TABS || is_current(tab));
        lines.extend(shown.map(|(_, tab)| {
            format!("  tab   {} t{:<3} {}", if is_current(tab) { '>' } else { ' ' }, tab.number, tab.words())
        }));
        if self.tab_list.len() > MOST_TABS {
            let more = self.tab_list.len() - MOST_TABS;
            lines.push(format!("  tab     and {more} more, which `ostler status --json` lists"));
        }
        lines.extend(self.dialogs().iter().map(|dialog| format!("  dialog  {}", dialog.words(now))));
        lines
    }
}

impl Tab {
    /// Returns where it is, on one line, and what stops it if anything does.
    pub(super) fn words(&self) -> String {
        let state = if self.state == "ready" { String::new() } else { format!("({}) ", self.state) };
        let (url, title) = (screen::one_line(&self.url, 80), screen::one_line(&self.title, 40));
        format!("{state}{url}  {title}").trim_end().to_owned()
    }
}

/// Returns who the daemon is, on one line.
pub(super) fn daemon_line(name: &str, daemon: &Pong, socket: &std::path::Path) -> String {
    let pid = daemon.pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
    let version = daemon.version.as_deref().unwrap_or("unknown");
    format!("daemon {name}{pid}, version {version}, {}", socket.display())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_many_tabs_the_first_and_the_current_one_are_listed_and_the_rest_is_counted() {
        let tab = |n: u32| json!({"number": n, "target_id": format!("T{n}"), "url": "about:blank", "title": "", "state": "ready"});
        let task: Task = serde_json::from_value(json!({
            "task": "漢字", "browser_kind": "local", "browser": format!("b\x1b[31m{}its end", "long ".repeat(100)), "active": true, "frames": 1, "events": 2, "lost": 0,
            "page": {"targetId": "T150"}, "tab_list": (1..=200).map(tab).collect::<Vec<_>>(), "state": {},
        }))
        .expect("a task");
        let lines = Overview { tasks: vec![task], raw: Value::Null, next: 0 }.lines(0.0);
        let tabs: Vec<_> = lines.iter().filter(|line| line.starts_with("  tab")).collect();
        assert_eq!(tabs.len(), MOST_TABS + 2);
        assert!(tabs[MOST_TABS].starts_with("  tab   > t150"), "{lines:#?}");
        assert_eq!(tabs[MOST_TABS + 1], "  tab     and 170 more, which `ostler status --json` lists");
        assert_eq!(screen::width(&lines[0]), screen::width(&lines[1]), "the columns stand below each other");
        assert!(!lines.concat().contains('\x1b'));
        assert!(
            lines[2].ends_with("its end"),
            "what to do stands at the end, and a pipe has room for it: {}",
            lines[2]
        );
    }
}
