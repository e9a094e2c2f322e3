//! What the SDK would drop, or answer with less than whoever sent it needs: such a message is answered here, before it
//! gets there, over standard input and HTTP alike.

use std::fmt;

use ostler_core::shown;
use rmcp::model::{CallToolRequestParams, InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// JSON-RPC's numbers for what can be wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It cannot be read.
    Parse = -32700,
    /// It can be read, and is no message.
    Request = -32600,
    /// It asks for what there is not.
    Method = -32601,
    /// It asks for what there is, and not in the way that is taken.
    Params = -32602,
}

/// The answer to a message that goes no further.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) fault: Fault,
    /// The message's own; null where it has none that can be answered.
    id: Value,
    why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = json!({"code": self.fault as i32, "message": self.why});
        json!({"jsonrpc": "2.0", "id": self.id, "error": error}).fmt(f)
    }
}

/// What reads a method's parameters, and says what is wrong with them.
type Check = fn(&Value) -> Result<(), serde_json::Error>;

/// The methods that are answered.
const METHODS: &[(&str, Check)] = &[
    ("initialize", are::<InitializeRequestParams>),
    ("ping", are::<Map<String, Value>>),
    ("server/discover", are::<Map<String, Value>>),
    ("tools/list", are::<PaginatedRequestParams>),
    ("tools/call", are::<CallToolRequestParams>),
    ("resources/list", are::<PaginatedRequestParams>),
    ("resources/templates/list", are::<PaginatedRequestParams>),
    ("resources/read", are::<ReadResourceRequestParams>),
    ("prompts/list", are::<PaginatedRequestParams>),
    ("subscriptions/listen", are::<Map<String, Value>>),
];

fn are<P: DeserializeOwned>(params: &Value) -> Result<(), serde_json::Error> {
    P::deserialize(params).map(drop)
}

/// Returns the answer to a message that the SDK is not to see; `None` for all that it answers as it should. It takes
/// `most` bytes at a time.
pub(super) fn refusal(message: &[u8], most: usize) -> Option<Refusal> {
    let refuse = |fault, id: &Value, why: String| Some(Refusal { fault, id: id.clone(), why });
    let length = message.len();
    let message = match serde_json::from_slice(message) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            let why = "several messages in one are not part of MCP; send one after the other";
            return refuse(Fault::Request, &Value::Null, why.to_owned());
        }
        Ok(_) => return refuse(Fault::Request, &Value::Null, "a message is a JSON object".to_owned()),
        Err(error) => return Some(unread(message, &error)),
    };
    let given = message.get("id");
    let id = given.filter(|id| id.is_string() || id.is_i64()).unwrap_or(&Value::Null);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(Fault::Request, id, "\"jsonrpc\" must be \"2.0\"".to_owned());
    }
    let method = match message.get("method") {
        Some(Value::String(method)) => method,
        Some(_) => return refuse(Fault::Request, id, "\"method\" must be a string".to_owned()),
        None if message.contains_key("result") || message.contains_key("error") => return None,
        None => return refuse(Fault::Request, id, "\"method\" is missing: name what is asked for".to_owned()),
    };
    // Nobody waits for an answer to a notification.
    given?;
    if id.is_null() {
        return refuse(Fault::Request, id, "\"id\" must be a string or a whole number".to_owned());
    }
    if length > most {
        let why = format!("it has {length} bytes, and a message may have {most}; put what is long into a file");
        return refuse(Fault::Request, id, why);
    }
    let Some((_, check)) = METHODS.iter().find(|(known, _)| known == method) else {
        let known: Vec<_> = METHODS.iter().map(|(known, _)| *known).collect();
        let why = format!("{:?} is no method of this server; it answers {}", shown(method), known.join(", "));
        return refuse(Fault::Method, id, why);
    };
    let nothing = json!({});
    let wrong = check(message.get("params").unwrap_or(&nothing)).err()?;
    refuse(Fault::Params, id, format!("\"params\" of {method}: {wrong}"))
}

/// What is done before the host has said who it is: to say so, and what tells how.
const BEFORE_HANDSHAKE: &[&str] = &["initialize", "ping", "server/discover"];
/// By this a request brings itself what the handshake would tell.
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Where a host stands in its handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Handshake {
    #[default]
    Missing,
    Begun,
}

impl Handshake {
    /// Takes in a message that can be read; returns the answer to a request that comes too early. What the SDK says of
    /// such a one is of another protocol version, which few hosts speak.
    pub(super) fn take(&mut self, message: &[u8]) -> Option<Refusal> {
        if *self == Self::Begun {
            return None;
        }
        let message: Map<String, Value> = serde_json::from_slice(message).ok()?;
        let (id, method) = (message.get("id")?, message.get("method")?.as_str()?);
        if method == "initialize" {
            *self = Self::Begun;
        }
        let meta = message.get("params").and_then(|params| params.get("_meta"));
        if BEFORE_HANDSHAKE.contains(&method) || meta.is_some_and(|meta| meta.get(PROTOCOL_VERSION).is_some()) {
            return None;
        }
        let why = format!(
            "{method} came before \"initialize\": send that first, and \"notifications/initialized\" behind it"
        );
        Some(Refusal { fault: Fault::Request, id: id.clone(), why })
    }
}

/// Returns the answer to what is no JSON, or whose texts are none.
fn unread(message: &[u8], error: &serde_json::Error) -> Refusal {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        id: Option<&'a serde_json::value::RawValue>,
    }
    let named = serde_json::from_slice::<Named<'_>>(message).ok();
    let why = match &named {
        // Its form is sound, so a text in it is not.
        Some(_) => {
            "a text in it holds half of a surrogate pair, which MCP cannot carry; write \\ufffd for it".to_owned()
        }
        None => format!("it is no JSON ({error}); send one JSON-RPC message, on a line of its own over standard input"),
    };
    let id = named.and_then(|named| named.id).and_then(|id| serde_json::from_str(id.get()).ok());
    Refusal { fault: Fault::Parse, id: id.unwrap_or_default(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1000;

    fn answer(message: &str) -> Value {
        let refusal = refusal(message.as_bytes(), MOST).expect("it is refused");
        serde_json::from_str(&refusal.to_string()).expect("JSON")
    }

    #[test]
    fn what_cannot_be_taken_is_refused_under_its_id_with_the_number_that_says_why() {
        for (message, id, code, why) in [
            ("not json", json!(null), -32700, "no JSON"),
            (r#"{"jsonrpc":"2.0","id":1"#, json!(null), -32700, "no JSON"),
            (r#"{"jsonrpc":"2.0","id":14,"method":"x","params":{"a":"'\ud800'"}}"#, json!(14), -32700, "surrogate"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"x","params":{"a":"\udc00"}}"#, json!("a"), -32700, "surrogate"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, json!(null), -32600, "one after the other"),
            ("7", json!(null), -32600, "a JSON object"),
            (r#"{"id":1,"method":"ping"}"#, json!(1), -32600, r#""jsonrpc" must be "2.0""#),
            (r#"{"jsonrpc":"2.0","id":1}"#, json!(1), -32600, r#""method" is missing"#),
            (r#"{"jsonrpc":"2.0","id":1,"method":2}"#, json!(1), -32600, r#""method" must be"#),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(null), -32600, r#""id" must be"#),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(null), -32600, r#""id" must be"#),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/cal"}"#, json!(1), -32601, "it answers initialize, ping"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel"}"#, json!(1), -32601, "is no method of this"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, json!(1), -32602, "missing field `name`"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":"y"}}"#,
                json!(1),
                -32602,
                r#""params" of tools/call: invalid type: string "y", expected a map"#,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, json!(1), -32602, "invalid type"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":1}}"#, json!(1), -32602, "integer"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, json!(1), -32602, "missing field"),
        ] {
            let refused = answer(message);
            assert_eq!((&refused["id"], &refused["error"]["code"]), (&id, &json!(code)), "{message}: {refused}");
            assert!(refused["error"]["message"].as_str().expect("a sentence").contains(why), "{message}: {refused}");
            assert!(refused.as_object().is_some_and(|refused| refused.contains_key("id")), "{refused}");
        }
    }

    #[test]
    fn what_the_sdk_would_drop_for_its_length_is_refused_under_its_id() {
        let long = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"a":"{}"}}}}"#, "x".repeat(MOST));
        let refused = answer(&long);
        assert_eq!([&refused["id"], &refused["error"]["code"]], [&json!(7), &json!(-32600)], "{refused}");
        assert!(refused.to_string().contains("a message may have 1000"), "{refused}");
    }

    #[test]
    fn a_request_before_the_handshake_is_told_what_comes_first() {
        let message =
            |method: &str, params: &str| format!(r#"{{"jsonrpc":"2.0","id":3,"method":"{method}","params":{params}}}"#);
        let mut handshake = Handshake::Missing;
        let refused = handshake.take(message("tools/call", r#"{"name":"browser_tabs"}"#).as_bytes()).expect("refused");
        let expected = r#"tools/call came before \"initialize\": send that first"#;
        assert!(refused.to_string().contains(expected), "{refused}");
        assert!(
            refused.to_string().contains(r#""code":-32600"#) && refused.to_string().contains(r#""id":3"#),
            "{refused}"
        );
        let stateless = format!(r#"{{"name":"x","_meta":{{"{PROTOCOL_VERSION}":"2026-07-28"}}}}"#);
        for (method, params) in [("ping", "{}"), ("server/discover", "{}"), ("tools/call", &*stateless)] {
            assert!(handshake.take(message(method, params).as_bytes()).is_none(), "{method}");
        }
        assert_eq!(handshake, Handshake::Missing);
        assert!(handshake.take(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).is_none());
        assert!(handshake.take(message("initialize", "{}").as_bytes()).is_none());
        assert!(handshake.take(message("tools/list", "{}").as_bytes()).is_none());
    }

    #[test]
    fn what_can_be_taken_goes_on() {
        for message in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"one","method":"tools/list","params":{"_meta":{"progressToken":1}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/whatever","params":{"any":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#,
        ] {
            assert!(refusal(message.as_bytes(), MOST).is_none(), "{message}");
        }
    }
}
