//! A tab that Chromium discards, as its Memory Saver does (facts E12, F8). Only an extension can make it do so at once.

use std::fs;

use serde_json::{Value, json};

use super::browser::Chromium;
use super::sandbox::wait_until;
use super::world::World;

const MANIFEST: &str = r#"{"manifest_version": 3, "name": "discards", "version": "1", "permissions": ["tabs"],
    "background": {"service_worker": "worker.js"}}"#;

/// Discards every tab that shows a page of the site.
const DISCARD: &str = "chrome.tabs.query({url: '*://127.0.0.1/*'}).then(tabs => \
    Promise.all(tabs.map(tab => chrome.tabs.discard(tab.id)))).then(tabs => tabs.every(tab => tab.discarded))";

fn targets(world: &mut World) -> Vec<Value> {
    let answer = world.line.ask(json!({"method": "Target.getTargets"}));
    answer["result"]["targetInfos"].as_array().cloned().unwrap_or_default()
}

#[test]
fn a_discarded_tab_is_the_tasks_still_sleeps_until_it_is_needed_and_hides_no_dialog() {
    let extension = tempfile::tempdir().unwrap();
    fs::write(extension.path().join("manifest.json"), MANIFEST).unwrap();
    fs::write(extension.path().join("worker.js"), "").unwrap();
    let flags = [format!("--load-extension={}", extension.path().display())];
    let page = "<title>sleepy</title><script>if (performance.getEntriesByType('navigation')[0].type === 'reload') \
        document.title = prompt('awake?')</script>";
    let mut world = World::in_browser(Chromium::start_with(0, &flags), "", &[("/", page)]);
    // The front tab is never discarded, and a tab of the task's own opens in the background.
    assert_eq!(world.line.ask(json!({"meta": "connect", "task": "t"}))["ok"], true);
    let ask = |method: &str, params: Value| json!({"method": method, "params": params, "task": "t"});
    let here = world.site.here("/");
    world.line.ask(ask("Page.navigate", json!({"url": here})));
    let mut worker = Value::Null;
    wait_until("the extension runs", || {
        let is_worker = |info: &Value| {
            info["type"] == "service_worker" && info["url"].as_str().is_some_and(|url| url.ends_with("/worker.js"))
        };
        let found = targets(&mut world).into_iter().find(is_worker);
        worker = found.unwrap_or_default()["targetId"].clone();
        worker.is_string()
    });
    let before = world.line.ask(json!({"meta": "current_tab", "task": "t"}))["targetId"].clone();
    wait_until("the page is there", || {
        targets(&mut world).iter().any(|info| info["targetId"] == before && info["title"] == "sleepy")
    });

    let session =
        world.line.cdp("Target.attachToTarget", json!({"targetId": worker, "flatten": true}))["sessionId"].clone();
    let discard = json!({"method": "Runtime.evaluate", "session_id": session,
        "params": {"expression": DISCARD, "awaitPromise": true, "returnByValue": true}});
    let discarded = world.line.ask(discard);
    assert_eq!(discarded["result"]["result"]["value"], true, "{discarded}");
    wait_until("the old target is gone", || targets(&mut world).iter().all(|info| info["targetId"] != before));

    let tasks = world.line.ask(json!({"meta": "tasks"}))["tasks"].clone();
    let task = tasks.as_array().unwrap().iter().find(|task| task["task"] == "t").unwrap().clone();
    assert_eq!([&task["tabs"], &task["active"]], [&json!(1), &json!(false)], "it is there, and left to sleep");

    // The first script of the page that wakes asks: the call that woke it is told.
    let loaded = "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))";
    let expression = format!("{loaded}.then(() => document.title)");
    let title = || ask("Runtime.evaluate", json!({"expression": expression, "awaitPromise": true}));
    let met = world.line.ask(title());
    assert_eq!([&met["error_code"], &met["dialog"]["message"]], [&json!("dialog_open"), &json!("awake?")], "{met}");
    let answer = json!({"meta": "dialog", "task": "t", "action": "accept", "prompt_text": "yes"});
    assert_eq!(world.line.ask(answer)["ok"], true);
    assert_eq!(world.line.ask(title())["result"]["result"]["value"], "yes");
    let after = world.line.ask(json!({"meta": "current_tab", "task": "t"}));
    assert!(after["targetId"] != before && after["url"] == json!(here), "{after}");
}
