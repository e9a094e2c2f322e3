//! `ostler js`: one expression in the page, its value on standard output.

use clap::Args;
use serde::Serialize;
use serde_json::value::to_raw_value;

use super::context::{Context, print_data};
use super::failure::Failure;
use super::passthrough::Aim;
use super::reply;
use crate::evaluated::Evaluated;
use crate::exit_code::Exit;

/// Evaluates a JavaScript expression in the page and prints its value
///
///     ostler js document.title
///     ostler js 'fetch("/api").then(r => r.json())'
///
/// A promise is awaited. Strings are printed bare, everything else as JSON; an exception goes
/// to standard error and the command exits with 1. With --json it prints the whole answer of
/// Runtime.evaluate.
#[derive(Args, Debug)]
#[command(name = "js", verbatim_doc_comment)]
pub(super) struct Js {
    /// The expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: String,

    #[command(flatten)]
    aim: Aim,
}

/// The parameters of `Runtime.evaluate`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Evaluate<'a> {
    expression: &'a str,
    await_promise: bool,
    return_by_value: bool,
}

impl Js {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let evaluate = Evaluate { expression: &self.expression, await_promise: true, return_by_value: true };
        let params = to_raw_value(&evaluate).expect("plain data with text keys serializes");
        let reply = self.aim.call(context, "Runtime.evaluate", &params)?;
        let answer = reply::result(&reply)?;
        let evaluated: Evaluated =
            serde_json::from_str(answer.get()).map_err(|error| Failure::Nonsense(error.to_string()))?;
        match evaluated.outcome() {
            Err(thrown) => return Err(Failure::Thrown { text: thrown.words(), answer: answer.get().into() }),
            Ok(_) if context.json => print_data(answer.get().as_bytes())?,
            Ok(value) => print_data(value.words().as_bytes())?,
        }
        Ok(Exit::Success)
    }
}
