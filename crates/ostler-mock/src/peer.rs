//! The browser's end of one connection, played by the test as a script of expect and send.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::panic::Location;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use tokio_websockets::Message;

use crate::door::WebSocket;
use crate::ids::SessionId;
use crate::server::PATIENCE;
use crate::wire::{self, Command};

/// The browser's end of one connection.
///
/// It reads only while it expects something: a test that stops expecting is a browser that stops reading. Dropping it
/// ends the connection without a close frame, as a browser that is killed does.
#[derive(Debug)]
pub struct Peer {
    websocket: WebSocket,
    /// The newest messages that came in, for the words of a failure.
    seen: VecDeque<String>,
}

/// Waiting for the client. Each fails the test after five seconds, at the line that expected, with what came instead.
impl Peer {
    /// Returns the next command, which must be `method`.
    #[track_caller]
    pub fn expect(&mut self, method: &str) -> impl Future<Output = Command> {
        let caller = Location::caller();
        async move {
            let command = self.next_command(caller, method).await;
            if command.method != method {
                self.fail(caller, method, "another command came");
            }
            command
        }
    }

    /// Returns the next command, whatever it is.
    #[track_caller]
    pub fn expect_any(&mut self) -> impl Future<Output = Command> {
        let caller = Location::caller();
        self.next_command(caller, "any command")
    }

    /// Returns the next command called `method`, passing over others before it.
    #[track_caller]
    pub fn expect_eventually(&mut self, method: &str) -> impl Future<Output = Command> {
        let caller = Location::caller();
        async move {
            loop {
                let command = self.next_command(caller, method).await;
                if command.method == method {
                    return command;
                }
            }
        }
    }

    /// Returns the next commands, which must be these methods in any order; they come back in the order asked for.
    #[track_caller]
    pub fn expect_all<const N: usize>(&mut self, methods: [&str; N]) -> impl Future<Output = [Command; N]> {
        let caller = Location::caller();
        async move {
            let mut found = [const { None }; N];
            for _ in 0..N {
                let command = self.next_command(caller, &methods.join(", ")).await;
                let open = |at: &usize| methods[*at] == command.method && found[*at].is_none();
                match (0..N).find(open) {
                    Some(at) => found[at] = Some(command),
                    None => self.fail(caller, &methods.join(", "), "another command came"),
                }
            }
            found.map(|command| command.expect("each of the N commands took a place of its own"))
        }
    }

    /// Proves that the client says nothing by itself: pings it, and fails if any command comes before the pong.
    ///
    /// A WebSocket library answers pings while the program behind it may still be thinking. Where that matters, make the
    /// client do something afterwards and [`expect`](Self::expect) that: it fails on any other command.
    #[track_caller]
    pub fn expect_silence(&mut self) -> impl Future<Output = ()> {
        let caller = Location::caller();
        async move {
            let wanted = "silence until the pong";
            self.send(Message::ping(PROBE)).await;
            loop {
                match self.next_message(caller, wanted).await {
                    Some(message) if message.is_pong() && message.as_payload()[..] == *PROBE => {
                        return;
                    }
                    Some(message) if message.is_text() => self.fail(caller, wanted, "a command came"),
                    Some(_) => {}
                    None => self.fail(caller, wanted, "the client closed the connection"),
                }
            }
        }
    }

    /// Waits until the client ends the connection, with a close frame or without one.
    #[track_caller]
    pub fn expect_closed(&mut self) -> impl Future<Output = ()> {
        let caller = Location::caller();
        async move {
            let wanted = "the end of the connection";
            while let Some(message) = self.next_message(caller, wanted).await {
                if message.is_text() {
                    self.fail(caller, wanted, "a command came");
                }
            }
        }
    }
}

/// Speaking to the client. A client that has gone does not make these fail: its absence shows where the test expects.
impl Peer {
    /// Answers a command.
    pub async fn reply(&mut self, command: &Command, result: Value) {
        self.reply_raw(command, &result.to_string()).await;
    }

    /// Answers a command with raw JSON, such as no parsed value can hold.
    pub async fn reply_raw(&mut self, command: &Command, result: &str) {
        let text = wire::reply(command.id, command.session.as_ref(), result);
        self.send(Message::text(text)).await;
    }

    /// Answers a command with an error.
    pub async fn fail_command(&mut self, command: &Command, code: i64, message: &str) {
        let text = wire::failure(command.id, command.session.as_ref(), code, message);
        self.send(Message::text(text)).await;
    }

    /// Sends an event on a session, or on the browser itself.
    pub async fn event<'a>(&mut self, session: impl Into<Option<&'a str>>, method: &str, params: Value) {
        let session = session.into().map(SessionId::from);
        let text = wire::event(session.as_ref(), method, &params.to_string());
        self.send(Message::text(text)).await;
    }

    /// Sends a text message as it is.
    pub async fn send_text(&mut self, text: impl Into<String>) {
        self.send(Message::text(text.into())).await;
    }

    /// Sends a binary message, which CDP does not know.
    pub async fn send_binary(&mut self, payload: impl Into<Bytes>) {
        self.send(Message::binary(payload.into())).await;
    }

    /// Writes bytes to the socket outside any WebSocket frame: whatever they are, they break the framing.
    pub async fn send_unframed(&mut self, bytes: &[u8]) {
        let _ = self.websocket.get_mut().write_all(bytes).await;
        let _ = self.websocket.get_mut().flush().await;
    }
}

/// Ways for it to end.
impl Peer {
    /// Closes with a close frame, and waits for the client's.
    #[track_caller]
    pub fn close(mut self) -> impl Future<Output = ()> {
        let caller = Location::caller();
        async move {
            if timeout(PATIENCE, self.websocket.close()).await.is_err() {
                self.fail(caller, "the client's close frame", "none came");
            }
        }
    }

    /// Resets the connection: no close frame, no orderly end, and what is under way is lost.
    pub fn drop_abruptly(self) {
        let (reader, writer) = self.websocket.into_inner().into_inner();
        let (_, reader) = reader.into_inner();
        let _ = reader.as_ref().set_zero_linger();
        // The write half would say goodbye when dropped.
        writer.forget();
    }

    /// Ends our direction only: the client reads the end of the stream, while we go on reading what it sends.
    pub async fn half_close(&mut self) {
        let _ = self.websocket.get_mut().shutdown().await;
    }
}

impl Peer {
    pub(crate) fn new(websocket: WebSocket) -> Self {
        Self { websocket, seen: VecDeque::new() }
    }

    async fn next_command(&mut self, caller: &Location<'_>, wanted: &str) -> Command {
        loop {
            match self.next_message(caller, wanted).await {
                None => self.fail(caller, wanted, "the client closed the connection"),
                Some(message) => {
                    let Some(text) = message.as_text() else {
                        continue;
                    };
                    match Command::parse(text) {
                        Ok(command) => return command,
                        Err(_) => self.fail(caller, wanted, "the last message is no command"),
                    }
                }
            }
        }
    }

    /// Returns the next message of any kind; none at the end of the connection, however it ended.
    async fn next_message(&mut self, caller: &Location<'_>, wanted: &str) -> Option<Message> {
        let Ok(next) = timeout(PATIENCE, self.websocket.next()).await else {
            self.fail(caller, wanted, "nothing more came for 5 s");
        };
        let message = next?.ok().filter(|message| !message.is_close())?;
        if let Some(text) = message.as_text() {
            self.seen.push_back(text.chars().take(LONGEST_SHOWN).collect());
            if self.seen.len() > MOST_SHOWN {
                self.seen.pop_front();
            }
        }
        Some(message)
    }

    async fn send(&mut self, message: Message) {
        let _ = self.websocket.send(message).await;
    }

    fn fail(&self, caller: &Location<'_>, wanted: &str, happened: &str) -> ! {
        let mut text = format!("{caller}: expected {wanted}, but {happened}; received:");
        for message in &self.seen {
            let _ = write!(text, "\n  {message}");
        }
        if self.seen.is_empty() {
            text.push_str(" nothing");
        }
        panic!("{text}");
    }
}

const PROBE: &[u8] = b"are you silent?";
const MOST_SHOWN: usize = 20;
const LONGEST_SHOWN: usize = 300;
