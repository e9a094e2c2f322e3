//! `ostler tool`: lists the tools, and runs one from the shell as an MCP host does.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::context::{Context, print_line};
use super::failure::Failure;
use super::{reply, text};
use crate::exit_code::Exit;
use crate::times::CALL_LONGEST;
use crate::tools::{TABLE, Tool as Described, Toolset};

/// Runs a browser tool, or lists them all.
///
///     ostler tool
///     ostler tool browser_navigate '{"url": "https://example.com"}'
///
/// These are the tools that an MCP host offers to a model.
#[derive(Args, Debug)]
#[command(name = "tool", verbatim_doc_comment)]
pub(super) struct Tool {
    /// Which one, such as browser_click; `browser_` may be left out
    name: Option<String>,

    /// Its arguments as a JSON object: the text itself, @FILE, or - for standard input
    #[arg(value_name = "JSON")]
    args: Option<String>,
}

/// The `tool` request.
#[derive(Serialize)]
struct Request<'a> {
    meta: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
}

/// Its reply, as far as a person reads it.
#[derive(Deserialize)]
struct Ran {
    result: Shown,
}

#[derive(Deserialize)]
struct Shown {
    text: String,
    #[serde(default)]
    failed: bool,
}

impl Tool {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let Some(name) = self.name else { return list(context) };
        let args = self.args.as_deref().map(text::json_argument).transpose()?;
        run_named(context, &full_name(&name), args.as_deref())
    }
}

/// Runs one tool and prints what a model would read of it.
pub(super) fn run_named(context: &Context, name: &str, args: Option<&RawValue>) -> Result<Exit, Failure> {
    let request = Request { meta: "tool", name, args, task: context.task.as_deref() };
    // Each tool has limits of its own.
    let reply = context.ask(&mut context.connect()?, &request, CALL_LONGEST)?;
    let Ran { result } = reply::read(&reply)?;
    context.print_text(&reply, &result.text)?;
    Ok(if result.failed { Exit::WorkFailed } else { Exit::Success })
}

fn full_name(given: &str) -> String {
    let long = format!("browser_{given}");
    if TABLE.iter().any(|tool| tool.name == long) { long } else { given.to_owned() }
}

fn list(context: &Context) -> Result<Exit, Failure> {
    if context.json {
        let listed: Vec<_> = TABLE.iter().map(listed).collect();
        print_line(&json!({ "tools": listed }).to_string())?;
        return Ok(Exit::Success);
    }
    for tool in TABLE {
        print_line(&format!("{:<20} {}", tool.name, tool.description()))?;
    }
    Ok(Exit::Success)
}

fn listed(tool: &Described) -> serde_json::Value {
    json!({
        "name": tool.name,
        "description": tool.description(),
        "inputSchema": tool.schema(),
        "toolset": match tool.toolset {
            Toolset::Core => "core",
            Toolset::Scripts => "scripts",
        },
        "needs_cdp": tool.needs_cdp,
    })
}
