//! Starts a browser of our own, which is gone when we are, however we go.
//!
//! ```text
//!  daemon ──pipe──▶ guard ──────▶ browser (a process group of its own, a fresh profile)
//!    │                │ ends the group and removes the profile when the pipe closes
//!    └── holds the only write end: stop, drop, a crash and `kill -9` all close it
//! ```
//!
//! The guard is this binary under another subcommand. It makes the profile and starts the browser itself, so there is
//! no moment at which a dying daemon leaves either behind. It notes both before they are there: where somebody kills it
//! together with the daemon, whoever comes next ends what is left.

mod ending;
mod executable;
mod guard;
mod launched;
mod meeting_place;
mod noted;
mod profile;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;

use super::address::Address;
use super::error::{EndpointError, NO_DISPLAY};
use super::guarded::GuardCommand;
use super::{BrowserKind, Endpoint, Headers, Machine, Owned};

pub(crate) use guard::{GUARD_SUBCOMMAND, guard_main};
pub(crate) use launched::Launched;
pub(crate) use noted::{LeftBrowser, count_left, end_left};
pub(crate) use profile::{PROFILE_PREFIX, Profile};

/// How to start a browser.
#[derive(Debug, Clone)]
pub(crate) struct LaunchOptions {
    /// The browser's executable; without one it is looked for.
    pub(crate) executable: Option<PathBuf>,
    /// With a window, for a person to watch. What nobody asked for is without one.
    pub(crate) headed: Option<bool>,
    /// Flags beside ours.
    pub(crate) extra_flags: Vec<String>,
    /// The folder of a profile that stays; without one the profile is fresh, and goes with the browser.
    pub(crate) profile: Option<PathBuf>,
    /// The folder in which it is noted that there is such a browser; without one nobody finds it if daemon and guard are
    /// both killed.
    pub(crate) notes: Option<PathBuf>,
    /// How long the browser may take until it can be reached.
    pub(crate) deadline: Duration,
    /// How to start the guard process, such as [`guard_main`]; what it shall guard is appended after a `--`.
    pub(crate) guard: GuardCommand,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            executable: None,
            headed: None,
            extra_flags: Vec::new(),
            profile: None,
            notes: None,
            // About a second is usual; a cold disk on a small machine takes many times that.
            deadline: Duration::from_secs(30),
            guard: GuardCommand::of(GUARD_SUBCOMMAND),
        }
    }
}

impl LaunchOptions {
    /// Says whether a browser that was started with these is what `asked` describes. What is not mentioned there may be
    /// anything; `machine` tells which browser is started where none is named.
    pub(crate) fn satisfy(&self, asked: &Self, machine: &Machine) -> bool {
        let program = || self.executable.clone().or_else(|| executable::find(machine).ok());
        asked.headed.is_none_or(|headed| headed == self.is_headed())
            && (asked.profile.is_none() || asked.profile == self.profile)
            && (asked.executable.is_none() || asked.executable == program())
            && asked.extra_flags.iter().all(|flag| self.extra_flags.contains(flag))
    }

    /// Says whether both start the same.
    pub(crate) fn start_the_same(&self, other: &Self) -> bool {
        let start = |options: &Self| (options.is_headed(), options.profile.clone(), options.executable.clone());
        start(self) == start(other) && self.extra_flags == other.extra_flags
    }

    fn is_headed(&self) -> bool {
        self.headed.unwrap_or_default()
    }
}

/// Returns the browser that is started where nobody names one.
pub(super) fn installed_browser(machine: &Machine) -> Result<PathBuf, EndpointError> {
    executable::find(machine)
}

/// Starts a browser and waits until it can be dialled.
pub(super) async fn launch(options: &LaunchOptions, machine: &Machine) -> Result<Endpoint, EndpointError> {
    let program = match &options.executable {
        Some(program) => program.clone(),
        None => executable::find(machine)?,
    };
    if options.is_headed() && !machine.has_display && !options.extra_flags.iter().any(|flag| needs_no_display(flag)) {
        return Err(EndpointError::NotStarted {
            happened: "no browser was started, since its window needs a display, and the daemon was told of none"
                .to_owned(),
            next_step: NO_DISPLAY.to_owned(),
        });
    }
    launch_program(&program, &flags(options), options, machine).await
}

/// Says whether a flag of the user's sees to the window in another way.
fn needs_no_display(flag: &str) -> bool {
    ["--headless", "--ozone-platform", "--display"].iter().any(|known| flag.starts_with(known))
}

async fn launch_program(
    program: &Path,
    flags: &[String],
    options: &LaunchOptions,
    machine: &Machine,
) -> Result<Endpoint, EndpointError> {
    let timed_out =
        || EndpointError::LaunchTimedOut { program: program.to_owned(), seconds: options.deadline.as_secs() };
    let profile = options.profile.clone().map_or_else(|| Profile::Fresh(machine.temp.clone()), Profile::Kept);
    profile.check_room()?;
    // One deadline for both steps. Whoever is dropped in between takes the browser down with it.
    let started = async {
        let mut launched = Launched::start(options, &profile, program, flags).await?;
        let (port, path) = launched.reachable().await?;
        Ok((launched, port, path))
    };
    let (launched, port, path) = timeout(options.deadline, started).await.map_err(|_| timed_out())??;
    Ok(Endpoint {
        url: Address::local(port).websocket_url(&path),
        headers: Headers::default(),
        kind: BrowserKind::Local,
        found_by: format!("launched by ostler ({}){}", how_it_runs(program, options), sandbox_note()),
        profile: Some(launched.profile().to_owned()),
        found: None,
        may_ask: false,
        owned: Some(Owned::Launched(Box::new(launched))),
        cloud: None,
    })
}

/// Says which browser it is and how it was started, as far as that was chosen.
fn how_it_runs(program: &Path, options: &LaunchOptions) -> String {
    let mut words = program.display().to_string();
    if options.is_headed() {
        words.push_str(", with a window");
    }
    if let Some(name) = options.profile.as_deref().and_then(Path::file_name) {
        words.push_str(&format!(", profile {}", name.display()));
    }
    words
}

/// Says aloud what a person should know before a hostile page does.
fn sandbox_note() -> &'static str {
    if is_root() { " with --no-sandbox, since ostler runs as root: a hostile page is not contained" } else { "" }
}

/// Chromium does not start as root with its sandbox on.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the flags, those of the user after ours: where Chromium takes one twice, the last wins.
fn flags(options: &LaunchOptions) -> Vec<String> {
    let mut flags: Vec<String> = [
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-sync",
        "--disable-component-update",
        "--disable-background-networking",
        // No keyring of the person's is asked: for a fresh profile it would be of no use, and a kept one is the agent's.
        "--password-store=basic",
        "--use-mock-keychain",
    ]
    .map(str::to_owned)
    .to_vec();
    if !options.is_headed() {
        flags.push("--headless=new".to_owned());
    }
    if is_root() {
        tracing::warn!("running as root: the browser starts with --no-sandbox, so a hostile page is not contained");
        flags.push("--no-sandbox".to_owned());
    }
    flags.extend(options.extra_flags.iter().cloned());
    // Only port 0 makes Chromium write DevToolsActivePort, and that is where we read the port it got.
    flags.push("--remote-debugging-port=0".to_owned());
    flags.push("about:blank".to_owned());
    flags
}

#[cfg(test)]
mod tests;
