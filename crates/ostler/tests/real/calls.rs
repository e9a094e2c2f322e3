//! Passthrough and the requests around it.

use serde_json::{Value, json};

use super::world::World;

#[test]
fn the_older_harness_requests_answer_in_its_shapes() {
    let mut world = World::with(&[("/", "<title>Hello</title>")]);
    world.go("/");
    let ping = world.line.ask(json!({"meta": "ping"}));
    assert_eq!([&ping["pong"], &ping["browser_kind"]], [&json!(true), &json!("cdp")]);
    assert!(ping["pid"].is_u64() && ping["version"].is_string());
    let session = world.line.ask(json!({"meta": "session"}))["session_id"].clone();
    let tab = world.line.ask(json!({"meta": "current_tab"}));
    assert_eq!([&tab["title"], &tab["url"]], [&json!("Hello"), &json!(world.site.here("/"))]);
    let status = world.line.ask(json!({"meta": "connection_status"}));
    assert_eq!([&status["target_id"], &status["session_id"]], [&tab["targetId"], &session]);
    assert_eq!(status["page"]["title"], "Hello");
    assert_eq!(world.line.ask(json!({"meta": "pending_dialog"})), json!({"dialog": null}));
    let browser = world.line.ask(json!({"method": "Browser.getVersion", "params": {}, "session_id": session}));
    assert!(browser["result"]["product"].is_string(), "Browser.* goes to the browser: {browser}");

    let target = world.line.cdp("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
    let attached =
        world.line.cdp("Target.attachToTarget", json!({"targetId": target, "flatten": true}))["sessionId"].clone();
    let set = world.line.ask(json!({"meta": "set_session", "session_id": attached, "target_id": target}));
    assert!(set["session_id"].is_string(), "{set}");
    assert_eq!(world.line.ask(json!({"meta": "current_tab"}))["targetId"], target);
    assert_eq!(world.line.js("location.href"), "about:blank");
    let named = json!({"method": "Runtime.evaluate", "session_id": attached, "params": {"expression": "1"}});
    assert_eq!(world.line.ask(named)["result"]["result"]["value"], 1, "the client's own session works too");
}

#[test]
fn draining_takes_nothing_from_a_reader_by_number() {
    let mut world = World::with(&[("/", "<p>x")]);
    world.go("/");
    let drained = world.line.ask(json!({"meta": "drain_events"}))["events"].clone();
    let is_load = |event: &Value| event["method"] == "Page.loadEventFired" && event["session_id"].is_string();
    assert!(drained.as_array().unwrap().iter().any(is_load), "{drained}");
    assert_eq!(world.line.ask(json!({"meta": "drain_events"}))["events"], json!([]));
    let page = world.line.ask(json!({"meta": "events", "since": 0, "methods": ["Page.loadEventFired"]}));
    assert_eq!([&page["events"][0]["method"], &page["lost"]], [&json!("Page.loadEventFired"), &json!(0)]);
    let next = world.line.ask(json!({"meta": "events", "since": page["next"], "methods": ["Page.loadEventFired"]}));
    assert_eq!(next["events"], json!([]));
}

#[test]
fn a_subscription_streams_what_matches() {
    let mut world = World::with(&[]);
    let mut stream = world.client();
    stream.send(&json!({"meta": "subscribe", "methods": ["Runtime.consoleAPICalled"]}));
    // The subscription begins with its own line, or with the first event: ask until one is there.
    let mut first = Value::Null;
    for turn in 0.. {
        world.line.js(&format!("console.log('turn {turn}'); 1"));
        first = stream.receive();
        if first["method"] == "Runtime.consoleAPICalled" {
            break;
        }
    }
    assert!(first["params"]["args"][0]["value"].as_str().unwrap().starts_with("turn"), "{first}");
}

#[test]
fn what_would_blind_the_supervisor_is_refused_with_a_reason() {
    let mut world = World::with(&[]);
    for method in ["Page.disable", "Runtime.disable", "Target.setAutoAttach"] {
        let refused = world.line.ask(json!({"method": method, "params": {}}));
        assert_eq!(refused["error_code"], "bad_request", "{refused}");
    }
    let wrong = world.line.ask(json!({"method": "Runtime.evaluat", "params": {}}));
    assert_eq!(wrong["error_code"], "cdp");
    assert_eq!(wrong["cdp_code"], -32601, "the browser's own number: {wrong}");
}
