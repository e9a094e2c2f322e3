//! Console floods, by handle and by magic command.

mod support;

use ostler_mock::{Flood, MockBrowser};
use serde_json::json;
use support::{Client, supervisor};

#[tokio::test]
async fn a_flood_arrives_whole_and_in_order_with_the_reply_behind_it() {
    let browser = MockBrowser::start().await;
    browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    let session = client.set_up_next().await;
    client.catch_up().await;
    client.flood_and_count(&session, 20_000).await;
}

#[tokio::test]
async fn replies_and_other_events_go_out_in_the_middle_of_a_flood() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    let session = client.set_up_next().await;
    client.catch_up().await;
    // More than the sockets hold, so that the flood cannot be over before it is read.
    let flood = Flood::of(200_000, "storm");
    page.flood_console(&flood);
    client.event("Runtime.consoleAPICalled").await;
    client.call(Some(&session), "Runtime.evaluate", json!({"expression": "1+1"})).await;
    let seen = client.unread();
    assert!(seen < flood.count as usize, "the reply came behind the whole flood");
}

#[tokio::test]
async fn a_paced_flood_sends_no_more_than_is_due_and_all_in_the_end() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    client.set_up_next().await;
    client.catch_up().await;
    let begun = std::time::Instant::now();
    page.flood_console(&Flood::of(100, "tick").paced(1000));
    for number in 0..100 {
        let event = client.event("Runtime.consoleAPICalled").await;
        assert_eq!(event["params"]["args"][0]["value"], format!("tick {number}"));
    }
    assert!(begun.elapsed().as_millis() >= 100, "100 events at 1,000 a second are due after 100 ms");
}

#[tokio::test]
async fn a_flood_to_nobody_is_an_error() {
    let browser = MockBrowser::start().await;
    let mut client = Client::connect(&browser.ws_url()).await;
    let params = json!({"sessionId": "nobody", "count": 1});
    assert_eq!(client.refused(None, "Mock.flood", params).await.0, -32602);
}
