//! A page that prints without end does not hide a dialog, fill the memory or take from one client what another reads.

use std::fs;

use serde_json::{Value, json};

use super::super::world::World;

const LINES: u64 = 50_000;
/// What one storm may leave behind: far less than its messages, which are some 25 MB.
const GROWTH_KB: u64 = 8_000;

/// Returns the daemon's resident memory.
fn memory_kb(world: &World) -> u64 {
    let pid = world.sandbox.pid().expect("a running daemon");
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process of ours");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("Linux tells it");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number of kB")
}

/// Has the page print, and then ask; returns the dialog.
fn storm(world: &mut World) -> Value {
    let script = format!(
        "setTimeout(() => {{ for (let i = 0; i < {LINES}; i++) console.log('line', i); window.got = prompt('after?') }}, 0); 1"
    );
    world.line.js(&script);
    world.wait_for_dialogs(1)[0].clone()
}

#[test]
fn after_fifty_thousand_lines_a_dialog_is_seen_memory_is_flat_and_the_loss_is_counted() {
    let mut world = World::with(&[("/", "<p>x")]);
    world.go("/");
    let mut reader = world.client();
    let seen = reader.ask(json!({"meta": "events"}))["next"].as_u64().unwrap();
    let mut grown = Vec::new();
    for turn in 1..=3 {
        let dialog = storm(&mut world);
        assert_eq!([&dialog["message"], &dialog["id"]], [&json!("after?"), &json!(format!("d-{turn}"))]);
        let answer = json!({"meta": "dialog", "action": "accept", "prompt_text": format!("text {turn}")});
        assert_eq!(world.line.ask(answer)["ok"], true);
        assert_eq!(world.line.js("window.got"), format!("text {turn}"));
        grown.push(memory_kb(&world));
    }
    assert!(grown[2] < grown[0] + GROWTH_KB, "memory after each storm, in kB: {grown:?}");

    // One client drains; another reads by number, and misses only what the buffer dropped.
    let drained = world.line.ask(json!({"meta": "drain_events"}))["events"].as_array().unwrap().len();
    assert_eq!(drained, 500);
    let (mut since, mut read, mut lost) = (seen, 0, 0);
    loop {
        let page = reader.ask(json!({"meta": "events", "since": since, "limit": 1000}));
        let events = page["events"].as_array().unwrap();
        (read, lost) = (read + events.len() as u64, lost + page["lost"].as_u64().unwrap());
        since = page["next"].as_u64().unwrap();
        if events.is_empty() {
            break;
        }
    }
    assert_eq!(read + lost, since - seen, "every event was read or counted as lost");
    assert!(read > 500 && lost > LINES, "{read} read, {lost} lost");
}
