//! The rules a test can bend.

mod support;

use std::time::Duration;

use ostler_mock::{MockBrowser, Page, Unknown};
use serde_json::{Value, json};
use support::{Client, supervisor};

async fn watched_page() -> (MockBrowser, Page, Client, String) {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    let session = client.set_up_next().await;
    client.catch_up().await;
    (browser, page, client, session)
}

#[tokio::test]
async fn a_refused_domain_does_not_exist_and_behaves_again() {
    let (browser, _page, mut client, session) = watched_page().await;
    browser.script().refuse("Debugger").answer("Debugger.pause", json!({"late": true}));
    let refused = client.refused(Some(&session), "Debugger.enable", json!({})).await;
    assert_eq!(refused, (-32601, "'Debugger.enable' wasn't found".to_owned()));
    let own_rule = client.call(Some(&session), "Debugger.pause", json!({})).await;
    assert_eq!(own_rule, json!({"late": true}));
    browser.script().behave("Debugger");
    client.call(Some(&session), "Debugger.enable", json!({})).await;
}

#[tokio::test]
async fn a_muted_method_is_heard_and_never_answered() {
    let (browser, _page, mut client, session) = watched_page().await;
    browser.script().mute("Runtime.evaluate");
    let params = json!({"expression": "1"});
    let id = client.send(Some(&session), "Runtime.evaluate", params.clone()).await;
    let heard = browser.expect("Runtime.evaluate").await;
    assert_eq!((heard.id, heard.params()), (id, params));
    assert_eq!(client.story().await, [""; 0]);
}

#[tokio::test]
async fn a_delayed_command_is_overtaken() {
    let (browser, _page, mut client, session) = watched_page().await;
    let long = Duration::from_secs(60);
    browser.script().delay("Page.getFrameTree", long);
    let slow = client.send(Some(&session), "Page.getFrameTree", json!({})).await;
    assert_eq!(client.story().await, [""; 0]);
    tokio::time::pause();
    tokio::time::advance(long).await;
    tokio::time::resume();
    let tree = client.reply_to(slow).await;
    assert!(tree["result"]["frameTree"].is_object(), "{tree}");
}

#[tokio::test]
async fn answers_and_errors_are_what_the_test_says() {
    let (browser, _page, mut client, session) = watched_page().await;
    browser
        .script()
        .answer("Page.captureScreenshot", json!({"data": "AAAA"}))
        .fail("DOM.getDocument", -32000, "Not attached to an active page")
        .evaluates("document.title", json!("Hello"));
    let shot = client.call(Some(&session), "Page.captureScreenshot", json!({})).await;
    assert_eq!(shot, json!({"data": "AAAA"}));
    let refused = client.refused(Some(&session), "DOM.getDocument", json!({})).await;
    assert_eq!(refused, (-32000, "Not attached to an active page".to_owned()));
    let title = client.evaluate(&session, "document.title").await;
    assert_eq!(title, json!({"type": "string", "value": "Hello"}));
}

#[tokio::test]
async fn literals_evaluate_to_themselves() {
    let (_browser, _page, mut client, session) = watched_page().await;
    for literal in ["1.5", "\"a\\u2028b\"", "true", "null", "[1,{\"a\":2}]"] {
        let value = client.evaluate(&session, literal).await["value"].clone();
        assert_eq!(value, serde_json::from_str::<Value>(literal).expect("it is JSON"), "{literal}");
    }
    assert_eq!(client.evaluate(&session, "void 0").await, json!({"type": "undefined"}));
    // A lone surrogate goes through both ways, which a parsed value could not hold.
    let text = format!(
        r#"{{"id":900,"method":"Runtime.evaluate","sessionId":"{session}","params":{{"expression":"\"\\ud800\""}}}}"#
    );
    client.send_text(&text).await;
    let reply = client.raw().await;
    let reply = reply.as_text().expect("it is text");
    assert!(reply.contains(r#""value":"\ud800""#), "{reply}");
}

#[tokio::test]
async fn unknown_methods_are_refused_or_answered_empty() {
    let (browser, _page, mut client, session) = watched_page().await;
    assert_eq!(client.refused(Some(&session), "Cast.enable", json!({})).await.0, -32601);
    browser.script().unknown_methods(Unknown::Empty);
    assert_eq!(client.call(Some(&session), "Cast.enable", json!({})).await, json!({}));
    assert_eq!(client.call(None, "Nobody.knows", json!({})).await, json!({}));
}

#[tokio::test]
async fn held_messages_come_out_of_order() {
    let (browser, page, mut client, session) = watched_page().await;
    browser.script().hold("Target.attachedToTarget").hold("Page.getFrameTree");
    let frame = page.main_frame().add_oopif("https://ads.example.net/");
    frame.move_in("https://example.com/");
    let tree = client.send(Some(&session), "Page.getFrameTree", json!({})).await;
    let told = client.story().await;
    assert!(told.contains(&"Target.detachedFromTarget".to_owned()), "{told:?}");
    assert!(!told.contains(&format!("reply {tree}")), "{told:?}");
    browser.script().release("Page.getFrameTree").release("Target.attachedToTarget");
    let told = client.story().await;
    assert_eq!(told, [format!("reply {tree}"), "Target.attachedToTarget".to_owned()]);
}

#[tokio::test]
async fn unknown_fields_stand_in_every_message() {
    let (browser, page, mut client, session) = watched_page().await;
    browser.script().add_unknown_fields();
    page.navigate("https://example.com/next");
    let tree = client.ask(Some(&session), "Page.getFrameTree", json!({})).await;
    assert!(tree["result"]["notYetKnown"].is_array() && tree["notYetKnown"].is_array());
    let events = client.everything().await;
    assert!(!events.is_empty());
    for event in events {
        assert!(event["params"]["notYetKnown"].is_array() && event["notYetKnown"].is_array(), "{event}");
    }
}

#[tokio::test]
async fn unknown_events_and_garbage_can_be_sent() {
    let (browser, _page, mut client, session) = watched_page().await;
    browser.emit(session.as_str(), "Future.somethingNew", json!({"deep": [1]}));
    browser.emit(None, "Future.somethingElse", json!({}));
    browser.emit("gone", "Future.neverSent", json!({}));
    assert_eq!(client.event("Future.somethingNew").await["sessionId"], session.as_str());
    assert_eq!(client.story().await, ["Future.somethingElse"]);
    browser.send_text("}{");
    assert_eq!(client.raw().await.as_text(), Some("}{"));
    browser.send_binary(&[1, 2]);
    assert_eq!(client.raw().await.as_payload()[..], [1, 2]);
    browser.send_unframed(&[0xff; 32]);
    assert_eq!(client.end().await, support::End::BrokenFraming);
}

#[tokio::test]
async fn a_spinning_page_is_freed_by_terminating_its_script() {
    let (browser, page, mut client, session) = watched_page().await;
    let other = browser.add_page("https://example.org/");
    let looping = client.send(Some(&session), "Runtime.evaluate", json!({"expression": "while(true){}"})).await;
    let waits = client.send(Some(&session), "Runtime.evaluate", json!({"expression": "1"})).await;
    client.call(Some(&session), "Page.getNavigationHistory", json!({})).await;
    client.call(Some(other.sessions()[0].as_str()), "Page.enable", json!({})).await;
    client.catch_up().await;
    client.call(Some(&session), "Runtime.terminateExecution", json!({})).await;
    assert_eq!(client.reply_to(looping).await["error"]["code"], -32000);
    assert_eq!(client.reply_to(waits).await["result"]["result"]["value"], 1);

    page.spin();
    let waits = client.send(Some(&session), "Runtime.evaluate", json!({"expression": "2"})).await;
    client.call(Some(&session), "Page.navigate", json!({"url": "about:blank"})).await;
    assert_eq!(client.reply_to(waits).await["result"]["result"]["value"], 2);
}
