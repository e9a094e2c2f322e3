//! Any bytes get `bad_request`, and the connection goes on.

use super::{Client, Limits, assert_error};

/// Sends a line that cannot be a request, checks the error, and that the connection still works.
async fn refused(line: &[u8], what: &str) -> String {
    let (mut client, mut script) = Client::connect();
    client.send_bytes(line).await;
    client.send_bytes(b"\n").await;
    let error = client.line().await;
    assert_error(&error, "bad_request", what);
    assert!(client.ask(r#"{"meta":"ping"}"#).await.contains("pong"));
    assert!(script.call_now().is_none(), "{what}: a call was made");
    error
}

#[tokio::test]
async fn what_is_no_json_object_is_refused() {
    for line in ["nonsense", "{", "{}}", "[1]", "null", "\"text\"", "12", r#"["A.b"]"#, r#"{"method":"A.b""#, "\0\u{1}"]
    {
        refused(line.as_bytes(), "`line`").await;
    }
}

#[tokio::test]
async fn bytes_that_are_not_utf8_are_refused_wherever_they_stand() {
    refused(b"\xff\xfe\x00", "UTF-8").await;
    refused(b"{\"method\":\"A.b\",\"params\":{\"x\":\"\xc3\x28\"}}", "byte 31").await;
    refused(b"{\"method\":\"A.b\",\"other\":\"\xed\xa0\x80\"}", "UTF-8").await;
}

#[tokio::test]
async fn wrong_fields_are_named() {
    for (rest, field) in [
        (r#""method":5"#, "`method`: must be a string"),
        (r#""method":"""#, "`method`: must not be empty"),
        (r#""method":"\udc00""#, "`method`: holds half of a surrogate pair"),
        (r#""method":"A.b","meta":"ping""#, "`method`: cannot stand beside `meta`"),
        (r#""params":{}"#, "`method`: is missing"),
        (r#""method":null"#, "`method`: is missing"),
        (r#""method":"A.b","params":[]"#, "`params`: must be a JSON object"),
        (r#""method":"A.b","params":"{}""#, "`params`"),
        (r#""method":"A.b","session_id":{}"#, "`session_id`"),
        (r#""method":"A.b","session_id":"""#, "`session_id`"),
        (r#""method":"A.b","frame_id":1"#, "`frame_id`"),
        (r#""method":"A.b","target_id":false"#, "`target_id`"),
        (r#""method":"A.b","timeout_ms":0"#, "`timeout_ms`: must be a whole number from 1 to 3600000"),
        (r#""method":"A.b","timeout_ms":3600001"#, "`timeout_ms`"),
        (r#""method":"A.b","timeout_ms":-1"#, "`timeout_ms`"),
        (r#""method":"A.b","timeout_ms":1.5"#, "`timeout_ms`"),
        (r#""method":"A.b","timeout_ms":"10""#, "`timeout_ms`"),
        (r#""method":"A.b","timeout_ms":99999999999999999999999"#, "`timeout_ms`"),
        (r#""method":"A.b","on_dialog":"ignore""#, "`on_dialog`"),
        (r#""method":"A.b","task":"a/b""#, "`task`"),
        (r#""method":"A.b","task":"é""#, "`task`"),
        (r#""method":"A.b","sessionId":"S""#, "spelt `session_id` here"),
        (r#""method":"A.b","frameId":"F""#, "spelt `frame_id` here"),
        (r#""meta":"set_session","targetId":"T""#, "spelt `target_id` here"),
        (r#""method":"A.b","timeoutMs":5"#, "spelt `timeout_ms` here"),
        (r#""method":"A.b","task_id":"x""#, r#"`line`: has a field "task_id", which is spelt `task` here"#),
        (r#""meta":"state","task_id":"x""#, "spelt `task` here"),
        (r#""meta":"connect","dialog_polcy":"auto_accept""#, "spelt `dialog_policy` here"),
        (r#""meta":"events","limit":0"#, "`limit`: must be a whole number, 1 or more"),
        (r#""meta":"events","since":-1"#, "`since`: must be a whole number, 0 or more"),
        (r#""meta":"ping","meta":"ping""#, "duplicate field `meta`"),
        (r#""method":"A.b","method":"A.b""#, "duplicate field `method`"),
        (r#""meta":["ping"]"#, "`meta`: must be a string"),
        (r#""meta":"no_such""#, "the known ones are: ping, session,"),
    ] {
        let error = refused(format!("{{\"id\":4,{rest}}}").as_bytes(), field).await;
        assert!(error.starts_with(r#"{"id":4,"error":"#), "{error}");
    }
}

#[tokio::test]
async fn a_task_name_has_at_most_128_characters() {
    let (mut client, mut script) = Client::connect();
    let longest = "x".repeat(128);
    client.send(&format!(r#"{{"id":1,"method":"A.b","task":"{longest}"}}"#)).await;
    assert_eq!(script.call().await.request.task.as_str(), longest);
    refused(format!(r#"{{"method":"A.b","task":"{longest}x"}}"#).as_bytes(), "1 to 128 characters").await;
}

#[tokio::test]
async fn an_id_that_is_an_object_an_array_or_too_long_is_refused_and_not_echoed() {
    let long = format!("\"{}\"", "x".repeat(1023));
    for id in ["{}", "[1]", &long] {
        let error = refused(format!(r#"{{"id":{id},"method":"A.b"}}"#).as_bytes(), "`id`").await;
        assert!(error.starts_with(r#"{"error":"#), "{error}");
    }
}

#[tokio::test]
async fn the_id_of_a_broken_line_is_echoed_only_when_it_cannot_be_mistaken() {
    for (line, echoed) in [
        (r#"{"id":7,"method":"A.b","params":{"x":}}"#, Some("7")),
        (r#"{"id":"a","method":"A.b"} trailing"#, Some("\"a\"")),
        ("{\"id\":7,\"method\":\"\u{1}\"}", Some("7")),
        (r#"{"method":"A.b","method":"A.c","id":7}"#, Some("7")),
        // Cut off inside or right behind the id: it may have been longer.
        (r#"{"id":7"#, None),
        (r#"{"id":7,"#, None),
        (r#"{"id":7 "method":"A.b"}"#, None),
        // After what is wrong, nothing is trusted.
        (r#"{"params":},"id":7}"#, None),
        // An id of something else, or two of them.
        (r#"{"params":{"id":7},"method":}"#, None),
        (r#"{"id":7,"id":8,"method":"A.b"}"#, None),
        (r#"{"id":[],"id":8,"method":"A.b"}"#, None),
        (r#"[{"id":7}]"#, None),
    ] {
        let error = refused(line.as_bytes(), "`line`").await;
        let start = echoed.map_or(r#"{"error":"#.to_owned(), |id| format!(r#"{{"id":{id},"error":"#));
        assert!(error.starts_with(&start), "{line} got {error}");
    }
    let error = refused(b"{\"id\":7,\"method\":\"A.b\",\"x\":\"\xff\"}", "UTF-8").await;
    assert!(error.starts_with(r#"{"id":7,"#), "{error}");
}

#[tokio::test]
async fn deep_nesting_is_refused_before_chromium_chokes_on_it() {
    let deep = |levels: usize| format!("{{\"x\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    refused(format!(r#"{{"method":"A.b","params":{}}}"#, deep(300)).as_bytes(), "`params`: is nested deeper").await;
    refused(format!(r#"{{"method":"A.b","params":{}}}"#, deep(100_000)).as_bytes(), "`params`").await;
    refused("[".repeat(100_000).as_bytes(), "`line`").await;
    refused(r#"{"a":"#.repeat(100_000).as_bytes(), "`line`").await;

    let (mut client, mut script) = Client::connect();
    client.send(&format!(r#"{{"method":"A.b","unknown":{},"params":{}}}"#, deep(100_000), deep(299))).await;
    assert_eq!(script.call().await.params(), deep(299));
}

#[tokio::test]
async fn blank_lines_are_ignored_and_windows_line_ends_are_fine() {
    let (mut client, _script) = Client::connect();
    client.send_bytes(b"\n\r\n  \t\n{\"meta\":\"ping\"}\r\n").await;
    assert!(client.line().await.contains("pong"));
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_with_the_limit_and_the_connection_closed() {
    let limits = Limits { line: 1 << 20, ..Limits::STANDARD };
    let (mut client, mut script) = Client::connect_within(limits);
    client.send(r#"{"method":"A.b"}"#).await;
    let before = script.call().await;
    let start = format!(r#"{{"id":9,"method":"A.b","params":{{"x":"{}"#, "x".repeat(limits.line));
    client.send_bytes(start.as_bytes()).await;
    let error = client.line().await;
    assert_error(&error, "bad_request", "`line`: is longer than the 1 MiB");
    assert!(error.starts_with(r#"{"id":9,"#), "{error}");
    // What was asked before is answered all the same.
    before.succeed("{}");
    assert_eq!(client.line().await, r#"{"result":{}}"#);
    client.closed().await;
}

#[tokio::test]
async fn arbitrary_bytes_never_end_the_daemon() {
    // A fixed pseudo-random sequence, dense in the bytes that mean something here.
    let alphabet = b"{}[]\",:\\u0n \n\xff\xc3idmethodA.b1e";
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        alphabet[usize::try_from(state >> 33).expect("31 bits fit") % alphabet.len()]
    })
    .take(200_000)
    .collect();
    let (mut client, _script) = Client::connect();
    for part in noise.chunks(1000) {
        client.send_bytes(part).await;
        client.send_bytes(b"\n{\"id\":\"end\",\"meta\":\"ping\"}\n").await;
        loop {
            let line = client.line().await;
            if line.contains("\"pong\"") {
                break;
            }
            assert_error(&line, "bad_request", "`");
        }
    }
}
