//! `browser_run`: runs a Python script with every helper in scope, as `ostler run FILE` does, and returns its output.
//!
//! The script is a process of its own, started by the command itself: what works in a shell works here, and an
//! endless loop or a crash in it is nothing to the daemon.

use std::io::Write as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use ostler_core::{CallError, TimeoutHint};
use rustix::process::{Pid, Signal, kill_process_group};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::context::Context;
use super::outcome::Outcome;
use crate::meta::TaskLayer;
use crate::meta::value::bad;

const DEFAULT: Duration = Duration::from_secs(120);
const LONGEST: Duration = Duration::from_secs(3600);
/// How long a script that was told that its time is over may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// How much is kept of each stream, in bytes.
const MOST_OUTPUT: usize = 20_000;

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
    let limit =
        match args.timeout_s {
            None => DEFAULT,
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|time| !time.is_zero() && *time <= LONGEST)
                .ok_or_else(|| bad("timeout_s", format!("must be above 0 and at most {}", LONGEST.as_secs())))?,
        };
    let failed = |error: std::io::Error| bad("script", format!("cannot be started: {error}"));
    let mut file = tempfile::Builder::new().prefix("script-").suffix(".py").tempfile().map_err(failed)?;
    file.write_all(args.script.as_bytes()).map_err(failed)?;
    let mut script = Script(
        Command::new(std::env::current_exe().map_err(failed)?)
            .arg("--task")
            .arg(context.task.as_str())
            .args(["run", "--timeout", &limit.as_secs_f64().to_string()])
            .arg(file.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?,
    );
    let Ok(ran) = timeout(limit + GRACE, script.run()).await else {
        let timeout_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        return Err(CallError::Timeout { method: "browser_run".to_owned(), timeout_ms, hint: TimeoutHint::None });
    };
    let Ran { status, stdout, stderr } = ran.map_err(failed)?;
    let text = match status.success() {
        true if stdout.is_empty() => "The script is done; it printed nothing.".to_owned(),
        true => stdout.clone(),
        false => format!("{stdout}{stderr}\nThe script failed ({status})."),
    };
    Ok(Outcome::new(text, &Data { exit_status: status.code(), stdout: &stdout, stderr: &stderr }))
}

/// A running script with everything that it started; dropped, all of it ends.
struct Script(Child);

struct Ran {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Script {
    async fn run(&mut self) -> std::io::Result<Ran> {
        let (stdout, stderr) = (self.0.stdout.take(), self.0.stderr.take());
        let (stdout, stderr, status) = tokio::join!(read(stdout), read(stderr), self.0.wait());
        Ok(Ran { status: status?, stdout, stderr })
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // Its number is its own as long as it has not been waited for; its group may outlive it.
        let id = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(group) = id {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Reads a stream to its end and keeps the beginning: a script that prints without end is not stopped by us.
async fn read(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let (mut kept, mut cut) = (Vec::new(), 0);
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let room = MOST_OUTPUT.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(&buffer[..room]);
        cut += count - room;
    }
    let text = String::from_utf8_lossy(&kept);
    if cut == 0 { text.into_owned() } else { format!("{text}\n... cut: {cut} more bytes\n") }
}
