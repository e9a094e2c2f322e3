//! Reads a tool's arguments, and says of wrong ones which argument it is and what it should be.

use ostler_core::CallError;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::meta::value::bad;

/// Reads the arguments of the tool `name`; none at all are the same as an empty object.
pub(super) fn read<A: DeserializeOwned>(name: &str, args: Option<&RawValue>) -> Result<A, CallError> {
    let json = args.map_or("{}", RawValue::get);
    if !json.starts_with('{') {
        return Err(bad("args", format!("must be an object with the arguments of {name}")));
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let why = without_position(&error.into_inner().to_string()).to_owned();
        match path.as_str() {
            "." => bad("args", format!("{name}: {why}")),
            path => bad("args", format!("{name}: `{path}`: {why}")),
        }
    })
}

/// Cuts off the line and column: the arguments were written by a program, on one line.
fn without_position(error: &str) -> &str {
    error.rfind(" at line ").map_or(error, |end| &error[..end])
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read counts")]
    struct Args {
        url: String,
        times: Option<u32>,
        params: Option<Box<RawValue>>,
    }

    fn read(json: &str) -> Result<Args, String> {
        let raw = RawValue::from_string(json.to_owned()).expect("valid JSON");
        super::read("browser_x", Some(&raw)).map_err(|error| error.to_string())
    }

    #[test]
    fn wrong_arguments_are_named_with_what_they_should_be() {
        for (json, sentence) in [
            ("{}", "`args`: browser_x: missing field `url`"),
            (
                r#"{"url":"a","selector":"b"}"#,
                "`args`: browser_x: `selector`: unknown field `selector`, expected one of `url`, `times`, `params`",
            ),
            (r#"{"url":1}"#, "`args`: browser_x: `url`: invalid type: integer `1`, expected a string"),
            (r#"{"url":"a","times":-1}"#, "`args`: browser_x: `times`: invalid value: integer `-1`, expected u32"),
            ("[]", "`args`: must be an object with the arguments of browser_x"),
        ] {
            assert_eq!(read(json).expect_err("wrong"), sentence);
        }
    }

    #[test]
    fn raw_parts_pass_untouched() {
        let args = read(r#"{"url":"a","params":{"x":"\ud800"},"times":null}"#).expect("right");
        assert_eq!(args.params.expect("given").get(), r#"{"x":"\ud800"}"#);
    }
}
