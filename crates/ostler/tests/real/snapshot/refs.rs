//! A ref reaches its element, wherever it is, or says what is in the way; never another one.

use serde_json::{Value, json};

use super::super::sandbox::wait_until;
use super::super::world::World;

/// Notes in the title of the top page which button was clicked, whichever frame and process it is in.
const TELLS: &str =
    "<script>addEventListener('click', event => top.postMessage(event.target.textContent, '*'))</script>";
const LISTENS: &str = "<script>addEventListener('message', event => document.title = event.data)</script>";

impl World {
    /// Clicks the button of that name by its ref, and waits until it says that it was clicked.
    #[track_caller]
    fn click_button(&mut self, name: &str) {
        let wanted = format!("button \"{name}\"");
        let mut found = String::new();
        wait_until(&format!("{wanted} is there"), || {
            found = self.outline();
            found.contains(&wanted)
        });
        let button = self.ref_of(&wanted);
        // Until the browser has drawn a new frame a click goes past it, to nobody.
        wait_until(&format!("{wanted} hears the click"), || {
            let clicked = self.try_tool("browser_click", json!({"ref": button}));
            assert!(clicked.get("error").is_none(), "{clicked}");
            self.line.js("document.title") == name
        });
    }

    /// Clicks what has that ref and returns the refusal.
    #[track_caller]
    fn refused(&mut self, reference: &str) -> Value {
        let answer = self.try_tool("browser_click", json!({"ref": reference}));
        assert!(answer["error"].is_string(), "{answer}");
        answer
    }
}

fn inner(buttons: &str) -> String {
    format!("{TELLS}<body style='margin:0'><div style='height:1500px'>tall</div>{buttons}")
}

#[test]
fn clicks_land_in_nested_bordered_scrolled_transformed_and_zoomed_frames() {
    let styles = [
        ("plain", ""),
        ("bordered", "border:7px solid;padding:11px 5px 3px 23px"),
        ("scaled", "transform:scale(.5) translate(40px, 10px)"),
        ("turned", "transform:rotate(90deg)"),
        ("skewed", "transform:skew(20deg, 10deg)"),
        ("zoomed", "zoom:1.7"),
    ];
    for site in ["{here}", "{there}"] {
        let mut page = format!("{LISTENS}<div style='height:900px'>tall</div>");
        for (name, style) in styles {
            page.push_str(&format!(
                "<div style='overflow:auto;width:420px;height:260px;border:3px solid'><div style='height:400px;width:600px'></div>\
                 <iframe style='width:300px;height:150px;{style}' src='{site}/{name}'></iframe><div style='height:400px'></div></div>"
            ));
        }
        let mut world = World::with(&[("/", &page)]);
        for (name, _) in styles {
            world.site.put(&format!("/{name}"), &inner(&format!("<button>{name}</button>")));
        }
        world.go("/");
        for (name, _) in styles {
            world.click_button(name);
        }
    }
}

#[test]
fn clicks_land_three_processes_deep_in_a_zoomed_and_scrolled_page() {
    let mut world = World::with(&[
        (
            "/",
            &format!(
                "{LISTENS}<body style='zoom:1.25'><div style='height:2000px'></div><iframe style='border:9px solid;width:400px;height:200px' src='{{there}}/one'></iframe>"
            ),
        ),
        (
            "/one",
            "<div style='height:700px'></div><iframe style='padding:13px;transform:scale(.8)' src='{here}/two'></iframe><div style='height:700px'></div>",
        ),
        ("/two", "<div style='height:700px'></div><iframe src='{there}/three'></iframe>"),
        ("/three", &inner("<button>Deep</button>")),
    ]);
    world.go("/");
    world.click_button("Deep");
}

#[test]
fn clicks_land_in_shadow_trees_scrolled_boxes_and_on_wrapped_links() {
    let mut world = World::with(&[(
        "/",
        &format!(
            "{LISTENS}<script>addEventListener('click', event => {{ document.title = event.composedPath()[0].textContent; event.preventDefault() }})</script>\
             <div style='position:sticky;top:0;height:80px;background:white'>Header</div>\
             <div style='height:1200px'></div><div><template shadowrootmode=open><div style='overflow:auto;height:60px'><div style='height:500px'></div><button>Shadow</button></div></template></div>\
             <p style='width:150px'>Some words before <a href=/x>a link that is wrapped onto several lines</a></p>\
             <div style='display:contents' role=button tabindex=0>Contents</div>\
             <div style='height:1200px'></div>"
        ),
    )]);
    world.go("/");
    for (line, title) in [
        ("button \"Shadow\"", "Shadow"),
        ("link \"a link", "a link that is wrapped onto several lines"),
        ("button \"Contents\"", "Contents"),
    ] {
        let reference = world.ref_of(line);
        world.tool("browser_click", json!({"ref": reference}));
        assert_eq!(world.line.js("document.title"), title);
    }
}

#[test]
fn what_is_in_the_way_of_a_ref_is_said_with_what_to_do() {
    let mut world = World::with(&[(
        "/",
        "<button id=gone>Gone</button><button id=anew>Anew</button><button disabled>Off</button>\
         <fieldset disabled><button>Off by its group</button></fieldset><div aria-disabled=true><button>Off by its part</button></div>\
         <button id=hides>Hides</button><button style='all:unset;display:block;width:0;height:0;overflow:hidden'>Flat</button>\
         <div style='position:relative;width:200px'><button style='width:200px'>Below</button>\
         <div role=dialog aria-label=Cookies style='position:absolute;inset:0;background:white'>We use cookies</div></div>\
         <button style='position:fixed;left:-500px'>Outside</button>",
    )]);
    world.go("/");
    let mut refs = Vec::new();
    for name in ["Gone", "Anew", "Off", "Off by its group", "Off by its part", "Hides", "Flat", "Below", "Outside"] {
        refs.push(world.ref_of(&format!("button \"{name}\"")));
    }
    world.line.js("gone.remove(); anew.outerHTML += ''; hides.style.display = 'none'; 1");
    let expected = [
        ("stale_ref", "is not in the page any more"),
        ("stale_ref", "is not in the page any more"),
        ("not_actionable", "(button \"Off\") is disabled"),
        ("not_actionable", "is disabled"),
        ("not_actionable", "is disabled"),
        ("not_actionable", "is hidden now"),
        ("not_actionable", "has no size"),
        ("not_actionable", "(button \"Below\") is covered by dialog \"Cookies\"; close that"),
        ("not_actionable", "cannot be scrolled into view"),
    ];
    for (reference, (code, says)) in refs.iter().zip(expected) {
        let refused = world.refused(reference);
        assert_eq!(refused["error_code"], code, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains(says), "{says:?}: {refused}");
    }
    let never = world.refused("e9999");
    assert!(never["error"].as_str().unwrap().contains("was never given out"), "{never}");
}

#[test]
fn a_cover_with_a_field_named_id_or_half_a_character_in_its_name_is_told() {
    let cover = "style='position:absolute;inset:0;margin:0;background:white'";
    let mut world = World::with(&[(
        "/",
        &format!(
            "<div style='position:relative;width:200px'><button style='width:200px'>First</button>\
             <form id=ask {cover}><input name=id type=hidden><input name=parentNode type=hidden>Please wait</form></div>\
             <div style='position:relative;width:200px'><button style='width:200px'>Second</button>\
             <div role=dialog id=half {cover}>Half</div></div><button onclick='document.title = 1' id=third>Third</button>\
             <script>half.ariaLabel = 'a\\ud83d'; third.textContent = 'Third \\ud83d'</script>"
        ),
    )]);
    world.go("/");
    for (button, says) in [
        ("button \"First\"", "is covered by <form id=\"ask\"> \"Please wait\""),
        ("button \"Second\"", "is covered by dialog \"a"),
    ] {
        let reference = world.ref_of(button);
        let refused = world.refused(&reference);
        assert_eq!(refused["error_code"], "not_actionable", "{refused}");
        assert!(refused["error"].as_str().unwrap().contains(says), "{refused}");
    }
    let third = world.ref_of("button \"Third");
    world.tool("browser_click", json!({"ref": third}));
    assert_eq!(world.line.js("document.title"), "1");
}

#[test]
fn what_covers_a_frame_is_named() {
    let mut world = World::with(&[
        (
            "/",
            "<div style='position:relative;width:300px'><iframe title=pay style='width:300px' src='{there}/in'></iframe>\
             <div id=cover style='position:absolute;inset:0;background:white'>Please wait</div></div>",
        ),
        ("/in", "<button>Pay</button>"),
    ]);
    world.go("/");
    wait_until("the frame is read", || world.outline().contains("button \"Pay\""));
    let pay = world.ref_of("button \"Pay\"");
    let refused = world.refused(&pay);
    let says = "is in iframe \"pay\", which is covered by <div id=\"cover\"> \"Please wait\" there";
    assert!(refused["error"].as_str().unwrap().contains(says), "{refused}");
}

#[test]
fn a_place_where_the_outline_was_cut_is_no_element_to_click() {
    let items: String = (0..200).map(|n| format!("<p>Paragraph {n}</p>")).collect();
    let mut world = World::with(&[("/", &items)]);
    world.go("/");
    let rest = world.snapshot(json!({"max_chars": 1000}))["data"]["rest"][0].as_str().unwrap().to_owned();
    let refused = world.refused(&rest);
    assert!(refused["error"].as_str().unwrap().contains("read it with browser_snapshot"), "{refused}");
}
