//! Native dialogs: who hears, who may answer, what is blocked, how they end.

mod support;

use std::time::Duration;

use ostler_mock::{Answer, Dialog, Frame, MockBrowser, Page, RemovalOrder};
use serde_json::{Value, json};
use support::{Client, End, supervisor};

const OPENING: &str = "Page.javascriptDialogOpening";
const CLOSED: &str = "Page.javascriptDialogClosed";
const ANSWER: &str = "Page.handleJavaScriptDialog";

struct Scene {
    browser: MockBrowser,
    page: Page,
    oopif: Frame,
    client: Client,
    root: String,
    oopif_session: String,
}

/// A page with a running OOPIF, both set up, and all that was said about that read away.
async fn scene() -> Scene {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    let root = client.set_up_next().await;
    let oopif = page.main_frame().add_oopif("https://ads.example.net/");
    let oopif_session = client.set_up_next().await;
    client.call(Some(&oopif_session), "Runtime.runIfWaitingForDebugger", json!({})).await;
    client.catch_up().await;
    Scene { browser, page, oopif, client, root, oopif_session }
}

fn expression(text: &str) -> Value {
    json!({"expression": text})
}

#[tokio::test]
async fn a_dialog_is_told_on_the_root_alone_with_the_frame_that_opened_it() {
    let mut scene = scene().await;
    for frame in [scene.page.main_frame(), scene.oopif.clone()] {
        let dialog = frame.open_dialog(Dialog::prompt("Name?", "Ann"));
        let messages = scene.client.everything().await;
        assert_eq!(messages.len(), 1, "{messages:#?}");
        assert_eq!(messages[0]["sessionId"], scene.root.as_str());
        let params = &messages[0]["params"];
        assert_eq!(params["frameId"], frame.id().as_str());
        assert_eq!(params["type"], "prompt");
        assert_eq!((&params["message"], &params["defaultPrompt"]), (&json!("Name?"), &json!("Ann")));

        let accept = json!({"accept": true, "promptText": "Bob"});
        scene.client.call(Some(&scene.root), ANSWER, accept).await;
        let closed = scene.client.event(CLOSED).await;
        let params = json!({"frameId": frame.id().as_str(), "result": true, "userInput": "Bob"});
        assert_eq!(closed["params"], params);
        let text = Some("Bob".to_owned());
        assert_eq!(dialog.answer().await, Answer { accepted: true, text });
    }
}

#[tokio::test]
async fn a_message_is_cut_and_a_default_text_is_not() {
    let mut scene = scene().await;
    let long = "ä".repeat(20_000);
    let dialog = scene.page.main_frame().open_dialog(Dialog::prompt(&long, &long));
    let opening = scene.client.event(OPENING).await;
    let length = |field: &str| opening["params"][field].as_str().map(|text| text.chars().count());
    assert_eq!((length("message"), length("defaultPrompt")), (Some(10_240), Some(20_000)));
    drop(dialog);
}

#[tokio::test]
async fn only_the_root_answers_and_only_what_is_showing() {
    let mut scene = scene().await;
    let dismiss = json!({"accept": false});
    let none = (-32602, "No dialog is showing".to_owned());
    assert_eq!(scene.client.refused(Some(&scene.root), ANSWER, dismiss.clone()).await, none);
    let dialog = scene.oopif.open_dialog(Dialog::confirm("Sure?"));
    let refused = scene.client.refused(Some(&scene.oopif_session), ANSWER, dismiss.clone()).await;
    assert_eq!(refused, (-32000, "Command can only be executed on top-level targets".to_owned()));
    scene.client.call(Some(&scene.root), ANSWER, dismiss).await;
    assert!(!dialog.answer().await.accepted);
}

#[tokio::test]
async fn an_evaluation_that_asks_is_answered_after_the_one_who_answers() {
    let mut scene = scene().await;
    for (script, answer, value) in [
        ("confirm(\"Sure?\")", json!({"accept": true}), json!({"type": "boolean", "value": true})),
        ("alert(\"Hi\")", json!({"accept": true}), json!({"type": "undefined"})),
        ("prompt(\"Name?\", \"Ann\")", json!({"accept": true}), json!({"type": "string", "value": ""})),
        ("prompt(\"Name?\")", json!({"accept": false}), json!({"type": "object", "subtype": "null", "value": null})),
    ] {
        let asked = scene.client.send(Some(&scene.root), "Runtime.evaluate", expression(script)).await;
        scene.client.event(OPENING).await;
        let answered = scene.client.send(Some(&scene.root), ANSWER, answer).await;
        let messages = scene.client.everything().await;
        let told: Vec<_> = messages.iter().map(support::in_short).collect();
        assert_eq!(told, [CLOSED.to_owned(), format!("reply {answered}"), format!("reply {asked}")]);
        assert_eq!(messages[2]["result"]["result"], value, "{script}");
    }
}

#[tokio::test]
async fn a_dialog_blocks_its_process_and_no_other() {
    let mut scene = scene().await;
    let _dialog = scene.oopif.open_dialog(Dialog::alert("Hi"));
    scene.client.event(OPENING).await;
    let (root, oopif) = (scene.root.clone(), scene.oopif_session.clone());
    let blocked = scene.client.send(Some(&oopif), "Runtime.evaluate", expression("1")).await;
    scene.client.call(Some(&oopif), "Page.getNavigationHistory", json!({})).await;
    assert_eq!(scene.client.evaluate(&root, "2").await["value"], 2);
    assert_eq!(scene.client.story().await, [""; 0]);

    scene.client.call(Some(&root), ANSWER, json!({"accept": true})).await;
    let reply = scene.client.reply_to(blocked).await;
    assert_eq!(reply["result"]["result"]["value"], 1);
}

#[tokio::test]
async fn input_is_answered_under_a_dialog_unless_it_scrolls() {
    let mut scene = scene().await;
    let _dialog = scene.page.main_frame().open_dialog(Dialog::alert("Hi"));
    let root = scene.root.clone();
    let input = |kind: &str| json!({"type": kind, "x": 1, "y": 1});
    scene.client.call(Some(&root), "Input.dispatchMouseEvent", input("mousePressed")).await;
    scene.client.send(Some(&root), "Input.dispatchMouseEvent", input("mouseWheel")).await;
    assert_eq!(scene.client.story().await, [OPENING]);
}

#[tokio::test]
async fn a_click_that_opens_a_dialog_is_answered_once_it_is_closed() {
    let mut scene = scene().await;
    let click = "Input.dispatchMouseEvent";
    scene.browser.script().open_dialog_on(click, Dialog::confirm("Delete?"));
    let root = scene.root.clone();
    let clicked = scene.client.send(Some(&root), click, json!({"type": "mouseReleased"})).await;
    assert_eq!(scene.client.story().await, [OPENING]);
    scene.client.call(Some(&root), ANSWER, json!({"accept": true})).await;
    assert_eq!(scene.client.reply_to(clicked).await["result"], json!({}));
    // Only that one click opened a dialog.
    scene.client.call(Some(&root), click, json!({"type": "mouseReleased"})).await;
}

#[tokio::test]
async fn the_first_of_two_clients_answers_and_both_hear_of_it() {
    let mut scene = scene().await;
    let mut other = supervisor(&scene.browser.ws_url()).await;
    let others_root = other.set_up_next().await;
    other.catch_up().await;
    let dialog = scene.page.main_frame().open_dialog(Dialog::confirm("Sure?"));
    other.call(Some(&others_root), ANSWER, json!({"accept": true})).await;
    let late = scene.client.refused(Some(&scene.root), ANSWER, json!({"accept": false})).await;
    assert_eq!(late, (-32602, "No dialog is showing".to_owned()));
    assert_eq!(scene.client.event(CLOSED).await["params"]["result"], true);
    assert_eq!(other.event(CLOSED).await["params"]["result"], true);
    assert!(dialog.answer().await.accepted);
}

#[tokio::test]
async fn a_proxy_dismisses_dialogs_by_itself() {
    let mut scene = scene().await;
    scene.browser.script().dismiss_dialogs_after(Duration::from_millis(10));
    let dialog = scene.oopif.open_dialog(Dialog::prompt("Name?", "Ann"));
    scene.client.event(OPENING).await;
    assert_eq!(scene.client.event(CLOSED).await["params"]["result"], false);
    assert_eq!(dialog.answer().await, Answer { accepted: false, text: None });

    scene.browser.script().leave_dialogs_open();
    let dialog = scene.oopif.open_dialog(Dialog::confirm("Sure?"));
    scene.client.event(OPENING).await;
    dialog.answer_as_other_client(true);
    assert!(dialog.answer().await.accepted);
}

#[tokio::test]
async fn leaving_or_closing_the_page_closes_its_dialog() {
    let mut scene = scene().await;
    let root = scene.root.clone();
    let asked = scene.client.send(Some(&root), "Runtime.evaluate", expression("alert(\"Hi\")")).await;
    scene.client.event(OPENING).await;
    let next = json!({"url": "https://example.com/next"});
    scene.client.call(Some(&root), "Page.navigate", next).await;
    assert_eq!(scene.client.event(CLOSED).await["params"]["result"], false);
    assert_eq!(scene.client.reply_to(asked).await["error"]["code"], -32000);

    let dialog = scene.page.main_frame().open_dialog(Dialog::alert("Hi"));
    scene.client.call(None, "Target.closeTarget", json!({"targetId": scene.page.id().as_str()})).await;
    scene.client.event(CLOSED).await;
    assert!(!dialog.answer().await.accepted);
}

#[tokio::test]
async fn beforeunload_decides_whether_a_navigation_goes_on() {
    let mut scene = scene().await;
    let root = scene.root.clone();
    let next = json!({"url": "https://example.com/next"});
    for (accept, url) in [(false, "https://example.com/"), (true, "https://example.com/next")] {
        scene.page.guard_unload();
        let asked = scene.client.send(Some(&root), "Page.navigate", next.clone()).await;
        let opening = scene.client.event(OPENING).await;
        assert_eq!(opening["params"]["type"], "beforeunload");
        scene.client.call(Some(&root), ANSWER, json!({"accept": accept})).await;
        let reply = scene.client.reply_to(asked).await;
        assert_eq!(reply["result"].get("errorText").is_none(), accept, "{reply}");
        assert_eq!(scene.page.url(), url);
    }
}

#[tokio::test]
async fn page_close_asks_beforeunload_and_close_target_does_not() {
    let mut scene = scene().await;
    scene.page.guard_unload();
    let root = scene.root.clone();
    scene.client.call(Some(&root), "Page.close", json!({})).await;
    scene.client.event(OPENING).await;
    scene.client.call(Some(&root), ANSWER, json!({"accept": false})).await;
    assert!(scene.page.exists());
    scene.client.catch_up().await;
    scene.client.call(None, "Target.closeTarget", json!({"targetId": scene.page.id().as_str()})).await;
    assert!(!scene.client.story().await.contains(&OPENING.to_owned()));
    assert!(!scene.page.exists());
}

#[tokio::test]
async fn a_dialog_that_nobody_saw_open_can_only_be_left() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let _dialog = page.main_frame().open_dialog(Dialog::alert("Hi"));
    let mut client = supervisor(&browser.ws_url()).await;
    let attached = client.event("Target.attachedToTarget").await;
    let session = support::text(&attached["params"]["sessionId"]);
    client.catch_up().await;
    client.send(Some(&session), "Page.enable", json!({})).await;
    client.send(Some(&session), "Runtime.evaluate", expression("1")).await;
    client.call(Some(&session), "Page.getNavigationHistory", json!({})).await;
    let refused = client.refused(Some(&session), ANSWER, json!({"accept": true})).await;
    assert_eq!(refused.0, -32602);
    assert_eq!(client.story().await, [""; 0]);
    client.call(Some(&session), "Page.reload", json!({})).await;
    client.call(Some(&session), "Runtime.evaluate", expression("1")).await;
}

#[tokio::test]
async fn a_dialog_over_another_processs_dialog_dismisses_the_first_and_cannot_be_answered() {
    let mut scene = scene().await;
    let first = scene.page.main_frame().open_dialog(Dialog::confirm("First"));
    let second = scene.oopif.open_dialog(Dialog::confirm("Second"));
    let messages = scene.client.everything().await;
    let told: Vec<_> = messages.iter().map(support::in_short).collect();
    assert_eq!(told, [OPENING, OPENING, CLOSED]);
    assert_eq!(messages[2]["params"]["frameId"], scene.page.id().as_str());
    assert!(!first.answer().await.accepted);
    let refused = scene.client.refused(Some(&scene.root), ANSWER, json!({"accept": true})).await;
    assert_eq!(refused.0, -32602);
    scene.page.navigate("https://example.com/next");
    assert!(!second.answer().await.accepted);
}

#[tokio::test]
async fn two_dialogs_of_one_process_come_one_after_the_other() {
    let mut scene = scene().await;
    let sibling = scene.page.main_frame().add_frame("about:srcdoc");
    scene.client.catch_up().await;
    let first = scene.page.main_frame().open_dialog(Dialog::confirm("First"));
    let second = sibling.open_dialog(Dialog::confirm("Second"));
    assert_eq!(scene.client.story().await, [OPENING]);
    for dialog in [first, second] {
        scene.client.call(Some(&scene.root), ANSWER, json!({"accept": true})).await;
        assert!(dialog.answer().await.accepted);
    }
    assert_eq!(scene.client.story().await, [CLOSED, OPENING, CLOSED]);
}

#[tokio::test]
async fn touching_a_dialog_whose_oopif_was_removed_ends_the_browser() {
    let mut scene = scene().await;
    let _dialog = scene.oopif.open_dialog(Dialog::alert("Hi"));
    scene.oopif.remove(RemovalOrder::FrameFirst);
    let told = scene.client.story().await;
    assert!(!told.contains(&CLOSED.to_owned()), "{told:?}");
    // Harmless things stay harmless.
    assert_eq!(scene.client.evaluate(&scene.root, "1").await["value"], 1);
    scene.client.send(Some(&scene.root), ANSWER, json!({"accept": true})).await;
    assert_eq!(scene.client.end().await, End::Reset);
    assert!(Client::try_connect(&scene.browser.ws_url()).await.is_err());
}

#[tokio::test]
async fn the_way_out_of_a_lost_dialog_is_page_disable_first() {
    let mut scene = scene().await;
    let _dialog = scene.oopif.open_dialog(Dialog::alert("Hi"));
    scene.oopif.remove(RemovalOrder::SessionFirst);
    let root = scene.root.clone();
    scene.client.call(Some(&root), "Page.disable", json!({})).await;
    scene.client.call(Some(&root), "Page.reload", json!({})).await;
    scene.client.call(Some(&root), "Page.enable", json!({})).await;
    let dialog = scene.page.main_frame().open_dialog(Dialog::confirm("Again?"));
    scene.client.call(Some(&root), ANSWER, json!({"accept": true})).await;
    assert!(dialog.answer().await.accepted);
}
