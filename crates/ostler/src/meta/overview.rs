//! `overview`: every task with all that a person wants to see of it, in one reply. It never waits for the browser, unless
//! `ask_browser_ms` says how long: then each browser that is connected is asked whether it answers, which one whose process
//! is stopped does not, though its connection stands.
//!
//! With `seen`, the `next` of the reply before, it waits for news first, for `wait_ms` at most: whoever watches needs no
//! timer of its own, and a daemon that is at rest does nothing.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use futures_util::future::{join_all, select_all};
use ostler_core::view::{TabView, TaskView};
use ostler_core::{CallError, TaskId};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::current_tab::Tab;
use super::{Answer, EventSource, Fields, TaskLayer, reply};
use crate::tasks::{EventFilter, TaskSummary};

/// The longest that a request may ask to wait.
const LONGEST: u64 = 60_000;
/// The longest that a browser may be given to answer.
const LONGEST_ANSWER: u64 = 10_000;

#[derive(Serialize)]
struct Overview {
    tasks: Vec<Box<RawValue>>,
    /// What the next request gives as `seen`.
    next: u64,
}

/// One task.
#[derive(Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    summary: &'a TaskSummary,
    /// Whether the browser answers, if that was asked and there is a connection to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<bool>,
    /// How many frames the current tab has, its own document among them.
    frames: usize,
    /// The number of the newest event.
    events: u64,
    /// How many of them are kept no more.
    lost: u64,
    page: Option<Tab<'a>>,
    tab_list: &'a [TabView],
    state: &'a RawValue,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let wait = fields.whole_number("wait_ms", 0..=LONGEST)?.unwrap_or(0);
    if let Some(seen) = fields.whole_number("seen", 0..=u64::MAX)? {
        // No news is an answer too: ages go on, and how a browser fares is no event.
        let _ = timeout(Duration::from_millis(wait), news(tasks, seen)).await;
    }
    let answers = match fields.whole_number("ask_browser_ms", 1..=LONGEST_ANSWER)? {
        Some(limit) => ask_browsers(tasks, Duration::from_millis(limit)).await,
        None => BTreeMap::new(),
    };
    let summaries = tasks.tasks();
    // Read before the views: an event that comes in between is told once too often, never too little.
    let next = newest(tasks, &summaries);
    // A task that ended meanwhile has nothing to show.
    let entries = summaries.iter().filter_map(|summary| entry(tasks, summary, &answers).ok()).collect();
    Ok(reply(&Overview { tasks: entries, next }))
}

/// Asks the browsers of all tasks at the same time. One that there is no connection to is not asked.
async fn ask_browsers<T: TaskLayer>(tasks: &T, limit: Duration) -> BTreeMap<TaskId, bool> {
    let all = tasks.tasks().into_iter().map(|TaskSummary { task, .. }| async move {
        let answers = tasks.browser_answers(&task, limit).await;
        answers.map(|answers| (task, answers))
    });
    join_all(all).await.into_iter().flatten().collect()
}

/// Returns how many events all tasks have had; that it is another number is what counts.
fn newest<T: TaskLayer>(tasks: &T, summaries: &[TaskSummary]) -> u64 {
    let of_task = |summary: &TaskSummary| tasks.events(&summary.task).map_or(0, |events| events.newest());
    summaries.iter().map(of_task).fold(0, u64::wrapping_add)
}

/// Waits until something has happened since.
fn news<T: TaskLayer>(tasks: &T, seen: u64) -> impl Future<Output = ()> + Send + use<T> {
    let sources: Vec<_> = tasks.tasks().iter().filter_map(|summary| tasks.events(&summary.task).ok()).collect();
    let marked: Vec<_> = sources.into_iter().map(|events| (events.newest(), events)).collect();
    let is_old = marked.iter().map(|(newest, _)| *newest).fold(0, u64::wrapping_add) == seen;
    async move {
        if !is_old {
            return;
        }
        if marked.is_empty() {
            return std::future::pending().await;
        }
        select_all(marked.iter().map(|(newest, events)| Box::pin(events.wait_beyond(*newest)))).await;
    }
}

fn entry<T: TaskLayer>(
    tasks: &T,
    summary: &TaskSummary,
    answers: &BTreeMap<TaskId, bool>,
) -> Result<Box<RawValue>, CallError> {
    let (view, events) = (tasks.view(&summary.task)?, tasks.events(&summary.task)?);
    // From the very beginning, so what is missing is what the buffer dropped.
    let oldest = events.page(0, 1, &EventFilter::default());
    let state = view.state_json();
    let entry = Entry {
        summary,
        answers: answers.get(&summary.task).copied(),
        frames: frames(&view),
        events: events.newest(),
        lost: oldest.lost,
        page: view.current_session.as_ref().and(view.current_tab()).map(Tab::from),
        tab_list: &view.tabs,
        state: serde_json::from_str(&state).expect("the view writes JSON"),
    };
    Ok(serde_json::value::to_raw_value(&entry).expect("plain data with text keys serializes"))
}

fn frames(view: &TaskView) -> usize {
    view.all_frames.as_ref().map_or(0, |tree| 1 + tree.children.len())
}
