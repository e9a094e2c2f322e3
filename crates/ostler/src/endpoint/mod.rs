//! ① Finds the browser: from what the user said to a WebSocket URL that can be dialled.
//!
//! ```text
//!  Source ──▶ given      a URL from the environment, the config or the command line
//!         ├─▶ discover   the DevToolsActivePort files of known profiles, then the usual ports
//!         └─▶ launch     a Chromium of our own, gone when we are
//!                 │
//!                 └──▶ Endpoint
//! ```
//!
//! Nothing here reads the environment: [`Machine`] says what the machine looks like, so that a test can describe
//! another one.

mod address;
mod devtools_port;
mod discover;
mod error;
mod given;
mod launch;
mod profiles;
mod version_page;

use std::ffi::OsString;
use std::path::PathBuf;

use crate::secret::SecretUrl;

pub(crate) use address::Protocol;
pub(crate) use error::EndpointError;
pub(crate) use given::Given;
pub(crate) use launch::{GUARD_SUBCOMMAND, LaunchOptions, Launched, guard_main};

/// Where the browser is to come from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// The browser's own WebSocket URL, `BU_CDP_WS`.
    WebSocket(Given),
    /// An HTTP(S) DevTools endpoint that tells the WebSocket URL, `BU_CDP_URL`.
    Http(Given),
    /// A browser that runs on this machine with remote debugging on.
    Discover,
    /// A browser that we start and that ends with us.
    Launch(LaunchOptions),
}

impl Source {
    /// Returns where another browser would answer after the one that a WebSocket URL names was started again: the URL
    /// holds the old one's UUID, its port may be the same. Only on this machine, where the port can be asked.
    pub(crate) fn renewed(&self) -> Option<Self> {
        let Self::WebSocket(given) = self else { return None };
        let label = given.url.label();
        let authority = label.strip_prefix("ws://")?;
        let local = ["127.", "localhost", "[::1]"].iter().any(|host| authority.starts_with(host));
        local.then(|| Self::Http(Given { url: SecretUrl::new(format!("http://{authority}")), by: given.by }))
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
}

/// A browser that was found, ready to be dialled.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// The `ws://` or `wss://` URL to dial.
    pub(crate) url: SecretUrl,
    /// What `ping` reports as `browser_kind`.
    pub(crate) kind: BrowserKind,
    /// One phrase for `status`: how it was found.
    pub(crate) found_by: String,
    /// The profile folder, where it is known.
    pub(crate) profile: Option<PathBuf>,
    /// The process, if we started it: then the browser is ours, every tab of it.
    pub(crate) launched: Option<Launched>,
}

/// Whose browser it is, in the words of the contract's `ping`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BrowserKind {
    /// On this machine: found or launched.
    Local,
    /// Behind a URL that someone gave.
    Cdp,
}

/// Finds the browser that `source` describes.
///
/// It ends within seconds, whatever is at the other end (a launch: within [`LaunchOptions::deadline`]), and may be
/// dropped at any point: a browser that was being launched is then taken down.
pub(crate) async fn find(source: &Source, machine: &Machine) -> Result<Endpoint, EndpointError> {
    match source {
        Source::WebSocket(given) => given::websocket(given).await,
        Source::Http(given) => given::http(given, machine).await,
        Source::Discover => discover::discover(machine).await,
        Source::Launch(options) => launch::launch(options, machine).await,
    }
}
