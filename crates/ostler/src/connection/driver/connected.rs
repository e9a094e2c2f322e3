//! While there is a connection: what the browser says and what clients ask is taken in turn by turn, and in the end the
//! browser is let go.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use ostler_core::Waiter;
use ostler_core::supervisor::{BridgeSecret, Input, OWN_CALL, Scope};
use tokio::sync::oneshot;
use tokio::time::Sleep;

use super::super::handle::Status;
use super::super::websocket::Socket;
use super::{BATCH, Driver, Over};
use crate::endpoint::{self, BrowserKind, Endpoint, Owned};

/// How much of a message the log of the wire shows, in bytes.
const SHOWN: usize = 300;
/// How long a browser may take to say anything once it has taken the connection.
const FIRST_WORD: Duration = Duration::from_secs(8);
/// After that time the core counts its first commands as refused, and what it asks next would be given a word of its own.
const _: () = assert!(FIRST_WORD.as_millis() < OWN_CALL.as_millis());
/// How long a socket may take to write what is left when the browser has been let go.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Whether clients are heard.
#[derive(Clone, Copy)]
enum Takes {
    Commands,
    /// The browser is being let go.
    NoCommands,
}

impl Driver {
    /// Holds the connection until it is lost or not needed any more.
    pub(super) async fn hold(&mut self, mut socket: Socket, endpoint: Endpoint) -> Over {
        tracing::info!(profile = ?endpoint.profile, "connected to {} ({})", endpoint.url.label(), endpoint.found_by);
        self.ever_connected = true;
        let answers_dialogs = endpoint.answers_dialogs();
        if let Some(owned) = endpoint.owned {
            self.owned = Some(owned);
        }
        let (scope, reach) = if self.owned.is_some() || endpoint.kind == BrowserKind::Cloud {
            (Scope::Own, "every tab of it is supervised")
        } else {
            (Scope::Guest, "only the tasks' own tabs are touched")
        };
        let label = endpoint.url.label();
        let text = format!("{label} ({}; {reach})", endpoint.found_by);
        self.heard = false;
        let Endpoint { url, kind, found, cloud, .. } = endpoint;
        let launched_port = matches!(self.owned, Some(Owned::Launched(_))).then(|| endpoint::port_here(&url)).flatten();
        self.shared.status.store(Arc::new(Status { kind, text, cloud, found, launched_port, asking: false }));
        self.shared.connected.send_replace(true);
        self.apply(Input::Connected { browser_id: browser_id(url.expose()), scope, answers_dialogs });
        self.carry_out();
        let mut sleep = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
        let mut first_word = std::pin::pin!(tokio::time::sleep(FIRST_WORD));
        let over = poll_fn(|cx| match self.poll_browser(&mut socket, sleep.as_mut(), Takes::Commands, cx) {
            // Whoever speaks CDP has answered the first command long before.
            Poll::Pending if !self.heard && first_word.as_mut().poll(cx).is_ready() => {
                Poll::Ready(Over::Mute(label.clone()))
            }
            polled => polled,
        })
        .await;
        self.shared.connected.send_replace(false);
        if matches!(over, Over::Ended) {
            self.let_go(&mut socket).await;
            if let Some(Owned::Launched(launched)) = &mut self.owned
                && launched.keeps_profile()
                && close_browser(&mut socket).await
            {
                launched.note_closing();
            }
        }
        over
    }

    /// One turn: takes in what is there, carries out what it asks for, sends.
    fn poll_browser(
        &mut self,
        socket: &mut Socket,
        mut sleep: Pin<&mut Sleep>,
        takes: Takes,
        cx: &mut Context<'_>,
    ) -> Poll<Over> {
        let commands = match takes {
            Takes::Commands => BATCH,
            Takes::NoCommands => 0,
        };
        loop {
            let mut busy = false;
            for _ in 0..BATCH {
                match socket.poll_receive(cx) {
                    Poll::Ready(Ok(message)) => {
                        trace("received", &message, &self.bridge_secret);
                        self.apply(Input::Message(message));
                        self.heard = true;
                        busy = true;
                    }
                    Poll::Ready(Err(why)) => return Poll::Ready(Over::Lost(why)),
                    Poll::Pending => break,
                }
            }
            for _ in 0..commands {
                match self.inbox.poll_recv(cx) {
                    Poll::Ready(command) => {
                        if self.on_command(command) {
                            return Poll::Ready(Over::Ended);
                        }
                        busy = true;
                    }
                    Poll::Pending => break,
                }
            }
            self.carry_out();
            if let Poll::Ready(Err(why)) = self.send_outgoing(socket, cx) {
                return Poll::Ready(Over::Lost(why));
            }
            if busy {
                continue;
            }
            let Some(wait) = self.until_timer() else { return Poll::Pending };
            // Due is due: a sleep set again to "now" would only be due at the next tick of the runtime's clock.
            if !wait.is_zero() {
                sleep.as_mut().reset(tokio::time::Instant::now() + wait);
                if sleep.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
            }
            self.apply(Input::Tick);
        }
    }

    /// Queues what the socket has room for, and writes; ready once all is written. A socket that takes nothing does not
    /// stop the reading.
    fn send_outgoing(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        while !self.outgoing.is_empty() {
            match socket.poll_ready(cx)? {
                Poll::Ready(()) => {}
                Poll::Pending => return Poll::Pending,
            }
            let Some((id, message)) = self.outgoing.pop_front() else { break };
            // One that has ended meanwhile, by its deadline or because nobody waits, must not act any more.
            if id.is_none_or(|id| self.supervisor.awaits(id)) {
                trace("sent", &message, &self.bridge_secret);
                socket.queue(message)?;
            }
        }
        socket.poll_flush(cx)
    }

    /// Answers what is open and resumes what waits. The supervisor sees to it that this ends.
    async fn let_go(&mut self, socket: &mut Socket) {
        let waiter = Waiter(u64::MAX);
        let (reply, mut done) = oneshot::channel();
        self.waiting.insert(waiter, reply);
        self.apply(Input::Leave(waiter));
        let mut sleep = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
        poll_fn(|cx| match self.poll_browser(socket, sleep.as_mut(), Takes::NoCommands, cx) {
            Poll::Ready(_lost) => Poll::Ready(()),
            Poll::Pending => Pin::new(&mut done).poll(cx).map(|_| ()),
        })
        .await;
        // Its last words may still wait for room in a socket that takes nothing.
        let written = poll_fn(|cx| self.send_outgoing(socket, cx));
        if tokio::time::timeout(LAST_WORDS, written).await.is_err() {
            tracing::warn!("the browser took nothing any more while it was let go");
        }
    }
}

/// Asks the browser to close, as the last word on the connection; returns whether that was sent.
///
/// A signal ends it at once, and the cookies of the last half minute with it.
async fn close_browser(socket: &mut Socket) -> bool {
    let mut message = Some(Bytes::from_static(br#"{"id":2147483647,"method":"Browser.close"}"#));
    let sent = poll_fn(|cx| {
        if message.is_some() {
            match socket.poll_ready(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(false),
                Poll::Pending => return Poll::Pending,
            }
            if message.take().is_some_and(|message| socket.queue(message).is_err()) {
                return Poll::Ready(false);
            }
        }
        socket.poll_flush(cx).map(|flushed| flushed.is_ok())
    });
    tokio::time::timeout(LAST_WORDS, sent).await.unwrap_or(false)
}

/// Returns the browser's UUID from `ws://host:port/devtools/browser/<uuid>`; another path has none.
fn browser_id(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("/devtools/browser/")?;
    rest.split(['?', '#']).next().filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Logs the beginning of a message, only where somebody asked for the wire (`OSTLER_LOG=ostler::wire=trace`).
fn trace(way: &'static str, message: &Bytes, secret: &BridgeSecret) {
    if tracing::enabled!(target: "ostler::wire", tracing::Level::TRACE) {
        // The bridge's script and what it shows come by this way, and pages must not be able to read its secret anywhere.
        let beginning = &message[..message.len().min(SHOWN + BridgeSecret::LONGEST)];
        let text = secret.hide_in(&String::from_utf8_lossy(beginning));
        let end = text.floor_char_boundary(SHOWN);
        tracing::trace!(target: "ostler::wire", "{way} {}", &text[..end]);
    }
}
