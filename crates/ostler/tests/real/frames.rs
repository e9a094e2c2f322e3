//! Frames: the tree, and calls into each of them.

use serde_json::{Value, json};

use super::sandbox::wait_until;
use super::world::World;

/// Three origins deep, with a same-process frame and a srcdoc beside.
const NESTED: &[(&str, &str)] = &[
    (
        "/",
        "<title>top</title><iframe src='{there}/middle'></iframe><iframe src='/same'></iframe><iframe srcdoc='<title>doc</title>'></iframe>",
    ),
    ("/middle", "<title>middle</title><iframe src='{here}/inner'></iframe>"),
    ("/inner", "<title>inner</title>"),
    ("/same", "<title>same</title>"),
    ("/plain", "<title>plain</title>"),
];

/// Waits until the tree shows these paths, parents before children.
fn wait_for_tree(world: &mut World, paths: &[&str]) -> Vec<Value> {
    let mut frames = Vec::new();
    let mut wanted: Vec<_> = paths.iter().map(ToString::to_string).collect();
    wanted.sort();
    wait_until(&format!("the frames are {paths:?}"), || {
        frames = world.line.state()["frame_tree"]["children"].as_array().cloned().unwrap_or_default();
        let mut shown: Vec<_> = frames.iter().map(path_of).collect();
        shown.sort();
        shown == wanted
    });
    frames
}

fn path_of(frame: &Value) -> String {
    let url = frame["url"].as_str().unwrap();
    url.splitn(4, '/').nth(3).map_or_else(|| url.to_owned(), |path| format!("/{path}"))
}

fn title_in(world: &mut World, frame: &Value) -> Value {
    let ask = json!({"method": "Runtime.evaluate", "frame_id": frame["frame_id"], "params": {"expression": "document.title"}});
    world.line.ask(ask)["result"]["result"]["value"].clone()
}

#[test]
fn every_frame_of_a_nested_tree_is_listed_and_reached() {
    let mut world = World::with(NESTED);
    world.go("/");
    let frames = wait_for_tree(&mut world, &["/middle", "/same", "about:srcdoc", "/inner"]);
    for frame in &frames {
        let path = path_of(frame);
        let wanted = if path == "about:srcdoc" { "doc" } else { &path[1..] };
        wait_until(&format!("{path} answers with its own title"), || title_in(&mut world, frame) == wanted);
        assert_eq!(frame["is_oopif"], path == "/middle" || path == "/inner", "{frame}");
        assert_eq!(frame["session_id"].is_string(), frame["is_oopif"] == true, "{frame}");
    }
    let same = frames.iter().find(|frame| path_of(frame) == "/same").unwrap();
    let refused = world.line.ask(json!({"method": "DOM.getDocument", "frame_id": same["frame_id"]}));
    assert_eq!(refused["error_code"], "frame_in_process", "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("contentWindow"));
    let unknown = world.line.ask(json!({"method": "Runtime.evaluate", "frame_id": "F", "params": {"expression": "1"}}));
    assert_eq!(unknown["error_code"], "unknown_frame");
    assert_eq!(unknown["known"].as_array().unwrap().len(), 5);
}

#[test]
fn a_frame_keeps_its_id_into_another_process_and_back() {
    let mut world = World::with(NESTED);
    world.site.put("/holder", "<iframe id=f src='/same'></iframe>");
    world.go("/holder");
    let before = wait_for_tree(&mut world, &["/same"])[0].clone();
    assert_eq!(before["is_oopif"], false);
    let there = world.site.there("/plain");
    world.line.js(&format!("document.getElementById('f').src = '{there}'; 1"));
    let moved = wait_for_tree(&mut world, &["/plain"])[0].clone();
    assert_eq!([&moved["frame_id"], &moved["is_oopif"]], [&before["frame_id"], &json!(true)]);
    wait_until("it answers from there", || title_in(&mut world, &moved) == "plain");
    let here = world.site.here("/same");
    world.line.js(&format!("document.getElementById('f').src = '{here}'; 1"));
    let back = wait_for_tree(&mut world, &["/same"])[0].clone();
    assert_eq!([&back["frame_id"], &back["is_oopif"]], [&before["frame_id"], &json!(false)]);
    wait_until("it answers from here", || title_in(&mut world, &back) == "same");
    world.line.js("document.getElementById('f').remove(); 1");
    wait_for_tree(&mut world, &[]);
}

#[test]
fn going_away_and_back_leaves_the_tree_as_the_browser_has_it() {
    let mut world = World::with(NESTED);
    world.go("/");
    wait_for_tree(&mut world, &["/middle", "/same", "about:srcdoc", "/inner"]);
    world.go("/plain");
    wait_for_tree(&mut world, &[]);
    world.line.js("history.back(); 1");
    let frames = wait_for_tree(&mut world, &["/middle", "/same", "about:srcdoc", "/inner"]);
    for frame in &frames {
        wait_until("it answers", || title_in(&mut world, frame).is_string());
    }
}

#[test]
fn a_page_that_comes_back_from_the_cache_is_in_the_tab_and_the_session_that_it_was_in() {
    let mut world = World::with(NESTED);
    world.go("/plain");
    world.line.js("window.kept = true");
    let page = |world: &mut World| {
        let sessions = world.line.state()["sessions"].as_array().unwrap().clone();
        sessions.into_iter().find(|session| session["type"] == "page").unwrap()
    };
    let before = page(&mut world);
    world.go("/");
    world.line.js("history.back(); 1");
    world.wait_for("location.pathname === '/plain' && window.kept === true");
    assert_eq!(page(&mut world), before, "E16");
}

#[test]
fn a_crashed_page_says_so_and_a_reload_brings_it_back() {
    let mut world = World::with(NESTED);
    world.go("/");
    wait_for_tree(&mut world, &["/middle", "/same", "about:srcdoc", "/inner"]);
    let mut other = world.client();
    let crashed = other.ask(json!({"method": "Page.crash"}));
    assert_eq!(crashed["error_code"], "target_crashed", "{crashed}");
    let refused = world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": "1"}}));
    assert_eq!(refused["error_code"], "target_crashed", "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("Page.reload"));
    world.line.cdp("Page.reload", json!({}));
    wait_for_tree(&mut world, &["/middle", "/same", "about:srcdoc", "/inner"]);
    assert_eq!(world.line.js("document.title"), "top");
}
