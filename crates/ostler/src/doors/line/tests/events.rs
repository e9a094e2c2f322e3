//! Events: paged, drained, and streamed.

use super::{Client, Limits, assert_error};

#[tokio::test]
async fn drain_events_empties_the_default_buffer() {
    let (mut client, script) = Client::connect();
    script.events().happen("Page.loadEventFired", r#"{"timestamp":1.5}"#, Some("S"));
    script.events().happen("Target.targetCreated", "{\n}", None);
    assert_eq!(
        client.ask(r#"{"meta":"drain_events"}"#).await,
        concat!(
            r#"{"events":[{"method":"Page.loadEventFired","params":{"timestamp":1.5},"session_id":"S"},"#,
            r#"{"method":"Target.targetCreated","params":{},"session_id":null}]}"#
        )
    );
    assert_eq!(client.ask(r#"{"meta":"drain_events"}"#).await, r#"{"events":[]}"#);
}

#[tokio::test]
async fn events_are_paged_filtered_and_their_loss_counted() {
    let (mut client, script) = Client::connect();
    script.events().happen("A.lost", "{}", None);
    script.events().overflow();
    script.events().happen("A.a", "{}", Some("S"));
    script.events().happen("A.b", "{}", None);
    let a = r#"{"seq":2,"method":"A.a","params":{},"session_id":"S"}"#;
    let b = r#"{"seq":3,"method":"A.b","params":{},"session_id":null}"#;
    for (rest, events, next, lost) in [
        ("", format!("{a},{b}"), 3, 1),
        (r#","since":0,"limit":1"#, a.to_owned(), 2, 1),
        (r#","since":2"#, b.to_owned(), 3, 0),
        (r#","since":1,"methods":["A.b"]"#, b.to_owned(), 3, 0),
        (r#","since":1,"session_id":"S""#, a.to_owned(), 3, 0),
        (r#","since":1,"limit":18446744073709551615"#, format!("{a},{b}"), 3, 0),
    ] {
        let reply = client.ask(&format!(r#"{{"meta":"events"{rest}}}"#)).await;
        assert_eq!(reply, format!(r#"{{"events":[{events}],"next":{next},"lost":{lost}}}"#), "{rest}");
    }
    assert_error(&client.ask(r#"{"meta":"events","limit":0}"#).await, "bad_request", "`limit`");
    for (rest, field) in [
        (r#""since":-1"#, "`since`"),
        (r#""methods":"A.b""#, "`methods`"),
        (r#""methods":[1]"#, "`methods`"),
        (r#""session_id":1"#, "`session_id`"),
    ] {
        for meta in ["events", "subscribe"] {
            let error = client.ask(&format!(r#"{{"meta":"{meta}",{rest}}}"#)).await;
            assert_error(&error, "bad_request", field);
        }
    }
}

#[tokio::test]
async fn a_subscriber_gets_each_later_event_on_a_line() {
    let (mut client, script) = Client::connect();
    script.events().happen("A.before", "{}", None);
    client.send(r#"{"id":5,"meta":"subscribe","methods":["A.b"]}"#).await;
    script.events().waited_for().await;
    script.events().happen("A.other", "{}", None);
    script.events().happen("A.b", "{\n\"n\":1}", Some("S"));
    assert_eq!(client.line().await, r#"{"id":5,"seq":3,"method":"A.b","params":{"n":1},"session_id":"S"}"#);
    client.vanish().await;
}

#[tokio::test]
async fn a_subscriber_that_says_since_when_misses_nothing() {
    let (mut client, script) = Client::connect();
    script.events().happen("A.a", "{}", None);
    script.events().happen("A.b", "{}", None);
    client.send(r#"{"meta":"subscribe","since":1}"#).await;
    assert_eq!(client.line().await, r#"{"seq":2,"method":"A.b","params":{},"session_id":null}"#);
}

#[tokio::test]
async fn a_subscriber_is_told_what_it_lost() {
    let (mut client, script) = Client::connect();
    for _ in 0..3 {
        script.events().happen("A.gone", "{}", None);
    }
    script.events().overflow();
    script.events().happen("A.b", "{}", None);
    client.send(r#"{"meta":"subscribe","since":1}"#).await;
    assert_eq!(client.line().await, r#"{"lost":2}"#);
    assert_eq!(client.line().await, r#"{"seq":4,"method":"A.b","params":{},"session_id":null}"#);
}

#[tokio::test]
async fn a_subscriber_that_half_closes_goes_on_and_calls_under_way_are_answered() {
    let (mut client, mut script) = Client::connect();
    client.send_bytes(b"{\"id\":1,\"method\":\"A.b\"}\n{\"meta\":\"subscribe\"}\n").await;
    client.half_close().await;
    script.events().waited_for().await;
    script.events().happen("A.e", "{}", None);
    assert_eq!(client.line().await, r#"{"seq":1,"method":"A.e","params":{},"session_id":null}"#);
    script.call().await.succeed("{}");
    assert_eq!(client.line().await, r#"{"id":1,"result":{}}"#);
    client.vanish().await;
}

#[tokio::test]
async fn a_stream_ends_when_the_daemon_does() {
    let (mut client, script) = Client::connect();
    client.send(r#"{"meta":"subscribe"}"#).await;
    script.events().waited_for().await;
    client.stop.send_replace(true);
    client.closed().await;
}

#[tokio::test]
async fn a_subscriber_that_does_not_read_holds_a_bounded_backlog() {
    let (mut client, script) = Client::connect_within(Limits { backlog: 1 << 10, ..Limits::STANDARD });
    // Far more than the socket takes by itself.
    let params = format!(r#"{{"x":"{}"}}"#, "x".repeat(8 << 10));
    const COUNT: u64 = 2000;
    client.send(r#"{"meta":"subscribe"}"#).await;
    script.events().waited_for().await;
    for _ in 0..COUNT {
        script.events().happen("A.b", &params, None);
    }
    // One more call on another connection proves that the daemon has gone on meanwhile.
    let mut other = Client::join(script.tasks.clone(), Limits::STANDARD);
    assert!(other.ask(r#"{"meta":"ping"}"#).await.contains("pong"));
    script.events().overflow();
    let mut sent = 0;
    let lost = loop {
        let line: serde_json::Value = serde_json::from_str(&client.line().await).expect("a line of JSON");
        if let Some(lost) = line["lost"].as_u64() {
            break lost;
        }
        sent += 1;
        assert!(sent < COUNT, "all of it was held for a client that did not read");
    };
    assert_eq!(sent + lost, COUNT);
}
