//! Reads one JSON value of a request, and names its field when it is not what it should be.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use memchr::memchr;
pub(crate) use ostler_core::shown;
use ostler_core::{CallError, TaskId, Words};
use serde_json::value::RawValue;

/// Returns the error for a field that is not what it should be.
pub(crate) fn bad(field: &'static str, why: impl Into<String>) -> CallError {
    CallError::BadRequest { field, why: why.into() }
}

/// Returns a text that is not empty. It is borrowed from the line unless it holds escapes.
pub(crate) fn text<'a>(field: &'static str, raw: &'a RawValue) -> Result<Cow<'a, str>, CallError> {
    let json = raw.get();
    let Some(inner) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Err(bad(field, "must be a string"));
    };
    if inner.is_empty() {
        return Err(bad(field, "must not be empty; leave it out instead"));
    }
    if memchr(b'\\', inner.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(inner));
    }
    // Only a lone surrogate can stop this: the value is valid JSON already.
    serde_json::from_str(json).map(Cow::Owned).map_err(|_| bad(field, "holds half of a surrogate pair"))
}

/// Returns a list of texts.
pub(crate) fn texts(field: &'static str, raw: &RawValue) -> Result<Vec<String>, CallError> {
    serde_json::from_str(raw.get()).map_err(|_| bad(field, "must be an array of strings"))
}

/// Returns a flag.
pub(crate) fn flag(field: &'static str, raw: &RawValue) -> Result<bool, CallError> {
    serde_json::from_str(raw.get()).map_err(|_| bad(field, "must be true or false"))
}

/// Returns a whole number within a range.
pub(crate) fn whole_number(
    field: &'static str,
    raw: &RawValue,
    allowed: RangeInclusive<u64>,
) -> Result<u64, CallError> {
    let number = serde_json::from_str(raw.get()).ok().filter(|number| allowed.contains(number));
    number.ok_or_else(|| {
        let (least, most) = allowed.into_inner();
        bad(
            field,
            match most {
                // What has no limit of its own has the type's, which is nobody's concern.
                u64::MAX => format!("must be a whole number, {least} or more"),
                most => format!("must be a whole number from {least} to {most}"),
            },
        )
    })
}

/// Returns whose words an answer is to be in.
pub(crate) fn words(field: &'static str, raw: &RawValue) -> Result<Words, CallError> {
    match raw.get() {
        r#""protocol""# => Ok(Words::Protocol),
        r#""tools""# => Ok(Words::Tools),
        r#""cli""# => Ok(Words::CommandLine),
        r#""helpers""# => Ok(Words::Helpers),
        _ => Err(bad(field, r#"must be "protocol", "tools", "cli" or "helpers""#)),
    }
}

/// Returns the name of a task.
pub(crate) fn task(field: &'static str, raw: &RawValue) -> Result<TaskId, CallError> {
    task_name(&text(field, raw)?).map_err(|why| bad(field, why))
}

/// Returns the task of a name, or what is wrong with the name.
pub(crate) fn task_name(name: &str) -> Result<TaskId, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    if name.is_empty() || name.len() > TaskId::MAX_LEN || !name.bytes().all(allowed) {
        return Err(format!("must be 1 to {} characters out of A-Z, a-z, 0-9, `_`, `.`, `:` and `-`", TaskId::MAX_LEN));
    }
    Ok(TaskId::from(name))
}
