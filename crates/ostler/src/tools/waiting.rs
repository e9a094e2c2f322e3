//! Waiting for a page without asking it again and again: a condition is looked at when something happened.

use std::time::Duration;

use ostler_core::view::TabState;
use ostler_core::{CallError, TargetId};
use tokio::time::{Instant, timeout_at};

use super::context::Tab;
use crate::meta::{EventSource, TaskLayer};
use crate::tasks::{Event, EventFilter};

/// How many events are looked at in one go.
const BATCH: usize = 256;

/// The events of one tab's task from some moment on, for one who waits.
#[derive(Debug)]
pub(super) struct Watch<'a, T: TaskLayer> {
    tab: &'a Tab<'a, T>,
    events: std::sync::Arc<T::Events>,
    since: u64,
    filter: EventFilter,
    deadline: Instant,
}

/// What ended a stretch of waiting.
#[derive(Debug)]
pub(super) enum News {
    /// These happened, the oldest first; never empty.
    Events(Vec<Event>),
    /// A dialog is open on the tab: what is waited for may not come before it is answered.
    Dialog,
    /// The time is over.
    TimeIsUp,
}

/// What ends a stretch of waiting besides events, crashes and time.
#[derive(Clone, Copy, Debug)]
enum Minds {
    Dialogs,
    EventsOnly,
}

impl<'a, T: TaskLayer> Watch<'a, T> {
    /// Begins with what happens from now on. `methods` are exact ones or `Domain.*`, on any of the task's sessions.
    pub(super) fn begin(tab: &'a Tab<'a, T>, methods: &[&str], patience: Duration) -> Result<Self, CallError> {
        let events = tab.context().tasks.events(tab.context().task)?;
        let since = events.newest();
        // What ends a wait before its time is told by events as well.
        let ends = ["Page.javascriptDialogOpening", "Inspector.*", "Target.*"];
        let methods = methods.iter().chain(&ends).map(|method| (*method).to_owned()).collect();
        let filter = EventFilter { methods, session_id: None };
        Ok(Self { tab, events, since, filter, deadline: Instant::now() + patience })
    }

    /// Waits for what comes next. Fails once the tab is gone or its renderer crashed.
    pub(super) async fn next(&mut self) -> Result<News, CallError> {
        self.next_until(self.deadline, Minds::Dialogs).await
    }

    /// The same, but `None` if nothing comes within `most`.
    pub(super) async fn next_within(&mut self, most: Duration) -> Result<Option<News>, CallError> {
        let until = Instant::now() + most;
        match self.next_until(self.deadline.min(until), Minds::Dialogs).await? {
            News::TimeIsUp if until < self.deadline => Ok(None),
            news => Ok(Some(news)),
        }
    }

    /// Waits for the next events only, whatever dialogs are open, and not longer than `most`.
    pub(super) async fn next_events(&mut self, most: Duration) -> Result<News, CallError> {
        self.next_until(self.deadline.min(Instant::now() + most), Minds::EventsOnly).await
    }

    /// Waits for so long at least from now on.
    pub(super) fn extend(&mut self, least: Duration) {
        self.deadline = self.deadline.max(Instant::now() + least);
    }

    /// Returns whether the time is over.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Returns whether what is open is being answered by the task's policy, and over in a moment.
    pub(super) fn policy_answers(&self) -> bool {
        self.tab.policy_answers().unwrap_or(false)
    }

    async fn next_until(&mut self, deadline: Instant, minds: Minds) -> Result<News, CallError> {
        loop {
            let page = self.events.page(self.since, BATCH, &self.filter);
            let view = self.tab.view()?;
            match (view.state, minds) {
                (TabState::Crashed, _) => return Err(crashed(&view.target_id)),
                (TabState::Dialog, Minds::Dialogs) if self.policy_answers() => {}
                (TabState::Dialog | TabState::Blocked, Minds::Dialogs) => return Ok(News::Dialog),
                _ => {}
            }
            self.since = page.next;
            if !page.events.is_empty() {
                return Ok(News::Events(page.events));
            }
            if timeout_at(deadline, self.events.wait_beyond(self.since)).await.is_err() {
                return Ok(News::TimeIsUp);
            }
        }
    }
}

fn crashed(target: &TargetId) -> CallError {
    CallError::TargetCrashed { what: format!("tab {target}") }
}
