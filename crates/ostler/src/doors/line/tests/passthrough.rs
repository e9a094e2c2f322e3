//! CDP calls pass through unparsed and unchanged.

use std::time::Duration;

use super::Client;
use crate::tasks::OnDialog;

#[tokio::test]
async fn a_bare_call_goes_to_the_default_task_with_the_default_time() {
    let (mut client, mut script) = Client::connect();
    client.send(r#"{"method":"Page.enable"}"#).await;
    let call = script.call().await;
    assert_eq!(call.request.method, "Page.enable");
    assert_eq!(call.request.task.as_str(), "default");
    assert_eq!(call.request.params, None);
    assert_eq!(call.request.timeout, Duration::from_secs(30));
    assert_eq!(call.request.on_dialog, OnDialog::Return);
    assert_eq!(call.request.session_id, None);
    call.succeed(r#"{"a":1}"#);
    assert_eq!(client.line().await, r#"{"result":{"a":1}}"#);
}

#[tokio::test]
async fn every_routing_field_reaches_the_call() {
    let (mut client, mut script) = Client::connect();
    client
        .send(concat!(
            r#" {"on_dialog": "wait", "timeout_ms": 3600000, "task": "a.B_c:1-2", "target_id": "T", "#,
            r#""frame_id": "F", "session_id": "S\u0041", "method": "A.b", "params": { "x" : [1, 2] }} "#
        ))
        .await;
    let call = script.call().await;
    assert_eq!(call.request.on_dialog, OnDialog::Wait);
    assert_eq!(call.request.timeout, Duration::from_secs(3600));
    assert_eq!(call.request.task.as_str(), "a.B_c:1-2");
    assert_eq!(call.request.target_id.as_ref().map(|id| id.as_str()), Some("T"));
    assert_eq!(call.request.frame_id.as_ref().map(|id| id.as_str()), Some("F"));
    assert_eq!(call.request.session_id.as_ref().map(|id| id.as_str()), Some("SA"));
    assert_eq!(call.params(), r#"{ "x" : [1, 2] }"#);
}

#[tokio::test]
async fn null_is_the_same_as_leaving_out_and_unknown_fields_are_ignored() {
    let (mut client, mut script) = Client::connect();
    client
        .send(r#"{"meta":null,"method":"A.b","params":null,"session_id":null,"task":null,"token":{"deep":[]},"on_dialog":null}"#)
        .await;
    let call = script.call().await;
    assert_eq!((call.request.params.as_ref(), call.request.session_id.as_ref()), (None, None));
}

#[tokio::test]
async fn lone_surrogates_line_separators_and_odd_numbers_pass_both_ways_unchanged() {
    let (mut client, mut script) = Client::connect();
    let odd = "{\"x\":\"\\ud800 \u{2028} \\u2029 \\/\",\"n\":1.00e+2,\"big\":123456789012345678901234567890}";
    client.send(&format!(r#"{{"method":"A.b","params":{odd}}}"#)).await;
    let call = script.call().await;
    assert_eq!(call.params(), odd);
    call.succeed(odd);
    assert_eq!(client.line().await, format!(r#"{{"result":{odd}}}"#));
}

#[tokio::test]
async fn large_params_and_results_pass_unchanged() {
    let (mut client, mut script) = Client::connect();
    let large = format!(r#"{{"x":"{}"}}"#, "å[{\\\"".repeat(1 << 20));
    let line = format!(r#"{{"id":1,"method":"A.b","params":{large}}}"#);
    client.send(&line).await;
    let call = script.call().await;
    assert!(call.params() == large, "params were changed");
    call.succeed(large.clone());
    assert!(client.line().await == format!(r#"{{"id":1,"result":{large}}}"#), "the result was changed");
    assert!(client.ask(r#"{"meta":"ping"}"#).await.contains("pong"));
}

#[tokio::test]
async fn raw_line_ends_in_a_result_do_not_break_the_line() {
    let (mut client, mut script) = Client::connect();
    client.send(r#"{"method":"A.b"}"#).await;
    script.call().await.succeed("{\n\"a\": [1,\n\n 2],\n\"b\":\"\\n\"}\n");
    assert_eq!(client.line().await, r#"{"result":{"a": [1, 2],"b":"\n"}}"#);
}

#[tokio::test]
async fn the_id_comes_back_as_it_was_written() {
    let (mut client, mut script) = Client::connect();
    for id in ["7", "-1.50e3", r#""a\u0041\ud800""#, "true", "null", r#""""#] {
        client.send(&format!(r#"{{"id": {id} ,"method":"A.b"}}"#)).await;
        script.call().await.succeed("{}");
        assert_eq!(client.line().await, format!(r#"{{"id":{id},"result":{{}}}}"#));
    }
}
