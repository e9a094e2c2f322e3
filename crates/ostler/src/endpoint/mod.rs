//! ① Finds the browser: from what the user said to a WebSocket URL that can be dialled.
//!
//! ```text
//!  Source ──▶ given      a URL from the environment, the config or the command line
//!         ├─▶ discover   the DevToolsActivePort files of known profiles, then the usual ports
//!         ├─▶ launch     a Chromium of our own, gone when we are
//!         └─▶ cloud      a browser that a service runs for us, stopped when we are gone
//!                 │
//!                 └──▶ Endpoint
//! ```
//!
//! Nothing here reads the environment: [`Machine`] says what the machine looks like, so that a test can describe
//! another one.

mod address;
mod answers_dialogs;
pub(crate) mod cloud;
mod devtools_port;
mod discover;
mod error;
mod given;
mod guarded;
mod http;
mod launch;
mod listener;
mod names;
mod note;
pub(crate) mod process;
mod profiles;
mod release;
mod running;
mod version_page;
mod wanted;

use std::ffi::OsString;
use std::path::PathBuf;

use crate::secret::SecretUrl;

use address::Address;
pub(crate) use address::Protocol;
use cloud::{CloudFacts, CloudLease, CloudOrder};
pub(crate) use discover::{Sighting, Standing, survey};
pub(crate) use error::{DENIED, EndpointError};
pub(crate) use given::{Given, Headers};
pub(crate) use launch::{
    GUARD_SUBCOMMAND, LaunchOptions, Launched, LeftBrowser, PROFILE_PREFIX, count_left, end_left, guard_main,
};
pub(crate) use names::Names;
pub(crate) use wanted::Wanted;

/// Where the browser is to come from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// The browser's own WebSocket URL, `BU_CDP_WS`.
    WebSocket(Given),
    /// An HTTP(S) DevTools endpoint that tells the WebSocket URL, `BU_CDP_URL`.
    Http(Given),
    /// A browser that runs on this machine with remote debugging on.
    Discover(Wanted),
    /// A browser that we start and that ends with us.
    Launch(LaunchOptions),
    /// A browser that a cloud service starts for us and that we stop.
    Cloud(CloudOrder),
    /// A cloud browser that runs already, and that somebody else stops.
    CloudRunning(CloudFacts),
}

impl Source {
    /// Says whether dialling it may cost money, so that nothing but a person's word does it again.
    pub(crate) fn is_cloud(&self) -> bool {
        matches!(self, Self::Cloud(_) | Self::CloudRunning(_))
    }

    /// Says whether it is a cloud browser that was started before.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self, Self::CloudRunning(_))
    }

    /// Says whether looking for it costs next to nothing: some files and ports of this machine.
    pub(crate) fn is_near(&self) -> bool {
        let is_here =
            |given, protocol| Address::parse(given, protocol).is_ok_and(|address| address.is_plain_and_here());
        match self {
            Self::Discover(_) => true,
            Self::WebSocket(given) => is_here(given, Protocol::WebSocket),
            Self::Http(given) => is_here(given, Protocol::Http),
            Self::Launch(_) | Self::Cloud(_) | Self::CloudRunning(_) => false,
        }
    }

    /// Returns the variable or setting that named it, if that was read when the daemon started.
    pub(crate) fn set_at_start(&self) -> Option<&'static str> {
        match self {
            Self::WebSocket(given) | Self::Http(given) => Some(given.by).filter(|by| *by != Given::BY_COMMAND),
            _ => None,
        }
    }

    /// Returns where another browser would answer after the one that a WebSocket URL names was started again: the URL
    /// holds the old one's UUID, its port may be the same. Only on this machine, where the port can be asked.
    pub(crate) fn renewed(&self) -> Option<Self> {
        let Self::WebSocket(given) = self else { return None };
        let address = Address::parse(given, Protocol::WebSocket).ok().filter(Address::is_plain_and_here)?;
        let url = SecretUrl::new(format!("http://{}", address.label()));
        Some(Self::Http(Given { url, ..given.clone() }))
    }
}

/// What finding a browser needs to know of the machine.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// The home folder; profile folders are looked up below it.
    pub(crate) home: PathBuf,
    /// `XDG_CONFIG_HOME` where it is set: Chrome keeps its Linux profiles there, else in `.config`.
    pub(crate) config_home: Option<PathBuf>,
    /// `PATH`, where a browser to launch is looked for.
    pub(crate) search_path: OsString,
    /// The folder that the profile of a launched browser is made in.
    pub(crate) temp: PathBuf,
    /// Its name, where that is known: a profile folder may be shared with another machine.
    pub(crate) host: Option<String>,
    /// Whether it has a display for windows, as far as this process was told.
    pub(crate) has_display: bool,
}

/// A browser that was found, ready to be dialled.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// The `ws://` or `wss://` URL to dial.
    pub(crate) url: SecretUrl,
    /// What goes with the handshake.
    pub(crate) headers: Headers,
    /// What `ping` reports as `browser_kind`.
    pub(crate) kind: BrowserKind,
    /// One phrase for `status`: how it was found.
    pub(crate) found_by: String,
    /// The profile folder, where it is known.
    pub(crate) profile: Option<PathBuf>,
    /// How it was found, if it was discovered: what it is, and how it is found again.
    pub(crate) found: Option<Found>,
    /// Whether the browser may ask the person in front of it before it takes the connection.
    pub(crate) may_ask: bool,
    /// Our hold on it, if it is there for us alone and ends with us.
    pub(crate) owned: Option<Owned>,
    /// What is known of it beyond its address, if it is a cloud browser.
    pub(crate) cloud: Option<CloudFacts>,
}

/// A running browser that was discovered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    profile: Option<profiles::Profile>,
    port: u16,
}

impl Found {
    /// Returns what finds this very browser again after it was started again, whatever its port and UUID are then.
    ///
    /// Another browser that happens to run by then is none that a task was put into.
    pub(crate) fn again(&self) -> Wanted {
        match &self.profile {
            Some(profile) => Wanted::Profile(profile.folder.clone()),
            None => Wanted::Port(self.port),
        }
    }

    /// Says whether it is what somebody wants.
    pub(crate) fn is(&self, wanted: &Wanted) -> bool {
        match (wanted, &self.profile) {
            (Wanted::Any, _) => true,
            (Wanted::Port(port), _) => *port == self.port,
            (wanted, Some(profile)) => wanted.takes(profile),
            (_, None) => false,
        }
    }

    /// Says whether it is what listens on this port of this machine.
    pub(crate) fn is_at(&self, port: u16) -> bool {
        self.port == port
    }
}

/// Returns the port of this machine on which the browser listens that a URL leads to. Only where the URL says no more
/// than that: what is behind a path, a query or a proxy of another kind may be another browser each time.
pub(crate) fn port_here(url: &SecretUrl) -> Option<u16> {
    let protocol = Protocol::of(url)?;
    let address = Address::parse(&Given::new(url.clone(), Given::BY_COMMAND), protocol).ok()?;
    address.is_chromium_here(protocol).then_some(address.port)
}

/// Returns the port of this machine that a URL leads to, whatever listens there.
pub(crate) fn any_port_here(url: &SecretUrl) -> Option<u16> {
    let address = Address::parse(&Given::new(url.clone(), Given::BY_COMMAND), Protocol::of(url)?).ok()?;
    address.is_plain_and_here().then_some(address.port)
}

/// Whose browser it is, in the words of the contract's `ping`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BrowserKind {
    /// On this machine: found or launched.
    Local,
    /// Behind a URL that someone gave.
    Cdp,
    /// Rented from a cloud service.
    Cloud,
}

/// A browser that ends with us.
#[derive(Debug)]
pub(crate) enum Owned {
    /// A process on this machine.
    Launched(Box<Launched>),
    /// A browser that a cloud service runs.
    Cloud(Box<CloudLease>),
}

impl Owned {
    /// Ends the browser and returns when that is done, or with what is to be said if it was not. Dropping ends it too,
    /// without waiting.
    pub(crate) async fn stop(self) -> Option<String> {
        match self {
            Self::Launched(launched) => {
                launched.stop().await;
                None
            }
            Self::Cloud(lease) => lease.stop().await,
        }
    }
}

/// Returns the browser that a launch would start if it were told none.
pub(crate) fn installed_browser(machine: &Machine) -> Result<PathBuf, EndpointError> {
    launch::installed_browser(machine)
}

/// Says whether something answers where `source` would find its browser. It dials no browser, and ends within
/// seconds.
pub(crate) async fn answers(source: &Source, machine: &Machine) -> bool {
    match source {
        Source::WebSocket(given) => given::listens(given).await,
        Source::Http(given) => given::answers(given, machine).await,
        // One of our own, or a rented one, is there as long as the connection to it.
        Source::Launch(_) | Source::Cloud(_) | Source::CloudRunning(_) => false,
        Source::Discover(_) => match find(source, machine, &[]).await {
            Ok(_) | Err(EndpointError::ConsentPending { .. }) => true,
            Err(_) => false,
        },
    }
}

/// Says whether what is at a WebSocket URL takes connections and answers nothing. Within seconds, and without a word about
/// the browser behind it.
pub(crate) async fn is_mute(url: &SecretUrl) -> bool {
    match Address::parse(&Given::new(url.clone(), Given::BY_COMMAND), Protocol::WebSocket) {
        Ok(address) => version_page::is_mute(&address, version_page::Limits::NEAR).await,
        Err(_) => false,
    }
}

/// Finds the browser that `source` describes.
///
/// `nobodys` are addresses that turned out to lead to no browser: discovery passes over them.
///
/// It ends within seconds, whatever is at the other end (a launch: within [`LaunchOptions::deadline`]; a cloud service may
/// take minutes to start a browser), and may be dropped at any point: a browser that was being launched or rented is then
/// taken down.
pub(crate) async fn find(source: &Source, machine: &Machine, nobodys: &[SecretUrl]) -> Result<Endpoint, EndpointError> {
    match source {
        Source::WebSocket(given) => given::websocket(given).await,
        Source::Http(given) => given::http(given, machine).await,
        Source::Discover(wanted) => discover::discover(wanted, machine, nobodys).await,
        Source::Launch(options) => launch::launch(options, machine).await,
        Source::Cloud(order) => cloud::start(order, machine).await,
        Source::CloudRunning(facts) => cloud::reach(facts, machine).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_leads_to_a_browser_here_only_if_it_says_no_more_than_its_port() {
        let at = |url: &str| port_here(&SecretUrl::new(url));
        for url in ["http://127.0.0.1:9222", "http://localhost:9222/json/version", "ws://[::1]:9222/devtools/browser/1"]
        {
            assert_eq!(at(url), Some(9222), "{url}");
        }
        for url in [
            "https://127.0.0.1:9222",
            "http://192.0.2.1:9222",
            "http://127.0.0.1:9222/?token=1",
            "http://127.0.0.1:9222/chromium",
            "ws://127.0.0.1:9222/",
            "no URL",
        ] {
            assert_eq!(at(url), None, "{url}");
        }
    }
}
