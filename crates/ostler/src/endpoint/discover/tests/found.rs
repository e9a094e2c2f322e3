//! What is found, and by which of several ways.

use super::*;

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
    let both = "the DevToolsActivePort of Microsoft Edge; also running when it was found: Google Chrome (`ostler connect --browser chrome`)";
    home.finds(Wanted::Any, edge, both).await;
}

#[tokio::test]
async fn one_of_two_is_chosen_by_name() {
    let home = Home::new();
    let (chrome, edge) = (serve(browser()).await, serve(browser()).await);
    home.note(CHROME, chrome, 5);
    home.note(EDGE, edge, 60);
    let both = "the DevToolsActivePort of Microsoft Edge; also running when it was found: Google Chrome (`ostler connect --browser chrome`)";
    home.finds(named("edge"), edge, both).await;
}

#[tokio::test]
async fn one_edition_of_two_is_chosen_by_its_full_name() {
    let home = Home::new();
    let (stable, beta) = (serve(browser()).await, serve(browser()).await);
    home.note(CHROME, stable, 5);
    home.note(".config/google-chrome-beta", beta, 60);
    let endpoint = home.search(&named("google chrome beta")).await;
    let said = "the DevToolsActivePort of Google Chrome Beta; also running when it was found: Google Chrome (`ostler connect --browser chrome`)";
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
    let said = format!(
        "{OF_CHROME}; also running when it was found: one on port {usual} (`ostler connect http://127.0.0.1:{usual}`)"
    );
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
    let (asking, live) = (serve_asking().await, serve(other_browser()).await);
    home.note(CHROME, asking, 0);
    home.ports = vec![live];
    home.finds(Wanted::Any, live, "port {port}").await;
}
