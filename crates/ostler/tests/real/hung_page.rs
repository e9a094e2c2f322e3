//! A tab in an endless loop.

use std::time::{Duration, Instant};

use serde_json::json;

use super::sandbox::wait_until;
use super::snapshot::ref_in;
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

/// What acts in a page or looks at it, each with its patience of ten seconds and more for one that may only be slow.
fn tools() -> [(&'static str, serde_json::Value); 6] {
    [
        ("browser_screenshot", json!({})),
        ("browser_press", json!({"key": "a"})),
        ("browser_scroll", json!({"dy": 100})),
        ("browser_click", json!({"x": 5, "y": 5})),
        ("browser_type", json!({"text": "x"})),
        ("browser_cdp", json!({"method": "Runtime.evaluate", "params": {"expression": "1"}})),
    ]
}

#[test]
fn tools_do_not_wait_long_for_a_page_that_is_known_to_hang() {
    let mut world = World::with(&[("/", "<input style='position:fixed;inset:0'>")]);
    world.go("/");
    let spin = json!({"method": "Runtime.evaluate", "timeout_ms": 1000, "params": {"expression": "while (true) {}"}});
    assert_eq!(world.line.ask(spin)["error_code"], "timeout");
    for (name, args) in tools() {
        let asked = Instant::now();
        let busy = world.try_tool(name, args);
        assert_eq!(busy["error_code"], "timeout", "{name}: {busy}");
        assert!(asked.elapsed() < Duration::from_secs(5), "{name}: {:?}", asked.elapsed());
        let said = busy["error"].as_str().unwrap();
        assert!(said.contains("; a script has kept the page busy for at least "), "{name}: {said}");
        assert!(said.contains("stop the script with browser_cdp and Runtime.terminateExecution"), "{name}: {said}");
        assert!(name == "browser_cdp" || said.starts_with(name), "in the tool's own name: {said}");
    }
    world.tool("browser_cdp", json!({"method": "Runtime.terminateExecution"}));
    for (name, args) in tools() {
        world.tool(name, args);
    }
}

#[test]
fn a_page_that_nobody_knows_to_spin_is_told_before_anything_is_done_in_it() {
    let mut world = World::with(&[("/", "<input autofocus style='position:fixed;inset:0'>")]);
    world.go("/");
    for (name, args) in tools().into_iter().filter(|(name, _)| !["browser_cdp", "browser_press"].contains(name)) {
        world.line.js("setTimeout(() => { for (;;); }, 0); 1");
        let asked = Instant::now();
        let busy = world.try_tool(name, args);
        assert!(asked.elapsed() < Duration::from_secs(9), "{name}: {:?}", asked.elapsed());
        let said = busy["error"].as_str().unwrap_or_default();
        assert!(said.starts_with(name) && said.contains("; a script has kept the page busy for at least "), "{busy}");
        world.line.cdp("Runtime.terminateExecution", json!({}));
        assert_eq!(world.line.js("1 + 1"), 2);
    }
}

#[test]
fn a_click_beside_a_frame_that_is_known_to_hang_waits_for_nothing() {
    let mut world = World::with(&[
        (
            "/",
            "<button style='position:fixed;left:0;top:0' onclick='document.title = 7'>x</button><iframe style='margin-top:90px' src='{there}/frame'></iframe>",
        ),
        ("/frame", "<script>onmessage = () => { for (;;); }</script>"),
    ]);
    world.go("/");
    let frames = world
        .wait_for_state("the frame is there", |state| state["frame_tree"]["children"][0]["session_id"].is_string());
    let frame = frames["frame_tree"]["children"][0]["frame_id"].clone();
    world.line.js("document.querySelector('iframe').contentWindow.postMessage('go', '*')");
    wait_until("the frame hangs", || {
        let asked =
            json!({"method": "Runtime.evaluate", "frame_id": frame, "timeout_ms": 500, "params": {"expression": "1"}});
        world.line.ask(asked)["error_code"] == "timeout"
    });
    let asked = Instant::now();
    let clicked = world.tool("browser_click", json!({"x": 5, "y": 5}));
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}: {clicked}", asked.elapsed());
    assert_eq!(world.line.js("document.title"), "7");
}

#[test]
fn a_page_that_hung_and_has_recovered_is_used_although_nobody_has_heard_of_that() {
    let mut world = World::with(&[("/", "<p>x")]);
    world.go("/");
    let spin = "setTimeout(() => { const until = Date.now() + 2500; while (Date.now() < until); }, 50); 1";
    world.line.js(spin);
    wait_until("the page hangs", || {
        let asked = json!({"method": "Runtime.evaluate", "timeout_ms": 500, "params": {"expression": "1"}});
        world.line.ask(asked)["error_code"] == "timeout"
    });
    wait_until("it can be used again", || world.try_tool("browser_press", json!({"key": "a"}))["result"].is_object());
}

#[test]
fn a_page_whose_script_holds_its_leaving_up_is_told_so_and_closed() {
    let mut world = World::with(&[("/", "<p>x"), ("/next", "<title>next</title>")]);
    world.go("/");
    let mut stuck = world.client();
    stuck.send(&json!({"id": 1, "method": "Runtime.evaluate", "params": {"expression": "while (true) {}"}}));
    // A reload of a page whose script nobody knows to spin waits for that script, which nothing stops from then on.
    stuck.send(&json!({"id": 2, "method": "Page.reload"}));
    let answers = [stuck.receive(), stuck.receive()];
    assert!(answers.iter().any(|answer| answer["id"] == 2 && answer["result"].is_object()), "{answers:?}");
    let late = json!({"method": "Runtime.evaluate", "timeout_ms": 1000, "params": {"expression": "1"}});
    let late = world.line.ask(late);
    let only_closing = "close the tab with Target.closeTarget, which alone frees it";
    assert!(late["error"].as_str().is_some_and(|said| said.contains(only_closing)), "{late}");
    let interrupted = world.line.ask(json!({"meta": "interrupt"}));
    assert!(interrupted["error"].as_str().is_some_and(|said| said.contains(only_closing)), "{interrupted}");
    let next = world.site.here("/next");
    for (name, args) in tools().into_iter().chain([("browser_navigate", json!({"url": next}))]) {
        let held = world.try_tool(name, args);
        let said = held["error"].as_str().unwrap_or_default();
        assert!(said.contains("close the tab with browser_tabs, which alone frees it"), "{name}: {held}");
    }
    world.tool("browser_tabs", json!({"action": "close"}));
    let opened = world.tool("browser_navigate", json!({"url": next, "new_tab": true}));
    assert_eq!(opened["data"]["title"], "next");
}

#[test]
fn a_frame_of_another_process_that_spins_is_named_and_not_waited_for_again() {
    let mut world = World::with(&[
        ("/", "<title>around</title><iframe src='{there}/frame'></iframe>"),
        ("/frame", "<button>inside</button><script>onmessage = () => { for (;;); }</script>"),
    ]);
    world.go("/");
    let outline = world.outline();
    let inside = outline.lines().find(|line| line.contains("inside")).and_then(ref_in);
    let frames = world.line.state()["frame_tree"]["children"].clone();
    let frame = frames[0]["frame_id"].as_str().unwrap().to_owned();
    world.line.js("document.querySelector('iframe').contentWindow.postMessage('go', '*')");
    let evaluate = |timeout_s| {
        let params = json!({"expression": "1"});
        json!({"method": "Runtime.evaluate", "params": params, "frame_id": frame, "timeout_s": timeout_s})
    };
    wait_until("the frame hangs", || world.try_tool("browser_cdp", evaluate(json!(1)))["error_code"] == "timeout");

    let stop = format!("stop the script with browser_cdp, Runtime.terminateExecution and frame_id {frame}");
    for (name, args) in [("browser_cdp", evaluate(json!(null))), ("browser_click", json!({"ref": inside}))] {
        let asked = Instant::now();
        let held = world.try_tool(name, args);
        assert!(asked.elapsed() < Duration::from_secs(3), "{name}: {:?}", asked.elapsed());
        let said = held["error"].as_str().unwrap_or_default();
        assert!(said.contains(&format!("a script has kept frame {frame} busy")) && said.contains(&stop), "{held}");
    }
    let asked = Instant::now();
    assert!(world.outline().contains("(does not answer: "));
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());

    world.tool("browser_cdp", json!({"method": "Runtime.terminateExecution", "frame_id": frame}));
    wait_until("the frame is read again", || world.outline().contains("inside"));
    world.tool("browser_click", json!({"ref": inside}));
}
