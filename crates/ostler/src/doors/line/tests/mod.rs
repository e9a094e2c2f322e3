//! The door at the wire: raw bytes in, raw bytes out, with scripted tasks behind it.

mod bad_input;
mod errors;
mod events;
mod fake_tasks;
mod limits;
mod listener;
mod meta_requests;
mod ordering;
mod passthrough;
mod tools;
mod tools_held_up;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

use super::{Limits, connection};
use fake_tasks::{FakeTasks, Script};

/// A client on one end of a socket whose other end is served.
struct Client {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    /// Ends when the served connection does.
    served: tokio::task::JoinHandle<()>,
    stop: watch::Sender<bool>,
}

impl Client {
    /// Connects to scripted tasks within the daemon's own limits.
    fn connect() -> (Self, Script) {
        Self::connect_within(Limits::STANDARD)
    }

    fn connect_within(limits: Limits) -> (Self, Script) {
        let (tasks, script) = FakeTasks::new();
        (Self::join(tasks, limits), script)
    }

    fn join(tasks: Arc<FakeTasks>, limits: Limits) -> Self {
        let (ours, theirs) = UnixStream::pair().expect("a socket pair");
        let (stop, stopped) = watch::channel(false);
        let served = tokio::spawn(connection::serve(theirs, tasks, limits, stopped));
        let (reader, writer) = ours.into_split();
        Self { reader: BufReader::new(reader), writer, served, stop }
    }

    /// Sends one line.
    async fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    async fn send_bytes(&mut self, bytes: &[u8]) {
        within(self.writer.write_all(bytes)).await.expect("the daemon reads");
    }

    /// Returns the next line, without its end; empty when the connection is closed.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        within(self.reader.read_line(&mut line)).await.expect("a line of text");
        line.trim_end_matches('\n').to_owned()
    }

    /// Sends one line and returns the next.
    async fn ask(&mut self, line: &str) -> String {
        self.send(line).await;
        self.line().await
    }

    /// Closes the writing side, as `nc` does at the end of its input.
    async fn half_close(&mut self) {
        self.writer.shutdown().await.expect("an open socket");
    }

    /// Waits for the daemon to close the connection, and checks that nothing more came.
    async fn closed(mut self) {
        let mut rest = Vec::new();
        match within(self.reader.read_to_end(&mut rest)).await {
            Ok(_) => assert_eq!(String::from_utf8_lossy(&rest), ""),
            // What the kernel says where the daemon left some of our bytes unread.
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
        within(self.served).await.expect("no panic in the connection");
    }

    /// Goes away, and waits until the daemon has noticed.
    async fn vanish(self) {
        let Self { reader, writer, served, .. } = self;
        drop((reader, writer));
        within(served).await.expect("no panic in the connection");
    }
}

/// Lets a test fail instead of hang. No test depends on the time itself.
async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it happens within 20 s")
}

/// Checks that a line is the error `code` and names `what`.
#[track_caller]
fn assert_error(line: &str, code: &str, what: &str) {
    let json: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
    assert_eq!(json["error_code"], code, "{line}");
    assert!(json["error"].as_str().is_some_and(|sentence| sentence.contains(what)), "{what:?} is not in {line}");
}
