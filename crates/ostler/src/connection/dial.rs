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
    pub(super) why: String,
    /// Whether trying again may help without anybody doing anything.
    pub(super) may_pass: bool,
}

impl From<EndpointError> for DialFailure {
    fn from(error: EndpointError) -> Self {
        Self { may_pass: error.may_pass(), why: error.to_string() }
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
            why: format!("{} {error}", endpoint.url.label()),
            may_pass: !matches!(error, DialError::Refused(_)),
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
