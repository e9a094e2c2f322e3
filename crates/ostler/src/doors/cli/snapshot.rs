//! `ostler snapshot`: the page as an outline, which a person reads as well as a model does.

use clap::Args;
use serde::Serialize;
use serde_json::value::to_raw_value;

use super::context::Context;
use super::failure::Failure;
use super::tool;
use crate::exit_code::Exit;

/// Prints the page as an outline: what is there, its state, and refs to act on
///
///     ostler snapshot
///     ostler snapshot --ref e12
///     ostler tool click '{"ref": "e12"}'
///
/// It is the tool browser_snapshot.
#[derive(Args, Debug, Serialize)]
#[command(name = "snapshot", verbatim_doc_comment)]
pub(super) struct Snapshot {
    /// Only the element of this ref, in full, or what follows where an outline was cut
    #[arg(long = "ref", value_name = "REF")]
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,

    /// Only this frame
    #[arg(long, value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_id: Option<String>,

    /// The most characters to print [default: 20000]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_chars: Option<usize>,

    /// Only what changed since this snapshot, such as s3
    #[arg(long, value_name = "SNAPSHOT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
}

impl Snapshot {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let args = to_raw_value(&self).expect("texts and a number serialize");
        tool::run_named(context, "browser_snapshot", Some(&args))
    }
}
