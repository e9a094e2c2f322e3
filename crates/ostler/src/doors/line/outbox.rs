//! What waits to be written to one client.
//!
//! Small replies are gathered into one buffer; a large one is kept as it came from the browser, with
//! its prefix and suffix around it. Either way one system call writes as much as the socket takes.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

/// Up to here a piece is copied: cheaper than a slice of its own.
const SMALL: usize = 16 << 10;
/// How many pieces one system call takes.
const SLICES: usize = 16;
/// The largest gathering buffer that is kept for later once it has been written.
const KEPT: usize = 64 << 10;

/// The pieces, in order: first `sealed`, then `open`.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    sealed: VecDeque<Bytes>,
    open: BytesMut,
    len: usize,
    /// When the client last took something, or there first was something to take.
    progress: Option<Instant>,
}

impl Outbox {
    /// Returns how many bytes wait.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a copy of some bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.open.extend_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends bytes, without a copy when they are many.
    pub(super) fn put_shared(&mut self, bytes: Bytes) {
        if bytes.len() <= SMALL {
            return self.put(&bytes);
        }
        if !self.open.is_empty() {
            self.sealed.push_back(self.open.split().freeze());
        }
        self.len += bytes.len();
        self.sealed.push_back(bytes);
    }

    /// Writes until nothing waits; fails when the client has taken nothing for `stall`. Dropping the
    /// future loses nothing, and does not start that time anew.
    pub(super) async fn flush(&mut self, writer: &mut (impl AsyncWrite + Unpin), stall: Duration) -> io::Result<()> {
        while !self.is_empty() {
            let since = *self.progress.get_or_insert_with(Instant::now);
            let (slices, count) = self.slices();
            let writing = writer.write_vectored(&slices[..count]);
            let written = timeout_at(since + stall, writing).await.map_err(|_| io::ErrorKind::TimedOut)??;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.advance(written);
        }
        Ok(())
    }

    fn slices(&self) -> ([IoSlice<'_>; SLICES], usize) {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let pieces = self.sealed.iter().map(|piece| &**piece).chain(std::iter::once(&*self.open));
        let mut count = 0;
        for (slot, piece) in slices.iter_mut().zip(pieces) {
            *slot = IoSlice::new(piece);
            count += 1;
        }
        (slices, count)
    }

    fn advance(&mut self, mut written: usize) {
        self.len -= written;
        self.progress = (self.len > 0).then(Instant::now);
        while let Some(first) = self.sealed.front_mut() {
            if written < first.len() {
                return first.advance(written);
            }
            written -= first.len();
            self.sealed.pop_front();
        }
        self.open.advance(written);
        if self.open.is_empty() && self.open.capacity() > KEPT {
            self.open = BytesMut::new();
        }
    }

    /// Returns all that waits as one piece.
    pub(super) fn into_bytes(self) -> Bytes {
        let mut all = BytesMut::with_capacity(self.len);
        self.sealed.iter().for_each(|piece| all.extend_from_slice(piece));
        all.extend_from_slice(&self.open);
        all.freeze()
    }
}
