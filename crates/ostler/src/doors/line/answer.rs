//! Runs one request.

use std::sync::Arc;

use bytes::Bytes;
use ostler_core::{CallError, Words};

use super::request::{Ask, Request};
use crate::meta::{self, Outcome, TaskLayer};

/// What came of a request.
#[derive(Debug)]
pub(super) struct Answer<E> {
    /// The request's.
    pub(super) id: Option<Bytes>,
    /// The request's.
    pub(super) cost: usize,
    /// The request's.
    pub(super) words: Words,
    /// What to write, and what to do besides.
    pub(super) outcome: Result<Done<E>, CallError>,
}

/// What to do with an answer.
#[derive(Debug)]
pub(super) enum Done<E> {
    /// The browser answered a call.
    Result(Bytes),
    /// The daemon answered for itself.
    Meta(Outcome<E>),
}

/// Runs a request to its end. Dropping the future cancels it.
pub(super) async fn answer<T: TaskLayer>(tasks: Arc<T>, request: Request) -> Answer<T::Events> {
    let Request { id, cost, words, ask } = request;
    let outcome = match ask {
        Ok(Ask::Call(call)) => tasks.call(call).await.map(Done::Result),
        // Boxed, because the largest of these futures would otherwise weigh on every call.
        Ok(Ask::Meta(line)) => Box::pin(answer_meta(&*tasks, line)).await.map(Done::Meta),
        Err(error) => Err(error),
    };
    Answer { id, cost, words, outcome }
}

async fn answer_meta<T: TaskLayer>(tasks: &T, line: Bytes) -> Result<Outcome<T::Events>, CallError> {
    let text = std::str::from_utf8(&line).expect("a line that was read as a request is UTF-8");
    meta::answer(tasks, text).await
}
