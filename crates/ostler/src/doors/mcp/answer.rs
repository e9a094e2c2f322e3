//! From the daemon's reply to what a host is given: text for the model, the same as data, and a picture where there is
//! one. What the daemon could not do is a tool's error, in the daemon's own sentence: hosts show a model nothing else.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use ostler_core::cdp::text::{LossyText, cut, with_lone_surrogates_spelt};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::kept::Kept;
use super::link::LinkError;

/// The most that stands in a result as data; what is larger goes into a file.
const MAX_DATA: usize = 64 * 1024;
/// How much of the text is left where the whole result is in a file.
const TEXT_BESIDE_FILE: usize = 2_000;

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    result: Option<Ran<'a>>,
    error: Option<LossyText>,
}

#[derive(Deserialize)]
struct Ran<'a> {
    text: LossyText,
    #[serde(borrow)]
    data: &'a RawValue,
    image: Option<Image>,
    /// Whether what the tool ran failed.
    #[serde(default)]
    failed: bool,
}

#[derive(Deserialize)]
struct Image {
    path: PathBuf,
    mime: String,
}

/// Returns the result of a tool that was called with `args`. It may read and write files.
pub(super) fn result(reply: &[u8], args: &Map<String, Value>, kept: &Kept) -> CallToolResult {
    match serde_json::from_slice(reply) {
        Ok(Reply { result: Some(ran), .. }) => success(&ran, args, kept),
        Ok(Reply { error: Some(LossyText(sentence)), .. }) => {
            let json = std::str::from_utf8(reply).expect("it has been read as JSON");
            failure(&sentence, value(json))
        }
        Ok(_) | Err(_) => {
            failure("the daemon's answer makes no sense; is another program listening on its socket?", None)
        }
    }
}

/// Returns the error of a call that the daemon did not answer.
pub(super) fn unanswered(error: &LinkError) -> CallToolResult {
    refused(error.code(), &error.to_string())
}

/// Returns an error of this door's own.
pub(super) fn refused(code: &str, sentence: &str) -> CallToolResult {
    failure(sentence, Some(json!({"error": sentence, "error_code": code})))
}

fn failure(sentence: &str, data: Option<Value>) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(sentence)]);
    result.structured_content = data;
    result
}

fn success(ran: &Ran<'_>, args: &Map<String, Value>, kept: &Kept) -> CallToolResult {
    let json = ran.data.get();
    let mut content = Vec::with_capacity(2);
    let mut result = if json.len() <= MAX_DATA {
        content.push(ContentBlock::text(&*ran.text.0));
        let mut result = CallToolResult::success(content);
        result.structured_content = value(json);
        result
    } else {
        in_a_file(ran, kept)
    };
    result.is_error = Some(ran.failed);
    // With a path the picture is where the caller wants it; without one it is looked at here and now.
    if let Some(image) = &ran.image
        && !args.contains_key("path")
    {
        match std::fs::read(&image.path) {
            Ok(bytes) => result.content.push(ContentBlock::image(BASE64.encode(bytes), &*image.mime)),
            Err(error) => {
                let path = image.path.display();
                result.content.push(ContentBlock::text(format!("The picture {path} cannot be read: {error}.")));
            }
        }
    }
    result
}

fn in_a_file(ran: &Ran<'_>, kept: &Kept) -> CallToolResult {
    let (text, json) = (&ran.text.0, ran.data.get());
    match kept.keep(json) {
        Ok(file) => {
            let begin = cut(text, TEXT_BESIDE_FILE);
            let more = if begin.len() < text.len() { "..." } else { "" };
            let path = file.path.display().to_string();
            let told = format!("{begin}{more}\nThe whole result ({} bytes of JSON) is in {path}.", json.len());
            let mut result =
                CallToolResult::success(vec![ContentBlock::text(told), ContentBlock::resource_link(file.resource)]);
            result.structured_content = Some(json!({"path": path, "bytes": json.len()}));
            result
        }
        Err(error) => {
            let told =
                format!("{text}\nThe result's data ({} bytes) could not be kept in a file: {error}.", json.len());
            CallToolResult::success(vec![ContentBlock::text(told)])
        }
    }
}

/// Reads a page's JSON, in which half a surrogate pair may stand: many an MCP host would take none of a message with one.
/// It is spelt as the text beside the data spells it.
fn value(json: &str) -> Option<Value> {
    serde_json::from_str(json).or_else(|_| serde_json::from_str(&with_lone_surrogates_spelt(json))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(reply: &str, args: Value) -> Value {
        let args = args.as_object().expect("an object").clone();
        serde_json::to_value(result(reply.as_bytes(), &args, &Kept::default())).expect("a result is JSON")
    }

    #[test]
    fn text_and_data_are_passed_on() {
        let result = of(r#"{"result":{"text":"Done.","data":{"n":1,"half":"\ud800"}}}"#, json!({}));
        assert_eq!(result["content"], json!([{"type": "text", "text": "Done."}]));
        assert_eq!(result["structuredContent"], json!({"n": 1, "half": "\\ud800"}));
        assert_eq!(result["isError"], false);
    }

    #[test]
    fn a_result_that_is_marked_as_failed_is_an_error_with_all_that_it_says() {
        let result = of(r#"{"result":{"text":"No.","data":{"exit_status":1},"failed":true}}"#, json!({}));
        assert_eq!(result["content"], json!([{"type": "text", "text": "No."}]));
        assert_eq!([&result["structuredContent"]["exit_status"], &result["isError"]], [&json!(1), &json!(true)]);
    }

    #[test]
    fn an_error_is_the_tools_own_with_its_sentence_and_code() {
        let result = of(r#"{"error":"no tab t9","error_code":"session_gone","known":["t1"]}"#, json!({}));
        assert_eq!(result["content"], json!([{"type": "text", "text": "no tab t9"}]));
        assert_eq!(
            result["structuredContent"],
            json!({"error": "no tab t9", "error_code": "session_gone", "known": ["t1"]})
        );
        assert_eq!(result["isError"], true);
        assert_eq!(of("not JSON", json!({}))["isError"], true);
    }

    #[test]
    fn a_picture_is_shown_unless_it_was_asked_for_at_a_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.png");
        std::fs::write(&path, b"png").expect("a file");
        let reply =
            json!({"result": {"text": "t", "data": {}, "image": {"path": path, "mime": "image/png"}}}).to_string();
        let shown = of(&reply, json!({}));
        assert_eq!(shown["content"][1], json!({"type": "image", "data": "cG5n", "mimeType": "image/png"}));
        let saved = of(&reply, json!({"path": "/tmp/a.png"}));
        assert_eq!(saved["content"].as_array().expect("content").len(), 1, "{saved}");
    }

    #[test]
    fn a_large_result_is_in_a_file_that_the_host_can_read() {
        let kept = Kept::default();
        let (text, data) = ("x".repeat(9_000), json!({"result": "y".repeat(MAX_DATA)}));
        let reply = json!({"result": {"text": text, "data": data}}).to_string();
        let shown = serde_json::to_value(result(reply.as_bytes(), &Map::new(), &kept)).expect("JSON");
        let told = shown["content"][0]["text"].as_str().expect("a text");
        assert!(told.len() < 3_000 && told.contains("is in /"), "{told}");
        let path = shown["structuredContent"]["path"].as_str().expect("a path");
        let read: Value = serde_json::from_slice(&std::fs::read(path).expect("the file")).expect("JSON");
        assert_eq!(read, data);
        let uri = shown["content"][1]["uri"].as_str().expect("a link");
        assert_eq!(kept.read(uri).as_deref(), Some(&*data.to_string()));
    }
}
