//! `ostler js`: one expression in the page, its value on standard output.

use clap::Args;
use ostler_core::cdp::text::decode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::context::{Context, print_line};
use super::failure::Failure;
use super::passthrough::Aim;
use super::reply;
use crate::exit_code::Exit;

/// Evaluates a JavaScript expression in the page and prints its value
///
///     ostler js document.title
///     ostler js 'fetch("/api").then(r => r.json())'
///
/// A promise is awaited. Strings are printed bare, everything else as JSON; an exception goes
/// to standard error and the command exits with 1. With --json it prints the whole answer of
/// Runtime.evaluate.
#[derive(Args, Debug)]
#[command(name = "js", verbatim_doc_comment)]
pub(super) struct Js {
    /// The expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: String,

    #[command(flatten)]
    aim: Aim,
}

/// The parameters of `Runtime.evaluate`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Evaluate<'a> {
    expression: &'a str,
    await_promise: bool,
    return_by_value: bool,
}

/// Its answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated<'a> {
    #[serde(borrow)]
    result: Remote<'a>,
    #[serde(borrow)]
    exception_details: Option<Exception<'a>>,
}

/// A value of the page.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remote<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    value: Option<&'a RawValue>,
    /// What JSON has no word for: `NaN`, `Infinity`, `-0`, `123n`.
    unserializable_value: Option<String>,
    #[serde(borrow)]
    description: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Reads a field that is there: its `null` is a value, where serde's `Option` would take it for no field.
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

#[derive(Deserialize)]
struct Exception<'a> {
    /// `Uncaught`, or `Uncaught (in promise)`.
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    exception: Option<Remote<'a>>,
}

impl Js {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let evaluate = Evaluate { expression: &self.expression, await_promise: true, return_by_value: true };
        let params = to_raw_value(&evaluate).expect("plain data with text keys serializes");
        let reply = self.aim.call(context, "Runtime.evaluate", &params)?;
        let answer = reply::result(&reply)?;
        let evaluated: Evaluated<'_> =
            serde_json::from_str(answer.get()).map_err(|error| Failure::Nonsense(error.to_string()))?;
        if let Some(exception) = evaluated.exception_details {
            return Err(Failure::Thrown { text: exception.words(), answer: answer.get().into() });
        }
        if context.json {
            print_line(answer.get())?
        } else {
            print_line(&evaluated.result.words())?
        }
        Ok(Exit::Success)
    }
}

impl Remote<'_> {
    /// Returns the value as it is printed.
    fn words(&self) -> String {
        if let Some(word) = &self.unserializable_value {
            return word.clone();
        }
        if let Some(value) = self.value {
            return decode(value.get()).unwrap_or_else(|| value.get().to_owned());
        }
        let described = self.description.and_then(said);
        described.or_else(|| self.kind.clone()).unwrap_or_else(|| "undefined".to_owned())
    }
}

/// Returns what the page said in a JSON string.
fn said(string: &RawValue) -> Option<String> {
    decode(string.get())
}

impl Exception<'_> {
    fn words(&self) -> String {
        let how = self.text.and_then(said).unwrap_or_else(|| "Uncaught".to_owned());
        match &self.exception {
            // An error's description is its stack; a thrown value of another kind has no more than itself.
            Some(thrown) => match thrown.description.and_then(said) {
                Some(description) => format!("{how} {description}"),
                None => format!("{how} {}", thrown.words()),
            },
            None => how,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(remote: &str) -> String {
        serde_json::from_str::<Remote<'_>>(remote).expect("a remote object").words()
    }

    #[test]
    fn values_are_printed_as_a_person_writes_them() {
        for (remote, printed) in [
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
            assert_eq!(words(remote), printed, "{remote}");
        }
    }

    #[test]
    fn exceptions_are_told_with_their_stack_or_value() {
        let words = |json: &str| serde_json::from_str::<Exception<'_>>(json).expect("details").words();
        assert_eq!(
            words(
                r#"{"text":"Uncaught","exception":{"type":"object","description":"Error: no\n    at <anonymous>:1:7"}}"#
            ),
            "Uncaught Error: no\n    at <anonymous>:1:7"
        );
        assert_eq!(
            words(r#"{"text":"Uncaught (in promise)","exception":{"type":"string","value":"no"}}"#),
            "Uncaught (in promise) no"
        );
        assert_eq!(words(r#"{"text":"Uncaught"}"#), "Uncaught");
    }
}
