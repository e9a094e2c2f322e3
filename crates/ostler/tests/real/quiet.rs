//! Quiet tasks: a page cannot tell that it is watched, and everything but live console works.

use serde_json::{Value, json};

use super::sandbox::wait_until;
use super::world::World;

const QUIET: &str = "browser:\n  quiet: true\n";

/// Counts how often an error that is printed has its stack read: with `Runtime` on once, without it never (B15).
const WATCHFUL: &str = "<link rel=icon href='data:,'><title>watchful</title><script>
    let told = 0;
    Error.prepareStackTrace = () => { told += 1; return ''; };
    const isWatched = () => { const before = told; console.debug(new Error('x')); return told > before; };
</script><iframe src='/inside'></iframe>";

const PAGES: &[(&str, &str)] = &[
    ("/", WATCHFUL),
    ("/inside", "<title>inside</title><script>console.error('from inside')</script>"),
    ("/asks", "<link rel=icon href='data:,'><script>document.title = prompt('name?', 'nobody')</script>"),
    (
        "/mixed",
        "<link rel=icon href='data:,'><body style='margin:0'><button style='display:block;width:100px;height:100px' onclick='document.title = \"clicked\"'>x</button>\
         <iframe src='{there}/inside'></iframe>",
    ),
];

fn frame_at(world: &mut World, path: &str) -> Value {
    let mut found = Value::Null;
    wait_until("the frame is there", || {
        let children = world.line.state()["frame_tree"]["children"].clone();
        let at = |frame: &&Value| frame["url"].as_str().is_some_and(|url| url.ends_with(path));
        found = children.as_array().and_then(|frames| frames.iter().find(at).cloned()).unwrap_or_default();
        found.is_object()
    });
    found
}

fn title_in(world: &mut World, frame: &Value) -> Value {
    let ask = json!({"method": "Runtime.evaluate", "frame_id": frame["frame_id"], "params": {"expression": "document.title"}});
    world.line.ask(ask)["result"]["result"]["value"].clone()
}

fn console(world: &mut World) -> Vec<String> {
    let answer = world.line.ask(json!({"meta": "console"}));
    let entries = answer["console"].as_array().cloned().unwrap_or_default();
    entries.iter().map(|entry| entry["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_page_can_tell_that_it_is_watched_only_in_a_task_that_is_not_quiet() {
    let mut world = World::configured(QUIET, PAGES);
    world.go("/");
    assert_eq!(world.line.js("isWatched()"), false);
    // A task of its own can be otherwise, and the default one can change.
    for (quiet, watched) in [(false, true), (true, false)] {
        assert_eq!(world.line.ask(json!({"meta": "connect", "quiet": quiet}))["ok"], true);
        assert_eq!(world.line.js("isWatched()"), watched, "in the document of before");
        world.go("/");
        assert_eq!(world.line.js("isWatched()"), watched, "in a new one");
    }
}

#[test]
fn dialogs_frames_evaluates_and_input_work_in_a_quiet_task() {
    let mut world = World::configured(QUIET, PAGES);
    world.go("/");
    let inside = frame_at(&mut world, "/inside");
    assert_eq!(inside["is_oopif"], false);
    assert_eq!(title_in(&mut world, &inside), "inside");

    let url = world.site.here("/asks");
    world.line.send(&json!({"method": "Page.navigate", "params": {"url": url}}));
    let open = world.client();
    let mut reader = std::mem::replace(&mut world.line, open);
    let asked = world.wait_for_dialogs(1);
    assert_eq!([&asked[0]["type"], &asked[0]["message"]], ["prompt", "name?"]);
    assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "accept", "prompt_text": "quiet"}))["ok"], true);
    reader.receive();
    world.wait_for("document.title === 'quiet'");

    world.go("/mixed");
    let oopif = frame_at(&mut world, "/inside");
    assert_eq!(oopif["is_oopif"], true);
    wait_until("the frame is loaded", || title_in(&mut world, &oopif) == "inside");
    // Until the browser has drawn the page a click goes to nobody.
    wait_until("the click lands", || {
        world.click(50, 50);
        world.line.js("document.title") == "clicked"
    });
    // A script that runs there says so in its own session's console, and is asked for it.
    assert_eq!(console(&mut world), ["from inside"]);
}

#[test]
fn the_bridge_of_a_quiet_task_brings_the_agents_text_and_nobody_reads_the_console() {
    let mut world = World::configured("browser:\n  quiet: true\n  dialog_bridge: always\n", PAGES);
    world.go("/");
    assert_eq!(world.line.js("isWatched()"), false);
    // In a document whose script is there already, and in one that asks first of all.
    world
        .line
        .send(&json!({"method": "Runtime.evaluate", "params": {"expression": "document.title = prompt('well?')"}}));
    let open = world.client();
    let mut reader = std::mem::replace(&mut world.line, open);
    let url = world.site.here("/asks");
    for (message, text) in [("well?", "one"), ("name?", "two")] {
        let asked = world.wait_for_dialogs(1);
        assert_eq!([&asked[0]["type"], &asked[0]["message"]], ["prompt", message]);
        let answer = json!({"meta": "dialog", "action": "accept", "prompt_text": text});
        assert_eq!(world.line.ask(answer)["ok"], true);
        reader.receive();
        world.wait_for(&format!("document.title === '{text}'"));
        if message == "well?" {
            reader.send(&json!({"method": "Page.navigate", "params": {"url": url}}));
        }
    }
    // Not natively: the page made a request instead.
    let requests = "performance.getEntriesByType('resource').filter(entry => entry.name.includes('bridge')).length";
    assert_eq!(world.line.js(requests), 1);
    assert_eq!(world.line.state()["policy"]["bridged"], true);
}

#[test]
fn the_console_is_there_when_somebody_asks_for_it_and_the_page_cannot_tell() {
    let mut world = World::configured(QUIET, PAGES);
    world.go("/");
    world
        .line
        .js("console.error('first'); console.log('no error'); setTimeout(() => { throw new Error('second') }, 0)");
    assert_eq!(world.line.state()["console"], json!([]), "nothing is told by itself");
    wait_until("both are there", || console(&mut world).len() == 3);
    let told = console(&mut world);
    assert_eq!(told[..2], ["from inside", "first"]);
    assert!(told[2].starts_with("Uncaught"), "{told:?}");
    assert_eq!(world.line.js("isWatched()"), false, "it is off again");

    world.line.js("console.error('third')");
    assert_eq!(console(&mut world)[3..], ["third"], "what was told is not told again");
    let printed = world.line.ask(json!({"meta": "events", "methods": ["Runtime.consoleAPICalled"]}));
    let of_errors = |event: &&Value| event["params"]["type"] == "error";
    assert_eq!(printed["events"].as_array().unwrap().iter().filter(of_errors).count(), 3, "{printed}");
}
