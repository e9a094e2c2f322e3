//! What a client sends, of any bytes in any pieces: it is cut into the same lines, and how deep one is nested is
//! counted as a parser counts it.

#![no_main]

use std::pin::Pin;
use std::task::{Context, Poll};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncRead, ReadBuf};

#[path = "../../crates/ostler/src/doors/line/depth.rs"]
mod depth;
#[path = "../../crates/ostler/src/doors/line/framing.rs"]
mod framing;

use framing::{Incoming, Lines};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    bytes: &'a [u8],
    limit: u16,
    /// How many bytes come at a time, over and over; a zero is a wait.
    steps: [u8; 4],
}

/// A client that sends in pieces.
struct Pieces<'a> {
    bytes: &'a [u8],
    steps: std::iter::Cycle<std::array::IntoIter<u8, 4>>,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let step = self.steps.next().map_or(1, usize::from);
        if step == 0 && !self.bytes.is_empty() {
            cx.waker().wake_by_ref();
            // All four may be zero, and a client that never sends proves nothing.
            if self.steps.clone().take(4).any(|step| step > 0) {
                return Poll::Pending;
            }
        }
        let (now, later) = self.bytes.split_at(step.max(1).min(self.bytes.len()).min(buffer.remaining()));
        buffer.put_slice(now);
        self.bytes = later;
        Poll::Ready(Ok(()))
    }
}

/// The lines as the contract has them, read in the plainest way; and whether one went over the limit.
fn plainly(bytes: &[u8], limit: usize) -> (Vec<&[u8]>, bool) {
    let mut lines = Vec::new();
    let mut parts = bytes.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = parts.next() {
        if line.len() > limit {
            return (lines, true);
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            lines.push(line);
        }
    }
    (lines, false)
}

fuzz_target!(|input: Input<'_>| {
    let Input { bytes, limit, steps } = input;
    let limit = usize::from(limit);
    let mut source = Pieces { bytes, steps: steps.into_iter().cycle() };
    let mut lines = Lines::new(limit);
    let (expected, too_long) = plainly(bytes, limit);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut expected = expected.into_iter();
        loop {
            match lines.next(&mut source).await.expect("memory can be read") {
                Incoming::Line(line) => assert_eq!(Some(&*line), expected.next()),
                Incoming::TooLong(start) => {
                    assert!(too_long && expected.next().is_none());
                    assert!(start.len() > limit);
                    return;
                }
                Incoming::End => {
                    assert!(!too_long && expected.next().is_none());
                    return;
                }
            }
        }
    });
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) {
        assert_eq!(depth::is_within_limit(bytes), depth_of(&value) <= depth::MAX_DEPTH);
    }
});

fn depth_of(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
        serde_json::Value::Object(fields) => 1 + fields.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}
