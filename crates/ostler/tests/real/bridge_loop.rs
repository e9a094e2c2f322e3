//! A page that asks in a loop, and several clients that answer: each question once, and none is shown after its answer.

use serde_json::{Value, json};

use super::bridged::Bridged;
use super::sandbox::wait_until;

const QUESTIONS: usize = 20;

#[test]
fn of_a_page_that_asks_in_a_loop_only_the_question_of_now_is_open() {
    Bridged::both(&[("/", "<p>x")], |mut bridged| {
        bridged.world.go("/");
        let ask = format!(
            "window.got = []; setTimeout(() => {{ for (let i = 0; i < {QUESTIONS}; i++) got.push(prompt(i)) }}, 0); 1"
        );
        bridged.start(&ask);
        let world = &mut bridged.world;
        let mut clients = [world.client(), world.client(), world.client()];
        for number in 0..QUESTIONS {
            let (mut id, now) = (Value::Null, number.to_string());
            wait_until("the next question", || {
                let state = clients[(number + 1) % 3].state();
                let open = state["pending_dialogs"].as_array().expect("a list");
                // The one before was answered, and whoever answered was told so.
                assert!(open.iter().all(|dialog| dialog["message"] == now.as_str()), "{number}: {open:?}");
                assert!(open.len() <= 1, "{number}: {open:?}");
                id = open.first().map_or(Value::Null, |dialog| dialog["id"].clone());
                !id.is_null()
            });
            // Two answer the same question at once: one of them has answered it.
            let request =
                |who: &str| json!({"meta": "dialog", "action": "accept", "dialog_id": id, "prompt_text": who});
            clients[0].send(&request("first"));
            clients[1].send(&request("second"));
            let answers = [clients[0].receive(), clients[1].receive()];
            assert_eq!(answers.iter().filter(|answer| answer["ok"] == true).count(), 1, "{number}: {answers:?}");
            let refused = answers.iter().find(|answer| answer["ok"] != true).expect("just counted");
            let code = refused["error_code"].as_str().unwrap_or_default();
            assert!(["no_dialog", "unknown_dialog"].contains(&code), "{number}: {refused}");
        }
        world.wait_for(&format!("got.length === {QUESTIONS} && got.every(text => ['first', 'second'].includes(text))"));
        let state = world.line.state();
        assert_eq!(state["pending_dialogs"], json!([]));
        let recent = state["recent_dialogs"].as_array().expect("a list");
        assert!(recent.iter().all(|dialog| dialog["closed_by"] == "agent"), "{recent:?}");
    });
}
