//! The JSON Schema of `config.yaml`, for editors: made from the keys, so it cannot say anything else than the program.

use serde_json::{Map, Value, json};

use super::key::{AnyKey, Kind};
use super::keys;

/// Returns the schema.
pub(crate) fn schema() -> Value {
    let mut root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ostler's config.yaml",
    });
    make_section(&mut root);
    for key in keys::ALL {
        let mut names: Vec<_> = key.name().split('.').collect();
        let last = names.pop().unwrap_or_default();
        let section = names.into_iter().fold(&mut root, |section, name| {
            let inner = &mut section["properties"][name];
            make_section(inner);
            inner
        });
        section["properties"][last] = of_key(*key);
    }
    root
}

/// A section may be left empty, which YAML reads as null.
fn make_section(section: &mut Value) {
    if section["properties"].is_null() {
        section["type"] = json!(["object", "null"]);
        section["additionalProperties"] = json!(false);
        section["properties"] = Value::Object(Map::new());
    }
}

fn of_key(key: &dyn AnyKey) -> Value {
    let mut schema = of_kind(key.kind());
    schema["description"] = json!(key.about());
    if let Some(default) = key.default() {
        schema["default"] = match key.kind() {
            Kind::Flag | Kind::Seconds { .. } => serde_json::from_str(default).unwrap_or_default(),
            _ => json!(default),
        };
    }
    schema
}

/// A key with nothing behind it counts as left out, so null is right everywhere.
fn of_kind(kind: Kind) -> Value {
    match kind {
        Kind::Word(words) => {
            let mut words: Vec<Value> = words.iter().map(|word| json!(word)).collect();
            words.push(Value::Null);
            json!({"enum": words})
        }
        Kind::Flag => json!({"type": ["boolean", "null"]}),
        Kind::Seconds { at_most } => {
            json!({"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": at_most.as_secs()})
        }
        Kind::Path => json!({"type": ["string", "null"], "pattern": "^/"}),
        Kind::Url(schemes) => {
            json!({"type": ["string", "null"], "pattern": format!("^({})://.", schemes.join("|"))})
        }
        Kind::Flags => json!({"type": ["array", "null"], "items": {"type": "string", "pattern": "^--."}}),
        Kind::Id => json!({"type": ["string", "null"], "pattern": "^[A-Za-z0-9_-]{1,128}$"}),
        Kind::Headers | Kind::Options => json!({
            "type": ["object", "null"],
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::document::Document;
    use super::*;

    #[test]
    fn the_shipped_schema_is_that_of_the_program() {
        let shipped: Value =
            serde_json::from_str(include_str!("../../../../docs/config.schema.json")).expect("it is JSON");
        assert_eq!(shipped, schema(), "run `ostler config schema > docs/config.schema.json`");
    }

    /// Checks one value of one key.
    fn is_right(key: &dyn AnyKey, value: &str) -> bool {
        let text = key.name().split('.').rev().fold(value.to_owned(), |inner, name| format!("{{{name}: {inner}}}"));
        let document = Document::parse(&text, keys::ALL).unwrap_or_else(|fault| unreachable!("{text}: {fault}"));
        document.node(key.name()).is_none_or(|node| key.check(node).is_ok())
    }

    #[test]
    fn a_key_takes_what_the_schema_says_and_nothing_else() {
        for key in keys::ALL {
            let (right, wrong): (Vec<String>, Vec<String>) = match key.kind() {
                Kind::Word(words) => (words.iter().map(|word| (*word).to_owned()).collect(), vec!["other".to_owned()]),
                Kind::Flag => (vec!["true".to_owned(), "false".to_owned()], vec!["1".to_owned(), "maybe".to_owned()]),
                Kind::Seconds { at_most } => (
                    vec!["0.5".to_owned(), at_most.as_secs().to_string()],
                    vec!["0".to_owned(), "-1".to_owned(), (at_most + Duration::from_secs(1)).as_secs().to_string()],
                ),
                Kind::Path => (vec!["/opt/x".to_owned()], vec!["x".to_owned(), "./x".to_owned()]),
                Kind::Url(schemes) => (
                    schemes.iter().map(|scheme| format!("'{scheme}://host/path'")).collect(),
                    vec!["host".to_owned(), "'ftp://host'".to_owned(), "'http://'".to_owned()],
                ),
                Kind::Flags => {
                    (vec!["[]".to_owned(), "[--a, --b=c]".to_owned()], vec!["[a]".to_owned(), "[--]".to_owned()])
                }
                Kind::Headers => (vec!["{X-A: b, X-B: 1}".to_owned()], vec!["{'a b': c}".to_owned()]),
                Kind::Options => (vec!["{timeout: 30, proxyCountryCode: de}".to_owned()], Vec::new()),
                Kind::Id => (vec!["a-1_B".to_owned()], vec!["a/b".to_owned(), "'a b'".to_owned()]),
            };
            for value in right.iter().chain([&"null".to_owned()]) {
                assert!(is_right(*key, value), "{}: {value}", key.name());
            }
            for value in wrong {
                assert!(!is_right(*key, &value), "{}: {value}", key.name());
            }
            if let Some(default) = key.default() {
                assert!(is_right(*key, default), "{}: its default", key.name());
            }
        }
    }
}
