//! Console events by the thousand, as a page sends them that logs in a loop.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, WeakUnboundedSender};
use tokio::time::Instant;

use super::connection::Outgoing;
use super::state::State;
use crate::ids::{SessionId, TargetId};
use crate::wire::{self, quoted};

/// A flood of console events.
#[derive(Clone, Debug)]
pub struct Flood {
    /// How many events.
    pub count: u64,
    /// What each says; its number follows, from 0.
    pub text: String,
    /// How many in a second; none is as fast as the client takes them.
    pub per_second: Option<u64>,
}

impl Flood {
    /// A flood that runs as fast as the client takes it.
    pub fn of(count: u64, text: &str) -> Self {
        Self { count, text: text.to_owned(), per_second: None }
    }

    /// The same flood at a steady pace.
    pub fn paced(self, per_second: u64) -> Self {
        Self { per_second: Some(per_second), ..self }
    }
}

/// A run of events that are written out only when the client takes them, so that a flood of any length costs no memory.
pub(super) struct Burst {
    head: Arc<str>,
    tail: Arc<str>,
    next: u64,
    end: u64,
    /// What is sent behind the last event.
    then: Option<String>,
}

impl Iterator for Burst {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.next == self.end {
            return self.then.take();
        }
        let number = self.next.to_string();
        self.next += 1;
        let mut text = String::with_capacity(self.head.len() + number.len() + self.tail.len());
        text.push_str(&self.head);
        text.push_str(&number);
        text.push_str(&self.tail);
        Some(text)
    }
}

/// Sends a flood to one session, and `then` behind its last event.
pub(super) fn start(outbox: &UnboundedSender<Outgoing>, session: &SessionId, flood: Flood, then: Option<String>) {
    let (head, tail) = around_the_number(session, &flood.text);
    let burst =
        move |next, end, then| Outgoing::Burst(Burst { head: head.clone(), tail: tail.clone(), next, end, then });
    match flood.per_second {
        Some(per_second) if flood.count > 0 => {
            let outbox = outbox.downgrade();
            tokio::spawn(pace(outbox, flood.count, per_second, then, burst));
        }
        // A connection that has ended is not an error: nobody is left to tell.
        _ => drop(outbox.send(burst(0, flood.count, then))),
    }
}

/// Sends what is due at each tick, until all are sent or the connection has ended.
async fn pace(
    outbox: WeakUnboundedSender<Outgoing>,
    count: u64,
    per_second: u64,
    mut then: Option<String>,
    burst: impl Fn(u64, u64, Option<String>) -> Outgoing,
) {
    let begun = Instant::now();
    let mut ticks = tokio::time::interval(TICK);
    let mut next = 0;
    while next < count {
        let elapsed = ticks.tick().await.duration_since(begun);
        let due = elapsed.as_millis() as u64 * per_second / 1000;
        let end = due.clamp(next, count);
        let then = if end == count { then.take() } else { None };
        let sent = outbox.upgrade().map(|outbox| outbox.send(burst(next, end, then)));
        if !matches!(sent, Some(Ok(()))) {
            return;
        }
        next = end;
    }
}

impl State {
    /// Floods every session of a target that hears its console.
    pub(super) fn flood(&self, target: &TargetId, flood: &Flood) {
        let sessions = self.targets.get(target).map_or(&[][..], |target| &target.sessions);
        for id in sessions {
            let session = self.sessions.get(id).filter(|session| session.runtime);
            let connection = session.and_then(|session| self.connections.get(&session.connection));
            if let Some(connection) = connection {
                start(&connection.outbox, id, flood.clone(), None);
            }
        }
    }
}

fn around_the_number(session: &SessionId, text: &str) -> (Arc<str>, Arc<str>) {
    let text = quoted(text);
    let text = text.strip_suffix('"').unwrap_or(&text);
    let head = format!(
        r#"{{"method":"Runtime.consoleAPICalled","params":{{"type":"error","args":[{{"type":"string","value":{text} "#
    );
    let event = wire::event(
        Some(session),
        "",
        r#""}],"executionContextId":1,"timestamp":1.7e+12,"stackTrace":{"callFrames":[{"functionName":"","scriptId":"6","url":"","lineNumber":0,"columnNumber":8}]}}"#,
    );
    // What the envelope puts before its params is in the head already.
    let tail = event.split_once(r#""params":"#).map_or("", |(_, tail)| tail);
    (head.into(), tail.into())
}

const TICK: Duration = Duration::from_millis(10);
