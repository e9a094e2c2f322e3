//! The time that the supervisor is told.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ostler_core::Timestamp;

/// Wall-clock time that never goes back.
pub(super) struct Clock {
    started: Instant,
    started_at: Duration,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            // A clock before 1970 is wrong anyway.
            started_at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp::default() + self.started_at + self.started.elapsed()
    }
}
