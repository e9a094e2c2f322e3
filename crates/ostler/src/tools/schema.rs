//! From a tool's argument type to what a model is shown: its description and a JSON schema without ballast.
//!
//! A tool list is read by a model before the first word of its work, so each key that says nothing is dropped.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// What a model is shown of a tool.
#[derive(Debug)]
pub(super) struct Described {
    /// The doc comment of the argument type, on one line.
    pub(super) description: String,
    /// The arguments.
    pub(super) schema: Value,
}

/// Describes a tool by its argument type.
pub(super) fn of<A: JsonSchema>() -> Described {
    let mut schema = whole::<A>();
    slim(&mut schema, &[BALLAST, &[WIDTH]].concat());
    let object = schema.as_object_mut().expect("a tool's arguments are a struct");
    let description = object.remove("description");
    let description = description.as_ref().and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
    object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    Described { description, schema }
}

/// Returns the schema of a tool's arguments with the width of each number (`uint32`), to judge values by.
pub(super) fn exact<A: JsonSchema>() -> Value {
    let mut schema = whole::<A>();
    slim(&mut schema, BALLAST);
    schema
}

fn whole<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<A>().into()
}

/// What nobody needs to know.
const BALLAST: &[&str] = &["$schema", "title", "additionalProperties"];
/// What a model does not need to know.
const WIDTH: &str = "format";

/// Takes out what Rust's types say and a model does not need: names of types, widths of numbers, and that an
/// argument which may be left out may be `null` as well.
fn slim(schema: &mut Value, ballast: &[&str]) {
    match schema {
        Value::Object(object) => {
            for key in ballast {
                // An argument may have such a name; then it is a schema of its own, under `properties`.
                object.remove(*key);
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            if object.get("minimum").and_then(Value::as_f64) == Some(0.0) {
                object.remove("minimum");
            }
            without_null(object);
            if let Some(text) =
                object.get_mut("description").and_then(|text| text.as_str().map(|t| t.replace('\n', " ")))
            {
                object.insert("description".to_owned(), text.into());
            }
            for (key, inner) in object {
                if key == "properties" {
                    let arguments = inner.as_object_mut().into_iter().flat_map(Map::values_mut);
                    arguments.for_each(|argument| slim(argument, ballast));
                } else {
                    slim(inner, ballast);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| slim(item, ballast)),
        _ => {}
    }
}

fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    /// Does a thing
    /// to another.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct Args {
        /// What it is called.
        title: String,
        /// How often.
        times: Option<u32>,
        side: Option<Side>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Side {
        Left,
        Right,
    }

    #[test]
    fn a_schema_says_what_a_model_needs_and_nothing_else() {
        let Described { description, schema } = of::<Args>();
        assert_eq!(description, "Does a thing to another.");
        let expected = json!({
            "type": "object",
            "properties": {
                "title": {"description": "What it is called.", "type": "string"},
                "times": {"description": "How often.", "type": "integer"},
                "side": {"type": "string", "enum": ["left", "right"]},
            },
            "required": ["title"],
        });
        assert_eq!(schema, expected);
    }
}
