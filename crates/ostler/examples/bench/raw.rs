//! The raw client: a WebSocket to the browser, attach, call, and nothing besides. What ostler is measured against.

use std::io::Write;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_websockets::{ClientBuilder, MaybeTlsStream, Message, WebSocketStream};

use crate::Result;

/// The hidden argument that makes this program a raw client: connect, attach, evaluate, print the answer.
pub(crate) const AS_A_PROCESS: &str = "--raw-client";

/// A connection with at most one session.
pub(crate) struct Raw {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    last_id: u64,
    /// What goes behind the parameters of a call: the session, once there is one.
    session: String,
}

impl Raw {
    pub(crate) async fn connect(url: &str) -> Result<Self> {
        let (stream, _) = ClientBuilder::new().uri(url)?.connect().await?;
        if let MaybeTlsStream::Plain(tcp) = stream.get_ref() {
            tcp.set_nodelay(true)?;
        }
        Ok(Self { stream, last_id: 0, session: String::new() })
    }

    /// Attaches to a tab; calls go there from now on.
    pub(crate) async fn attach(&mut self, target: &str) -> Result<()> {
        let params = format!(r#"{{"targetId":"{target}","flatten":true}}"#);
        let reply: Value = serde_json::from_slice(&self.call("Target.attachToTarget", &params).await?)?;
        let session = reply["result"]["sessionId"].as_str().ok_or("attachToTarget names no session")?;
        self.session = format!(r#","sessionId":"{session}""#);
        Ok(())
    }

    /// Returns the first page that there is.
    pub(crate) async fn first_page(&mut self) -> Result<String> {
        let reply: Value = serde_json::from_slice(&self.call("Target.getTargets", "{}").await?)?;
        let targets = reply["result"]["targetInfos"].as_array().ok_or("getTargets lists no targets")?;
        let page = targets.iter().find(|target| target["type"] == "page").ok_or("the browser has no page")?;
        Ok(page["targetId"].as_str().ok_or("a page has no target")?.to_owned())
    }

    /// Calls a method; returns the whole reply, unread but for its id.
    pub(crate) async fn call(&mut self, method: &str, params: &str) -> Result<Bytes> {
        self.send(method, params).await?;
        let head = format!(r#"{{"id":{},"#, self.last_id);
        let reply = self.receive(|message| message.starts_with(head.as_bytes())).await?;
        if reply[head.len()..].starts_with(br#""error""#) {
            return Err(format!("{method} got {}", String::from_utf8_lossy(&reply)).into());
        }
        Ok(reply)
    }

    /// Calls a method without waiting for the reply.
    pub(crate) async fn send(&mut self, method: &str, params: &str) -> Result<()> {
        self.last_id += 1;
        let (id, session) = (self.last_id, &self.session);
        let text = format!(r#"{{"id":{id},"method":"{method}","params":{params}{session}}}"#);
        Ok(self.stream.send(Message::text(text)).await?)
    }

    /// Waits for an event.
    pub(crate) async fn event(&mut self, method: &str) -> Result<()> {
        let head = format!(r#"{{"method":"{method}""#);
        self.receive(|message| message.starts_with(head.as_bytes())).await.map(drop)
    }

    async fn receive(&mut self, wanted: impl Fn(&[u8]) -> bool) -> Result<Bytes> {
        loop {
            let message = self.stream.next().await.ok_or("the browser closed the connection")??;
            let bytes: Bytes = message.into_payload().into();
            if wanted(&bytes) {
                return Ok(bytes);
            }
        }
    }
}

/// Does what a raw client's process does from its start to its first result, and prints that.
pub(crate) fn as_a_process(url: &str, target: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let reply = runtime.block_on(async {
        let mut raw = Raw::connect(url).await?;
        raw.attach(target).await?;
        raw.call("Runtime.evaluate", r#"{"expression":"1+1"}"#).await
    })?;
    let mut stdout = std::io::stdout();
    stdout.write_all(&reply)?;
    stdout.write_all(b"\n")?;
    Ok(stdout.flush()?)
}
