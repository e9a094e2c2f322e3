//! Dialogs over the bridge, as an agent and a page meet them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::sandbox::wait_until;
use super::world::World;

const ASKS: &str = "<body style='margin:0'><button style='width:200px;height:100px' \
    onclick='document.title = String(prompt(\"Name?\", \"Bob\"))'>go</button>";

fn bridged(pages: &[(&str, &str)]) -> World {
    let mut world = World::with(pages);
    let connected = world.line.ask(json!({"meta": "connect", "dialog_bridge": "always"}));
    assert_eq!(connected["ok"], true, "{connected}");
    world
}

/// Evaluates without waiting for a promise: what a page that waits in the bridge can still answer (fact B5).
#[track_caller]
fn look(world: &mut World, expression: &str) -> Value {
    let params = json!({"expression": expression, "returnByValue": true});
    world.line.cdp("Runtime.evaluate", params)["result"]["value"].clone()
}

fn answer(world: &mut World, text: &str) {
    let answered = world.line.ask(json!({"meta": "dialog", "action": "accept", "prompt_text": text}));
    assert_eq!(answered["ok"], true, "{answered}");
}

#[test]
fn a_question_looks_native_and_its_page_can_be_looked_at_meanwhile() {
    let mut world = bridged(&[("/", ASKS)]);
    world.go("/");
    let met = world.click(50, 50);
    assert_eq!(met["error_code"], "dialog_open", "{met}");
    assert_eq!([&met["dialog"]["type"], &met["dialog"]["message"]], ["prompt", "Name?"]);
    assert_eq!(met["dialog"]["default_prompt"], "Bob");
    let raw = world.line.ask(json!({"meta": "pending_dialog"}))["dialog"].clone();
    assert_eq!([&raw["type"], &raw["url"]], ["prompt", &world.site.here("/")]);

    assert_eq!(look(&mut world, "document.title"), "");
    assert!(world.line.cdp("DOM.getDocument", json!({}))["root"].is_object());
    let awaits = json!({"method": "Runtime.evaluate", "params": {"expression": "1", "awaitPromise": true}});
    assert_eq!(world.line.ask(awaits)["error_code"], "dialog_open");
    let key = json!({"method": "Input.dispatchKeyEvent", "params": {"type": "char", "text": "x"}});
    assert_eq!(world.line.ask(key)["error_code"], "dialog_open", "it would be swallowed");

    answer(&mut world, "Ada");
    assert_eq!(look(&mut world, "document.title"), "Ada");
    let state = world.line.state();
    assert_eq!(state["pending_dialogs"], json!([]));
    assert_eq!([&state["recent_dialogs"][0]["id"], &state["recent_dialogs"][0]["closed_by"]], ["d-1", "agent"]);
    assert_eq!(state["policy"]["bridged"], true);
    let log = world.line.ask(json!({"meta": "events"}))["events"].clone();
    let of = |method: &str| log.as_array().unwrap().iter().filter(|event| event["method"] == method).count();
    assert_eq!([of("Page.javascriptDialogOpening"), of("Page.javascriptDialogClosed")], [1, 1]);
    assert_eq!([of("Debugger.scriptParsed"), of("Debugger.paused"), of("Debugger.resumed")], [0, 0, 0]);
}

#[test]
fn a_page_that_asks_between_two_frames_can_be_photographed_while_it_waits() {
    let mut world = bridged(&[("/", ASKS)]);
    world.go("/");
    // Input can come in the middle of a frame, and then there is none until the page goes on (fact F23).
    look(&mut world, "setTimeout(() => document.querySelector('button').click(), 0); 1");
    world.wait_for_dialogs(1);
    assert!(world.line.cdp("Page.captureScreenshot", json!({}))["data"].is_string());
    answer(&mut world, "Ada");
    assert_eq!(look(&mut world, "document.title"), "Ada");
}

#[test]
fn a_page_that_asks_in_the_middle_of_a_frame_is_not_drawn_and_that_is_said() {
    let mut world = bridged(&[("/", ASKS)]);
    world.go("/");
    look(&mut world, "requestAnimationFrame(() => { document.title = prompt('Drawn?') }); 1");
    world.wait_for_dialogs(1);
    let asked = Instant::now();
    let picture = world.line.ask(json!({"meta": "tool", "name": "browser_screenshot", "args": {}}));
    assert!(asked.elapsed() < Duration::from_secs(10), "it is told once it is known: {:?}", asked.elapsed());
    let error = picture["error"].as_str().expect("it fails");
    assert!(error.contains("in the middle of drawing") && error.contains("answer the dialog"), "{picture}");
    answer(&mut world, "Ada");
    let picture = world.line.ask(json!({"meta": "tool", "name": "browser_screenshot", "args": {}}));
    assert!(picture["result"]["data"]["path"].is_string(), "{picture}");
}

#[test]
fn each_function_gives_what_the_native_one_gives() {
    let mut world = bridged(&[("/", "<p>x")]);
    world.go("/");
    for (call, action, got) in [
        ("confirm('x')", json!({"action": "accept"}), "true"),
        ("confirm('x')", json!({"action": "dismiss"}), "false"),
        ("prompt('x', 'of\\ud800fered')", json!({"action": "accept"}), "\"of\\ud800fered\""),
        ("prompt('x')", json!({"action": "accept", "prompt_text": "e\u{2028}\"\\"}), "\"e\u{2028}\\\"\\\\\""),
        ("prompt('x')", json!({"action": "accept", "prompt_text": ""}), "\"\""),
        ("prompt('x', 'y')", json!({"action": "dismiss"}), "null"),
        ("alert('x')", json!({"action": "accept"}), "undefined"),
    ] {
        let mut other = world.client();
        let expression = format!("JSON.stringify({call})");
        other.send(&json!({"method": "Runtime.evaluate", "on_dialog": "wait",
            "params": {"expression": expression, "returnByValue": true}}));
        world.wait_for_dialogs(1);
        let mut request = action;
        request["meta"] = json!("dialog");
        assert_eq!(world.line.ask(request)["ok"], true);
        let result = other.receive()["result"]["result"].clone();
        let value = result["value"].as_str().unwrap_or("undefined");
        assert_eq!(value, got, "{call}");
    }
    let seen = "[alert, confirm, prompt, print].map(f => [f.name, f.length, String(f).includes('native code'), \
        Object.getOwnPropertyDescriptor(window, f.name).enumerable].join()).join(' ')";
    assert_eq!(look(&mut world, seen), "alert,0,true,true confirm,0,true,true prompt,0,true,true print,0,true,true");
}

/// A page whose first script asks, and shows what it got in its title.
const FIRST: &str = "<!doctype html><script>document.title = String(prompt('first?'))</script>";

#[test]
fn the_first_script_of_every_kind_of_page_gets_the_agents_text() {
    let mut world = bridged(&[("/", "<p>x"), ("/first", FIRST)]);
    for (path, header) in [
        ("/csp", "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; connect-src 'none'"),
        ("/trusted", "Content-Security-Policy: require-trusted-types-for 'script'; trusted-types 'none'"),
        ("/sandbox", "Content-Security-Policy: sandbox allow-scripts allow-modals"),
        ("/no-sync-xhr", "Permissions-Policy: sync-xhr=()"),
    ] {
        world.site.put_with(path, header, FIRST);
    }
    for path in ["/first", "/csp", "/trusted", "/sandbox", "/no-sync-xhr"] {
        let url = world.site.here(path);
        world.line.cdp("Page.navigate", json!({"url": url}));
        let open = world.wait_for_dialogs(1);
        assert_eq!(open[0]["message"], "first?", "{path}");
        answer(&mut world, path);
        wait_until("the title tells", || look(&mut world, "document.title") == path);
    }
    let data = "data:text/html,<script>document.title = String(prompt('data?'))</script>";
    world.line.cdp("Page.navigate", json!({"url": data}));
    world.wait_for_dialogs(1);
    answer(&mut world, "data");
    assert_eq!(look(&mut world, "document.title"), "data");
}

#[test]
fn first_scripts_in_frames_and_popups_ask_with_their_own_frame() {
    let frames =
        "<iframe src='{there}/tell'></iframe><iframe srcdoc='<script>top.same = prompt(`same?`)</script>'></iframe>";
    let tell = "<script>parent.postMessage(prompt('other?'), '*')</script>";
    let top = format!("<script>onmessage = e => {{ window.other = e.data }}</script>{frames}");
    let mut world = bridged(&[("/", &top), ("/tell", tell), ("/plain", "<p>x"), ("/first", FIRST)]);
    let url = world.site.here("/");
    world.line.cdp("Page.navigate", json!({"url": url}));
    let mut open = world.wait_for_dialogs(2).as_array().unwrap().clone();
    let tree = world.line.state()["frame_tree"]["children"].clone();
    // The page around the frames is the one that waits for "same?": a message to it would be lost (fact F22).
    open.sort_by_key(|dialog| dialog["message"] == "other?");
    for dialog in &open {
        let frame = tree.as_array().unwrap().iter().find(|frame| frame["frame_id"] == dialog["frame_id"]).unwrap();
        assert_eq!(frame["is_oopif"], dialog["message"] == "other?");
        let text = dialog["message"].as_str().unwrap();
        let request = json!({"meta": "dialog", "action": "accept", "dialog_id": dialog["id"], "prompt_text": text});
        assert_eq!(world.line.ask(request)["ok"], true);
    }
    world.wait_for("window.other === 'other?' && window.same === 'same?'");

    world.go("/plain");
    let there = world.site.there("/first");
    let opens = ["open('/first')", "open('/first', '', 'noopener')", &format!("open('{there}')")];
    for (number, open) in opens.iter().enumerate() {
        let gesture = json!({"expression": format!("{open}, 1"), "userGesture": true});
        world.line.cdp("Runtime.evaluate", gesture);
        world.wait_for_dialogs(1);
        let text = format!("popup {number}");
        answer(&mut world, &text);
        let mut title = Value::Null;
        wait_until("the popup shows what it got", || {
            let targets = world.line.ask(json!({"method": "Target.getTargets"}))["result"]["targetInfos"].clone();
            title = targets.as_array().unwrap().iter().find(|info| info["title"] == text.as_str()).cloned().into();
            !title.is_null()
        });
    }
}

#[test]
fn a_sandboxed_srcdoc_frame_is_not_held_so_its_first_script_may_ask_natively() {
    let page = "<iframe sandbox='allow-scripts allow-modals' \
        srcdoc='<script>parent.postMessage(prompt(`first?`), `*`)</script>'></iframe>\
        <script>onmessage = e => { document.title = e.data }</script>";
    let mut world = bridged(&[("/", page)]);
    let url = world.site.here("/");
    world.line.cdp("Page.navigate", json!({"url": url}));
    let open = world.wait_for_dialogs(1);
    let attached = world.line.ask(json!({"meta": "events", "methods": ["Target.attachedToTarget"]}))["events"].clone();
    let target = |event: &&Value| event["params"]["targetInfo"]["targetId"] == open[0]["frame_id"];
    let attached = attached.as_array().unwrap().iter().find(target).unwrap()["params"].clone();
    // Were it held, as all other frames are, the bridge would be there in time.
    assert_eq!(attached["waitingForDebugger"], false, "fact F13");
    answer(&mut world, "either way");
    wait_until("the page has the text", || look(&mut world, "document.title") == "either way");
}

#[test]
fn the_pages_own_debugger_statements_do_not_stop_it() {
    let page = "<script>let n = 0; setInterval(() => { debugger; eval('debugger'); n++ }, 1)</script>";
    let mut world = bridged(&[("/", page)]);
    world.go("/");
    world.wait_for("n > 200");
    world.line.js("setTimeout(() => { window.got = confirm('still?') }, 0); 1");
    world.wait_for_dialogs(1);
    assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "accept"}))["ok"], true);
    world.wait_for("window.got === true");
}

#[test]
fn a_frame_removed_under_its_question_leaves_the_page_as_it_is() {
    let mut world = bridged(&[
        ("/", "<script>window.mark = 1</script><iframe id=f src='{there}/in'></iframe>"),
        ("/in", "<script>confirm('well?')</script>"),
    ]);
    let url = world.site.here("/");
    world.line.cdp("Page.navigate", json!({"url": url}));
    world.wait_for_dialogs(1);
    look(&mut world, "document.getElementById('f').remove(); 1");
    let state = world.wait_for_state("the dialog is gone", |state| state["pending_dialogs"] == json!([]));
    assert_eq!(state["recent_dialogs"][0]["closed_by"], "remote");
    assert_eq!(look(&mut world, "mark"), 1, "no reload was needed (fact A25)");
    // A same-process frame too, whose page stands still with it until it is let go on.
    look(
        &mut world,
        "document.body.innerHTML = '<iframe id=f></iframe>'; setTimeout(() => f.contentWindow.confirm('x'), 0); 1",
    );
    world.wait_for_dialogs(1);
    look(&mut world, "document.getElementById('f').remove(); 1");
    world.wait_for_state("the dialog is gone", |state| state["pending_dialogs"] == json!([]));
    assert_eq!(world.line.js("mark"), 1);
}

#[test]
fn messages_from_another_process_to_a_page_that_waits_are_lost() {
    let page =
        "<script>window.got = []; onmessage = e => { got.push(e.data) }</script><iframe src='{there}/in'></iframe>";
    let tells = "<script>let n = 0; setInterval(() => parent.postMessage(++n, '*'), 5)</script>";
    let mut world = bridged(&[("/", page), ("/in", tells)]);
    world.go("/");
    world.wait_for("got.length > 0");
    let frame = world.line.state()["frame_tree"]["children"][0]["frame_id"].clone();
    look(&mut world, "setTimeout(() => { confirm('well?'); window.went_on = got.length }, 0); 1");
    world.wait_for_dialogs(1);
    let posted = json!({"method": "Runtime.evaluate", "frame_id": frame, "params": {"expression": "n"}});
    let mut posted = || world.line.ask(posted.clone())["result"]["result"]["value"].as_u64().unwrap();
    let first = posted();
    let mut last = first;
    wait_until("more were posted meanwhile", || {
        last = posted();
        last > first + 2
    });
    answer(&mut world, "");
    world.wait_for("window.went_on < got.length");
    // Those at the edges may have come as it began to wait, or as it went on.
    let late = format!("got.filter(n => n > {first} && n <= {last}).length");
    assert_eq!(look(&mut world, &late), 0, "fact F22");
}

#[test]
fn what_ends_a_page_ends_its_question_and_the_next_page_asks_again() {
    let mut world = bridged(&[("/", "<p>x"), ("/first", FIRST)]);
    let (first, plain) = (world.site.here("/first"), world.site.here("/"));
    world.line.cdp("Page.navigate", json!({"url": first}));
    world.wait_for_dialogs(1);
    // One that asks at once takes the place of one that waits.
    world.line.cdp("Page.reload", json!({}));
    world.wait_for_state("the second question", |state| state["pending_dialogs"][0]["id"] == "d-2");
    answer(&mut world, "second");
    wait_until("the second page has it", || look(&mut world, "document.title") == "second");
    world.line.cdp("Page.navigate", json!({"url": first}));
    world.wait_for_dialogs(1);
    world.line.cdp("Page.navigate", json!({"url": plain}));
    let state = world.wait_for_state("nothing is open", |state| state["pending_dialogs"] == json!([]));
    assert_eq!(state["recent_dialogs"][2]["closed_by"], "remote");
    assert_eq!(world.line.js("1 + 1"), 2);
}

#[test]
fn after_a_crash_the_reloaded_page_asks_again() {
    let mut world = bridged(&[("/", "<p>x")]);
    world.go("/");
    let crashed = world.line.ask(json!({"method": "Page.crash"}));
    assert_eq!(crashed["error_code"], "target_crashed", "{crashed}");
    world.line.cdp("Page.reload", json!({}));
    wait_until("it answers again", || {
        world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": "1"}}))["error"].is_null()
    });
    world.line.js("setTimeout(() => { window.got = prompt('again?') }, 0); 1");
    world.wait_for_dialogs(1);
    assert_eq!(look(&mut world, "1 + 1"), 2, "it is the bridge that asks");
    answer(&mut world, "yes");
    assert_eq!(look(&mut world, "window.got"), "yes");
}

#[test]
fn policies_the_watchdog_and_leaving_answer_over_the_bridge_as_well() {
    let mut world = bridged(&[("/", "<p>x")]);
    world.go("/");
    for (policy, got) in [("auto_dismiss", Value::Null), ("auto_accept", json!("offered"))] {
        let connect = json!({"meta": "connect", "dialog_bridge": "always", "dialog_policy": policy});
        assert_eq!(world.line.ask(connect)["ok"], true);
        assert_eq!(look(&mut world, "prompt('name?', 'offered')"), got, "{policy}");
    }
    let connect = json!({"meta": "connect", "dialog_bridge": "always", "dialog_timeout_s": 0.2});
    assert_eq!(world.line.ask(connect)["ok"], true);
    look(&mut world, "setTimeout(() => { window.got = confirm('well?') }, 0); 1");
    let state = world.wait_for_state("the watchdog acts", |state| state["recent_dialogs"][2].is_object());
    assert_eq!(state["recent_dialogs"][2]["closed_by"], "watchdog");
    assert_eq!(look(&mut world, "window.got"), false);

    let connect = json!({"meta": "connect", "dialog_bridge": "always"});
    assert_eq!(world.line.ask(connect)["ok"], true);
    look(&mut world, "setTimeout(() => { window.got = confirm('open') }, 0); 1");
    world.wait_for_dialogs(1);
    assert_eq!(world.line.ask(json!({"meta": "disconnect"}))["ok"], true);
    // Whoever comes next finds a page that runs, with native dialogs again.
    let connect = json!({"meta": "connect", "dialog_bridge": "never"});
    assert_eq!(world.line.ask(connect)["ok"], true);
    assert_eq!(look(&mut world, "window.got"), false);
    look(&mut world, "setTimeout(() => confirm('native'), 0); 1");
    world.wait_for_dialogs(1);
    let blocked = world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": "1"}}));
    assert_eq!(blocked["error_code"], "dialog_open");
    assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "dismiss"}))["ok"], true);
}

#[test]
fn clients_that_speak_plain_cdp_answer_and_debug_as_ever() {
    let mut world = bridged(&[("/", "<p>x")]);
    world.go("/");
    look(&mut world, "setTimeout(() => { window.got = prompt('plain?') }, 0); 1");
    world.wait_for_dialogs(1);
    world.line.cdp("Page.handleJavaScriptDialog", json!({"accept": true, "promptText": "by hand"}));
    assert_eq!(look(&mut world, "window.got"), "by hand");
    assert_eq!(world.line.state()["recent_dialogs"][0]["closed_by"], "agent");
    let refused = world.line.ask(json!({"method": "Debugger.disable"}));
    assert_eq!(refused["error_code"], "bad_request", "{refused}");
    world.line.cdp("Debugger.enable", json!({}));
    assert_eq!(world.line.js("window.own = 1"), 1);
    let seen = world.line.ask(json!({"meta": "events", "methods": ["Debugger.scriptParsed"]}));
    assert!(!seen["events"].as_array().unwrap().is_empty(), "whoever asks for the scripts is told of them");
}

#[test]
fn a_page_that_wants_to_be_printed_goes_on_and_clients_are_told() {
    let mut world = bridged(&[("/", "<p>x")]);
    world.go("/");
    assert_eq!(world.line.js("print(); 'went on'"), "went on");
    let told = world.line.ask(json!({"meta": "events", "methods": ["Ostler.printRequested"]}));
    assert_eq!(told["events"][0]["params"]["url"], world.site.here("/"));
    assert_eq!(world.line.state()["pending_dialogs"], json!([]));
}

#[test]
fn the_tools_that_look_look_at_a_page_that_waits_for_its_answer() {
    let mut world = bridged(&[(
        "/",
        "<body style='margin:0'><button style='width:200px;height:100px' \
         onclick='done.hidden = false; document.title = confirm(\"Sure?\")'>go</button><p id=done hidden>All done",
    )]);
    world.go("/");
    // A click can come in the middle of a frame, and then there is no picture (fact F23).
    look(&mut world, "setTimeout(() => document.querySelector('button').click(), 0); 1");
    world.wait_for_dialogs(1);

    let outline = world.outline();
    assert!(outline.starts_with("button \"go\" [e1]") && outline.contains("\"All done\""), "{outline}");
    for args in [json!({}), json!({"full": true}), json!({"annotate": true})] {
        let picture = world.tool("browser_screenshot", args);
        assert_eq!(picture["data"]["pending_dialogs"][0]["id"], "d-1", "{picture}");
    }
    for args in [json!({"text": "all done"}), json!({"selector": "#done"}), json!({"url": "/"}), json!({"load": true})]
    {
        let came = world.tool("browser_wait", args);
        assert_eq!(came["data"]["pending_dialogs"][0]["id"], "d-1", "{came}");
    }
    // What does not hold now cannot come before the answer.
    for args in [json!({"text": "never"}), json!({"selector": ".never"}), json!({"url": "/never"})] {
        let held = world.try_tool("browser_wait", args);
        assert_eq!(held["error_code"], "dialog_open", "{held}");
    }
    let read = world.tool("browser_cdp", json!({"method": "Runtime.evaluate", "params": {"expression": "1 + 1"}}));
    assert_eq!(read["data"]["result"]["result"]["value"], 2);
    let typed = world.try_tool("browser_click", json!({"x": 50, "y": 50}));
    assert_eq!(typed["error_code"], "dialog_open", "{typed}");
    world.tool("browser_dialog", json!({"action": "accept"}));
    assert_eq!(look(&mut world, "document.title"), "true");
}
