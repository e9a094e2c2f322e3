//! `browser_wait`: it returns when the condition comes to hold, wherever in the tab and however it comes.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::Instant;

use serde_json::{Value, json};

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::text;

const ICON: &str = "<link rel=icon href='data:,'>";

/// Waits while the page does something a moment later.
#[track_caller]
fn wait_while(world: &mut World, script: &str, args: Value) -> Value {
    world.line.js(&format!("setTimeout(() => {{ {script} }}, 300); 1"));
    world.tool("browser_wait", args)
}

#[test]
fn dialogs_that_the_policy_answers_end_no_wait() {
    let page = "<title>asks</title><body><script>setInterval(() => alert('again'), 20);
        setTimeout(() => document.body.append('late'), 1500)</script>";
    let mut world = World::with(&[("/", &format!("{ICON}{page}"))]);
    assert_eq!(world.line.ask(json!({"meta": "connect", "dialog_policy": "auto_accept"}))["ok"], true);
    let url = world.site.here("/");
    world.line.cdp("Page.navigate", json!({"url": url}));
    let seen = world.tool("browser_wait", json!({"text": "late"}));
    assert!(text(&seen).starts_with("There it is after "), "{seen}");
}

#[test]
fn text_and_selectors_are_seen_when_they_appear_in_any_frame_and_shadow_root() {
    let frame = "<iframe src='{there}/in'></iframe>";
    let mut world = World::with(&[
        ("/", &format!("{ICON}<title>waits</title><body><p id=p hidden>Now  Shown</p><div id=host></div>{frame}")),
        ("/in", "<p>frame</p><script>setTimeout(() => { document.body.append('late in the frame') }, 1500)</script>"),
    ]);
    world.go("/");
    let inner = world.tool("browser_wait", json!({"text": "late in the frame"}));
    assert!(text(&inner).starts_with("There it is after "), "{inner}");
    wait_while(&mut world, "p.hidden = false", json!({"text": "now shown"}));
    wait_while(
        &mut world,
        "host.attachShadow({mode: 'open'}).innerHTML = '<b class=deep>x</b>'",
        json!({"selector": ".deep"}),
    );
    // What is there but cannot be seen does not count.
    world.line.js("p.hidden = true, 1");
    let unseen = world.try_tool("browser_wait", json!({"selector": "#p", "timeout_s": 0.3}));
    assert_eq!([&unseen["error_code"], &unseen["timeout_ms"]], [&json!("timeout"), &json!(300)]);
    let here = world.site.here("/");
    let said = format!(
        "nothing that can be seen matched the selector \"#p\" within 300 ms; t1 shows \"waits\" at {here}; \
         look at the page with browser_snapshot, or wait longer with timeout_s"
    );
    assert_eq!(unseen["error"], said);
    wait_while(&mut world, "p.hidden = false", json!({"selector": "#p"}));
    let wrong = world.try_tool("browser_wait", json!({"selector": "p["}));
    assert!(wrong["error"].as_str().unwrap().contains("`selector`: \"p[\" is no CSS selector"), "{wrong}");
}

#[test]
fn a_wait_goes_on_through_navigations() {
    let mut world = World::with(&[
        ("/", &format!("{ICON}first")),
        ("/next", &format!("{ICON}second<script>setTimeout(() => document.body.append(' arrived'), 200)</script>")),
    ]);
    world.go("/");
    let here = world.site.here("/next");
    let came = wait_while(&mut world, "location = '/next'", json!({"text": "arrived"}));
    assert_eq!(came["data"]["url"], here);
    world.go("/");
    wait_while(&mut world, "location = '/next'", json!({"url": "*/next"}));
    wait_while(&mut world, "location.hash = 'x'", json!({"url": "#x"}));
    world.tool("browser_wait", json!({"load": true}));
    let none = world.try_tool("browser_wait", json!({}));
    assert!(none["error"].as_str().unwrap().contains("name one condition"), "{none}");
    let empty = world.try_tool("browser_wait", json!({"url": ""}));
    assert_eq!(empty["error"], "`url`: must not be empty: say what to wait for");
    let two = world.try_tool("browser_wait", json!({"load": true, "text": "x"}));
    assert!(two["error"].as_str().unwrap().contains("`text`: cannot stand beside `load`"), "{two}");
}

#[test]
fn a_wait_goes_on_when_the_page_has_looked_on_for_long_and_busy_pages_are_waited_for() {
    let mut world = World::with(&[("/", &format!("{ICON}<p>x"))]);
    world.go("/");
    // Longer than a page looks on without being asked again.
    world.line.js("setTimeout(() => document.body.append('at last'), 6500); 1");
    world.tool("browser_wait", json!({"text": "at last", "timeout_s": 30}));
    world.line.js("setTimeout(() => { const until = Date.now() + 6500; while (Date.now() < until); \
         document.body.append('free again') }, 100); 1");
    world.tool("browser_wait", json!({"text": "free again", "timeout_s": 30}));
}

#[test]
fn a_wait_goes_on_while_the_server_of_the_next_page_takes_its_time() {
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", slow.local_addr().unwrap());
    let mut world = World::with(&[("/", "<title>before</title>")]);
    world.go("/");
    world.line.js(&format!("setTimeout(() => location = '{url}')"));
    let (mut request, _) = slow.accept().unwrap();
    for condition in ["text", "selector", "load"] {
        let mut args = json!({"text": "There at last", "timeout_s": 2.5});
        match condition {
            "selector" => args = json!({"selector": "h1", "timeout_s": 2.5}),
            "load" => args = json!({"load": true, "timeout_s": 2.5}),
            _ => {}
        }
        let late = world.try_tool("browser_wait", args);
        assert_eq!([&late["error_code"], &late["timeout_ms"]], [&json!("timeout"), &json!(2500)], "{late}");
        let said = late["error"].as_str().unwrap();
        assert!(said.contains("t1 goes to another page, whose server has not answered yet"), "{said}");
    }
    let page = "<title>after</title><h1>There at last</h1>";
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", page.len());
    request.write_all((head + page).as_bytes()).unwrap();
    world.tool("browser_wait", json!({"text": "There at last"}));
    world.tool("browser_wait", json!({"load": true}));
    assert_eq!(world.line.js("document.title"), "after");
}

#[test]
fn a_dialog_ends_a_wait_at_once() {
    let mut world = World::with(&[("/", ICON)]);
    world.go("/");
    world.line.js("setTimeout(() => alert('in the way'), 300); 1");
    let ended = world.try_tool("browser_wait", json!({"text": "never"}));
    assert_eq!([&ended["error_code"], &ended["dialog"]["message"]], ["dialog_open", "in the way"], "{ended}");
    world.tool("browser_dialog", json!({"action": "accept"}));
}

#[test]
fn under_a_native_dialog_what_has_to_see_the_page_returns_at_once_with_it() {
    let mut world = World::with(&[("/", &format!("{ICON}<p>x"))]);
    world.go("/");
    world.line.js("setTimeout(() => confirm('Sure?')); 1");
    world.wait_for_dialogs(1);
    let began = Instant::now();
    for (name, args) in [
        ("browser_screenshot", json!({})),
        ("browser_screenshot", json!({"annotate": true})),
        ("browser_wait", json!({"text": "x"})),
        ("browser_wait", json!({"idle": true})),
        ("browser_wait", json!({"url": "/elsewhere"})),
        ("browser_scroll", json!({"dy": 100})),
        ("browser_press", json!({"key": "Enter"})),
        ("browser_type", json!({"text": "x"})),
        ("browser_click", json!({"x": 1, "y": 1})),
    ] {
        let held = world.try_tool(name, args);
        assert_eq!([&held["error_code"], &held["dialog"]["message"]], ["dialog_open", "Sure?"], "{name}: {held}");
    }
    // Each of them has a patience of some seconds for pages that are only slow.
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    let url = world.tool("browser_wait", json!({"url": "127.0.0.1"}));
    assert_eq!(url["data"]["pending_dialogs"][0]["id"], "d-1", "an address is known without the page: {url}");
    world.tool("browser_dialog", json!({"action": "accept"}));
}

#[test]
fn the_network_is_quiet_although_a_stream_goes_on() {
    let mut world = World::with(&[("/", &format!("{ICON}<p>x"))]);
    world.site.stream("/stream");
    world.go("/");
    world.line.js("source = new EventSource('/stream'); fetch('/stream'); 1");
    let began = Instant::now();
    let quiet = world.tool("browser_wait", json!({"idle": true, "timeout_s": 30}));
    assert!(text(&quiet).contains("a quiet network"), "{quiet}");
    assert!(began.elapsed().as_secs() < 15, "the stream is not waited for");
}

/// Counts what looks on in the tools' own world of the current page.
fn observers(world: &mut World) -> u64 {
    let frame = world.line.ask(json!({"meta": "current_tab"}))["targetId"].clone();
    let made = world.line.cdp("Page.createIsolatedWorld", json!({"frameId": frame, "worldName": "ostler"}));
    let of = json!({"expression": "MutationObserver.prototype", "contextId": made["executionContextId"]});
    let prototype = world.line.cdp("Runtime.evaluate", of)["result"]["objectId"].clone();
    let found = world.line.cdp("Runtime.queryObjects", json!({"prototypeObjectId": prototype}))["objects"].clone();
    let count = json!({"objectId": found["objectId"], "functionDeclaration": "function () { return this.length }"});
    let count = world.line.cdp("Runtime.callFunctionOn", count)["result"]["value"].as_u64();
    // What has been found would be kept alive by having been found.
    world.line.cdp("Runtime.releaseObject", json!({"objectId": found["objectId"]}));
    count.expect("a number")
}

#[test]
fn a_wait_that_ended_without_what_it_waited_for_leaves_nothing_that_looks_on() {
    let mut world = World::with(&[("/", &format!("{ICON}<title>waits</title><p>x"))]);
    world.go("/");
    let mut gone = world.client();
    gone.send(&json!({"meta": "tool", "name": "browser_wait", "args": {"text": "never", "timeout_s": 60}}));
    wait_until("it is looked for", || observers(&mut world) > 0);
    drop(gone);
    wait_until("nobody looks on for a client that left", || observers(&mut world) == 0);
    let ended = world.try_tool("browser_wait", json!({"text": "never", "timeout_s": 0.5}));
    assert_eq!(ended["error_code"], "timeout", "{ended}");
    wait_until("nobody looks on after its time", || observers(&mut world) == 0);
    let said = ended["error"].as_str().unwrap();
    assert!(said.starts_with("the text \"never\" was not seen within 500 ms; t1 shows \"waits\" at "), "{said}");
    world.line.js("setTimeout(() => alert('in the way'), 300); 1");
    assert_eq!(world.try_tool("browser_wait", json!({"text": "never", "timeout_s": 60}))["error_code"], "dialog_open");
    world.tool("browser_dialog", json!({"action": "accept"}));
    wait_until("nobody looks on after a dialog", || observers(&mut world) == 0);
    let quiet = world.try_tool("browser_wait", json!({"url": "/never", "timeout_s": 0.2}));
    assert!(quiet["error"].as_str().unwrap().starts_with("the address did not come to match \"/never\" within"));
}

#[test]
fn waiting_for_quiet_ends_with_the_dialog_that_opens_over_the_bridge_too() {
    for bridge in ["never", "always"] {
        let mut world = World::with(&[("/", &format!("{ICON}<p>x"))]);
        world.line.ask(json!({"meta": "connect", "dialog_bridge": bridge}));
        world.go("/");
        world.line.js("setTimeout(() => confirm('Sure?')); 1");
        world.wait_for_dialogs(1);
        let held = world.try_tool("browser_wait", json!({"idle": true, "timeout_s": 30}));
        assert_eq!([&held["error_code"], &held["dialog"]["message"]], ["dialog_open", "Sure?"], "{bridge}: {held}");
        world.tool("browser_dialog", json!({"action": "accept"}));
    }
}
