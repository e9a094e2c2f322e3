//! One request puts a task into a browser, and is held up on the way; another one needs the task at that moment.

#[path = "real/line.rs"]
#[allow(dead_code, reason = "every test binary takes what it needs")]
mod line;
mod sandbox;

use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use ostler_mock::{MockBrowser, MockServer};
use serde_json::json;
use tokio::task::block_in_place;

use line::Line;
use sandbox::{Sandbox, wait_until};

/// How long a connection that must not come is waited for. Too short a time lets a fault pass, and fails nothing else.
const NO_ARRIVAL: Duration = Duration::from_millis(500);

/// Starts a daemon that no environment names a browser to.
fn start() -> (Sandbox, Daemon) {
    let sandbox = Sandbox::new();
    let child = sandbox.ostler(&["daemon"]).env_remove("BU_CDP_WS").stderr(Stdio::null()).spawn();
    let daemon = Daemon(child.expect("ostler runs"));
    block_in_place(|| wait_until("the daemon listens", || UnixStream::connect(sandbox.socket()).is_ok()));
    (sandbox, daemon)
}

/// Ends with the test.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn line(sandbox: &Sandbox) -> Line {
    block_in_place(|| Line::connect(&sandbox.socket()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_connect_dials_nothing_until_the_first_one_is_done() {
    let (mut first, second) = (MockServer::start().await, MockBrowser::start().await);
    second.add_page("https://example.com/");
    let (sandbox, _daemon) = start();
    let (mut one, mut other) = (line(&sandbox), line(&sandbox));
    one.send(&json!({"meta": "connect", "cdp_url": first.ws_url()}));
    // It took the connection and answers nothing: the first connect is on its way as long as this is held.
    let mut peer = first.accept().await;
    peer.expect_any().await;
    other.send(&json!({"meta": "connect", "cdp_url": second.ws_url()}));
    let early = tokio::time::timeout(NO_ARRIVAL, second.wait_for_connections(1)).await;
    assert!(early.is_err(), "the second one is dialled while the first one is on its way");
    peer.drop_abruptly();
    let replies = block_in_place(|| (one.receive(), other.receive()));
    assert_eq!(replies.0["error_code"], "browser_gone", "{replies:?}");
    assert_eq!(replies.1["ok"], true, "{replies:?}");
    let tasks = block_in_place(|| other.ask(json!({"meta": "tasks"})));
    assert_eq!(tasks["tasks"][0]["active"], true, "{tasks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_past_its_time_says_that_it_waited_for_a_connect() {
    let mut server = MockServer::start().await;
    let (sandbox, _daemon) = start();
    let (mut one, mut other) = (line(&sandbox), line(&sandbox));
    one.send(&json!({"meta": "connect", "cdp_url": server.ws_url()}));
    let mut peer = server.accept().await;
    peer.expect_any().await;
    let call = json!({"method": "Runtime.evaluate", "params": {"expression": "1"}, "timeout_ms": 300});
    let answer = block_in_place(|| other.ask(call));
    assert_eq!(answer["error_code"], "timeout", "{answer}");
    assert!(answer["error"].as_str().is_some_and(|words| words.contains("still connects or disconnects")), "{answer}");
    peer.drop_abruptly();
    block_in_place(|| one.receive());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waited_for_a_connect_has_no_second_time_for_its_answer() {
    const HELD_UP: Duration = Duration::from_secs(3);
    const TIME: Duration = Duration::from_secs(4);
    let browser = MockBrowser::start().await;
    browser.add_page("https://example.com/");
    browser.script().delay("Target.attachToTarget", HELD_UP).mute("Runtime.evaluate");
    let (sandbox, _daemon) = start();
    let (mut one, mut other) = (line(&sandbox), line(&sandbox));
    one.send(&json!({"meta": "connect", "cdp_url": browser.ws_url()}));
    browser.expect("Target.attachToTarget").await;
    let call = json!({"method": "Runtime.evaluate", "params": {"expression": "1"}, "timeout_ms": TIME.as_millis()});
    let asked = Instant::now();
    let answer = block_in_place(|| other.ask(call));
    let took = asked.elapsed();
    assert_eq!((&answer["error_code"], &answer["timeout_ms"]), (&json!("timeout"), &json!(4000)), "{answer}");
    assert!(took < TIME + HELD_UP / 2, "{took:?}: {answer}");
    assert_eq!(block_in_place(|| one.receive())["ok"], true);
}
