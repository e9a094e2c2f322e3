//! `browser_dialog`: answers an open dialog.

use ostler_core::CallError;
use ostler_core::view::ClosedDialogView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::arguments::named;
use super::context::Context;
use super::outcome::Outcome;
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::tasks::DialogAnswer;

/// Answers the open alert, confirm, prompt or beforeunload dialog.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// OK or Cancel.
    action: Action,
    /// What to type into a prompt; default: the text it offers.
    #[schemars(with = "Option<String>")]
    prompt_text: Option<Box<RawValue>>,
    /// Which one, when several are open.
    dialog_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Dismiss,
}

#[derive(Serialize)]
struct Data {
    dialog: ClosedDialogView,
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let Args { action, prompt_text, dialog_id } = args;
    let dialog_id = named("dialog_id", dialog_id)?;
    let accept = matches!(action, Action::Accept);
    // Raw, because a page can be given halves of surrogate pairs, which no text holds.
    let prompt_text = prompt_text.filter(|raw| raw.get() != "null");
    if prompt_text.as_ref().is_some_and(|raw| !raw.get().starts_with('"')) {
        return Err(bad("prompt_text", "must be a string"));
    }
    let prompt_text = prompt_text.map(|raw| raw.get().as_bytes().to_vec().into());
    let dialog = context.tasks.answer_dialog(context.task, DialogAnswer { accept, prompt_text, dialog_id }).await?;
    let done = if accept { "Accepted" } else { "Dismissed" };
    Ok(Outcome::new(format!("{done} the {} {}.", dialog.kind.as_str(), dialog.id), &Data { dialog }))
}
