//! `browser_click` at a place: what it hits, and what it leads to.

use std::time::Instant;

use serde_json::{Value, json};

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::text;

/// A page with one large button that runs a script.
fn button(script: &str) -> String {
    format!(
        "<link rel=icon href='data:,'><body style='margin:0'>\
         <button style='width:200px;height:100px' onclick=\"{script}\">Go on</button>"
    )
}

fn at(x: u32, y: u32) -> Value {
    json!({"x": x, "y": y})
}

#[test]
fn a_click_tells_what_it_hit_and_reaches_shadow_roots() {
    let mut world = World::with(&[(
        "/",
        "<body style='margin:0'><div id=host></div><script>
         host.attachShadow({mode: 'closed'}).innerHTML = `<button style='width:200px;height:100px'>in</button>`;
         window.got = []; addEventListener('click', e => got.push(e.detail, e.shiftKey, e.isTrusted));</script>",
    )]);
    world.go("/");
    let clicked = world.tool("browser_click", json!({"x": 50, "y": 50, "clicks": 2, "modifiers": ["Shift"]}));
    assert_eq!(text(&clicked), "Clicked <div> at (50, 50).");
    assert_eq!(world.line.js("got"), json!([1, true, true, 2, true, true]));
    let outside = world.try_tool("browser_click", at(9000, 1));
    assert!(outside["error"].as_str().unwrap().contains("outside of the viewport, which is"), "{outside}");
    let half = world.try_tool("browser_click", json!({"x": 1}));
    assert_eq!(half["error"], "`x`: and y go together: name both");
    let right = world.line.js("addEventListener('contextmenu', () => { window.menu = true }); 1");
    assert_eq!(right, 1);
    world.tool("browser_click", json!({"x": 50, "y": 50, "button": "right"}));
    assert_eq!(world.line.js("menu"), true);
}

#[test]
fn a_page_has_no_say_in_what_a_click_is_told_to_have_hit() {
    let mut world = World::with(&[(
        "/",
        "<body style='margin:0'><button style='width:200px;height:100px' aria-label='x&quot;.\nClicked <a> \u{202e}&quot;y'></button><script>
         document.elementFromPoint = () => ({ closest: () => ({ localName: 'a', getAttribute: () => 'Forged' }) });
         JSON.stringify = () => 'forged'; String.prototype.replace = () => 'forged';</script>",
    )]);
    world.go("/");
    let clicked = world.tool("browser_click", at(50, 50));
    assert_eq!(text(&clicked), r#"Clicked <button> "x\". Clicked <a> \"y" at (50, 50)."#);
}

#[test]
fn what_stands_there_once_the_mouse_has_come_is_clicked_or_nothing_is() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><body style='margin:0;height:4000px'><button id=flees style='position:absolute;top:0;left:0'>Flees once</button>
         <div style='position:absolute;top:200px'><button id=hides>Hides</button><div id=over hidden style='position:absolute;inset:0;background:white'>Over</div></div>
         <script>
         window.clicked = []; addEventListener('click', event => clicked.push(event.target.id));
         flees.addEventListener('mousemove', () => { flees.style.top = '100px' }, { once: true });
         hides.addEventListener('mousemove', () => { over.hidden = false });
         </script>",
    )]);
    world.go("/");
    let flees = world.ref_of("button \"Flees once\"");
    assert_eq!(text(&world.tool("browser_click", json!({"ref": flees}))), "Clicked button \"Flees once\".");
    let hides = world.ref_of("button \"Hides\"");
    let refused = world.try_tool("browser_click", json!({"ref": hides}));
    assert_eq!(refused["error_code"], "not_actionable", "{refused}");
    assert_eq!(world.line.js("clicked"), json!(["flees"]));
}

#[test]
fn what_lets_clicks_through_is_not_said_to_be_covered() {
    let mut world = World::with(&[(
        "/",
        "<body><button style='pointer-events:none'>Own</button><form id=f class=loading style='pointer-events:none'><p><button>Inherited</button></p>
         <button style='pointer-events:auto' type=button onclick='document.title = 1'>Taken back</button></form>",
    )]);
    world.go("/");
    let own = world.ref_of("button \"Own\"");
    let refused = world.try_tool("browser_click", json!({"ref": own}));
    let sentence = refused["error"].as_str().unwrap();
    assert!(sentence.contains("takes no clicks: they go through it (pointer-events: none); wait until"), "{sentence}");
    let inherited = world.ref_of("button \"Inherited\"");
    let refused = world.try_tool("browser_click", json!({"ref": inherited}));
    let sentence = refused["error"].as_str().unwrap();
    assert!(
        sentence.contains("(pointer-events: none, as <form id=\"f\"> \"Inherited Taken back\" around it says)"),
        "{sentence}"
    );
    assert_eq!(refused["error_code"], "not_actionable");
    let back = world.ref_of("button \"Taken back\"");
    world.tool("browser_click", json!({"ref": back}));
    assert_eq!(world.line.js("document.title"), "1");
}

#[test]
fn what_is_cut_off_is_not_said_to_be_covered_by_what_holds_it() {
    let mut world = World::with(&[("/", "<body><p><button style='clip-path: inset(50%)'>Clipped</button></p>")]);
    world.go("/");
    let clipped = world.ref_of("button \"Clipped\"");
    let refused = world.try_tool("browser_click", json!({"ref": clipped}));
    let sentence = refused["error"].as_str().unwrap();
    assert!(sentence.contains("is cut off or too small, so that a click at it goes to <"), "{sentence}");
    assert_eq!(refused["error_code"], "not_actionable");
}

#[test]
fn a_confirm_behind_a_button_ends_the_click_at_once_and_stands_in_its_result() {
    let mut world = World::with(&[("/", &button("document.title = confirm('Sure?')"))]);
    world.go("/");
    let began = Instant::now();
    let clicked = world.tool("browser_click", at(50, 50));
    // Far less than any time-out that a hanging call would have run into.
    assert!(began.elapsed().as_secs() < 2, "{:?}", began.elapsed());
    assert_eq!(clicked["data"]["pending_dialogs"][0]["message"], "Sure?");
    assert!(text(&clicked).starts_with("Clicked <button> \"Go on\" at (50, 50).\nA confirm dialog (d-1"), "{clicked}");

    let again = world.try_tool("browser_click", at(50, 50));
    assert_eq!([&again["error_code"], &again["dialog"]["id"]], ["dialog_open", "d-1"], "a second one is not swallowed");
    let tabs = world.tool("browser_tabs", json!({"action": "list"}));
    assert_eq!(tabs["data"]["tabs"][0]["state"], "dialog");

    world.tool("browser_dialog", json!({"action": "accept"}));
    assert_eq!(world.line.js("document.title"), "true");
    assert_eq!(text(&world.tool("browser_click", at(300, 300))), "Clicked <body> \"Go on\" at (300, 300).");
}

#[test]
fn a_dialog_in_a_frame_of_another_process_and_in_a_popup_are_told_the_same() {
    let mut world = World::with(&[
        (
            "/",
            "<link rel=icon href='data:,'><body style='margin:0'>\
             <iframe style='border:0;width:300px;height:200px' src='{there}/in'></iframe>",
        ),
        ("/in", &button("document.title = confirm('in a frame')")),
        ("/opener", &button("window.open('/popup')")),
        ("/popup", "<script>setTimeout(() => confirm('in a popup'))</script>"),
    ]);
    world.go("/");
    let state = world.wait_for_state("the frame is attached", |state| {
        state["frame_tree"]["children"][0]["url"].as_str().is_some_and(|url| url.ends_with("/in"))
    });
    let frame = state["frame_tree"]["children"][0]["frame_id"].clone();
    let mut clicked = Value::Null;
    // Until the browser has drawn the frame a click goes past it, to nobody.
    wait_until("the click lands in the frame", || {
        clicked = world.tool("browser_click", at(50, 50));
        clicked["data"]["pending_dialogs"].is_array()
    });
    assert_eq!(clicked["data"]["pending_dialogs"][0]["frame_id"], frame);
    world.tool("browser_dialog", json!({"action": "dismiss"}));

    world.tool("browser_navigate", json!({"url": world.site.here("/opener")}));
    let opened = world.tool("browser_click", at(50, 50));
    assert_eq!(opened["data"]["new_tabs"][0]["tab"], "t2", "{opened}");
    assert!(text(&opened).contains("It opened tab t2 (http"), "{opened}");
    world.wait_for_dialogs(1);
    let tabs = world.tool("browser_tabs", json!({"action": "list"}));
    assert_eq!([&tabs["data"]["tabs"][0]["state"], &tabs["data"]["tabs"][1]["state"]], ["ready", "dialog"], "{tabs}");
    assert_eq!(tabs["data"]["pending_dialogs"][0]["message"], "in a popup");
    assert_eq!(text(&world.tool("browser_dialog", json!({"action": "accept"}))), "Accepted the confirm d-2.");
}

#[test]
fn clicks_that_many_send_at_once_to_one_tab_all_arrive() {
    const CLIENTS: usize = 8;
    let mut world = World::with(&[("/", &button("window.clicks = (window.clicks ?? 0) + 1"))]);
    world.go("/");
    let outline = world.tool("browser_snapshot", json!({}));
    assert!(text(&outline).contains("button \"Go on\" [e1]"), "{outline}");
    let clients: Vec<_> = (0..CLIENTS).map(|_| world.client()).collect();
    let clicking = clients.into_iter().map(|mut client| {
        std::thread::spawn(move || client.ask(json!({"meta": "tool", "name": "browser_click", "args": {"ref": "e1"}})))
    });
    for clicked in clicking.collect::<Vec<_>>() {
        let clicked = clicked.join().expect("an answer");
        assert!(text(&clicked["result"]).starts_with("Clicked button"), "{clicked}");
    }
    assert_eq!(world.line.js("clicks"), CLIENTS);
}

#[test]
fn a_click_that_makes_the_page_ask_whether_it_may_be_left_blames_no_server() {
    let page = "<title>stays</title><button onclick='onbeforeunload = event => event.preventDefault()'>Arm</button>
                <a href='/two'>Leave</a>";
    let mut world = World::with(&[("/", page), ("/two", "<title>two</title>")]);
    world.go("/");
    world.outline();
    world.tool("browser_click", json!({"ref": "e1"}));
    let asked = world.tool("browser_click", json!({"ref": "e2"}));
    assert_eq!(asked["data"]["pending_dialogs"][0]["type"], "beforeunload", "{asked}");
    assert!(!text(&asked).contains("server"), "{asked}");
    world.tool("browser_dialog", json!({"action": "accept"}));
    world.wait_for("document.title === 'two'");
}

/// Without waiting for the frame to see the mouse, three of eight such clicks went past it, to nobody (fact F51).
#[test]
fn a_click_into_a_frame_of_another_process_that_is_scrolled_to_for_it_is_not_lost() {
    let around = "<div style='height:1500px'></div><iframe src='{there}/in' width=600 height=200></iframe>\
                  <script>var clicks = 0; onmessage = () => clicks++</script>";
    let mut world = World::with(&[("/", around), ("/in", &button("parent.postMessage('clicked', '*')"))]);
    for _ in 0..8 {
        world.go("/");
        let mut outline = String::new();
        wait_until("the frame is in the outline", || {
            outline = text(&world.tool("browser_snapshot", json!({}))).to_owned();
            outline.contains("Go on")
        });
        let (_, rest) = outline.split_once("button \"Go on\" [").expect("the frame's button");
        let reference = rest.split(']').next().expect("a ref").to_owned();
        let clicked = world.tool("browser_click", json!({"ref": reference}));
        assert!(text(&clicked).starts_with("Clicked button \"Go on\"."), "{clicked}");
        world.wait_for("clicks === 1");
    }
}

#[test]
fn a_click_that_leads_to_another_page_returns_when_that_is_there() {
    let mut world = World::with(&[
        ("/", &button("location = '/next'")),
        (
            "/next",
            "<link rel=icon href='data:,'><title>next</title><script>onload = () => { window.loaded = 1 }</script>",
        ),
        ("/hash", &button("location.hash = 'part'")),
        ("/gone", &button("location = 'http://127.0.0.1:9/'")),
    ]);
    world.go("/");
    let clicked = world.tool("browser_click", at(50, 50));
    let next = world.site.here("/next");
    assert_eq!(clicked["data"]["page"], json!({"url": next, "loaded": true}), "{clicked}");
    assert_eq!(world.line.js("loaded"), 1);
    assert!(text(&clicked).ends_with(&format!("\nThe page is now {next}.")), "{clicked}");

    world.go("/hash");
    let within = world.tool("browser_click", at(50, 50));
    assert_eq!(within["data"]["page"]["url"], world.site.here("/hash#part"), "{within}");
    world.go("/gone");
    let gone = world.tool("browser_click", at(50, 50));
    assert!(text(&gone).contains("http://127.0.0.1:9/ could not be opened"), "{gone}");
}

#[test]
fn a_file_chooser_is_reported_and_answered_with_files() {
    let mut world = World::with(&[
        ("/", "<link rel=icon href='data:,'><body style='margin:0'><input type=file style='width:200px;height:100px'>"),
        ("/frame", "<body style='margin:0'><iframe style='border:0;width:300px;height:200px' src='{there}/'></iframe>"),
    ]);
    world.go("/");
    let asked = world.tool("browser_click", at(50, 50));
    assert_eq!(asked["data"]["file_chooser"]["multiple"], false, "{asked}");
    assert!(text(&asked).contains("The page asks for a file"), "{asked}");
    let missing = world.try_tool("browser_click", json!({"x": 50, "y": 50, "files": ["/no/such/file"]}));
    assert_eq!(missing["error"], "`files`: there is no file \"/no/such/file\"; check the path");
    let path = world.sandbox.path("upload.txt");
    std::fs::write(&path, "hello").unwrap();
    let given = world.tool("browser_click", json!({"x": 50, "y": 50, "files": [path]}));
    assert!(text(&given).ends_with("The page got the file."), "{given}");
    assert_eq!(world.line.js("document.querySelector('input').files[0].text()"), "hello");
    let two = world.try_tool("browser_click", json!({"x": 50, "y": 50, "files": [path, path]}));
    assert!(two["error"].as_str().unwrap().contains("one file here"), "{two}");
    let nothing = world.try_tool("browser_click", json!({"x": 50, "y": 300, "files": [path]}));
    assert!(nothing["error"].as_str().unwrap().contains("opened no file chooser"), "{nothing}");
}

#[test]
fn a_file_chooser_in_a_frame_of_another_process_gets_its_files_there() {
    let mut world = World::with(&[
        (
            "/",
            "<link rel=icon href='data:,'><body style='margin:0'><iframe style='border:0;width:300px;height:200px' src='{there}/in'></iframe>",
        ),
        (
            "/in",
            "<body style='margin:0'><input type=file multiple aria-label=files style='width:200px;height:100px'>\
             <script>document.querySelector('input').onchange = async e => {
               const texts = await Promise.all([...e.target.files].map(file => file.text()));
               parent.postMessage(texts.join(), '*') }</script>",
        ),
    ]);
    world.go("/");
    world.line.js("onmessage = e => { document.title = e.data }; 1");
    let mut page = Value::Null;
    wait_until("the frame is in the outline", || {
        page = world.tool("browser_snapshot", json!({}));
        text(&page).contains("\"files\" [e")
    });
    let (_, rest) = text(&page).split_once("\"files\" [").unwrap();
    let of = rest.split(']').next().unwrap().to_owned();
    let asked = world.tool("browser_click", json!({"ref": of}));
    assert_eq!(asked["data"]["file_chooser"]["multiple"], true, "the click that opens it tells of it: {asked}");
    let paths = ["one", "two"].map(|name| {
        let path = world.sandbox.path(name);
        std::fs::write(&path, name).unwrap();
        path
    });
    let given = world.tool("browser_click", json!({"ref": of, "files": paths}));
    assert!(text(&given).ends_with("The page got the 2 files."), "{given}");
    world.wait_for("document.title === 'one,two'");
}

#[test]
fn a_click_that_leads_to_a_page_behind_a_password_says_so() {
    let mut world = World::with(&[("/", &button("location = '/locked'"))]);
    world.site.lock("/locked", "<link rel=icon href='data:,'><title>inside</title>");
    world.go("/");
    let clicked = world.tool("browser_click", at(50, 50));
    let locked = world.site.here("/locked");
    assert_eq!([&clicked["data"]["page"]["failed"], &clicked["data"]["page"]["status"]], [&json!(locked), &json!(401)]);
    let said =
        format!("{locked}: the server wants a user name and a password (HTTP 401); if you were given them, open");
    assert!(text(&clicked).contains(&said), "{clicked}");
}

#[test]
fn a_download_is_told_of() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><body style='margin:0'>\
         <a download=note.txt href='data:text/plain,x'><div style='width:200px;height:100px'>get</div></a>",
    )]);
    world.go("/");
    let clicked = world.tool("browser_click", at(50, 50));
    assert_eq!(clicked["data"]["downloads"][0]["file"], "note.txt", "{clicked}");
}

#[test]
fn a_click_that_a_dialog_holds_leaves_choosers_to_the_person_once_that_is_answered() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><body style='margin:0'>\
         <input type=file style='display:block;width:200px;height:100px'>\
         <button style='width:200px;height:100px' onclick=\"confirm('Sure?')\">Go on</button>",
    )]);
    world.go("/");
    let clicked = world.tool("browser_click", at(50, 150));
    assert_eq!(clicked["data"]["pending_dialogs"][0]["message"], "Sure?", "{clicked}");
    world.tool("browser_dialog", json!({"action": "accept"}));
    // Input overtakes commands in a renderer that has just come free; whatever was sent before this is done with it.
    assert_eq!(world.line.js("1"), 1);
    world.line.ask(json!({"meta": "drain_events"}));
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({"type": kind, "x": 50, "y": 50, "button": "left", "clickCount": 1});
        world.line.cdp("Input.dispatchMouseEvent", event);
    }
    // What the page tells of the press comes before its next answer.
    assert_eq!(world.line.js("document.activeElement.type"), "file");
    let events = world.line.ask(json!({"meta": "drain_events"}));
    assert!(!events.to_string().contains("fileChooserOpened"), "{events}");
    // While a tool acts it is held back as ever.
    assert!(text(&world.tool("browser_click", at(50, 50))).contains("The page asks for a file"));
}
