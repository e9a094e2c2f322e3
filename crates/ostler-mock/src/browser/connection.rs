//! One client's WebSocket: commands go to the browser's state, and what the state says goes out.
//!
//! Reading never waits for writing, as in Chromium: a client that does not read may go on sending commands, and what it
//! does not take piles up in its outbox.

use std::future::poll_fn;
use std::sync::Weak;
use std::task::Poll;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_websockets::Message;

use super::Shared;
use super::flood::Burst;
use super::state::{Connection, ConnectionId};
use crate::door::WebSocket;
use crate::wire::Command;

/// What a connection is asked to do next.
pub(super) enum Outgoing {
    Text(String),
    Binary(Bytes),
    /// Bytes outside any frame.
    Unframed(Bytes),
    /// Many events, made as fast as the client takes them; everything else goes out in between.
    Burst(Burst),
    StopReading,
    ReadOn,
    /// Ends our direction only.
    HalfClose,
    /// Ends with a close frame.
    Close,
    /// Ends with a reset, what is under way lost.
    Reset,
}

/// Runs one connection until either side ends it.
pub(super) async fn run(shared: Weak<Shared>, websocket: WebSocket) {
    let (outbox, inbox) = unbounded_channel();
    let Some(id) = shared.upgrade().map(|shared| {
        let id = shared.state().open_connection(Connection {
            outbox,
            discovers: false,
            auto_attach: None,
            attached: Vec::new(),
        });
        shared.changed.notify_waiters();
        id
    }) else {
        return;
    };
    let mut wire = Wire { websocket, inbox, bursts: Vec::new(), reads: true, writes: true };
    let end = wire.serve(id, &shared).await;
    if let Some(shared) = shared.upgrade() {
        shared.state().close_connection(id);
        shared.changed.notify_waiters();
    }
    match end {
        End::Gone => {}
        // The client may never answer the close frame, and nobody waits for it here.
        End::Close => drop(wire.websocket.close().await),
        End::Reset => wire.reset(),
    }
}

struct Wire {
    websocket: WebSocket,
    inbox: UnboundedReceiver<Outgoing>,
    bursts: Vec<Burst>,
    reads: bool,
    writes: bool,
}

/// What can be done next.
enum Turn {
    Read(Message),
    Send(Outgoing),
    /// The socket takes more, and a burst has more.
    Burst,
    Gone,
}

/// How the connection is to end.
enum End {
    Gone,
    Close,
    Reset,
}

impl Wire {
    async fn serve(&mut self, id: ConnectionId, shared: &Weak<Shared>) -> End {
        loop {
            match self.turn().await {
                Turn::Read(message) => {
                    let Some(shared) = shared.upgrade() else {
                        return End::Gone;
                    };
                    receive(&shared, id, &message);
                }
                Turn::Send(outgoing) => {
                    if let Some(end) = self.send(outgoing).await {
                        return end;
                    }
                }
                Turn::Burst => self.continue_bursts(),
                Turn::Gone => return End::Gone,
            }
            // Whatever else is ready goes out with it: one system call for many messages, and a client that never stops
            // sending still gets its answers.
            for _ in 0..BATCH {
                let Ok(outgoing) = self.inbox.try_recv() else {
                    break;
                };
                if let Some(end) = self.send(outgoing).await {
                    return end;
                }
            }
        }
    }

    /// Waits for the next thing to do. Polling the reader also flushes what was queued for writing.
    async fn turn(&mut self) -> Turn {
        poll_fn(|context| {
            if self.reads {
                match self.websocket.poll_next_unpin(context) {
                    Poll::Ready(Some(Ok(message))) => return Poll::Ready(Turn::Read(message)),
                    Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(Turn::Gone),
                    Poll::Pending => {}
                }
            } else if let Poll::Ready(Err(_)) = self.websocket.poll_flush_unpin(context) {
                return Poll::Ready(Turn::Gone);
            }
            match self.websocket.poll_ready_unpin(context) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(Turn::Gone),
                Poll::Pending => return Poll::Pending,
            }
            match self.inbox.poll_recv(context) {
                Poll::Ready(Some(outgoing)) => Poll::Ready(Turn::Send(outgoing)),
                Poll::Ready(None) => Poll::Ready(Turn::Gone),
                Poll::Pending if !self.bursts.is_empty() => Poll::Ready(Turn::Burst),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Carries out one request; text is only queued. Returns how the connection ends if this is its end.
    async fn send(&mut self, outgoing: Outgoing) -> Option<End> {
        match outgoing {
            Outgoing::Text(text) => self.queue(Message::text(text)),
            Outgoing::Binary(bytes) => self.queue(Message::binary(bytes)),
            Outgoing::Unframed(bytes) => {
                let _ = self.websocket.flush().await;
                let _ = self.websocket.get_mut().write_all(&bytes).await;
            }
            Outgoing::Burst(burst) => self.bursts.push(burst),
            Outgoing::StopReading => self.reads = false,
            Outgoing::ReadOn => self.reads = true,
            Outgoing::HalfClose => {
                self.writes = false;
                let _ = self.websocket.flush().await;
                let _ = self.websocket.get_mut().shutdown().await;
            }
            Outgoing::Close => return Some(End::Close),
            Outgoing::Reset => return Some(End::Reset),
        }
        None
    }

    fn continue_bursts(&mut self) {
        for _ in 0..BATCH {
            let Some(burst) = self.bursts.first_mut() else {
                return;
            };
            match burst.next() {
                Some(text) => self.queue(Message::text(text)),
                None => drop(self.bursts.remove(0)),
            }
        }
    }

    fn queue(&mut self, message: Message) {
        if self.writes {
            // It can only fail on a connection that has ended, which the next turn finds out.
            let _ = self.websocket.start_send_unpin(message);
        }
    }

    fn reset(self) {
        let (reader, writer) = self.websocket.into_inner().into_inner();
        let (_, reader) = reader.into_inner();
        let _ = reader.as_ref().set_zero_linger();
        // The write half would say goodbye when dropped.
        writer.forget();
    }
}

fn receive(shared: &Shared, id: ConnectionId, message: &Message) {
    let Some(text) = message.as_text() else {
        return;
    };
    let mut state = shared.state();
    match Command::parse(text) {
        Ok(command) => state.on_command(id, command),
        Err(error) => state.put(id, Outgoing::Text(error)),
    }
    drop(state);
    shared.changed.notify_waiters();
}

const BATCH: usize = 64;
