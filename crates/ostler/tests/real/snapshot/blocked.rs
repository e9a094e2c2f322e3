//! A page that cannot answer is shown as it was.

use std::time::{Duration, Instant};

use serde_json::json;

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::lines;

#[test]
fn while_a_dialog_is_open_the_last_outline_is_shown_and_marked() {
    let mut world = World::with(&[("/", "<button onclick=\"confirm('Sure?')\">Ask</button>")]);
    world.go("/");
    world.line.js("setTimeout(() => confirm('First?'), 0); 1");
    world.wait_for_dialogs(1);
    let unread = world.snapshot(json!({}));
    assert!(unread["text"].as_str().unwrap().contains("was not read before: a confirm dialog (d-1"), "{unread}");
    assert_eq!(unread["data"]["pending_dialogs"][0]["id"], "d-1");
    world.line.ask(json!({"meta": "dialog", "action": "accept"}));

    assert_eq!(world.outline(), "button \"Ask\" [e1]\n");
    world.line.js("setTimeout(() => document.body.firstChild.click(), 0); 1");
    world.wait_for_dialogs(1);
    let stale = world.snapshot(json!({}));
    let text = stale["text"].as_str().unwrap();
    assert!(
        text.starts_with("The page cannot be read now: a confirm dialog (d-2: \"Sure?\") is open. This is s1"),
        "{text}"
    );
    assert!(text.contains("\nbutton \"Ask\" [e1]\n") && text.contains("browser_dialog"), "{text}");
    assert_eq!(stale["data"]["stale"]["because"], "dialog_open");
    assert!(stale["data"]["stale"]["age_s"].as_f64().is_some());

    world.line.ask(json!({"meta": "dialog", "action": "dismiss"}));
    let after = world.snapshot(json!({}));
    assert!(after["data"].get("stale").is_none(), "{after}");
    assert_eq!(after["data"]["recent_dialogs"][1]["closed_by"], "agent");
}

#[test]
fn while_a_script_holds_the_page_the_last_outline_is_shown_and_the_way_out() {
    let mut world = World::with(&[("/", "<p>Before the loop")]);
    world.go("/");
    let before = world.outline();
    let hang = json!({"method": "Runtime.evaluate", "timeout_ms": 500, "params": {"expression": "for (;;) {}"}});
    assert_eq!(world.line.ask(hang)["error_code"], "timeout");
    let asked = Instant::now();
    let stale = world.snapshot(json!({}));
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(stale["data"]["stale"]["because"], "timeout", "{stale}");
    assert!(stale["text"].as_str().unwrap().contains("browser_cdp and Runtime.terminateExecution"), "{stale}");
    assert_eq!(lines(&stale), before);
    // What it is told to do does what it says.
    world.tool("browser_cdp", json!({"method": "Runtime.terminateExecution"}));
    assert!(world.snapshot(json!({}))["data"].get("stale").is_none());
}

#[test]
fn a_dialog_of_a_frame_of_another_process_leaves_the_rest_readable() {
    let mut world = World::with(&[
        ("/", "<button>Outside</button><iframe title=asks src='{there}/in'></iframe><p>Behind"),
        ("/in", "<p>Inside"),
    ]);
    world.go("/");
    wait_until("the frame is read", || world.outline().contains("\"Inside\""));
    let frame = world.line.state()["frame_tree"]["children"][0]["frame_id"].clone();
    let ask = json!({"method": "Runtime.evaluate", "frame_id": frame, "params": {"expression": "setTimeout(() => prompt('Name?'), 0)"}});
    world.line.ask(ask);
    world.wait_for_dialogs(1);
    let snapshot = world.snapshot(json!({}));
    let text = snapshot["text"].as_str().unwrap();
    assert!(text.contains("button \"Outside\"") && text.contains("\"Behind\""), "{text}");
    assert!(text.contains("\n (cannot be read while d-1 is open)\n"), "{text}");
    assert!(snapshot["data"].get("stale").is_none());
}

#[test]
fn changes_are_asked_for_while_a_dialog_is_open_and_the_page_is_not_told_all_over_again() {
    let rows = "<p>A row that was told before</p>".repeat(50);
    let mut world = World::with(&[("/", &format!("<p id=p>one</p>{rows}"))]);
    world.go("/");
    let first = world.snapshot(json!({}))["data"]["snapshot"].clone();
    world.line.js("p.textContent = 'two'");
    let second = world.snapshot(json!({}))["data"]["snapshot"].clone();
    world.line.js("setTimeout(() => confirm('Sure?'), 0); 1");
    world.wait_for_dialogs(1);
    for (since, told) in [(&second, "nothing had changed since s2."), (&first, "- \"one\"\n+ \"two\"")] {
        let stale = world.snapshot(json!({"since": since}));
        let text = stale["text"].as_str().unwrap();
        assert!(text.contains(told) && !text.contains("A row that"), "{text}");
        assert!(text.contains("The page cannot be read now: a confirm dialog (d-1"), "{text}");
        assert_eq!([&stale["data"]["since"], &stale["data"]["stale"]["because"]], [since, &json!("dialog_open")]);
    }
    world.tool("browser_dialog", json!({"action": "accept"}));
}
