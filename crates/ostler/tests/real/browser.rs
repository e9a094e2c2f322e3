//! A Chromium of the test's own, with a fresh profile, gone when dropped.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::sandbox::wait_until;
use super::screen::Screen;

pub(crate) struct Chromium {
    child: Child,
    /// Where its window is, if it has one.
    screen: Option<Screen>,
    /// Its folder, unless that is the test's to keep.
    profile: Option<tempfile::TempDir>,
    folder: PathBuf,
    port: u16,
}

impl Chromium {
    pub(crate) fn start() -> Self {
        Self::start_with(0, &[])
    }

    /// Starts on a port of the caller's.
    pub(crate) fn start_on(port: u16) -> Self {
        Self::start_with(port, &[])
    }

    /// Starts with more flags, on a port of the caller's or, when that is 0, on one that the browser chooses.
    pub(crate) fn start_with(port: u16, flags: &[String]) -> Self {
        let profile = fresh_profile();
        let port = format!("--remote-debugging-port={port}");
        let flags = flags.iter().map(String::as_str);
        let args: Vec<_> = [port.as_str()].into_iter().chain(flags).chain(["about:blank"]).collect();
        let mut browser = Self::start_in(profile.path(), &args);
        browser.profile = Some(profile);
        browser
    }

    /// Starts as a person does who looks at it: with a window, on a screen that nobody sees.
    pub(crate) fn with_window(flags: &[&str]) -> Self {
        let profile = fresh_profile();
        let args: Vec<_> = ["--remote-debugging-port=0"].iter().chain(flags).chain(&["about:blank"]).copied().collect();
        let mut browser = Self::start_where(Some(Screen::start()), profile.path(), &args);
        browser.profile = Some(profile);
        browser
    }

    /// Starts in a profile folder that outlives it. With a fixed port it must be named by `--remote-debugging-port`; any
    /// other is read from the profile.
    pub(crate) fn start_in(profile: &Path, args: &[&str]) -> Self {
        Self::start_where(None, profile, args)
    }

    fn start_where(screen: Option<Screen>, profile: &Path, args: &[&str]) -> Self {
        let note = profile.join("DevToolsActivePort");
        let _ = fs::remove_file(&note);
        let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| on_path(name));
        let mut command = Command::new(program.expect("these tests need Chromium on the PATH"));
        command
            .args(["--disable-gpu", "--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "--disable-quic", "--site-per-process"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        match &screen {
            Some(screen) => command.env("DISPLAY", screen.name()).arg("--no-default-browser-check"),
            None => command.arg("--headless=new"),
        };
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        let fixed = args.iter().find_map(|arg| arg.strip_prefix("--remote-debugging-port=")?.parse().ok());
        let mut browser = Self {
            child: command.spawn().expect("Chromium starts"),
            screen,
            profile: None,
            folder: profile.to_owned(),
            port: fixed.unwrap_or(0),
        };
        if browser.port == 0 {
            let read = || fs::read_to_string(&note).ok()?.lines().next()?.parse::<u16>().ok();
            wait_until("Chromium tells its port", || read().is_some());
            browser.port = read().expect("just read");
        }
        wait_until("Chromium answers on its port", || {
            std::net::TcpStream::connect(("127.0.0.1", browser.port)).is_ok()
        });
        browser
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the URL of its WebSocket.
    pub(crate) fn websocket_url(&self) -> String {
        let note = fs::read_to_string(self.folder.join("DevToolsActivePort")).expect("it chose its port");
        let (port, path) = note.split_once('\n').expect("two lines");
        format!("ws://127.0.0.1:{port}{}", path.trim())
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Opens a tab as another client does.
    pub(crate) fn open(&self, url: &str) {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.port)).expect("a browser that listens");
        let request = format!("PUT /json/new?{url} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a browser that reads");
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).expect("a browser that answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// Ends it the hard way.
    /// Returns what it says at an address of its own, asked without any session.
    pub(crate) fn answer(&self, path: &str) -> String {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.port)).expect("a browser that listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port);
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut stream = BufReader::new(stream);
        let mut length = 0;
        let mut header = String::new();
        while header != "\r\n" {
            header.clear();
            stream.read_line(&mut header).expect("a header");
            if let Some(given) = header.to_ascii_lowercase().strip_prefix("content-length:") {
                length = given.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("a body of that length");
        String::from_utf8(body).expect("JSON")
    }

    pub(crate) fn kill(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.kill();
        // Only now, so that its window never loses the screen.
        self.screen = None;
    }
}

fn fresh_profile() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("os-profile-").tempdir().expect("a profile folder")
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
