//! Real processes: that a browser starts, and that nothing of it is left, however its daemon goes.
//!
//! The guard of these tests is this test binary again, told to run [`guard_process`] alone.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use super::super::devtools_port::tests::machine;
use super::super::version_page::{Limits, VersionPage};
use super::*;

/// Far more than anything here takes; reached only by a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays a browser: writes its note into the profile, then lives on in a process and a child.
const FAKE: &str = r#"profile="${1#--user-data-dir=}"
printf '4242\n/devtools/browser/fake' > "$profile/new" && mv "$profile/new" "$profile/DevToolsActivePort"
sleep 1000 & wait"#;

#[test]
#[ignore = "the guard of the other tests, started by them"]
fn guard_process() {
    let args = after_dashes();
    if !args.is_empty() {
        assert!(guard_main(args) == ExitCode::SUCCESS);
    }
}

/// A daemon to kill: launches a browser as the arguments say, tells its process and profile, and waits for its end.
#[tokio::test]
#[ignore = "the daemon of the other tests, started by them"]
async fn daemon_process() {
    let args = after_dashes();
    let [temp, program, flags @ ..] = args.as_slice() else {
        return;
    };
    let flags: Vec<_> = flags.iter().map(|flag| flag.to_string_lossy().into_owned()).collect();
    let endpoint =
        launch_program(Path::new(program), &flags, &options(), &machine(Path::new(temp))).await.expect("it launches");
    let launched = ours(endpoint);
    let _ = writeln!(std::io::stderr(), "{}", launched.browser().as_raw_nonzero());
    std::future::pending::<()>().await;
}

fn ours(endpoint: Endpoint) -> Launched {
    match endpoint.owned {
        Some(Owned::Launched(launched)) => *launched,
        other => unreachable!("it is launched: {other:?}"),
    }
}

fn after_dashes() -> Vec<OsString> {
    std::env::args_os().skip_while(|arg| arg != "--").skip(1).collect()
}

/// The command that runs one of the two processes above.
fn this_binary(test: &str) -> GuardCommand {
    let args = ["--quiet", "--ignored", "--nocapture", "--test-threads=2", "--exact"];
    let name = format!("{}::{test}", module_path!().split_once("::").expect("a module of this crate").1);
    GuardCommand {
        program: std::env::current_exe().expect("the test binary"),
        args: args.into_iter().map(OsString::from).chain([name.into()]).collect(),
    }
}

fn options() -> LaunchOptions {
    LaunchOptions { guard: this_binary("guard_process"), deadline: PATIENCE, ..LaunchOptions::default() }
}

/// Launches a shell script in place of a browser; its `$1` is the profile flag.
async fn launch_script(script: &str, temp: &TempDir, deadline: Duration) -> Result<Launched, EndpointError> {
    let flags = ["-c", script, "fake-browser"].map(str::to_owned);
    let options = LaunchOptions { deadline, ..options() };
    let endpoint = launch_program(Path::new("/bin/sh"), &flags, &options, &machine(temp.path())).await?;
    Ok(ours(endpoint))
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("a folder").next().is_none()
}

fn group_is_gone(leader: Pid) -> bool {
    test_kill_process_group(leader).is_err()
}

/// Says whether any process names this folder on its command line, in whichever group.
async fn is_named_by_a_process(folder: &Path) -> bool {
    let listing = Command::new("ps").args(["-eo", "args"]).output().await.expect("ps runs");
    String::from_utf8_lossy(&listing.stdout).contains(folder.to_str().expect("a plain path"))
}

async fn nothing_is_left(temp: &TempDir, browser: Pid) {
    let gone = async {
        while !(is_empty(temp.path()) && group_is_gone(browser) && !is_named_by_a_process(temp.path()).await) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("processes and profile go");
}

#[tokio::test]
async fn chromium_launches_answers_and_stops_without_a_trace() {
    let temp = tempfile::tempdir().expect("a folder");
    let mut machine = machine(temp.path());
    machine.search_path = std::env::var_os("PATH").unwrap_or_default();
    let calm = ["--disable-gpu", "--disable-quic"].map(str::to_owned).to_vec();
    let options = LaunchOptions { extra_flags: calm, ..options() };

    let endpoint = launch(&options, &machine).await.expect("Chromium is installed and starts");
    assert_eq!(endpoint.kind, BrowserKind::Local);
    let url: ureq::http::Uri = endpoint.url.expose().parse().expect("a URL");
    let address = Address::local(url.port_u16().expect("a port"));
    let page = VersionPage::fetch(&address, Limits::default()).await.expect("it answers");
    assert_eq!(page, VersionPage::Browser { path: url.path().to_owned() });
    let launched = ours(endpoint);
    assert!(launched.profile().is_dir() && is_named_by_a_process(temp.path()).await);

    let browser = launched.browser();
    launched.stop().await;
    assert!(group_is_gone(browser));
    assert!(is_empty(temp.path()));
    assert!(!is_named_by_a_process(temp.path()).await);
}

#[tokio::test]
async fn a_killed_daemon_leaves_no_chromium_and_no_profile() {
    let temp = tempfile::tempdir().expect("a folder");
    let mut machine = machine(temp.path());
    machine.search_path = std::env::var_os("PATH").unwrap_or_default();
    let program = executable::find(&machine).expect("Chromium is installed");
    let flags = flags(&LaunchOptions { extra_flags: vec!["--disable-gpu".to_owned()], ..options() });
    killed_daemon_leaves_nothing(&temp, &program, &flags).await;
}

#[tokio::test]
async fn a_killed_daemon_leaves_no_stubborn_browser_either() {
    let temp = tempfile::tempdir().expect("a folder");
    let script = format!("trap '' TERM\n{FAKE}");
    let flags = ["-c", &script, "fake-browser"].map(str::to_owned);
    killed_daemon_leaves_nothing(&temp, Path::new("/bin/sh"), &flags).await;
}

async fn killed_daemon_leaves_nothing(temp: &TempDir, program: &Path, flags: &[String]) {
    let GuardCommand { program: this, args } = this_binary("daemon_process");
    let mut daemon = Command::new(this)
        .args(args)
        .arg("--")
        .args([temp.path(), program])
        .args(flags)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the daemon starts");
    let mut lines = BufReader::new(daemon.stderr.take().expect("piped")).lines();
    let browser = async {
        while let Some(line) = lines.next_line().await.expect("readable") {
            // The daemon's log may come before it.
            if let Some(browser) = line.parse().ok().and_then(Pid::from_raw) {
                return browser;
            }
        }
        unreachable!("the daemon tells its browser before it ends");
    };
    let browser = timeout(PATIENCE, browser).await.expect("it launches");
    assert!(!group_is_gone(browser) && !is_empty(temp.path()));

    daemon.kill().await.expect("it is killed");
    nothing_is_left(temp, browser).await;
}

#[tokio::test]
async fn a_browser_that_ignores_the_polite_signal_is_killed_with_its_children() {
    let temp = tempfile::tempdir().expect("a folder");
    let script = format!("trap '' TERM\n{FAKE}");
    let launched = launch_script(&script, &temp, PATIENCE).await.expect("it launches");
    let browser = launched.browser();
    launched.stop().await;
    assert!(group_is_gone(browser) && is_empty(temp.path()));
}

#[tokio::test]
async fn dropping_ends_the_browser() {
    let temp = tempfile::tempdir().expect("a folder");
    let launched = launch_script(FAKE, &temp, PATIENCE).await.expect("it launches");
    let browser = launched.browser();
    drop(launched);
    nothing_is_left(&temp, browser).await;
}

#[tokio::test]
async fn a_signal_to_the_guard_ends_the_browser_in_good_order() {
    let temp = tempfile::tempdir().expect("a folder");
    let launched = launch_script(FAKE, &temp, PATIENCE).await.expect("it launches");
    kill_process(launched.guard_process(), Signal::TERM).expect("the guard lives");
    nothing_is_left(&temp, launched.browser()).await;
}

#[tokio::test]
async fn a_killed_guard_is_stood_in_for() {
    let temp = tempfile::tempdir().expect("a folder");
    let launched = launch_script(FAKE, &temp, PATIENCE).await.expect("it launches");
    let browser = launched.browser();
    kill_process(launched.guard_process(), Signal::KILL).expect("the guard lives");
    launched.stop().await;
    nothing_is_left(&temp, browser).await;
}

#[tokio::test]
async fn an_early_end_carries_what_the_browser_said() {
    let temp = tempfile::tempdir().expect("a folder");
    let script = "echo 'error while loading shared libraries: libnss3.so' >&2; exit 127";
    let error = launch_script(script, &temp, PATIENCE).await.expect_err("it ends");
    let text = error.to_string();
    assert!(text.contains("libnss3.so") && text.contains("127"), "{text}");
    assert!(!error.may_pass() && is_empty(temp.path()));
}

#[tokio::test]
async fn a_script_that_starts_a_browser_and_goes_is_told_from_one_that_fails() {
    let temp = tempfile::tempdir().expect("a folder");
    for (script, word) in [("sleep 1000 & exit 0", "have the script `exec` it"), ("exit 3", "install what it misses")] {
        let error = launch_script(script, &temp, PATIENCE).await.expect_err("it ended");
        assert!(error.to_string().contains(word), "{error}");
        assert!(is_empty(temp.path()), "and what it started has gone");
    }
}

#[tokio::test]
async fn an_executable_that_is_not_there_is_named() {
    let temp = tempfile::tempdir().expect("a folder");
    let options = LaunchOptions { executable: Some(PathBuf::from("/no/such/browser")), ..options() };
    let error = launch(&options, &machine(temp.path())).await.expect_err("there is none");
    assert!(matches!(error, EndpointError::NotStarted { .. }) && !error.may_pass(), "{error}");
    assert!(error.to_string().contains("/no/such/browser could not be started (No such file"), "{error}");
    assert!(is_empty(temp.path()));
}

#[tokio::test]
async fn a_folder_that_takes_no_profile_is_named_with_the_variable_that_chose_it() {
    let temp = tempfile::tempdir().expect("a folder");
    let machine = machine(&temp.path().join("none"));
    let error = launch_program(Path::new("/bin/true"), &[], &options(), &machine).await.expect_err("no place");
    let said = error.to_string();
    assert!(
        said.contains(&format!("its profile cannot be made in {}", machine.temp.display())) && said.contains("TMPDIR"),
        "{said}"
    );
}

#[test]
fn a_browser_is_what_was_asked_for_if_nothing_that_was_named_differs() {
    let temp = tempfile::tempdir().expect("a folder");
    let (machine, none) = (machine(temp.path()), LaunchOptions::default);
    let flags = |flags: &[&str]| flags.iter().map(|&flag| flag.to_owned()).collect::<Vec<_>>();
    let held = LaunchOptions {
        headed: Some(true),
        extra_flags: flags(&["--a", "--b=1"]),
        profile: Some("/p/work".into()),
        executable: Some("/opt/c".into()),
        ..none()
    };
    for asked in [
        none(),
        LaunchOptions { headed: Some(true), ..none() },
        LaunchOptions { extra_flags: flags(&["--b=1"]), ..none() },
        LaunchOptions { profile: Some("/p/work".into()), executable: Some("/opt/c".into()), ..none() },
    ] {
        assert!(held.satisfy(&asked, &machine), "{asked:?}");
    }
    for asked in [
        LaunchOptions { headed: Some(false), ..none() },
        LaunchOptions { extra_flags: flags(&["--a", "--b=2"]), ..none() },
        LaunchOptions { profile: Some("/p/home".into()), ..none() },
        LaunchOptions { executable: Some("/opt/d".into()), ..none() },
    ] {
        assert!(!held.satisfy(&asked, &machine), "{asked:?}");
    }
    assert!(!none().satisfy(&LaunchOptions { headed: Some(true), ..none() }, &machine), "one is without a window");
    assert!(none().start_the_same(&LaunchOptions { headed: Some(false), ..none() }) && !none().start_the_same(&held));
}

#[tokio::test]
async fn a_browser_that_never_listens_is_given_up_and_taken_down() {
    let temp = tempfile::tempdir().expect("a folder");
    let error = launch_script("sleep 1000 & wait", &temp, Duration::from_millis(500)).await.expect_err("too late");
    assert!(matches!(error, EndpointError::LaunchTimedOut { .. }) && error.may_pass(), "{error}");
    let gone = async {
        while !is_empty(temp.path()) || is_named_by_a_process(temp.path()).await {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("processes and profile go");
}
