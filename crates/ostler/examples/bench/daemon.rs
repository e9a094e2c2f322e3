//! A daemon of the benchmark's own, in the foreground as `ostler daemon` runs it.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Result;
use crate::line::Line;

/// A running daemon and its folder, both gone when dropped.
pub(crate) struct Daemon {
    child: Child,
    folder: tempfile::TempDir,
    ostler: PathBuf,
}

impl Daemon {
    /// Starts a daemon for the browser at `url`; returns once its socket answers.
    pub(crate) fn start(ostler: &Path, url: &str) -> Result<Self> {
        // Short, since a socket's path has about a hundred bytes.
        let folder = tempfile::Builder::new().prefix("ostler-bench-").tempdir_in("/tmp")?;
        let mut command = command(ostler, folder.path());
        command.arg("daemon").env("BU_CDP_WS", url).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let log = child.stderr.take().ok_or("the daemon's log is a pipe of ours")?;
        let daemon = Self { child, folder, ostler: ostler.to_owned() };
        let mut log = BufReader::new(log);
        let mut line = String::new();
        while !line.contains("listens on") {
            line.clear();
            if log.read_line(&mut line)? == 0 {
                return Err("the daemon ended before it listened".into());
            }
        }
        // Read to its end, so that the daemon never waits for somebody to take its log.
        std::thread::spawn(move || io::copy(&mut log, &mut io::sink()));
        Ok(daemon)
    }

    /// Connects a client.
    pub(crate) async fn connect(&self) -> Result<Line> {
        Line::connect(&self.socket()).await
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("bu-default.sock")
    }

    /// Returns the command `ostler` as a client of this daemon, with nothing of the caller's environment but the path.
    pub(crate) fn ostler(&self) -> Command {
        command(&self.ostler, self.folder.path())
    }

    /// Returns how many bytes of memory it holds.
    pub(crate) fn resident(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("the daemon has ended")?;
        let kilobytes: f64 = field.trim().trim_end_matches(" kB").parse()?;
        Ok(kilobytes * 1024.0)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(ostler: &Path, folder: &Path) -> Command {
    let mut command = Command::new(ostler);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("BH_RUNTIME_DIR", folder).env("OSTLER_HOME", folder.join("home"));
    command
}
