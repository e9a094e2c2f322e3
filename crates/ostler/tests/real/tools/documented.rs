//! `docs/tools.md` names every field that a tool's data has. Its arguments are held against the table by a test there.

use serde_json::{Value, json};

use super::super::world::World;

const DOCUMENT: &str = include_str!("../../../../../docs/tools.md");

/// Checks that a tool's section names every field of a result's data.
#[track_caller]
fn assert_told(tool: &str, result: &Value) {
    let section = DOCUMENT.split("\n## `").find(|section| section.starts_with(&format!("{tool}`")));
    let section = section.expect("every tool has a section");
    for field in result["data"].as_object().unwrap().keys() {
        let told = section.contains(&format!("`{field}`"));
        assert!(told || field == "pending_dialogs", "{tool} returns `{field}`, which its section does not name");
    }
}

#[test]
fn every_field_of_a_result_is_in_the_document() {
    let mut world = World::with(&[
        (
            "/",
            "<link rel=icon href='data:,'><title>t</title><body style='margin:0;height:4000px'>
             <button onclick='window.open(\"/next\")'>Go</button><input aria-label=Name><input type=file aria-label=File>
             <a href='/next' aria-label=Next>n</a><script>console.error('x')</script>",
        ),
        ("/next", "<title>next</title>"),
    ]);
    let here = world.site.here("/");
    let mut run = |tool: &str, args: Value| {
        let result = world.tool(tool, args);
        assert_told(tool, &result);
        result
    };
    run("browser_navigate", json!({"url": here}));
    run("browser_tabs", json!({"action": "list"}));
    let seen = run("browser_snapshot", json!({}));
    run("browser_snapshot", json!({"since": seen["data"]["snapshot"]}));
    for (beginning, fields) in [("\"File\"", "file_chooser"), ("\"Go\"", "new_tabs")] {
        let of = ref_after(&seen, beginning);
        let clicked = run("browser_click", json!({"ref": of}));
        assert!(clicked["data"].get(fields).is_some(), "{clicked}");
    }
    run("browser_click", json!({"x": 5, "y": 300}));
    run("browser_type", json!({"ref": ref_after(&seen, "\"Name\""), "text": "x"}));
    run("browser_press", json!({"key": "a"}));
    run("browser_scroll", json!({"dy": 10}));
    run("browser_screenshot", json!({"annotate": true}));
    run("browser_wait", json!({"load": true}));
    run("browser_console", json!({}));
    run(
        "browser_cdp",
        json!({"method": "Runtime.evaluate", "params": {"expression": "setTimeout(() => confirm('x'))"}}),
    );
    world.wait_for_dialogs(1);
    let stale = world.tool("browser_snapshot", json!({}));
    assert!(stale["data"].get("stale").is_some(), "{stale}");
    assert_told("browser_snapshot", &stale);
    let answered = world.tool("browser_dialog", json!({"action": "accept"}));
    assert_told("browser_dialog", &answered);
    let moved = world.tool("browser_click", json!({"ref": ref_after(&seen, "\"Next\"")}));
    assert!(moved["data"].get("page").is_some(), "{moved}");
    assert_told("browser_click", &moved);
    let ran = world.tool("browser_run", json!({"script": "print(1)"}));
    assert_told("browser_run", &ran);
}

/// Returns the ref behind a name in a snapshot.
#[track_caller]
fn ref_after(snapshot: &Value, name: &str) -> String {
    let text = snapshot["text"].as_str().unwrap();
    let (_, behind) = text.split_once(name).expect(name);
    super::super::snapshot::ref_in(behind).unwrap()
}
