//! `browser_type`, `browser_press` and `browser_scroll`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::text;

/// Focuses a field, so that the next text goes into it.
#[track_caller]
fn focus(world: &mut World, selector: &str) {
    let focused = world.line.js(&format!("document.querySelector('{selector}').focus(), true"));
    assert_eq!(focused, true);
}

#[track_caller]
fn type_into(world: &mut World, selector: &str, args: Value) -> Value {
    focus(world, selector);
    world.tool("browser_type", args)
}

#[test]
fn text_goes_into_every_kind_of_field() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><input id=name value=old><input id=mail type=email value='a@'><textarea></textarea>
         <input id=secret type=password><div id=rich contenteditable>old</div><input id=day type=date>
         <select><option value=1>One<option value=2>Two<option disabled>Three</select><input id=off readonly>
         <input id=box type=checkbox><script>
         window.heard = []; for (const t of ['input', 'change']) addEventListener(t, e => e.target.matches('#day, select') && heard.push(t + ':' + e.target.localName), true);
         </script>",
    )]);
    world.go("/");
    let named = type_into(&mut world, "#name", json!({"text": " and new"}));
    assert_eq!([&named["text"], &named["data"]["value"]], ["Typed into the field with the focus.", "old and new"]);
    let replaced = type_into(&mut world, "#name", json!({"text": "Zoë 中 \u{1f600}", "clear": true}));
    assert_eq!(replaced["data"]["value"], "Zoë 中 \u{1f600}");
    assert_eq!(type_into(&mut world, "#name", json!({"text": "", "clear": true}))["data"]["value"], "");
    assert_eq!(type_into(&mut world, "#mail", json!({"text": "b.c"}))["data"]["value"], "a@b.c");
    assert_eq!(type_into(&mut world, "textarea", json!({"text": "one\ntwo"}))["data"]["value"], "one\ntwo");
    let rich = type_into(&mut world, "#rich", json!({"text": "bold", "clear": true}));
    assert_eq!(rich["data"]["value"], "bold");
    let secret = type_into(&mut world, "#secret", json!({"text": "hush"}));
    assert_eq!([&secret["data"]["value"], &world.line.js("secret.value")], [&Value::Null, &json!("hush")]);
    assert!(!secret.to_string().contains("hush"), "a password is not told back");

    world.line.js("heard = [], 1");
    assert_eq!(type_into(&mut world, "#day", json!({"text": "2030-12-31"}))["data"]["value"], "2030-12-31");
    assert_eq!(type_into(&mut world, "select", json!({"text": "two"}))["data"]["value"], "2");
    assert_eq!(world.line.js("heard"), json!(["input:input", "change:input", "input:select", "change:select"]));

    for (selector, given, told) in [
        ("#day", "tomorrow", "a date such as 2030-12-31"),
        ("select", "Four", "it has \"One\", \"Two\""),
        ("#off", "x", "read-only"),
        ("#box", "x", "use browser_click"),
    ] {
        focus(&mut world, selector);
        let refused = world.try_tool("browser_type", json!({"text": given}));
        assert!(refused["error"].as_str().unwrap().contains(told), "{refused}");
    }
    world.line.js("document.activeElement.blur(), 1");
    let nowhere = world.try_tool("browser_type", json!({"text": "x"}));
    assert!(nowhere["error"].as_str().unwrap().contains("no field has the focus"), "{nowhere}");
}

#[test]
fn a_controlled_field_keeps_what_was_typed_and_what_it_made_of_it_is_told() {
    // What React does: the value of the element is tracked, and every change that the page did not hear is undone.
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><input id=c><script>
         let state = ''; const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
         Object.defineProperty(c, 'value', {get() { return own.get.call(this) }, set(v) { state = v; own.set.call(this, v) }});
         c.addEventListener('input', () => { const now = own.get.call(c); if (now !== state) state = now.toUpperCase(); own.set.call(c, state) });
         </script>",
    )]);
    world.go("/");
    let typed = type_into(&mut world, "#c", json!({"text": "abc"}));
    assert_eq!(text(&typed), "Typed into the field with the focus. It now holds \"ABC\".");
    assert_eq!(world.line.js("state"), "ABC");
}

#[test]
fn one_box_per_digit_gets_a_key_per_digit_and_submit_presses_enter() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><form action=/done><input name=a maxlength=1><input name=b maxlength=1><button>Go</button></form><script>
         document.querySelector('form').addEventListener('input', e => e.target.nextElementSibling?.focus())</script>",
    ), ("/done", "<link rel=icon href='data:,'><title>done</title>")]);
    world.go("/");
    let sent = type_into(&mut world, "input", json!({"text": "12", "submit": true}));
    assert_eq!(sent["data"]["page"]["url"], world.site.here("/done?a=1&b=2"), "{sent}");
}

#[test]
fn a_field_that_does_not_keep_the_focus_gets_nothing_and_neither_does_another() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><input aria-label=Password type=password onfocus='other.focus()'><input id=other aria-label=Other>
         <form aria-label=Named><input name=matches type=hidden><input name=querySelectorAll type=hidden><input id=inner aria-label=Inner></form>",
    )]);
    world.go("/");
    let password = world.ref_of("textbox \"Password\"");
    for clear in [false, true] {
        let refused = world.try_tool("browser_type", json!({"ref": password, "text": "hush", "clear": clear}));
        assert_eq!(refused["error_code"], "not_actionable", "{refused}");
        assert!(refused["error"].as_str().unwrap().contains("does not keep the focus"), "{refused}");
    }
    assert_eq!(world.line.js("other.value"), "");
    // A form with one field stands for it, whatever that and the others are named.
    let form = world.ref_of("form \"Named\"");
    world.tool("browser_type", json!({"ref": form, "text": "in"}));
    assert_eq!(world.line.js("inner.value"), "in");
}

#[test]
fn text_goes_to_the_focus_inside_a_frame_and_a_shadow_root() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><iframe srcdoc='<textarea>in</textarea><p contenteditable>rich</p>'></iframe><div id=host></div>
         <script>host.attachShadow({mode: 'open'}).innerHTML = '<input>'</script>",
    )]);
    world.go("/");
    world.line.js("frames[0].document.querySelector('textarea').focus(), 1");
    assert_eq!(world.tool("browser_type", json!({"text": "side"}))["data"]["value"], "inside");
    world.line.js("frames[0].document.querySelector('p').focus(), 1");
    assert_eq!(world.tool("browser_type", json!({"text": "er"}))["data"]["value"], "richer");
    world.line.js("host.shadowRoot.firstChild.focus(), 1");
    assert_eq!(world.tool("browser_type", json!({"text": "deep"}))["data"]["value"], "deep");
}

#[test]
fn keys_and_chords_do_what_they_do_for_a_person() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><input id=a value='one two'><input id=b><script>
         window.keys = []; addEventListener('keydown', e => keys.push(e.key + (e.ctrlKey ? '^' : '')))</script>",
    )]);
    world.go("/");
    focus(&mut world, "#a");
    for key in ["Control+a", "X", "é", "中", "Tab", "Escape"] {
        assert_eq!(text(&world.tool("browser_press", json!({"key": key}))), format!("Pressed {key}."));
    }
    assert_eq!(world.line.js("keys"), json!(["a^", "X", "é", "中", "Tab", "Escape"]));
    assert_eq!(world.line.js("a.value + document.activeElement.id"), "Xé中b");
    let wrong = world.try_tool("browser_press", json!({"key": "Retrun"}));
    assert!(wrong["error"].as_str().unwrap().contains("there is no key \"Retrun\""), "{wrong}");
}

#[test]
fn a_text_that_a_dialog_stopped_is_not_said_to_be_typed() {
    let fields = "<input aria-label=first onfocus=\"alert('focus')\">
        <input aria-label=second onkeydown=\"this.onkeydown = null; alert('key')\">";
    let mut world = World::with(&[("/", fields)]);
    world.go("/");
    world.outline();
    for (reference, name) in [("e1", "first"), ("e2", "second")] {
        let stopped = world.tool("browser_type", json!({"ref": reference, "text": "xyz"}));
        let said = format!("A dialog stopped the typing into textbox \"{name}\": once it is answered, look");
        assert!(text(&stopped).starts_with(&said), "{stopped}");
        assert_eq!(stopped["data"]["pending_dialogs"].as_array().map(Vec::len), Some(1), "{stopped}");
        world.tool("browser_dialog", json!({"action": "accept"}));
    }
}

#[test]
fn a_key_that_makes_the_page_ask_tells_of_the_dialog() {
    let mut world =
        World::with(&[("/", "<link rel=icon href='data:,'><script>onkeydown = () => alert('typed')</script>")]);
    world.go("/");
    let pressed = world.tool("browser_press", json!({"key": "a"}));
    assert_eq!(pressed["data"]["pending_dialogs"][0]["message"], "typed", "{pressed}");
    world.tool("browser_dialog", json!({"action": "accept"}));
}

#[test]
fn scrolling_tells_how_far_it_went_and_what_is_left() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><body style='margin:0'><div style='height:5000px'>long</div>",
    )]);
    world.go("/");
    let down = world.tool("browser_scroll", json!({"dy": 700}));
    assert_eq!([&down["data"]["moved_y"], &down["data"]["above"]], [700, 700], "{down}");
    assert_eq!(world.line.js("scrollY"), 700);
    let up = world.tool("browser_scroll", json!({"dy": -9000}));
    assert_eq!([&up["data"]["moved_y"], &up["data"]["above"]], [-700, 0], "{up}");
    let end = world.tool("browser_scroll", json!({"dy": -10}));
    assert!(text(&end).contains("nothing that can be seen from here scrolled"), "{end}");
    let wrong = world.try_tool("browser_scroll", json!({"dy": 0}));
    assert_eq!(wrong["error_code"], "bad_request");
}

#[test]
fn two_who_scroll_at_the_same_time_each_move_what_they_are_over() {
    let pane = "<div style='height:150px;overflow:auto'><button>NAME</button><div style='height:5000px'></div></div>";
    let page = ["Left", "Right"].map(|name| pane.replace("NAME", name)).concat();
    let mut world = World::with(&[("/", &format!("<link rel=icon href='data:,'>{page}"))]);
    world.go("/");
    let [left, right] = ["Left", "Right"].map(|name| world.ref_of(&format!("button \"{name}\"")));
    let mut other = world.client();
    let began = Instant::now();
    for _ in 0..3 {
        let args = json!({"ref": right, "dy": 40});
        other.send(&json!({"id": 1, "meta": "tool", "name": "browser_scroll", "args": args}));
        let ours = world.tool("browser_scroll", json!({"ref": left, "dy": 30}));
        assert_eq!(ours["data"]["moved_y"], 30, "{ours}");
        let theirs = other.receive();
        assert_eq!(theirs["result"]["data"]["moved_y"], 40, "{theirs}");
    }
    // One whose turn nobody told it of goes on for eight seconds.
    assert!(began.elapsed() < Duration::from_secs(7), "{:?}", began.elapsed());
}

#[test]
fn a_wheel_that_cannot_turn_is_told_at_once_and_not_waited_for() {
    let mut world = World::with(&[
        ("/", "<link rel=icon href='data:,'><iframe src='{there}/in'></iframe><div style='height:5000px'></div>"),
        ("/in", "<script>setTimeout(() => confirm('Sure?'), 300)</script>"),
    ]);
    world.go("/");
    world.wait_for_dialogs(1);
    // The page itself answers, and would go on looking for what the wheel moves.
    let began = Instant::now();
    let held = world.try_tool("browser_scroll", json!({"dy": 100}));
    assert_eq!([&held["error_code"], &held["dialog"]["message"]], ["dialog_open", "Sure?"], "{held}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    world.tool("browser_dialog", json!({"action": "accept"}));
    assert_eq!(world.tool("browser_scroll", json!({"dy": 100}))["data"]["moved_y"], 100);
}

#[test]
fn a_hidden_tab_takes_clicks_keys_and_the_wheel() {
    let mut world = World::with(&[(
        "/",
        "<link rel=icon href='data:,'><body style='margin:0'><input style='width:200px;height:100px'><div style='height:5000px'>",
    )]);
    world.go("/");
    let opened = world.line.cdp("Target.createTarget", json!({"url": "about:blank"}));
    world.line.cdp("Target.activateTarget", json!({"targetId": opened["targetId"]}));
    world.tool("browser_click", json!({"x": 50, "y": 50}));
    assert_eq!(world.tool("browser_type", json!({"text": "hidden"}))["data"]["value"], "hidden");
    assert_eq!(world.tool("browser_scroll", json!({"dy": 300}))["data"]["moved_y"], 300);
}

#[test]
fn scrolling_inside_a_frame_tells_what_that_did() {
    let mut world = World::with(&[
        ("/", "<body style='margin:0;height:3000px'><iframe src='{there}/in' style='height:200px'></iframe>"),
        ("/in", "<body style='margin:0;height:2000px'><button>Inside</button>"),
    ]);
    world.go("/");
    wait_until("the frame is in the outline", || world.outline().contains("button \"Inside\""));
    let inside = world.ref_of("button \"Inside\"");
    let scrolled = world.tool("browser_scroll", json!({"dy": 120, "ref": inside}));
    assert_eq!([&scrolled["data"]["moved_y"], &scrolled["data"]["above"]], [120, 120], "{scrolled}");
    assert_eq!(world.line.js("scrollY"), 0);
}
