//! `events`: one page of a task's events, with nothing taken from anybody else.

use ostler_core::CallError;

use super::{Answer, EventSource, Fields, Outcome, TaskLayer, event_json};
use crate::tasks::EventFilter;

/// How many events a page holds when the client does not say.
const DEFAULT_LIMIT: u64 = 500;
/// How many it holds at most: a client that asks for more goes on with `next`.
const MAX_LIMIT: u64 = 10_000;

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let since = since(fields)?.unwrap_or(0);
    let limit = fields.whole_number("limit", 1..=u64::MAX)?.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
    let limit = usize::try_from(limit).expect("ten thousand fits every usize");
    let page = tasks.events(&fields.task()?)?.page(since, limit, &filter(fields)?);
    let mut json = br#"{"events":"#.to_vec();
    event_json::write_list(&mut json, &page.events, event_json::write_numbered);
    json.extend_from_slice(format!(r#","next":{},"lost":{}}}"#, page.next, page.lost).as_bytes());
    Ok(Outcome::Reply(json.into()))
}

/// Returns the number after which the client wants events.
pub(super) fn since(fields: &Fields<'_>) -> Result<Option<u64>, CallError> {
    fields.whole_number("since", 0..=u64::MAX)
}

/// Returns which events the client wants; all, when it names none.
pub(super) fn filter(fields: &Fields<'_>) -> Result<EventFilter, CallError> {
    Ok(EventFilter { methods: fields.texts("methods")?, session_id: fields.id("session_id")? })
}
