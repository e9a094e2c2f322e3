//! What this door asks of the daemon, for one host: tools, and whether there is a browser for them.

use std::ops::Not;
use std::sync::Arc;
use std::time::Duration;

use ostler_core::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use super::link::{Link, LinkError, Start};

/// How long to wait before a daemon that does not answer is looked for again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A browser that the host wants to be started.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Launch {
    /// Whether it has a window. Left out where nobody asked for one: a browser that is there is then right either way.
    #[serde(skip_serializing_if = "Not::not")]
    pub(crate) headed: bool,
}

/// The daemon, as one host sees it.
#[derive(Debug)]
pub(super) struct Daemon {
    link: Arc<Link>,
    launch: Option<Launch>,
    launched: OnceCell<()>,
}

/// A request of the line protocol, as far as this door makes any.
#[derive(Debug, Serialize)]
#[serde(tag = "meta", rename_all = "snake_case")]
enum Request<'a> {
    Tool {
        name: &'a str,
        args: &'a Map<String, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<&'a str>,
    },
    Connect {
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        launch: Option<Launch>,
    },
    Disconnect {
        task: &'a str,
    },
    Tasks,
    Endpoint {
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        unlike: Option<bool>,
    },
}

/// What tells a refusal from a reply.
#[derive(Deserialize)]
struct Head {
    error_code: Option<String>,
}

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

#[derive(Deserialize)]
struct Endpoint {
    reachable: bool,
}

impl Daemon {
    /// Speaks to the daemon over `link`; with `launch`, the task has a browser of its own before anything is done in it.
    pub(super) fn new(link: Arc<Link>, launch: Option<Launch>) -> Self {
        Self { link, launch, launched: OnceCell::new() }
    }

    /// Runs a tool and returns the daemon's reply. A task that is not there yet is started.
    pub(super) async fn tool(
        &self,
        name: &str,
        args: &Map<String, Value>,
        task: Option<&str>,
    ) -> Result<Vec<u8>, LinkError> {
        if let Err(Unlaunched(why)) = self.prepare(task).await {
            return why;
        }
        let request = Request::Tool { name, args, task };
        let reply = self.link.ask(&request, Start::IfNeeded).await?;
        if task.is_none() || error_code(&reply).as_deref() != Some("unknown_task") {
            return Ok(reply);
        }
        // Nothing was done yet, so asking once more repeats nothing.
        let started = self.link.ask(&Request::Connect { task, launch: self.launch }, Start::IfNeeded).await?;
        if error_code(&started).is_some() {
            return Ok(started);
        }
        self.link.ask(&request, Start::IfNeeded).await
    }

    /// Starts the browser that the host wants, once; without that wish there is nothing to do.
    pub(super) async fn prepare(&self, task: Option<&str>) -> Result<(), Unlaunched> {
        if self.launch.is_none() {
            return Ok(());
        }
        let launch = async {
            let request = Request::Connect { task, launch: self.launch };
            match self.link.ask(&request, Start::IfNeeded).await {
                Ok(reply) if error_code(&reply).is_none() => Ok(()),
                refused => Err(Unlaunched(refused)),
            }
        };
        self.launched.get_or_try_init(|| launch).await.map(|_| ())
    }

    /// Returns a sentence about the browser that a daemon found which was started for this host, once: what an earlier
    /// daemon had, launched or rented, is gone with that one, and a person's own browser is easily taken for it.
    pub(super) async fn found_by_itself(&self, task: Option<&str>) -> Option<String> {
        if !self.link.has_started_one() || self.launch.is_some() {
            return None;
        }
        let reply = self.link.ask(&Request::Tasks, Start::Never).await.ok()?;
        let Tasks { tasks } = serde_json::from_slice(&reply).ok()?;
        let own = task.map_or_else(TaskId::default_task, TaskId::from);
        // A list of tabs, to begin with, needs no browser: then there is nothing to be told yet.
        let ours = tasks.into_iter().find(|known| known.task == own.as_str() && known.active)?;
        (self.link.take_start() && ours.browser_kind == "local").then(|| {
            format!(
                "Note: no ostler daemon ran, so one was started, and this is the browser it works in: {}. Unless ostler \
                 launched it, it may be the user's own, with what is open in it; the user has another one taken by \
                 `ostler connect`.",
                ours.browser
            )
        })
    }

    /// Ends a task. What comes of it is nobody's concern any more.
    pub(super) async fn end(&self, task: &str) {
        let _ = self.link.ask(&Request::Disconnect { task }, Start::Never).await;
    }

    /// Returns whether the task's browser can be reached. Nothing is dialled for that.
    pub(super) async fn reachable(&self, task: Option<&str>) -> bool {
        self.endpoint(task, None).await.unwrap_or(false)
    }

    /// Waits until the answer to [`reachable`](Self::reachable) is another one, and returns it.
    pub(super) async fn reachable_unlike(&self, task: Option<&str>, known: bool) -> bool {
        loop {
            let now = self.endpoint(task, Some(known)).await.unwrap_or(false);
            if now != known {
                return now;
            }
            // Without a daemon the answer came at once.
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn endpoint(&self, task: Option<&str>, unlike: Option<bool>) -> Option<bool> {
        let reply = self.link.ask(&Request::Endpoint { task, unlike }, Start::Never).await.ok()?;
        let Endpoint { reachable } = serde_json::from_slice(&reply).ok()?;
        Some(reachable)
    }
}

/// The browser that the host wants could not be started: the daemon's refusal, or why there was none.
#[derive(Debug)]
pub(super) struct Unlaunched(Result<Vec<u8>, LinkError>);

fn error_code(reply: &[u8]) -> Option<String> {
    serde_json::from_slice::<Head>(reply).ok()?.error_code
}
