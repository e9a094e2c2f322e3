//! `subscribe`: turns a connection into a live stream of events.
//!
//! A subscriber is a cursor into the task's buffer, not a queue of its own: a slow one costs nothing,
//! and what the buffer dropped before it got there is counted and told. The stream begins with the
//! next event, or after `since`, so that a client can read `next` from `events`, act, and miss nothing.

use std::sync::Arc;

use bytes::Bytes;

use super::{Answer, EventSource, Fields, Outcome, TaskLayer, event_json, events};
use crate::tasks::EventFilter;

/// How many events are put on the connection in one go.
const BATCH: usize = 256;

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let source = tasks.events(&fields.task()?)?;
    let since = events::since(fields)?.unwrap_or_else(|| source.newest());
    let filter = events::filter(fields)?;
    Ok(Outcome::Subscribe(Subscription { source, filter, since }))
}

/// A client's place in a task's events.
#[derive(Debug)]
pub(crate) struct Subscription<E> {
    source: Arc<E>,
    filter: EventFilter,
    since: u64,
}

impl<E: EventSource> Subscription<E> {
    /// Waits for what comes next and returns it, a JSON object each. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Vec<Bytes> {
        loop {
            let page = self.source.page(self.since, BATCH, &self.filter);
            self.since = page.next;
            if !page.events.is_empty() || page.lost > 0 {
                let lost = (page.lost > 0).then(|| Bytes::from(format!(r#"{{"lost":{}}}"#, page.lost)));
                let events = page.events.iter().map(|event| {
                    let mut json = Vec::with_capacity(event.params.len() + 128);
                    event_json::write_numbered(&mut json, event);
                    json.into()
                });
                return lost.into_iter().chain(events).collect();
            }
            self.source.wait_beyond(self.since).await;
        }
    }
}
