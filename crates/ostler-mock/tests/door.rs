//! The HTTP side of the endpoint.

mod support;

use ostler_mock::{MockServer, Upgrade, Version};
use serde_json::{Value, json};
use support::{Client, http_get};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn version_names_the_websocket_by_the_host_it_was_called_by() {
    let server = MockServer::start().await;
    let host = format!("localhost:{}", server.port());
    let (status, body) = http_get(server.port(), "/json/version", &host).await;
    let body: Value = serde_json::from_str(&body).expect("it is JSON");
    assert_eq!(status, 200);
    let url = format!("ws://{host}/devtools/browser/{}", server.browser_id());
    assert_eq!(body["webSocketDebuggerUrl"], url);
}

#[tokio::test]
async fn version_answers_what_the_test_says() {
    let server = MockServer::start().await;
    for status in [404, 403] {
        server.set_version(Version::Answer(status, "not now".to_owned()));
        let answer = http_get(server.port(), "/json/version", "127.0.0.1").await;
        assert_eq!(answer, (status, "not now".to_owned()));
    }
    server.set_version(Version::Normal);
    assert_eq!(http_get(server.port(), "/json/version", "127.0.0.1").await.0, 200);
}

#[tokio::test]
async fn foreign_hosts_origins_and_paths_are_turned_away() {
    let server = MockServer::start().await;
    let port = server.port();
    assert_eq!(http_get(port, "/json/version", "browser.internal").await.0, 500);
    assert_eq!(http_get(port, "/json/version", "a.localhost:1").await.0, 200);
    assert_eq!(http_get(port, "/json/version", "[::1]:9222").await.0, 200);
    assert_eq!(http_get(port, "/json/list", "127.0.0.1").await.0, 404);

    let path = format!("/devtools/browser/{}", server.browser_id());
    assert_eq!(upgrade(port, &path, "").await, 101);
    assert_eq!(upgrade(port, &path, "Origin: http://localhost\r\n").await, 403);
    assert_eq!(upgrade(port, "/devtools/browser/another", "").await, 404);
}

#[tokio::test]
async fn a_handshake_is_refused_or_held_until_the_test_lets_it_through() {
    let mut server = MockServer::start().await;
    server.set_upgrade(Upgrade::Refuse(403));
    assert!(Client::try_connect(&server.ws_url()).await.is_err());

    server.set_upgrade(Upgrade::Hold);
    let url = server.ws_url();
    let connecting = tokio::spawn(async move { Client::connect(&url).await });
    server.expect_held(1).await;
    // The endpoint answers others meanwhile.
    assert_eq!(http_get(server.port(), "/json/version", "127.0.0.1").await.0, 200);
    assert!(!server.has_arrival() && !connecting.is_finished());
    server.set_upgrade(Upgrade::Accept);
    let mut peer = server.accept().await;
    let mut client = connecting.await.expect("it connects");
    client.send(None, "Page.enable", json!({})).await;
    peer.expect("Page.enable").await;
}

#[tokio::test]
async fn a_client_that_gives_up_is_held_no_longer() {
    let mut server = MockServer::start().await;
    server.set_upgrade(Upgrade::Hold);
    let url = server.ws_url();
    let connecting = tokio::spawn(async move { Client::connect(&url).await });
    server.expect_held(1).await;
    connecting.abort();
    server.expect_held(0).await;

    // The next one is accepted, so nothing is left of the first.
    server.set_upgrade(Upgrade::Accept);
    let _client = Client::connect(&server.ws_url()).await;
    server.accept().await;
    assert!(!server.has_arrival());
}

#[tokio::test]
async fn a_closed_door_refuses_and_opens_again_on_the_same_port() {
    let mut server = MockServer::start().await;
    let (port, url) = (server.port(), server.ws_url());
    server.close().await;
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());

    server.listen().await;
    assert_eq!(server.ws_url(), url);
    let _client = Client::connect(&url).await;
    server.accept().await;

    server.set_browser_id("another-browser");
    assert!(Client::try_connect(&url).await.is_err());
    assert!(server.ws_url().ends_with("/another-browser"));
}

/// Asks for an upgrade by hand, and returns the status.
async fn upgrade(port: u16, path: &str, more: &str) -> u16 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("the port is open");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
    );
    stream.write_all(request.as_bytes()).await.expect("it takes the request");
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.expect("it answers");
    let status = String::from_utf8_lossy(&head[9..]).parse();
    status.expect("the status is a number")
}
