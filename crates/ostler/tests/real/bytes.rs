//! The wire stays raw: whatever JSON can hold passes unchanged, both ways.

use serde_json::json;

use super::world::World;

#[test]
fn lone_surrogates_and_line_separators_pass_unchanged() {
    let mut world = World::with(&[]);
    let odd = r#""\ud800\u2028\u2029\\\"é🐴""#;
    let inner =
        serde_json::to_string(&format!("({odd}).length + ':' + ({odd})")).unwrap().replace(r"\\ud800", r"\ud800");
    let request = format!(r#"{{"method":"Runtime.evaluate","params":{{"expression":{inner},"returnByValue":true}}}}"#);
    world.line.send_raw(request.as_bytes());
    let answer = world.line.receive_raw();
    let back = answer.to_lowercase();
    assert!(back.contains(r"\ud800"), "{answer}");
    assert!(answer.contains('\u{2028}') || back.contains(r"\u2028"), "{answer}");
    assert_eq!(answer.matches('\n').count(), 1, "one line");
}

#[test]
fn eighty_megabytes_pass_both_ways_and_a_hundred_are_refused() {
    const LEN: usize = 80 << 20;
    let mut world = World::with(&[]);
    let text = "x".repeat(LEN);
    let request = json!({"method": "Runtime.evaluate", "timeout_ms": 150_000,
        "params": {"expression": format!("'{text}'"), "returnByValue": true}});
    world.line.send(&request);
    let answer = world.line.receive();
    assert!(
        answer["result"]["result"]["value"].as_str() == Some(&text),
        "{}",
        answer.to_string().get(..300).unwrap_or("")
    );

    let text = "x".repeat((99 << 20) - 512);
    let refused = world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": text}}));
    assert_eq!(refused["error_code"], "bad_request", "{}", refused.to_string().get(..300).unwrap_or(""));
    assert!(refused["error"].as_str().unwrap().contains("99 MiB"));
    assert_eq!(world.line.js("1 + 1"), 2, "nothing was harmed");
}
