//! The WebSocket to the browser, with what Chromium needs of a client (facts D2 to D7).

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::{Sink, Stream};
use tokio::net::TcpStream;
use tokio_websockets::{ClientBuilder, Error, Limits, MaybeTlsStream, Message, WebSocketStream, upgrade};

use crate::endpoint::{DENIED, Headers, Names};
use crate::secret::SecretUrl;

/// The largest message that is taken in. Chromium itself sends none of 256 MiB or more (fact D6).
const MAX_INCOMING: usize = 256 << 20;

/// Why there is no WebSocket.
#[derive(Debug)]
pub(super) enum DialError {
    /// The path is not known there: a browser that was started again has another UUID.
    NotFound,
    /// The person at the browser has not allowed remote debugging, or the key is wrong, or its time is over.
    Refused(u16),
    /// The person at the browser was asked, and did not say yes.
    TurnedDown(String),
    /// It takes connections and answers nothing at all.
    Mute,
    /// A TLS peer that did not prove who it is.
    Untrusted(String),
    /// Anything else.
    Failed(String),
}

impl std::fmt::Display for DialError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotFound => f.write_str("is not the address of a browser that runs now (404)"),
            Self::Refused(status) => write!(f, "refused the connection ({status})"),
            Self::TurnedDown(how) => f.write_str(how),
            Self::Mute => f.write_str("takes the connection and answers nothing"),
            Self::Untrusted(why) => write!(f, "did not prove who it is ({why})"),
            Self::Failed(why) => write!(f, "could not be reached: {why}"),
        }
    }
}

impl DialError {
    /// Returns what to do about it, where that is known.
    pub(super) fn next_step(&self) -> Option<&'static str> {
        match self {
            Self::NotFound => Some("give its new one"),
            Self::Refused(410) => Some("the URL has expired; give a fresh one with `ostler connect -`"),
            Self::Refused(_) => Some(DENIED),
            Self::TurnedDown(_) => Some("run `ostler connect` to have it asked again"),
            Self::Mute => Some(MUTE),
            Self::Untrusted(_) => Some(
                "check the host name in the URL, and that the system's root certificates (or SSL_CERT_FILE) cover it",
            ),
            Self::Failed(_) => Some("check that a browser runs there and that host and port are right"),
        }
    }
}

/// What helps where nobody answers.
pub(super) const MUTE: &str = "restart what runs there, or check that host and port are right";

/// Returns what TLS did not like, if that is what ended the handshake. It comes inside of an error of the socket's.
fn tls_error(error: &Error) -> Option<String> {
    let tls = match error {
        Error::Rustls(error) => error,
        Error::Io(error) => error.get_ref()?.downcast_ref::<rustls::Error>()?,
        _ => return None,
    };
    Some(tls.to_string())
}

/// A WebSocket that speaks in whole text messages.
#[derive(Debug)]
pub(super) struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Socket {
    /// Connects. No Origin header and no permessage-deflate are sent (facts D3, D4): this client has neither.
    ///
    /// The returned future may be dropped at any point.
    pub(super) async fn dial(url: &SecretUrl, headers: &Headers) -> Result<Self, DialError> {
        let failed = |error: Error| match error {
            Error::Upgrade(upgrade::Error::DidNotSwitchProtocols(404)) => DialError::NotFound,
            Error::Upgrade(upgrade::Error::DidNotSwitchProtocols(status @ (401 | 403 | 410))) => {
                DialError::Refused(status)
            }
            Error::Upgrade(error) => DialError::Failed(format!("the WebSocket handshake failed: {error}")),
            error => match tls_error(&error) {
                Some(why) => DialError::Untrusted(why),
                None => DialError::Failed(error.to_string()),
            },
        };
        let mut builder = ClientBuilder::new()
            .resolver(Names::default())
            .uri(url.expose())
            .map_err(|_| DialError::Failed("the URL is none that can be dialled".to_owned()))?
            .limits(Limits::default().max_payload_len(Some(MAX_INCOMING)));
        for (name, value) in headers.iter() {
            builder = builder.add_header(name.clone(), value.clone()).map_err(|_| {
                DialError::Failed(format!("the header {name} of browser.headers in config.yaml cannot be set"))
            })?;
        }
        let (stream, _) = builder.connect().await.map_err(failed)?;
        let tcp = match stream.get_ref() {
            MaybeTlsStream::Plain(tcp) => Some(tcp),
            MaybeTlsStream::Rustls(tls) => Some(tls.get_ref().0),
        };
        if let Some(tcp) = tcp {
            // A small command must not wait until the one before is acknowledged.
            tcp.set_nodelay(true).map_err(|error| DialError::Failed(error.to_string()))?;
        }
        Ok(Self { stream })
    }

    /// Takes in the next text message. `None` when the connection is over, with the reason.
    pub(super) fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, String>> {
        loop {
            return Poll::Ready(match ready!(Pin::new(&mut self.stream).poll_next(cx)) {
                Some(Ok(message)) if message.is_text() => Ok(message.into_payload().into()),
                // Pings are answered by the library; what is neither text nor a close says nothing.
                Some(Ok(message)) if !message.is_close() => continue,
                Some(Ok(_)) | None => Err("the browser closed the connection".to_owned()),
                Some(Err(error)) => Err(error.to_string()),
            });
        }
    }

    /// Returns whether another message may be queued now.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        Pin::new(&mut self.stream).poll_ready(cx).map_err(|error| error.to_string())
    }

    /// Queues a message; it is cut into frames that Chromium takes (fact D5).
    pub(super) fn queue(&mut self, message: Bytes) -> Result<(), String> {
        Pin::new(&mut self.stream).start_send(Message::text(message)).map_err(|error| error.to_string())
    }

    /// Writes what is queued.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        Pin::new(&mut self.stream).poll_flush(cx).map_err(|error| error.to_string())
    }
}
