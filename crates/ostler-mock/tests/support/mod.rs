//! A minimal CDP client: just enough to see what the mock says, in the order in which it says it.

#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::panic, reason = "a broken expectation fails the test that holds it")]

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_websockets::{ClientBuilder, Error, MaybeTlsStream, Message, WebSocketStream};

pub(crate) struct Client {
    websocket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    last_id: u64,
    /// What came while something else was waited for, in order.
    unread: VecDeque<Value>,
}

impl Client {
    pub(crate) async fn connect(url: &str) -> Self {
        Self::try_connect(url).await.expect("the handshake succeeds")
    }

    pub(crate) async fn try_connect(url: &str) -> Result<Self, Error> {
        let uri = url.parse().expect("it is a URL");
        let (websocket, _) = ClientBuilder::from_uri(uri).connect().await?;
        Ok(Self { websocket, last_id: 0, unread: VecDeque::new() })
    }

    /// Sends a command and returns its number.
    pub(crate) async fn send(&mut self, session: Option<&str>, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.send_text(&command.to_string()).await;
        self.last_id
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        let message = Message::text(text.to_owned());
        self.websocket.send(message).await.expect("the connection is open");
    }

    /// Sends a command and returns its result.
    pub(crate) async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let reply = self.ask(session, method, params).await;
        match reply.get("result") {
            Some(result) => result.clone(),
            None => panic!("{method} failed: {reply}"),
        }
    }

    /// Sends a command and returns code and message of its error.
    pub(crate) async fn refused(&mut self, session: Option<&str>, method: &str, params: Value) -> (i64, String) {
        let reply = self.ask(session, method, params).await;
        let error = &reply["error"];
        let message = error["message"].as_str().unwrap_or_else(|| panic!("no error: {reply}"));
        (error["code"].as_i64().expect("codes are numbers"), message.to_owned())
    }

    pub(crate) async fn ask(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.send(session, method, params).await;
        self.reply_to(id).await
    }

    pub(crate) async fn reply_to(&mut self, id: u64) -> Value {
        self.find(|message| message["id"] == id).await
    }

    /// Returns the next event of this method, leaving everything else to be read later.
    pub(crate) async fn event(&mut self, method: &str) -> Value {
        self.find(|message| message["method"] == method).await
    }

    /// Returns everything up to the reply of a command that the browser itself answers: proof that nothing else came.
    pub(crate) async fn everything(&mut self) -> Vec<Value> {
        let id = self.send(None, "Browser.getVersion", json!({})).await;
        let mut all = Vec::new();
        loop {
            let message = self.next().await;
            if message["id"] == id {
                return all;
            }
            all.push(message);
        }
    }

    /// Returns what everything was, each message in short: `method`, with `@session` where it is on one, or `reply N`.
    pub(crate) async fn story(&mut self) -> Vec<String> {
        self.everything().await.iter().map(in_short).collect()
    }

    /// Returns how many messages came while something else was waited for.
    pub(crate) fn unread(&self) -> usize {
        self.unread.len()
    }

    pub(crate) async fn next(&mut self) -> Value {
        match self.unread.pop_front() {
            Some(message) => message,
            None => self.receive().await,
        }
    }

    /// Waits for the end of the connection: whether it came with a close frame.
    pub(crate) async fn end(&mut self) -> End {
        loop {
            match timeout(PATIENCE, self.websocket.next()).await.expect("it ends within 5 s") {
                Some(Ok(message)) if message.is_close() => return End::CloseFrame,
                Some(Ok(_)) => {}
                Some(Err(Error::Io(_))) => return End::Reset,
                Some(Err(_)) => return End::BrokenFraming,
                None => return End::NoMore,
            }
        }
    }

    /// Returns the next message of any kind, as it is.
    pub(crate) async fn raw(&mut self) -> Message {
        let next = timeout(PATIENCE, self.websocket.next()).await.expect("it comes within 5 s");
        next.expect("the connection is open").expect("the framing is sound")
    }

    async fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&wanted) {
            return self.unread.remove(at).expect("the position was just found");
        }
        loop {
            let message = self.receive().await;
            if wanted(&message) {
                return message;
            }
            self.unread.push_back(message);
        }
    }

    /// Returns the next text message; the WebSocket library answers pings by itself.
    async fn receive(&mut self) -> Value {
        loop {
            let Ok(next) = timeout(PATIENCE, self.websocket.next()).await else {
                panic!("nothing more came; unread: {:#?}", self.unread);
            };
            let message = next.expect("the connection is open").expect("the framing is sound");
            if message.is_ping() || message.is_pong() {
                continue;
            }
            let text = message.as_text().expect("CDP messages are text");
            return serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    CloseFrame,
    /// The stream ended without a close frame, or after one.
    NoMore,
    Reset,
    BrokenFraming,
}

/// A client that has gone through the set-up a supervisor does: it discovers, and attaches to everything with pause.
pub(crate) async fn supervisor(url: &str) -> Client {
    let mut client = Client::connect(url).await;
    client.call(None, "Target.setDiscoverTargets", json!({"discover": true})).await;
    client.call(None, "Target.setAutoAttach", auto_attach()).await;
    client
}

pub(crate) fn auto_attach() -> Value {
    json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
}

impl Client {
    /// Enables what a supervisor needs on the next session that is attached, and returns the session.
    pub(crate) async fn set_up_next(&mut self) -> String {
        let attached = self.event("Target.attachedToTarget").await;
        let session = text(&attached["params"]["sessionId"]);
        self.set_up(&session).await;
        session
    }

    pub(crate) async fn set_up(&mut self, session: &str) {
        for method in ["Page.enable", "Runtime.enable", "Log.enable"] {
            self.call(Some(session), method, json!({})).await;
        }
        self.call(Some(session), "Target.setAutoAttach", auto_attach()).await;
    }

    /// Reads away everything that has come so far.
    pub(crate) async fn catch_up(&mut self) {
        self.everything().await;
    }

    pub(crate) async fn evaluate(&mut self, session: &str, expression: &str) -> Value {
        let params = json!({"expression": expression});
        self.call(Some(session), "Runtime.evaluate", params).await["result"].clone()
    }
}

impl Client {
    /// Asks for a flood, and checks that it arrives whole, in order, and with the reply behind it.
    pub(crate) async fn flood_and_count(&mut self, session: &str, count: u64) {
        let params = json!({"sessionId": session, "count": count, "text": "a \"quoted\" storm"});
        let asked = self.send(None, "Mock.flood", params).await;
        for number in 0..count {
            let event = self.next().await;
            assert_eq!(event["sessionId"], session, "{event}");
            let text = format!("a \"quoted\" storm {number}");
            assert_eq!(event["params"]["args"][0]["value"], text);
        }
        assert_eq!(self.next().await, json!({"id": asked, "result": {}}));
    }
}

/// Sends a plain HTTP request and returns status and body.
pub(crate) async fn http_get(port: u16, path: &str, host: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("the port is open");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it takes the request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers and ends");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let (_, body) = answer.split_once("\r\n\r\n").expect("the head ends");
    (status.expect("the status is a number"), body.to_owned())
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

pub(crate) fn in_short(message: &Value) -> String {
    match message["method"].as_str() {
        Some(method) => method.to_owned(),
        None => format!("reply {}", message["id"]),
    }
}

pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
