//! Tools that act on an element by its ref, as an agent does that read the page with `browser_snapshot`.

use serde_json::json;

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::text;

#[test]
fn fields_of_every_kind_are_filled_by_their_refs_in_another_process_too() {
    let mut world = World::with(&[
        ("/", "<link rel=icon href='data:,'><iframe style='width:600px;height:400px' src='{there}/form'></iframe>"),
        (
            "/form",
            "<input aria-label=Name value=old><input aria-label=Day type=date>
             <select aria-label=Size><option>Small<option>Large</select><input aria-label=Off disabled>
             <button>Save</button>",
        ),
    ]);
    world.go("/");
    wait_until("the form is in the outline", || world.outline().contains("button \"Save\""));
    for (name, args, value) in [
        ("textbox \"Name\"", json!({"text": "new", "clear": true}), "new"),
        ("textbox \"Day\"", json!({"text": "2030-12-31"}), "2030-12-31"),
        ("combobox \"Size\"", json!({"text": "Large"}), "Large"),
    ] {
        let mut args = args;
        args["ref"] = world.ref_of(name).into();
        let typed = world.tool("browser_type", args);
        assert_eq!(typed["data"]["value"], value, "{typed}");
    }
    let save = world.ref_of("button \"Save\"");
    let refused = world.try_tool("browser_type", json!({"ref": save, "text": "x"}));
    assert!(refused["error"].as_str().unwrap().contains("use browser_click"), "{refused}");
    let stale = world.try_tool("browser_type", json!({"ref": "e999999", "text": "x"}));
    assert!(stale["error"].as_str().unwrap().contains("browser_snapshot"), "{stale}");
}

#[test]
fn a_click_by_ref_that_makes_the_page_ask_is_told_at_once() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><body style='height:4000px'><button style='margin-top:3000px' onclick='document.title = confirm(\"Sure?\")'>Delete</button>",
    )]);
    world.go("/");
    let outline = world.outline();
    assert!(outline.contains("button \"Delete\""), "{outline}");
    let delete = world.ref_of("button \"Delete\"");
    let clicked = world.tool("browser_click", json!({"ref": delete}));
    assert!(text(&clicked).starts_with("Clicked button \"Delete\".\nA confirm dialog (d-1: \"Sure?\")"), "{clicked}");
    world.tool("browser_dialog", json!({"action": "accept"}));
    assert_eq!(world.line.js("document.title"), "true");
}

#[test]
fn the_wheel_turns_over_the_element_of_a_ref() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><div style='height:200px;overflow:auto'><button>First</button><div style='height:2000px'></div></div>",
    )]);
    world.go("/");
    world.outline();
    let first = world.ref_of("button \"First\"");
    let scrolled = world.tool("browser_scroll", json!({"ref": first, "dy": 300}));
    assert_eq!(scrolled["data"]["moved_y"], 300, "{scrolled}");
    assert!(text(&scrolled).starts_with("Scrolled over button \"First\" by 300 px"), "{scrolled}");
}
