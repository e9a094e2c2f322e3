//! A page's errors and exceptions: the newest ones, cut to a bounded size.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cdp::objects;
use crate::cdp::text::{LossyText, cut};
use crate::ids::FrameId;
use crate::view::{ConsoleEntry, MAX_CONSOLE};

/// The longest text that is kept of one entry, in bytes.
const MAX_TEXT: usize = 2000;
/// The longest address that is kept of one entry, in bytes.
const MAX_URL: usize = 500;

/// The newest errors of a task.
#[derive(Debug, Default)]
pub(crate) struct Console {
    entries: VecDeque<ConsoleEntry>,
    /// The number of the newest entry.
    last_seq: u64,
}

impl Console {
    pub(crate) fn push(&mut self, mut entry: ConsoleEntry) {
        self.last_seq += 1;
        entry.seq = self.last_seq;
        if self.entries.len() == MAX_CONSOLE {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &ConsoleEntry> {
        self.entries.iter()
    }
}

/// Finds the frame of a script context by its per-session number.
pub(crate) trait FrameOfContext {
    /// Returns the frame whose main world has this `executionContextId`.
    fn frame_of(&self, context: i64) -> Option<FrameId>;
}

/// Reads `Runtime.consoleAPICalled`; `None` unless it is an error.
pub(crate) fn read_console_call(params: &str, frames: &dyn FrameOfContext) -> Option<ConsoleEntry> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Call<'a> {
        #[serde(rename = "type")]
        kind: &'a str,
        #[serde(borrow, default)]
        args: Option<&'a RawValue>,
        #[serde(default)]
        execution_context_id: i64,
        timestamp: f64,
        #[serde(borrow)]
        stack_trace: Option<&'a RawValue>,
    }
    // Pages log far more than they fail, and Chromium writes the kind first: most calls are known by that alone.
    if params.strip_prefix(r#"{"type":""#).is_some_and(|kind| !kind.starts_with(['e', 'a'])) {
        return None;
    }
    let call: Call<'_> = objects::read(params)?;
    if !matches!(call.kind, "error" | "assert") {
        return None;
    }
    let args: Vec<RemoteValue<'_>> = call.args.and_then(|raw| objects::read(raw.get())).unwrap_or_default();
    let mut text = String::new();
    for arg in &args {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&arg.as_text());
        if text.len() > MAX_TEXT {
            break;
        }
    }
    let (url, line) = first_call_frame(call.stack_trace);
    Some(entry(call.timestamp, "error", &text, &url, line, frames.frame_of(call.execution_context_id)))
}

/// Reads `Runtime.exceptionThrown`.
pub(crate) fn read_exception(params: &str, frames: &dyn FrameOfContext) -> Option<ConsoleEntry> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Thrown<'a> {
        timestamp: f64,
        #[serde(borrow)]
        exception_details: Details<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Details<'a> {
        #[serde(default)]
        text: LossyText,
        #[serde(default)]
        line_number: i64,
        #[serde(default)]
        url: Option<LossyText>,
        #[serde(borrow)]
        exception: Option<RemoteValue<'a>>,
        #[serde(borrow)]
        stack_trace: Option<&'a RawValue>,
        #[serde(default)]
        execution_context_id: i64,
    }
    let thrown: Thrown<'_> = objects::read(params)?;
    let details = thrown.exception_details;
    let text = match &details.exception {
        Some(exception) => format!("{} {}", details.text.0, exception.as_text()),
        None => details.text.0,
    };
    let (url, line) = match details.url {
        Some(url) => (url.0, u64::try_from(details.line_number.saturating_add(1)).unwrap_or(0)),
        None => first_call_frame(details.stack_trace),
    };
    Some(entry(thrown.timestamp, "exception", &text, &url, line, frames.frame_of(details.execution_context_id)))
}

/// Reads `Log.entryAdded`; `None` unless it is an error.
pub(crate) fn read_log_entry(params: &str) -> Option<ConsoleEntry> {
    #[derive(Deserialize)]
    struct Added<'a> {
        #[serde(borrow)]
        entry: Entry<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Entry<'a> {
        level: &'a str,
        text: LossyText,
        timestamp: f64,
        #[serde(default)]
        url: LossyText,
        #[serde(default)]
        line_number: Option<i64>,
    }
    let Entry { level, text, timestamp, url, line_number } = objects::read::<Added<'_>>(params)?.entry;
    let line = line_number.and_then(|line| u64::try_from(line.saturating_add(1)).ok()).unwrap_or(0);
    (level == "error").then(|| entry(timestamp, "error", &text.0, &url.0, line, None))
}

/// `timestamp` is in milliseconds since the Unix epoch, as Chromium gives it in all three events.
fn entry(
    timestamp: f64,
    level: &'static str,
    text: &str,
    url: &str,
    line: u64,
    frame_id: Option<FrameId>,
) -> ConsoleEntry {
    ConsoleEntry {
        // Its place among the others is known when it is added to them.
        seq: 0,
        ts: timestamp / 1000.0,
        level,
        text: cut(text, MAX_TEXT).to_owned(),
        url: cut(url, MAX_URL).to_owned(),
        line,
        frame_id,
    }
}

/// What is read of a `Runtime.RemoteObject`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemoteValue<'a> {
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(default)]
    description: Option<LossyText>,
    #[serde(default)]
    unserializable_value: Option<LossyText>,
}

impl RemoteValue<'_> {
    fn as_text(&self) -> String {
        if let Some(text) = self.value.and_then(|raw| crate::cdp::text::decode(raw.get())) {
            return text;
        }
        let described = self.description.as_ref().or(self.unserializable_value.as_ref());
        match (described, self.value) {
            (Some(text), _) => text.0.clone(),
            (None, Some(raw)) => raw.get().to_owned(),
            (None, None) => "undefined".to_owned(),
        }
    }
}

/// Returns where the topmost call frame of a stack is: its address, and its line counted from 1.
fn first_call_frame(stack: Option<&RawValue>) -> (String, u64) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Stack {
        call_frames: Vec<CallFrame>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct CallFrame {
        url: LossyText,
        line_number: i64,
    }
    let stack: Option<Stack> = stack.and_then(|raw| objects::read(raw.get()));
    match stack.and_then(|stack| stack.call_frames.into_iter().next()) {
        Some(frame) => (frame.url.0, u64::try_from(frame.line_number.saturating_add(1)).unwrap_or(0)),
        None => (String::new(), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoFrames;
    impl FrameOfContext for NoFrames {
        fn frame_of(&self, _: i64) -> Option<FrameId> {
            None
        }
    }

    #[test]
    fn an_error_call_becomes_one_line_and_other_calls_nothing() {
        let call = |kind: &str| {
            format!(
                r#"{{"type":"{kind}","args":[{{"type":"string","value":"a\ud800"}},{{"type":"number","value":3,"description":"3"}},{{"type":"undefined"}}],
                "executionContextId":1,"timestamp":1500,"stackTrace":{{"callFrames":[{{"url":"http://a/x.js","lineNumber":4}}]}}}}"#
            )
        };
        let entry = read_console_call(&call("error"), &NoFrames).expect("an error");
        assert_eq!(
            (entry.ts, entry.text.as_str(), entry.url.as_str(), entry.line),
            (1.5, "a\u{fffd} 3 undefined", "http://a/x.js", 5)
        );
        assert!(read_console_call(&call("log"), &NoFrames).is_none());
    }

    #[test]
    fn an_exception_tells_what_was_thrown_and_where() {
        let params = r#"{"timestamp":2000,"exceptionDetails":{"text":"Uncaught","lineNumber":9,"url":"http://a/","exception":{"type":"object","description":"Error: boom\n at x"}}}"#;
        let entry = read_exception(params, &NoFrames).expect("an exception");
        assert_eq!((entry.level, entry.text.as_str(), entry.line), ("exception", "Uncaught Error: boom\n at x", 10));
    }

    #[test]
    fn a_line_number_beyond_all_bounds_is_kept_within_them() {
        let number = i64::MAX;
        let params = format!(
            r#"{{"timestamp":2000,"exceptionDetails":{{"text":"Uncaught","lineNumber":{number},"url":"http://a/"}}}}"#
        );
        let entry = read_exception(&params, &NoFrames).expect("an exception");
        assert_eq!(entry.line, number.unsigned_abs());
    }

    #[test]
    fn the_ring_keeps_the_newest() {
        let mut console = Console::default();
        for i in 0..MAX_CONSOLE + 5 {
            console.push(entry(i as f64, "error", "x", "", 0, None));
        }
        assert_eq!(console.entries().count(), MAX_CONSOLE);
        assert_eq!(console.entries().next().map(|entry| (entry.ts, entry.seq)), Some((0.005, 6)));
        console.clear();
        console.push(entry(1.0, "error", "x", "", 0, None));
        let next = MAX_CONSOLE as u64 + 6;
        assert_eq!(console.entries().next().map(|entry| entry.seq), Some(next), "a number is never used again");
    }
}
