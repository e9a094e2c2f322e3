//! The browsers that the daemon holds: which ones, and whether they answer.
//!
//! Asking makes no connection. A browser whose process is stopped keeps the one that it has, so only an answer tells.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::client::Client;
use crate::config::Environment;

/// How long a browser gets to answer: a thousand times what it takes on an idle machine.
const LIMIT: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct Ask {
    meta: &'static str,
    ask_browser_ms: u128,
}

#[derive(Deserialize)]
struct Reply {
    tasks: Vec<Task>,
}

/// A task, as far as its browser goes.
#[derive(Deserialize)]
pub(super) struct Task {
    task: String,
    browser: String,
    /// None where there is no connection.
    answers: Option<bool>,
}

/// Asks the daemon, if one runs. One that does not answer has a check of its own.
pub(super) fn ask(environment: &Environment) -> Vec<Task> {
    let reply = || {
        let mut client = Client::connect(&environment.client_settings().ok()?).ok()??.with_any_browser();
        let ask = Ask { meta: "overview", ask_browser_ms: LIMIT.as_millis() };
        serde_json::from_slice::<Reply>(&client.request(&ask, LIMIT).ok()?).ok()
    };
    reply().map(|Reply { tasks }| tasks).unwrap_or_default()
}

/// Says how each browser fares that there is a connection to.
pub(super) fn findings(tasks: &[Task]) -> Vec<Finding> {
    tasks.iter().filter_map(finding).collect()
}

fn finding(Task { task, browser, answers }: &Task) -> Option<Finding> {
    Some(match answers {
        None => return None,
        Some(true) => Finding::ok(format!("task {task} is in {browser}")),
        Some(false) => Finding::problem(format!(
            "the browser of task {task} has answered nothing for {} s, so its process is stopped or overloaded: {browser}",
            LIMIT.as_secs()
        ))
        .fix("let it go on (`kill -CONT` if it was stopped), or let go of it with `ostler disconnect`, which also ends one that ostler launched"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_browser_that_holds_its_connection_and_answers_nothing_is_a_problem() {
        let task = |answers| Task { task: "a".to_owned(), browser: "ws://h".to_owned(), answers };
        let found = findings(&[task(None), task(Some(true)), task(Some(false))]);
        let levels: Vec<_> = found.iter().map(|finding| finding.level).collect();
        assert_eq!(levels, [Level::Ok, Level::Problem], "{found:?}");
        assert!(found[1].fix.is_some());
    }
}
