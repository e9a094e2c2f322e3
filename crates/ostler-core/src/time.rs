//! The core's only notion of time: a number that its driver passes in.

use std::time::Duration;

/// Microseconds since the Unix epoch, as read by the driver, which sees to it that they never go
/// back even when the wall clock is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Returns seconds since the Unix epoch, to the microsecond, as the contract prints times.
    pub fn as_unix_seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns how long ago `earlier` was; zero if it is not in the past.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl std::ops::Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, before: Duration) -> Self {
        let micros = u64::try_from(before.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(micros))
    }
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, wait: Duration) -> Self {
        let micros = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros))
    }
}
