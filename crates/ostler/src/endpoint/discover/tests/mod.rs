//! Situations on a person's machine, each with the browser that is found or the sentence that says why none is.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::super::devtools_port::tests::{machine, record};
use super::super::version_page::tests::{reply, serve, serve_asking, serve_unlisted, version};
use super::*;

mod found;
mod none;
mod survey;

const CHROME: &str = ".config/google-chrome";
const CHROMIUM: &str = ".config/chromium";
const EDGE: &str = ".config/microsoft-edge";
const SNAP: &str = "snap/chromium/common/chromium";
const NOTED: &str = "/devtools/browser/noted";

/// A home folder with profiles in it, and ports that answer.
struct Home {
    folder: TempDir,
    /// What stands for the ports 9222 and 9223.
    ports: Vec<u16>,
    nobodys: Vec<SecretUrl>,
    config_home: Option<PathBuf>,
    stranger: fn(u16) -> Option<u32>,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, ports: Vec::new(), nobodys: Vec::new(), config_home: None, stranger: |_| None }
    }

    fn path(&self, profile: &str) -> PathBuf {
        self.folder.path().join(profile)
    }

    /// A note that was written as long ago.
    fn note(&self, profile: &str, port: u16, age: u64) {
        let folder = record(self.folder.path(), profile, &format!("{port}\n{NOTED}"));
        let note = fs::File::options().write(true).open(folder.join("DevToolsActivePort")).expect("the note");
        note.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("an age");
    }

    /// A browser that uses the profile: this process stands for it.
    fn in_use(&self, profile: &str) {
        self.in_use_by(profile, std::process::id());
    }

    fn in_use_by(&self, profile: &str, pid: u32) {
        fs::create_dir_all(self.path(profile)).expect("a profile folder");
        symlink(format!("any-{pid}"), self.path(profile).join("SingletonLock")).expect("a lock");
    }

    /// What crashed left its lock behind.
    fn crashed(&self, profile: &str) {
        let mut ended = Command::new("true").spawn().expect("true runs");
        ended.wait().expect("it ends");
        fs::create_dir_all(self.path(profile)).expect("a profile folder");
        symlink(format!("any-{}", ended.id()), self.path(profile).join("SingletonLock")).expect("a lock");
    }

    /// What the person chose in chrome://inspect.
    fn allowed(&self, profile: &str, allowed: bool) {
        fs::create_dir_all(self.path(profile)).expect("a profile folder");
        let state = format!(r#"{{"devtools":{{"remote_debugging":{{"user-enabled":{allowed}}}}}}}"#);
        fs::write(self.path(profile).join("Local State"), state).expect("a state");
    }

    async fn search(&self, wanted: &Wanted) -> Result<Endpoint, EndpointError> {
        let mut machine = machine(self.folder.path());
        machine.config_home.clone_from(&self.config_home);
        let limits = Limits { total: Duration::from_secs(1), ..Limits::default() };
        let (ports, nobodys, stranger) = (&self.ports, &self.nobodys, self.stranger);
        Search { wanted, machine: &machine, ports, nobodys, limits, stranger }.run().await
    }

    /// Looks over all browsers and returns how each stands, in words.
    async fn survey(&self) -> Vec<String> {
        let machine = machine(self.folder.path());
        let limits = Limits { total: Duration::from_secs(1), ..Limits::default() };
        let (wanted, ports, nobodys, stranger) = (&Wanted::Any, &self.ports, &self.nobodys, self.stranger);
        let search = Search { wanted, machine: &machine, ports, nobodys, limits, stranger };
        let words = |sighting: Sighting| match sighting.standing {
            Standing::Ready { port } => format!("{} is ready on {port}", sighting.browser),
            Standing::Asks { port } => format!("{} asks on {port}", sighting.browser),
            Standing::Closed(error) => error.happened().replace(&std::process::id().to_string(), "PID"),
        };
        search.survey().await.into_iter().map(words).collect()
    }

    #[track_caller]
    fn assert_found(&self, found: Result<Endpoint, EndpointError>, port: u16, found_by: &str) -> Endpoint {
        let endpoint = found.unwrap_or_else(|error| unreachable!("{found_by}: {error}"));
        assert!(endpoint.url.expose().starts_with(&format!("ws://127.0.0.1:{port}/")), "{}", endpoint.url.expose());
        assert_eq!(endpoint.found_by, found_by.replace("{port}", &port.to_string()));
        endpoint
    }

    async fn finds(&self, wanted: Wanted, port: u16, found_by: &str) -> Endpoint {
        let found = self.search(&wanted).await;
        self.assert_found(found, port, found_by)
    }

    async fn fails(&self, wanted: Wanted, sentence: &str) -> EndpointError {
        let error = self.search(&wanted).await.expect_err(sentence);
        let home = self.folder.path().display().to_string();
        let said = error.to_string().replace(&home, "~").replace(&std::process::id().to_string(), "PID");
        assert_eq!(said, sentence);
        error
    }
}

fn browser() -> Option<String> {
    version(&format!("ws://127.0.0.1{NOTED}"))
}

fn other_browser() -> Option<String> {
    version("ws://127.0.0.1/devtools/browser/other")
}

fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound").port()
}

fn named(name: &str) -> Wanted {
    Wanted::browser(name).expect("a browser")
}

const OF_CHROME: &str = "the DevToolsActivePort of Google Chrome";
const START: &str = "run `ostler connect --launch`, start Chrome with --remote-debugging-port=9222 and a --user-data-dir of its own, or set BU_CDP_URL";
const INSPECT: &str = "open chrome://inspect/#remote-debugging in it and allow remote debugging for this browser";
