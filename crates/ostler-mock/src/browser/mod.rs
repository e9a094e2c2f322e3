//! A small browser that plays by itself: what a client says is answered from its state, and the test changes the state.

mod auto_attach;
mod commands;
mod connection;
mod dialog;
mod dialogs;
mod flood;
mod frames;
mod handles;
mod holds;
mod log;
mod pages;
mod script;
mod sessions;
mod state;
mod targets;

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use self::connection::Outgoing;
use self::state::State;
use crate::door::{Door, WebSocket};
use crate::ids::SessionId;
use crate::server::{FIRST_BROWSER, PATIENCE};
use crate::wire::Command;

pub use self::dialog::{Answer, Dialog, DialogKind};
pub use self::flood::Flood;
pub use self::frames::RemovalOrder;
pub use self::handles::{Frame, OpenDialog, Opener, Page};
pub use self::script::{Script, Unknown};

/// A believable little browser behind an endpoint of its own.
///
/// It starts without a page. Dropping it ends it: the port is closed and every connection is cut.
pub struct MockBrowser {
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

/// Which browser comes back after [`MockBrowser::stop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The one that was there, with its pages: only the connections were lost.
    Same,
    /// Another one: a new UUID, and none of the old pages.
    Another,
}

/// What connections, timers and the test's handles share.
pub(crate) struct Shared {
    door: Door,
    state: Mutex<State>,
    /// Told whenever a command was handled, or a connection opened or ended.
    changed: Notify,
}

/// Starting, stopping, coming back.
impl MockBrowser {
    /// Starts on a free port.
    pub async fn start() -> Self {
        Self::start_on(0).await
    }

    /// Starts on this port.
    ///
    /// # Panics
    ///
    /// When the port is taken.
    pub async fn start_on(port: u16) -> Self {
        let (door, arrivals) = Door::open(port, FIRST_BROWSER.to_owned()).await;
        let shared = Arc::new_cyclic(|shared: &Weak<Shared>| Shared {
            door,
            state: Mutex::new(State::new(shared.clone())),
            changed: Notify::new(),
        });
        let accepting = tokio::spawn(accept(Arc::downgrade(&shared), arrivals)).abort_handle();
        Self { shared, accepting }
    }

    /// Ends as a killed browser does: connections are reset and the port is closed. Returns once both are done.
    pub async fn stop(&self) {
        self.shared.door.close().await;
        self.shared.state().put_everywhere(|| Outgoing::Reset);
        self.wait_for_connections(0).await;
    }

    /// Listens again on the same port.
    pub async fn restart(&self, identity: Identity) {
        if identity == Identity::Another {
            let id = self.shared.state().forget_everything();
            self.shared.door.set_browser_id(&id);
        }
        self.shared.door.listen().await;
    }

    /// Returns the browser's WebSocket URL.
    pub fn ws_url(&self) -> String {
        self.shared.door.ws_url()
    }

    /// Returns the DevTools HTTP endpoint.
    pub fn http_url(&self) -> String {
        self.shared.door.http_url()
    }

    /// Returns the HTTP side, whose answers can be changed.
    pub fn door(&self) -> &Door {
        &self.shared.door
    }
}

/// The world behind it.
impl MockBrowser {
    /// Returns the rules to bend.
    pub fn script(&self) -> Script {
        Script::new(Arc::clone(&self.shared))
    }

    /// Opens a tab, as a user does.
    pub fn add_page(&self, url: &str) -> Page {
        let id = self.shared.state().add_page(url);
        Page::new(Arc::clone(&self.shared), id)
    }

    /// Returns the pages there are, in the order in which they were opened.
    pub fn pages(&self) -> Vec<Page> {
        let state = self.shared.state();
        let pages = state.targets.iter().filter(|(_, target)| target.kind == "page");
        pages.map(|(id, _)| Page::new(Arc::clone(&self.shared), id.clone())).collect()
    }
}

/// Watching the clients.
impl MockBrowser {
    /// Takes the oldest command called `method` that no earlier call took, waiting for it if there is none.
    ///
    /// # Panics
    ///
    /// When none comes within five seconds; it says which commands came.
    #[track_caller]
    pub fn expect(&self, method: &str) -> impl Future<Output = Command> {
        let caller = Location::caller();
        async move {
            let found = self.shared.wait(|state| state.log.take(method)).await;
            found.unwrap_or_else(|| {
                let came: Vec<_> = self.commands().into_iter().map(|command| command.method).collect();
                panic!("{caller}: expected {method} within 5 s, but got {}", came.join(", "))
            })
        }
    }

    /// Returns the newest commands that no [`expect`](Self::expect) took, oldest first.
    pub fn commands(&self) -> Vec<Command> {
        self.shared.state().log.all()
    }

    /// Returns how many connections are open.
    pub fn connections(&self) -> usize {
        self.shared.state().connections.len()
    }

    /// Waits until just so many connections are open.
    ///
    /// # Panics
    ///
    /// When that is not so within five seconds.
    #[track_caller]
    pub fn wait_for_connections(&self, count: usize) -> impl Future<Output = ()> {
        let caller = Location::caller();
        async move {
            let reached = |state: &mut State| (state.connections.len() == count).then_some(());
            if self.shared.wait(reached).await.is_none() {
                panic!("{caller}: expected {count} connections within 5 s, but {} are open", self.connections());
            }
        }
    }
}

/// Saying anything, to every client at once.
impl MockBrowser {
    /// Sends an event on a session, or on the browser itself. Nothing is sent on a session that is gone.
    pub fn emit<'a>(&self, session: impl Into<Option<&'a str>>, method: &str, params: Value) {
        let mut state = self.shared.state();
        let session = session.into().map(SessionId::from);
        let params = params.to_string();
        match session {
            Some(id) => {
                if let Some(connection) = state.sessions.get(&id).map(|session| session.connection) {
                    state.event(connection, Some(&id), method, &params);
                }
            }
            None => {
                let connections: Vec<_> = state.connections.keys().copied().collect();
                for connection in connections {
                    state.event(connection, None, method, &params);
                }
            }
        }
    }

    /// Sends a text message as it is.
    pub fn send_text(&self, text: &str) {
        self.everywhere(|| Outgoing::Text(text.to_owned()));
    }

    /// Sends a binary message, which CDP does not know.
    pub fn send_binary(&self, payload: &[u8]) {
        self.everywhere(|| Outgoing::Binary(Bytes::copy_from_slice(payload)));
    }

    /// Writes bytes outside any WebSocket frame: whatever they are, they break the framing.
    pub fn send_unframed(&self, bytes: &[u8]) {
        self.everywhere(|| Outgoing::Unframed(Bytes::copy_from_slice(bytes)));
    }

    /// Stops reading what clients send, until [`read_on`](Self::read_on). It goes on sending.
    pub fn stop_reading(&self) {
        self.everywhere(|| Outgoing::StopReading);
    }

    /// Reads again.
    pub fn read_on(&self) {
        self.everywhere(|| Outgoing::ReadOn);
    }

    /// Ends our direction of every connection: clients read the end of the stream, and may go on sending.
    pub fn half_close_connections(&self) {
        self.everywhere(|| Outgoing::HalfClose);
    }

    /// Closes every connection with a close frame; the browser stays, and clients may come back.
    pub fn close_connections(&self) {
        self.everywhere(|| Outgoing::Close);
    }

    /// Resets every connection without a close frame; the browser stays, and clients may come back.
    pub fn drop_connections(&self) {
        self.everywhere(|| Outgoing::Reset);
    }

    fn everywhere(&self, outgoing: impl FnMut() -> Outgoing) {
        self.shared.state().put_everywhere(outgoing);
    }
}

impl Drop for MockBrowser {
    fn drop(&mut self) {
        self.accepting.abort();
        self.shared.door.slam();
        self.everywhere(|| Outgoing::Reset);
    }
}

impl fmt::Debug for MockBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockBrowser").field("ws_url", &self.ws_url()).finish_non_exhaustive()
    }
}

impl Shared {
    /// Locks the state. A test that panicked while holding it does not spoil it for the messages of the others.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `look` finds something; none after five seconds without.
    async fn wait<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let found = async {
            loop {
                // Registered before looking, so that no change between the two is missed.
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                if let Some(found) = look(&mut self.state()) {
                    return found;
                }
                changed.await;
            }
        };
        timeout(PATIENCE, found).await.ok()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("door", &self.door).finish_non_exhaustive()
    }
}

async fn accept(shared: Weak<Shared>, mut arrivals: mpsc::UnboundedReceiver<WebSocket>) {
    while let Some(websocket) = arrivals.recv().await {
        tokio::spawn(connection::run(shared.clone(), websocket));
    }
}
