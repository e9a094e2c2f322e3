//! The daemon's hold on a browser that it launched: letting go ends the browser.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin};
use tokio::time::{sleep, timeout};

use super::super::devtools_port;
use super::super::error::EndpointError;
use super::super::guarded::{Guard, Reports};
use super::super::process::Process;
use super::LaunchOptions;
use super::guard::{CLEAR_LIMIT, GRACE, NotStarted, Report};
use super::noted;
use super::profile::Profile;

/// How long the guard may take to clean up: its own limits, and time to remove a large profile on a slow disk.
const STOP_LIMIT: Duration = GRACE.saturating_add(CLEAR_LIMIT).saturating_add(Duration::from_secs(5));

/// How long a browser that was asked to close may take.
const CLOSING: Duration = Duration::from_secs(10);

/// A browser of our own.
///
/// [`stop`] ends it and waits until nothing is left. Dropping ends it too, without waiting: the guard does the work,
/// and goes on with it even if we are gone the next moment.
///
/// [`stop`]: Launched::stop
#[derive(Debug)]
pub(crate) struct Launched {
    guard: Child,
    /// The guard waits for its end.
    release: Option<ChildStdin>,
    reports: Reports,
    program: PathBuf,
    /// The browser's process, which leads its group.
    browser: Pid,
    profile: PathBuf,
    /// What becomes of that folder.
    kind: Profile,
    /// Where it is noted that there is this browser.
    note: Option<PathBuf>,
    /// The browser was asked to close, and may take a moment to write down what it has.
    closing: bool,
}

impl Launched {
    /// Starts a guard that starts `program` with a profile of this kind.
    pub(super) async fn start(
        options: &LaunchOptions,
        kind: &Profile,
        program: &Path,
        flags: &[String],
    ) -> Result<Self, EndpointError> {
        let failed = |cause: String| EndpointError::GuardFailed { cause };
        let mut to_guard = vec![OsString::from("--"), options.notes.clone().unwrap_or_default().into()];
        to_guard.push(serde_json::to_string(&Process::this()).expect("two numbers serialize").into());
        to_guard.extend(kind.to_args());
        to_guard.push(program.into());
        to_guard.extend(flags.iter().map(OsString::from));
        let Guard { process, release, mut reports } =
            options.guard.spawn(to_guard).map_err(|error| failed(format!("it did not start: {error}")))?;
        match next_report(&mut reports).await? {
            Report::Started { browser, profile, note } => Ok(Self {
                note: noted_at(note),
                guard: process,
                release: Some(release),
                reports,
                program: program.to_owned(),
                browser: Pid::from_raw(browser).ok_or_else(|| failed("it reported no process".to_owned()))?,
                profile: match kind {
                    Profile::Fresh(parent) => parent.join(profile),
                    Profile::Kept(folder) => folder.clone(),
                },
                kind: kind.clone(),
                closing: false,
            }),
            Report::NotStarted(NotStarted { happened, next_step }) => {
                Err(EndpointError::NotStarted { happened, next_step })
            }
            Report::Ended { how, stderr, in_order } => {
                Err(EndpointError::LaunchFailed { program: program.to_owned(), how, stderr, in_order })
            }
        }
    }

    /// Waits until the browser says where it listens, or ends.
    ///
    /// Its note in the profile is polled: there is no portable way to be told, and it comes once.
    pub(super) async fn reachable(&mut self) -> Result<(u16, String), EndpointError> {
        loop {
            if let Some(found) = devtools_port::of_profile(&self.profile) {
                return Ok(found);
            }
            tokio::select! {
                report = next_report(&mut self.reports) => {
                    if let Report::Ended { how, stderr, in_order } = report? {
                        let program = self.program.clone();
                        return Err(EndpointError::LaunchFailed { program, how, stderr, in_order });
                    }
                }
                () = sleep(Duration::from_millis(10)) => {}
            }
        }
    }

    /// Returns the profile folder.
    pub(crate) fn profile(&self) -> &Path {
        &self.profile
    }

    #[cfg(test)]
    pub(super) fn browser(&self) -> Pid {
        self.browser
    }

    #[cfg(test)]
    pub(super) fn guard_process(&self) -> Pid {
        self.guard.id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("the guard was not waited for")
    }

    /// Says whether what the browser has not written down yet would be missed: signals end it without.
    pub(crate) fn keeps_profile(&self) -> bool {
        matches!(self.kind, Profile::Kept(_))
    }

    /// Notes that the browser was asked to close, so that it is given the time.
    pub(crate) fn note_closing(&mut self) {
        self.closing = true;
    }

    /// Ends the browser and returns when its processes, and a profile that is not kept, are gone.
    pub(crate) async fn stop(mut self) {
        if self.closing {
            let _ = timeout(CLOSING, next_report(&mut self.reports)).await;
        }
        self.release = None;
        if timeout(STOP_LIMIT, self.guard.wait()).await.is_err() {
            tracing::warn!(browser = ?self.browser, "the guard does not end its browser; doing it from here");
            let _ = self.guard.kill().await;
        }
        // What an absent guard left undone is done when `self` is dropped.
    }

    /// Does the guard's work where the guard itself was killed.
    fn sweep(&self) {
        tracing::warn!(browser = ?self.browser, "the browser's guard was killed; ending the browser from here");
        let _ = kill_process_group(self.browser, Signal::KILL);
        // Blocks for half a second at worst, and only after someone killed the guard.
        self.kind.clean_up(&self.profile);
        if let Some(note) = &self.note {
            noted::forget(note);
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if matches!(self.guard.try_wait(), Ok(Some(status)) if !status.success()) {
            self.sweep();
        }
        // Otherwise the guard is at work: dropping the pipe is all it waits for.
    }
}

/// A browser without a note is as good as any, until somebody kills daemon and guard.
fn noted_at(note: Option<Result<PathBuf, String>>) -> Option<PathBuf> {
    match note? {
        Ok(note) => Some(note),
        Err(why) => {
            tracing::warn!(
                "the launched browser could not be noted ({why}): kill -9 of daemon and guard would leave it"
            );
            None
        }
    }
}

async fn next_report(reports: &mut Reports) -> Result<Report, EndpointError> {
    let failed = |cause: String| EndpointError::GuardFailed { cause };
    let report = reports.next().await.map_err(|error| failed(error.to_string()))?;
    report.ok_or_else(|| failed("it ended without a word".to_owned()))
}
