//! What a tool came to: text that a model reads, the same as data, and a picture where it made one.

use std::path::PathBuf;
use std::sync::Arc;

use ostler_core::view::DialogView;
use serde::Serialize;

/// What came of a tool.
#[derive(Debug)]
pub(super) struct Outcome {
    text: String,
    /// A JSON object.
    data: Vec<u8>,
    image: Option<Image>,
}

/// A picture on disk: megabytes of base64 never stand in a text.
#[derive(Debug, Serialize)]
pub(super) struct Image {
    /// Where it is.
    pub(super) path: PathBuf,
    /// Its MIME type.
    pub(super) mime: &'static str,
}

impl Outcome {
    /// Returns an outcome with `data`, which must serialize as a JSON object.
    pub(super) fn new(text: impl Into<String>, data: &impl Serialize) -> Self {
        let data = serde_json::to_vec(data).expect("plain data with text keys serializes");
        debug_assert!(data.starts_with(b"{") && data.ends_with(b"}"), "a tool's data is an object");
        Self { text: text.into(), data, image: None }
    }

    /// Adds the picture that the tool made.
    pub(super) fn with_image(self, image: Image) -> Self {
        Self { image: Some(image), ..self }
    }

    /// Returns the contract's `{"text", "data"}`. Dialogs that are open stand in both, whatever the tool: an agent
    /// that never heard of dialogs still learns what blocks it.
    pub(super) fn to_json(&self, open: &[Arc<DialogView>]) -> Vec<u8> {
        let text = open.iter().fold(self.text.clone(), |text, dialog| format!("{text}\n{}", dialog_line(dialog)));
        let mut json = br#"{"text":"#.to_vec();
        append(&mut json, &text);
        json.extend_from_slice(br#","data":"#);
        match open {
            [] => json.extend_from_slice(&self.data),
            open => {
                let inner = &self.data[..self.data.len() - 1];
                json.extend_from_slice(inner);
                json.extend_from_slice(if inner == b"{" {
                    br#""pending_dialogs":"#
                } else {
                    br#","pending_dialogs":"#
                });
                append(&mut json, open);
                json.push(b'}');
            }
        }
        if let Some(image) = &self.image {
            json.extend_from_slice(br#","image":"#);
            append(&mut json, image);
        }
        json.push(b'}');
        json
    }
}

/// Returns the line of text that tells of an open dialog and of the way out.
pub(super) fn dialog_line(dialog: &DialogView) -> String {
    let what = dialog.describe();
    let mut letters = what.chars();
    let what = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>();
    format!("{what} is open: {}.", dialog.way_out())
}

fn append(json: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(json, value).expect("plain data with text keys serializes, and a vector takes it");
}

#[cfg(test)]
mod tests {
    use ostler_core::view::DialogKind;
    use ostler_core::{DialogId, FrameId, SessionId};
    use serde_json::{Value, json};

    use super::*;

    fn confirm() -> Arc<DialogView> {
        Arc::new(DialogView {
            id: DialogId(1),
            kind: DialogKind::Confirm,
            message: "Sure?".to_owned(),
            default_prompt: String::new(),
            opened_at: 1.0,
            session_id: SessionId::from("S"),
            frame_id: FrameId::from("F"),
            answerable: true,
        })
    }

    fn json_of(outcome: &Outcome, open: &[Arc<DialogView>]) -> Value {
        serde_json::from_slice(&outcome.to_json(open)).expect("JSON")
    }

    #[test]
    fn a_result_without_dialogs_has_no_trace_of_them() {
        let outcome = Outcome::new("done", &json!({"n": 1}));
        assert_eq!(json_of(&outcome, &[]), json!({"text": "done", "data": {"n": 1}}));
    }

    #[test]
    fn any_result_carries_the_open_dialogs_with_the_way_out() {
        for data in [json!({}), json!({"n": 1})] {
            let result = json_of(&Outcome::new("done", &data), &[confirm()]);
            assert_eq!(result["data"]["pending_dialogs"][0]["id"], "d-1");
            assert_eq!(result["data"]["n"], data["n"]);
            let expected = "done\nA confirm dialog (d-1: \"Sure?\") is open: answer it with browser_dialog / \
                            `ostler dialog accept|dismiss` (dialog_id d-1).";
            assert_eq!(result["text"], expected);
        }
    }

    #[test]
    fn a_picture_is_named_by_its_path() {
        let image = Image { path: "/tmp/a.png".into(), mime: "image/png" };
        let result = json_of(&Outcome::new("done", &json!({})).with_image(image), &[]);
        assert_eq!(result["image"], json!({"path": "/tmp/a.png", "mime": "image/png"}));
    }
}
