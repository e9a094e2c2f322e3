//! A browser that a cloud service runs for us, and that costs money until it is stopped.
//!
//! ```text
//!  CloudOrder ──▶ CloudLease ──pipe──▶ guard ──HTTPS──▶ the service's API
//!                                        │ holds the record: a locked file with the browser's id
//!                                        └ stops the browser and removes the record when the pipe closes
//! ```
//!
//! Whatever dies, somebody stops the browser: the guard when the daemon is gone, and when the guard is gone too, the
//! next daemon, `ostler stop --all` or `ostler doctor`, who find the record with nobody holding it.

mod api;
mod error;
mod guard;
mod keys;
mod lease;
pub(crate) mod leftovers;
mod order;
mod provider;
mod record;

use std::time::{Duration, Instant};

pub(crate) use api::{check_api_base, is_id};
pub(crate) use error::CloudError;
pub(crate) use guard::{CLOUD_GUARD_SUBCOMMAND, cloud_guard_main};
pub(crate) use keys::Keys;
pub(crate) use lease::{CloudFacts, CloudLease};
pub(crate) use order::{CloudOptions, CloudOrder, CloudSettings, ServiceSettings};
pub(crate) use provider::Provider;
pub(crate) use record::Record;

use super::address::Protocol;
use super::error::EndpointError;
use super::given::{self, Given};
use super::guarded::GuardCommand;
use super::{BrowserKind, Endpoint, Machine, Owned};

/// How long the address of a new browser may take to answer.
const STARTING: Duration = Duration::from_secs(20);
/// How often it is tried.
const STEP: Duration = Duration::from_millis(300);

/// Starts a cloud browser and finds the way to it.
pub(super) async fn start(order: &CloudOrder, machine: &Machine) -> Result<Endpoint, EndpointError> {
    let lease = CloudLease::take(order.clone(), &guard_command()).await.map_err(EndpointError::Cloud)?;
    let until = Instant::now() + STARTING;
    loop {
        match reach(&lease.facts, machine).await {
            Ok(endpoint) => return Ok(Endpoint { owned: Some(Owned::Cloud(Box::new(lease))), ..endpoint }),
            Err(error) if error.may_pass() && Instant::now() < until => tokio::time::sleep(STEP).await,
            // From here on the lease is dropped, and the browser stopped.
            Err(error) if error.may_pass() => {
                let (provider, id) = (lease.facts.provider, lease.facts.id.clone());
                let cause = error.happened();
                return Err(EndpointError::Cloud(CloudError::OutOfReach { provider, id, cause, stopped: true }));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Finds the way to a cloud browser that runs already.
pub(super) async fn reach(facts: &CloudFacts, machine: &Machine) -> Result<Endpoint, EndpointError> {
    let CloudFacts { provider, id, address, by, .. } = facts;
    let Some(url) = address.clone() else {
        return Err(EndpointError::Cloud(CloudError::NoAddress { provider: *provider, id: id.clone() }));
    };
    let given = Given::new(url, by);
    let endpoint = match Protocol::of(&given.url) {
        Some(Protocol::WebSocket) => given::websocket(&given).await?,
        // What is no URL at all is refused there.
        Some(Protocol::Http) | None => given::http(&given, machine).await?,
    };
    Ok(Endpoint {
        kind: BrowserKind::Cloud,
        found_by: format!("{} cloud browser {id}", provider.name()),
        cloud: Some(facts.clone()),
        ..endpoint
    })
}

/// Looks after a cloud browser that somebody else started, from now until the lease is let go.
pub(crate) async fn adopt(order: CloudOrder) -> Result<CloudLease, CloudError> {
    CloudLease::take(order, &guard_command()).await
}

fn guard_command() -> GuardCommand {
    GuardCommand::of(CLOUD_GUARD_SUBCOMMAND)
}
