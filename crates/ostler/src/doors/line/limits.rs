//! What one client, and all together, can cost the daemon at most.

use std::time::Duration;

/// The bounds of the line protocol. Tests make them small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The longest request line, in bytes. What fits also bounds the requests of one connection
    /// together: above it, the next line waits.
    pub(crate) line: usize,
    /// How many requests of one connection may be unanswered before the next line waits.
    pub(crate) in_flight: usize,
    /// How many bytes of replies may wait to be written before the next line waits.
    pub(crate) backlog: usize,
    /// How long a write may make no progress before the connection is closed.
    pub(crate) stall: Duration,
    /// How many connections there may be.
    pub(crate) connections: usize,
    /// How long connections have to finish when the daemon ends.
    pub(crate) grace: Duration,
}

impl Limits {
    /// The daemon's bounds.
    pub(crate) const STANDARD: Self = Self {
        line: 100 << 20,
        in_flight: 128,
        backlog: 8 << 20,
        stall: Duration::from_secs(30),
        connections: 512,
        grace: Duration::from_secs(2),
    };
}
