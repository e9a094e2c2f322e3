//! Writes replies: a result, an object of our own, or an error, each on one line.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use memchr::{memchr, memchr_iter};
use ostler_core::CallError;
use ostler_core::view::DialogView;
use serde::Serialize;

use super::outbox::Outbox;
use crate::tools::Failure;

/// What a line carries beside the request's `id`.
#[derive(Debug)]
pub(super) enum Payload {
    /// The browser's raw result: it goes under `result`.
    Result(Bytes),
    /// A whole JSON object with at least one field.
    Object(Bytes),
}

/// Writes one line. `id` is the request's, as raw JSON.
pub(super) fn write(outbox: &mut Outbox, id: Option<&[u8]>, payload: Result<Payload, Failure>) {
    outbox.put(b"{");
    if let Some(id) = id {
        outbox.put(br#""id":"#);
        outbox.put(id);
        outbox.put(b",");
    }
    match payload {
        Ok(Payload::Result(result)) => {
            outbox.put(br#""result":"#);
            outbox.put_shared(on_one_line(result));
            outbox.put(b"}\n");
        }
        Ok(Payload::Object(object)) => {
            outbox.put_shared(on_one_line(object.slice(1..)));
            outbox.put(b"\n");
        }
        Err(error) => {
            outbox.put(&error_json(&error)[1..]);
            outbox.put(b"\n");
        }
    }
}

/// When to ask again where that helps only once somebody has done something: often enough to notice, and no load.
const SELDOM_MS: u64 = 10_000;

/// The contract's error object.
#[derive(Serialize)]
struct ErrorJson<'a> {
    error: String,
    error_code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cdp_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<&'a DialogView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pending_dialogs: &'a [Arc<DialogView>],
}

/// Returns an error as the contract prints it: the one place where a `CallError` becomes JSON.
fn error_json(failure: &Failure) -> Vec<u8> {
    let error = &failure.error;
    let mut json = ErrorJson {
        error: failure.sentence(),
        error_code: error.code(),
        cdp_code: None,
        dialog: None,
        timeout_ms: None,
        known: error.known(),
        retry_after_ms: None,
        pending_dialogs: &failure.open,
    };
    match error {
        CallError::Cdp { code, .. } => json.cdp_code = Some(*code),
        CallError::DialogOpen { dialog, .. } | CallError::AsksOn { dialog, .. } => json.dialog = Some(dialog),
        CallError::Timeout { timeout_ms, .. } | CallError::NotCome { timeout_ms, .. } => {
            json.timeout_ms = Some(*timeout_ms);
        }
        CallError::BrowserGone { retry_after_ms, .. } => {
            json.retry_after_ms = Some(retry_after_ms.unwrap_or(SELDOM_MS));
        }
        _ => {}
    }
    serde_json::to_vec(&json).expect("plain data with text keys serializes")
}

/// Takes the line ends out of a piece of JSON. They can only stand between its tokens, where JSON
/// allows white space and needs none: inside a string they would be escaped.
fn on_one_line(json: Bytes) -> Bytes {
    let Some(first) = memchr(b'\n', &json) else { return json };
    let mut line = BytesMut::with_capacity(json.len());
    let mut kept = 0;
    for end in memchr_iter(b'\n', &json[first..]).map(|offset| first + offset) {
        line.extend_from_slice(&json[kept..end]);
        kept = end + 1;
    }
    line.extend_from_slice(&json[kept..]);
    line.freeze()
}
