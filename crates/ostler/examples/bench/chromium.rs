//! A headless Chromium with a fresh profile, gone when dropped.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::Result;

/// How long Chromium may take to open its port.
const START: Duration = Duration::from_secs(30);
/// How often the file is looked for in which Chromium tells its port.
const LOOK: Duration = Duration::from_millis(20);

/// What keeps a browser busy that nobody asked for.
const CALM: [&str; 8] = [
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
];

/// A running browser with one tab, which shows `about:blank`.
pub(crate) struct Chromium {
    child: Child,
    /// Removed after the browser has gone.
    _profile: tempfile::TempDir,
    /// The browser's WebSocket.
    pub(crate) url: String,
}

impl Chromium {
    /// Starts one whose window is as large as a page needs it to be that fills a screen.
    pub(crate) fn start() -> Result<Self> {
        let profile = tempfile::Builder::new().prefix("ostler-bench-profile-").tempdir()?;
        let mut command = Command::new(program()?);
        command.args(CALM).arg("--window-size=2100,1800");
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn()?;
        let port_file = profile.path().join("DevToolsActivePort");
        let mut browser = Self { child, _profile: profile, url: String::new() };
        let deadline = Instant::now() + START;
        while Instant::now() < deadline {
            let text = fs::read_to_string(&port_file).unwrap_or_default();
            if let Some((port, path)) = text.trim().split_once('\n') {
                browser.url = format!("ws://127.0.0.1:{port}{path}");
                return Ok(browser);
            }
            if let Some(status) = browser.child.try_wait()? {
                return Err(format!("Chromium ended at once ({status})").into());
            }
            std::thread::sleep(LOOK);
        }
        Err(format!("Chromium opened no port within {} s", START.as_secs()).into())
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its renderers with it: they are in the group that it leads.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Returns the version of the browser that [`Chromium::start`] starts.
pub(crate) fn version() -> Result<String> {
    let output = Command::new(program()?).arg("--version").stderr(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn program() -> Result<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
        .into_iter()
        .find(is_there)
        .ok_or_else(|| "Chromium is missing; `apt-get install chromium` brings it".into())
}
