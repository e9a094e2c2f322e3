//! Tasks: bound, bound again, ended, side by side in one browser.

use serde_json::json;

use super::browser::Chromium;
use super::sandbox::wait_until;
use super::world::World;

#[test]
fn two_tasks_in_one_browser_have_tabs_dialogs_and_numbers_of_their_own() {
    let mut world = World::with(&[("/", "<title>first</title>")]);
    world.go("/");
    let connected = world.line.ask(json!({"meta": "connect", "task": "b"}));
    assert_eq!(connected["ok"], true, "{connected}");
    let in_b =
        |expression: &str| json!({"method": "Runtime.evaluate", "task": "b", "params": {"expression": expression}});
    assert_eq!(world.line.ask(in_b("location.href"))["result"]["result"]["value"], "about:blank");
    world.line.ask(in_b("setTimeout(() => confirm('in b'), 0); 1"));
    let mut state = json!(null);
    wait_until("the dialog of b is seen", || {
        state = world.line.ask(json!({"meta": "state", "task": "b"}))["state"].clone();
        state["pending_dialogs"][0].is_object()
    });
    assert_eq!([&state["pending_dialogs"][0]["id"], &state["pending_dialogs"][0]["message"]], ["d-1", "in b"]);
    assert_eq!(world.line.state()["pending_dialogs"], json!([]));
    assert_eq!(world.line.js("document.title"), "first", "the other task's tab is not held up");
    let session = state["pending_dialogs"][0]["session_id"].clone();
    let foreign = json!({"method": "Runtime.evaluate", "session_id": session, "params": {"expression": "1"}});
    assert_eq!(world.line.ask(foreign)["error_code"], "bad_request");

    // The default task ends; the other one goes on in the same browser, and is seen to.
    assert_eq!(world.line.ask(json!({"meta": "disconnect"}))["ok"], true);
    assert_eq!(world.line.ask(json!({"meta": "dialog", "task": "b", "action": "accept"}))["ok"], true);
    let state = world.line.ask(json!({"meta": "state", "task": "b"}))["state"].clone();
    assert_eq!([&state["active"], &state["recent_dialogs"][0]["closed_by"]], [&json!(true), &json!("agent")]);

    // A name that comes back counts on.
    assert_eq!(world.line.ask(json!({"meta": "disconnect", "task": "b"}))["ok"], true);
    let unknown = world.line.ask(in_b("1"));
    assert_eq!([&unknown["error_code"], &unknown["known"]], [&json!("unknown_task"), &json!(["default"])]);
    world.line.ask(json!({"meta": "connect", "task": "b"}));
    world.line.ask(in_b("setTimeout(() => confirm('again'), 0); 1"));
    wait_until("the second dialog of b is seen", || {
        let state = world.line.ask(json!({"meta": "state", "task": "b"}));
        state["state"]["pending_dialogs"][0]["id"] == "d-2"
    });
}

#[test]
fn a_failed_connect_leaves_the_task_as_it_was() {
    let mut world = World::with(&[("/", "<title>kept</title>")]);
    world.go("/");
    let failed = world.line.ask(json!({"meta": "connect", "cdp_url": "ws://127.0.0.1:1/devtools/browser/none"}));
    assert_eq!(failed["error_code"], "browser_gone", "{failed}");
    assert_eq!(world.line.js("document.title"), "kept");
    assert_eq!(world.line.state()["active"], true);
}

#[test]
fn a_rebind_answers_the_dialogs_of_the_browser_that_it_leaves() {
    let mut world = World::with(&[("/", "<title>asks</title>")]);
    world.go("/");
    world.line.js("setTimeout(() => { document.title = String(confirm('well?')) }, 0); 1");
    world.wait_for_dialogs(1);
    let other = Chromium::start();
    let connected = world.line.ask(json!({"meta": "connect", "cdp_url": other.url()}));
    assert_eq!(connected["ok"], true, "{connected}");
    assert_eq!(world.line.js("location.href"), "about:blank");
    assert_eq!(world.line.state()["pending_dialogs"], json!([]));
    // Back in the first browser: its page got an answer and goes on.
    let url = world.chromium.url();
    assert_eq!(world.line.ask(json!({"meta": "connect", "cdp_url": url}))["ok"], true);
    wait_until("the page that asked goes on", || world.line.js("document.title") == "false");
}
