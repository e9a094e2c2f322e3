//! Tools whose page does not answer: what they blame for it, and when, on a simulated clock.

use std::pin::pin;
use std::time::Duration;

use ostler_core::view::Arrival;
use ostler_core::{CallError, SessionId, TimeoutHint};
use serde_json::{Value, json};
use tokio::time::{Instant, pause, sleep};

use super::Client;
use super::fake_tasks::{ArrivedCall, Script};
use super::tools::{dialog, publish_tab, publish_tab_around_frame, read};

impl Script {
    /// Returns the next call that a tool makes of its page; the browser itself is there and says so.
    async fn tool_call(&mut self) -> ArrivedCall {
        loop {
            let call = self.call().await;
            if call.request.method != "Browser.getVersion" {
                return call;
            }
            call.succeed(r#"{"userAgent":"Linux"}"#);
        }
    }

    /// Lets so much time go by, in which no tool asks its page for anything.
    async fn silent_for(&mut self, time: Duration) {
        tokio::select! {
            call = self.tool_call() => panic!("{} was called", call.request.method),
            () = sleep(time) => {}
        }
    }
}

async fn navigates(client: &mut Client, script: &mut Script) -> ArrivedCall {
    publish_tab(script, Arrival::None);
    let navigate = json!({"meta": "tool", "name": "browser_navigate", "args": {"url": "http://a/next"}});
    client.send(&navigate.to_string()).await;
    script.tool_call().await.succeed(r#"{"result":{"value":"complete"}}"#);
    let call = script.tool_call().await;
    assert_eq!(call.request.method, "Page.navigate");
    call
}

#[tokio::test]
async fn a_navigation_that_waits_to_be_sent_is_not_blamed_on_the_page_that_it_would_leave() {
    let (mut client, mut script) = Client::connect();
    pause();
    let navigation = navigates(&mut client, &mut script).await;
    script.silent_for(Duration::from_secs(10)).await;
    // It is sent at last, and the page is asked whether it may be left.
    publish_tab(&script, Arrival::Begun);
    script.silent_for(Duration::from_millis(1500)).await;
    publish_tab(&script, Arrival::Requested);
    script.silent_for(Duration::from_secs(3)).await;
    navigation.succeed(r#"{"frameId":"T1"}"#);
    let about = script.tool_call().await;
    assert_eq!(about.request.method, "Page.createIsolatedWorld");
}

#[tokio::test]
async fn a_page_that_is_asked_for_long_whether_it_may_be_left_has_its_handler_stopped() {
    let (mut client, mut script) = Client::connect();
    pause();
    let navigation = navigates(&mut client, &mut script).await;
    publish_tab(&script, Arrival::Begun);
    script.silent_for(Duration::from_millis(2500)).await;
    let stop = script.tool_call().await;
    assert_eq!(stop.request.method, "Runtime.terminateExecution");
    stop.succeed("{}");
    navigation.succeed(r#"{"frameId":"T1"}"#);
    // Its title is of no concern here.
    script.tool_call().await.end(Err(CallError::TargetCrashed { what: "tab T1".to_owned() }));
    let opened: Value = read(&client.line().await);
    let text = opened["result"]["text"].as_str().expect("a text");
    assert!(text.ends_with("its beforeunload handler never ended, and was stopped."), "{text}");
}

#[tokio::test]
async fn a_page_that_is_slow_at_every_step_has_one_deadline_for_all_of_them() {
    let (mut client, mut script) = Client::connect();
    pause();
    publish_tab(&script, Arrival::None);
    client.send(r#"{"meta":"tool","name":"browser_press","args":{"key":"a"}}"#).await;
    for step in ["Runtime.getIsolateId", "Input.dispatchKeyEvent"] {
        let call = script.tool_call().await;
        assert_eq!(call.request.method, step);
        script.silent_for(Duration::from_secs(4)).await;
        call.succeed("{}");
    }
    let _unanswered = script.tool_call().await;
    script.silent_for(Duration::from_millis(1900)).await;
    // It is asked once more, for what is then told.
    let look = script.tool_call().await;
    let (method, hint) = (look.request.method.clone(), TimeoutHint::PageBusy { for_ms: 3000, frame: None });
    assert_eq!(method, "Runtime.evaluate");
    look.end(Err(CallError::Timeout { method, timeout_ms: 1000, hint }));
    let late = read(&client.line().await);
    let error = late["error"].as_str().expect("a sentence");
    assert!(error.contains("; a script has kept the page busy for at least 3 s"), "{error}");
    assert!(matches!(late["timeout_ms"].as_u64(), Some(10_000..10_100)), "{late}");
}

#[tokio::test]
async fn a_key_that_was_sent_is_not_said_to_be_kept_back_by_a_dialog_that_is_open_by_then() {
    let (mut client, mut script) = Client::connect();
    pause();
    publish_tab(&script, Arrival::None);
    client.send(r#"{"meta":"tool","name":"browser_press","args":{"key":"a"}}"#).await;
    script.tool_call().await.succeed("{}");
    let key = script.tool_call().await;
    assert_eq!(key.request.method, "Input.dispatchKeyEvent");
    script.silent_for(Duration::from_millis(9900)).await;
    let look = script.tool_call().await;
    look.end(Err(CallError::DialogOpen { dialog: dialog(1), sent: false }));
    let late = read(&client.line().await);
    assert_eq!(late["error_code"], "timeout", "{late}");
    let error = late["error"].as_str().expect("a sentence");
    assert!(!error.contains("not sent") && error.contains("browser_snapshot before trying again"), "{error}");
}

#[tokio::test]
async fn a_picture_that_does_not_come_is_given_up_once_it_is_known_which_frame_keeps_it() {
    let (mut client, mut script) = Client::connect();
    pause();
    publish_tab_around_frame(&script);
    client.send(r#"{"meta":"tool","name":"browser_screenshot"}"#).await;
    for (method, answer) in [
        (
            "Page.getLayoutMetrics",
            r#"{"cssVisualViewport":{"pageX":0,"pageY":0,"clientWidth":800,"clientHeight":600},"cssContentSize":{"width":1,"height":1}}"#,
        ),
        ("Page.createIsolatedWorld", r#"{"executionContextId":1}"#),
        ("Runtime.evaluate", r#"{"result":{"objectId":"W"}}"#),
        (
            "Runtime.callFunctionOn",
            r#"{"result":{"value":{"url":"","title":"","status":200,"ratio":1,"width":800,"height":600}}}"#,
        ),
    ] {
        let call = script.tool_call().await;
        assert_eq!(call.request.method, method);
        call.succeed(answer);
    }
    // It is asked for a few times, since a hidden tab draws only then.
    let mut unanswered = Vec::new();
    let look = loop {
        let call = script.tool_call().await;
        match call.request.method.as_str() {
            "Page.captureScreenshot" => unanswered.push(call),
            _ => break call,
        }
    };
    assert_eq!(unanswered.len(), 4);
    look.succeed(r#"{"result":{"value":"interactive"}}"#);
    let look = script.tool_call().await;
    assert_eq!(look.request.session_id, Some(SessionId::from("SF")));
    look.end(Err(CallError::Timeout { method: "m".to_owned(), timeout_ms: 1000, hint: TimeoutHint::None }));
    let error = read(&client.line().await)["error"].as_str().expect("a sentence").to_owned();
    let told = "the page is not drawn before its frame http://b/in answers: a dialog in another tab that has frames of its \
                site stops it, or a script; answer what other tabs ask, or close the tab with browser_tabs";
    assert_eq!(error, told);
}

#[tokio::test]
async fn what_comes_of_an_action_has_the_deadline_of_the_action_itself() {
    let (mut client, mut script) = Client::connect();
    pause();
    publish_tab(&script, Arrival::None);
    let began = Instant::now();
    client.send(r#"{"meta":"tool","name":"browser_press","args":{"key":"Enter"}}"#).await;
    script.tool_call().await.succeed("{}");
    let key = script.tool_call().await;
    script.silent_for(Duration::from_secs(9)).await;
    key.succeed("{}");
    let key = script.tool_call().await;
    script.events().happen("Page.frameStartedNavigating", r#"{"frameId":"T1"}"#, Some("S1"));
    script.events().happen("Page.frameNavigated", r#"{"frame":{"id":"T1","url":"http://a/next"}}"#, Some("S1"));
    key.succeed("{}");
    let _turn = script.tool_call().await;
    let mut line = pin!(client.line());
    let told = loop {
        tokio::select! {
            line = &mut line => break read(&line),
            look = script.tool_call() => look.succeed(r#"{"result":{"value":"loading"}}"#),
        }
    };
    assert!((Duration::from_secs(15)..Duration::from_secs(16)).contains(&began.elapsed()), "{:?}", began.elapsed());
    assert_eq!(told["result"]["text"], "Pressed Enter.\nThe page is now http://a/next and still loading.");
}

#[tokio::test]
async fn a_stopped_browser_is_told_in_the_name_of_the_tool_that_waited() {
    let (mut client, mut script) = Client::connect();
    pause();
    publish_tab(&script, Arrival::None);
    client.send(r#"{"meta":"tool","name":"browser_cdp","args":{"method":"Page.reload"}}"#).await;
    let _unanswered = script.call().await;
    let alive = script.call().await;
    let method = alive.request.method.clone();
    assert_eq!(method, "Browser.getVersion");
    alive.end(Err(CallError::Timeout { method, timeout_ms: 3000, hint: TimeoutHint::BrowserSilent }));
    let error = read(&client.line().await)["error"].as_str().expect("a sentence").to_owned();
    assert!(error.starts_with("browser_cdp gave no answer within 5000 ms; the browser itself"), "{error}");
}
