//! Frames and the orders in which their events come.

mod support;

use ostler_mock::{MockBrowser, Page, RemovalOrder};
use serde_json::{Value, json};
use support::{Client, in_short, supervisor, text};

/// A browser with one page that a supervisor has set up, and all that was said about that read away.
async fn watched_page() -> (MockBrowser, Page, Client, String) {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    let session = client.set_up_next().await;
    client.catch_up().await;
    (browser, page, client, session)
}

/// Tells each message in short, with the session by name.
fn told(messages: &[Value], names: &[(&str, &str)]) -> Vec<String> {
    let tell = |message: &Value| {
        let session = message["sessionId"].as_str();
        let name = names.iter().find(|(id, _)| Some(*id) == session).map(|(_, name)| name);
        match name {
            Some(name) => format!("{name} {}", in_short(message)),
            None => in_short(message),
        }
    };
    messages.iter().map(tell).collect()
}

#[tokio::test]
async fn navigation_replies_before_the_document_commits() {
    let (_browser, page, mut client, session) = watched_page().await;
    let url = "https://example.com/next";
    let asked = client.send(Some(&session), "Page.navigate", json!({"url": url})).await;
    let messages = client.everything().await;
    assert_eq!(
        told(&messages, &[]),
        [
            "Page.frameStartedNavigating",
            "Page.frameStartedLoading",
            &format!("reply {asked}"),
            "Runtime.executionContextsCleared",
            "Page.frameNavigated",
            "Target.targetInfoChanged",
            "Runtime.executionContextCreated",
            "Page.domContentEventFired",
            "Page.loadEventFired",
            "Page.frameStoppedLoading",
        ]
    );
    assert_eq!(messages[4]["params"]["frame"]["loaderId"], messages[2]["result"]["loaderId"]);
    assert_eq!(page.url(), url);
}

#[tokio::test]
async fn a_same_process_frame_is_told_on_the_root_and_stands_in_its_tree() {
    let (_browser, page, mut client, session) = watched_page().await;
    let frame = page.main_frame().add_frame("about:srcdoc");
    let messages = client.everything().await;
    assert_eq!(
        told(&messages, &[(&session, "root")]),
        [
            "root Page.frameAttached",
            "root Page.frameNavigated",
            "root Runtime.executionContextCreated",
            "root Page.frameStoppedLoading",
        ]
    );
    let tree = client.call(Some(&session), "Page.getFrameTree", json!({})).await;
    let child = &tree["frameTree"]["childFrames"][0]["frame"];
    assert_eq!((&child["id"], &child["parentId"]), (&json!(frame.id().as_str()), &json!(page.id().as_str())));

    // Scripts run in the frame whose context is named.
    let unique = messages[2]["params"]["context"]["uniqueId"].clone();
    let params = json!({"expression": "alert(\"in here\")", "uniqueContextId": unique});
    client.send(Some(&session), "Runtime.evaluate", params).await;
    let opening = client.event("Page.javascriptDialogOpening").await;
    assert_eq!(opening["params"]["frameId"], frame.id().as_str());
}

#[tokio::test]
async fn a_frame_that_becomes_an_oopif_waits_and_is_swapped_out_last() {
    let (_browser, page, mut client, session) = watched_page().await;
    let frame = page.main_frame().add_frame("about:blank");
    client.catch_up().await;

    frame.move_out("https://ads.example.net/");
    let messages = client.everything().await;
    assert_eq!(
        told(&messages, &[(&session, "root")]),
        [
            "root Page.frameStartedNavigating",
            "root Page.frameStartedLoading",
            "Target.targetCreated",
            "Target.targetInfoChanged",
            "root Target.attachedToTarget",
        ]
    );
    let attached = &messages[4]["params"];
    assert_eq!(attached["waitingForDebugger"], true);
    let info = &attached["targetInfo"];
    assert_eq!(info["targetId"], frame.id().as_str());
    assert_eq!((&info["type"], &info["url"]), (&json!("iframe"), &json!("")));
    assert_eq!(info["parentFrameId"], page.id().as_str());

    let oopif = text(&attached["sessionId"]);
    client.set_up(&oopif).await;
    let early = client.refused(Some(&oopif), "Runtime.evaluate", json!({"expression": "1"})).await;
    assert_eq!(early, (-32000, "Cannot find default execution context".to_owned()));
    client.catch_up().await;
    let resume = client.send(Some(&oopif), "Runtime.runIfWaitingForDebugger", json!({})).await;
    let messages = client.everything().await;
    assert_eq!(
        told(&messages, &[(&session, "root"), (&oopif, "oopif")]),
        [
            "oopif Runtime.executionContextsCleared",
            "oopif Page.frameNavigated",
            "Target.targetInfoChanged",
            "oopif Runtime.executionContextCreated",
            "oopif Page.domContentEventFired",
            "oopif Page.loadEventFired",
            "oopif Page.frameStoppedLoading",
            "root Page.frameDetached",
            "root Runtime.executionContextDestroyed",
            &format!("oopif reply {resume}"),
        ]
    );
    assert_eq!(messages[1]["params"]["frame"]["parentId"], page.id().as_str());
    assert_eq!(messages[7]["params"]["reason"], "swap");

    // The root's own tree does not show it any more.
    let tree = client.call(Some(&session), "Page.getFrameTree", json!({})).await;
    assert_eq!(tree["frameTree"].get("childFrames"), None);
}

#[tokio::test]
async fn a_nested_oopif_is_attached_on_the_session_around_it() {
    let (_browser, page, mut client, _session) = watched_page().await;
    let outer = page.main_frame().add_oopif("https://a.example.net/");
    let outer_session = client.set_up_next().await;
    client.call(Some(&outer_session), "Runtime.runIfWaitingForDebugger", json!({})).await;
    let inner = outer.add_oopif("https://b.example.net/");
    let attached = client.event("Target.attachedToTarget").await;
    assert_eq!(attached["sessionId"], outer_session.as_str());
    assert_eq!(attached["params"]["targetInfo"]["parentFrameId"], outer.id().as_str());

    // It goes with the one around it, its session first.
    outer.remove(RemovalOrder::FrameFirst);
    let gone = client.event("Target.detachedFromTarget").await;
    assert_eq!(gone["params"]["targetId"], inner.id().as_str());
    let gone = client.event("Target.detachedFromTarget").await;
    assert_eq!(gone["params"]["targetId"], outer.id().as_str());
    assert!(!inner.exists() && !outer.exists());
}

/// A page with a running OOPIF, and its session.
async fn with_oopif() -> (MockBrowser, Page, ostler_mock::Frame, Client, [String; 2]) {
    let (browser, page, mut client, session) = watched_page().await;
    let frame = page.main_frame().add_oopif("https://ads.example.net/");
    let oopif = client.set_up_next().await;
    client.call(Some(&oopif), "Runtime.runIfWaitingForDebugger", json!({})).await;
    client.catch_up().await;
    (browser, page, frame, client, [session, oopif])
}

#[tokio::test]
async fn an_oopif_that_comes_home_keeps_its_frame_id() {
    let (_browser, _page, frame, mut client, [session, _]) = with_oopif().await;
    frame.move_in("https://example.com/home");
    let messages = client.everything().await;
    assert_eq!(
        told(&messages, &[(&session, "root")]),
        [
            "Target.targetInfoChanged",
            "root Target.detachedFromTarget",
            "Target.targetDestroyed",
            "root Page.frameAttached",
            "root Page.frameNavigated",
            "root Runtime.executionContextCreated",
            "root Page.frameStoppedLoading",
        ]
    );
    assert_eq!(messages[4]["params"]["frame"]["id"], frame.id().as_str());
    assert!(!frame.is_oopif());
}

#[tokio::test]
async fn a_removed_oopif_is_told_in_either_order() {
    for (order, first, second) in [
        (RemovalOrder::FrameFirst, "Page.frameDetached", "Target.detachedFromTarget"),
        (RemovalOrder::SessionFirst, "Target.detachedFromTarget", "Page.frameDetached"),
    ] {
        let (_browser, _page, frame, mut client, [session, _]) = with_oopif().await;
        frame.remove(order);
        let told = told(&client.everything().await, &[(&session, "root")]);
        let of_root: Vec<_> = told.iter().filter_map(|one| one.strip_prefix("root ")).collect();
        assert_eq!(of_root, [first, second]);
        assert!(!frame.exists());
    }
}

#[tokio::test]
async fn a_root_that_leaves_detaches_oopifs_and_says_nothing_of_its_children() {
    let (_browser, page, frame, mut client, [session, _]) = with_oopif().await;
    let inline = page.main_frame().add_frame("about:srcdoc");
    client.catch_up().await;
    page.navigate("https://example.com/next");
    let told = told(&client.everything().await, &[(&session, "root")]);
    assert_eq!(
        told[..7],
        [
            "root Page.frameStartedNavigating",
            "root Page.frameStartedLoading",
            "Target.targetInfoChanged",
            "root Target.detachedFromTarget",
            "Target.targetDestroyed",
            "root Runtime.executionContextsCleared",
            "root Page.frameNavigated",
        ]
    );
    assert!(!told.iter().any(|one| one.contains("frameDetached")), "{told:?}");
    assert!(!frame.exists() && !inline.exists());
}

#[tokio::test]
async fn an_oopif_that_navigates_keeps_its_session() {
    let (_browser, _page, frame, mut client, [_, oopif]) = with_oopif().await;
    frame.navigate("https://third.example.org/");
    let navigated = client.event("Page.frameNavigated").await;
    assert_eq!(navigated["sessionId"], oopif.as_str());
    assert_eq!(navigated["params"]["frame"]["url"], "https://third.example.org/");
    client.call(Some(&oopif), "Runtime.evaluate", json!({"expression": "1"})).await;
}

#[tokio::test]
async fn a_crashed_page_loses_its_frames_and_its_commands_until_it_is_reloaded() {
    let (_browser, page, frame, mut client, [session, _]) = with_oopif().await;
    page.crash();
    let told_so = told(&client.everything().await, &[(&session, "root")]);
    assert_eq!(
        told_so,
        [
            "root Page.frameDetached",
            "Target.targetInfoChanged",
            "root Target.detachedFromTarget",
            "Target.targetDestroyed",
            "root Inspector.targetCrashed",
            "Target.targetCrashed",
        ]
    );
    assert!(!frame.exists());

    let lost = client.send(Some(&session), "Runtime.evaluate", json!({"expression": "1"})).await;
    let reload = client.send(Some(&session), "Page.reload", json!({})).await;
    let told_so = told(&client.everything().await, &[]);
    assert!(!told_so.contains(&format!("reply {lost}")), "{told_so:?}");
    assert_eq!(told_so[2..4], [format!("reply {reload}"), "Inspector.targetReloadedAfterCrash".to_owned()]);
    assert_eq!(client.evaluate(&session, "1").await["value"], 1);
}

#[tokio::test]
async fn a_crashed_oopif_keeps_a_session_that_answers_nothing() {
    let (_browser, page, frame, mut client, [session, oopif]) = with_oopif().await;
    frame.crash();
    let told_so = told(&client.everything().await, &[(&oopif, "oopif")]);
    assert_eq!(told_so, ["oopif Inspector.targetCrashed", "Target.targetCrashed"]);
    client.send(Some(&oopif), "Runtime.evaluate", json!({"expression": "1"})).await;
    assert_eq!(client.story().await, [""; 0]);
    assert_eq!(client.evaluate(&session, "1").await["value"], 1);
    assert!(page.exists() && frame.exists());
}
