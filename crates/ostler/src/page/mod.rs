//! ④ What a page looks like to one who reads, and how its elements are reached: below the tools, above the tasks.
//!
//! ```text
//!   walker/*.js   in an isolated world of each document: lines of text, numbered elements
//!        ▲
//!    document     one document's walker, held by a handle that dies with the document
//!        ▲
//!    closed       shadow trees that no script can see, shown to the walker
//!    outline      the lines of all frames in place, within a limit  ──▶ memory (what was shown, which ref is whose)
//!    refs         `e12` ──▶ an element that can be acted on, and where to click  ──▶ geometry
//!    marks        where the elements that can be acted on are drawn, for a picture of the page
//!    wheel, waits what moves and what comes, followed in the documents themselves
//!    asking       each call to a page, which may be on its way to another one
//! ```
//!
//! A full accessibility tree takes seconds on a large page (fact C31), a walker that stops at its limit milliseconds
//! (C33). What it says of an element agrees with Chromium's own tree; a corpus of pages measures how well.

mod about;
mod asking;
mod changes;
mod closed;
mod document;
mod frames;
mod geometry;
mod marks;
mod memory;
mod outline;
mod place;
mod refs;
mod turn;
mod waits;
mod walker;
mod wheel;

use std::sync::Arc;
use std::time::Duration;

use ostler_core::supervisor::OnDialog;
use ostler_core::view::TaskView;
use ostler_core::{CallError, SessionId, TargetId, TaskId};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use self::about::Held;
pub(crate) use self::asking::call;
pub(crate) use self::changes::changes;
pub(crate) use self::document::tells_of_gone_document;
pub(crate) use self::geometry::Rect;
pub(crate) use self::marks::{MOST_MARKS, Mark, Marked};
pub(crate) use self::memory::{Memory, Scope, Shown};
pub(crate) use self::outline::Outlined;
pub(crate) use self::place::There;
pub(crate) use self::refs::{Reached, Ref, Use};
pub(crate) use self::waits::{Asked, Question};
pub(crate) use self::wheel::Ride;
use crate::meta::TaskLayer;
use crate::tasks::CallRequest;

/// How long a small call into a page may take that has just answered: a script can always begin to keep it busy.
const CALL: Duration = Duration::from_secs(5);
/// How long a frame that is known to hang may take to show that it does not any more.
const HUNG: Duration = Duration::from_millis(200);

/// One tab's page, for one piece of work.
#[derive(Debug)]
pub(crate) struct Page<'a, T> {
    tasks: &'a T,
    task: &'a TaskId,
    /// The tab.
    pub(crate) target: TargetId,
    /// The supervisor's session on it.
    session: SessionId,
    memory: Arc<Memory>,
}

impl<'a, T: TaskLayer> Page<'a, T> {
    /// Returns the page that a tab of the task shows; `session` is the supervisor's session on it.
    pub(crate) fn of(tasks: &'a T, task: &'a TaskId, target: TargetId, session: SessionId) -> Result<Self, CallError> {
        Ok(Self { tasks, task, target, session, memory: tasks.page_memory(task)? })
    }

    /// Returns what is kept of the pages that the task was shown.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns how long a document may take that usually gets so long: one that a script is known to keep busy shows
    /// with its answer that it is free again, and is not waited for.
    pub(crate) fn patience(&self, session: &SessionId, usual: Duration) -> Duration {
        let hung = self.view().is_ok_and(|view| view.sessions.iter().any(|of| of.hung && of.session_id == *session));
        if hung { usual.min(HUNG) } else { usual }
    }

    fn view(&self) -> Result<Arc<TaskView>, CallError> {
        self.tasks.view(self.task)
    }

    /// Makes a call on a session and reads what `R` wants of its result.
    async fn call<R: DeserializeOwned>(
        &self,
        session: &SessionId,
        method: &str,
        params: &impl Serialize,
        timeout: Duration,
    ) -> Result<R, CallError> {
        let params = serde_json::to_vec(params).expect("plain data with text keys serializes");
        let request = CallRequest {
            task: self.task.clone(),
            session_id: Some(session.clone()),
            frame_id: None,
            target_id: None,
            method: method.to_owned(),
            params: Some(params.into()),
            timeout,
            on_dialog: OnDialog::Return,
        };
        let result = call(self.tasks, &self.target, request).await?;
        serde_json::from_slice(&result).map_err(|error| unknown_answer(method, &error.to_string()))
    }
}

/// The browser, or our own walker in it, answered with something else than what is known.
fn unknown_answer(method: &str, why: &str) -> CallError {
    CallError::Cdp { code: 0, message: format!("the answer to {method} is not what ostler knows: {why}") }
}
