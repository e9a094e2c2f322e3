//! `browser_navigate`: it returns when the page is there, or when it is known why it is not.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::snapshot::ref_in;
use super::super::world::World;
use super::text;

#[test]
fn navigating_waits_for_the_load_and_tells_what_came() {
    let mut world = World::with(&[
        ("/", "<title>home</title><img src='/slow'><script>onload = () => { window.loaded = true }</script>"),
        ("/next", "<title>next</title>"),
    ]);
    let url = world.site.here("/");
    let opened = world.tool("browser_navigate", json!({"url": url.trim_start_matches("http://")}));
    assert_eq!(text(&opened), format!("Opened {url} \"home\" in t1."));
    assert_eq!([&opened["data"]["loaded"], &opened["data"]["status"]], [&json!(true), &json!(200)]);
    assert_eq!(world.line.js("window.loaded"), true);

    let same = world.tool("browser_navigate", json!({"url": format!("{url}#part")}));
    assert!(text(&same).starts_with(&format!("Opened {url}#part \"home\"")), "{same}");

    let second = world.tool("browser_navigate", json!({"url": world.site.here("/next"), "new_tab": true}));
    assert_eq!([&second["data"]["tab"], &second["data"]["title"]], ["t2", "next"]);
    assert_eq!(world.line.js("document.title"), "next", "it is the current tab");
}

#[test]
fn an_address_that_cannot_be_opened_is_an_error_that_says_why() {
    let mut world = World::with(&[]);
    let refused = world.try_tool("browser_navigate", json!({"url": "http://127.0.0.1:1/"}));
    assert_eq!(refused["error_code"], "cdp");
    let sentence = refused["error"].as_str().unwrap();
    assert!(sentence.contains("ERR_UNSAFE_PORT") || sentence.contains("nothing listens there"), "{sentence}");
    let nothing = world.try_tool("browser_navigate", json!({"url": world.site.here("/nothing")}));
    assert!(nothing["error"].as_str().unwrap().contains("an error status and an empty page"), "{nothing}");
    let long = world.try_tool("browser_navigate", json!({"url": format!("http://[{}", "x".repeat(100_000))}));
    let sentence = long["error"].as_str().unwrap();
    assert!(sentence.contains("is no URL, such as https://example.com/path") && sentence.len() < 500, "{sentence}");
    let empty = world.try_tool("browser_navigate", json!({"url": " "}));
    assert_eq!(empty["error_code"], "bad_request");
}

#[test]
fn a_page_behind_a_password_is_told_as_one_and_opened_with_name_and_password() {
    let mut world = World::with(&[]);
    world.site.lock("/locked", "<link rel=icon href='data:,'><title>inside</title>");
    let locked = world.site.here("/locked");
    let refused = world.try_tool("browser_navigate", json!({"url": locked}));
    assert_eq!(refused["error_code"], "cdp");
    let sentence = refused["error"].as_str().unwrap();
    assert!(sentence.contains("wants a user name and a password (HTTP 401)"), "{sentence}");
    let opened = world.tool("browser_navigate", json!({"url": locked.replace("://", "://ada:secret@")}));
    assert_eq!(text(&opened), format!("Opened {locked} \"inside\" in t1."), "and shows neither of them");
}

#[test]
fn a_page_whose_frame_waits_for_a_dialog_in_another_tab_is_not_waited_for() {
    let mut world = World::with(&[
        ("/asks", "<iframe src='{there}/first'></iframe>"),
        ("/first", "<script>setTimeout(() => alert('first'), 0)</script>"),
        ("/link", "<a href='/same'>Same</a>"),
        ("/same", "<title>same</title><iframe src='{there}/plain'></iframe>"),
        ("/plain", "<p>x"),
    ]);
    let [asks, link, same] = ["/asks", "/link", "/same"].map(|path| world.site.here(path));
    world.tool("browser_navigate", json!({"url": asks}));
    world.wait_for_dialogs(1);
    let waits = "It does not load any further before one of its frames answers";
    let opened = world.tool("browser_navigate", json!({"url": same, "new_tab": true}));
    assert!(text(&opened).contains(waits), "{opened}");
    assert_eq!(opened["data"]["loaded"], false);

    world.tool("browser_navigate", json!({"url": link, "new_tab": true}));
    let outline = world.outline();
    let clicked = world.tool("browser_click", json!({"ref": ref_in(&outline)}));
    assert!(text(&clicked).contains(waits), "{clicked}");
    world.tool("browser_dialog", json!({"action": "accept"}));
    let opened = world.tool("browser_navigate", json!({"url": same}));
    assert_eq!(opened["data"]["loaded"], true, "{opened}");
}

#[test]
fn a_page_whose_process_a_popups_dialog_stops_tells_of_that_dialog() {
    let mut world = World::with(&[
        ("/", "<button onclick=\"window.open('/asks')\">Open</button>"),
        ("/asks", "<script>setTimeout(() => alert('first'), 0)</script>"),
        ("/next", "<title>next</title>"),
    ]);
    let [home, next] = ["/", "/next"].map(|path| world.site.here(path));
    world.tool("browser_navigate", json!({"url": home}));
    let outline = world.outline();
    world.tool("browser_click", json!({"ref": ref_in(&outline)}));
    world.wait_for_dialogs(1);
    let held = world.try_tool("browser_navigate", json!({"url": next}));
    assert_eq!([&held["error_code"], &held["dialog"]["message"]], ["dialog_open", "first"], "{held}");
    world.tool("browser_dialog", json!({"action": "accept"}));
    let opened = world.tool("browser_navigate", json!({"url": next}));
    assert_eq!(opened["data"]["title"], "next");
}

#[test]
fn a_server_that_does_not_answer_is_told_as_that_and_can_be_given_up() {
    // Connections are made, and nobody takes them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let mut world = World::with(&[("/", &format!("<title>home</title><a href='{url}'>Away</a>"))]);
    world.go("/");
    let opened = world.tool("browser_navigate", json!({"url": url}));
    assert!(text(&opened).contains("its server has not answered within 15 s, and t1 goes on waiting"), "{opened}");
    assert_eq!([&opened["data"]["loaded"], &opened["data"]["title"]], [&json!(false), &json!("home")]);
    let evaluate = json!({"method": "Runtime.evaluate", "params": {"expression": "1"}, "timeout_ms": 300});
    let held = world.line.ask(evaluate);
    assert_eq!(held["error_code"], "timeout");
    let sentence = held["error"].as_str().unwrap();
    assert!(sentence.contains("server has not answered yet") && sentence.contains("Page.stopLoading"), "{sentence}");

    world.line.cdp("Page.stopLoading", json!({}));
    assert_eq!(world.line.js("document.title"), "home");
    let tabs = world.tool("browser_tabs", json!({"action": "list"}));
    assert_eq!(tabs["data"]["tabs"][0]["state"], "ready", "{tabs}");
    let outline = world.outline();
    let clicked = world.tool("browser_click", json!({"ref": ref_in(&outline)}));
    assert!(text(&clicked).contains("whose server has not answered yet"), "{clicked}");
}

#[test]
fn a_tool_that_needs_a_page_which_waits_for_the_server_of_another_one_says_so_soon() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    // It goes once more while it goes, which ends the first way.
    let link = format!("<a href='{url}' onclick='setTimeout(() => location = this + 1, 3000)'>Away</a>");
    let mut world = World::with(&[("/", &format!("{link}<input><button>Stay</button>"))]);
    world.go("/");
    let outline = world.outline();
    let refs: Vec<_> = outline.split('[').skip(1).map(|part| part.split(']').next().unwrap().to_owned()).collect();
    let waits = "goes to another one, whose server has not answered yet";

    let clicked = world.tool("browser_click", json!({"ref": refs[0]}));
    assert!(text(&clicked).contains(waits) && text(&clicked).starts_with("Clicked"), "{clicked}");
    for (tool, args) in [
        ("browser_click", json!({"ref": refs[2]})),
        ("browser_click", json!({"x": 5, "y": 5})),
        ("browser_type", json!({"ref": refs[1], "text": "a"})),
        ("browser_type", json!({"text": "a"})),
        ("browser_press", json!({"key": "a"})),
        ("browser_scroll", json!({"dy": 5})),
        ("browser_screenshot", json!({})),
        ("browser_screenshot", json!({"annotate": true})),
    ] {
        let began = Instant::now();
        let held = world.try_tool(tool, args.clone());
        assert_eq!(held["error_code"], "timeout", "{tool} {args}: {held}");
        let sentence = held["error"].as_str().unwrap();
        assert!(sentence.contains(waits) && sentence.contains("Page.stopLoading"), "{tool} {args}: {sentence}");
        assert!(began.elapsed() < Duration::from_secs(4), "{tool} {args}: {:?}", began.elapsed());
    }
    let stale = world.tool("browser_snapshot", json!({}));
    assert!(text(&stale).contains(waits) && text(&stale).contains("Page.stopLoading"), "{stale}");
    world.tool("browser_cdp", json!({"method": "Page.stopLoading"}));
    world.tool("browser_click", json!({"ref": refs[2]}));
}

#[test]
fn a_dialog_while_loading_ends_the_wait_and_stands_in_the_result() {
    let mut world = World::with(&[("/", "<script>confirm('first?')</script><title>asks</title>")]);
    let url = world.site.here("/");
    let opened = world.tool("browser_navigate", json!({"url": url}));
    assert_eq!(
        [&opened["data"]["loaded"], &opened["data"]["pending_dialogs"][0]["message"]],
        [&json!(false), &json!("first?")]
    );
    assert!(text(&opened).contains("does not load any further before its dialog is answered"), "{opened}");
    let answered = world.tool("browser_dialog", json!({"action": "accept"}));
    assert_eq!([&answered["text"], &answered["data"]["dialog"]["closed_by"]], ["Accepted the confirm d-1.", "agent"]);
    assert_eq!(world.line.js("document.title"), "asks");
}

const ASKS_LATER: &str = "<title>asks</title><script>onload = () => setTimeout(() => { confirm('stay?') })</script>";

#[test]
fn a_dialog_of_the_page_that_is_left_goes_with_it_over_the_bridge_as_well() {
    for bridge in ["never", "always"] {
        let mut world = World::with(&[("/", ASKS_LATER), ("/two", "<title>two</title>")]);
        world.line.ask(json!({"meta": "connect", "dialog_bridge": bridge}));
        world.line.cdp("Page.navigate", json!({"url": world.site.here("/")}));
        world.wait_for_dialogs(1);
        let opened = world.tool("browser_navigate", json!({"url": world.site.here("/two")}));
        assert_eq!(text(&opened), format!("Opened {} \"two\" in t1.", world.site.here("/two")), "{bridge}");
    }
}

const ENDLESS: &str = "<script>onload = () => setTimeout(() => { for (;;) prompt() })</script>";

#[test]
fn a_page_that_asks_without_end_is_left_all_the_same() {
    let framed = ("/framed", "<iframe src='/endless'></iframe>");
    let mut world = World::with(&[("/endless", ENDLESS), framed, ("/two", "<title>two</title>")]);
    for policy in ["must_respond", "auto_accept"] {
        for path in ["/endless", "/framed"] {
            world.line.ask(json!({"meta": "connect", "dialog_policy": policy, "dialog_bridge": "never"}));
            let before = world.line.state()["recent_dialogs"].clone();
            world.line.cdp("Page.navigate", json!({"url": world.site.here(path)}));
            // What the page before asked is no sign of this one.
            world.wait_for_state("it asks", |state| {
                let pending = state["pending_dialogs"].as_array().is_some_and(|list| !list.is_empty());
                pending || policy == "auto_accept" && state["recent_dialogs"] != before
            });
            let opened = world.tool("browser_navigate", json!({"url": world.site.here("/two")}));
            assert_eq!(
                [&opened["data"]["title"], &opened["data"]["loaded"]],
                [&json!("two"), &json!(true)],
                "{opened}"
            );
            assert_eq!(world.line.js("document.title"), "two", "{policy}: {path}");
        }
    }
}

#[test]
fn a_page_that_asks_once_more_while_it_is_left_is_left_without_a_detour() {
    let asks_twice = "<script>onload = () => setTimeout(() => { if (!confirm('stay?')) alert('then go') })</script>";
    let mut world = World::with(&[("/", asks_twice), ("/two", "<title>two</title>")]);
    world.line.cdp("Page.navigate", json!({"url": world.site.here("/")}));
    world.wait_for_dialogs(1);
    let opened = world.tool("browser_navigate", json!({"url": world.site.here("/two")}));
    assert_eq!(opened["data"]["title"], "two", "{opened}");
    let history = world.line.cdp("Page.getNavigationHistory", json!({}));
    let urls: Vec<_> = history["entries"].as_array().unwrap().iter().map(|entry| entry["url"].clone()).collect();
    assert_eq!(urls, ["about:blank", &*world.site.here("/"), &*world.site.here("/two")]);
    let recent = world.line.state()["recent_dialogs"].clone();
    assert!(recent.as_array().unwrap().iter().all(|dialog| dialog["closed_by"] == "remote"), "{recent}");
}

#[test]
fn a_page_that_asks_again_over_the_bridge_while_it_is_left_is_told_of_with_the_way_out() {
    let mut world = World::with(&[("/", ENDLESS), ("/two", "<title>two</title>")]);
    world.line.ask(json!({"meta": "connect", "dialog_bridge": "always"}));
    world.line.cdp("Page.navigate", json!({"url": world.site.here("/")}));
    world.wait_for_dialogs(1);
    let stays = world.try_tool("browser_navigate", json!({"url": world.site.here("/two")}));
    let sentence = stays["error"].as_str().unwrap_or_default();
    assert!(sentence.contains("close its tab with browser_tabs"), "{stays}");
    world.tool("browser_tabs", json!({"action": "close"}));
    let opened = world.tool("browser_navigate", json!({"url": world.site.here("/two"), "new_tab": true}));
    assert_eq!(opened["data"]["title"], "two");
}

#[test]
fn a_new_tab_in_which_nothing_could_be_opened_does_not_stay() {
    let mut world = World::with(&[("/", "<title>first</title>")]);
    world.tool("browser_navigate", json!({"url": world.site.here("/")}));
    for url in ["::bad", "http://127.0.0.1:9/"] {
        let failed = world.try_tool("browser_navigate", json!({"url": url, "new_tab": true}));
        assert_eq!(failed["error_code"], "cdp", "{failed}");
        assert_eq!(world.try_tool("browser_tabs", json!({"action": "new", "url": url}))["error_code"], "cdp");
        let listed = world.tool("browser_tabs", json!({"action": "list"}));
        let tabs = listed["data"]["tabs"].as_array().unwrap();
        assert_eq!([&json!(tabs.len()), &tabs[0]["current"]], [&json!(1), &json!(true)], "{url}: {listed}");
    }
}

#[test]
fn the_errors_of_a_page_are_read_with_a_cursor() {
    let mut world =
        World::with(&[("/", "<link rel=icon href='data:,'><script>console.error('one'); nothing.at.all</script>")]);
    world.tool("browser_navigate", json!({"url": world.site.here("/")}));
    let console = world.tool("browser_console", json!({}));
    let entries = console["data"]["entries"].as_array().unwrap();
    assert_eq!([&entries[0]["text"], &entries[1]["level"]], ["one", "exception"], "{console}");
    let next = console["data"]["next"].clone();
    assert_eq!(text(&world.tool("browser_console", json!({"since": next}))), "Nothing new.");
    world.line.js("console.error('two')");
    let fresh = world.tool("browser_console", json!({"since": next}));
    assert_eq!(fresh["data"]["entries"].as_array().unwrap().len(), 1, "{fresh}");
    assert_eq!(fresh["data"]["entries"][0]["text"], "two");
}

#[test]
fn a_page_that_spins_has_its_script_stopped_and_makes_way() {
    let mut world = World::with(&[("/", "<title>spins</title>"), ("/next", "<title>next</title>")]);
    let spin = |timeout_ms| json!({"method": "Runtime.evaluate", "timeout_ms": timeout_ms, "params": {"expression": "for (;;) {}"}});
    // Known from a call before, and not known.
    for (timeout_ms, state) in [(600, "hung"), (50, "ready")] {
        world.go("/");
        assert_eq!(world.line.ask(spin(timeout_ms))["error_code"], "timeout");
        assert_eq!(world.tool("browser_tabs", json!({"action": "list"}))["data"]["tabs"][0]["state"], state);
        let next = world.site.here("/next");
        let opened = world.tool("browser_navigate", json!({"url": next}));
        assert_eq!(text(&opened), format!("Opened {next} \"next\" in t1."), "{state}");
    }
}

#[test]
fn another_navigation_while_a_page_asks_whether_it_may_be_left_is_told_of_that_at_once() {
    let mut world = World::with(&[
        ("/", "<script>onbeforeunload = event => event.preventDefault()</script><title>asks</title>"),
        ("/two", "<title>two</title>"),
        ("/three", "<title>three</title>"),
    ]);
    world.go("/");
    world.click(50, 50);
    let began = Instant::now();
    for (url, why) in [
        (world.site.here("/two"), "blocks this call"),
        (world.site.here("/two"), "so the call was not sent"),
        (world.site.here("/three"), "so the call was not sent"),
        (world.site.there("/three"), "so the call was not sent"),
    ] {
        let held = world.try_tool("browser_navigate", json!({"url": url}));
        assert_eq!([&held["error_code"], &held["dialog"]["type"]], ["dialog_open", "beforeunload"], "{url}: {held}");
        assert!(held["error"].as_str().unwrap().contains(why), "{url}: {held}");
    }
    // Without an answer each would wait for half a minute.
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    world.tool("browser_dialog", json!({"action": "accept"}));
    world.tool("browser_wait", json!({"url": "/two"}));
    let opened = world.tool("browser_navigate", json!({"url": world.site.here("/three")}));
    assert_eq!(opened["data"]["title"], "three");
}

#[test]
fn an_address_that_crashes_the_page_is_told_as_a_crash_of_that_tab() {
    let mut world = World::with(&[("/", "<title>home</title>")]);
    world.go("/");
    let crashed = world.try_tool("browser_navigate", json!({"url": "chrome://crash"}));
    assert_eq!(crashed["error_code"], "target_crashed");
    assert_eq!(
        crashed["error"],
        "the renderer of tab t1 crashed; open an address in it with browser_navigate to start it again"
    );
    assert_eq!(world.try_tool("browser_press", json!({"key": "a"}))["error"], crashed["error"]);
    let opened = world.tool("browser_navigate", json!({"url": world.site.here("/")}));
    assert_eq!(opened["data"]["title"], "home");
}

#[test]
fn a_page_whose_script_spins_while_it_loads_is_told_as_that_and_soon() {
    let mut world = World::with(&[("/", "<title>spins</title><p>before<script>for (;;);</script>")]);
    let began = Instant::now();
    let opened = world.tool("browser_navigate", json!({"url": world.site.here("/")}));
    assert!(began.elapsed().as_secs() < 12, "{:?}", began.elapsed());
    let why = "It does not load any further: a script keeps it busy; wait, stop the script with browser_cdp and \
               Runtime.terminateExecution";
    assert!(text(&opened).contains(why), "{opened}");
    assert_eq!(opened["data"]["loaded"], false);
    world.tool("browser_cdp", json!({"method": "Runtime.terminateExecution"}));
    assert!(world.outline().contains("before"));
}

#[test]
fn a_beforeunload_handler_that_never_ends_is_stopped_and_named_and_not_taken_for_a_slow_server() {
    let mut world = World::with(&[
        ("/", "<title>stays</title><script>onbeforeunload = () => { for (;;); }</script>"),
        ("/next", "<title>next</title>"),
    ]);
    world.go("/");
    let next = world.site.here("/next");
    let opened = world.tool("browser_navigate", json!({"url": next}));
    let told = format!(
        "Opened {next} \"next\" in t1. The page before it did not let go: its beforeunload handler never ended, and was \
         stopped."
    );
    assert_eq!(text(&opened), told);
}

#[test]
fn a_page_that_cannot_leave_itself_for_an_endless_beforeunload_is_blamed_and_not_the_server() {
    let mut world = World::with(&[
        (
            "/",
            "<script>onclick = () => setTimeout(() => { location = '/next' }); onbeforeunload = () => { for (;;); }</script>",
        ),
        ("/next", "<title>next</title>"),
    ]);
    world.go("/");
    let clicked = world.tool("browser_click", json!({"x": 50, "y": 50}));
    let stop = "stop the script with browser_cdp and Runtime.terminateExecution";
    assert!(text(&clicked).contains("a script keeps it busy") && text(&clicked).contains(stop), "{clicked}");
    assert!(!text(&clicked).contains("server"), "{clicked}");
    for (name, args) in [("browser_press", json!({"key": "a"})), ("browser_screenshot", json!({}))] {
        let held = world.try_tool(name, args);
        let said = held["error"].as_str().unwrap_or_default();
        assert!(said.contains("a script has kept the page busy") && said.contains(stop), "{name}: {held}");
    }
    let shown = world.tool("browser_snapshot", json!({}));
    assert!(text(&shown).contains("a script keeps it busy") && text(&shown).contains(stop), "{shown}");
    world.tool("browser_cdp", json!({"method": "Runtime.terminateExecution"}));
    world.tool("browser_wait", json!({"url": "/next"}));
}
