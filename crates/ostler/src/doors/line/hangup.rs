//! Notices that a client is gone while nothing is being read from it.
//!
//! The end of a client's input does not say so: `nc` closes its writing side and still wants its
//! replies. The kernel tells the two apart (a hang-up is both directions closed), and tokio shows a
//! hang-up as "write closed". To wait for that alone, "writable" has to be waved through whenever it
//! comes; on the connection's own registration that would take wake-ups away from its writes, so a
//! second descriptor of the same socket is watched, and only by the few connections that need it.

use std::io;
use std::os::fd::AsFd;

use tokio::io::Interest;
use tokio::net::UnixStream;

/// The second descriptor, made when first needed.
#[derive(Debug, Default)]
pub(super) struct Hangup {
    watched: Option<UnixStream>,
}

impl Hangup {
    /// Starts watching a client, unless that has begun already.
    pub(super) fn watch(&mut self, stream: &UnixStream) {
        if self.watched.is_none() {
            match second_descriptor(stream) {
                Ok(watched) => self.watched = Some(watched),
                // No descriptor is free. Calls of a lost client then run until their time is up.
                Err(error) => tracing::warn!("cannot watch a client for its hang-up: {error}"),
            }
        }
    }

    /// Waits until the client has closed both directions. Dropping the future loses nothing.
    pub(super) async fn wait(&self) {
        let Some(watched) = &self.watched else { return std::future::pending().await };
        loop {
            match watched.ready(Interest::WRITABLE).await {
                Ok(ready) if !ready.is_write_closed() => wave_through(watched),
                _ => return,
            }
        }
    }
}

fn second_descriptor(stream: &UnixStream) -> io::Result<UnixStream> {
    let fd = stream.as_fd().try_clone_to_owned()?;
    UnixStream::from_std(fd.into())
}

/// Forgets that the socket is writable, so that the next wait ends at the next change.
fn wave_through(watched: &UnixStream) {
    let _ = watched.try_io(Interest::WRITABLE, || io::Result::<()>::Err(io::ErrorKind::WouldBlock.into()));
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};

    use tokio::io::AsyncWriteExt;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn watching_a_client_that_stays_costs_nothing_and_its_end_is_seen() {
        let (stream, mut peer) = UnixStream::pair().expect("a socket pair");
        peer.shutdown().await.expect("an open socket");
        let mut hangup = Hangup::default();
        hangup.watch(&stream);
        let mut waiting = pin!(hangup.wait());
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        const POLLS: usize = 50;
        for _ in 0..POLLS {
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            // Lets the runtime look at the socket.
            tokio::task::yield_now().await;
        }
        assert!(wakes.0.load(Ordering::Relaxed) < POLLS / 2, "it spins");
        drop(peer);
        waiting.await;
    }
}
