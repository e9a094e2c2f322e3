//! Reads a tool's arguments, and says of wrong ones which it is, what was given and what it takes.

use std::collections::BTreeMap;

use ostler_core::CallError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::schema;
use crate::meta::value::{bad, shown};

/// Reads the arguments of the tool `name`; none at all are the same as an empty object.
pub(super) fn read<A: DeserializeOwned + JsonSchema>(name: &str, args: Option<&RawValue>) -> Result<A, CallError> {
    let json = args.map_or("{}", RawValue::get);
    if !json.starts_with('{') {
        return Err(bad("args", format!("must be an object with the arguments of {name}")));
    }
    // What is wrong is looked for only once something is: reading the arguments is all there is to do otherwise.
    serde_json::from_str(json).map_err(|_| bad("args", fault(name, json, &schema::exact::<A>())))
}

/// Returns the name of a thing that was given. An empty one is a mistake, and not the same as none.
pub(super) fn named(field: &'static str, given: Option<String>) -> Result<Option<String>, CallError> {
    match given {
        Some(name) if name.trim().is_empty() => Err(bad(field, "must not be empty; leave it out instead")),
        given => Ok(given),
    }
}

/// Says what is wrong with arguments that cannot be read.
fn fault(name: &str, json: &str, schema: &Value) -> String {
    let Ok(given) = serde_json::from_str::<BTreeMap<String, &RawValue>>(json) else {
        return format!("the arguments of {name} have a name that is no text");
    };
    let takes: Vec<_> = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if let Some(unknown) = given.keys().find(|key| !takes.contains(&key.as_str())) {
        return format!("{name} has no argument `{}`; it takes {}", shown(unknown), takes.join(", "));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for argument in required {
        if given.get(argument).is_none_or(|value| value.get() == "null") {
            return format!("{name} needs `{argument}`: {}", wanted(&schema["properties"][argument]));
        }
    }
    for (argument, value) in &given {
        let takes = &schema["properties"][argument];
        if value.get() != "null" && !fits(value.get(), takes) {
            return format!("`{argument}` of {name} must be {}, not {}", wanted(takes), shown(value.get()));
        }
    }
    format!("an argument of {name} is given twice, or holds half of a surrogate pair, which is no text")
}

/// Returns whether a value has the form that a schema asks for.
fn fits(json: &str, schema: &Value) -> bool {
    if let Some(choices) = schema["enum"].as_array() {
        return serde_json::from_str::<Value>(json).is_ok_and(|value| choices.contains(&value));
    }
    match schema["type"].as_str() {
        Some("string") => json.starts_with('"'),
        Some("boolean") => matches!(json, "true" | "false"),
        Some("integer") => json.parse::<u64>().is_ok_and(|number| number <= largest(schema)),
        Some("number") => json.parse::<f64>().is_ok_and(f64::is_finite),
        Some("object") => json.starts_with('{'),
        Some("array") => serde_json::from_str::<Vec<&RawValue>>(json)
            .is_ok_and(|items| items.iter().all(|item| fits(item.get(), &schema["items"]))),
        _ => true,
    }
}

/// Returns the largest whole number that a schema allows. Each one that a tool takes counts something, so none is
/// below 0.
fn largest(schema: &Value) -> u64 {
    match schema["format"].as_str() {
        Some("uint8") => u8::MAX.into(),
        Some("uint16") => u16::MAX.into(),
        Some("uint32") => u32::MAX.into(),
        _ => u64::MAX,
    }
}

/// Says what a schema asks for.
fn wanted(schema: &Value) -> String {
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<_> = choices.iter().map(Value::to_string).collect();
        return match &choices[..] {
            [choice] => choice.clone(),
            [others @ .., last] => format!("{} or {last}", others.join(", ")),
            [] => "nothing".to_owned(),
        };
    }
    match schema["type"].as_str() {
        Some("string") => "a string".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => format!("a whole number from 0 to {}", largest(schema)),
        Some("number") => "a finite number".to_owned(),
        Some("array") => match schema["items"].get("enum") {
            Some(_) => format!("a list, each entry {}", wanted(&schema["items"])),
            None => "a list of strings".to_owned(),
        },
        _ => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::tools::TABLE;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read counts")]
    struct Args {
        url: String,
        times: Option<u32>,
        side: Option<Side>,
        sides: Option<Vec<Side>>,
        still: Option<bool>,
        #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
        params: Option<Box<RawValue>>,
        since: Option<u64>,
        down: Option<f64>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Side {
        Left,
        Right,
        Middle,
    }

    fn read(json: &str) -> Result<Args, String> {
        let raw = RawValue::from_string(json.to_owned()).expect("valid JSON");
        super::read("browser_x", Some(&raw)).map_err(|error| error.to_string())
    }

    #[test]
    fn wrong_arguments_are_named_with_what_they_should_be() {
        for (json, sentence) in [
            ("{}", "`args`: browser_x needs `url`: a string"),
            (r#"{"url":null}"#, "`args`: browser_x needs `url`: a string"),
            (
                r#"{"url":"a","selector":"b"}"#,
                "`args`: browser_x has no argument `selector`; it takes down, params, side, sides, since, still, times, url",
            ),
            (r#"{"url":1}"#, "`args`: `url` of browser_x must be a string, not 1"),
            (
                r#"{"url":"a","times":-1}"#,
                "`args`: `times` of browser_x must be a whole number from 0 to 4294967295, not -1",
            ),
            (
                r#"{"url":"a","times":"2"}"#,
                "`args`: `times` of browser_x must be a whole number from 0 to 4294967295, not \"2\"",
            ),
            (r#"{"url":"a","still":"yes"}"#, "`args`: `still` of browser_x must be true or false, not \"yes\""),
            (
                r#"{"url":"a","side":"top"}"#,
                "`args`: `side` of browser_x must be \"left\", \"right\" or \"middle\", not \"top\"",
            ),
            (
                r#"{"url":"a","sides":["top"]}"#,
                "`args`: `sides` of browser_x must be a list, each entry \"left\", \"right\" or \"middle\", not [\"top\"]",
            ),
            (
                r#"{"url":"\ud800"}"#,
                "`args`: an argument of browser_x is given twice, or holds half of a surrogate pair, which is no text",
            ),
            (
                r#"{"url":"a","url":"b"}"#,
                "`args`: an argument of browser_x is given twice, or holds half of a surrogate pair, which is no text",
            ),
            ("[]", "`args`: must be an object with the arguments of browser_x"),
        ] {
            assert_eq!(read(json).expect_err("wrong"), sentence);
        }
    }

    #[test]
    fn a_number_is_judged_by_what_its_argument_can_hold() {
        for (json, wrong) in [
            (r#"{"url":"a","down":1e999}"#, "`down` of browser_x must be a finite number, not 1e999"),
            (r#"{"url":"a","times":5000000000}"#, "`times` of browser_x must be a whole number from 0 to 4294967295"),
            (r#"{"url":"a","since":18446744073709551616}"#, "from 0 to 18446744073709551615, not 18446744073709551616"),
            // Only what is wrong is named, however large the rest is.
            (r#"{"url":"a","since":5000000000,"still":1}"#, "`still` of browser_x must be true or false, not 1"),
            (r#"{"url":"a","down":-1.5e300,"still":1}"#, "`still` of browser_x must be true or false, not 1"),
        ] {
            let sentence = read(json).expect_err("wrong");
            assert!(sentence.contains(wrong), "{json}: {sentence}");
        }
        read(r#"{"url":"a","since":5000000000,"down":1.5}"#).expect("right");
    }

    #[test]
    fn no_sentence_of_a_wrong_argument_is_the_parsers() {
        for tool in TABLE {
            let schema = tool.schema();
            for (argument, takes) in schema["properties"].as_object().expect("every tool has arguments") {
                for wrong in ["{}", "[1]", "1.5", "-3", "1e999", "99999999999999999999", "true", r#""x""#] {
                    if fits(wrong, takes) {
                        continue;
                    }
                    let sentence = fault(tool.name, &format!(r#"{{"{argument}":{wrong}}}"#), &schema);
                    let told = sentence.contains(&format!("`{argument}`")) || sentence.contains(" needs `");
                    assert!(told && !sentence.contains("given twice"), "{}: {sentence}", tool.name);
                }
            }
        }
    }

    #[test]
    fn raw_parts_pass_untouched() {
        let args = read(r#"{"url":"a","params":{"x":"\ud800"},"times":null}"#).expect("right");
        assert_eq!(args.params.expect("given").get(), r#"{"x":"\ud800"}"#);
    }
}
