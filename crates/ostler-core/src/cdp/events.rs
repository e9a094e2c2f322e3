//! The events that a task has seen: a bounded buffer with numbers and a count of what it lost.

use std::collections::VecDeque;

use bytes::Bytes;

use super::envelope::WireEvent;
use crate::ids::SessionId;

/// The most events kept.
const MAX_EVENTS: usize = 8192;
/// The most bytes kept, counting [`OVERHEAD`] for each event.
const MAX_BYTES: usize = 2 << 20;
/// What an event costs beside its text.
const OVERHEAD: usize = 160;
/// How many events a drain gives at most, the newest ones.
const DRAIN: usize = 500;

/// One numbered event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its number; the first is 1 and none is left out.
    pub seq: u64,
    /// The method, JSON-escaped, without quotes.
    pub method: Bytes,
    /// The raw parameters.
    pub params: Bytes,
    /// The session it came on.
    pub session_id: Option<SessionId>,
}

/// Which events a reader wants.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// Exact methods or `Domain.*`; empty means all.
    pub methods: Vec<String>,
    /// One session only.
    pub session_id: Option<SessionId>,
}

impl EventFilter {
    /// Returns whether the reader wants `event`.
    pub fn takes(&self, event: &Event) -> bool {
        let session = self.session_id.as_ref().is_none_or(|wanted| event.session_id.as_ref() == Some(wanted));
        session && (self.methods.is_empty() || self.methods.iter().any(|pattern| matches(pattern, &event.method)))
    }
}

fn matches(pattern: &str, method: &[u8]) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => method.starts_with(prefix.as_bytes()),
        None => method == pattern.as_bytes(),
    }
}

/// The events after some number.
#[derive(Debug, Default)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The `since` of the next call.
    pub next: u64,
    /// How many events after `since` had already fallen out of the buffer.
    pub lost: u64,
}

/// The bounded buffer.
#[derive(Debug, Default)]
pub struct EventLog {
    kept: VecDeque<Event>,
    bytes: usize,
    last_seq: u64,
    drained: u64,
    /// The number that it counts on from.
    started: u64,
}

impl EventLog {
    /// Starts empty, with the number after `last_seq` for its first event: what was before is not lost, it was given up.
    pub fn counting_on_from(last_seq: u64) -> Self {
        Self { last_seq, drained: last_seq, started: last_seq, ..Self::default() }
    }

    /// Adds an event and returns its number; drops the oldest ones when there is no room.
    pub fn push(&mut self, event: &WireEvent) -> u64 {
        self.last_seq += 1;
        let size = event.method.len() + event.params.len() + OVERHEAD;
        if size > MAX_BYTES {
            return self.last_seq;
        }
        self.bytes += size;
        // A slice would hold the whole receive buffer that it points into; a copy holds itself.
        self.kept.push_back(Event {
            seq: self.last_seq,
            method: Bytes::copy_from_slice(event.method.as_bytes()),
            params: Bytes::copy_from_slice(event.params.as_bytes()),
            session_id: event.session.clone(),
        });
        while self.kept.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.method.len() + oldest.params.len() + OVERHEAD;
        }
        self.last_seq
    }

    /// Returns up to `limit` events after number `since` that `filter` takes, and takes none away.
    pub fn page(&self, since: u64, limit: usize, filter: &EventFilter) -> EventPage {
        // A number from the future (an earlier daemon's) starts at the end.
        let since = since.clamp(self.started, self.last_seq);
        let mut page = EventPage { next: self.last_seq, ..EventPage::default() };
        let mut kept = 0;
        for event in self.kept.range(self.kept.partition_point(|event| event.seq <= since)..) {
            if filter.takes(event) {
                if page.events.len() == limit {
                    page.next = event.seq - 1;
                    break;
                }
                page.events.push(event.clone());
            }
            kept += 1;
        }
        page.lost = page.next - since - kept;
        page
    }

    /// Returns the newest events since the last drain, at most 500 of them.
    pub fn drain(&mut self) -> Vec<Event> {
        let fresh = self.kept.iter().rev().take_while(|event| event.seq > self.drained).take(DRAIN);
        let mut events: Vec<Event> = fresh.cloned().collect();
        events.reverse();
        self.drained = self.last_seq;
        events
    }
}

#[cfg(test)]
mod tests {
    use bytestring::ByteString;

    use super::*;

    fn wire(method: &'static str, params: impl Into<ByteString>) -> WireEvent {
        WireEvent { method: method.into(), params: params.into(), session: None }
    }

    fn filled(count: usize) -> EventLog {
        let mut log = EventLog::default();
        for _ in 0..count {
            log.push(&wire("A.b", "{}"));
        }
        log
    }

    #[test]
    fn every_event_is_either_given_or_counted_as_lost() {
        let log = filled(MAX_EVENTS * 3);
        let page = log.page(5, usize::MAX, &EventFilter::default());
        assert_eq!(page.lost + page.events.len() as u64, (MAX_EVENTS * 3 - 5) as u64);
        assert_eq!(page.events[0].seq, 5 + page.lost + 1, "what is lost is the oldest");
        assert_eq!(page.next, (MAX_EVENTS * 3) as u64);
    }

    #[test]
    fn pages_of_any_size_walk_through_all_events_once() {
        let log = filled(100);
        let (mut since, mut seen) = (0, Vec::new());
        loop {
            let page = log.page(since, 7, &EventFilter::default());
            if page.events.is_empty() {
                break;
            }
            seen.extend(page.events.iter().map(|event| event.seq));
            since = page.next;
        }
        assert_eq!(seen, (1..=100).collect::<Vec<u64>>());
    }

    #[test]
    fn a_filter_skips_what_it_does_not_take_and_moves_on() {
        let mut log = filled(3);
        log.push(&wire("Page.x", "{}"));
        let filter = EventFilter { methods: vec!["Page.*".to_owned()], session_id: None };
        let page = log.page(0, 10, &filter);
        assert_eq!((page.events.len(), page.events[0].seq, page.next, page.lost), (1, 4, 4, 0));
    }

    #[test]
    fn draining_gives_the_newest_five_hundred_and_takes_nothing_from_pages() {
        let mut log = filled(600);
        let drained = log.drain();
        assert_eq!((drained.len(), drained[0].seq, drained[499].seq), (500, 101, 600));
        assert!(log.drain().is_empty());
        assert_eq!(log.page(0, usize::MAX, &EventFilter::default()).events.len(), 600);
    }

    #[test]
    fn an_event_larger_than_the_buffer_is_counted_and_costs_nothing() {
        let mut log = filled(10);
        log.push(&wire("A.big", " ".repeat(MAX_BYTES * 4)));
        let page = log.page(0, 100, &EventFilter::default());
        assert_eq!((page.events.len(), page.lost, page.next), (10, 1, 11));
        log.push(&wire("A.b", "{}"));
        assert_eq!(log.page(11, 100, &EventFilter::default()).events.len(), 1);
        assert!(log.bytes < 2000);
    }

    #[test]
    fn a_number_from_an_earlier_daemon_starts_at_the_end() {
        let page = filled(3).page(1_000_000, 10, &EventFilter::default());
        assert_eq!((page.events.len(), page.next, page.lost), (0, 3, 0));
    }
}
