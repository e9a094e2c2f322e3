//! Roles and names agree with Chromium's own accessibility tree, on a corpus of pages of many kinds.
//!
//! Each interactive node of the tree must stand in the outline with the role and name that the tree gives it, and the
//! outline must hold no other. What is left are known differences; the test prints them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::super::world::World;

#[path = "../../../src/page/walker.rs"]
mod walker;

/// What must agree at least, in percent.
const GOAL: f64 = 99.0;

/// Roles of the tree that are interactive, as ARIA calls them; Chromium has words of its own for a few.
const ROLES: &[(&str, &str)] = &[
    ("button", "button"),
    ("DisclosureTriangle", "button"),
    ("ColorWell", "button"),
    ("checkbox", "checkbox"),
    ("combobox", "combobox"),
    ("link", "link"),
    ("listbox", "listbox"),
    ("menuitem", "menuitem"),
    ("menuitemcheckbox", "menuitemcheckbox"),
    ("menuitemradio", "menuitemradio"),
    ("option", "option"),
    ("radio", "radio"),
    ("scrollbar", "scrollbar"),
    ("searchbox", "searchbox"),
    ("slider", "slider"),
    ("spinbutton", "spinbutton"),
    ("switch", "switch"),
    ("tab", "tab"),
    ("textbox", "textbox"),
    ("Date", "textbox"),
    ("DateTime", "textbox"),
    ("InputTime", "textbox"),
    ("treeitem", "treeitem"),
    ("doc-noteref", "doc-noteref"),
];

/// Called on the walker with what the tree says and its elements; returns the differences, and how many were compared.
const COMPARE: &str = r#"function (said, ...elements) {
  const blank = text => text.replace(/\s+/g, ' ').trim();
  const outline = this.outline({max: 1e6, indent: 0, root: null, after: null, begun: false, first: 1, count: 1e5});
  const shown = new Set();
  const differences = [];
  let count = 0;
  const of = new Map(elements.map((element, at) => [element, said[at]]));
  for (const [, role, number] of outline.text.matchAll(/(\w[\w-]*)(?: "(?:[^"\\]|\\.)*")? \[e(\d+)\]/g)) {
    const element = this.element(Number(number));
    shown.add(element);
    // Places to write in that have no role are textboxes for one who acts, and generic in the tree.
    if (of.has(element) || !INTERACTIVE.includes(role) || element.isContentEditable) continue;
    count += 1;
    differences.push(`<${element.localName}> is a ${role} only for us`);
  }
  for (const [element, {role, name}] of of) {
    // Chromium's own controls inside of an input or a player.
    if (['input', 'video', 'audio'].includes(element.getRootNode().host?.localName)) continue;
    count += 1;
    const ours = this.describe(element);
    if (ours.role !== role || blank(ours.name) !== blank(name)) {
      differences.push(`<${element.localName}>: Chromium ${role} ${JSON.stringify(name)}, we ${ours.role} ${JSON.stringify(ours.name)}`);
    } else if (!shown.has(element) && !element.closest('select')) differences.push(`<${element.localName}> ${role} ${name} is not shown`);
  }
  return {count, differences};
}"#;

#[test]
fn roles_and_names_agree_with_chromiums_own_tree() {
    let mut world = World::with(&[]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages/aria");
    let mut pages: Vec<_> = fs::read_dir(folder).unwrap().map(|page| page.unwrap().path()).collect();
    pages.sort();
    let (mut compared, mut differing) = (0, 0);
    for page in &pages {
        let name = page.file_name().unwrap().to_str().unwrap();
        let path = format!("/{name}");
        world.site.put(&path, &fs::read_to_string(page).unwrap());
        world.go(&path);
        for frame in frames(&mut world) {
            let (count, differences) = compare(&mut world, &frame);
            compared += count;
            differing += differences.len();
            for difference in differences {
                println!("{name}: {difference}");
            }
        }
    }
    assert!(compared > 300, "only {compared} elements were compared");
    #[expect(clippy::cast_precision_loss, reason = "hundreds")]
    let agreement = 100.0 * (compared - differing) as f64 / compared as f64;
    println!("{agreement:.2} % of {compared} agree");
    assert!(agreement >= GOAL, "only {agreement:.2} % of {compared} agree");
}

/// Returns the frames of the page's process.
fn frames(world: &mut World) -> Vec<Value> {
    fn collect(tree: &Value, into: &mut Vec<Value>) {
        into.push(tree["frame"]["id"].clone());
        for child in tree["childFrames"].as_array().into_iter().flatten() {
            collect(child, into);
        }
    }
    let mut found = Vec::new();
    collect(&world.line.cdp("Page.getFrameTree", json!({}))["frameTree"], &mut found);
    found
}

fn compare(world: &mut World, frame: &Value) -> (usize, Vec<String>) {
    let created = json!({"frameId": frame, "worldName": "agreement"});
    let context = world.line.cdp("Page.createIsolatedWorld", created)["executionContextId"].clone();
    let params = json!({"expression": *walker::EXPRESSION, "contextId": context});
    let walker = world.line.cdp("Runtime.evaluate", params)["result"]["objectId"].clone();
    let nodes = world.line.cdp("Accessibility.getFullAXTree", json!({"frameId": frame}))["nodes"].clone();
    let (mut said, mut arguments) = (Vec::new(), Vec::new());
    for node in nodes.as_array().unwrap() {
        let role = ROLES.iter().find(|(chromiums, _)| node["role"]["value"] == **chromiums);
        let Some((_, role)) = role.filter(|_| node["ignored"] == false) else { continue };
        let params = json!({"backendNodeId": node["backendDOMNodeId"], "executionContextId": context});
        let element = world.line.cdp("DOM.resolveNode", params);
        arguments.push(json!({"objectId": element["object"]["objectId"]}));
        said.push(json!({"role": role, "name": node["name"]["value"]}));
    }
    arguments.insert(0, json!({ "value": said }));
    let roles: Vec<_> = ROLES.iter().map(|(_, role)| role).collect();
    let function = COMPARE.replace("INTERACTIVE", &json!(roles).to_string());
    let params =
        json!({"objectId": walker, "functionDeclaration": function, "arguments": arguments, "returnByValue": true});
    let answer = world.line.cdp("Runtime.callFunctionOn", params);
    let result = &answer["result"]["value"];
    assert!(result.is_object(), "{answer}");
    let differences = result["differences"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned());
    (usize::try_from(result["count"].as_u64().unwrap()).unwrap(), differences.collect())
}
