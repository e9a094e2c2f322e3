//! `browser_screenshot`: a file whose pixels are the page's, of hidden tabs too.

use serde_json::json;

use super::super::world::World;
use super::text;

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
