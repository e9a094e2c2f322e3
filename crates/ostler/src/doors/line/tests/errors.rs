//! Each error as the contract prints it.

use std::sync::Arc;

use ostler_core::view::{DialogKind, DialogView};
use ostler_core::{CallError, DialogId, FrameId, SessionId, TaskId, TimeoutHint};
use serde_json::{Value, json};

use super::Client;

/// Returns what a client sees of an error, without the sentence, which must be there.
async fn seen(error: CallError) -> Value {
    let (mut client, mut script) = Client::connect();
    client.send(r#"{"id":1,"method":"A.b"}"#).await;
    let sentence = error.to_string();
    script.call().await.end(Err(error));
    let mut json: Value = serde_json::from_str(&client.line().await).expect("a line of JSON");
    let fields = json.as_object_mut().expect("an object");
    assert_eq!(fields.remove("error"), Some(sentence.into()));
    assert_eq!(fields.remove("id"), Some(1.into()));
    json
}

#[tokio::test]
async fn errors_carry_the_data_that_the_contract_gives_them() {
    let dialog = DialogView {
        id: DialogId(2),
        kind: DialogKind::Confirm,
        message: "Really?\n".to_owned(),
        default_prompt: String::new(),
        opened_at: 1650000000.5,
        session_id: SessionId::from("S"),
        frame_id: FrameId::from("F"),
        answerable: true,
        in_a_row: 1,
    };
    let open = json!({"id": "d-2", "type": "confirm", "message": "Really?\n", "default_prompt": "",
        "opened_at": 1650000000.5, "session_id": "S", "frame_id": "F"});
    let known = || vec!["a".to_owned(), "b".to_owned()];
    let text = || "x".to_owned();
    for (error, expected) in [
        (
            CallError::Cdp { code: -32602, message: "Invalid \"parameters\"".to_owned() },
            json!({"error_code": "cdp", "cdp_code": -32602}),
        ),
        (
            CallError::DialogOpen { dialog: Arc::new(dialog), sent: true },
            json!({"error_code": "dialog_open", "dialog": open}),
        ),
        (
            CallError::Timeout {
                method: text(),
                timeout_ms: 250,
                hint: TimeoutHint::PageBusy { for_ms: 250, frame: None },
            },
            json!({"error_code": "timeout", "timeout_ms": 250}),
        ),
        (CallError::SessionGone { what: text() }, json!({"error_code": "session_gone"})),
        (CallError::TargetCrashed { what: text() }, json!({"error_code": "target_crashed"})),
        (
            CallError::FrameInProcess { frame_id: FrameId::from("F"), method: text() },
            json!({"error_code": "frame_in_process"}),
        ),
        (CallError::UnknownOutcome { method: text(), why: "it left" }, json!({"error_code": "unknown_outcome"})),
        (
            CallError::UnknownFrame { frame_id: text(), known: known() },
            json!({"error_code": "unknown_frame", "known": ["a", "b"]}),
        ),
        (
            CallError::UnknownTask { task: TaskId::from("x"), known: known() },
            json!({"error_code": "unknown_task", "known": ["a", "b"]}),
        ),
        (
            CallError::UnknownDialog { dialog_id: text(), known: known() },
            json!({"error_code": "unknown_dialog", "known": ["a", "b"]}),
        ),
        (CallError::NoDialog { why: None }, json!({"error_code": "no_dialog", "known": []})),
        (CallError::AmbiguousDialog { known: known() }, json!({"error_code": "ambiguous_dialog", "known": ["a", "b"]})),
        (
            CallError::BrowserGone { why: text(), retry_after_ms: Some(500) },
            json!({"error_code": "browser_gone", "retry_after_ms": 500}),
        ),
        (
            CallError::BrowserGone { why: text(), retry_after_ms: None },
            json!({"error_code": "browser_gone", "retry_after_ms": 10_000}),
        ),
    ] {
        assert_eq!(seen(error).await, expected);
    }
}
