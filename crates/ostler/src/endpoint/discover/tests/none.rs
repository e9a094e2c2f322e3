//! Why none is found: each reason has a sentence of its own.

use super::*;

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
async fn a_profile_that_is_no_folder_or_holds_no_real_note() {
    let home = Home::new();
    let folder = home.path("elsewhere");
    let wanted = || Wanted::Profile(folder.clone());
    let said =
        |home: &Home, error: EndpointError| error.happened().replace(&home.folder.path().display().to_string(), "~");
    let error = home.search(&wanted()).await.expect_err("not there");
    assert!(said(&home, error).ends_with("looked at ~/elsewhere, which is no folder"));
    let note = folder.join("DevToolsActivePort");
    fs::create_dir_all(&note).expect("a folder");
    let error = home.search(&wanted()).await.expect_err("a folder for a note");
    assert!(said(&home, error).ends_with("~/elsewhere (its DevToolsActivePort is not what a browser writes)"));

    record(home.folder.path(), CHROME, "garbage");
    let error = home.search(&Wanted::Any).await.expect_err("a broken note");
    let said = said(&home, error);
    assert!(said.contains(&format!("the DevToolsActivePort in ~/{CHROME} (not what a browser writes)")), "{said}");
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
        assert!(error.to_string().contains("(not what a browser writes)"), "{error}");
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
async fn a_browser_that_was_started_again_has_not_come_to_listen_yet() {
    let home = Home::new();
    home.in_use(CHROME);
    home.allowed(CHROME, true);
    // The note of the one before.
    home.note(CHROME, closed_port(), 60);
    let said = format!(
        "Google Chrome (pid PID) has been started just now, and does not listen for debugging yet: try again in some seconds; if it still does not listen then, {INSPECT}"
    );
    assert!(home.fails(Wanted::Any, &said).await.passes());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_browser_that_was_killed_and_not_taken_note_of_is_no_browser_that_runs() {
    let home = Home::new();
    let mut killed = Command::new("true").spawn().expect("true runs");
    home.in_use_by(CHROME, killed.id());
    home.note(CHROME, closed_port(), 0);
    while !fs::read_to_string(format!("/proc/{}/stat", killed.id())).expect("ours").contains(") Z ") {
        tokio::task::yield_now().await;
    }
    let error = home.search(&Wanted::Any).await.expect_err("it is dead");
    assert!(matches!(error, EndpointError::NothingFound { .. }), "{error}");
    killed.wait().expect("ours");
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
    let port = serve_asking().await;
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
    let (wanted, limits, stranger) = (&Wanted::Any, Limits::default(), |_| None);
    let search = Search { wanted, machine: &machine, ports: &[], nobodys: &[], limits, stranger };
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

#[tokio::test]
async fn the_browser_of_another_user_is_named_and_not_taken() {
    let mut home = Home::new();
    let port = serve(browser()).await;
    (home.ports, home.stranger) = (vec![port], |_| Some(1001));
    let one = format!("one on port {port} of another user (uid 1001) (`ostler connect http://127.0.0.1:{port}`)");
    let said = home.search(&Wanted::Any).await.expect_err("nobody asked for that one").to_string();
    assert!(said.contains(&format!("choose one that runs: {one}")), "{said}");
    assert_eq!(home.survey().await, [format!("{one} is ready on {port}")]);
    // Whoever had it, by asking for it, finds it again.
    home.finds(Wanted::Port(port), port, "port {port}").await;
}

#[tokio::test]
async fn a_server_on_a_usual_port_that_refuses_everybody_is_no_browser_that_asks() {
    let mut home = Home::new();
    home.ports = vec![serve(reply("403 Forbidden", "")).await];
    let error = home.search(&Wanted::Any).await.expect_err("no browser");
    assert!(matches!(error, EndpointError::NothingFound { .. }), "{error}");
    assert_eq!(home.survey().await, Vec::<String>::new());
}
