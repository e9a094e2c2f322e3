//! The JSON Schema of `config.yaml`, for editors: made from the keys, so it cannot say anything else than the program. A test
//! tries the same values on both.

use serde_json::{Map, Value, json};

use super::key::{AnyKey, Kind};
use super::keys;
use crate::times;

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
    // Headers go with the URL beside them. Either may be left empty, which YAML reads as null.
    let browser = &mut root["properties"]["browser"];
    browser["if"] = json!({"required": ["headers"], "properties": {"headers": {"type": "object"}}});
    browser["then"] = json!({"required": ["cdp_url"], "properties": {"cdp_url": {"type": "string"}}});
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
        Kind::Seconds { at_most } => json!({
            "type": ["number", "null"],
            "minimum": times::SHORTEST.as_secs_f64(),
            "maximum": at_most.as_secs(),
        }),
        Kind::Path => text("^/"),
        Kind::Url(schemes) => {
            let schemes: Vec<_> = schemes.iter().map(|scheme| in_any_case(scheme)).collect();
            text(&format!("^({})://{HOST}(:{PORT})?([/?#]{REST})?$", schemes.join("|")))
        }
        Kind::ApiBase => {
            let (http, https) = (in_any_case("http"), in_any_case("https"));
            let path = format!("(:{PORT})?(/{PATH})?$");
            text(&format!("^({https}://{HOST}|{http}://{THIS_MACHINE}){path}"))
        }
        Kind::Flags => json!({
            "type": ["array", "null"],
            "items": {
                "type": "string",
                "pattern": "^--[^=]",
                "not": {"pattern": format!("^({})(=|$)", keys::OURS.join("|"))},
            },
        }),
        Kind::Id => text("^[A-Za-z0-9_-]{1,128}$"),
        Kind::Headers => {
            let reserved: Vec<_> = keys::NOT_TO_SET.iter().map(|name| in_any_case(name)).collect();
            let reserved = format!("^(({})$|{})", reserved.join("|"), in_any_case(keys::NOT_TO_SET_PREFIX));
            json!({
                "type": ["object", "null"],
                "propertyNames": {"pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", "not": {"pattern": reserved}},
                // A header has no line ends, and no letters beyond ASCII.
                "additionalProperties": {"type": "string", "pattern": "^[\\t -~]*$"},
            })
        }
        Kind::Options => json!({
            "type": ["object", "null"],
            "additionalProperties": {"type": ["string", "number", "boolean", "array", "object"]},
        }),
    }
}

/// A name or an address; who is behind it is not for a pattern to say.
const HOST: &str = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])";
/// The hosts of an API that need no TLS: what goes there stays on this machine.
const THIS_MACHINE: &str = r"(localhost|127(\.(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}|\[::1\])";
/// 1 to 65535, and 0, which a URL may have and nobody listens on.
const PORT: &str = "(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4})";
const PATH: &str = "[!$-;=@-Z_a-z~-]*";
const REST: &str = "[!#-;=?@-Z_a-z~-]*";

fn text(pattern: &str) -> Value {
    json!({"type": ["string", "null"], "pattern": pattern})
}

/// Patterns of a JSON Schema know no switch for that.
fn in_any_case(word: &str) -> String {
    let either = |letter: char| match letter.is_ascii_lowercase() {
        true => format!("[{}{letter}]", letter.to_ascii_uppercase()),
        false => letter.to_string(),
    };
    word.chars().map(either).collect()
}

#[cfg(test)]
mod tests {
    use regex_automata::meta::Regex;

    use super::super::document::Document;
    use super::super::yaml;
    use super::*;

    #[test]
    fn the_shipped_schema_is_that_of_the_program() {
        let shipped: Value =
            serde_json::from_str(include_str!("../../../../docs/config.schema.json")).expect("it is JSON");
        assert_eq!(shipped, schema(), "run `ostler config schema > docs/config.schema.json`");
    }

    /// Judges a value as an editor does that knows the schema. Only the words that ours has.
    fn fits(schema: &Value, value: &Value) -> bool {
        let holds = |(word, rule): (&String, &Value)| match (word.as_str(), value) {
            ("$schema" | "title" | "description" | "default", _) => true,
            ("type", _) => match rule {
                Value::Array(types) => types.iter().any(|name| is_of_type(value, name)),
                name => is_of_type(value, name),
            },
            ("enum", _) => rule.as_array().expect("words").contains(value),
            ("not", _) => !fits(rule, value),
            // Only an object has what is asked of one.
            ("if", Value::Object(_)) => !fits(rule, value) || fits(&schema["then"], value),
            ("required", Value::Object(entries)) => {
                let names = rule.as_array().expect("names");
                names.iter().all(|name| entries.contains_key(name.as_str().expect("a name")))
            }
            ("if" | "then" | "required", _) => true,
            ("pattern", Value::String(text)) => {
                Regex::new(rule.as_str().expect("a pattern")).expect("a good pattern").is_match(text)
            }
            ("minimum", Value::Number(number)) => number.as_f64() >= rule.as_f64(),
            ("maximum", Value::Number(number)) => number.as_f64() <= rule.as_f64(),
            ("items", Value::Array(items)) => items.iter().all(|item| fits(rule, item)),
            ("propertyNames", Value::Object(entries)) => entries.keys().all(|name| fits(rule, &json!(name))),
            ("properties", Value::Object(entries)) => {
                entries.iter().all(|(name, value)| rule.get(name).is_none_or(|rule| fits(rule, value)))
            }
            ("additionalProperties", Value::Object(entries)) => {
                let more = entries.iter().filter(|(name, _)| schema["properties"].get(name.as_str()).is_none());
                more.into_iter().all(|(_, value)| rule.as_bool().unwrap_or_else(|| fits(rule, value)))
            }
            (
                "pattern" | "minimum" | "maximum" | "items" | "propertyNames" | "properties" | "additionalProperties",
                _,
            ) => true,
            (word, _) => unreachable!("the schema has a word that this test does not know: {word}"),
        };
        schema.as_object().expect("a schema").iter().all(holds)
    }

    fn is_of_type(value: &Value, name: &Value) -> bool {
        match name.as_str().expect("a type") {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => unreachable!("{other}"),
        }
    }

    /// Judges a whole file as the daemon does.
    fn is_read(text: &str) -> bool {
        Document::parse(text, keys::ALL).and_then(|document| keys::check_all(&document)).is_ok()
    }

    fn fits_the_schema(text: &str) -> bool {
        let tree = yaml::parse(text).expect(text).expect("something");
        fits(&schema(), &tree.to_json())
    }

    fn file(key: &dyn AnyKey, value: &str) -> String {
        match key.name().split_once('.') {
            // They stand beside the URL that they go with.
            Some(("browser", "headers")) => format!("{{browser: {{cdp_url: 'ws://host', headers: {value}}}}}"),
            _ => key.name().split('.').rev().fold(value.to_owned(), |inner, name| format!("{{{name}: {inner}}}")),
        }
    }

    /// What people write, right and wrong, for any of the keys.
    const VALUES: &[&str] = &[
        "null",
        "~",
        "''",
        "true",
        "True",
        "false",
        "'true'",
        "yes",
        "on",
        "maybe",
        "0",
        "-1",
        "1",
        "0.5",
        "5.",
        ".5",
        "1e2",
        "+3",
        "0x10",
        "0o17",
        "1_000",
        "0123",
        "'60'",
        "\"60\"",
        "1e300",
        ".inf",
        "-.inf",
        ".nan",
        "0.001",
        "0.0009",
        "1e-300",
        "86400",
        "86400.1",
        "86401",
        "31536000",
        "31536001",
        "-0",
        "must_respond",
        "auto_dismiss",
        "auto_accept",
        "Auto_Accept",
        "sometimes",
        "auto",
        "always",
        "never",
        "'never'",
        "/opt/x",
        "./x",
        "x",
        "'/with blanks/x'",
        "'a b'",
        "a-1_B",
        "a/b",
        "'123'",
        "'é'",
        "'--'",
        "'ws://host'",
        "'WS://host:1/x'",
        "'wss://host/?t=1'",
        "'http://host'",
        "'https://host/path'",
        "'HTTPS://host'",
        "'http://'",
        "'ws://'",
        "'http://127.0.0.1:8080'",
        "'http://127.1.2.3/x'",
        "'http://127.1.2.300'",
        "'http://localhost'",
        "'http://[::1]:9'",
        "'http://[::2]'",
        "'http://localhost.evil.example'",
        "'http://127.0.0.1.evil.example'",
        "'https://user@host'",
        "'https://user:x@host/'",
        "'https://host?query'",
        "'https://host/#f'",
        "'https://host:99999'",
        "'https://host:65535'",
        "'https://host:'",
        "'https://ho st'",
        "'ftp://host'",
        "host",
        "'//host'",
        "'https:/host'",
        "' https://host'",
        "[]",
        "[--a]",
        "[--a, '--b=c d']",
        "[a]",
        "[--]",
        "['--=x']",
        "[--user-data-dir]",
        "[--user-data-dir=/x]",
        "[--user-data-directory]",
        "[--remote-debugging-port=1]",
        "[--remote-debugging-pipe]",
        "[--remote-debugging-address=1]",
        "[1]",
        "[true]",
        "[null]",
        "[[--a]]",
        "[{--a: b}]",
        "{}",
        "{X-A: b}",
        "{X-A: b, X-B: 1, X-C: true}",
        "{X-A: null}",
        "{X-A: [b]}",
        "{X-A: {b: c}}",
        "{'a b': c}",
        "{'': c}",
        "{Host: x}",
        "{hOST: x}",
        "{Hosts: x}",
        "{Sec-WebSocket-Key: x}",
        "{sec-websocket: x}",
        "{Origin: x}",
        "{X-A: 'é'}",
        "{X-A: \"a\\nb\"}",
        "{X-A: \"a\\tb\"}",
        "{timeout: 30, proxyCountryCode: de}",
        "{a.b: c}",
    ];

    #[test]
    fn the_program_takes_what_the_schema_says_and_nothing_else() {
        let mut differences = Vec::new();
        for key in keys::ALL {
            let taken = VALUES.iter().filter(|value| {
                let text = file(*key, value);
                let (read, fits) = (is_read(&text), fits_the_schema(&text));
                if read != fits {
                    differences.push(format!("{text}: the program says {read}, the schema {fits}"));
                }
                read
            });
            let taken = taken.count();
            assert!((3..VALUES.len() - 3).contains(&taken), "{}: {taken} values taken prove nothing", key.name());
            if let Some(default) = key.default() {
                assert!(is_read(&file(*key, default)), "{}: its default", key.name());
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }

    #[test]
    fn sections_and_unknown_keys_are_judged_alike() {
        for text in [
            "{}",
            "null",
            "browser:",
            "browser: {}",
            "[]",
            "text",
            "browser: text",
            "browser: []",
            "browsr: {}",
            "browser: {quit: true}",
            "browser: {headers: {A: b}}",
            "browser: {headers: {A: b}, cdp_url: null}",
            "browser: {headers: null}",
            "browser: {headers: {A: b}, cdp_url: 'ws://host'}",
            "cloud: {browser_use: {}}",
            "cloud: {browser_use: null}",
            "cloud: {browser_use: 1}",
            "{browser.quiet: true}",
            "cloud: {other: {api_base: x}}",
        ] {
            assert_eq!(is_read(text), fits_the_schema(text), "{text}");
        }
    }

    #[test]
    fn every_limit_stands_in_the_document_for_people() {
        let document = include_str!("../../../../docs/settings.md");
        for key in keys::ALL {
            let name = key.name();
            let row = document.lines().find(|line| line.contains(&format!("`{name}`"))).expect(name);
            if let Kind::Seconds { at_most } = key.kind() {
                let limit = with_commas(at_most.as_secs());
                assert!(row.contains("at least 0.001") && row.contains(&limit), "{}: {limit}", key.name());
            }
        }
    }

    fn with_commas(number: u64) -> String {
        let digits = number.to_string();
        let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
        groups.join(",")
    }
}
