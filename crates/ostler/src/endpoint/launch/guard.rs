//! The guard: a small process that owns a browser's life, and ends it when the daemon lets go.
//!
//! Its standard input is a pipe whose only write end the daemon holds. The kernel closes that end however the daemon
//! goes, so the guard needs no goodbye. It tells the daemon what happens by one [`Report`] a line on standard output.

use std::convert::Infallible;
use std::ffi::OsString;
use std::future::pending;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::ChildStderr;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::time::{sleep, timeout};

use super::super::note::Note;
use super::super::process::Process;
use super::super::release::{Release, report};
use super::noted::{Noted, fresh_mark};
use super::profile::Profile;

/// The hidden subcommand that is to call [`guard_main`] with the arguments after its `--`.
pub(crate) const GUARD_SUBCOMMAND: &str = "guard-browser";

/// How long a browser may take to end in good order.
pub(super) const GRACE: Duration = Duration::from_secs(3);

/// How long the rest of its processes may take to die once they are killed.
pub(super) const CLEAR_LIMIT: Duration = Duration::from_secs(2);

/// How much of the end of the browser's standard error is kept.
const TAIL: usize = 4096;

/// What the guard tells the daemon.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// The browser's process, which leads the group of its id, the name of its profile folder, and where it is noted, or
    /// why that could not be done.
    Started { browser: i32, profile: String, note: Option<Result<PathBuf, String>> },
    /// There is no browser.
    NotStarted(NotStarted),
    /// The browser is gone, its group and its profile too. In good order means that nothing went wrong in its own eyes.
    Ended { how: String, stderr: String, in_order: bool },
}

/// Why no browser was started, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NotStarted {
    pub(super) happened: String,
    pub(super) next_step: String,
}

impl NotStarted {
    fn unguarded(error: &io::Error) -> Self {
        Self {
            happened: format!("no browser was started, since it could not be guarded ({error})"),
            next_step: "look whether the machine is out of memory or processes, and try again".to_owned(),
        }
    }
}

/// Runs the guard until its browser is gone. `args`: the folder for notes, the daemon's process, the profile in two words,
/// the browser, its flags.
pub(crate) fn guard_main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let Some(order) = Order::read(&mut args) else {
        return Release::misuse(GUARD_SUBCOMMAND);
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            report(&Report::NotStarted(NotStarted::unguarded(&error)));
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(async {
        let Ok(mut release) = Release::listen() else {
            return Release::misuse(GUARD_SUBCOMMAND);
        };
        match guard(order, &mut release).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                report(&Report::NotStarted(why));
                ExitCode::FAILURE
            }
        }
    })
}

/// What to guard.
struct Order {
    /// Where it is noted, if it is.
    notes: Option<PathBuf>,
    daemon: Process,
    profile: Profile,
    program: PathBuf,
    flags: Vec<OsString>,
}

impl Order {
    fn read(args: &mut impl Iterator<Item = OsString>) -> Option<Self> {
        let notes = args.next().map(PathBuf::from).filter(|folder| !folder.as_os_str().is_empty());
        let daemon = serde_json::from_str(args.next()?.to_str()?).ok()?;
        let kind = args.next()?;
        let profile = Profile::from_args(&kind, args.next()?)?;
        Some(Self { notes, daemon, profile, program: args.next()?.into(), flags: args.collect() })
    }

    /// Notes that there will be a browser with this flag and this profile.
    fn note(&self, mark: &str, profile: &Path) -> Option<io::Result<Note<Noted>>> {
        let is_fresh = matches!(self.profile, Profile::Fresh(_));
        self.notes.as_ref().map(|folder| Noted::begin(folder, self.daemon, mark, profile, is_fresh))
    }
}

async fn guard(order: Order, release: &mut Release) -> Result<(), NotStarted> {
    let mut family = Family::adopt().map_err(|error| NotStarted::unguarded(&error))?;
    let mark = fresh_mark();
    let mut note = None;
    let prepared = order.profile.prepare(|folder| {
        if let Some(Ok(other_name)) = std::mem::replace(&mut note, order.note(&mark, folder)) {
            other_name.remove();
        }
    });
    let forget = |note| {
        if let Some(Ok(note)) = note {
            Note::remove(note);
        }
    };
    let profile = match prepared {
        Ok(profile) => profile,
        Err(why) => {
            forget(note);
            return Err(why);
        }
    };
    let mut user_data_dir = OsString::from("--user-data-dir=");
    user_data_dir.push(&profile);
    let spawned = Command::new(&order.program)
        .args(&order.flags)
        .arg(user_data_dir)
        .arg(mark)
        // Its crash reports would go to the person's own configuration folder, whatever the profile.
        .env("BREAKPAD_DUMP_LOCATION", profile.join("Crash Reports"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut browser = match spawned {
        Ok(browser) => browser,
        Err(error) => {
            order.profile.clean_up(&profile);
            forget(note);
            return Err(NotStarted {
                happened: format!("{} could not be started ({error})", order.program.display()),
                next_step: "name a browser that is installed, or none to have one looked for (--executable of `ostler \
                            connect --launch`, browser.executable of config.yaml)"
                    .to_owned(),
            });
        }
    };
    let group = Pid::from_child(&browser);
    let mut stderr =
        browser.stderr.take().and_then(|pipe| ChildStderr::from_std(pipe).ok()).expect("standard error was piped");
    report(&Report::Started {
        browser: group.as_raw_nonzero().get(),
        profile: profile.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        note: note.as_ref().map(|note| match note {
            Ok(note) => Ok(note.path().to_owned()),
            Err(error) => Err(error.to_string()),
        }),
    });

    let mut said = Tail::default();
    let status = tokio::select! {
        status = oversee(&mut family, group, release) => status,
        never = said.listen_forever(&mut stderr) => match never {},
    };
    family.clear(group).await;
    // Everyone who could write is gone; the limit is for a process that got away with the pipe.
    let _ = timeout(Duration::from_millis(500), said.listen(&mut stderr)).await;
    order.profile.clean_up(&profile);
    forget(note);
    report(&Report::Ended {
        how: format!("ended with {status}"),
        stderr: said.last_lines(),
        in_order: status.success(),
    });
    Ok(())
}

/// Waits for the browser to end, or ends it when the daemon lets go.
async fn oversee(family: &mut Family, browser: Pid, release: &mut Release) -> ExitStatus {
    tokio::select! {
        status = family.lost(browser) => return status,
        () = release.wait() => {}
    }
    let _ = kill_process_group(browser, Signal::TERM);
    if let Ok(status) = timeout(GRACE, family.lost(browser)).await {
        return status;
    }
    let _ = kill_process_group(browser, Signal::KILL);
    family.lost(browser).await
}

/// Every process that descends from us, adopted ones included.
///
/// Whoever adopts must also bury: this is the only place that waits for a child, so nobody's status is lost.
struct Family {
    deaths: Signals,
}

impl Family {
    /// Must come before the first child, so that no death goes unheard.
    fn adopt() -> io::Result<Self> {
        // A browser's own children become ours when it dies, so that we see the last of them go.
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        Ok(Self { deaths: signal(SignalKind::child())? })
    }

    /// Waits until this child has died. May be dropped and called again before it returned.
    async fn lost(&mut self, child: Pid) -> ExitStatus {
        loop {
            while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
                if pid == child {
                    return ExitStatus::from_raw(status.as_raw());
                }
            }
            self.deaths.recv().await;
        }
    }

    /// Kills what is left of the group and waits until the kernel has forgotten it.
    ///
    /// The crash handlers are in groups of their own: they end by themselves once nobody is left to watch.
    async fn clear(&mut self, group: Pid) {
        let limit = Instant::now() + CLEAR_LIMIT;
        loop {
            // Bury first: a group of nothing but dead children would look alive for ever.
            let children = loop {
                match wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) => {}
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
            let group_gone = kill_process_group(group, Signal::KILL) == Err(Errno::SRCH);
            if (group_gone && !children) || Instant::now() >= limit {
                return;
            }
            sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Removes the profile. A process that is just dying may still add a file, hence the repetition.
pub(super) fn remove_folder(folder: &Path) {
    for _ in 0..20 {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(Duration::from_millis(25)),
            _ => return,
        }
    }
}

/// The end of what a browser said on standard error: where it explains why it does not start.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    /// Reads to the end. May be dropped and called again: nothing that was read is lost.
    async fn listen(&mut self, stderr: &mut (impl AsyncRead + Unpin)) {
        let mut chunk = [0; 1024];
        while let Ok(length @ 1..) = stderr.read(&mut chunk).await {
            self.0.extend_from_slice(&chunk[..length]);
            self.0.drain(..self.0.len().saturating_sub(TAIL));
        }
    }

    async fn listen_forever(&mut self, stderr: &mut (impl AsyncRead + Unpin)) -> Infallible {
        self.listen(stderr).await;
        pending().await
    }

    /// Returns the last few lines as one. Those that tell where the browser listens are left out: whoever reads that
    /// URL can drive it, and errors and logs are shown around.
    fn last_lines(&self) -> String {
        let text = String::from_utf8_lossy(&self.0);
        // Once the tail is full its first line has lost its beginning, and may be the end of such a URL.
        let whole = text.lines().skip(usize::from(self.0.len() == TAIL)).map(str::trim);
        let lines: Vec<_> = whole.filter(|line| !line.is_empty() && !line.contains("ws://")).collect();
        lines[lines.len().saturating_sub(5)..].join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_tail_keeps_the_last_lines_of_a_flood() {
        let mut text = "noise\n".repeat(10_000);
        text.push_str("one\n\n  two\r\nthree\nfour\nerror while loading \u{fffd}libnss3.so\n");
        let mut said = Tail::default();
        said.listen(&mut text.as_bytes()).await;
        assert!(said.0.len() <= TAIL);
        assert_eq!(said.last_lines(), "one | two | three | four | error while loading \u{fffd}libnss3.so");
    }

    #[tokio::test]
    async fn the_tail_never_tells_where_the_browser_listens() {
        let listens = "DevTools listening on ws://127.0.0.1:4711/devtools/browser/S3CRET";
        let reason = "no space left\n";
        // The second one is so long that of the URL only its end is kept.
        for blank_lines in [1, TAIL - "S3CRET".len() - reason.len()] {
            let mut said = Tail::default();
            said.listen(&mut format!("{listens}{}{reason}", "\n".repeat(blank_lines)).as_bytes()).await;
            assert_eq!(said.last_lines(), "no space left");
        }
    }

    #[test]
    fn a_silent_browser_leaves_an_empty_tail() {
        assert_eq!(Tail::default().last_lines(), "");
    }
}
