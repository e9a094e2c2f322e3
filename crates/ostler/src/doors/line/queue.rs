//! Decides when each request of one connection runs.
//!
//! A request with an `id` runs at once, beside all others. One without is answered in its turn: it
//! starts when the one before it is done, so that what it does happens in that order too.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::answer::Answer;
use super::limits::Limits;
use super::request::Request;

/// The unanswered requests of one connection. `start` makes a request's future.
#[derive(Debug)]
pub(super) struct Queue<S, F> {
    start: S,
    /// The requests with an `id`.
    beside: FuturesUnordered<F>,
    /// The request without one whose turn it is.
    ///
    /// It is not among the others because `FuturesUnordered` wakes its owner again whenever it has polled all that it
    /// holds. With one request at a time that is every time, and each wake brings up the runtime's other thread: two
    /// system calls and a thread switch for nothing, in the middle of the plainest client's call.
    turn: Option<Pin<Box<F>>>,
    waiting: VecDeque<Request>,
    /// How long the lines of all of them were.
    bytes: usize,
}

impl<S, F, E> Queue<S, F>
where
    S: Fn(Request) -> F,
    F: Future<Output = Answer<E>>,
{
    pub(super) fn new(start: S) -> Self {
        Self { start, beside: FuturesUnordered::new(), turn: None, waiting: VecDeque::new(), bytes: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        // Nothing waits unless something runs.
        self.running() == 0
    }

    /// Returns whether another line may be read.
    pub(super) fn has_room(&self, limits: &Limits) -> bool {
        self.running() + self.waiting.len() < limits.in_flight && self.bytes <= limits.line
    }

    /// Takes a request in.
    pub(super) fn push(&mut self, request: Request) {
        self.bytes += request.cost;
        if request.id.is_some() {
            self.beside.push((self.start)(request));
        } else if self.turn.is_some() {
            self.waiting.push_back(request);
        } else {
            self.turn = Some(Box::pin((self.start)(request)));
        }
    }

    /// Drops the requests that have not been started.
    pub(super) fn forget_waiting(&mut self) {
        self.bytes -= self.waiting.drain(..).map(|request| request.cost).sum::<usize>();
    }

    /// Waits for the next answer; ends at once when there is nothing to wait for. Dropping the future
    /// loses nothing.
    pub(super) async fn next(&mut self) -> Option<Answer<E>> {
        let answer = poll_fn(|cx| self.poll_next(cx)).await?;
        self.bytes -= answer.cost;
        Some(answer)
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Answer<E>>> {
        if let Some(turn) = &mut self.turn
            && let Poll::Ready(answer) = turn.as_mut().poll(cx)
        {
            self.turn = self.waiting.pop_front().map(|request| Box::pin((self.start)(request)));
            return Poll::Ready(Some(answer));
        }
        match self.beside.poll_next_unpin(cx) {
            Poll::Ready(None) if self.turn.is_some() => Poll::Pending,
            answer => answer,
        }
    }

    fn running(&self) -> usize {
        self.beside.len() + usize::from(self.turn.is_some())
    }
}
