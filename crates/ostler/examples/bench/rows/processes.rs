//! P6, P10: whole processes, from the moment they are started.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::Result;
use crate::chromium::Chromium;
use crate::daemon::Daemon;
use crate::raw::{self, Raw};
use crate::report::Figure;
use crate::samples::{Blocks, in_turns};
use crate::setup::Setup;

const COMMANDS: Blocks = Blocks { count: 40, length: 5 };
const STARTS: Blocks = Blocks { count: 30, length: 1 };
const SCRIPT: &[u8] = b"js('1+1')\n";

pub(super) fn whole_commands(setup: &Setup) -> Result<Vec<Figure>> {
    let chromium = Chromium::start()?;
    let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
    let python = python()?;
    setup.block_on(async {
        daemon.connect().await?.current_tab().await?;
        let evaluate = in_turns(
            COMMANDS,
            async || run(&mut Command::new("/bin/true"), b""),
            async || run(daemon.ostler().args(["js", "1+1"]), b""),
        )
        .await?;
        let script = in_turns(
            COMMANDS,
            async || run(Command::new(&python).args(["-c", "pass"]), b""),
            async || run(daemon.ostler().env("OSTLER_PYTHON", &python), SCRIPT),
        )
        .await?;
        Ok(vec![
            Figure::ratio("`ostler js 1+1`, the whole process", 2.5, &evaluate, "/bin/true"),
            Figure::ratio("a script of one line, the whole process", 2.0, &script, "bare python3"),
        ])
    })
}

pub(super) fn first_result(setup: &Setup) -> Result<Vec<Figure>> {
    let chromium = Chromium::start()?;
    setup.block_on(async {
        let mut raw = Raw::connect(&chromium.url).await?;
        let target = raw.first_page().await?;
        let pair = in_turns(
            STARTS,
            async || raw_process(&chromium.url, &target),
            async || {
                let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
                daemon.connect().await?.call("Runtime.evaluate", r#"{"expression":"1+1"}"#).await?;
                Ok(daemon)
            },
        )
        .await?;
        Ok(vec![Figure::ratio("from the daemon's start to its first result", 1.5, &pair, "a raw client's process")])
    })
}

/// Runs a command to its end.
fn run(command: &mut Command, input: &[u8]) -> Result<()> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    // Dropped at once, which is how the command sees the end.
    child.stdin.take().ok_or("its input is a pipe of ours")?.write_all(input)?;
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// Runs this program again as a raw client, until it has its result.
fn raw_process(url: &str, target: &str) -> Result<Ending> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([raw::AS_A_PROCESS, url, target]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = Ending(command.spawn()?);
    let mut line = String::new();
    BufReader::new(child.0.stdout.take().ok_or("its output is a pipe of ours")?).read_line(&mut line)?;
    if line.is_empty() { Err("the raw client gave no result".into()) } else { Ok(child) }
}

/// A process that ends by itself, waited for when dropped.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
}

/// Returns the interpreter itself: the `python3` on the path may be a script that looks for one.
fn python() -> Result<PathBuf> {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output()?;
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}
