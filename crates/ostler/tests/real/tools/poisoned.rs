//! A page that has spoilt everything that a script in its own world could use: no tool runs there.

use serde_json::{Value, json};

use super::super::world::World;
use super::text;

/// Every function, getter and setter of every prototype and constructor throws, and so do the window's own functions;
/// no event that tells of the page's course gets past its listeners.
const POISON: &str = r"
  {
    for (const type of ['wheel', 'scroll', 'scrollend', 'load', 'readystatechange', 'transitionend', 'focusin', 'input'])
      window.addEventListener(type, event => event.stopImmediatePropagation(), true);
    const { getOwnPropertyNames, getOwnPropertyDescriptor, defineProperty } = Object;
    const bad = function () { throw 'poisoned'; };
    const spoil = thing => {
      for (const name of getOwnPropertyNames(thing)) {
        if (name === 'constructor' || name === 'prototype') continue;
        const found = getOwnPropertyDescriptor(thing, name);
        try {
          if (found.get || found.set) defineProperty(thing, name, { get: bad, set: bad });
          else if (typeof found.value === 'function') defineProperty(thing, name, { value: bad, writable: false });
        } catch {}
      }
    };
    const all = getOwnPropertyNames(window).map(name => { try { return window[name]; } catch {} });
    const made = all.filter(it => typeof it === 'function' && it.prototype);
    const later = [Array, Object, Function, Reflect, String];
    for (const it of made) if (!later.includes(it)) { spoil(it.prototype); spoil(it); }
    for (const it of [JSON, Math, window, document, ...later.map(it => it.prototype), ...later]) spoil(it);
  }
";

/// Reads a global variable of the page: about all that works in its own world.
#[track_caller]
fn variable(world: &mut World, name: &str) -> Value {
    let read = world.line.cdp("Runtime.evaluate", json!({"expression": name, "returnByValue": true}));
    assert!(read.get("exceptionDetails").is_none(), "{read}");
    read["result"]["value"].clone()
}

#[test]
fn a_page_that_has_spoilt_every_prototype_stops_no_tool() {
    let html = format!(
        "<!doctype html><link rel=icon href='data:,'><title>Spoilt</title><body style='margin:0;height:4000px'>
         <button style='width:200px;height:100px' onclick='clicked = 1'>Go on</button>
         <input aria-label=Name value=old onkeydown='pressed = 1'>
         <select aria-label=Size onchange='chosen = 1'><option>S<option>L</select>
         <input type=date aria-label=Day>
         <div contenteditable aria-label=Note>x</div>
         <div style='height:60px;overflow:auto' tabindex=0 aria-label=Box><p style='height:600px'>inner text</div>
         <iframe title=Inner src='/in' style='width:300px;height:100px'></iframe>
         <script>var clicked = 0, pressed = 0, chosen = 0;{POISON}</script>"
    );
    let mut world = World::with(&[("/", &html), ("/in", &format!("<p>In the frame<script>{POISON}</script>"))]);
    let url = world.site.here("/");
    let opened = world.tool("browser_navigate", json!({"url": url}));
    assert_eq!([&opened["data"]["title"], &opened["data"]["status"]], [&json!("Spoilt"), &json!(200)], "{opened}");
    let read = world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": "document.body"}}));
    assert!(read.to_string().contains("poisoned"), "the page's own world is spoilt: {read}");

    let outline = world.outline();
    for part in ["button \"Go on\"", "textbox \"Name\"", "= \"old\"", "combobox \"Size\"", "In the frame"] {
        assert!(outline.contains(part), "{part}:\n{outline}");
    }
    let go = world.ref_of("button \"Go on\"");
    assert_eq!(text(&world.tool("browser_click", json!({"ref": go}))), "Clicked button \"Go on\".");
    assert_eq!(variable(&mut world, "clicked"), 1);
    assert_eq!(
        text(&world.tool("browser_click", json!({"x": 50, "y": 50}))),
        "Clicked <button> \"Go on\" at (50, 50)."
    );

    let name = world.ref_of("textbox \"Name\"");
    let typed = world.tool("browser_type", json!({"ref": name, "text": "new", "clear": true}));
    assert_eq!(typed["data"]["value"], "new", "{typed}");
    assert_eq!(variable(&mut world, "pressed"), 1);
    assert_eq!(world.tool("browser_type", json!({"text": "er"}))["data"]["value"], "newer", "where the focus is");
    let size = world.ref_of("combobox \"Size\"");
    assert_eq!(world.tool("browser_type", json!({"ref": size, "text": "L"}))["data"]["value"], "L");
    assert_eq!(variable(&mut world, "chosen"), 1);
    let day = world.ref_of("textbox \"Day\"");
    assert_eq!(world.tool("browser_type", json!({"ref": day, "text": "2030-12-31"}))["data"]["value"], "2030-12-31");
    let note = world.ref_of("textbox \"Note\"");
    assert_eq!(world.tool("browser_type", json!({"ref": note, "text": "y"}))["data"]["value"], "xy");
    world.tool("browser_press", json!({"key": "Backspace"}));
    assert!(world.outline().contains("= \"x\""));

    assert_eq!(world.tool("browser_scroll", json!({"dy": 200}))["data"]["moved_y"], 200);
    assert_eq!(world.tool("browser_scroll", json!({"dy": -200}))["data"]["moved_y"], -200);
    let box_ = world.outline().lines().find(|line| line.contains("\"Box\"")).map(str::to_owned).unwrap();
    let of = super::super::snapshot::ref_in(&box_).unwrap();
    assert_eq!(world.tool("browser_scroll", json!({"dy": 50, "ref": of}))["data"]["moved_y"], 50);

    world.tool("browser_wait", json!({"text": "in the frame"}));
    world.tool("browser_wait", json!({"selector": "button"}));
    world.tool("browser_wait", json!({"load": true}));
    world.tool("browser_wait", json!({"idle": true}));
    world.tool("browser_wait", json!({"url": "*"}));
    let picture = world.tool("browser_screenshot", json!({"annotate": true}));
    assert!(!picture["data"]["marks"].as_array().unwrap().is_empty(), "{picture}");
    world.tool("browser_screenshot", json!({"full": true}));
    world.tool("browser_tabs", json!({"action": "list"}));
    world.tool("browser_console", json!({}));
}
