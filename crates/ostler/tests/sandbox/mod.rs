//! A place of its own for one test: runtime folder, home, and the binary run with nothing else of the caller's.

#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A browser that is not there: enough for a daemon to live, and it never finds another one on the machine.
pub(crate) const NO_BROWSER: &str = "ws://127.0.0.1:1/devtools/browser/none";

/// The folders of one test. Whatever daemon is left in them ends with it.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        // Short, since a socket path has about a hundred bytes.
        let folder = tempfile::Builder::new().prefix("os-").tempdir_in("/tmp").expect("a temporary folder");
        let sandbox = Self { folder };
        fs::create_dir(sandbox.home()).expect("a home");
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path("bu-t.sock")
    }

    pub(crate) fn pid_file(&self) -> PathBuf {
        self.path("bu-t.pid")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path("bu-t.log")
    }

    /// Returns the command `ostler ARGS` for the daemon named `t` of this sandbox.
    pub(crate) fn ostler(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ostler"));
        command.args(args).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("BH_RUNTIME_DIR", self.folder.path()).env("OSTLER_HOME", self.home()).env("BU_NAME", "t");
        command.env("BU_CDP_WS", NO_BROWSER);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.ostler(args))
    }

    /// Returns a command that needs a daemon, starting one if need be. Since there is no browser, what comes back
    /// from it is the daemon's own error: proof that a daemon answered.
    pub(crate) fn call(&self) -> Command {
        self.ostler(&["--json", "cdp", "Browser.getVersion", "--timeout", "5"])
    }

    /// Makes sure that a daemon runs, and returns its pid.
    pub(crate) fn start(&self) -> u32 {
        let ran = Ran::of(&mut self.call());
        ran.assert_daemon_answered();
        self.pid().expect("a running daemon has its pid in the file")
    }

    /// Returns the number in the pid file.
    pub(crate) fn pid(&self) -> Option<u32> {
        fs::read_to_string(self.pid_file()).ok()?.trim().parse().ok()
    }

    /// Returns how many daemons ever listened on the socket.
    pub(crate) fn daemons_that_listened(&self) -> usize {
        fs::read_to_string(self.log()).unwrap_or_default().matches("listens on").count()
    }

    /// Kills the daemon the hard way and waits until the system has let go of its lock.
    pub(crate) fn kill(&self) {
        self.kill_with(&[]);
    }

    /// Kills others together with the daemon, in this order: nobody sees the other go and acts on it.
    pub(crate) fn kill_with(&self, others: &[u32]) {
        let pid = self.pid().expect("a running daemon");
        // Stopped first, so that it sees none of the others go before it goes itself.
        kill(pid, rustix::process::Signal::STOP);
        for other in others {
            kill(*other, rustix::process::Signal::KILL);
        }
        kill(pid, rustix::process::Signal::KILL);
        wait_until("the killed daemon's lock is free", || !is_locked(&self.pid_file()));
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if is_locked(&self.pid_file())
            && let Some(pid) = self.pid()
        {
            kill(pid, rustix::process::Signal::KILL);
        }
    }
}

pub(crate) fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("a pid");
    rustix::process::kill_process(pid, signal).expect("a process of ours");
}

fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Waits for a condition that other processes bring about.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        command.stdin(std::process::Stdio::null()).output().expect("ostler runs").into()
    }

    /// Asserts the exit code, and that standard error is one sentence with these words in it.
    #[track_caller]
    pub(crate) fn assert_failed(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.starts_with("ostler: ") && self.stderr.lines().count() == 1, "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing: {self:?}");
        }
    }

    /// Asserts the exit code, and that standard output is an error object with this word in its sentence.
    #[track_caller]
    pub(crate) fn assert_failed_json(&self, code: i32, word: &str) {
        assert_eq!((self.code, self.stderr.as_str()), (Some(code), ""), "{self:?}");
        let reply: serde_json::Value = serde_json::from_str(&self.stdout).expect("JSON on standard output");
        assert!(reply["error"].as_str().is_some_and(|error| error.contains(word)), "{self:?}");
    }

    #[track_caller]
    pub(crate) fn assert_done(&self) {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
    }

    /// Asserts that a daemon without a browser answered.
    #[track_caller]
    pub(crate) fn assert_daemon_answered(&self) {
        assert_eq!((self.code, self.stderr.as_str()), (Some(1), ""), "{self:?}");
        let reply: serde_json::Value = serde_json::from_str(&self.stdout).expect("JSON on standard output");
        assert!(reply["error_code"].is_string(), "{self:?}");
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// A daemon that says what the test told it to, and remembers what it was asked.
pub(crate) struct FakeDaemon {
    asked: Arc<Mutex<Vec<String>>>,
}

impl FakeDaemon {
    /// The answer that is none: the connection is closed.
    pub(crate) const HANG_UP: &str = "";
    /// How a verb's request ends.
    const WORDS: &str = r#","words":"cli"}"#;
    /// How a script's does.
    const HELPERS_WORDS: &str = r#","words":"helpers"}"#;

    /// Listens on the sandbox's socket; `ping` is answered as this version's daemon does, the rest by `answer`.
    pub(crate) fn start(sandbox: &Sandbox, answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        Self::with_version(sandbox, env!("CARGO_PKG_VERSION"), answer)
    }

    pub(crate) fn with_version(
        sandbox: &Sandbox,
        version: &str,
        answer: impl Fn(&str) -> String + Send + 'static,
    ) -> Self {
        let listener = UnixListener::bind(sandbox.socket()).expect("a free socket path");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let pong = format!(r#"{{"pong":true,"pid":7,"browser_kind":"local","version":"{version}"}}"#);
        let fake = Self { asked: Arc::clone(&asked) };
        // Ends with the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.expect("a client");
                serve(&client, &asked, |line| if line.contains("\"ping\"") { pong.clone() } else { answer(line) });
            }
        });
        fake
    }

    /// Returns the requests so far, without the pings. That a verb or a script wants its errors in its own words
    /// goes without saying.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().expect("no test thread panics with the lock");
        let requests = asked.iter().filter(|line| !line.contains("\"ping\""));
        requests.map(|line| line.replacen(Self::WORDS, "}", 1).replacen(Self::HELPERS_WORDS, "}", 1)).collect()
    }

    /// Returns how many of the requests so far want their errors in the command's words.
    #[allow(dead_code, reason = "each test program has its own copy of this file")]
    pub(crate) fn asked_in_the_commands_words(&self) -> usize {
        let asked = self.asked.lock().expect("no test thread panics with the lock");
        asked.iter().filter(|line| line.ends_with(Self::WORDS)).count()
    }
}

fn serve(client: &UnixStream, asked: &Mutex<Vec<String>>, answer: impl Fn(&str) -> String) {
    for line in BufReader::new(client).lines() {
        let Ok(line) = line else { return };
        let reply = answer(&line);
        asked.lock().expect("no test thread panics with the lock").push(line);
        if reply == FakeDaemon::HANG_UP {
            return;
        }
        let mut client = client;
        if client.write_all(format!("{reply}\n").as_bytes()).is_err() {
            return;
        }
    }
}
