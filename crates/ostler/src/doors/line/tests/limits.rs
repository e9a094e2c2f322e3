//! What a client can make the daemon hold.

use std::time::Duration;

use super::{Client, Limits, assert_error, within};

#[tokio::test]
async fn at_most_so_many_requests_are_under_way() {
    let (mut client, mut script) = Client::connect_within(Limits { in_flight: 3, ..Limits::STANDARD });
    // Two beside each other, one in its turn behind the first without an id, and one too many.
    client
        .send_bytes(
            b"{\"id\":1,\"method\":\"A.one\"}\n{\"method\":\"A.two\"}\n{\"method\":\"A.three\"}\n{\"id\":4,\"method\":\"A.four\"}\n",
        )
        .await;
    let (one, two) = (script.call().await, script.call().await);
    let mut other = Client::join(script.tasks.clone(), Limits::STANDARD);
    assert!(other.ask(r#"{"meta":"ping"}"#).await.contains("pong"));
    assert!(script.call_now().is_none(), "a line was read beyond the limit");
    one.succeed("{}");
    assert_eq!(client.line().await, r#"{"id":1,"result":{}}"#);
    let four = script.call().await;
    assert_eq!(four.request.method, "A.four");
    two.succeed("{}");
    assert_eq!(script.call().await.request.method, "A.three");
}

#[tokio::test]
async fn long_lines_that_are_not_answered_keep_the_next_one_out() {
    let (mut client, mut script) = Client::connect_within(Limits { line: 1000, ..Limits::STANDARD });
    let line = |id: u8| format!(r#"{{"id":{id},"method":"A.b","params":{{"x":"{}"}}}}"#, "x".repeat(600));
    client.send_bytes(format!("{}\n{}\n{}\n", line(1), line(2), line(3)).as_bytes()).await;
    let one = script.call().await;
    let _two = script.call().await;
    let mut other = Client::join(script.tasks.clone(), Limits::STANDARD);
    assert!(other.ask(r#"{"meta":"ping"}"#).await.contains("pong"));
    assert!(script.call_now().is_none(), "a line was read beyond the limit");
    one.succeed("{}");
    assert_eq!(client.line().await, r#"{"id":1,"result":{}}"#);
    script.call().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_from() {
    let limits = Limits { backlog: 1 << 20, ..Limits::STANDARD };
    let (mut client, mut script) = Client::connect_within(limits);
    client.send(r#"{"id":1,"method":"A.b"}"#).await;
    // More than the socket takes by itself, so that more than the backlog stays with the daemon.
    let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(4 << 20));
    script.call().await.succeed(large.clone());
    // The first bytes of the reply show that the daemon is writing it.
    within(client.reader.get_ref().readable()).await.expect("an open socket");
    client.send(r#"{"id":2,"method":"A.c"}"#).await;
    let mut other = Client::join(script.tasks.clone(), limits);
    assert!(other.ask(r#"{"meta":"ping"}"#).await.contains("pong"));
    assert!(script.call_now().is_none(), "a line was read while the backlog was full");
    assert_eq!(client.line().await, format!(r#"{{"id":1,"result":{large}}}"#));
    assert_eq!(script.call().await.request.method, "A.c");
}

#[tokio::test]
async fn a_client_that_takes_nothing_for_too_long_is_closed_and_its_calls_cancelled() {
    let limits = Limits { stall: Duration::from_millis(20), ..Limits::STANDARD };
    let (mut client, mut script) = Client::connect_within(limits);
    client.send_bytes(b"{\"id\":1,\"method\":\"A.b\"}\n{\"id\":2,\"method\":\"A.c\"}\n").await;
    let (large, other) = (script.call().await, script.call().await);
    large.succeed(format!(r#"{{"x":"{}"}}"#, "x".repeat(4 << 20)));
    other.dropped().await;
    within(client.served).await.expect("no panic in the connection");
}

#[tokio::test]
async fn the_standard_limit_of_a_line_is_stated_in_its_refusal() {
    let refusal = super::super::request::Request::too_long(b"", Limits::STANDARD.line);
    let error = refusal.ask.expect_err("a refusal").to_string();
    assert!(error.contains("100 MiB"), "{error}");
}

#[tokio::test]
async fn a_half_written_line_is_no_request_until_it_ends() {
    let (mut client, mut script) = Client::connect();
    client.send_bytes(br#"{"method":"A.b","params":{"half":"#).await;
    let mut other = Client::join(script.tasks.clone(), Limits::STANDARD);
    assert!(other.ask(r#"{"meta":"ping"}"#).await.contains("pong"));
    assert!(script.call_now().is_none());
    client.send("1}}").await;
    assert_eq!(script.call().await.params(), r#"{"half":1}"#);
    client.send_bytes(br#"{"method":"#).await;
    client.half_close().await;
    client.vanish().await;
    assert!(script.call_now().is_none());
    assert_error(&other.ask("{\"method\":").await, "bad_request", "`line`");
}
