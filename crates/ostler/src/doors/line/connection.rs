//! One client's connection: the loop that reads its lines, runs them and writes what comes of them.
//!
//! All of it is one future: nothing is spawned per request, so dropping it, when the client is gone
//! or the daemon ends, drops every request of that client with it.
//!
//! ```text
//!            line               request           answer               bytes
//!  socket ──────────▶ framing ──────────▶ queue ──────────▶ outbox ──────────▶ socket
//!                        ▲                                    ▲
//!                        └── stops while the queue is full    └── events, once subscribed
//!                            or the client does not read
//! ```

use std::future::Future;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::answer::{Answer, Done, answer};
use super::framing::{Incoming, Lines};
use super::hangup::Hangup;
use super::limits::Limits;
use super::outbox::Outbox;
use super::queue::Queue;
use super::reply::{self, Payload};
use super::request::Request;
use crate::meta::{EventSource, Outcome, Subscription, TaskLayer};
use crate::tools::Failure;

/// Serves one client until it is gone, breaks a limit, or `stop` turns true and all is answered.
pub(super) async fn serve<T: TaskLayer>(
    stream: UnixStream,
    tasks: Arc<T>,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let queue = Queue::new(|request| answer(Arc::clone(&tasks), request));
    let mut connection = Connection::new(queue, limits);
    if let Err(error) = connection.run(stream, &mut stop).await {
        tracing::debug!("a client's connection ended: {error}");
    }
    // Asked for is asked for, also by a client that did not stay for the reply.
    if connection.shutdown {
        tasks.request_shutdown();
    }
}

struct Connection<S, F, E> {
    limits: Limits,
    lines: Lines,
    queue: Queue<S, F>,
    outbox: Outbox,
    /// Whether more lines are wanted: not after the client's end, a line over the limit, a
    /// subscription, or the daemon's stop.
    listening: bool,
    /// The stream of events, with the `id` of the request that began it.
    subscription: Option<(Option<Bytes>, Subscription<E>)>,
    /// Whether the daemon is ending: what is under way is answered, and no stream begins.
    stopping: bool,
    /// Whether the daemon ends when what waits has been written.
    shutdown: bool,
}

impl<S, F, E> Connection<S, F, E>
where
    S: Fn(Request) -> F,
    F: Future<Output = Answer<E>>,
    E: EventSource,
{
    fn new(queue: Queue<S, F>, limits: Limits) -> Self {
        Self {
            limits,
            lines: Lines::new(limits.line),
            queue,
            outbox: Outbox::default(),
            listening: true,
            subscription: None,
            stopping: false,
            shutdown: false,
        }
    }

    async fn run(&mut self, mut stream: UnixStream, stop: &mut watch::Receiver<bool>) -> io::Result<()> {
        let (mut reader, mut writer) = stream.split();
        let mut hangup = Hangup::default();
        while !self.is_done() {
            let client_reads = self.outbox.len() <= self.limits.backlog;
            let reading = self.listening && client_reads && self.queue.has_room(&self.limits);
            if !reading {
                hangup.watch(reader.as_ref());
            }
            // In this order, because a reply that is ready is worth more than a line that waits.
            tokio::select! {
                biased;
                written = self.outbox.flush(&mut writer, self.limits.stall), if !self.outbox.is_empty() => written?,
                Some(answer) = self.queue.next(), if !self.queue.is_empty() => self.take(answer),
                () = told_to_stop(stop), if !self.stopping => {
                    self.stopping = true;
                    self.listening = false;
                    self.subscription = None;
                }
                incoming = self.lines.next(&mut reader), if reading => self.on_incoming(incoming?),
                events = next_events(&mut self.subscription), if client_reads => self.write_events(events),
                () = hangup.wait(), if !reading => return Ok(()),
            }
        }
        Ok(())
    }

    /// Returns whether there is nothing left to do for this client.
    fn is_done(&self) -> bool {
        let idle = !self.listening && self.queue.is_empty() && self.subscription.is_none();
        self.outbox.is_empty() && (idle || self.shutdown)
    }

    fn on_incoming(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Line(line) => self.queue.push(Request::parse(&line)),
            Incoming::TooLong(start) => {
                self.listening = false;
                self.queue.push(Request::too_long(&start, self.limits.line));
            }
            Incoming::End => self.listening = false,
        }
    }

    /// Writes an answer, and those that are there beside it, so that they leave together.
    fn take(&mut self, answer: Answer<E>) {
        self.on_answer(answer);
        while self.outbox.len() <= self.limits.backlog
            && let Some(Some(answer)) = self.queue.next().now_or_never()
        {
            self.on_answer(answer);
        }
    }

    fn on_answer(&mut self, answer: Answer<E>) {
        let Answer { id, words, outcome, .. } = answer;
        let payload = match outcome {
            Ok(Done::Result(result)) => Ok(Payload::Result(result)),
            Ok(Done::Meta(Outcome::Reply(object))) => Ok(Payload::Object(object)),
            Ok(Done::Meta(Outcome::ReplyThenShutdown(object))) => {
                self.shutdown = true;
                Ok(Payload::Object(object))
            }
            Ok(Done::Meta(Outcome::Subscribe(subscription))) => return self.subscribe(id, subscription),
            Ok(Done::Meta(Outcome::Failed(failure))) => Err(failure),
            Err(error) => Err(Failure::of(error, words)),
        };
        reply::write(&mut self.outbox, id.as_deref(), payload);
    }

    /// Turns the connection into a stream. Calls under way are still answered, in between; lines
    /// after the request are not.
    fn subscribe(&mut self, id: Option<Bytes>, subscription: Subscription<E>) {
        self.listening = false;
        self.queue.forget_waiting();
        self.subscription = (!self.stopping).then_some((id, subscription));
    }

    fn write_events(&mut self, events: Vec<Bytes>) {
        let id = self.subscription.as_ref().and_then(|(id, _)| id.as_deref());
        for event in events {
            reply::write(&mut self.outbox, id, Ok(Payload::Object(event)));
        }
    }
}

/// Waits for events; for ever when there is no subscription.
async fn next_events<E: EventSource>(subscription: &mut Option<(Option<Bytes>, Subscription<E>)>) -> Vec<Bytes> {
    match subscription {
        Some((_, subscription)) => subscription.next().await,
        None => std::future::pending().await,
    }
}

/// Waits for the daemon's end.
pub(super) async fn told_to_stop(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which is as good as being told.
    let _ = stop.wait_for(|stop| *stop).await;
}
