//! A frame is removed under its open dialog, and the next thing that happens is something that the agent does: each of
//! these would have ended the whole browser (fact A25).

use serde_json::{Value, json};

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::times;

const ADD: &str = "document.body.append(Object.assign(document.createElement('iframe'), {src: '{there}/in'})); 1";
const REMOVE: &str = "document.querySelector('iframe').remove(); 1";

/// Answers whatever is open, until the tab answers and nothing is.
fn come_to_rest(world: &mut World) {
    wait_until("the tab answers and nothing is open", || {
        world.line.ask(json!({"meta": "dialog", "action": "dismiss"}));
        let answer = world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": "1 + 1"}}));
        answer["result"]["result"]["value"] == 2 && world.line.state()["pending_dialogs"] == json!([])
    });
}

#[test]
fn a_frame_that_is_removed_under_its_dialog_ends_no_browser_whatever_the_agent_does() {
    let mut world = World::with(&[("/", "<body>"), ("/in", "<script>setTimeout(() => confirm('well?'), 0)</script>")]);
    let add = ADD.replace("{there}", &world.site.there(""));
    let here = world.site.here("/");
    let browser = world.line.cdp("Browser.getVersion", json!({}));
    let count = times(2, 20);
    for turn in 0..count {
        for name in ["answer", "navigate", "reload", "close", "another dialog"] {
            world.go("/");
            world.line.js(&add);
            world.wait_for_dialogs(1);
            let target = world.line.ask(json!({"meta": "current_tab"}))["targetId"].clone();
            let another = "setTimeout(() => confirm('another'), 0); 1";
            let action = match name {
                "answer" => json!({"meta": "dialog", "action": "accept"}),
                "navigate" => json!({"method": "Page.navigate", "params": {"url": here}}),
                "reload" => json!({"method": "Page.reload"}),
                "close" => json!({"method": "Target.closeTarget", "params": {"targetId": target}}),
                _ => json!({"method": "Runtime.evaluate", "params": {"expression": another}}),
            };
            world.line.js(REMOVE);
            world.line.ask(action);
            let version = world.line.ask(json!({"method": "Browser.getVersion"}));
            assert_eq!(version["result"], browser, "{name}, turn {turn}: the browser is gone: {version}");
            come_to_rest(&mut world);
        }
    }
    // A browser that had ended would have come back as none: nothing here starts one.
    assert_eq!(world.line.cdp("Browser.getVersion", json!({})), browser);
    println!("the browser survived {count} times each");
}

/// Both are on their way before anybody has heard that the frame went. An answer that crosses with the removal so ends
/// the browser, and nothing that a client could send would keep it from that; leaving the page does not (fact F38).
#[test]
fn a_page_that_is_left_in_the_moment_in_which_its_asking_frame_goes_ends_no_browser() {
    let first = "<script>window.answer = prompt('first')</script>";
    let mut world = World::with(&[
        ("/", "<body>"),
        ("/in", "<script>setTimeout(() => confirm('well?'), 0)</script>"),
        ("/next", first),
    ]);
    let add = ADD.replace("{there}", &world.site.there(""));
    let next = world.site.here("/next");
    let browser = world.line.cdp("Browser.getVersion", json!({}));
    for turn in 0..times(2, 20) {
        for (name, goes) in
            [("navigate", true), ("navigate", false), ("reload", true), ("reload", false), ("close", true)]
        {
            world.go("/");
            world.line.js(&add);
            world.wait_for_dialogs(1);
            let target = world.line.ask(json!({"meta": "current_tab"}))["targetId"].clone();
            if goes {
                world.line.send(&json!({"id": 1, "method": "Runtime.evaluate", "params": {"expression": REMOVE}}));
            }
            world.line.send(&match name {
                "navigate" => json!({"id": 2, "method": "Page.navigate", "params": {"url": next}}),
                "reload" => json!({"id": 2, "method": "Page.reload"}),
                _ => json!({"id": 2, "method": "Target.closeTarget", "params": {"targetId": target}}),
            });
            for _ in 0..1 + usize::from(goes) {
                world.line.receive();
            }
            let version = world.line.ask(json!({"method": "Browser.getVersion"}));
            assert_eq!(version["result"], browser, "{name}, turn {turn}: the browser is gone: {version}");
            if name == "navigate" {
                let asks = |state: &Value| state["pending_dialogs"][0]["message"] == "first";
                world.wait_for_state("the next page asks", asks);
                world.line.ask(json!({"meta": "dialog", "action": "accept", "prompt_text": "hi"}));
                assert_eq!(world.line.js("answer"), "hi", "turn {turn}: the first dialog of the next page");
            }
            come_to_rest(&mut world);
        }
    }
}
