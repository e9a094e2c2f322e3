//! `browser_tabs`: names that stay, and a list that no bad tab slows down.

use std::time::Instant;

use serde_json::{Value, json};

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::text;

#[test]
fn tabs_keep_their_names_while_others_come_and_go() {
    let mut world = World::with(&[("/a", "<title>a</title>"), ("/b", "<title>b</title>")]);
    world.tool("browser_navigate", json!({"url": world.site.here("/a")}));
    let opened = world.tool("browser_tabs", json!({"action": "new", "url": world.site.here("/b")}));
    assert_eq!(opened["data"]["tab"], "t2");
    world.tool("browser_tabs", json!({"action": "new"}));
    let closed = world.tool("browser_tabs", json!({"action": "close", "target_id": "t2"}));
    assert!(text(&closed).starts_with("Closed t2.\nt1 "), "{closed}");
    let ids: Vec<_> = closed["data"]["tabs"].as_array().unwrap().iter().map(|tab| tab["id"].clone()).collect();
    assert_eq!(ids, ["t1", "t3"]);
    let again = world.try_tool("browser_tabs", json!({"action": "switch", "target_id": "t2"}));
    assert!(again["error"].as_str().unwrap().contains("there are t1, t3"), "{again}");
    world.tool("browser_tabs", json!({"action": "switch", "target_id": "t1"}));
    assert_eq!(world.line.js("document.title"), "a");
    let fourth = world.tool("browser_tabs", json!({"action": "new", "url": world.site.here("/b")}));
    assert_eq!(fourth["data"]["tab"], "t4", "a number is never used again");
}

#[test]
fn one_tab_in_an_endless_loop_slows_no_tool_on_the_others() {
    let mut world = World::with(&[("/", "<title>loops</title>"), ("/fine", "<title>fine</title>")]);
    world.go("/");
    let hang = json!({"method": "Runtime.evaluate", "timeout_ms": 600, "params": {"expression": "for (;;) {}"}});
    assert_eq!(world.line.ask(hang)["error_code"], "timeout");
    let listed = world.tool("browser_tabs", json!({"action": "list"}));
    assert_eq!(listed["data"]["tabs"][0]["state"], "hung", "{listed}");

    let began = Instant::now();
    let opened = world.tool("browser_navigate", json!({"url": world.site.here("/fine"), "new_tab": true}));
    assert_eq!(opened["data"]["loaded"], true);
    world.tool("browser_tabs", json!({"action": "list"}));
    world.tool("browser_console", json!({}));
    assert!(began.elapsed().as_secs() < 10, "nothing waits for the hung tab");

    world.tool("browser_tabs", json!({"action": "switch", "target_id": "t1"}));
    assert_eq!(world.line.ask(json!({"meta": "interrupt"}))["ok"], true);
    let tabs = world.tool("browser_tabs", json!({"action": "list"}));
    assert_eq!(tabs["data"]["tabs"][0]["state"], "ready", "{tabs}");
}

#[test]
fn a_crashed_tab_is_listed_as_such_and_navigating_starts_it_again() {
    let mut world = World::with(&[("/", "<title>fine</title>")]);
    world.go("/");
    world.line.send(&json!({"method": "Page.crash", "params": {}}));
    assert_eq!(world.line.receive()["error_code"], "target_crashed");
    let listed = world.tool("browser_tabs", json!({"action": "list"}));
    assert_eq!(listed["data"]["tabs"][0]["state"], "crashed", "{listed}");
    world.tool("browser_navigate", json!({"url": world.site.here("/")}));
    wait_until("the tab is ready again", || {
        world.tool("browser_tabs", json!({"action": "list"}))["data"]["tabs"][0]["state"] == "ready"
    });
    assert_eq!(world.line.js("document.title"), "fine");
}

#[test]
fn after_the_current_tab_was_closed_it_is_said_which_one_is_current_then() {
    let mut world = World::with(&[("/", "<title>left</title>")]);
    world.go("/");
    for _ in 0..2 {
        world.tool("browser_tabs", json!({"action": "new"}));
    }
    let closed = world.tool("browser_tabs", json!({"action": "close"}));
    assert!(text(&closed).starts_with("Closed t3, the current tab; t2 is the current one now.\n"), "{closed}");
    let current = |listed: &Value| -> Vec<String> {
        let tabs = listed["data"]["tabs"].as_array().expect("tabs").iter();
        tabs.filter(|tab| tab["current"] == true).map(|tab| tab["id"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(current(&closed), ["t2"]);
    let closed = world.tool("browser_tabs", json!({"action": "close", "target_id": "t2"}));
    assert_eq!(current(&closed), ["t1"], "{closed}");
    assert_eq!(world.line.js("document.title"), "left");
}
