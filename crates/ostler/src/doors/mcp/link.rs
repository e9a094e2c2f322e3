//! The way to the daemon: one connection for each request that is under way, kept for the next one.
//!
//! Whoever gives up waiting drops the connection with it, and the daemon ends what a lost client waited for: nothing
//! more is needed to cancel a call.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::OnceCell;

use crate::client::{Client, ClientError};
use crate::config::ClientSettings;

/// How many connections are kept while nothing is under way on them.
const MAX_IDLE: usize = 8;
/// How long a request may take: each has a limit of its own in the daemon, at most an hour, and this one is for a daemon
/// that has stopped.
const PATIENCE: Duration = Duration::from_secs(2 * 3_600);
/// Snapshots and screenshots come in one line each.
const READ_BUFFER: usize = 64 * 1024;

/// Whether a daemon is started for a request when none runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Somebody wants work done.
    IfNeeded,
    /// It is only looked at; a daemon that the user stopped stays stopped.
    Never,
}

/// The connections to the daemon.
#[derive(Debug)]
pub(super) struct Link {
    settings: ClientSettings,
    idle: Mutex<Vec<Connection>>,
    warm: OnceCell<()>,
    /// Whether a daemon was started for this door, and nobody has been told of it yet.
    has_started_one: AtomicBool,
}

type Connection = BufReader<UnixStream>;

impl Link {
    /// Starts with no connection.
    pub(super) fn new(settings: ClientSettings) -> Self {
        Self { settings, idle: Mutex::default(), warm: OnceCell::new(), has_started_one: AtomicBool::new(false) }
    }

    /// Reaches for the daemon once, starting it if none runs. Done beside the greeting of the host, it costs no time.
    pub(super) async fn warm_up(&self) {
        let connect = async {
            // What is in the way is told with the first request, to somebody who waits for an answer.
            if let Ok(connection) = self.dial(Start::IfNeeded).await {
                self.keep(connection);
            }
        };
        self.warm.get_or_init(|| connect).await;
    }

    /// Returns whether a daemon was started for this door, and nobody has been told of it yet.
    pub(super) fn has_started_one(&self) -> bool {
        self.has_started_one.load(Ordering::Relaxed)
    }

    /// The same, and whoever asks next is answered no.
    pub(super) fn take_start(&self) -> bool {
        self.has_started_one.swap(false, Ordering::Relaxed)
    }

    /// Sends one request and returns the daemon's reply, a line of JSON. Dropping the future cancels the request.
    pub(super) async fn ask(&self, request: &impl Serialize, start: Start) -> Result<Vec<u8>, LinkError> {
        self.warm_up().await;
        let mut line = serde_json::to_vec(request).expect("plain data with text keys serializes");
        line.push(b'\n');
        let mut connection = match self.kept() {
            Some(mut kept) => match kept.write_all(&line).await {
                Ok(()) => return self.answer(kept).await,
                // The daemon is another one since. It took nothing of the request, so this is no repetition.
                Err(_) => self.dial(start).await?,
            },
            None => self.dial(start).await?,
        };
        connection.write_all(&line).await.map_err(|error| self.gone(error))?;
        self.answer(connection).await
    }

    async fn answer(&self, mut connection: Connection) -> Result<Vec<u8>, LinkError> {
        let mut line = Vec::new();
        match tokio::time::timeout(PATIENCE, connection.read_until(b'\n', &mut line)).await {
            Ok(Ok(_)) if line.last() == Some(&b'\n') => {
                line.pop();
                self.keep(connection);
                Ok(line)
            }
            Ok(Ok(_)) => Err(self.gone(io::ErrorKind::UnexpectedEof.into())),
            Ok(Err(error)) => Err(self.gone(error)),
            Err(_) => Err(ClientError::stuck(&self.settings.paths.socket, PATIENCE).into()),
        }
    }

    /// Connects, and makes sure that the daemon is ours and drives the browser that the environment names.
    async fn dial(&self, start: Start) -> Result<Connection, LinkError> {
        let settings = self.settings.clone();
        let dialled = tokio::task::spawn_blocking(move || {
            let client = match start {
                Start::IfNeeded => Some(Client::connect_or_start(&settings)?),
                Start::Never => Client::connect(&settings)?,
            };
            let Some(client) = client else { return Ok(None) };
            let is_first = client.is_first;
            Ok(Some((client.into_stream()?, is_first)))
        });
        let dialled: Result<_, ClientError> = dialled.await.map_err(|_| self.gone(io::ErrorKind::Other.into()))?;
        let (stream, is_first) = dialled?.ok_or(LinkError::NoDaemon)?;
        self.has_started_one.fetch_or(is_first, Ordering::Relaxed);
        let stream = stream.set_nonblocking(true).and_then(|()| UnixStream::from_std(stream));
        Ok(BufReader::with_capacity(READ_BUFFER, stream.map_err(|error| self.gone(error))?))
    }

    fn kept(&self) -> Option<Connection> {
        let mut idle = self.idle();
        while let Some(connection) = idle.pop() {
            // A daemon never speaks first, so anything but silence is its end.
            let silent = connection.get_ref().try_read(&mut [0]).is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock);
            if silent {
                return Some(connection);
            }
        }
        None
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.idle();
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
    }

    /// Held only while the list is read or changed, never across a wait.
    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gone(&self, error: io::Error) -> LinkError {
        ClientError::Gone { socket: self.settings.paths.socket.clone(), error }.into()
    }
}

/// Why there is no reply.
#[derive(Debug)]
pub(super) enum LinkError {
    /// None runs, and none was to be started.
    NoDaemon,
    /// It cannot be used.
    Client(ClientError),
}

impl LinkError {
    /// Returns the contract's `error_code`.
    pub(super) fn code(&self) -> &str {
        match self {
            // It is there, and has no room for us, say.
            Self::Client(ClientError::Refused { code, .. }) => code,
            Self::Client(ClientError::Gone { .. } | ClientError::Stuck { .. }) => "unknown_outcome",
            Self::NoDaemon | Self::Client(_) => "browser_gone",
        }
    }
}

impl From<ClientError> for LinkError {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDaemon => f.write_str("no daemon runs; the next tool call starts one"),
            Self::Client(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_has_no_room_is_told_in_its_own_words() {
        let full = "`connection`: the daemon serves 256 connections already; close idle ones and try again";
        let error = LinkError::from(ClientError::Refused { error: full.to_owned(), code: "bad_request".to_owned() });
        assert_eq!((error.code(), error.to_string().as_str()), ("bad_request", full));
    }
}
