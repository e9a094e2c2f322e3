//! The fields of one `meta` request, each left as raw JSON until its handler asks for it.
//!
//! A field that nobody asks for is ignored: programs written for older daemons send extra ones.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use ostler_core::{CallError, TaskId, Words};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::value::{self, bad};

/// The most fields of one object: far more than any request has, and few enough to search in a row.
const MAX_FIELDS: usize = 64;

/// A JSON object's fields, in the order in which they came.
#[derive(Debug)]
pub(super) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Reads the object on a line.
    pub(super) fn parse(line: &'a str) -> Result<Self, CallError> {
        serde_json::from_str(line).map_err(|error| bad("line", format!("is not a request: {error}")))
    }

    /// Reads an object inside a field. Its own fields are named from outside, such as `launch.flags`.
    pub(super) fn parse_inner(field: &'static str, raw: &'a RawValue) -> Result<Self, CallError> {
        serde_json::from_str(raw.get()).map_err(|error| bad(field, format!("must be an object: {error}")))
    }

    /// Returns a field's raw value; `null` is the same as leaving it out.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let (_, raw) = self.0.iter().find(|(key, _)| key == name)?;
        (raw.get() != "null").then_some(*raw)
    }

    /// Returns a text, if the field is there.
    pub(super) fn text(&self, field: &'static str) -> Result<Option<Cow<'a, str>>, CallError> {
        self.raw(field).map(|raw| value::text(field, raw)).transpose()
    }

    /// Returns a text that the request cannot do without.
    pub(super) fn required_text(&self, field: &'static str) -> Result<Cow<'a, str>, CallError> {
        self.text(field)?.ok_or_else(|| bad(field, "is missing"))
    }

    /// Returns a list of texts; an absent one is empty.
    pub(super) fn texts(&self, field: &'static str) -> Result<Vec<String>, CallError> {
        self.raw(field).map_or(Ok(Vec::new()), |raw| value::texts(field, raw))
    }

    /// Returns a whole number, if the field is there.
    pub(super) fn whole_number(
        &self,
        field: &'static str,
        allowed: RangeInclusive<u64>,
    ) -> Result<Option<u64>, CallError> {
        self.raw(field).map(|raw| value::whole_number(field, raw, allowed)).transpose()
    }

    /// Returns an id of one of the core's types, if the field is there.
    pub(super) fn id<I: for<'t> From<&'t str>>(&self, field: &'static str) -> Result<Option<I>, CallError> {
        Ok(self.text(field)?.map(|text| I::from(&*text)))
    }

    /// Returns whose words the answer is to be in, if the request says so.
    pub(super) fn words(&self) -> Result<Option<Words>, CallError> {
        self.raw("words").map(|raw| value::words("words", raw)).transpose()
    }

    /// Returns the task that the request is about.
    pub(super) fn task(&self) -> Result<TaskId, CallError> {
        self.raw("task").map_or_else(|| Ok(TaskId::default_task()), |raw| value::task("task", raw))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor).map(Self)
    }
}

struct FieldsVisitor;

/// A key as the line has it; only one with escapes is copied.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut fields: Self::Value = Vec::with_capacity(8);
        while let Some((Key(key), raw)) = map.next_entry()? {
            if fields.iter().any(|(known, _)| *known == key) {
                return Err(M::Error::custom(format_args!("duplicate field `{}`", value::shown(&key))));
            }
            if fields.len() == MAX_FIELDS {
                return Err(M::Error::custom(format_args!("more than {MAX_FIELDS} fields")));
            }
            fields.push((key, raw));
        }
        Ok(fields)
    }
}
