//! From a source to a socket: finds the browser and dials it, once.

use std::time::Duration;

use super::handle::Shared;
use super::websocket::{DialError, Socket};
use crate::endpoint::{self, Endpoint, EndpointError, Machine, Source};

/// How long the handshake may take. A browser that asks its person for consent holds it meanwhile.
const HANDSHAKE: Duration = Duration::from_secs(60);

/// Why there is no connection, in words for the person who can help.
#[derive(Debug)]
pub(super) struct DialFailure {
    /// What happened.
    pub(super) happened: String,
    /// What to do about it.
    pub(super) next_step: Option<String>,
    /// Whether trying again may help without anybody doing anything.
    pub(super) may_pass: bool,
    /// Whether the other side does not take the key in the URL, or not any more.
    pub(super) key_refused: bool,
}

impl DialFailure {
    /// Returns all of it in one sentence.
    pub(super) fn why(&self) -> String {
        match &self.next_step {
            Some(step) => format!("{}: {step}", self.happened),
            None => self.happened.clone(),
        }
    }
}

impl From<EndpointError> for DialFailure {
    fn from(error: EndpointError) -> Self {
        Self {
            happened: error.happened(),
            next_step: Some(error.next_step()),
            may_pass: error.may_pass(),
            key_refused: matches!(error, EndpointError::Denied { .. }),
        }
    }
}

/// Finds and dials. May be dropped at any point; a browser that was being launched is then taken down.
pub(super) async fn dial(
    source: &Source,
    machine: &Machine,
    shared: &Shared,
) -> Result<(Socket, Endpoint), DialFailure> {
    let mut endpoint = endpoint::find(source, machine).await?;
    let dialled = match shake_hands(&endpoint, shared).await {
        Err(DialError::NotFound) if let Some(renewed) = source.renewed() => {
            // The address names a browser that was there before; another one may answer at the same port.
            endpoint = endpoint::find(&renewed, machine).await?;
            shake_hands(&endpoint, shared).await
        }
        dialled => dialled,
    };
    match dialled {
        Ok(socket) => Ok((socket, endpoint)),
        Err(error) => Err(DialFailure {
            happened: format!("{} {error}", endpoint.url.label()),
            next_step: error.next_step().map(str::to_owned),
            may_pass: match error {
                DialError::Refused(_) => false,
                // A service forgets a browser that is over; at home another one may come to that port.
                DialError::NotFound => !source.is_cloud(),
                DialError::Failed(_) => true,
            },
            key_refused: matches!(error, DialError::Refused(_)),
        }),
    }
}

async fn shake_hands(endpoint: &Endpoint, shared: &Shared) -> Result<Socket, DialError> {
    shared.say(format!("{}: waiting for the browser to accept; if it asks, click Allow", endpoint.url.label()));
    match tokio::time::timeout(HANDSHAKE, Socket::dial(&endpoint.url)).await {
        Ok(dialled) => dialled,
        Err(_) => Err(DialError::Failed(format!("no handshake within {} s", HANDSHAKE.as_secs()))),
    }
}
