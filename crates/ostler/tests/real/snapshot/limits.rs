//! `max_chars` is never exceeded, and what is left out can be reached.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::super::sandbox::wait_until;
use super::super::world::World;
use super::lines;

/// Rows with a button each, a frame of another process in the middle, and a long text.
fn long_page() -> String {
    let mut page = String::from("<h1>Long</h1><table><thead><tr><th>Name<th>Do</thead>");
    for n in 0..60 {
        let _ = write!(page, "<tr><td>Row {n}<td><button>Do {n}</button>");
    }
    page.push_str("</table><div><iframe src='{there}/in'></iframe></div><ul>");
    for n in 0..60 {
        let _ = write!(page, "<li>Item {n}");
    }
    let _ = write!(page, "</ul><p>{}</p><p>The end", "word ".repeat(500));
    page
}

fn inner_page() -> String {
    (0..60).map(|n| format!("<p>Inner {n}</p>")).collect()
}

#[test]
fn however_small_the_limit_all_of_the_page_can_be_read_once() {
    let mut world = World::with(&[("/", &long_page()), ("/in", &inner_page())]);
    world.go("/");
    wait_until("all is there", || {
        let whole = lines(&world.snapshot(json!({"max_chars": 100_000})));
        whole.contains("Inner 59") && whole.contains("The end")
    });
    for max in [1_000, 1_777, 5_000] {
        let mut asked = vec![json!({"max_chars": max})];
        let mut read = String::new();
        let mut snapshots = 0;
        while let Some(args) = asked.pop() {
            let mut snapshot = Value::Null;
            wait_until("the frame answers", || {
                snapshot = world.snapshot(args.clone());
                !snapshot["text"].as_str().unwrap().contains("(does not answer")
            });
            let text = snapshot["text"].as_str().unwrap();
            assert!(text.chars().count() <= max, "{} characters with max_chars {max}", text.chars().count());
            read.push_str(&lines(&snapshot));
            // The places to go on at, the nearest first.
            for rest in snapshot["data"]["rest"].as_array().unwrap().iter().rev() {
                asked.push(json!({"max_chars": max, "ref": rest}));
            }
            snapshots += 1;
            assert!(snapshots < 100, "it does not come to an end");
        }
        assert!(snapshots > 1);
        let count = |what: String| read.matches(&what).count();
        for n in 0..60 {
            assert_eq!(count(format!("\"Row {n}\"")), 1, "row {n} with max_chars {max}:\n{read}");
            assert_eq!(count(format!("\"Inner {n}\"")), 1, "inner {n} with max_chars {max}:\n{read}");
            assert_eq!(count(format!("\"Item {n}\"")), 1, "item {n} with max_chars {max}:\n{read}");
        }
        assert_eq!(count("\"The end\"".to_owned()), 1, "{read}");
    }
}

#[test]
fn a_long_text_is_cut_and_read_in_full_by_its_ref() {
    let mut world = World::with(&[("/", &format!("<p>{}last</p>", "word ".repeat(1000)))]);
    world.go("/");
    let outline = world.outline();
    assert!(outline.contains("characters more"), "{outline}");
    assert!(!outline.contains("last"), "{outline}");
    let paragraph = super::ref_in(&outline).unwrap();
    assert!(lines(&world.snapshot(json!({"ref": paragraph}))).contains("last"));
}

#[test]
fn the_options_of_a_long_list_are_told_in_full_by_its_ref() {
    let options: String = (0..200).map(|n| format!("<option>Option {n}")).collect();
    let mut world = World::with(&[("/", &format!("<select aria-label=Pick>{options}</select>"))]);
    world.go("/");
    let outline = world.outline();
    assert!(outline.contains("… 180 more") && !outline.contains("Option 20\""), "{outline}");
    let list = super::ref_in(&outline).unwrap();
    let all = lines(&world.snapshot(json!({"ref": list})));
    assert!(all.contains("option \"Option 199\""), "{all}");
    let some = world.snapshot(json!({"ref": list, "max_chars": 1_000}));
    assert!(some["text"].as_str().unwrap().contains("options more, with a larger max_chars"), "{some}");
}
