//! Durations of one thing done many times, and two things done in turns.

use std::fmt;
use std::time::{Duration, Instant};

use crate::Result;

/// Durations, in the order in which they were taken.
#[derive(Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    /// Does one thing many times.
    pub(crate) async fn repeat<T>(&mut self, times: u32, work: &mut impl AsyncFnMut() -> Result<T>) -> Result<()> {
        for _ in 0..times {
            let started = Instant::now();
            let done = work().await?;
            self.push(started.elapsed());
            drop(done);
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// Returns the duration that `percent` of the samples do not exceed; zero when there are none.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or_default()
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Millis(self.median()))?;
        // Below a hundred samples that would be the largest one.
        if self.0.len() >= 100 { write!(f, " (p99 {})", Millis(self.percentile(99))) } else { Ok(()) }
    }
}

/// A duration as the report shows it.
pub(crate) struct Millis(pub(crate) Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_secs_f64() * 1000.0;
        let digits = if millis < 1.0 { 3 } else { 1 };
        write!(f, "{millis:.digits$} ms")
    }
}

/// How often two things are done in turns.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    /// How many blocks each of the two gets.
    pub(crate) count: u32,
    /// How often it is done in one block.
    pub(crate) length: u32,
}

/// The same work, done without ostler and with it.
#[derive(Default)]
pub(crate) struct Pair {
    pub(crate) raw: Samples,
    pub(crate) ostler: Samples,
}

impl Pair {
    /// Takes in another pair's samples.
    pub(crate) fn add(&mut self, other: Self) {
        self.raw.0.extend(other.raw.0);
        self.ostler.0.extend(other.ostler.0);
    }

    /// Returns how many times as long it takes with ostler, by the medians.
    pub(crate) fn ratio(&self) -> f64 {
        self.ostler.median().as_secs_f64() / self.raw.median().as_secs_f64()
    }
}

/// Does two things in turns, so that whatever else the machine does meets both of them alike.
///
/// The first block of each warms up and does not count.
/// What the work returns lives on until its time has been taken: putting it away is not part of it.
pub(crate) async fn in_turns<R, O>(
    blocks: Blocks,
    mut raw: impl AsyncFnMut() -> Result<R>,
    mut ostler: impl AsyncFnMut() -> Result<O>,
) -> Result<Pair> {
    let mut pair = Pair::default();
    for block in 0..=blocks.count {
        if block == 1 {
            pair = Pair::default();
        }
        // The one that goes first changes, too.
        if block % 2 == 0 {
            pair.raw.repeat(blocks.length, &mut raw).await?;
            pair.ostler.repeat(blocks.length, &mut ostler).await?;
        } else {
            pair.ostler.repeat(blocks.length, &mut ostler).await?;
            pair.raw.repeat(blocks.length, &mut raw).await?;
        }
    }
    Ok(pair)
}
