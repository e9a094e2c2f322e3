//! Reads one request line.
//!
//! Only the fields that decide where a call goes are looked into; `params` stays the raw bytes it
//! came as. A line of the hot path is read once, without a copy of anything but short names.

use std::borrow::Cow;
use std::str::from_utf8;
use std::time::Duration;

use bytes::Bytes;
use ostler_core::{CallError, TaskId, Words};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{depth, spelling};
use crate::meta::value::{self, bad};
use crate::tasks::{CallRequest, OnDialog};
use crate::times;

/// The longest `id`, in bytes as it stands on the line.
const MAX_ID: usize = 1024;
/// How much of a line that cannot be read is searched for its `id`.
const ID_SEARCH: usize = 4096;

/// One line, read.
#[derive(Debug)]
pub(super) struct Request {
    /// The request's `id` as raw JSON, to be echoed. A request with one does not wait for its turn.
    pub(super) id: Option<Bytes>,
    /// How long the line was.
    pub(super) cost: usize,
    /// Whose words an error is to be told in.
    pub(super) words: Words,
    /// What is asked for, or what is wrong with it.
    pub(super) ask: Result<Ask, CallError>,
}

/// What a request asks for.
#[derive(Debug)]
pub(super) enum Ask {
    /// A CDP call.
    Call(CallRequest),
    /// A request to the daemon itself: the whole line, whose fields differ from one to the next.
    Meta(Bytes),
}

impl Request {
    /// Reads a line.
    pub(super) fn parse(line: &Bytes) -> Self {
        let cost = line.len();
        match parse(line) {
            Ok((id, words, ask)) => Self { id, cost, words, ask },
            Err(error) => Self { id: find_id(line), cost, words: Words::default(), ask: Err(error) },
        }
    }

    /// Returns the refusal of a line that was cut off at `limit`, from how it begins.
    pub(super) fn too_long(start: &[u8], limit: usize) -> Self {
        let why = format!("is longer than the {} that a request may have", Size(limit));
        Self { id: find_id(start), cost: 0, words: Words::default(), ask: Err(bad("line", why)) }
    }
}

/// A request's fields, as far as the way of a call depends on them. Those of `meta` requests are theirs to read; what
/// nobody knows is ignored, unless it is one of ours in another spelling.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    meta: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    session_id: Option<&'a RawValue>,
    frame_id: Option<&'a RawValue>,
    target_id: Option<&'a RawValue>,
    task: Option<&'a RawValue>,
    timeout_ms: Option<&'a RawValue>,
    on_dialog: Option<&'a RawValue>,
    words: Option<&'a RawValue>,
    /// The first field that is misspelt, and what it is spelt here.
    misspelt: Option<(String, &'static str)>,
}

impl<'a> Envelope<'a> {
    fn slot(&mut self, field: &str) -> Option<&mut Option<&'a RawValue>> {
        Some(match field {
            "id" => &mut self.id,
            "method" => &mut self.method,
            "meta" => &mut self.meta,
            "params" => &mut self.params,
            "session_id" => &mut self.session_id,
            "frame_id" => &mut self.frame_id,
            "target_id" => &mut self.target_id,
            "task" => &mut self.task,
            "timeout_ms" => &mut self.timeout_ms,
            "on_dialog" => &mut self.on_dialog,
            "words" => &mut self.words,
            _ => return None,
        })
    }

    /// Takes `null` for what it means: that the field is left out. An `id` may be null.
    fn without_nulls(mut self) -> Self {
        let Self {
            method,
            meta,
            params,
            session_id,
            frame_id,
            target_id,
            task,
            timeout_ms,
            on_dialog,
            words,
            id: _,
            misspelt: _,
        } = &mut self;
        for slot in [method, meta, params, session_id, frame_id, target_id, task, timeout_ms, on_dialog, words] {
            *slot = slot.filter(|raw| raw.get() != "null");
        }
        self
    }

    fn check_spelling(&self) -> Result<(), CallError> {
        match &self.misspelt {
            Some((field, ours)) => {
                Err(bad("line", format!("has a field {:?}, which is spelt `{ours}` here", value::shown(field))))
            }
            None => Ok(()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor).map(Self::without_nulls)
    }
}

struct EnvelopeVisitor;

/// A key as the line has it; only one with escapes is copied.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut envelope = Envelope::default();
        while let Some(Key(key)) = map.next_key()? {
            match envelope.slot(&key) {
                Some(slot) if slot.is_some() => {
                    return Err(M::Error::custom(format_args!("duplicate field `{key}`")));
                }
                Some(slot) => *slot = Some(map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                    if envelope.misspelt.is_none() {
                        envelope.misspelt = spelling::ours(&key).map(|ours| (key.into_owned(), ours));
                    }
                }
            }
        }
        Ok(envelope)
    }
}

type Parsed = (Option<Bytes>, Words, Result<Ask, CallError>);

/// Returns the `id` and what is asked for; the outer error is that of a line that is no request at all.
fn parse(line: &Bytes) -> Result<Parsed, CallError> {
    let text =
        from_utf8(line).map_err(|error| bad("line", format!("is not UTF-8: byte {} is wrong", error.valid_up_to())))?;
    // A struct may also be written as an array in serde's eyes; not in ours.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(bad("line", "must be one JSON object"));
    }
    let envelope: Envelope<'_> = serde_json::from_str(text)
        .map_err(|error| bad("line", format!("is no JSON object that ostler can read: {error}")))?;
    let words = envelope.words.map_or(Ok(Words::default()), |raw| value::words("words", raw));
    Ok(match (envelope.id.map(checked_id).transpose(), words) {
        (Ok(id), Ok(words)) => (id, words, ask(line, &envelope)),
        (Ok(id), Err(error)) => (id, Words::default(), Err(error)),
        (Err(error), words) => (None, words.unwrap_or_default(), Err(error)),
    })
}

fn ask(line: &Bytes, envelope: &Envelope<'_>) -> Result<Ask, CallError> {
    envelope.check_spelling()?;
    match (envelope.method, envelope.meta) {
        (Some(method), None) => call(line, envelope, method).map(Ask::Call),
        (None, Some(_)) => Ok(Ask::Meta(line.clone())),
        (Some(_), Some(_)) => Err(bad("method", "cannot stand beside `meta`: a request has one of the two")),
        (None, None) => Err(bad("method", "is missing: a request has a CDP `method`, or a `meta` name")),
    }
}

fn call(line: &Bytes, envelope: &Envelope<'_>, method: &RawValue) -> Result<CallRequest, CallError> {
    Ok(CallRequest {
        task: envelope.task.map_or_else(|| Ok(TaskId::default_task()), |raw| value::task("task", raw))?,
        session_id: named("session_id", envelope.session_id)?,
        frame_id: named("frame_id", envelope.frame_id)?,
        target_id: named("target_id", envelope.target_id)?,
        method: value::text("method", method)?.into_owned(),
        params: envelope.params.map(|raw| params(line, raw)).transpose()?,
        timeout: timeout(envelope.timeout_ms)?,
        on_dialog: on_dialog(envelope.on_dialog)?,
    })
}

fn named<I: for<'t> From<&'t str>>(field: &'static str, raw: Option<&RawValue>) -> Result<Option<I>, CallError> {
    raw.map(|raw| value::text(field, raw).map(|text| I::from(&*text))).transpose()
}

fn params(line: &Bytes, raw: &RawValue) -> Result<Bytes, CallError> {
    let json = raw.get().as_bytes();
    if !json.starts_with(b"{") {
        return Err(bad("params", "must be a JSON object"));
    }
    if !depth::is_within_limit(json) {
        let why = format!("is nested deeper than the {} levels that Chromium takes", depth::MAX_DEPTH);
        return Err(bad("params", why));
    }
    Ok(line.slice_ref(json))
}

fn timeout(raw: Option<&RawValue>) -> Result<Duration, CallError> {
    let Some(raw) = raw else { return Ok(times::CALL_DEFAULT) };
    let longest = times::CALL_LONGEST.as_secs() * 1000;
    value::whole_number("timeout_ms", raw, 1..=longest).map(Duration::from_millis)
}

fn on_dialog(raw: Option<&RawValue>) -> Result<OnDialog, CallError> {
    match raw.map(RawValue::get) {
        None | Some(r#""return""#) => Ok(OnDialog::Return),
        Some(r#""wait""#) => Ok(OnDialog::Wait),
        Some(_) => Err(bad("on_dialog", "must be \"return\" or \"wait\"")),
    }
}

/// Returns an `id` as a copy of its own, so that it does not keep a large line in memory.
fn checked_id(raw: &RawValue) -> Result<Bytes, CallError> {
    let json = raw.get().as_bytes();
    if matches!(json.first(), Some(b'{' | b'[')) {
        return Err(bad("id", "must be a string, a number, true, false or null"));
    }
    if json.len() > MAX_ID {
        return Err(bad("id", format!("must be at most {MAX_ID} bytes long")));
    }
    Ok(Bytes::copy_from_slice(json))
}

/// Returns the `id` of a line that cannot be read, if it stands before what is wrong and cannot be
/// mistaken: there is one, at the top level, whole, and what follows it is still an object.
fn find_id(line: &[u8]) -> Option<Bytes> {
    let start = &line[..line.len().min(ID_SEARCH)];
    let readable = match from_utf8(start) {
        Ok(text) => text,
        Err(error) => from_utf8(&start[..error.valid_up_to()]).expect("checked up to there"),
    };
    let mut found = None;
    // It fails at what is wrong with the line; what was found until then counts.
    let mut json = serde_json::Deserializer::from_str(readable);
    let _ = json.deserialize_map(IdFinder { found: &mut found });
    found
}

struct IdFinder<'f> {
    found: &'f mut Option<Bytes>,
}

impl<'de> Visitor<'de> for IdFinder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut seen: Option<Option<Bytes>> = None;
        while let Some(key) = map.next_key::<String>()? {
            // Only now is it certain that the value before this key was whole.
            *self.found = seen.clone().flatten();
            if key != "id" {
                map.next_value::<IgnoredAny>()?;
            } else if seen.is_some() {
                *self.found = None;
                return Ok(());
            } else {
                seen = Some(checked_id(map.next_value()?).ok());
            }
        }
        *self.found = seen.flatten();
        Ok(())
    }
}

/// A number of bytes in words.
struct Size(usize);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => write!(f, "{} MiB", bytes >> 20),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}
