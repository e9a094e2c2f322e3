//! The guard: a small process that answers for one cloud browser, and stops it when the daemon lets go.
//!
//! ```text
//!  daemon ──order──▶ guard ──▶ written down ──▶ asked for ──▶ its id written down ──report──▶ daemon
//!     └── holds the only write end: stop, drop, a crash and `kill -9` all close it ──▶ stopped, record removed
//! ```
//!
//! It is asked for here and not in the daemon, so that a daemon that dies in the middle of the request leaves somebody
//! behind who hears its answer. The order comes on standard input, since arguments and environment can be read by others.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::process::Process;
use super::super::release::{Release, report};
use super::api::{Api, Described};
use super::error::CloudError;
use super::order::{CloudOrder, Wanted};
use super::provider::Provider;
use super::record::{Record, Written};
use crate::secret::{Secret, SecretUrl};

/// The hidden subcommand that runs [`cloud_guard_main`].
pub(crate) const CLOUD_GUARD_SUBCOMMAND: &str = "guard-cloud-browser";

/// The order as it travels. Only ever written to a pipe between the daemon and its own guard.
#[derive(Serialize, Deserialize)]
pub(super) struct Sealed {
    provider: Provider,
    key: String,
    api_base: String,
    project: Option<String>,
    id: Option<String>,
    address: bool,
    options: Map<String, Value>,
    folder: PathBuf,
    daemon: String,
    process: Process,
}

/// What the guard tells the daemon, one line each.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// The browser, and the way to it where that was asked for.
    Running { id: String, address: Option<String>, live_url: Option<String> },
    /// There is no browser, or none any more.
    Failed(CloudError),
    /// It could not be stopped; its record stays for whoever comes next.
    NotStopped(CloudError),
}

impl Sealed {
    /// Puts the order into the form that travels.
    pub(super) fn new(order: &CloudOrder) -> Result<Self, CloudError> {
        let key = order.key.as_ref().ok_or(CloudError::NoKey { provider: order.provider })?;
        let (id, address, options) = match &order.wanted {
            Wanted::New(options) => (None, true, options.clone()),
            Wanted::Known { id, address } => (Some(id.clone()), *address, Map::new()),
        };
        Ok(Self {
            provider: order.provider,
            key: key.expose().to_owned(),
            api_base: order.api_base.expose().to_owned(),
            project: order.project.clone(),
            id,
            address,
            options,
            folder: order.folder.clone(),
            daemon: order.daemon.clone(),
            process: Process::this(),
        })
    }
}

/// Runs the guard until its browser is stopped.
pub(crate) fn cloud_guard_main() -> ExitCode {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        report(&Report::Failed(CloudError::GuardFailed { cause: "no runtime".to_owned() }));
        return ExitCode::FAILURE;
    };
    runtime.block_on(async {
        let Ok(mut release) = Release::listen() else { return Release::misuse(CLOUD_GUARD_SUBCOMMAND) };
        let Some(order) = release.first_line().await.and_then(|line| serde_json::from_str(&line).ok()) else {
            return Release::misuse(CLOUD_GUARD_SUBCOMMAND);
        };
        match guard(order, &mut release).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(failed) => {
                report(&failed);
                ExitCode::FAILURE
            }
        }
    })
}

/// Requests block this thread, which has nothing else to do meanwhile: a signal or the daemon's end is heard after.
async fn guard(order: Sealed, release: &mut Release) -> Result<(), Report> {
    let base = SecretUrl::new(order.api_base.as_str());
    let api = Api::new(order.provider, &base, &Secret::new(order.key.as_str()), order.project.as_deref())
        .map_err(Report::Failed)?;
    let (mut written, browser) = obtain(&api, &order).map_err(Report::Failed)?;
    let id = browser.id.clone();
    let running = Report::Running {
        id: id.clone(),
        address: browser.address.map(|url| url.expose().to_owned()),
        live_url: browser.live_url.map(|url| url.expose().to_owned()),
    };
    report(&running);
    release.wait().await;
    stop(&api, &mut written, &id).map_err(Report::NotStopped)?;
    written.remove();
    Ok(())
}

/// Gets the browser, written down before it is asked for and again before anybody uses it.
fn obtain(api: &Api, order: &Sealed) -> Result<(Written, Described), CloudError> {
    let not_written = |error: std::io::Error| CloudError::NotWritten {
        folder: order.folder.display().to_string(),
        cause: error.to_string(),
    };
    let record = Record {
        provider: order.provider,
        id: order.id.clone(),
        api_base: order.api_base.clone(),
        project: order.project.clone(),
        daemon: order.daemon.clone(),
        process: Some(order.process),
        not_stopped: None,
    };
    let mut written = Written::of(&order.folder, record).map_err(not_written)?;
    let begun = match &order.id {
        Some(id) if order.address => api.look_up(id),
        Some(id) => return Ok((written, Described { id: id.clone(), address: None, live_url: None })),
        None => api.create(&order.options),
    };
    let browser = match begun {
        Ok(browser) => browser,
        Err(error) => {
            // A browser that may run without our knowing its name is told of by whoever finds the record.
            if !error.may_have_started_one() {
                written.remove();
            }
            return Err(error);
        }
    };
    let id = browser.id.clone();
    let usable = written.set_id(&id).map_err(not_written).and_then(|()| api.complete(browser));
    match usable {
        Ok(browser) if browser.address.is_some() => Ok((written, browser)),
        unusable => {
            let error = unusable.err().unwrap_or(CloudError::NoAddress { provider: order.provider, id: id.clone() });
            if stop(api, &mut written, &id).is_ok() {
                written.remove();
            }
            Err(error)
        }
    }
}

/// Stops the browser. Where that fails the record keeps its name, and our end frees its lock.
fn stop(api: &Api, written: &mut Written, id: &str) -> Result<(), CloudError> {
    if written.said.id.is_none() {
        // It could not be written down before; what stops it later needs the name.
        let _ = written.set_id(id);
    }
    api.stop(id).inspect_err(|error| written.note_not_stopped(error.happened()))
}
