//! A page whose script asks on and on: told as that and soon, with a way out that works.

use std::time::{Duration, Instant};

use serde_json::json;

use super::bridged::Bridged;
use super::sandbox::wait_until;
use super::world::World;

/// It asks through a function of its own: a bare loop takes in only after some hundred dialogs that it is to stop (F45).
const LOOP: &str = "<title>loop</title><script>const ask = () => alert('x'); onload = () => setTimeout(() => { for (;;) ask() })</script>";
const PAGES: &[(&str, &str)] = &[("/", LOOP), ("/two", "<title>two</title>")];

/// A world whose page asks on and on under a policy, over the bridge or natively, for long enough that this is known.
fn looping(policy: &str, bridge: &str) -> Bridged {
    let mut bridged = Bridged::by_pauses(bridge, PAGES);
    let world = &mut bridged.world;
    world.line.ask(json!({"meta": "connect", "dialog_policy": policy}));
    let url = world.site.here("/");
    world.line.cdp("Page.navigate", json!({"url": url}));
    wait_until("that it asks on and on is known", || {
        let input = json!({"type": "keyDown", "key": "a"});
        let said = world.line.ask(json!({"method": "Input.dispatchKeyEvent", "params": input, "timeout_ms": 500}));
        said["error"].as_str().is_some_and(|said| said.contains("so the call was not sent"))
    });
    bridged
}

#[test]
fn tools_end_at_once_behind_a_script_that_asks_on_and_on_under_a_policy_and_name_what_stops_it() {
    for (policy, bridge) in [("auto_accept", "never"), ("auto_dismiss", "never"), ("auto_accept", "always")] {
        let world = &mut looping(policy, bridge).world;
        for (name, args) in [
            ("browser_press", json!({"key": "a"})),
            ("browser_click", json!({"x": 5, "y": 5})),
            ("browser_cdp", json!({"method": "Runtime.evaluate", "params": {"expression": "0", "awaitPromise": true}})),
        ] {
            let asked = Instant::now();
            let held = world.try_tool(name, args);
            assert!(asked.elapsed() < Duration::from_secs(2), "{name}: {:?}", asked.elapsed());
            assert_eq!([&held["error_code"], &held["dialog"]["type"]], ["dialog_open", "alert"], "{name}: {held}");
            let said = held["error"].as_str().unwrap();
            assert!(said.contains("dialogs in a row were answered by the dialog policy"), "{name}: {said}");
            assert!(said.contains("stop the script with browser_cdp and Runtime.terminateExecution"), "{name}: {said}");
            assert!(!said.contains("answer it with"), "nobody has to: {said}");
        }
        if bridge == "never" {
            let snapshot = world.tool("browser_snapshot", json!({}));
            let said = snapshot["text"].as_str().unwrap();
            assert!(said.contains("a script asks again and again without ending"), "{said}");
        }
        world.tool("browser_cdp", json!({"method": "Runtime.terminateExecution"}));
        world.tool("browser_press", json!({"key": "a"}));
        assert_eq!(world.line.js("new Promise(resolve => resolve(document.title))"), "loop", "{policy}, {bridge}");
    }
}

#[test]
fn a_page_that_asks_on_and_on_under_a_policy_is_stopped_by_interrupt_and_left_by_navigating() {
    for bridge in ["never", "always"] {
        let world = &mut looping("auto_accept", bridge).world;
        let two = world.site.here("/two");
        let opened = world.tool("browser_navigate", json!({"url": two}));
        assert_eq!(opened["text"], format!("Opened {two} \"two\" in t1."), "{bridge}");

        let world = &mut looping("auto_accept", bridge).world;
        assert_eq!(world.line.ask(json!({"meta": "interrupt"})), json!({"ok": true}), "{bridge}");
        assert_eq!(world.line.js("new Promise(resolve => resolve(document.title))"), "loop", "{bridge}");
    }
}

#[test]
fn who_answers_a_script_again_and_again_is_told_that_only_closing_its_tab_is_sure_to_end_it() {
    for bridge in ["never", "always"] {
        let world = &mut Bridged::by_pauses(bridge, PAGES).world;
        let url = world.site.here("/");
        world.line.cdp("Page.navigate", json!({"url": url}));
        for _ in 0..6 {
            world.wait_for_dialogs(1);
            world.tool("browser_dialog", json!({"action": "accept"}));
        }
        world.wait_for_dialogs(1);
        let held = world.try_tool("browser_press", json!({"key": "a"}));
        let said = held["error"].as_str().unwrap_or_default();
        let way_out =
            "or close the tab with browser_tabs: one script has asked at least 5 times in a row and may never end";
        assert!(said.contains(way_out), "{bridge}: {held}");
        world.tool("browser_tabs", json!({"action": "close"}));
        let two = world.site.here("/two");
        assert_eq!(world.tool("browser_navigate", json!({"url": two, "new_tab": true}))["data"]["title"], "two");
    }
}

#[test]
fn a_page_that_asks_on_while_it_is_left_has_one_question_open_at_a_time() {
    let world = &mut Bridged::by_pauses("always", PAGES).world;
    let url = world.site.here("/");
    world.line.cdp("Page.navigate", json!({"url": url}));
    world.wait_for_dialogs(1);
    let stays = world.try_tool("browser_navigate", json!({"url": world.site.here("/two")}));
    assert_eq!(stays["error_code"], "not_actionable", "{stays}");
    let open = world.line.state()["pending_dialogs"].clone();
    assert_eq!(open.as_array().map(Vec::len), Some(1), "{open}");
}

#[test]
fn a_question_for_each_entry_of_a_list_is_answered_by_the_policy_and_the_call_has_its_answer() {
    let world = &mut World::with(PAGES);
    world.line.ask(json!({"meta": "connect", "dialog_policy": "auto_accept"}));
    let asks = "let yes = 0; for (let i = 0; i < 50; i++) yes += confirm(i); yes";
    assert_eq!(world.line.js(asks), 50);
}
