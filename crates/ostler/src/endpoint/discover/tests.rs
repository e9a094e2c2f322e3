//! Situations on a person's machine, each with the browser that is found or the sentence that says why none is.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::super::devtools_port::tests::{machine, record};
use super::super::version_page::tests::{reply, serve, serve_unlisted, version};
use super::*;

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
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, ports: Vec::new(), nobodys: Vec::new(), config_home: None }
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
        fs::create_dir_all(self.path(profile)).expect("a profile folder");
        symlink(format!("any-{}", std::process::id()), self.path(profile).join("SingletonLock")).expect("a lock");
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
        Search { wanted, machine: &machine, ports: &self.ports, nobodys: &self.nobodys, limits }.run().await
    }

    /// Looks over all browsers and returns how each stands, in words.
    async fn survey(&self) -> Vec<String> {
        let machine = machine(self.folder.path());
        let limits = Limits { total: Duration::from_secs(1), ..Limits::default() };
        let search =
            Search { wanted: &Wanted::Any, machine: &machine, ports: &self.ports, nobodys: &self.nobodys, limits };
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

// What is found.

#[tokio::test]
async fn a_note_and_its_browser() {
    let home = Home::new();
    let port = serve(browser()).await;
    home.note(CHROME, port, 0);
    let endpoint = home.finds(Wanted::Any, port, OF_CHROME).await;
    assert_eq!(
        (endpoint.kind, endpoint.profile, endpoint.may_ask),
        (BrowserKind::Local, Some(home.path(CHROME)), false)
    );
}

#[tokio::test]
async fn a_browser_without_a_version_page_is_found_by_its_note_and_may_ask() {
    let home = Home::new();
    let port = serve_unlisted().await;
    home.note(CHROME, port, 0);
    let endpoint = home.finds(Wanted::Any, port, OF_CHROME).await;
    assert_eq!((endpoint.url.expose(), endpoint.may_ask), (format!("ws://127.0.0.1:{port}{NOTED}").as_str(), true));
}

#[tokio::test]
async fn a_stale_note_does_not_shadow_a_live_one_even_if_it_is_newer() {
    let home = Home::new();
    let port = serve(browser()).await;
    home.note(CHROMIUM, closed_port(), 0);
    home.note(CHROME, port, 60);
    home.finds(Wanted::Any, port, OF_CHROME).await;
}

#[tokio::test]
async fn a_port_that_never_answers_delays_no_other() {
    let home = Home::new();
    let port = serve(browser()).await;
    home.note(CHROMIUM, serve(None).await, 0);
    home.note(EDGE, serve(None).await, 1);
    home.note(CHROME, port, 60);
    home.finds(Wanted::Any, port, OF_CHROME).await;
}

#[tokio::test]
async fn of_two_live_ones_the_one_started_last_and_the_other_is_named() {
    let home = Home::new();
    let (chrome, edge) = (serve(browser()).await, serve(browser()).await);
    home.note(CHROME, chrome, 60);
    home.note(EDGE, edge, 5);
    let both =
        "the DevToolsActivePort of Microsoft Edge; also running: Google Chrome (`ostler connect --browser chrome`)";
    home.finds(Wanted::Any, edge, both).await;
}

#[tokio::test]
async fn one_of_two_is_chosen_by_name() {
    let home = Home::new();
    let (chrome, edge) = (serve(browser()).await, serve(browser()).await);
    home.note(CHROME, chrome, 5);
    home.note(EDGE, edge, 60);
    let both =
        "the DevToolsActivePort of Microsoft Edge; also running: Google Chrome (`ostler connect --browser chrome`)";
    home.finds(named("edge"), edge, both).await;
}

#[tokio::test]
async fn one_edition_of_two_is_chosen_by_its_full_name() {
    let home = Home::new();
    let (stable, beta) = (serve(browser()).await, serve(browser()).await);
    home.note(CHROME, stable, 5);
    home.note(".config/google-chrome-beta", beta, 60);
    let endpoint = home.search(&named("google chrome beta")).await;
    let said =
        "the DevToolsActivePort of Google Chrome Beta; also running: Google Chrome (`ostler connect --browser chrome`)";
    home.assert_found(endpoint, beta, said);
}

#[tokio::test]
async fn a_profile_that_nobody_knows_of_is_chosen_by_its_folder() {
    let home = Home::new();
    let port = serve(browser()).await;
    home.note("work/browser-data", port, 0);
    home.finds(Wanted::profile(&home.path("work/browser-data")), port, "the DevToolsActivePort of a browser").await;
}

#[tokio::test]
async fn a_flatpak_a_snap_and_other_systems_folders() {
    for (profile, name) in [
        (".var/app/com.google.Chrome/config/google-chrome", "Google Chrome (Flatpak)"),
        (SNAP, "Chromium (Snap)"),
        ("Library/Application Support/Arc/User Data", "Arc"),
        ("Library/Application Support/Comet", "Comet"),
        ("Library/Application Support/Dia/User Data", "Dia"),
        (".config/net.imput.helium", "Helium"),
        ("AppData/Local/Google/Chrome/User Data", "Google Chrome"),
    ] {
        let home = Home::new();
        let port = serve(browser()).await;
        home.note(profile, port, 0);
        home.finds(Wanted::Any, port, &format!("the DevToolsActivePort of {name}")).await;
    }
}

#[tokio::test]
async fn profiles_below_another_config_home() {
    let mut home = Home::new();
    let port = serve(browser()).await;
    home.note("elsewhere/google-chrome", port, 0);
    home.config_home = Some(home.path("elsewhere"));
    home.finds(Wanted::Any, port, OF_CHROME).await;
}

#[tokio::test]
async fn a_profile_folder_that_is_a_link() {
    let home = Home::new();
    let port = serve(browser()).await;
    home.note("disk/chrome", port, 0);
    fs::create_dir_all(home.path(".config")).expect("a folder");
    symlink(home.path("disk/chrome"), home.path(CHROME)).expect("a link");
    home.finds(Wanted::Any, port, OF_CHROME).await;
    home.finds(Wanted::profile(&home.path("disk/chrome")), port, OF_CHROME).await;
}

#[tokio::test]
async fn two_names_of_one_folder_are_one_browser() {
    let home = Home::new();
    let port = serve(browser()).await;
    home.note(CHROME, port, 0);
    symlink(home.path(CHROME), home.path(CHROMIUM)).expect("a link");
    home.finds(Wanted::Any, port, OF_CHROME).await;
}

#[tokio::test]
async fn another_browser_on_a_noted_port_is_not_called_by_that_profile() {
    let home = Home::new();
    let port = serve(other_browser()).await;
    home.note(CHROME, port, 0);
    let endpoint = home.finds(Wanted::Any, port, "port {port}").await;
    assert_eq!(
        (endpoint.url.expose(), endpoint.profile),
        (format!("ws://127.0.0.1:{port}/devtools/browser/other").as_str(), None)
    );
}

#[tokio::test]
async fn of_two_notes_with_one_unlisted_port_the_profile_in_use_has_it() {
    let home = Home::new();
    let port = serve_unlisted().await;
    home.note(CHROME, port, 0);
    home.crashed(CHROME);
    home.note(EDGE, port, 60);
    home.in_use(EDGE);
    home.finds(Wanted::Any, port, "the DevToolsActivePort of Microsoft Edge").await;
}

#[tokio::test]
async fn a_usual_port_with_a_version_page() {
    let mut home = Home::new();
    let port = serve(other_browser()).await;
    home.ports = vec![closed_port(), port];
    home.finds(Wanted::Any, port, "port {port}").await;
}

#[tokio::test]
async fn a_note_comes_before_a_usual_port() {
    let mut home = Home::new();
    let (noted, usual) = (serve(browser()).await, serve(other_browser()).await);
    home.note(CHROME, noted, 60);
    home.ports = vec![usual];
    let said = format!("{OF_CHROME}; also running: one on port {usual} (`ostler connect http://127.0.0.1:{usual}`)");
    home.finds(Wanted::Any, noted, &said).await;
}

#[tokio::test]
async fn a_browser_started_again_on_another_port_is_found_by_its_profile_and_no_other_is() {
    let home = Home::new();
    let (before, edge) = (serve(browser()).await, serve(browser()).await);
    home.note(CHROME, before, 60);
    let again = home.search(&Wanted::Any).await.expect("a browser").found.expect("a profile").again();

    // Meanwhile another browser runs: it is not taken for the first one.
    home.note(CHROME, closed_port(), 60);
    home.note(EDGE, edge, 0);
    let error = home.search(&again).await.expect_err("the first one is gone");
    assert!(
        error.to_string().contains("choose one that runs: Microsoft Edge (`ostler connect --browser edge`)"),
        "{error}"
    );

    let after = serve(browser()).await;
    home.note(CHROME, after, 0);
    let endpoint = home.search(&again).await.expect("found again");
    assert!(endpoint.url.expose().starts_with(&format!("ws://127.0.0.1:{after}/")));
}

#[tokio::test]
async fn a_browser_found_on_a_port_is_looked_for_on_that_port() {
    let mut home = Home::new();
    let port = serve(other_browser()).await;
    home.ports = vec![port];
    let again = home.search(&Wanted::Any).await.expect("a browser").found.expect("a port").again();
    assert_eq!(again, Wanted::Port(port));
    home.finds(again, port, "port {port}").await;
}

#[tokio::test]
async fn one_that_took_no_connection_is_passed_over() {
    let mut home = Home::new();
    let (chrome, edge) = (serve(browser()).await, serve(browser()).await);
    home.note(CHROME, chrome, 0);
    home.note(EDGE, edge, 60);
    home.nobodys = vec![Address::local(chrome).websocket_url(NOTED)];
    home.finds(Wanted::Any, edge, "the DevToolsActivePort of Microsoft Edge").await;
}

#[tokio::test]
async fn one_that_is_open_comes_before_one_that_refuses() {
    let mut home = Home::new();
    let (asking, live) = (serve(reply("403 Forbidden", "")).await, serve(other_browser()).await);
    home.note(CHROME, asking, 0);
    home.ports = vec![live];
    home.finds(Wanted::Any, live, "port {port}").await;
}

// Why none is found.

#[tokio::test]
async fn nothing_at_all() {
    let mut home = Home::new();
    home.ports = vec![closed_port(), closed_port()];
    let [one, two] = home.ports[..] else { unreachable!() };
    let said = format!(
        "no running browser to connect to; looked at the known profile folders (none holds a DevToolsActivePort) and at the ports {one}, {two}: {START}"
    );
    assert!(home.fails(Wanted::Any, &said).await.may_pass());
}

#[tokio::test]
async fn notes_that_are_left_over() {
    let home = Home::new();
    let port = closed_port();
    home.note(CHROME, port, 0);
    home.crashed(CHROME);
    let said = format!(
        "no running browser to connect to; looked at the DevToolsActivePort of Google Chrome (port {port}) (left over: no browser answers there): {START}"
    );
    home.fails(Wanted::Any, &said).await;
}

#[tokio::test]
async fn something_else_has_got_the_noted_port() {
    for answer in [
        reply("200 OK", "a web page"),
        reply("404 Not Found", ""),
        reply("302 Found", ""),
        reply("500 Internal Server Error", ""),
        reply("200 OK", r#"{"Browser": "", "webSocketDebuggerUrl": "ws://x/devtools/browser/noted"}"#),
        Some("SSH-2.0\r\n".to_owned()),
        Some(String::new()),
        None,
    ] {
        let home = Home::new();
        let port = serve(answer).await;
        home.note(CHROME, port, 0);
        let said = format!(
            "no running browser to connect to; looked at the DevToolsActivePort of Google Chrome (port {port}) (left over: no browser answers there): {START}"
        );
        home.fails(Wanted::Any, &said).await;
    }
}

#[tokio::test]
async fn a_note_that_is_none() {
    for note in ["", "9222", "garbage", "0\n/devtools/browser/x", "9222\n/other"] {
        let home = Home::new();
        record(home.folder.path(), CHROME, note);
        let error = home.search(&Wanted::Any).await.expect_err("no note");
        assert!(error.to_string().contains("none holds a DevToolsActivePort"), "{error}");
    }
}

#[tokio::test]
async fn a_link_that_leads_nowhere_or_in_a_circle() {
    let home = Home::new();
    fs::create_dir_all(home.path(".config")).expect("a folder");
    symlink(home.path("gone"), home.path(CHROME)).expect("a link");
    let error = home.search(&Wanted::Any).await.expect_err("nothing there");
    assert!(matches!(error, EndpointError::NothingFound { .. }), "{error}");

    symlink(home.path(EDGE), home.path(EDGE)).expect("a link");
    let error = home.search(&Wanted::Any).await.expect_err("nothing there");
    assert!(matches!(error, EndpointError::Unreadable { .. }), "{error}");
}

#[tokio::test]
async fn debugging_is_off_in_a_browser_that_runs() {
    let home = Home::new();
    home.in_use(CHROME);
    let said = format!(
        "Google Chrome runs (pid PID), and its remote debugging is off: {INSPECT}, or start a browser of ostler's own with `ostler connect --launch`"
    );
    assert!(!home.fails(Wanted::Any, &said).await.may_pass());
}

#[tokio::test]
async fn debugging_was_switched_off_and_the_note_stayed() {
    let home = Home::new();
    home.in_use(CHROME);
    home.allowed(CHROME, false);
    home.note(CHROME, closed_port(), 0);
    let error = home.search(&Wanted::Any).await.expect_err("it is off");
    assert!(matches!(error, EndpointError::DebuggingOff { .. }), "{error}");
}

#[tokio::test]
async fn debugging_is_off_in_a_browser_that_is_shut_in() {
    let home = Home::new();
    home.in_use(SNAP);
    let said = format!(
        "Chromium (Snap) runs (pid PID) shut in with its own folders, and its remote debugging is off: {INSPECT}; started with --remote-debugging-port it needs a --user-data-dir below ~/{SNAP}, since it reaches no other"
    );
    home.fails(Wanted::Any, &said).await;
}

#[tokio::test]
async fn the_port_of_a_browser_that_runs_is_blocked() {
    let home = Home::new();
    let port = closed_port();
    home.in_use(CHROME);
    home.allowed(CHROME, true);
    home.note(CHROME, port, 0);
    let said = format!(
        "Google Chrome (pid PID) says that it listens on port {port}, and nothing is reached there (connection refused): switch its remote debugging off and on again; if that changes nothing, look for a firewall, or for a container or sandbox around one of the two, and run ostler where the browser runs"
    );
    assert!(home.fails(Wanted::Any, &said).await.may_pass());
}

#[tokio::test]
async fn a_browser_that_runs_takes_the_connection_and_says_nothing() {
    let home = Home::new();
    let port = serve(None).await;
    home.in_use(CHROME);
    home.note(CHROME, port, 0);
    let said = format!(
        "127.0.0.1:{port} took the connection but did not answer in time: restart the browser, or check that host and port are right"
    );
    home.fails(Wanted::Any, &said).await;
}

#[tokio::test]
async fn a_browser_that_refuses_is_waiting_for_its_person() {
    let home = Home::new();
    let port = serve(reply("403 Forbidden", "")).await;
    home.note(CHROME, port, 0);
    let said = format!(
        "the browser at 127.0.0.1:{port} asks whether it may be debugged: click Allow in the browser's window; the connection then goes on by itself"
    );
    assert!(home.fails(Wanted::Any, &said).await.may_pass());
}

#[tokio::test]
async fn an_unlisted_browser_whose_profile_nobody_knows() {
    let mut home = Home::new();
    let port = serve_unlisted().await;
    home.ports = vec![port];
    let said = format!(
        "127.0.0.1:{port} has no /json/version, and no known profile folder records that port: name the browser's profile folder with `ostler connect --profile`, or set BU_CDP_WS to ws://, the host and port, then the second line of DevToolsActivePort in that folder"
    );
    home.fails(Wanted::Any, &said).await;
}

#[tokio::test]
async fn a_named_browser_does_not_run_and_another_does() {
    let home = Home::new();
    home.note(CHROME, serve(browser()).await, 0);
    home.fails(named("edge"), "no running edge to connect to; looked at the known profile folders (none holds a DevToolsActivePort): start it with remote debugging on, or choose one that runs: Google Chrome (`ostler connect --browser chrome`)").await;
}

#[tokio::test]
async fn a_named_browser_runs_without_debugging_and_another_with_it() {
    let home = Home::new();
    home.note(CHROME, serve(browser()).await, 0);
    home.in_use(EDGE);
    let error = home.search(&named("edge")).await.expect_err("it is off");
    assert!(error.to_string().starts_with("Microsoft Edge runs (pid "), "{error}");
}

#[tokio::test]
async fn a_named_profile_without_a_note() {
    let home = Home::new();
    fs::create_dir(home.path("empty")).expect("a folder");
    let said = format!(
        "no running browser with the profile ~/empty to connect to; looked at ~/empty (no DevToolsActivePort): {START}"
    );
    home.fails(Wanted::profile(&home.path("empty")), &said).await;
}

#[tokio::test]
async fn a_lock_of_another_machine_says_nothing_of_this_one() {
    let home = Home::new();
    home.in_use(CHROME);
    let mut machine = machine(home.folder.path());
    machine.host = Some("this-one".to_owned());
    let search =
        Search { wanted: &Wanted::Any, machine: &machine, ports: &[], nobodys: &[], limits: Limits::default() };
    let error = search.run().await.expect_err("nothing runs here");
    assert!(matches!(error, EndpointError::NothingFound { .. }), "{error}");
}

/// Root may read everything, so the folder is one that nobody can read: a file stands in its place.
#[tokio::test]
async fn a_profile_that_cannot_be_looked_into() {
    let home = Home::new();
    fs::create_dir_all(home.path(".config")).expect("a folder");
    fs::write(home.path(CHROME), "no folder").expect("a file");
    home.fails(Wanted::Any, "the browser profile ~/.config/google-chrome cannot be looked into (not a directory): run ostler as the user that the browser belongs to").await;
    fs::set_permissions(home.path(CHROME), fs::Permissions::from_mode(0o000)).expect("a mode");
    assert!(unreadable(Path::new(&home.path(CHROME))).is_some());
}

// What is seen by one who only looks.

#[tokio::test]
async fn a_survey_names_every_browser_and_chooses_none() {
    let home = Home::new();
    assert!(home.survey().await.is_empty());
    let (ready, asks) = (serve(browser()).await, serve_unlisted().await);
    home.note(CHROME, ready, 0);
    home.note(EDGE, asks, 10);
    home.in_use(CHROMIUM);
    home.note(SNAP, closed_port(), 20);
    let seen = home.survey().await;
    assert_eq!(
        seen,
        [
            format!("Google Chrome (`ostler connect --browser chrome`) is ready on {ready}"),
            format!("Microsoft Edge (`ostler connect --browser edge`) asks on {asks}"),
            "Chromium runs (pid PID), and its remote debugging is off".to_owned(),
        ]
    );
}

#[tokio::test]
async fn a_survey_tells_of_a_prompt_that_is_open() {
    let mut home = Home::new();
    let port = serve(reply("403 Forbidden", "")).await;
    home.ports.push(port);
    assert_eq!(home.survey().await, [format!("the browser at 127.0.0.1:{port} asks whether it may be debugged")]);
}
