//! A client of the daemon: one blocking connection to its socket, one JSON line each way.
//!
//! There is no runtime here. A command that asks a running daemon one thing lives for a millisecond, and most of
//! that is the system's.

mod error;

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use serde::{Deserialize, Serialize};

use crate::config::{ClientSettings, NamedBrowser};
use crate::daemon::lock;
use crate::daemon::ownership::{self, Expected, PathRefused};
use crate::daemon::start::{Started, start_in_background};

pub(crate) use error::{BAD_CONFIG, ClientError, NO_DAEMON};

/// How long a daemon may take from being started to answering.
const START_DEADLINE: Duration = Duration::from_secs(10);
/// How often a socket that somebody else is about to open is tried.
const RETRY: Duration = Duration::from_millis(10);
/// How many tries another start is given before ours: its daemon may have died, or been on its way out.
const TRIES: u32 = 20;
/// How long a daemon may take to answer what it answers by itself, however busy the browser is.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is looked whether the daemon that is waited for runs at all.
const LOOK: Duration = Duration::from_secs(2);

/// A connection to the daemon.
#[derive(Debug)]
pub(crate) struct Client {
    stream: BufReader<UnixStream>,
    socket: PathBuf,
    browser: Option<NamedBrowser>,
    /// Who is on the other side, once that is known.
    ///
    /// Asking costs no time of its own: the question travels right behind the first request, and the two answers come
    /// together, so that this process is woken once. Only where the environment names a browser is the answer awaited first, since the wrong browser
    /// must see nothing.
    daemon: Option<Pong>,
    /// Whether the daemon was started for this connection.
    pub(crate) is_first: bool,
}

/// What the daemon says about itself.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Pong {
    /// Its process.
    #[serde(default)]
    pub(crate) pid: Option<u32>,
    /// Which ostler it is; a program of another kind that speaks the protocol has none.
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// How its browser was found.
    #[serde(default)]
    pub(crate) browser_kind: Option<String>,
    /// Whether the URL that we sent is that of the browser it was started for or works with.
    #[serde(default)]
    same_browser: Option<bool>,
}

/// The question.
#[derive(Serialize)]
struct Ping<'a> {
    meta: &'static str,
    /// The daemon compares it and says no more than whether it is the same, so no URL ever comes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    cdp_url: Option<&'a str>,
}

impl Client {
    /// Connects to the daemon, and starts one when none answers.
    pub(crate) fn connect_or_start(settings: &ClientSettings) -> Result<Self, ClientError> {
        if let Some(client) = Self::connect(settings)? {
            return Ok(client);
        }
        let deadline = Instant::now() + START_DEADLINE;
        while Instant::now() < deadline {
            let started = start_in_background(deadline).map_err(|error| ClientError::start(error, settings))?;
            for _ in 0..TRIES {
                if let Some(client) = Self::connect(settings)? {
                    return Ok(Self { is_first: started == Started::Ours, ..client });
                }
                if started == Started::Ours {
                    // It was ready and is gone: no use in waiting for it.
                    break;
                }
                std::thread::sleep(RETRY);
            }
        }
        let paths = &settings.paths;
        Err(ClientError::Silent { pid: lock::holder(&paths.pid_file), socket: paths.socket.clone() })
    }

    /// Connects to the daemon if one runs.
    pub(crate) fn connect(settings: &ClientSettings) -> Result<Option<Self>, ClientError> {
        let socket = &settings.paths.socket;
        if ownership::look(socket, Expected::Socket).map_err(ClientError::Path)?.is_none() {
            return Ok(None);
        }
        let stream = match connect_within(socket, PATIENCE) {
            Ok(stream) => stream,
            // A dead daemon's socket, or one that was removed since we looked.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
                return Ok(None);
            }
            Err(error) if is_timeout(&error) => {
                return Err(ClientError::stuck(socket, PATIENCE));
            }
            Err(error) => return Err(ClientError::Path(PathRefused::io(socket, error))),
        };
        check_peer(&stream, socket)?;
        Ok(Some(Self {
            stream: BufReader::with_capacity(64 * 1024, stream),
            socket: socket.clone(),
            browser: settings.browser.clone(),
            daemon: None,
            is_first: false,
        }))
    }

    /// Stops minding which browser the daemon drives, for requests that say it themselves or touch none.
    pub(crate) fn with_any_browser(mut self) -> Self {
        self.browser = None;
        self
    }

    /// Sends one request and returns the reply, a line of JSON as the daemon wrote it.
    ///
    /// `patience` is how long the request itself may take by the daemon's own clock; a daemon that has not answered
    /// a good while after that is taken to be stuck.
    pub(crate) fn request(&mut self, request: &impl Serialize, patience: Duration) -> Result<Vec<u8>, ClientError> {
        if self.browser.is_some() {
            self.greet()?;
        }
        let mut lines = Vec::new();
        let first = self.daemon.is_none();
        write_line(&mut lines, request);
        if first {
            write_line(&mut lines, &Ping { meta: "ping", cdp_url: None });
        }
        self.send(&lines)?;
        let reply = self.receive(patience + PATIENCE)?;
        if first {
            // One that ends with this reply says no more, and need not.
            self.daemon = self.receive_pong().ok();
        }
        Ok(reply)
    }

    /// Asks who is there, if that is not known yet.
    pub(crate) fn greet(&mut self) -> Result<&Pong, ClientError> {
        let pong = match self.daemon.take() {
            Some(pong) => pong,
            None => {
                let mut line = Vec::new();
                let cdp_url = self.browser.as_ref().map(|browser| browser.given().url.expose());
                write_line(&mut line, &Ping { meta: "ping", cdp_url });
                self.send(&line)?;
                self.receive_pong()?
            }
        };
        Ok(self.daemon.insert(pong))
    }

    /// Hands over the bare connection, with nothing in flight on it and the greeting done. A write on it still fails
    /// once the daemon has taken nothing for a while; how long to wait for an answer is the new owner's to say.
    pub(crate) fn into_stream(mut self) -> Result<UnixStream, ClientError> {
        self.greet()?;
        let stream = self.stream.into_inner();
        stream.set_read_timeout(None).map_err(|error| ClientError::Gone { socket: self.socket, error })?;
        Ok(stream)
    }

    fn receive_pong(&mut self) -> Result<Pong, ClientError> {
        let line = self.receive(PATIENCE)?;
        if let Ok(Refusal { error, error_code: Some(code) }) = serde_json::from_slice(&line) {
            return Err(ClientError::Refused { error, code });
        }
        // A program of another kind may answer with an error: then nothing is known of it, which is not ours to judge.
        let pong: Pong = serde_json::from_slice(&line).unwrap_or_default();
        if let (Some(browser), Some(false)) = (&self.browser, pong.same_browser) {
            return Err(ClientError::OtherBrowser { variable: browser.given().by, label: browser.given().url.label() });
        }
        Ok(pong)
    }

    /// Returns a sentence for the user when the daemon is not of this version, as after an upgrade.
    pub(crate) fn version_note(&self) -> Option<String> {
        let Some(Pong { pid: Some(pid), version, .. }) = &self.daemon else { return None };
        let ours = env!("CARGO_PKG_VERSION");
        match version.as_deref() {
            Some(theirs) if theirs == ours => None,
            theirs => Some(format!(
                "the daemon (pid {pid}) has version {} and this command {ours}; `ostler stop` lets the next command start the new one",
                theirs.unwrap_or("unknown")
            )),
        }
    }

    fn send(&mut self, lines: &[u8]) -> Result<(), ClientError> {
        self.stream.get_mut().write_all(lines).map_err(|error| {
            if is_timeout(&error) {
                return ClientError::stuck(&self.socket, PATIENCE);
            }
            self.refusal().unwrap_or_else(|| self.gone(error))
        })
    }

    /// Returns what the daemon said before it closed the connection unasked: it had no room for us.
    fn refusal(&mut self) -> Option<ClientError> {
        // The first read reports that our own words were not taken, the second one gives what was said.
        (0..2).find_map(|_| {
            let mut line = Vec::new();
            self.stream.read_until(b'\n', &mut line).ok()?;
            let Refusal { error, error_code } = serde_json::from_slice(&line).ok()?;
            error_code.map(|code| ClientError::Refused { error, code })
        })
    }

    fn receive(&mut self, patience: Duration) -> Result<Vec<u8>, ClientError> {
        let mut line = Vec::new();
        let until = Instant::now() + patience;
        let read = loop {
            // In short steps: a daemon whose process is stopped is not waited for.
            let left = until.saturating_duration_since(Instant::now());
            let step = left.clamp(Duration::from_millis(1), LOOK);
            let read = self
                .stream
                .get_ref()
                .set_read_timeout(Some(step))
                .and_then(|()| self.stream.read_until(b'\n', &mut line));
            match read {
                Err(error) if is_timeout(&error) && left > step && !ClientError::is_stopped(&self.socket) => {}
                read => break read,
            }
        };
        match read {
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
                Ok(line)
            }
            Ok(_) => Err(self.gone(io::ErrorKind::UnexpectedEof.into())),
            Err(error) if is_timeout(&error) => Err(ClientError::stuck(&self.socket, patience)),
            Err(error) => Err(self.refusal().unwrap_or_else(|| self.gone(error))),
        }
    }

    fn gone(&self, error: io::Error) -> ClientError {
        ClientError::Gone { socket: self.socket.clone(), error }
    }
}

/// Connects to the socket, and gives every write on the connection the same time.
///
/// A daemon that has stopped, with its queue of callers full, lets a plain `connect` wait for ever. On Linux the limit
/// for writing holds for connecting too; elsewhere a full queue is a refusal at once.
fn connect_within(socket: &Path, limit: Duration) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(socket)?;
    let stream = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&stream, rustix::io::FdFlags::CLOEXEC)?;
    let stream = UnixStream::from(stream);
    stream.set_write_timeout(Some(limit))?;
    rustix::net::connect(&stream, &address)?;
    Ok(stream)
}

/// Returns whether an operation ended because its time was over.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Appends one value as a line.
fn write_line(lines: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(&mut *lines, value).expect("plain data with text keys serializes, and memory takes all");
    lines.push(b'\n');
}

/// Makes sure that the daemon belongs to the user who runs this command: in a folder that all can write to, another
/// user's program could wait under our daemon's name for what we send.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn check_peer(stream: &UnixStream, socket: &Path) -> Result<(), ClientError> {
    let peer = rustix::net::sockopt::socket_peercred(stream)
        .map_err(|error| ClientError::Path(PathRefused::io(socket, error.into())))?;
    if peer.uid.as_raw() == ownership::our_uid() {
        Ok(())
    } else {
        Err(ClientError::Stranger { socket: socket.to_owned(), uid: peer.uid.as_raw() })
    }
}

/// Elsewhere the owner of the socket file, checked before connecting, has to do.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn check_peer(_stream: &UnixStream, _socket: &Path) -> Result<(), ClientError> {
    Ok(())
}

/// A reply that is an error of our daemon's.
#[derive(Deserialize)]
struct Refusal {
    error: String,
    error_code: Option<String>,
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn a_daemon_that_reads_nothing_ends_a_write() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("s");
        let _listener = UnixListener::bind(&socket).expect("a free path");
        let mut stream = connect_within(&socket, SHORT).expect("a place in the queue");
        // More than a socket holds.
        let error = stream.write_all(&vec![0; 16 << 20]).expect_err("nobody reads");
        assert!(is_timeout(&error), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_daemon_that_accepts_nobody_ends_a_connect() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).expect("a free path");
        rustix::net::listen(&listener, 0).expect("a queue may be made short");
        let _first = connect_within(&socket, SHORT).expect("a place in the queue");
        let error = connect_within(&socket, SHORT).expect_err("the queue is full");
        assert!(is_timeout(&error), "{error}");
    }
}
