//! `tool`: what a tool's result, its refusal and the dialogs beside them look like on the wire.

use std::sync::Arc;

use ostler_core::view::{
    Arrival, ConsoleEntry, DialogKind, DialogView, FrameTreeView, FrameView, TabState, TabView, TopFrameView,
};
use ostler_core::{DialogId, FrameId, SessionId, TargetId};
use serde_json::{Value, json};

use super::fake_tasks::Script;
use super::{Client, assert_error};

fn publish(script: &Script, dialogs: u64) {
    script.publish(|view| {
        view.current = Some(TargetId::from("T1"));
        view.current_session = Some(SessionId::from("S1"));
        view.tabs = [tab(1, "T1", TabState::Ready), tab(4, "T4", TabState::Hung)].into();
        view.pending_dialogs = (1..=dialogs).map(dialog).collect();
        view.console = (7..10).map(console_entry).collect();
    });
}

/// Publishes one tab that is there.
pub(super) fn publish_tab(script: &Script, arrival: Arrival) {
    script.publish(|view| {
        view.current = Some(TargetId::from("T1"));
        view.current_session = Some(SessionId::from("S1"));
        view.tabs = [TabView { arrival, ..tab(1, "T1", TabState::Ready) }].into();
    });
}

/// The same with a frame of another process in it, session `SF`.
pub(super) fn publish_tab_around_frame(script: &Script) {
    script.publish(|view| {
        view.current = Some(TargetId::from("T1"));
        view.tabs = [tab(1, "T1", TabState::Ready)].into();
        let top = TopFrameView { frame_id: FrameId::from("T1"), url: "http://a/".to_owned(), origin: String::new() };
        let frame = FrameView {
            frame_id: FrameId::from("F"),
            url: "http://b/in".to_owned(),
            is_oopif: true,
            session_id: Some(SessionId::from("SF")),
            parent_frame_id: FrameId::from("T1"),
        };
        view.all_frames = Some(Arc::new(FrameTreeView { top, children: vec![frame], truncated: false }));
    });
}

fn tab(number: u64, target: &str, state: TabState) -> TabView {
    let session_id = Some(SessionId::from(format!("S{number}")));
    TabView {
        number,
        target_id: TargetId::from(target),
        session_id,
        url: "u".to_owned(),
        title: "t".to_owned(),
        state,
        arrival: Arrival::None,
    }
}

pub(super) fn dialog(number: u64) -> Arc<DialogView> {
    Arc::new(DialogView {
        id: DialogId(number),
        kind: DialogKind::Confirm,
        message: "Sure?".to_owned(),
        default_prompt: String::new(),
        opened_at: 1.0,
        session_id: SessionId::from("S1"),
        frame_id: FrameId::from("T1"),
        answerable: true,
        in_a_row: 1,
    })
}

fn console_entry(seq: u64) -> ConsoleEntry {
    let text = format!("error {seq}");
    ConsoleEntry { seq, ts: 1.0, level: "error", text, url: "http://a/x.js".to_owned(), line: 3, frame_id: None }
}

pub(super) fn read(line: &str) -> Value {
    serde_json::from_str(line).expect("a line of JSON")
}

#[tokio::test]
async fn wrong_names_and_arguments_are_told_with_the_right_ones() {
    let (mut client, _script) = Client::connect();
    assert_error(&client.ask(r#"{"meta":"tool"}"#).await, "bad_request", "`name`: is missing");
    let unknown = client.ask(r#"{"meta":"tool","name":"click"}"#).await;
    assert_error(&unknown, "bad_request", "the tools are: browser_navigate, ");
    let missing = client.ask(r#"{"meta":"tool","name":"browser_navigate"}"#).await;
    assert_error(&missing, "bad_request", "browser_navigate needs `url`: a string");
    let wrong = client.ask(r#"{"meta":"tool","name":"browser_tabs","args":{"action":"open"}}"#).await;
    assert_error(
        &wrong,
        "bad_request",
        "`action` of browser_tabs must be \"list\", \"new\", \"switch\" or \"close\", not \"open\"",
    );
    let other = client.ask(r#"{"meta":"tool","name":"browser_tabs","args":{"action":"list"},"task":"x"}"#).await;
    assert_error(&other, "unknown_task", "no task x");
}

#[tokio::test]
async fn tabs_are_listed_from_what_is_known_without_a_call() {
    let (mut client, mut script) = Client::connect();
    publish(&script, 0);
    let listed = read(&client.ask(r#"{"id":1,"meta":"tool","name":"browser_tabs","args":{"action":"list"}}"#).await);
    let text = "t1 (current) \"t\" u\nt4 \"t\" u [hung: a script keeps it busy]";
    assert_eq!([&listed["id"], &listed["result"]["text"]], [&json!(1), &json!(text)]);
    let second = json!({"id": "t4", "target_id": "T4", "url": "u", "title": "t", "state": "hung", "current": false});
    assert_eq!(listed["result"]["data"]["tabs"][1], second);
    assert!(script.call_now().is_none());
}

#[tokio::test]
async fn a_tab_is_named_by_its_short_name_or_its_target() {
    let (mut client, script) = Client::connect();
    publish(&script, 0);
    for name in ["t4", "T4"] {
        let switch = json!({"meta": "tool", "name": "browser_tabs", "args": {"action": "switch", "target_id": name}});
        client.ask(&switch.to_string()).await;
        assert_eq!(script.asked(), ["set_session default None Some(TargetId(T4))"]);
    }
    let wrong = r#"{"meta":"tool","name":"browser_tabs","args":{"action":"switch","target_id":"t2"}}"#;
    assert_error(&client.ask(wrong).await, "bad_request", "\"t2\" is no tab of this task; there are t1, t4");
}

#[tokio::test]
async fn an_empty_name_is_a_mistake_and_not_the_same_as_none() {
    let (mut client, mut script) = Client::connect();
    publish(&script, 0);
    for (tool, args, field) in [
        ("browser_cdp", r#"{"method":"A.b","frame_id":""}"#, "frame_id"),
        ("browser_cdp", r#"{"method":"A.b","target_id":" "}"#, "target_id"),
        ("browser_snapshot", r#"{"frame_id":""}"#, "frame_id"),
        ("browser_tabs", r#"{"action":"close","target_id":""}"#, "target_id"),
        ("browser_dialog", r#"{"action":"accept","dialog_id":""}"#, "dialog_id"),
    ] {
        let asked = format!(r#"{{"meta":"tool","name":"{tool}","args":{args}}}"#);
        let sentence = format!("`{field}`: must not be empty; leave it out instead");
        assert_error(&client.ask(&asked).await, "bad_request", &sentence);
    }
    let switch = r#"{"meta":"tool","name":"browser_tabs","args":{"action":"switch"}}"#;
    assert_error(&client.ask(switch).await, "bad_request", "name the tab to switch to; there are t1, t4");
    assert!(script.call_now().is_none() && script.asked().is_empty());
}

#[tokio::test]
async fn names_and_paths_are_repeated_in_part_however_long_they_are() {
    let (mut client, script) = Client::connect();
    publish(&script, 0);
    let long = "x".repeat(100_000);
    for (tool, args) in [
        ("browser_tabs", json!({"action": long})),
        ("browser_snapshot", json!({"frame_id": long})),
        ("browser_snapshot", json!({"ref": long})),
        ("browser_snapshot", json!({"since": long})),
        ("browser_click", json!({"ref": long})),
        ("browser_click", json!({"x": 1, "y": 1, "files": [long]})),
        ("browser_screenshot", json!({"path": long})),
        (&long, json!({})),
    ] {
        let asked = json!({"meta": "tool", "name": tool, "args": args});
        let line = client.ask(&asked.to_string()).await;
        assert!(
            line.len() < 1_500 && line.contains("\"error\""),
            "{} bytes: {}",
            line.len(),
            &line[..line.len().min(500)]
        );
    }
}

#[tokio::test]
async fn results_and_refusals_both_carry_the_open_dialogs() {
    let (mut client, script) = Client::connect();
    publish(&script, 2);
    let listed = read(&client.ask(r#"{"meta":"tool","name":"browser_console"}"#).await);
    assert_eq!(listed["result"]["data"]["pending_dialogs"][1]["id"], "d-2");
    let text = listed["result"]["text"].as_str().expect("text");
    assert!(text.contains("A confirm dialog (d-2: \"Sure?\") is open: answer it with browser_dialog"), "{text}");

    let refused = read(&client.ask(r#"{"meta":"tool","name":"browser_navigate","args":{}}"#).await);
    assert_eq!(refused["pending_dialogs"][0]["id"], "d-1");
    let sentence = refused["error"].as_str().expect("a sentence");
    assert!(
        sentence.starts_with("`args`: browser_navigate needs `url`: a string. A confirm dialog (d-1"),
        "{sentence}"
    );
}

#[tokio::test]
async fn the_console_is_read_on_from_where_one_was() {
    let (mut client, script) = Client::connect();
    publish(&script, 0);
    let all = read(&client.ask(r#"{"meta":"tool","name":"browser_console"}"#).await);
    let data = &all["result"]["data"];
    assert_eq!([&data["next"], &data["lost"], &data["entries"][0]["seq"]], [&json!(9), &json!(6), &json!(7)]);
    assert_eq!(data["entries"][0]["text"], "error 7");
    let rest = read(&client.ask(r#"{"meta":"tool","name":"browser_console","args":{"since":8}}"#).await);
    assert_eq!(rest["result"]["text"], "9. error: error 9 (http://a/x.js:3)\nGo on with since=9.");
    let none = read(&client.ask(r#"{"meta":"tool","name":"browser_console","args":{"since":9}}"#).await);
    assert_eq!([&none["result"]["text"], &none["result"]["data"]["lost"]], [&json!("Nothing new."), &json!(0)]);
}

#[tokio::test]
async fn closing_no_tab_by_name_closes_the_current_one_and_says_which_that_was() {
    let (mut client, mut script) = Client::connect();
    publish(&script, 0);
    client.send(r#"{"meta":"tool","name":"browser_tabs","args":{"action":"close"}}"#).await;
    let close = script.call().await;
    assert_eq!((close.request.method.as_str(), close.params()), ("Target.closeTarget", r#"{"targetId":"T1"}"#));
    close.succeed(r#"{"success":true}"#);
    let told = read(&client.line().await);
    assert!(
        told["result"]["text"].as_str().is_some_and(|text| text.starts_with("Closed t1, the current tab.\n")),
        "{told}"
    );
}

#[tokio::test]
async fn a_cdp_call_passes_raw_and_its_result_stands_in_text_and_data() {
    let (mut client, mut script) = Client::connect();
    publish(&script, 0);
    let call = r#"{"meta":"tool","name":"browser_cdp","args":{"method":"A.b","params":{"x":"\ud800"},"target_id":"t4","timeout_s":2}}"#;
    client.send(call).await;
    let call = script.call().await;
    assert_eq!((call.request.method.as_str(), call.params()), ("A.b", r#"{"x":"\ud800"}"#));
    assert_eq!((call.request.target_id.clone(), call.request.timeout.as_secs()), (Some(TargetId::from("T4")), 2));
    call.succeed(r#"{"y":"\ud801"}"#);
    let expected = r#"{"result":{"text":"{\"y\":\"\\ud801\"}","data":{"result":{"y":"\ud801"}}}}"#;
    assert_eq!(client.line().await, expected);
    let wrong = r#"{"meta":"tool","name":"browser_cdp","args":{"method":"A.b","timeout_s":0}}"#;
    assert_error(&client.ask(wrong).await, "bad_request", "`timeout_s`");
}

#[tokio::test]
async fn a_dialog_is_answered_with_its_text_unchanged() {
    let (mut client, script) = Client::connect();
    publish(&script, 0);
    let answer = r#"{"meta":"tool","name":"browser_dialog","args":{"action":"accept","prompt_text":"\ud800"}}"#;
    let answered = read(&client.ask(answer).await);
    assert_eq!(answered["result"]["text"], "Accepted the confirm d-3.");
    assert_eq!(script.asked(), [r#"answer_dialog default true Some(b"\"\\ud800\"") None"#]);
}
