//! What the browser answers to `Runtime.evaluate` and `Runtime.callFunctionOn`: a value, a handle, or what was thrown.
//!
//! Values stay raw until somebody says what they should be: a page's strings may hold halves of surrogate pairs.

use ostler_core::cdp::text::{LossyText, decode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evaluated {
    result: Remote,
    exception_details: Option<Thrown>,
}

/// A value of the page, or a handle of one.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Remote {
    #[serde(default, deserialize_with = "present")]
    value: Option<Box<RawValue>>,
    /// What JSON has no word for: `NaN`, `Infinity`, `-0`, `123n`.
    unserializable_value: Option<String>,
    object_id: Option<String>,
    description: Option<LossyText>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Reads a field that is there: its `null` is a value, where serde's `Option` would take it for no field.
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(field).map(Some)
}

/// What a script threw.
#[derive(Debug, Deserialize)]
pub(crate) struct Thrown {
    /// `Uncaught`, or `Uncaught (in promise)`.
    text: Option<LossyText>,
    exception: Option<Box<Remote>>,
}

impl Evaluated {
    /// Returns the value or handle, or what was thrown in its place.
    pub(crate) fn outcome(self) -> Result<Remote, Thrown> {
        match self.exception_details {
            Some(thrown) => Err(thrown),
            None => Ok(self.result),
        }
    }
}

impl Remote {
    /// Reads what `R` wants of the value; no value, as of `undefined`, is read as `null`.
    pub(crate) fn read<R: DeserializeOwned>(&self) -> serde_json::Result<R> {
        serde_json::from_str(self.value.as_deref().map_or("null", RawValue::get))
    }

    /// Returns the handle, if it is one.
    pub(crate) fn handle(self) -> Option<String> {
        self.object_id
    }

    /// Returns the value as a person writes it.
    pub(crate) fn words(&self) -> String {
        if let Some(word) = &self.unserializable_value {
            return word.clone();
        }
        if let Some(value) = &self.value {
            return decode(value.get()).unwrap_or_else(|| value.get().to_owned());
        }
        let described = self.description.as_ref().map(|described| described.0.clone());
        described.or_else(|| self.kind.clone()).unwrap_or_else(|| "undefined".to_owned())
    }

    /// Returns the browser's own description, or the value where it has none.
    fn described(&self) -> String {
        self.description.as_ref().map_or_else(|| self.words(), |described| described.0.clone())
    }
}

impl Thrown {
    /// Returns it as a console prints it, with its stack where it has one.
    pub(crate) fn words(&self) -> String {
        let how = self.text.as_ref().map_or("Uncaught", |text| &text.0);
        match self.exception.as_deref() {
            // An error's description is its stack; a thrown value of another kind has no more than itself.
            Some(Remote { description: Some(stack), .. }) => format!("{how} {}", stack.0),
            Some(thrown) => format!("{how} {}", thrown.words()),
            None => how.to_owned(),
        }
    }

    /// Returns the first line of what was thrown.
    pub(crate) fn line(&self) -> String {
        let described = self.exception.as_deref().map(Remote::described);
        let text = described.or_else(|| self.text.as_ref().map(|text| text.0.clone())).unwrap_or_default();
        text.lines().next().unwrap_or("it threw").to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(json: &str) -> Remote {
        serde_json::from_str(json).expect("a remote object")
    }

    fn thrown(json: &str) -> Thrown {
        serde_json::from_str(json).expect("details")
    }

    #[test]
    fn values_are_printed_as_a_person_writes_them() {
        for (json, printed) in [
            (r#"{"type":"number","value":2,"description":"2"}"#, "2"),
            (r#"{"type":"string","value":"a\n\"b\""}"#, "a\n\"b\""),
            (r#"{"type":"string","value":"\ud800"}"#, "\u{FFFD}"),
            (r#"{"type":"object","value":{"a":[1,"x"]}}"#, r#"{"a":[1,"x"]}"#),
            (r#"{"type":"boolean","value":false}"#, "false"),
            (r#"{"type":"object","subtype":"null","value":null}"#, "null"),
            (r#"{"type":"undefined"}"#, "undefined"),
            (r#"{"type":"number","unserializableValue":"-0","description":"-0"}"#, "-0"),
            (r#"{"type":"number","unserializableValue":"NaN","description":"NaN"}"#, "NaN"),
            (r#"{"type":"bigint","unserializableValue":"12n","description":"12n"}"#, "12n"),
        ] {
            assert_eq!(remote(json).words(), printed, "{json}");
        }
    }

    #[test]
    fn exceptions_are_told_with_their_stack_or_value() {
        let stack =
            r#"{"text":"Uncaught","exception":{"type":"object","description":"Error: no\n    at <anonymous>:1:7"}}"#;
        assert_eq!(thrown(stack).words(), "Uncaught Error: no\n    at <anonymous>:1:7");
        assert_eq!(thrown(stack).line(), "Error: no");
        let value = r#"{"text":"Uncaught (in promise)","exception":{"type":"string","value":"no"}}"#;
        assert_eq!((thrown(value).words(), thrown(value).line()), ("Uncaught (in promise) no".into(), "no".into()));
        assert_eq!(thrown(r#"{"text":"Uncaught"}"#).words(), "Uncaught");
    }

    #[test]
    fn a_value_is_read_as_what_is_wanted_and_nothing_as_null() {
        assert_eq!(remote(r#"{"type":"number","value":2}"#).read::<u8>().expect("a number"), 2);
        assert_eq!(remote(r#"{"type":"undefined"}"#).read::<Option<u8>>().expect("nothing"), None);
        assert!(remote(r#"{"type":"string","value":"x"}"#).read::<u8>().is_err());
    }
}
