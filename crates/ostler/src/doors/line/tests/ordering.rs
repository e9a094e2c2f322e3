//! Requests with an `id` run beside each other; those without are answered in their turn.

use super::{Client, Limits, assert_error};

#[tokio::test]
async fn requests_without_id_run_and_are_answered_one_after_the_other() {
    let (mut client, mut script) = Client::connect();
    client.send_bytes(b"{\"method\":\"A.first\"}\nnonsense\n{\"method\":\"A.second\"}\n").await;
    // Its answer shows that everything before it has been read.
    assert!(client.ask(r#"{"id":1,"meta":"ping"}"#).await.contains("pong"));
    let first = script.call().await;
    assert_eq!(first.request.method, "A.first");
    assert!(script.call_now().is_none(), "the second call started before the first was answered");
    first.succeed(r#"{"n":1}"#);
    assert_eq!(client.line().await, r#"{"result":{"n":1}}"#);
    assert_error(&client.line().await, "bad_request", "`line`");
    let second = script.call().await;
    assert_eq!(second.request.method, "A.second");
    second.succeed("{}");
    assert_eq!(client.line().await, r#"{"result":{}}"#);
}

#[tokio::test]
async fn requests_with_id_run_together_and_are_answered_as_they_end() {
    let (mut client, mut script) = Client::connect();
    client.send_bytes(b"{\"id\":1,\"method\":\"A.slow\"}\n{\"id\":2,\"method\":\"A.quick\"}\n").await;
    let (slow, quick) = (script.call().await, script.call().await);
    quick.succeed("{}");
    assert_eq!(client.line().await, r#"{"id":2,"result":{}}"#);
    slow.succeed("{}");
    assert_eq!(client.line().await, r#"{"id":1,"result":{}}"#);
}

#[tokio::test]
async fn a_request_with_id_does_not_wait_for_one_without() {
    let (mut client, mut script) = Client::connect();
    client.send(r#"{"method":"A.blocked"}"#).await;
    let blocked = script.call().await;
    assert!(client.ask(r#"{"id":"p","meta":"ping"}"#).await.starts_with(r#"{"id":"p","pong":true"#));
    blocked.succeed("{}");
    assert_eq!(client.line().await, r#"{"result":{}}"#);
}

#[tokio::test]
async fn a_client_that_half_closes_still_gets_its_replies() {
    let (mut client, mut script) = Client::connect();
    // The last line has no end, as a shell tool may leave it.
    client.send_bytes(b"{\"method\":\"A.b\"}\n{\"method\":\"A.c\"}").await;
    client.half_close().await;
    for name in ["A.b", "A.c"] {
        let call = script.call().await;
        assert_eq!(call.request.method, name);
        call.succeed("{}");
        assert_eq!(client.line().await, r#"{"result":{}}"#);
    }
    client.closed().await;
}

#[tokio::test]
async fn a_client_that_vanishes_cancels_its_calls() {
    let (mut client, mut script) = Client::connect();
    client.send_bytes(b"{\"id\":1,\"method\":\"A.b\"}\n{\"method\":\"A.c\"}\n").await;
    let (one, two) = (script.call().await, script.call().await);
    client.vanish().await;
    one.dropped().await;
    two.dropped().await;
}

#[tokio::test]
async fn a_client_that_half_closes_and_then_vanishes_cancels_its_calls() {
    let (mut client, mut script) = Client::connect();
    client.send(r#"{"method":"A.b"}"#).await;
    client.half_close().await;
    let call = script.call().await;
    client.vanish().await;
    call.dropped().await;
}

#[tokio::test]
async fn a_client_that_vanishes_while_nothing_is_read_from_it_cancels_its_calls() {
    let (mut client, mut script) = Client::connect_within(Limits { in_flight: 1, ..Limits::STANDARD });
    client.send_bytes(b"{\"method\":\"A.b\"}\n{\"method\":\"A.unread\"}\n").await;
    let call = script.call().await;
    client.vanish().await;
    call.dropped().await;
    assert!(script.call_now().is_none());
}

#[tokio::test]
async fn when_the_daemon_stops_what_is_under_way_is_answered_and_nothing_more_is_read() {
    let (mut client, mut script) = Client::connect();
    client.send(r#"{"method":"A.b"}"#).await;
    let call = script.call().await;
    client.stop.send_replace(true);
    call.succeed("{}");
    assert_eq!(client.line().await, r#"{"result":{}}"#);
    client.closed().await;
}
