//! Tabs that the task opens, and those that it leaves alone.

use serde_json::json;

use super::sandbox::wait_until;
use super::world::World;

#[test]
fn popups_of_a_tab_are_the_tasks_and_their_dialogs_are_seen() {
    let mut world = World::with(&[
        ("/", "<p>x"),
        ("/popup", "<title>popup</title><script>setTimeout(() => confirm('from the popup'), 0)</script>"),
    ]);
    world.go("/");
    for features in ["''", "'noopener'"] {
        let opens = format!("window.open('/popup', '_blank', {features}); 1");
        world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": opens, "userGesture": true}}));
        let open = world.wait_for_dialogs(1);
        assert_eq!(open[0]["message"], "from the popup");
        assert_eq!(world.line.ask(json!({"meta": "dialog", "action": "accept"}))["ok"], true);
        world.wait_for_dialogs(0);
    }
    let tabs = world.line.ask(json!({"meta": "tasks"}))["tasks"][0]["tabs"].clone();
    assert_eq!(tabs, 3);
}

#[test]
fn tabs_of_others_are_left_alone() {
    let mut world = World::with(&[("/", "<title>theirs</title>")]);
    assert_eq!(world.line.js("1"), 1);
    // Another client of the browser opens a tab.
    world.chromium.open(&world.site.here("/"));
    let targets = json!({"method": "Target.getTargets"});
    wait_until("their tab is there", || {
        let infos = world.line.ask(targets.clone())["result"]["targetInfos"].clone();
        infos.as_array().unwrap().iter().any(|info| info["title"] == "theirs" && info["attached"] == false)
    });
    assert_eq!(world.line.ask(json!({"meta": "tasks"}))["tasks"][0]["tabs"], 1);
}

#[test]
fn a_tab_is_listed_with_the_title_of_the_page_that_it_shows() {
    let mut world = World::with(&[("/a", "<title>first</title>"), ("/b", "<title>second</title>")]);
    for (path, title) in [("/a", "first"), ("/b", "second"), ("/a", "first")] {
        world.go(path);
        wait_until("the title has been learnt", || {
            let tasks = world.line.ask(json!({"meta": "overview"}))["tasks"].clone();
            tasks[0]["tab_list"][0]["title"] == title
        });
    }
}
