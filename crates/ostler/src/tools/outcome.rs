//! What a tool came to: text that a model reads, the same as data, and a picture where it made one.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use ostler_core::Words;
use ostler_core::view::{DialogView, TaskView};
use serde::Serialize;

/// What came of a tool.
#[derive(Debug)]
pub(super) struct Outcome {
    text: String,
    /// A JSON object.
    data: Vec<u8>,
    image: Option<Image>,
    /// Whether what the tool was asked to run failed, although the tool itself did what it does.
    failed: bool,
    /// The most characters that the text may have, the dialogs' lines included.
    most_chars: Option<usize>,
    /// What is known of the task, where the contract wants it in the data.
    state: Option<Arc<TaskView>>,
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
        Self { text: text.into(), data, image: None, failed: false, most_chars: None, state: None }
    }

    /// Adds the picture that the tool made.
    pub(super) fn with_image(self, image: Image) -> Self {
        Self { image: Some(image), ..self }
    }

    /// Marks the outcome as an error, for a model that only looks at that.
    pub(super) fn failed(self) -> Self {
        Self { failed: true, ..self }
    }

    /// Keeps the text within a limit, whatever dialogs are told of in it.
    pub(super) fn at_most(self, most_chars: usize) -> Self {
        Self { most_chars: Some(most_chars), ..self }
    }

    /// Adds the supervisor's state to the data: the contract's section 3.
    pub(super) fn with_state(self, view: Arc<TaskView>) -> Self {
        Self { state: Some(view), ..self }
    }

    /// Returns the contract's `{"text", "data"}`. Dialogs that are open stand in both, whatever the tool: an agent
    /// that never heard of dialogs still learns what blocks it.
    pub(super) fn to_json(&self, open: &[Arc<DialogView>], words: Words) -> Vec<u8> {
        let mut json = br#"{"text":"#.to_vec();
        append(&mut json, &self.text_with(open, words));
        json.extend_from_slice(br#","data":"#);
        let inner = self.data.strip_suffix(b"}").unwrap_or_default();
        json.extend_from_slice(inner);
        let mut first = inner == b"{";
        let mut field = |name: &str, value: &dyn Fn(&mut Vec<u8>)| {
            json.extend_from_slice(if first { b"" } else { b"," });
            append(&mut json, name);
            json.push(b':');
            value(&mut json);
            first = false;
        };
        // Absent, not empty, while nobody supervises.
        let state = self.state.as_ref().filter(|view| view.active);
        if !open.is_empty() || state.is_some() {
            field("pending_dialogs", &|json| append(json, open));
        }
        if let Some(view) = state {
            field("recent_dialogs", &|json| append(json, &view.recent_dialogs));
            if let Some(tree) = &view.frame_tree {
                field("frame_tree", &|json| append(json, tree));
            }
        }
        json.push(b'}');
        if let Some(image) = &self.image {
            json.extend_from_slice(br#","image":"#);
            append(&mut json, image);
        }
        if self.failed {
            json.extend_from_slice(br#","failed":true"#);
        }
        json.push(b'}');
        json
    }
}

impl Outcome {
    /// Returns the text with a line for each open dialog.
    fn text_with(&self, open: &[Arc<DialogView>], words: Words) -> Cow<'_, str> {
        let lines: String = open.iter().map(|dialog| format!("\n{}", dialog_line(dialog, words))).collect();
        let Some(most) = self.most_chars else {
            return if lines.is_empty() {
                Cow::Borrowed(&self.text)
            } else {
                Cow::Owned(format!("{}{lines}", self.text))
            };
        };
        let room = most.saturating_sub(lines.chars().count());
        match self.text.char_indices().nth(room) {
            None if lines.is_empty() => Cow::Borrowed(&self.text),
            None => Cow::Owned(format!("{}{lines}", self.text)),
            // A dialog opened after the room for it was counted; a line is left out whole.
            Some((end, _)) => {
                let kept = self.text[..end].rfind('\n').map_or(end, |line| line);
                Cow::Owned(format!("{}{lines}", &self.text[..kept]).chars().take(most).collect())
            }
        }
    }
}

/// Returns the line of text that tells of an open dialog and of the way out.
pub(super) fn dialog_line(dialog: &DialogView, words: Words) -> String {
    let what = dialog.describe();
    let mut letters = what.chars();
    let what = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>();
    format!("{what} is open: {}.", dialog.way_out(words))
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
            in_a_row: 1,
        })
    }

    fn json_of(outcome: &Outcome, open: &[Arc<DialogView>]) -> Value {
        serde_json::from_slice(&outcome.to_json(open, Words::Tools)).expect("JSON")
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
            let expected = "done\nA confirm dialog (d-1: \"Sure?\") is open: answer it with browser_dialog \
                            (dialog_id d-1).";
            assert_eq!(result["text"], expected);
        }
    }

    #[test]
    fn a_limited_text_stays_within_its_limit_with_dialogs_and_without() {
        let lines = "a line of text\n".repeat(100);
        for open in [vec![], vec![confirm()]] {
            for most in [200, 500, 1500, 2000] {
                let result = json_of(&Outcome::new(lines.clone(), &json!({})).at_most(most), &open);
                let text = result["text"].as_str().expect("a text");
                assert!(text.chars().count() <= most, "{most}: {text}");
                assert_eq!(text.contains("d-1"), !open.is_empty(), "{most}: {text}");
            }
        }
    }

    #[test]
    fn the_state_is_absent_and_not_empty_while_nobody_supervises() {
        let mut view = TaskView::empty("t".into());
        let unattached = Outcome::new("", &json!({"n": 1})).with_state(Arc::new(view));
        assert_eq!(json_of(&unattached, &[])["data"], json!({"n": 1}));
        view = TaskView::empty("t".into());
        view.active = true;
        let attached = Outcome::new("", &json!({})).with_state(Arc::new(view));
        assert_eq!(json_of(&attached, &[])["data"], json!({"pending_dialogs": [], "recent_dialogs": []}));
        assert_eq!(json_of(&attached, &[confirm()])["data"]["pending_dialogs"][0]["id"], "d-1");
    }

    #[test]
    fn what_failed_says_so_and_what_did_not_has_no_trace_of_it() {
        let result = json_of(&Outcome::new("no", &json!({})).failed(), &[]);
        assert_eq!(result, json!({"text": "no", "data": {}, "failed": true}));
        assert_eq!(json_of(&Outcome::new("yes", &json!({})), &[]), json!({"text": "yes", "data": {}}));
    }

    #[test]
    fn a_picture_is_named_by_its_path() {
        let image = Image { path: "/tmp/a.png".into(), mime: "image/png" };
        let result = json_of(&Outcome::new("done", &json!({})).with_image(image), &[]);
        assert_eq!(result["image"], json!({"path": "/tmp/a.png", "mime": "image/png"}));
    }
}
