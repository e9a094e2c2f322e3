//! The messages of the protocol: a command as it came in, and replies and events built by hand.
//!
//! Params stay raw text: what a client sends passes through unchanged, lone surrogates included, which a parsed value
//! cannot hold. Building by hand keeps a flood of events cheap enough to measure other programs with.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::ids::SessionId;

/// A command that a client sent.
#[derive(Clone, Debug)]
pub struct Command {
    /// The client's number for it, which the reply repeats.
    pub id: u64,
    /// The session it is for; none means the browser itself.
    pub session: Option<SessionId>,
    /// What is asked for, such as `Page.navigate`.
    pub method: String,
    params: Box<str>,
}

impl Command {
    /// Reads a command, or returns the error message that Chromium would send back for such a text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let fields: Fields = serde_json::from_str(text)
            .map_err(|_| r#"{"error":{"code":-32700,"message":"JSON: message cannot be parsed"}}"#.to_owned())?;
        let id = fields.get("id").and_then(|id| id.get().parse().ok()).ok_or_else(|| {
            r#"{"error":{"code":-32600,"message":"Message must have integer 'id' property"}}"#.to_owned()
        })?;
        let method = string(&fields, "method")
            .ok_or_else(|| failure(id, None, -32600, "Message must have string 'method' property"))?;
        Ok(Self {
            id,
            session: string(&fields, "sessionId").map(SessionId::from),
            method,
            params: fields.get("params").map_or("{}", |params| params.get()).into(),
        })
    }

    /// Returns the params exactly as they were sent.
    pub fn raw_params(&self) -> &str {
        &self.params
    }

    /// Returns the parsed params.
    ///
    /// # Panics
    ///
    /// When they hold what no parsed value can, such as a lone surrogate: look at [`raw_params`](Self::raw_params) then.
    pub fn params(&self) -> Value {
        serde_json::from_str(&self.params)
            .unwrap_or_else(|error| panic!("params of {} are no plain value: {error}", self.method))
    }

    /// Returns one of the params when it is a string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        string(&serde_json::from_str(&self.params).ok()?, name)
    }

    /// Returns one of the params when it is `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.value(name)?.as_bool()
    }

    /// Returns one of the params when it is a whole number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.value(name)?.as_u64()
    }

    /// Returns one of the params, parsed.
    pub(crate) fn value(&self, name: &str) -> Option<Value> {
        let fields: Fields = serde_json::from_str(&self.params).ok()?;
        serde_json::from_str(fields.get(name)?.get()).ok()
    }

    /// Returns the domain of the method: `Page` of `Page.navigate`.
    pub(crate) fn domain(&self) -> &str {
        self.method.split('.').next().unwrap_or_default()
    }
}

/// Builds the reply to command `id`; `result` is raw JSON.
pub(crate) fn reply(id: u64, session: Option<&SessionId>, result: &str) -> String {
    let mut text = String::with_capacity(result.len() + 96);
    text.push_str(r#"{"id":"#);
    text.push_str(&id.to_string());
    text.push_str(r#","result":"#);
    text.push_str(result);
    close_envelope(&mut text, session);
    text
}

/// Builds the error reply to command `id`.
pub(crate) fn failure(id: u64, session: Option<&SessionId>, code: i64, message: &str) -> String {
    let mut text = format!(r#"{{"id":{id},"error":{{"code":{code},"message":{}}}"#, quoted(message));
    close_envelope(&mut text, session);
    text
}

/// Builds an event; `params` is raw JSON.
pub(crate) fn event(session: Option<&SessionId>, method: &str, params: &str) -> String {
    let mut text = String::with_capacity(params.len() + method.len() + 96);
    text.push_str(r#"{"method":""#);
    text.push_str(method);
    text.push_str(r#"","params":"#);
    text.push_str(params);
    close_envelope(&mut text, session);
    text
}

/// Returns `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns the object with a field in front that no client of today knows.
pub(crate) fn with_unknown_field(object: &str) -> Cow<'_, str> {
    match object.strip_prefix('{') {
        Some("}") => Cow::Borrowed(r#"{"notYetKnown":[{"deep":null}]}"#),
        Some(rest) => Cow::Owned(format!(r#"{{"notYetKnown":[{{"deep":null}}],{rest}"#)),
        None => Cow::Borrowed(object),
    }
}

type Fields<'a> = HashMap<String, &'a RawValue>;

fn string(fields: &Fields, name: &str) -> Option<String> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

fn close_envelope(text: &mut String, session: Option<&SessionId>) {
    if let Some(session) = session {
        text.push_str(r#","sessionId":""#);
        text.push_str(session.as_str());
        text.push('"');
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_keep_a_lone_surrogate() {
        let text = r#"{"params":{"expression":"\ud800"},"id":7,"method":"Runtime.evaluate","sessionId":"S"}"#;
        let command = Command::parse(text).expect("it is a command");
        assert_eq!(command.raw_params(), r#"{"expression":"\ud800"}"#);
        assert_eq!(command.session, Some("S".into()));
        assert_eq!(command.id, 7);
    }

    #[test]
    fn what_is_no_command_gets_the_browsers_own_error() {
        for (text, message) in
            [("garbage", "-32700"), (r#"{"id":"x"}"#, "integer 'id'"), (r#"{"id":7}"#, r#"{"id":7,"error""#)]
        {
            let error = Command::parse(text).expect_err("it is no command");
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn messages_are_well_formed() {
        let session = SessionId::from("S");
        for text in [
            reply(1, Some(&session), r#"{"a":1}"#),
            failure(2, None, -32000, "quote \" and \\"),
            event(Some(&session), "Page.loadEventFired", "{}"),
            with_unknown_field("{}").into_owned(),
            with_unknown_field(r#"{"a":1}"#).into_owned(),
        ] {
            serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}
