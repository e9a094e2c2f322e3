//! A server whose connections the test plays by hand, one [`Peer`] each.

use std::ops::Deref;
use std::panic::Location;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::door::{Door, WebSocket};
use crate::peer::Peer;

/// A CDP endpoint without a browser behind it: the test is the browser.
///
/// Everything about its HTTP side is reached through [`Door`], to which it dereferences.
#[derive(Debug)]
pub struct MockServer {
    door: Door,
    arrivals: mpsc::UnboundedReceiver<WebSocket>,
}

impl MockServer {
    /// Listens on a free port of 127.0.0.1.
    pub async fn start() -> Self {
        let (door, arrivals) = Door::open(0, FIRST_BROWSER.to_owned()).await;
        Self { door, arrivals }
    }

    /// Returns the next connection once its handshake is done.
    ///
    /// # Panics
    ///
    /// When none comes within five seconds.
    #[track_caller]
    pub fn accept(&mut self) -> impl Future<Output = Peer> {
        let caller = Location::caller();
        async move {
            match tokio::time::timeout(PATIENCE, self.arrivals.recv()).await {
                Ok(Some(websocket)) => Peer::new(websocket),
                _ => panic!("{caller}: expected a connection to {}, but none came", self.door.ws_url()),
            }
        }
    }

    /// Returns whether a connection is waiting to be accepted.
    pub fn has_arrival(&self) -> bool {
        !self.arrivals.is_empty()
    }
}

impl Deref for MockServer {
    type Target = Door;

    fn deref(&self) -> &Door {
        &self.door
    }
}

/// How long any expectation waits: far more than a client needs, far less than a person does.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) const FIRST_BROWSER: &str = "00000000-0000-4000-8000-000000000001";
