//! The peer that a test plays by hand.

mod support;

use ostler_mock::{MockServer, Peer};
use serde_json::json;
use support::{Client, End};

async fn pair() -> (MockServer, Peer, Client) {
    let mut server = MockServer::start().await;
    let client = Client::connect(&server.ws_url()).await;
    let peer = server.accept().await;
    (server, peer, client)
}

/// Runs an expectation that must fail, and returns its words.
async fn failure(expectation: impl Future<Output = ()> + Send + 'static) -> String {
    let failed = tokio::spawn(expectation).await.expect_err("the expectation fails");
    let words = failed.into_panic();
    *words.downcast::<String>().expect("it panics with words")
}

#[tokio::test]
async fn a_script_of_expect_and_send() {
    let (_server, mut peer, mut client) = pair().await;

    let asked = client.send(None, "Target.setAutoAttach", json!({"autoAttach": true})).await;
    let command = peer.expect("Target.setAutoAttach").await;
    assert_eq!(command.params(), json!({"autoAttach": true}));
    peer.reply(&command, json!({})).await;
    assert_eq!(client.reply_to(asked).await, json!({"id": asked, "result": {}}));

    let asked = client.send(Some("S"), "Page.enable", json!({})).await;
    let command = peer.expect_any().await;
    assert_eq!(command.session, Some("S".into()));
    peer.fail_command(&command, -32000, "Not attached to an active page").await;
    let error = json!({"code": -32000, "message": "Not attached to an active page"});
    assert_eq!(client.reply_to(asked).await, json!({"id": asked, "error": error, "sessionId": "S"}));

    peer.event("S", "Page.javascriptDialogOpening", json!({"message": "Hi"})).await;
    peer.event(None, "Target.targetDestroyed", json!({"targetId": "T"})).await;
    let opening = client.next().await;
    assert_eq!(opening["sessionId"], "S");
    assert_eq!(opening["params"]["message"], "Hi");
    assert_eq!(client.next().await.get("sessionId"), None);
}

#[tokio::test]
async fn commands_in_any_order_come_back_in_the_order_asked_for() {
    let (_server, mut peer, mut client) = pair().await;
    for method in ["Log.enable", "Page.enable", "Page.enable"] {
        client.send(None, method, json!({})).await;
    }
    let [first, second, log] = peer.expect_all(["Page.enable", "Page.enable", "Log.enable"]).await;
    assert_eq!((first.id, second.id, log.id), (2, 3, 1));
}

#[tokio::test]
async fn a_failed_expectation_says_where_and_what_came_instead() {
    let (_server, mut peer, mut client) = pair().await;
    client.send(None, "Page.enable", json!({})).await;
    let words = failure(async move { drop(peer.expect("Page.disable").await) }).await;
    assert!(words.contains("tests/peer.rs"), "{words}");
    assert!(words.contains("expected Page.disable, but another command came"), "{words}");
    assert!(words.contains(r#""method":"Page.enable""#), "{words}");
}

#[tokio::test]
async fn an_expectation_gives_up_after_five_seconds() {
    let (_server, mut peer, _client) = pair().await;
    // On a paused clock the five seconds pass as soon as nothing else can happen.
    tokio::time::pause();
    let words = failure(async move { drop(peer.expect("Page.enable").await) }).await;
    assert!(words.contains("nothing more came for 5 s; received: nothing"), "{words}");
}

#[tokio::test]
async fn expect_eventually_passes_over_other_commands() {
    let (_server, mut peer, mut client) = pair().await;
    for method in ["Log.enable", "Network.enable", "Page.enable"] {
        client.send(None, method, json!({})).await;
    }
    assert_eq!(peer.expect_eventually("Page.enable").await.id, 3);
}

#[tokio::test]
async fn silence_is_proved_by_a_pong_and_broken_by_a_command() {
    let (_server, mut peer, mut client) = pair().await;
    let reads = tokio::spawn(async move {
        // Only a client that reads answers a ping.
        client.event("Test.over").await;
        client
    });
    peer.expect_silence().await;
    peer.event(None, "Test.over", json!({})).await;
    let mut client = reads.await.expect("the client reads on");

    client.send(None, "Page.enable", json!({})).await;
    let words = failure(async move { peer.expect_silence().await }).await;
    assert!(words.contains("expected silence until the pong, but a command came"), "{words}");
}

#[tokio::test]
async fn anything_can_be_sent() {
    let (_server, mut peer, mut client) = pair().await;
    peer.send_text("no JSON").await;
    assert_eq!(client.raw().await.as_text(), Some("no JSON"));
    peer.send_binary(vec![0, 159]).await;
    assert_eq!(client.raw().await.as_payload()[..], [0, 159]);

    client.send(None, "Runtime.evaluate", json!({})).await;
    let command = peer.expect("Runtime.evaluate").await;
    peer.reply_raw(&command, r#"{"value":"\ud800"}"#).await;
    assert_eq!(client.raw().await.as_text(), Some(r#"{"id":1,"result":{"value":"\ud800"}}"#));

    peer.send_unframed(&[0xff; 16]).await;
    assert_eq!(client.end().await, End::BrokenFraming);
}

#[tokio::test]
async fn it_ends_in_each_way() {
    let (_server, peer, mut client) = pair().await;
    let closing = tokio::spawn(peer.close());
    assert_eq!(client.end().await, End::CloseFrame);
    assert_eq!(client.end().await, End::NoMore);
    closing.await.expect("the client's close frame came");

    let (_server, peer, mut client) = pair().await;
    peer.drop_abruptly();
    assert_eq!(client.end().await, End::Reset);

    let (_server, peer, mut client) = pair().await;
    drop(peer);
    assert_eq!(client.end().await, End::NoMore);

    let (_server, mut peer, client) = pair().await;
    drop(client);
    peer.expect_closed().await;
}

#[tokio::test]
async fn a_half_closed_peer_still_hears() {
    let (_server, mut peer, mut client) = pair().await;
    peer.half_close().await;
    client.send(None, "Page.enable", json!({})).await;
    peer.expect("Page.enable").await;
    assert_eq!(client.end().await, End::NoMore);
}
