//! The browser goes away under the daemon, and comes back.

use serde_json::{Value, json};

use super::browser::Chromium;
use super::sandbox::wait_until;
use super::world::World;

#[test]
fn all_calls_in_flight_end_when_the_browser_is_killed_and_a_new_one_is_found_clean() {
    let mut world = World::with(&[("/", "<title>old</title><iframe src='/in'></iframe>"), ("/in", "<p>x")]);
    world.go("/");
    world.line.js("setTimeout(() => console.error('of the old browser'), 0); 1");
    world.wait_for_state("the error is seen", |state| state["console"][0].is_object());
    let mut many = world.client();
    for id in 0..100 {
        many.send(&json!({"id": id, "method": "Runtime.evaluate",
            "params": {"expression": "new Promise(() => {})", "awaitPromise": true}}));
    }
    // All hundred were read and sent once an answer to a request behind them is here.
    assert_eq!(
        many.ask(json!({"id": "last", "method": "Runtime.evaluate", "params": {"expression": "1"}}))["id"],
        "last"
    );
    let port = world.chromium.port();
    world.chromium.kill();
    let mut ended: Vec<Value> = (0..100).map(|_| many.receive()).collect();
    ended.sort_by_key(|answer| answer["id"].as_u64());
    for (id, answer) in ended.iter().enumerate() {
        assert_eq!(answer["id"], id);
        assert_eq!(answer["error_code"], "unknown_outcome", "{answer}");
    }
    let refused = world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": "1"}}));
    assert_eq!(refused["error_code"], "browser_gone", "{refused}");
    assert!(refused["retry_after_ms"].is_u64());
    assert_eq!(world.line.state()["active"], false);
    assert!(world.line.state().get("frame_tree").is_none(), "absent, not empty");

    world.chromium = Chromium::start_on(port);
    let evaluate =
        json!({"method": "Runtime.evaluate", "params": {"expression": "document.title", "returnByValue": true}});
    wait_until("the new browser is found", || world.line.ask(evaluate.clone()).get("result").is_some());
    let state = world.line.state();
    assert_eq!([&state["console"], &state["recent_dialogs"]], [&json!([]), &json!([])]);
    assert_eq!(state["frame_tree"]["children"], json!([]));
    assert_eq!(world.line.js("location.href"), "about:blank");
}

#[test]
fn a_session_of_before_is_gone_and_never_redirected() {
    let mut world = World::with(&[]);
    let session = world.line.ask(json!({"meta": "session"}))["session_id"].clone();
    let tab = world.line.ask(json!({"meta": "current_tab"}))["targetId"].clone();
    world.line.cdp("Target.closeTarget", json!({"targetId": tab}));
    let gone = json!({"method": "Runtime.evaluate", "session_id": session, "params": {"expression": "1"}});
    wait_until("the session is known to be gone", || world.line.ask(gone.clone())["error_code"] == "session_gone");
    // A call that named no session heals by itself.
    assert_eq!(world.line.js("1 + 1"), 2);
    assert_ne!(world.line.ask(json!({"meta": "session"}))["session_id"], session);
}
