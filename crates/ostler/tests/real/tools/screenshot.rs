//! `browser_screenshot`: a file whose pixels are the page's, of hidden tabs too.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::text;

/// Returns the colour of a pixel of a PNG file.
fn colour(path: &str, x: f64, y: f64) -> [u8; 3] {
    let mut reader = png::Decoder::new(std::io::Cursor::new(std::fs::read(path).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let at = y.round() as usize * info.line_size + x.round() as usize * info.color_type.samples();
    [pixels[at], pixels[at + 1], pixels[at + 2]]
}

/// Returns width and height of a PNG file.
fn size(path: &str) -> (u32, u32) {
    let png = std::fs::read(path).unwrap();
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn a_picture_has_the_pages_own_pixels_or_a_stated_scale() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><html style='scrollbar-width:none'><body style='margin:0'><div style='height:3000px'>tall",
    )]);
    world.go("/");
    let screen = json!({"width": 800, "height": 600, "deviceScaleFactor": 2, "mobile": false});
    world.line.cdp("Emulation.setDeviceMetricsOverride", screen);
    let path = world.sandbox.path("shot.png");
    let shot = world.tool("browser_screenshot", json!({"path": path}));
    assert_eq!(
        [&shot["data"]["width"], &shot["data"]["height"], &shot["data"]["scale"]],
        [&json!(800), &json!(600), &json!(1.0)]
    );
    assert_eq!(size(path.to_str().unwrap()), (800, 600));
    assert_eq!(shot["image"], json!({"path": path, "mime": "image/png"}));
    assert!(text(&shot).contains("scale 1: browser_click takes its coordinates as they are"), "{shot}");

    let small = world.tool("browser_screenshot", json!({"max_dim": 400}));
    assert!(text(&small).contains("(400 x 300 px, scale 0.5: multiply its coordinates by 2.0000"), "{small}");
    let kept = small["data"]["path"].as_str().unwrap();
    assert_eq!(size(kept), (400, 300));
    std::fs::remove_file(kept).unwrap();
    let full = world.tool("browser_screenshot", json!({"path": path, "full": true, "max_dim": 1500}));
    assert_eq!([&full["data"]["width"], &full["data"]["height"]], [400, 1500], "{full}");
}

#[test]
fn a_path_that_cannot_be_is_refused_before_anything_is_taken() {
    let mut world = World::with(&[]);
    for (path, why) in
        [("shot.png", "absolute"), ("/no/such/folder/shot.png", "does not exist"), ("/tmp/shot.gif", ".png")]
    {
        let refused = world.try_tool("browser_screenshot", json!({"path": path}));
        assert_eq!(refused["error_code"], "bad_request");
        assert!(refused["error"].as_str().unwrap().contains(why), "{refused}");
    }
}

#[test]
fn a_hidden_tab_has_its_picture_taken_and_stays_hidden() {
    let mut world = World::with(&[("/", "<link rel=icon href='data:,'><p>hidden")]);
    world.go("/");
    let front = world.line.cdp("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
    world.line.cdp("Target.activateTarget", json!({"targetId": front}));
    for _ in 0..2 {
        let path = world.sandbox.path("hidden.png");
        let shot = world.tool("browser_screenshot", json!({"path": path}));
        assert!(shot["data"]["width"].as_u64().unwrap() > 100, "{shot}");
    }
}

#[test]
fn an_open_dialog_ends_a_picture_at_once() {
    let mut world =
        World::with(&[("/", "<link rel=icon href='data:,'><script>setTimeout(() => alert('first'))</script>")]);
    let url = world.site.here("/");
    world.line.cdp("Page.navigate", json!({"url": url}));
    world.wait_for_dialogs(1);
    let refused = world.try_tool("browser_screenshot", json!({}));
    assert_eq!([&refused["error_code"], &refused["dialog"]["message"]], ["dialog_open", "first"]);
}

/// Returns the four numbers of the mark of a ref; `None` if there is no mark.
fn marked(shot: &Value, of: &str) -> Option<[f64; 4]> {
    let marks = shot["data"]["marks"].as_array().expect("an annotated picture");
    let mark = marks.iter().find(|mark| mark["ref"] == of)?;
    Some(serde_json::from_value(mark["box"].clone()).expect("four numbers"))
}

/// Returns the ref that stands behind a name in a snapshot.
#[track_caller]
fn ref_of(snapshot: &Value, name: &str) -> String {
    let line = text(snapshot).lines().find(|line| line.contains(&format!("\"{name}\"")));
    let found = line.and_then(|line| line.split_once('[')).and_then(|(_, rest)| rest.split_once(']'));
    assert!(found.is_some(), "no {name} with a ref in {snapshot}");
    found.expect("just seen").0.to_owned()
}

const MANY_KINDS: &str = "<link rel=icon href='data:,'><style>html { scrollbar-width: none } body { margin: 0; height: 3000px; font: 20px monospace }
    button, a { position: absolute; width: 120px; height: 40px }</style>
    <button style='left:40px;top:60px'>plain</button>
    <button style='left:300px;top:60px' disabled>disabled</button>
    <button style='left:300px;top:200px'>beneath</button><div style='position:absolute;left:290px;top:190px;width:200px;height:80px;background:white'></div>
    <button style='left:40px;top:1500px'>below</button>
    <div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML =
      `<button style='position:absolute;left:40px;top:200px;width:120px;height:40px'>shadow</button>`</script>
    <div id=scroller style='position:absolute;left:500px;top:60px;width:200px;height:50px;overflow:auto'>
      <a href='/' style='top:auto;position:static;display:block'>half</a><a href='/' style='position:static;display:block;margin-top:200px'>away</a></div>
    <iframe style='position:absolute;left:50px;top:300px;border:7px solid black;width:300px;height:100px;transform:scale(1.5);transform-origin:0 0' src='{there}/in'></iframe>";

#[test]
fn refs_are_drawn_where_their_elements_are_in_every_frame_and_nowhere_else() {
    let mut world = World::with(&[
        ("/", MANY_KINDS),
        (
            "/in",
            "<body style='margin:0;height:900px'><button style='position:absolute;left:21px;top:13px;width:80px;height:40px'>framed</button>
             <button style='position:absolute;left:20px;top:400px'>deep</button>",
        ),
    ]);
    let screen = json!({"width": 1000, "height": 700, "deviceScaleFactor": 1, "mobile": false});
    world.line.cdp("Emulation.setDeviceMetricsOverride", screen);
    world.go("/");
    let mut page = Value::Null;
    wait_until("the frame is in the outline", || {
        page = world.tool("browser_snapshot", json!({}));
        text(&page).contains("deep")
    });
    let html = world.line.js("document.documentElement.outerHTML");
    let path = world.sandbox.path("shot.png");
    let path = path.to_str().unwrap();
    for (scale, max_dim) in [(1.0, 1000), (0.5, 500)] {
        let args = json!({"path": path, "annotate": true, "max_dim": max_dim});
        let shot = world.tool("browser_screenshot", args);
        assert_eq!(shot["data"]["scale"], scale, "{shot}");
        // The frame's inside begins behind its border, and all of it is drawn half as large again.
        for (name, at) in [
            ("plain", [40.0, 60.0, 120.0, 40.0]),
            ("shadow", [40.0, 200.0, 120.0, 40.0]),
            ("half", [500.0, 60.0, 120.0, 40.0]),
            ("framed", [50.0 + 1.5 * 28.0, 300.0 + 1.5 * 20.0, 120.0, 60.0]),
        ] {
            let of = ref_of(&page, name);
            let [x, y, width, height] = at.map(|number| number * scale);
            assert_eq!(marked(&shot, &of), Some([x, y, width, height]), "{name}: {shot}");
            let edges =
                [(x, y + height / 2.0), (x + width - 1.0, y + height / 2.0), (x + width / 2.0, y + height - 1.0)];
            let colours = edges.map(|(x, y)| colour(path, x.floor(), y.floor()));
            assert!(colours.iter().all(|colour| *colour == colours[0]), "{name}: {colours:?}");
            assert!(colours[0].iter().max() > colours[0].iter().min(), "{name} has no coloured edge: {colours:?}");
        }
        for name in ["disabled", "beneath", "below", "away", "deep"] {
            assert_eq!(marked(&shot, &ref_of(&page, name)), None, "{name}: {shot}");
        }
        assert_eq!(shot["data"]["marks"].as_array().unwrap().len(), 4, "{shot}");
        assert!(text(&shot).contains("4 elements are marked with their refs"), "{shot}");
    }
    assert_eq!(world.line.js("document.documentElement.outerHTML"), html, "nothing is left in the page");

    let full = world.tool("browser_screenshot", json!({"path": path, "annotate": true, "full": true}));
    assert_eq!(marked(&full, &ref_of(&page, "below")), Some([40.0, 1500.0, 120.0, 40.0]), "{full}");
    world.line.js("scrollTo(0, 1400)");
    let scrolled = world.tool("browser_screenshot", json!({"path": path, "annotate": true}));
    assert_eq!(marked(&scrolled, &ref_of(&page, "below")), Some([40.0, 100.0, 120.0, 40.0]), "{scrolled}");
    let full = world.tool("browser_screenshot", json!({"path": path, "annotate": true, "full": true}));
    assert_eq!(marked(&full, &ref_of(&page, "plain")), Some([40.0, 60.0, 120.0, 40.0]), "{full}");
    let clicked = world.tool("browser_click", json!({"ref": ref_of(&page, "framed")}));
    assert!(text(&clicked).starts_with("Clicked button \"framed\""), "{clicked}");
}

#[test]
fn an_annotated_picture_says_how_many_marks_it_leaves_out() {
    let many = "<a href='/'>a</a> ".repeat(203);
    let mut world = World::with(&[
        ("/many", &many),
        ("/zoomed", "<button>in</button><button style='position:absolute;left:700px'>out</button>"),
    ]);
    world.line.cdp(
        "Emulation.setDeviceMetricsOverride",
        json!({"width": 800, "height": 600, "deviceScaleFactor": 1, "mobile": true}),
    );
    let path = world.sandbox.path("shot.png");
    let annotate = json!({"path": path, "annotate": true});
    world.go("/many");
    let shot = world.tool("browser_screenshot", annotate.clone());
    assert_eq!(shot["data"]["marks"].as_array().unwrap().len(), 200);
    assert!(text(&shot).contains("3 elements more show and have no marks beyond the first 200"), "{shot}");
    world.go("/zoomed");
    world.line.cdp("Emulation.setPageScaleFactor", json!({"pageScaleFactor": 2}));
    let shot = world.tool("browser_screenshot", annotate);
    assert_eq!(shot["data"]["marks"].as_array().unwrap().len(), 1, "{shot}");
    assert!(text(&shot).contains("1 element more is outside of the picture and has no mark."), "{shot}");
}

#[test]
fn a_picture_of_a_page_whose_frame_a_dialog_in_another_tab_stops_is_not_waited_for() {
    let mut world = World::with(&[
        ("/asks", "<iframe src='{there}/first'></iframe>"),
        ("/first", "<script>setTimeout(() => alert('first'), 0)</script>"),
        ("/same", "<title>same</title><iframe src='{there}/plain'></iframe><iframe src='{there}/plain'></iframe>"),
        ("/plain", "<p>x"),
    ]);
    world.tool("browser_navigate", json!({"url": world.site.here("/asks")}));
    world.wait_for_dialogs(1);
    world.tool("browser_navigate", json!({"url": world.site.here("/same"), "new_tab": true}));
    let began = Instant::now();
    let path = world.sandbox.path("shot.png");
    let shot = world.tool("browser_screenshot", json!({"path": path, "annotate": true}));
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}: {shot}", began.elapsed());
    assert!(text(&shot).contains("2 frames could not be asked and have no marks"), "{shot}");
}

/// It takes longer than a hidden tab is waited for, so that it is asked for again meanwhile (facts C29, F52).
#[test]
fn a_picture_of_a_whole_long_page_leaves_the_tab_as_it_was() {
    let long: String = (0..3000).map(|number| format!("<p>{number} <button>{number}</button></p>")).collect();
    let mut world = World::with(&[("/long", &long), ("/", "<body style='height:3000px'>")]);
    world.go("/long");
    world.tool("browser_screenshot", json!({"full": true}));
    world.go("/");
    world.tool("browser_scroll", json!({"dy": 500}));
    assert_eq!(world.line.js("scrollY"), 500);
    world.tool("browser_screenshot", json!({}));
}
