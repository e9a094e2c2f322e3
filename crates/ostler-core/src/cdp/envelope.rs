//! One wire message: a command, a response or an event.
//!
//! Only the envelope is parsed. `params` and `result` are slices of the message as it came.

use std::borrow::Cow;

use bytes::Bytes;
use bytestring::ByteString;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::objects;
use crate::ids::{CallId, SessionId};

/// What the browser sent.
#[derive(Debug)]
pub enum Message {
    /// The answer to a command of ours.
    Response {
        /// The command.
        id: CallId,
        /// Its raw result, or the browser's error.
        outcome: Result<Bytes, WireError>,
    },
    /// Something happened.
    Event(WireEvent),
}

/// An event as it came: `method` without its quotes, `params` as raw JSON.
#[derive(Clone, Debug)]
pub struct WireEvent {
    /// The method, still JSON-escaped; real methods hold nothing that needs escaping.
    pub method: ByteString,
    /// The raw parameters; `{}` when there were none.
    pub params: ByteString,
    /// The session it came on; `None` at browser level.
    pub session: Option<SessionId>,
}

/// The browser's own error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// Chromium's number.
    pub code: i64,
    /// Chromium's text, with `data` appended where it sent any.
    pub message: String,
}

/// The fields of any message. An unknown field is passed over, a repeated one is an error.
#[derive(Deserialize)]
struct Fields<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Text<'a>>,
}

/// Borrowed where it holds no escapes. (Serde borrows a `Cow` inside an `Option` only this way.)
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct ErrorFields {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: super::text::LossyText,
    #[serde(default)]
    data: Option<super::text::LossyText>,
}

/// Reads one message; `None` if it is neither a response nor an event.
pub fn read(message: &Bytes) -> Option<Message> {
    // Looked through for UTF-8 once, here: its parts need not be again.
    let message = ByteString::try_from(message.clone()).ok()?;
    let fields: Fields<'_> = objects::read(&message)?;
    if let Some(id) = fields.id {
        let outcome = match (fields.error, fields.result) {
            (Some(error), _) => Err(read_error(error)),
            (None, Some(result)) => Ok(message.slice_ref(result.get()).into_bytes()),
            (None, None) => Ok(Bytes::from_static(b"{}")),
        };
        return Some(Message::Response { id: CallId(id), outcome });
    }
    let method = match fields.method?.0 {
        Cow::Borrowed(text) => message.slice_ref(text),
        // Unescaped it could break the line that it is printed in: nothing we know is spelt so.
        Cow::Owned(_) => return None,
    };
    let params = match fields.params {
        Some(raw) => message.slice_ref(raw.get()),
        None => ByteString::from_static("{}"),
    };
    let session = fields.session.map(|text| SessionId::from(&*text.0));
    Some(Message::Event(WireEvent { method, params, session }))
}

fn read_error(raw: &RawValue) -> WireError {
    let Some(error) = objects::read::<ErrorFields>(raw.get()) else {
        return WireError { code: 0, message: super::text::cut(raw.get(), 1000).to_owned() };
    };
    let message = match error.data {
        Some(data) if !data.0.is_empty() => format!("{} ({})", error.message.0, data.0),
        _ => error.message.0,
    };
    WireError { code: error.code, message }
}

/// Writes one command. `params` must be a JSON object; none is written when there is none.
pub fn write_command(id: CallId, method: &str, params: Option<&[u8]>, session: Option<&SessionId>) -> Bytes {
    let mut out = Vec::with_capacity(96 + method.len() + params.map_or(0, <[u8]>::len));
    out.extend_from_slice(b"{\"id\":");
    out.extend_from_slice(id.0.to_string().as_bytes());
    out.extend_from_slice(b",\"method\":");
    write_string(&mut out, method);
    if let Some(params) = params {
        out.extend_from_slice(b",\"params\":");
        out.extend_from_slice(params);
    }
    if let Some(session) = session {
        out.extend_from_slice(b",\"sessionId\":");
        write_string(&mut out, session.as_str());
    }
    out.push(b'}');
    out.into()
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(&mut *out, text).expect("a string always serializes into memory");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(json: &'static str) -> WireEvent {
        match read(&Bytes::from_static(json.as_bytes())) {
            Some(Message::Event(event)) => event,
            other => unreachable!("{json} gave {other:?}"),
        }
    }

    #[test]
    fn params_are_a_slice_of_the_message_whatever_the_key_order() {
        for json in [
            r#"{"method":"A.b","params":{"x": "\ud800"},"sessionId":"S"}"#,
            r#"{"sessionId":"S","new":[1,{"id":2}],"params":{"x": "\ud800"},"method":"A.b"}"#,
        ] {
            let event = event(json);
            assert_eq!(event.method, "A.b");
            assert_eq!(event.params, r#"{"x": "\ud800"}"#);
            assert_eq!(event.session, Some(SessionId::from("S")));
        }
    }

    #[test]
    fn an_error_keeps_the_browsers_code_words_and_data() {
        let message = Bytes::from_static(br#"{"id":7,"error":{"code":-32602,"message":"Invalid","data":"x: wanted"}}"#);
        let Some(Message::Response { id: CallId(7), outcome: Err(error) }) = read(&message) else {
            unreachable!("an error response");
        };
        assert_eq!(error, WireError { code: -32602, message: "Invalid (x: wanted)".to_owned() });
    }

    #[test]
    fn garbage_is_no_message() {
        for json in [
            "",
            "[]",
            "{",
            "{\"id\":\"x\"}",
            "{}",
            "{\"id\":1,\"id\":2}",
            "\u{0}",
            "null",
            "[\n1,\"\",\"\",\"\",\"\",\"\"]",
        ] {
            assert!(read(&Bytes::from_static(json.as_bytes())).is_none(), "{json}");
        }
        assert!(read(&Bytes::from_static(b"{\"method\":\"\xff\"}")).is_none());
    }

    #[test]
    fn nesting_a_hundred_thousand_deep_does_not_overflow() {
        let deep = format!(r#"{{"method":"A.b","params":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(read(&Bytes::from(deep)), Some(Message::Event(_))));
    }

    #[test]
    fn a_command_carries_params_as_they_are() {
        let session = SessionId::from("S\"1");
        let bytes = write_command(CallId(3), "A.\"b", Some(br#"{"x":"\ud800"}"#), Some(&session));
        assert_eq!(&bytes[..], br#"{"id":3,"method":"A.\"b","params":{"x":"\ud800"},"sessionId":"S\"1"}"#);
        assert_eq!(&write_command(CallId(4), "A.b", None, None)[..], br#"{"id":4,"method":"A.b"}"#);
    }
}
