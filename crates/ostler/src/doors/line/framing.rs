//! Cuts a client's bytes into lines, none longer than the limit.
//!
//! A line is handed out as a slice of the buffer it was read into, so a large `params` reaches the
//! browser's connection without having been copied.

use std::io;

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much room the buffer is given when it has run short; it doubles from there as a line grows.
const CHUNK: usize = 16 << 10;
/// The least room worth a read.
const MIN_ROOM: usize = 4 << 10;
/// A line above this takes its buffer with it, so that a connection at rest stays small.
const LARGE_LINE: usize = 64 << 10;

/// What came in.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// A line that is not blank, without its end.
    Line(Bytes),
    /// A line went over the limit: this is how it begins. Nothing after it can be read.
    TooLong(Bytes),
    /// The client closed its writing side.
    End,
}

/// The bytes that have come in and have not been handed out.
#[derive(Debug)]
pub(super) struct Lines {
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    limit: usize,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, limit }
    }

    /// Returns the next line. Dropping the future loses nothing.
    ///
    /// What stands after the last line end when the client closes counts as a line too: shell tools
    /// often leave the end out, and a line that was cut off is no complete object.
    pub(super) async fn next(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Incoming> {
        loop {
            if let Some(incoming) = self.buffered() {
                return Ok(incoming);
            }
            if self.buffer.capacity() - self.buffer.len() < MIN_ROOM {
                self.buffer.reserve(CHUNK);
            }
            if stream.read_buf(&mut self.buffer).await? == 0 {
                let rest = self.buffer.split().freeze();
                self.searched = 0;
                return Ok(if is_blank(&rest) { Incoming::End } else { Incoming::Line(rest) });
            }
        }
    }

    /// Returns what is there already, if that is a line or too long for one.
    fn buffered(&mut self) -> Option<Incoming> {
        loop {
            let end = memchr(b'\n', &self.buffer[self.searched..]).map(|found| self.searched + found);
            self.searched = end.unwrap_or(self.buffer.len());
            if self.searched > self.limit {
                return Some(Incoming::TooLong(self.buffer.split().freeze()));
            }
            let line = self.take(end?);
            if !is_blank(&line) {
                return Some(Incoming::Line(line));
            }
        }
    }

    fn take(&mut self, end: usize) -> Bytes {
        let mut line = self.buffer.split_to(end + 1);
        line.truncate(end);
        self.searched = 0;
        if end > LARGE_LINE {
            self.buffer = BytesMut::from(&*self.buffer);
        }
        line.freeze()
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what `bytes` come out as when the reader gets them `step` at a time.
    async fn read_all(bytes: &[u8], step: usize, limit: usize) -> Vec<Incoming> {
        let mut source: Box<dyn AsyncRead + Unpin + '_> = Box::new(tokio::io::empty());
        for part in bytes.chunks(step) {
            source = Box::new(source.chain(part));
        }
        let mut lines = Lines::new(limit);
        let mut all = Vec::new();
        loop {
            let incoming = lines.next(&mut source).await.expect("memory can be read");
            let last = matches!(incoming, Incoming::End | Incoming::TooLong(_));
            all.push(incoming);
            if last {
                return all;
            }
        }
    }

    fn line(text: &'static str) -> Incoming {
        Incoming::Line(Bytes::from_static(text.as_bytes()))
    }

    #[tokio::test]
    async fn lines_are_the_same_however_the_bytes_arrive() {
        let bytes = b"one\n\n  \r\ntwo\r\n\xff\n";
        for step in 1..=bytes.len() {
            let expected = [line("one"), line("two\r"), Incoming::Line(Bytes::from_static(b"\xff")), Incoming::End];
            assert_eq!(read_all(bytes, step, 100).await, expected, "{step} at a time");
        }
    }

    #[tokio::test]
    async fn a_last_line_without_an_end_counts() {
        assert_eq!(read_all(b"one\ntwo", 3, 100).await, [line("one"), line("two"), Incoming::End]);
    }

    #[tokio::test]
    async fn a_line_of_the_limit_passes_and_one_byte_more_does_not() {
        assert_eq!(read_all(b"12345\n", 2, 5).await, [line("12345"), Incoming::End]);
        assert!(matches!(*read_all(b"123456\n", 6, 5).await, [Incoming::TooLong(_)]));
        assert!(matches!(*read_all(b"123456789", 1, 5).await, [Incoming::TooLong(_)]));
    }

    #[tokio::test]
    async fn a_large_line_takes_its_buffer_with_it() {
        let mut bytes = vec![b'x'; 10 * LARGE_LINE];
        bytes.extend_from_slice(b"\nnext");
        let mut lines = Lines::new(usize::MAX);
        let mut source = &*bytes;
        let large = lines.next(&mut source).await.expect("memory can be read");
        assert!(matches!(large, Incoming::Line(large) if large.len() == 10 * LARGE_LINE));
        assert_eq!(&*lines.buffer, b"next");
        assert!(lines.buffer.capacity() <= LARGE_LINE, "{}", lines.buffer.capacity());
    }
}
