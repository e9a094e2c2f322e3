//! `browser_run`: runs a Python script with every helper in scope, as `ostler run FILE` does, and returns its output.
//!
//! The script is a process of its own, started by the command itself: what works in a shell works here, and an
//! endless loop or a crash in it is nothing to the daemon.

use std::io::{self, Write as _};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{FusedFuture as _, join};
use ostler_core::CallError;
use rustix::process::{Pid, Signal, kill_process_group};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout};

use super::context::Context;
use super::outcome::Outcome;
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::{this_program, times};

const DEFAULT: Duration = Duration::from_secs(120);
const LONGEST: Duration = Duration::from_secs(3600);
/// How long a script that was told that its time is over may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// How long a stream is read on after the script has ended.
const LEFT_TO_READ: Duration = Duration::from_millis(500);
/// How much is kept of each stream, in bytes.
const MOST_OUTPUT: usize = 20_000;
/// How much of the end of it stands in the error of a script that was stopped, in characters.
const LAST_OUTPUT: usize = 1_000;

/// Runs a Python script in which every helper (new_tab, js, click_at_xy, ...) is defined; returns what it prints.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Python.
    script: String,
    /// Default 120.
    timeout_s: Option<f64>,
}

#[derive(Serialize)]
struct Data<'a> {
    /// None if a signal ended it.
    exit_status: Option<i32>,
    stdout: &'a str,
    stderr: &'a str,
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let limit = times::tool_timeout(args.timeout_s, DEFAULT, LONGEST).map_err(|why| bad("timeout_s", why))?;
    let failed = |error: io::Error| bad("script", format!("cannot be started: {error}"));
    let mut file = tempfile::Builder::new().prefix("script-").suffix(".py").tempfile().map_err(failed)?;
    file.write_all(args.script.as_bytes()).map_err(failed)?;
    let mut command = Command::new(this_program::path().map_err(failed)?);
    command
        .arg0("ostler")
        .arg("--task")
        .arg(context.task.as_str())
        .args(["run", "--timeout", &limit.as_secs_f64().to_string()])
        .arg(file.path());
    let began = Instant::now();
    let mut script = Script::start(command).map_err(failed)?;
    let Ok(ran) = timeout(limit + GRACE, script.run()).await else {
        return Err(too_late(limit, None));
    };
    let ran = ran.map_err(failed)?;
    // What it says of its end need not be why: it may have caught what told it of the time.
    if !ran.status.success() && began.elapsed() >= limit {
        return Err(too_late(limit, Some(&ran)));
    }
    let Ran { status, stdout, stderr } = ran;
    let text = match status.success() {
        true if stdout.is_empty() => "The script is done; it printed nothing.".to_owned(),
        true => stdout.clone(),
        false => failure(status, &stdout, &stderr),
    };
    let outcome = Outcome::new(text, &Data { exit_status: status.code(), stdout: &stdout, stderr: &stderr });
    Ok(if status.success() { outcome } else { outcome.failed() })
}

/// Returns the error of a script that was not done in its time, with what it had printed and where it was.
fn too_late(limit: Duration, ran: Option<&Ran>) -> CallError {
    let line = ran.and_then(|ran| {
        let at = ran.stderr.lines().rev().find(|line| line.contains("script-") && line.contains(", line "))?;
        Some(at.split_once(", line ")?.1.split(',').next()?.to_owned())
    });
    let stopped = line.map_or_else(String::new, |line| format!("it was stopped in its line {line}; "));
    let printed = ran.map_or("", |ran| ran.stdout.trim_end());
    let last = printed.char_indices().rev().nth(LAST_OUTPUT - 1).map_or(printed, |(begin, _)| &printed[begin..]);
    let printed =
        if last.is_empty() { "it had printed nothing".to_owned() } else { format!("it had printed {last:?}") };
    CallError::NotCome {
        what: "the script was not done".to_owned(),
        timeout_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
        instead: format!("{stopped}{printed}"),
    }
}

/// Says that a script failed, then why, and last what it had printed: what was cut off a long text is not the reason.
fn failure(status: ExitStatus, stdout: &str, stderr: &str) -> String {
    let mut text = format!("The script failed ({status}).");
    for (what, printed) in [("It said", stderr), ("Before that it printed", stdout)] {
        if !printed.trim().is_empty() {
            text = format!("{text}\n{what}:\n{}", printed.trim_end());
        }
    }
    text
}

/// A running script with everything that it started and that has stayed in its process group: all of it ends with the
/// script, and when this is dropped.
struct Script {
    child: Child,
    /// Taken once it was ended: its number may be another's soon after.
    group: Option<Pid>,
}

#[derive(Debug)]
struct Ran {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Script {
    fn start(mut command: Command) -> io::Result<Self> {
        let streams = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = streams.process_group(0).spawn()?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { child, group })
    }

    async fn run(&mut self) -> io::Result<Ran> {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let (mut output, mut errors) = (Printed::default(), Printed::default());
        let status = {
            let mut reading = pin!(join(output.read(stdout), errors.read(stderr)).fuse());
            let status = tokio::select! {
                status = self.child.wait() => status?,
                _ = &mut reading => self.child.wait().await?,
            };
            self.end();
            if !reading.is_terminated() {
                // What it left behind in another group may hold the streams open for as long as it lives.
                let _ = timeout(LEFT_TO_READ, reading).await;
            }
            status
        };
        Ok(Ran { status, stdout: output.text(), stderr: errors.text() })
    }

    fn end(&mut self) {
        if let Some(group) = self.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.end();
    }
}

/// What came on a stream so far: the beginning, since a script that prints without end is not stopped by us.
#[derive(Debug, Default)]
struct Printed {
    kept: Vec<u8>,
    cut: usize,
}

impl Printed {
    /// Reads a stream to its end.
    async fn read(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            let room = MOST_OUTPUT.saturating_sub(self.kept.len()).min(count);
            self.kept.extend_from_slice(&buffer[..room]);
            self.cut += count - room;
        }
    }

    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.kept);
        if self.cut == 0 { text.into_owned() } else { format!("{text}\n... cut: {} more bytes\n", self.cut) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Script {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Script::start(command).expect("a shell")
    }

    /// Whether there is a process of this number that is no zombie.
    fn runs(pid: &str) -> bool {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[tokio::test]
    async fn a_finished_script_is_done_whoever_keeps_its_output_open() {
        // The one stays in the script's group, the other leaves it.
        for left_behind in ["sleep 600", "setsid sleep 600"] {
            let mut script = shell(&format!("{left_behind} & echo $!"));
            let ran = timeout(Duration::from_secs(30), script.run()).await.expect("in time").expect("it ran");
            let pid = ran.stdout.trim();
            assert!(ran.status.success() && !pid.is_empty(), "{ran:?}");
            if let Some(outside) = pid.parse().ok().and_then(Pid::from_raw).filter(|_| left_behind.contains("setsid")) {
                let _ = rustix::process::kill_process(outside, Signal::KILL);
            }
            while runs(pid) {
                tokio::task::yield_now().await;
            }
        }
    }
}
