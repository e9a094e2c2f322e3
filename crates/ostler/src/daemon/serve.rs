//! What the daemon does while it lives: the tasks, and the line protocol before them.

use std::fmt;
use std::future::Future;
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use ostler_core::supervisor::BridgeSecret;
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::time::timeout;

use super::idle;
use crate::config::{NamedBrowser, Settings};
use crate::doors::line;
use crate::endpoint::cloud::{self, CloudError, CloudFacts, CloudLease, leftovers};
use crate::endpoint::{self, Given, Source, Wanted};
use crate::random;
use crate::tasks::{Defaults, Registry};

/// Serves clients until `meta: shutdown` or `asked_to_end`; calls `ready` once the socket answers.
///
/// The end is orderly: no new request is read, every browser is let go (open dialogs dismissed, held targets resumed),
/// and whoever still waits is told.
pub(crate) async fn serve(
    listener: StdListener,
    settings: Settings,
    asked_to_end: impl Future<Output = ()>,
    ready: impl FnOnce(),
) -> Result<(), ServeError> {
    let listener = UnixListener::from_std(listener).map_err(ServeError::Socket)?;
    let adopted = adopt(&settings).await?;
    let leftovers = tokio::task::spawn_blocking({
        let (cloud, launched) = (settings.cloud.clone(), settings.launched.clone());
        move || {
            endpoint::end_left(&launched).iter().for_each(|browser| tracing::warn!("{browser}"));
            leftovers::end_named(&cloud.folder, &cloud.keys).iter().for_each(|leftover| tracing::warn!("{leftover}"));
        }
    });
    let source = source(&settings, adopted.as_ref());
    let bridge_secret = BridgeSecret::new(random::numbers().map_err(ServeError::Random)?);
    let tasks = Arc::new(Registry::new(defaults(source, &settings), settings.machine, bridge_secret));
    // Whoever waits for this daemon finds the leftovers of the last one gone, unless a service is slow to answer.
    let _ = timeout(LEFTOVERS, leftovers).await;
    let (stop, stopped) = watch::channel(false);
    let (clients, seen) = watch::channel(0);
    let door = tokio::spawn(line::serve(listener, Arc::clone(&tasks), line::Limits::STANDARD, clients, stopped));
    ready();
    tokio::select! {
        () = asked_to_end => {}
        () = idle::unused(seen, settings.idle_timeout) => tracing::info!("ends, since nobody uses it"),
        () = tasks.shutdown_requested() => {}
    }
    stop.send_replace(true);
    tasks.leave_all().await;
    if let Some(lease) = adopted {
        lease.stop().await;
    }
    // A door that panicked has no client left to wait for.
    let _ = door.await;
    Ok(())
}

/// Takes on the cloud browser that `BU_BROWSER_ID` names, before anybody uses it.
async fn adopt(settings: &Settings) -> Result<Option<CloudLease>, ServeError> {
    let Some(id) = &settings.browser_id else { return Ok(None) };
    let order = settings.cloud.adoption(id.clone(), settings.browser.is_none());
    cloud::adopt(order).await.map(Some).map_err(ServeError::Adoption)
}

fn source(settings: &Settings, adopted: Option<&CloudLease>) -> Source {
    let given = settings.browser.as_ref().map(NamedBrowser::given);
    match (adopted, &settings.browser) {
        (Some(lease), _) => Source::CloudRunning(match given {
            Some(Given { url, by, .. }) => CloudFacts { address: Some(url.clone()), by, ..lease.facts.clone() },
            None => lease.facts.clone(),
        }),
        (None, Some(NamedBrowser::WebSocket(given))) => Source::WebSocket(given.clone()),
        (None, Some(NamedBrowser::Http(given))) => Source::Http(given.clone()),
        (None, None) => Source::Discover(Wanted::Any),
    }
}

fn defaults(source: Source, settings: &Settings) -> Defaults {
    Defaults {
        source,
        executable: settings.executable.clone(),
        flags: settings.flags.clone(),
        profiles: settings.profiles.clone(),
        launched: settings.launched.clone(),
        cloud: settings.cloud.clone(),
        dialog_policy: settings.dialog_policy,
        dialog_timeout: settings.dialog_timeout,
        quiet: settings.quiet,
        dialog_bridge: settings.dialog_bridge,
    }
}

/// How long the first client may have to wait for the leftovers of other daemons.
const LEFTOVERS: Duration = Duration::from_secs(4);

/// Why the daemon does not serve.
#[derive(Debug)]
pub(crate) enum ServeError {
    /// The socket failed.
    Socket(io::Error),
    /// The cloud browser that it was given to look after cannot be had.
    Adoption(CloudError),
    /// The system has no random bytes, without which pages could guess the bridge's secret.
    Random(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(error) => write!(f, "the daemon's socket failed: {error}"),
            Self::Adoption(error) => write!(f, "BU_BROWSER_ID: {error}"),
            Self::Random(error) => write!(f, "/dev/urandom cannot be read ({error}): the daemon needs random bytes"),
        }
    }
}
