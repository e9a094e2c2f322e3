//! The first script that a document runs asks, wherever the document is: the page gets the agent's text, every time.

use serde_json::{Value, json};

use super::super::world::World;
use super::times;

const ASKS: &str = "<script>document.title = prompt('who?', 'nobody')</script>";

/// Opens a document on the site, and tells how to be rid of it.
struct Kind {
    name: &'static str,
    opens: &'static str,
    is_popup: bool,
}

const FRAME: &str = "document.body.append(Object.assign(document.createElement('iframe'), {src: URL}));";

const KINDS: [Kind; 4] = [
    Kind { name: "a frame in another process", opens: FRAME, is_popup: false },
    Kind { name: "a popup without an opener", opens: "window.open(URL, '_blank', 'noopener');", is_popup: true },
    Kind { name: "a popup of another site", opens: "window.open(URL);", is_popup: true },
    Kind { name: "a frame of the same site", opens: FRAME, is_popup: false },
];

fn ask_once(world: &mut World, kind: &Kind, url: &str, text: &str) {
    let expression = format!("{}; 1", kind.opens.replace("URL", &format!("'{url}'")));
    let params = json!({"expression": expression, "userGesture": true});
    let opened = world.line.ask(json!({"method": "Runtime.evaluate", "params": params}));
    // The dialog may be quicker than the answer of the script that opened its document.
    assert!(opened["error"].is_null() || opened["error_code"] == "dialog_open", "{}: {opened}", kind.name);
    let open = world.wait_for_dialogs(1);
    let frame = open[0]["frame_id"].clone();
    let answered = world.line.ask(json!({"meta": "dialog", "action": "accept", "prompt_text": text}));
    assert_eq!(answered["ok"], true, "{}: {answered}", kind.name);
    let title = json!({"method": "Runtime.evaluate", "frame_id": frame, "params": {"expression": "document.title"}});
    let got = world.line.ask(title);
    assert_eq!(got["result"]["result"]["value"], text, "{}: {got}", kind.name);
    if kind.is_popup {
        world.line.cdp("Target.closeTarget", json!({"targetId": frame}));
    } else {
        world.line.js("document.querySelector('iframe').remove(); 1");
        world.wait_for_state("the frame is gone", |state| state["frame_tree"]["children"] == json!([]));
    }
}

#[test]
fn a_first_scripts_prompt_gets_the_agents_text() {
    let mut world = World::with(&[("/", "<p>x"), ("/asks", ASKS)]);
    world.go("/");
    let session = world.line.ask(json!({"meta": "session"}))["session_id"].clone();
    let count = times(3, 200);
    for turn in 0..count {
        for kind in &KINDS {
            let same_site = kind.name.contains("same site");
            let url = if same_site { world.site.here("/asks") } else { world.site.there("/asks") };
            ask_once(&mut world, kind, &url, &format!("text {turn} for {}", kind.name));
            // Popups never take the current tab's place.
            assert_eq!(world.line.ask(json!({"meta": "session"}))["session_id"], session);
        }
    }
    let recent = world.line.state()["recent_dialogs"].clone();
    let newest = recent.as_array().and_then(|all| all.last()).cloned().unwrap_or(Value::Null);
    assert_eq!(newest["id"], format!("d-{}", count * KINDS.len()), "no dialog but these was there");
    println!("{} of {} answered with the agent's text", count * KINDS.len(), count * KINDS.len());
}
