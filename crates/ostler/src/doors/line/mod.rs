//! The line protocol: one JSON object per line in each direction, over a Unix socket.
//!
//! A line travels through the files in this order: `listener` lets a client in, `framing` cuts its
//! bytes into lines, `request` reads one, `queue` decides when it runs, `answer` runs it, `reply`
//! writes what came of it, and `outbox` holds that until the client takes it. `connection` is the loop
//! that joins them; `hangup` tells it that nobody is there any more.

mod answer;
mod connection;
mod depth;
mod framing;
mod hangup;
mod limits;
mod listener;
mod outbox;
mod queue;
mod reply;
mod request;
mod spelling;
#[cfg(test)]
mod tests;

pub(crate) use limits::Limits;
pub(crate) use listener::serve;
