//! ④ The tools: what a model may ask of a browser, declared once for the line protocol, the command line and MCP.
//!
//! Each tool is a file of its own and one line in the table below. The file holds `Args`, whose doc comment is the
//! tool's description and whose fields are its arguments, and one function, `run`. Listing, schema, dispatch and
//! the names in an error all come from that line.

mod arguments;
mod context;
mod element;
mod held_up;
mod input;
mod outcome;
mod patience;
mod place;
mod schema;
mod stopped;
mod tab_names;
mod waiting;

mod cdp;
mod click;
mod console;
mod dialog;
mod navigate;
mod press;
mod run_script;
mod screenshot;
mod scroll;
mod snapshot;
mod tabs;
mod type_text;
mod wait;

use std::sync::Arc;

use bytes::Bytes;
use ostler_core::view::{DialogView, TaskView};
use ostler_core::{CallError, TaskId, Words};
use serde_json::Value;
use serde_json::value::RawValue;

use self::context::Context;
use self::outcome::Outcome;
use crate::meta::TaskLayer;
use crate::meta::value::{bad, shown};
use crate::page::tells_of_gone_document;

/// One tool, as a door lists it.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The contract's name.
    pub(crate) name: &'static str,
    /// Which list it stands in.
    pub(crate) toolset: Toolset,
    /// Whether it is listed only while a CDP endpoint is reachable.
    pub(crate) needs_cdp: bool,
    describe: fn() -> schema::Described,
}

/// Which list a tool stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toolset {
    /// Offered to everybody.
    Core,
    /// Runs code on this machine: offered only where the user asked for it.
    Scripts,
}

impl Tool {
    /// Returns what the tool does, for the model that chooses one.
    pub(crate) fn description(&self) -> String {
        (self.describe)().description
    }

    /// Returns the JSON schema of its arguments, with nothing in it that a model does not need.
    pub(crate) fn schema(&self) -> Value {
        (self.describe)().schema
    }
}

/// Declares the tools: `name: module, toolset;`, with `needs_cdp` behind those that make no sense without an endpoint.
macro_rules! tools {
    ($($name:ident: $module:ident, $toolset:ident $(, $needs_cdp:ident)?;)*) => {
        /// All tools, in the order in which they are listed.
        pub(crate) const TABLE: &[Tool] = &[$(Tool {
            name: stringify!($name),
            toolset: Toolset::$toolset,
            needs_cdp: !<[&str]>::is_empty(&[$(stringify!($needs_cdp))?]),
            describe: schema::of::<$module::Args>,
        }),*];

        async fn dispatch<T: TaskLayer>(
            name: &str,
            context: &Context<'_, T>,
            args: Option<&RawValue>,
        ) -> Result<Outcome, CallError> {
            match name {
                $(stringify!($name) => $module::run(context, arguments::read(stringify!($name), args)?).await,)*
                unknown => Err(unknown_tool(unknown)),
            }
        }
    };
}

tools! {
    browser_navigate: navigate, Core;
    browser_snapshot: snapshot, Core;
    browser_click: click, Core;
    browser_type: type_text, Core;
    browser_press: press, Core;
    browser_scroll: scroll, Core;
    browser_screenshot: screenshot, Core;
    browser_tabs: tabs, Core;
    browser_wait: wait, Core;
    browser_console: console, Core;
    browser_dialog: dialog, Core, needs_cdp;
    browser_cdp: cdp, Core, needs_cdp;
    browser_run: run_script, Scripts;
}

/// What could not be done, by a tool with the dialogs that are open: they may be why.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Why.
    pub(crate) error: CallError,
    /// What is open in the task.
    pub(crate) open: Arc<[Arc<DialogView>]>,
    /// Whose steps its sentence names.
    pub(crate) words: Words,
}

impl Failure {
    /// Returns what is no tool's failure, and says nothing of dialogs.
    pub(crate) fn of(error: CallError, words: Words) -> Self {
        Self { error, open: Arc::default(), words }
    }

    /// Returns the one sentence of the contract's `error`, the open dialogs included.
    pub(crate) fn sentence(&self) -> String {
        let is_told = |dialog: &DialogView| match &self.error {
            CallError::DialogOpen { dialog: told, .. } => told.id == dialog.id,
            _ => false,
        };
        let others = self.open.iter().filter(|dialog| !is_told(dialog));
        others.fold(self.error.sentence(self.words), |told, dialog| {
            format!("{}. {}", told.trim_end_matches('.'), outcome::dialog_line(dialog, self.words))
        })
    }
}

/// Runs a tool to its end and returns its result as JSON: `{"text", "data"}`, `image` where it made one, and `failed`
/// where what it ran failed. Ways out are named in `words`.
/// Dropping the future gives up what it waits for.
pub(crate) async fn run<T: TaskLayer>(
    tasks: &T,
    task: &TaskId,
    name: &str,
    args: Option<&RawValue>,
    words: Words,
) -> Result<Bytes, Failure> {
    let before = tasks.view(task);
    let context = Context::new(tasks, task, words);
    let outcome = tokio::select! {
        outcome = dispatch(name, &context, args) => outcome,
        // A script is told by its own calls.
        error = stopped::is_silent(&context, name), if name != "browser_run" => Err(error),
    };
    let after = tasks.view(task);
    let open = after.as_deref().map_or_else(|_| Arc::default(), open_dialogs);
    match outcome {
        Ok(outcome) => Ok(outcome.to_json(&open, words).into()),
        Err(error) => {
            let views: Vec<_> = [before, after].into_iter().flatten().collect();
            Err(Failure { error: in_words_of_tools(error, name, &views), open, words })
        }
    }
}

/// Gives things the names that the one who used a tool knows: the tool's own in place of what it called, and a tab's in
/// place of its target. A tab that is gone by now was there `before`.
fn in_words_of_tools(error: CallError, tool: &str, views: &[Arc<TaskView>]) -> CallError {
    let name = |what: String| {
        let target = what.strip_prefix("tab ").unwrap_or(&what);
        let mut tabs = views.iter().flat_map(|view| view.tabs.iter());
        let tab = tabs.find(|tab| tab.target_id.as_str() == target);
        tab.map(|tab| format!("tab {}", tab_names::name(tab))).unwrap_or(what)
    };
    match error {
        CallError::SessionGone { what } => CallError::SessionGone { what: name(what) },
        CallError::TargetCrashed { what } => CallError::TargetCrashed { what: name(what) },
        // Chromium's words for a document that went away under the tool, which say nothing to who used it.
        CallError::Cdp { ref message, .. } if tool != "browser_cdp" && tells_of_another_document(message) => {
            CallError::UnknownOutcome { method: tool.to_owned(), why: "the page navigated or closed" }
        }
        // Whoever gave the method knows it.
        CallError::Timeout { timeout_ms, hint, .. } if tool != "browser_cdp" => {
            CallError::Timeout { method: tool.to_owned(), timeout_ms, hint }
        }
        error => error,
    }
}

fn tells_of_another_document(message: &str) -> bool {
    tells_of_gone_document(message) || message.contains("Not attached to an active page")
}

/// Returns the dialogs that somebody has to answer.
fn open_dialogs(view: &TaskView) -> Arc<[Arc<DialogView>]> {
    let (pending, answered) = (&view.pending_dialogs, &view.answered_by_policy);
    match answered.is_empty() {
        true => Arc::clone(pending),
        false => pending.iter().filter(|dialog| !answered.contains(&dialog.id)).cloned().collect(),
    }
}

fn unknown_tool(name: &str) -> CallError {
    let known: Vec<_> = TABLE.iter().map(|tool| tool.name).collect();
    bad("name", format!("{:?} is no tool; the tools are: {}", shown(name), known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_tools_cost_a_model_at_most_six_kilobytes() {
        let listed = TABLE.iter().filter(|tool| tool.toolset == Toolset::Core).map(|tool| {
            serde_json::json!({"name": tool.name, "description": tool.description(), "inputSchema": tool.schema()})
        });
        let listed = serde_json::json!({ "tools": listed.collect::<Vec<_>>() }).to_string();
        assert!(listed.len() <= 6 * 1024, "{} bytes: {listed}", listed.len());
    }

    #[test]
    fn every_tool_says_in_one_paragraph_what_it_does_and_every_argument_what_it_means() {
        for tool in TABLE {
            let description = tool.description();
            assert!(!description.is_empty() && !description.contains('\n'), "{}: {description:?}", tool.name);
            let schema = tool.schema();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            for (argument, of) in schema["properties"].as_object().expect("every tool has arguments") {
                let says = of["description"].as_str().is_some_and(|text| !text.is_empty());
                // A few names say it all.
                assert!(says || ["url", "text"].contains(&argument.as_str()), "{} {argument}: {of}", tool.name);
            }
        }
    }

    /// What an argument takes, in the words of the document.
    fn takes(schema: &Value) -> String {
        let list = |choices: &Vec<Value>| {
            let choices: Vec<_> = choices.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
            choices.join(", ")
        };
        match (schema["enum"].as_array(), schema["type"].as_str().unwrap_or_default()) {
            (Some(choices), _) => list(choices),
            (None, "array") => match schema["items"]["enum"].as_array() {
                Some(choices) => format!("list of {}", list(choices)),
                None => "list of strings".to_owned(),
            },
            (None, "boolean") => "true or false".to_owned(),
            (None, "integer") => "whole number".to_owned(),
            (None, other) => other.to_owned(),
        }
    }

    #[test]
    fn the_document_of_the_tools_has_their_arguments_as_they_are() {
        let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md"));
        let document = document.expect("the document");
        for tool in TABLE {
            let (schema, name) = (tool.schema(), tool.name);
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let mut section =
                format!("\n## `{name}`\n\n{}\n\n| argument | takes | |\n| --- | --- | --- |\n", tool.description());
            for (argument, of) in schema["properties"].as_object().expect("every tool has arguments") {
                let must = if required.iter().any(|one| one == argument) { ", required" } else { "" };
                let says = of["description"].as_str().unwrap_or_default();
                section.push_str(&format!("| `{argument}` | {}{must} | {says} |\n", takes(of)));
            }
            assert!(document.contains(&section), "docs/tools.md should have:\n{section}");
        }
    }
}
