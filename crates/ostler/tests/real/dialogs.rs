//! Dialogs as an agent meets them.

use std::time::Instant;

use serde_json::{Value, json};

use super::sandbox::wait_until;
use super::world::World;

/// A button that asks, at a place that is known.
const ASKS: &str = "<body style='margin:0'><button style='width:200px;height:100px' \
    onclick='document.title = String(confirm(\"Delete it?\"))'>go</button>";

#[test]
fn a_click_that_opens_a_dialog_is_answered_with_it_and_everything_else_goes_on() {
    let mut world = World::with(&[("/", ASKS)]);
    world.go("/");
    let answer = world.click(50, 50);
    assert_eq!(answer["error_code"], "dialog_open", "{answer}");
    assert_eq!(answer["dialog"]["message"], "Delete it?");
    assert_eq!(answer["dialog"]["type"], "confirm");

    // Nothing that does not need the page waits for it.
    assert_eq!(world.line.ask(json!({"meta": "ping"}))["pong"], true);
    assert_eq!(world.line.state()["pending_dialogs"][0]["id"], "d-1");
    assert_eq!(world.line.ask(json!({"meta": "pending_dialog"}))["dialog"]["message"], "Delete it?");
    assert!(world.line.ask(json!({"method": "Target.getTargets"}))["result"]["targetInfos"].is_array());
    let blocked = world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": "1"}}));
    assert_eq!(blocked["error_code"], "dialog_open", "{blocked}");

    let answered = world.line.ask(json!({"meta": "dialog", "action": "accept"}));
    assert_eq!(answered["ok"], true, "{answered}");
    let state = world.line.state();
    assert_eq!(state["pending_dialogs"], json!([]));
    assert_eq!(state["recent_dialogs"][0]["closed_by"], "agent");
    assert_eq!(world.line.js("document.title"), "true");
}

#[test]
fn a_dialog_in_another_process_blocks_only_that_process() {
    let mut world = World::with(&[
        ("/", "<body style='margin:0'><iframe style='border:0;width:300px;height:200px' src='{there}/in'></iframe>"),
        ("/in", ASKS),
    ]);
    world.go("/");
    let state = world.wait_for_state("the frame is attached", |state| {
        state["frame_tree"]["children"][0]["is_oopif"] == true
            && state["frame_tree"]["children"][0]["url"].as_str().is_some_and(|url| url.ends_with("/in"))
    });
    let frame = state["frame_tree"]["children"][0]["frame_id"].clone();
    let loaded =
        json!({"method": "Runtime.evaluate", "frame_id": frame, "params": {"expression": "document.readyState"}});
    wait_until("the frame is loaded", || world.line.ask(loaded.clone())["result"]["result"]["value"] == "complete");

    // Until the browser has drawn the frame a click goes past it, to nobody.
    let mut answer = Value::Null;
    wait_until("the click lands in the frame", || {
        answer = world.click(50, 50);
        answer["error_code"] == "dialog_open"
    });
    assert_eq!(answer["dialog"]["frame_id"], frame);
    assert_eq!(world.line.js("1 + 1"), 2, "the top document is in another process and answers");
    let inside = json!({"method": "Runtime.evaluate", "frame_id": frame, "params": {"expression": "1"}});
    assert_eq!(world.line.ask(inside)["error_code"], "dialog_open");

    assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "dismiss"}))["ok"], true);
    let title = json!({"method": "Runtime.evaluate", "frame_id": frame, "params": {"expression": "document.title"}});
    assert_eq!(world.line.ask(title)["result"]["result"]["value"], "false");
}

#[test]
fn a_prompt_gets_its_default_text_unless_one_is_given() {
    let mut world = World::with(&[("/", "<p>x")]);
    world.go("/");
    for (answer, got) in [
        (json!({"meta": "dialog", "action": "accept"}), json!("of\u{fffd}fered")),
        (json!({"meta": "dialog", "action": "accept", "prompt_text": "mine"}), json!("mine")),
        (json!({"meta": "dialog", "action": "dismiss"}), Value::Null),
    ] {
        let asks = "window.got = 0; setTimeout(() => { window.got = prompt('name?', 'of\\ud800fered') }, 0); 1";
        world.line.js(asks);
        world.wait_for_dialogs(1);
        assert_eq!(world.line.ask(answer)["ok"], true);
        world.wait_for("window.got !== 0");
        assert_eq!(world.line.js("typeof window.got === 'string' ? window.got.toWellFormed() : window.got"), got);
    }
}

#[test]
fn dialogs_of_two_tabs_are_both_listed_and_each_answered_by_its_id() {
    let mut world = World::with(&[("/", "<p>x")]);
    world.go("/");
    world.line.js("setTimeout(() => { window.got = prompt('first') }, 0); 1");
    world.wait_for_dialogs(1);
    let second = world.line.cdp("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
    let ask = json!({"method": "Runtime.evaluate", "target_id": second,
        "params": {"expression": "setTimeout(() => { window.got = prompt('second') }, 0); 1"}});
    assert!(world.line.ask(ask)["error"].is_null());
    let open = world.wait_for_dialogs(2);
    assert_eq!([&open[0]["message"], &open[1]["message"]], ["first", "second"]);

    let which = world.line.ask(json!({"meta": "dialog", "action": "accept"}));
    assert_eq!(which["error_code"], "ambiguous_dialog", "{which}");
    assert_eq!(which["known"], json!(["d-1", "d-2"]));
    let unknown = world.line.ask(json!({"meta": "dialog", "action": "accept", "dialog_id": "d-9"}));
    assert_eq!(unknown["error_code"], "unknown_dialog");
    for (id, text) in [("d-2", "two"), ("d-1", "one")] {
        let answer = json!({"meta": "dialog", "action": "accept", "dialog_id": id, "prompt_text": text});
        assert_eq!(world.line.ask(answer)["ok"], true);
    }
    assert_eq!(world.line.js("window.got"), "one");
    let got = json!({"method": "Runtime.evaluate", "target_id": second, "params": {"expression": "window.got"}});
    assert_eq!(world.line.ask(got)["result"]["result"]["value"], "two");
    let none = world.line.ask(json!({"meta": "dialog", "action": "accept"}));
    assert_eq!(none["error_code"], "no_dialog");
}

#[test]
fn a_policy_answers_by_itself_and_says_so() {
    let mut world = World::with(&[("/", "<p>x")]);
    for (policy, got) in [("auto_dismiss", Value::Null), ("auto_accept", json!("offered"))] {
        let connected = world.line.ask(json!({"meta": "connect", "dialog_policy": policy}));
        assert_eq!(connected["ok"], true, "{connected}");
        assert_eq!(world.line.js("prompt('name?', 'offered')"), got, "the evaluate goes on under {policy}");
        assert_eq!(world.line.state()["policy"]["dialog_policy"], policy);
    }
    let recent = world.line.state()["recent_dialogs"].clone();
    assert!(recent.as_array().unwrap().iter().all(|dialog| dialog["closed_by"] == "auto_policy"), "{recent}");
}

#[test]
fn an_unanswered_dialog_is_dismissed_by_the_watchdog() {
    let mut world = World::with(&[("/", "<p>x")]);
    world.line.ask(json!({"meta": "connect", "dialog_timeout_s": 0.2}));
    world.line.js("setTimeout(() => { window.got = confirm('well?') }, 0); 1");
    let state = world.wait_for_state("the watchdog acts", |state| state["recent_dialogs"][0].is_object());
    assert_eq!(state["recent_dialogs"][0]["closed_by"], "watchdog");
    assert_eq!(world.line.js("window.got"), false);
}

#[test]
fn leaving_a_page_with_unsaved_work_asks_and_a_dismissal_stays() {
    let mut world = World::with(&[
        (
            "/",
            "<body style='margin:0'><button style='width:200px;height:100px'>x</button><script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script>",
        ),
        ("/next", "<p>next"),
    ]);
    world.go("/");
    world.click(50, 50);
    let url = world.site.here("/next");
    let leaving = world.line.ask(json!({"method": "Page.navigate", "params": {"url": url}}));
    assert_eq!(leaving["error_code"], "dialog_open", "{leaving}");
    assert_eq!(leaving["dialog"]["type"], "beforeunload");
    assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "dismiss"}))["ok"], true);
    assert_eq!(world.line.js("location.pathname"), "/");
    world.line.send(&json!({"method": "Page.navigate", "params": {"url": url}}));
    assert_eq!(world.line.receive()["error_code"], "dialog_open");
    assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "accept"}))["ok"], true);
    world.wait_for("location.pathname === '/next'");
}

#[test]
fn a_call_may_wait_for_the_dialogs_end_instead() {
    let mut world = World::with(&[("/", "<p>x")]);
    world.go("/");
    let mut other = world.client();
    other.send(&json!({"method": "Runtime.evaluate", "on_dialog": "wait",
        "params": {"expression": "confirm('well?')", "returnByValue": true}}));
    world.wait_for_dialogs(1);
    assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "accept"}))["ok"], true);
    assert_eq!(other.receive()["result"]["result"]["value"], true);
}

#[test]
fn a_frame_removed_under_its_dialog_does_not_take_the_browser_down() {
    let mut world = World::with(&[
        ("/", "<iframe id=f src='{there}/in'></iframe>"),
        ("/in", "<script>setTimeout(() => confirm('well?'), 0)</script>"),
    ]);
    // The frame's dialog keeps the page from being complete.
    let url = world.site.here("/");
    world.line.cdp("Page.navigate", json!({"url": url}));
    world.wait_for_dialogs(1);
    world.line.js("document.getElementById('f').remove(); 1");
    let state = world.wait_for_state("the dialog is gone", |state| state["recent_dialogs"][0].is_object());
    assert_eq!(state["recent_dialogs"][0]["closed_by"], "remote");
    // The tab was reloaded and asks again: dismissed, navigated, closed, all of which would have ended the browser.
    world.wait_for_dialogs(1);
    assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "dismiss"}))["ok"], true);
    world.site.put("/plain", "<p>x");
    world.go("/plain");
    assert_eq!(world.line.js("1 + 1"), 2);
}

#[test]
fn a_tab_whose_frame_asks_is_closed_and_the_browser_lives() {
    let mut world = World::with(&[
        ("/", "<p>x"),
        ("/same", "<iframe src='/asks'></iframe>"),
        ("/other", "<iframe src='{there}/asks'></iframe>"),
        ("/both", "<iframe src='{there}/asks'></iframe><iframe src='/asks-later'></iframe>"),
        ("/asks", "<script>setTimeout(() => alert('first'), 0)</script>"),
        ("/asks-later", "<script>onmessage = () => alert('second'); parent.own = window</script>"),
    ]);
    for path in ["/same", "/other", "/both"] {
        let tab = world.line.cdp("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        assert_eq!(world.line.ask(json!({"meta": "set_session", "target_id": tab}))["error"], Value::Null);
        let url = world.site.here(path);
        world.line.cdp("Page.navigate", json!({"url": url}));
        world.wait_for_dialogs(1);
        if path == "/both" {
            world.line.js("own.postMessage(1, '*'); 1");
            world.wait_for_state("the second is open alone", |state| {
                state["pending_dialogs"]
                    .as_array()
                    .is_some_and(|open| open.len() == 1 && open[0]["message"] == "second")
            });
        }
        assert_eq!(world.line.cdp("Target.closeTarget", json!({"targetId": tab}))["success"], true);
        world.wait_for_state("its dialog is over", |state| {
            state["pending_dialogs"].as_array().is_none_or(Vec::is_empty)
        });
        assert!(world.line.cdp("Browser.getVersion", json!({}))["product"].is_string(), "{path}");
    }
    world.go("/");
}

/// A page whose frame sends it away, and asks without end.
const SENT_AWAY_BY_ITS_FRAME: &[(&str, &str)] = &[
    ("/", "<iframe src='/in'></iframe>"),
    ("/in", "<script>onload = () => setTimeout(() => { parent.location = '/two'; for (;;) alert() })</script>"),
    ("/two", "<title>two</title>"),
];

#[test]
fn a_tab_whose_frame_asks_while_its_next_document_waits_is_closed_and_the_browser_lives() {
    for leaves in [json!({"method": "Target.closeTarget"}), json!({"meta": "disconnect"}), json!({"meta": "shutdown"})]
    {
        let mut world = World::with(SENT_AWAY_BY_ITS_FRAME);
        let tab = world.line.cdp("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        assert_eq!(world.line.ask(json!({"meta": "set_session", "target_id": tab}))["error"], Value::Null);
        world.line.cdp("Page.navigate", json!({"url": world.site.here("/")}));
        wait_until("the next document waits for a dialog", || {
            let history = world.line.ask(json!({"method": "Page.getNavigationHistory"}));
            let waits = history["error"].as_str().is_some_and(|said| said.contains("Not attached to an active page"));
            if !waits {
                // One that opened before the page went holds that up.
                world.line.ask(json!({"meta": "dialog", "action": "accept"}));
            }
            waits
        });
        world.wait_for_dialogs(1);
        let mut leaves = leaves;
        if leaves["method"].is_string() {
            leaves["params"] = json!({"targetId": tab});
        }
        assert_eq!(world.line.ask(leaves.clone())["error"], Value::Null, "{leaves}");
        let tab = tab.as_str().expect("an id");
        wait_until("the tab is closed and the browser lives", || !world.chromium.answer("/json/list").contains(tab));
    }
}

#[test]
fn a_tab_whose_dialog_and_next_document_wait_for_each_other_ends_no_browser_when_it_is_left() {
    let goes = "<script>onload = () => setTimeout(() => { location = '/two'; for (;;) alert() })</script>";
    for leaves in [json!({"meta": "disconnect"}), json!({"method": "Target.closeTarget"}), json!({"meta": "shutdown"})]
    {
        let mut world = World::with(&[("/", goes), ("/two", "<title>two</title>")]);
        let tab = world.line.cdp("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        assert_eq!(world.line.ask(json!({"meta": "set_session", "target_id": tab}))["error"], Value::Null);
        world.line.cdp("Page.navigate", json!({"url": world.site.here("/")}));
        world.wait_for_dialogs(1);
        wait_until("the next document waits for its dialog", || {
            world.line.ask(json!({"meta": "dialog", "action": "accept"}))["error_code"] == "dialog_open"
        });
        let mut leaves = leaves;
        if leaves["method"].is_string() {
            leaves["params"] = json!({"targetId": tab});
        }
        assert_eq!(world.line.ask(leaves.clone())["error"], Value::Null, "{leaves}");
        let tab = tab.as_str().expect("an id");
        wait_until("the tab is closed and the browser lives", || !world.chromium.answer("/json/list").contains(tab));
    }
}

#[test]
fn a_page_is_not_crashed_under_the_dialog_of_its_frame_which_would_take_the_browser_along() {
    let mut world = World::with(&[
        ("/", "<iframe src='{there}/in'></iframe>"),
        ("/in", "<script>setTimeout(() => confirm('well?'), 0)</script>"),
    ]);
    let url = world.site.here("/");
    world.line.cdp("Page.navigate", json!({"url": url}));
    world.wait_for_dialogs(1);
    for request in [json!({"method": "Page.crash"}), json!({"method": "Page.crash", "on_dialog": "wait"})] {
        assert_eq!(world.line.ask(request)["error_code"], "dialog_open");
    }
    assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "dismiss"}))["ok"], true);
    assert_eq!(world.line.ask(json!({"method": "Page.crash"}))["error_code"], "target_crashed");
    world.line.cdp("Page.reload", json!({}));
    world.wait_for_dialogs(1);
}

#[test]
fn a_dialog_that_was_open_before_ostler_came_is_named_with_the_way_out() {
    let mut world = World::with(&[("/", "<p>x")]);
    world.go("/");
    world.line.js("setTimeout(() => alert('orphan'), 0); 1");
    world.wait_for_dialogs(1);
    // Killed, it can answer nothing; the page stays blocked, and nobody can answer it any more.
    world.sandbox.kill();
    let mut command = world.sandbox.ostler(&["--json", "cdp", "Runtime.evaluate", r#"{"expression":"1"}"#]);
    command.env_remove("BU_CDP_WS").env("BU_CDP_URL", world.chromium.url());
    let asked = Instant::now();
    let ran = super::sandbox::Ran::of(&mut command);
    assert!(asked.elapsed().as_secs() < 10, "it is told, not waited out");
    let error: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(error["error_code"], "dialog_open", "{ran:?}");
    assert_eq!([&error["dialog"]["type"], &error["dialog"]["answerable"]], [&json!("unknown"), &json!(false)]);
    world.line = world.client();
    let answer = world.line.ask(json!({"meta": "dialog", "action": "accept"}));
    assert!(answer["error"].as_str().unwrap().contains("reload"), "{answer}");
    world.line.cdp("Page.reload", json!({}));
    world.wait_for_state("nothing is open", |state| state["pending_dialogs"] == json!([]));
    assert_eq!(world.line.js("1 + 1"), 2);
}
