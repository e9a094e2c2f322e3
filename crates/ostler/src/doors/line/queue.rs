//! Decides when each request of one connection runs.
//!
//! A request with an `id` runs at once, beside all others. One without is answered in its turn: it
//! starts when the one before it is done, so that what it does happens in that order too.

use std::collections::VecDeque;
use std::future::Future;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::answer::Answer;
use super::limits::Limits;
use super::request::Request;

/// The unanswered requests of one connection. `start` makes a request's future.
#[derive(Debug)]
pub(super) struct Queue<S, F> {
    start: S,
    running: FuturesUnordered<F>,
    waiting: VecDeque<Request>,
    /// Whether a request without an `id` is among those running.
    in_turn: bool,
    /// How long the lines of all of them were.
    bytes: usize,
}

impl<S, F, E> Queue<S, F>
where
    S: Fn(Request) -> F,
    F: Future<Output = Answer<E>>,
{
    pub(super) fn new(start: S) -> Self {
        Self { start, running: FuturesUnordered::new(), waiting: VecDeque::new(), in_turn: false, bytes: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        // Nothing waits unless something runs.
        self.running.is_empty()
    }

    /// Returns whether another line may be read.
    pub(super) fn has_room(&self, limits: &Limits) -> bool {
        self.running.len() + self.waiting.len() < limits.in_flight && self.bytes <= limits.line
    }

    /// Takes a request in.
    pub(super) fn push(&mut self, request: Request) {
        self.bytes += request.cost;
        if request.id.is_none() && self.in_turn {
            self.waiting.push_back(request);
        } else {
            self.in_turn |= request.id.is_none();
            self.running.push((self.start)(request));
        }
    }

    /// Drops the requests that have not been started.
    pub(super) fn forget_waiting(&mut self) {
        self.bytes -= self.waiting.drain(..).map(|request| request.cost).sum::<usize>();
    }

    /// Waits for the next answer; ends at once when there is nothing to wait for. Dropping the future
    /// loses nothing.
    pub(super) async fn next(&mut self) -> Option<Answer<E>> {
        let answer = self.running.next().await?;
        self.bytes -= answer.cost;
        if answer.id.is_none() {
            self.in_turn = false;
            if let Some(request) = self.waiting.pop_front() {
                self.in_turn = true;
                self.running.push((self.start)(request));
            }
        }
        Some(answer)
    }
}
