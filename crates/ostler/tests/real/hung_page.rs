//! A tab in an endless loop.

use std::time::{Duration, Instant};

use serde_json::json;

use super::world::World;

#[test]
fn a_busy_tab_times_out_is_freed_by_interrupt_and_slows_nobody() {
    let mut world = World::with(&[("/", "<p>x")]);
    world.go("/");
    let second = world.line.cdp("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
    let mut stuck = world.client();
    // On one connection requests start in the order in which they were sent.
    stuck.send(&json!({"id": 1, "method": "Runtime.evaluate", "params": {"expression": "while (true) {}"}}));
    let late =
        stuck.ask(json!({"id": 2, "method": "Runtime.evaluate", "timeout_ms": 1000, "params": {"expression": "1"}}));
    assert_eq!([&late["error_code"], &late["timeout_ms"]], [&json!("timeout"), &json!(1000)]);
    assert!(late["error"].as_str().unwrap().contains("interrupt"), "{late}");
    let elsewhere = json!({"method": "Runtime.evaluate", "target_id": second, "params": {"expression": "1 + 1"}});
    assert_eq!(world.line.ask(elsewhere)["result"]["result"]["value"], 2);
    assert_eq!(world.line.ask(json!({"meta": "ping"}))["pong"], true);
    assert_eq!(world.line.state()["active"], true);

    assert_eq!(world.line.ask(json!({"meta": "interrupt"})), json!({"ok": true}));
    let ended = stuck.receive();
    assert_eq!(ended["error_code"], "cdp", "the looping script was terminated: {ended}");
    assert_eq!(world.line.js("1 + 1"), 2);
    assert_eq!(world.line.ask(json!({"meta": "interrupt"})), json!({"ok": true}), "nothing to stop is no failure");
    assert_eq!(world.line.js("1 + 2"), 3);
}

#[test]
fn a_call_is_over_at_its_deadline_even_if_nothing_answers() {
    let mut world = World::with(&[]);
    let asked = Instant::now();
    let late = world.line.ask(json!({"method": "Runtime.evaluate", "timeout_ms": 200,
        "params": {"expression": "new Promise(() => {})", "awaitPromise": true}}));
    assert_eq!(late["error_code"], "timeout");
    assert!(asked.elapsed() >= Duration::from_millis(200), "not before its time either");
}
