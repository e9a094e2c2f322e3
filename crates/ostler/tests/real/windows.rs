//! A browser with a window, and a person in front of it (facts E14, E18 and F43).

use serde_json::{Value, json};

use super::browser::Chromium;
use super::sandbox::wait_until;
use super::world::World;

fn targets(world: &mut World) -> Vec<Value> {
    world.line.cdp("Target.getTargets", json!({}))["targetInfos"].as_array().cloned().unwrap_or_default()
}

/// Says in its title whether it was in front, from its beginning on.
const THEIRS: &str = "<script>
    const tell = () => { document.title += document.visibilityState + '.' };
    document.addEventListener('visibilitychange', tell);
    tell();
</script>";

#[test]
fn the_tab_that_a_task_opens_stays_behind_its_persons_and_works_there() {
    let own = "<body style='height: 5000px' onclick='clicked = true' onwheel='turned = true'>";
    let mut world = World::in_browser(Chromium::with_window(&[]), "", &[("/theirs", THEIRS), ("/own", own)]);
    world.chromium.open(&world.site.here("/theirs"));
    let title_of_theirs = |world: &mut World| {
        let theirs = targets(world).into_iter().find(|info| info["url"].as_str().unwrap().ends_with("/theirs"));
        theirs.expect("nobody closes it")["title"].as_str().unwrap().to_owned()
    };
    wait_until("theirs is in front", || title_of_theirs(&mut world) == "visible.");

    assert_eq!(world.line.ask(json!({"meta": "connect", "task": "t"}))["ok"], true);
    let mut ask = |method: &str, params: Value| {
        let answer = world.line.ask(json!({"task": "t", "method": method, "params": params}));
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    };
    ask("Page.navigate", json!({"url": world.site.here("/own")}));
    let mut js = |expression: &str| {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        ask("Runtime.evaluate", params)["result"]["value"].clone()
    };
    wait_until("loaded", || js("document.readyState === 'complete' && location.pathname === '/own'") == true);
    let frames = "new Promise(done => {
        let frames = 0;
        const next = () => ++frames === 10 ? done(frames) : requestAnimationFrame(next);
        next();
    })";
    assert_eq!(js(frames), 10, "it is drawn as if it were in front");
    let at = json!({"x": 100, "y": 100, "button": "left", "clickCount": 1});
    for (kind, more) in [
        ("mousePressed", json!({})),
        ("mouseReleased", json!({})),
        ("mouseWheel", json!({"deltaX": 0, "deltaY": 50, "button": "none"})),
    ] {
        let mut params = at.clone();
        params["type"] = json!(kind);
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask("Input.dispatchMouseEvent", params);
    }
    let mut js = |expression: &str| {
        let params = json!({"expression": expression, "returnByValue": true});
        ask("Runtime.evaluate", params)["result"]["value"].clone()
    };
    wait_until("input reaches it", || js("window.clicked && window.turned") == true);
    assert_eq!(title_of_theirs(&mut world), "visible.", "E18: the person saw nothing of it");

    // And it would have been noticed.
    let behind = targets(&mut world).into_iter().find(|info| info["url"].as_str().unwrap().ends_with("/own")).unwrap();
    world.line.cdp("Target.activateTarget", json!({"targetId": behind["targetId"]}));
    wait_until("theirs is behind", || title_of_theirs(&mut world) == "visible.hidden.");
}

#[test]
fn developer_tools_that_open_on_the_agents_tab_change_nothing_and_are_nobodys_tab() {
    let popup = "<script>alert('popup')</script>";
    let chromium = Chromium::with_window(&["--auto-open-devtools-for-tabs"]);
    let mut world = World::in_browser(chromium, "", &[("/", "<p>x"), ("/popup", popup)]);
    world.go("/");
    let tools = |world: &mut World| -> Vec<Value> {
        let is_tools = |info: &Value| info["url"].as_str().unwrap().starts_with("devtools://");
        targets(world).into_iter().filter(is_tools).collect()
    };
    wait_until("the developer tools are open, and a page as any (F43)", || {
        tools(&mut world).iter().any(|info| info["type"] == "page")
    });

    let opens = json!({"expression": "open('/popup'); 1", "userGesture": true});
    world.line.cdp("Runtime.evaluate", opens);
    let open = world.wait_for_dialogs(1);
    assert_eq!(open[0]["message"], "popup", "{open}");
    let dialog = world.line.ask(json!({"meta": "dialog", "action": "accept"}));
    assert_eq!(dialog["error"], Value::Null, "{dialog}");

    for info in tools(&mut world) {
        world.line.ask(json!({"method": "Target.closeTarget", "params": {"targetId": info["targetId"]}}));
    }
    wait_until("they are closed", || tools(&mut world).is_empty());
    let tasks = world.line.ask(json!({"meta": "overview"}));
    assert!(tasks.to_string().contains("/popup") && !tasks.to_string().contains("devtools://"), "{tasks}");
    world.wait_for_dialogs(0);
    assert_eq!(world.line.js("1 + 1"), 2);
}
