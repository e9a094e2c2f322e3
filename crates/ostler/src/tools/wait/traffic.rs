//! Which requests of a tab are under way, and when the network is quiet.
//!
//! Some never end: event streams, sockets, long polls, a video. They say nothing of whether the page has what it
//! needs, so a request that is one by its kind, or that has been open for long, is not waited for.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::tasks::EventFilter;

/// How long nothing may begin or end.
const QUIET: Duration = Duration::from_millis(500);
/// After this long without an answer a request is a long poll.
const LONG_POLL: Duration = Duration::from_secs(5);
/// After this long from the beginning of its answer it is a stream.
const STREAM: Duration = Duration::from_secs(3);

const STARTED: &str = "Network.requestWillBeSent";
const ANSWERED: &str = "Network.responseReceived";
const FINISHED: &str = "Network.loadingFinished";
const FAILED: &str = "Network.loadingFailed";

/// Returns the events that tell of requests.
pub(super) fn filter() -> EventFilter {
    let methods = [STARTED, ANSWERED, FINISHED, FAILED].map(str::to_owned).to_vec();
    EventFilter { methods, session_id: None }
}

/// The requests of one tab.
#[derive(Debug)]
pub(super) struct Traffic<'a> {
    /// The tab's top frame.
    frame: &'a str,
    /// By id: when each stops to count, if it has not ended before.
    in_flight: HashMap<String, Instant>,
    /// When one last began or ended, or when we began to look: what was clicked may be about to ask for something.
    moved: Instant,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    request_id: String,
    #[serde(default)]
    loader_id: String,
    #[serde(default)]
    frame_id: String,
    #[serde(default, rename = "type")]
    kind: String,
}

impl<'a> Traffic<'a> {
    /// Starts with nothing known.
    pub(super) fn new(frame: &'a str, now: Instant) -> Self {
        Self { frame, in_flight: HashMap::new(), moved: now }
    }

    /// Takes in an event.
    pub(super) fn take(&mut self, method: &[u8], params: &[u8], now: Instant) {
        let Ok(params) = serde_json::from_slice::<Params>(params) else { return };
        let Params { request_id, loader_id, frame_id, kind } = params;
        match std::str::from_utf8(method).unwrap_or_default() {
            STARTED => {
                if request_id == loader_id && frame_id == self.frame {
                    // A new document: nothing tells the end of what the old one had asked for.
                    self.in_flight.clear();
                }
                if !never_ends(&kind) {
                    self.in_flight.insert(request_id, now + LONG_POLL);
                    self.moved = now;
                }
            }
            ANSWERED => {
                if let Some(counts_until) = self.in_flight.get_mut(&request_id) {
                    *counts_until = now + STREAM;
                }
                if never_ends(&kind) {
                    self.in_flight.remove(&request_id);
                }
            }
            FINISHED | FAILED if self.in_flight.remove(&request_id).is_some() => self.moved = now,
            _ => {}
        }
    }

    /// Returns when the network will have been quiet for long enough, if nothing more happens.
    pub(super) fn quiet_at(&self) -> Instant {
        let moved = self.moved + QUIET;
        self.in_flight.values().copied().max().map_or(moved, |last| last.max(moved))
    }
}

fn never_ends(kind: &str) -> bool {
    matches!(kind, "EventSource" | "WebSocket" | "Media" | "Ping" | "Prefetch")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(traffic: &mut Traffic<'_>, method: &str, id: &str, kind: &str, now: Instant) {
        let params = format!(r#"{{"requestId":"{id}","loaderId":"L","frameId":"top","type":"{kind}"}}"#);
        traffic.take(method.as_bytes(), params.as_bytes(), now);
    }

    #[test]
    fn quiet_is_half_a_second_after_the_last_one_ended() {
        let began = Instant::now();
        let mut traffic = Traffic::new("top", began);
        assert_eq!(traffic.quiet_at(), began + QUIET);
        event(&mut traffic, STARTED, "1", "Fetch", began);
        assert_eq!(traffic.quiet_at(), began + LONG_POLL);
        event(&mut traffic, ANSWERED, "1", "Fetch", began + QUIET);
        let ended = began + 2 * QUIET;
        event(&mut traffic, FINISHED, "1", "", ended);
        assert_eq!(traffic.quiet_at(), ended + QUIET);
    }

    #[test]
    fn what_never_ends_is_not_waited_for() {
        let began = Instant::now();
        let mut traffic = Traffic::new("top", began);
        for (id, kind) in [("1", "EventSource"), ("2", "WebSocket"), ("3", "Media")] {
            event(&mut traffic, STARTED, id, kind, began);
        }
        assert_eq!(traffic.quiet_at(), began + QUIET);
        // A stream behind fetch() counts until it has gone on for a while.
        event(&mut traffic, STARTED, "4", "Fetch", began);
        event(&mut traffic, ANSWERED, "4", "Fetch", began + QUIET);
        assert_eq!(traffic.quiet_at(), began + QUIET + STREAM);
    }

    #[test]
    fn a_new_document_forgets_what_the_old_one_had_asked_for() {
        let began = Instant::now();
        let mut traffic = Traffic::new("top", began);
        event(&mut traffic, STARTED, "1", "Fetch", began);
        event(&mut traffic, STARTED, "L", "Document", began);
        event(&mut traffic, FINISHED, "L", "", began);
        assert_eq!(traffic.quiet_at(), began + QUIET);
    }
}
