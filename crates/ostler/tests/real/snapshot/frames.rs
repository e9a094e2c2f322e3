//! Frames stand in their place, whichever process they are in.

use serde_json::json;

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::lines;

#[test]
fn frames_of_all_kinds_and_shadow_trees_are_read_in_place() {
    let mut world = World::with(&[
        (
            "/",
            "<button>First</button><iframe title=other src='{there}/middle'></iframe>\
             <iframe title=same src=/plain></iframe><iframe title=doc srcdoc='<button>Srcdoc</button>'></iframe>\
             <iframe style='display:none' srcdoc='<button>Hidden</button>'></iframe>\
             <div><template shadowrootmode=open><button>Shadow</button><slot></slot></template><a href=#s>Slotted</a></div>\
             <button>Last</button>",
        ),
        ("/middle", "<h2>Middle</h2><iframe title=back src='{here}/plain'></iframe><p>after"),
        ("/plain", "<button>Plain</button>"),
    ]);
    world.go("/");
    let wanted = "button \"First\" [e1]\n\
                  iframe \"other\" [e2]\n heading 2 \"Middle\"\n iframe \"back\" [e3]\n  button \"Plain\" [e4]\n \"after\"\n\
                  iframe \"same\" [e5]\n button \"Plain\" [e6]\n\
                  iframe \"doc\" [e7]\n button \"Srcdoc\" [e8]\n\
                  button \"Shadow\" [e9]\nlink \"Slotted\" [e10] → #s\n\
                  button \"Last\" [e11]\n";
    // Frames load after the page itself; refs count on, so that only the words are compared.
    let words = |outline: &str| {
        let mut words = String::new();
        for part in outline.split("[e") {
            words.push_str(part.split_once(']').map_or(part, |(_, rest)| rest));
        }
        words
    };
    let mut outline = String::new();
    wait_until("all frames are there", || {
        outline = lines(&world.snapshot(json!({})));
        words(&outline) == words(wanted)
    });
    assert_eq!(world.outline(), outline);
}

#[test]
fn frames_beyond_those_that_the_tree_shows_are_read_all_the_same() {
    let frames: String = (0..40).map(|n| format!("<iframe srcdoc='<p>Frame {n}</p>'></iframe>")).collect();
    let mut world = World::with(&[("/", &frames)]);
    world.go("/");
    wait_until("all frames are read", || {
        let outline = world.outline();
        (0..40).all(|n| outline.contains(&format!(" \"Frame {n}\"")))
    });
    let snapshot = world.snapshot(json!({}));
    assert_eq!(snapshot["data"]["frame_tree"]["truncated"], true);
    assert_eq!(snapshot["data"]["frame_tree"]["children"].as_array().unwrap().len(), 29);
}

#[test]
fn a_ref_of_a_page_that_was_left_is_refused_and_means_nothing_else() {
    let mut world = World::with(&[("/a", "<main>a</main>"), ("/b", "<main>b</main>")]);
    world.go("/a");
    let old = world.ref_of("main");
    for left in ["the page was left", "and shown again"] {
        let url = if left.starts_with("the") { "/b" } else { "/a" };
        world.go(url);
        let refused = world.try_tool("browser_snapshot", json!({"ref": old}));
        assert_eq!(refused["error_code"], "stale_ref", "{left}: {refused}");
        assert_ne!(world.ref_of("main"), old, "{left}");
    }
    let new = world.ref_of("main");
    world.line.js("document.querySelector('main').outerHTML += ''; 1");
    let refused = world.try_tool("browser_snapshot", json!({"ref": new}));
    assert_eq!(refused["error_code"], "stale_ref", "an element that was rendered anew is another one: {refused}");
    assert!(refused["error"].as_str().unwrap().contains("take a new browser_snapshot"), "{refused}");
    world.tool("browser_tabs", json!({"action": "new"}));
    let refused = world.try_tool("browser_snapshot", json!({"ref": new}));
    assert!(refused["error"].as_str().unwrap().contains("another tab"), "{refused}");
}
