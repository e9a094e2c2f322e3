//! How the connection, or the browser, ends and comes back.

mod support;

use ostler_mock::{Identity, MockBrowser};
use serde_json::json;
use support::{Client, End, supervisor};

#[tokio::test]
async fn connections_end_in_each_way_and_clients_may_come_back() {
    type Cut = fn(&MockBrowser);
    let ways: [(Cut, End); 3] = [
        (MockBrowser::close_connections, End::CloseFrame),
        (MockBrowser::drop_connections, End::Reset),
        (MockBrowser::half_close_connections, End::NoMore),
    ];
    for (cut, end) in ways {
        let browser = MockBrowser::start().await;
        let mut client = supervisor(&browser.ws_url()).await;
        cut(&browser);
        assert_eq!(client.end().await, end);
        drop(client);
        browser.wait_for_connections(0).await;
        supervisor(&browser.ws_url()).await;
    }
}

#[tokio::test]
async fn a_half_closed_connection_still_hears() {
    let browser = MockBrowser::start().await;
    let mut client = Client::connect(&browser.ws_url()).await;
    client.catch_up().await;
    browser.half_close_connections();
    client.send(None, "Target.getTargets", json!({})).await;
    browser.expect("Target.getTargets").await;
    assert_eq!(browser.connections(), 1);
}

#[tokio::test]
async fn a_browser_that_does_not_read_goes_on_sending() {
    let browser = MockBrowser::start().await;
    let mut client = Client::connect(&browser.ws_url()).await;
    client.catch_up().await;
    browser.stop_reading();
    browser.emit(None, "Test.stopped", json!({}));
    client.event("Test.stopped").await;
    let unread = client.send(None, "Target.getTargets", json!({})).await;
    browser.emit(None, "Test.still", json!({}));
    client.event("Test.still").await;
    assert!(browser.commands().iter().all(|command| command.method != "Target.getTargets"));
    browser.read_on();
    client.reply_to(unread).await;
}

#[tokio::test]
async fn the_same_browser_comes_back_with_its_pages() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    let url = browser.ws_url();
    browser.stop().await;
    assert_eq!(client.end().await, End::Reset);
    assert!(Client::try_connect(&url).await.is_err());
    assert!(page.sessions().is_empty());

    browser.restart(Identity::Same).await;
    assert_eq!(browser.ws_url(), url);
    let mut client = supervisor(&url).await;
    let attached = client.event("Target.attachedToTarget").await;
    assert_eq!(attached["params"]["targetInfo"]["targetId"], page.id().as_str());
}

#[tokio::test]
async fn another_browser_comes_back_on_the_same_port_with_nothing_of_the_old() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let url = browser.ws_url();
    browser.stop().await;
    browser.restart(Identity::Another).await;
    assert_ne!(browser.ws_url(), url);
    assert!(Client::try_connect(&url).await.is_err());
    assert!(!page.exists());
    let mut client = supervisor(&browser.ws_url()).await;
    let targets = client.call(None, "Target.getTargets", json!({})).await;
    assert_eq!(targets, json!({"targetInfos": []}));
}

#[tokio::test]
async fn browser_close_answers_closes_and_stops_listening() {
    let browser = MockBrowser::start().await;
    let mut client = Client::connect(&browser.ws_url()).await;
    client.call(None, "Browser.close", json!({})).await;
    assert_eq!(client.end().await, End::CloseFrame);
    assert!(Client::try_connect(&browser.ws_url()).await.is_err());
}

#[tokio::test]
async fn dropping_it_ends_everything() {
    let browser = MockBrowser::start().await;
    let mut client = Client::connect(&browser.ws_url()).await;
    let url = browser.ws_url();
    drop(browser);
    assert_eq!(client.end().await, End::Reset);
    assert!(Client::try_connect(&url).await.is_err());
}

#[tokio::test]
async fn connections_are_counted() {
    let browser = MockBrowser::start().await;
    let first = Client::connect(&browser.ws_url()).await;
    let _second = Client::connect(&browser.ws_url()).await;
    browser.wait_for_connections(2).await;
    drop(first);
    browser.wait_for_connections(1).await;
}
