//! `dialog`: answers an open dialog.

use bytes::Bytes;
use ostler_core::CallError;
use ostler_core::view::ClosedDialogView;
use serde::Serialize;
use serde_json::value::RawValue;

use super::value::bad;
use super::{Answer, Fields, TaskLayer, reply};
use crate::tasks::DialogAnswer;

#[derive(Serialize)]
struct Answered {
    ok: bool,
    dialog: ClosedDialogView,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let task = fields.task()?;
    let accept = match &*fields.required_text("action")? {
        "accept" => true,
        "dismiss" => false,
        _ => return Err(bad("action", "must be \"accept\" or \"dismiss\"")),
    };
    let prompt_text = fields.raw("prompt_text").map(prompt_text).transpose()?;
    let dialog_id = fields.text("dialog_id")?.map(|id| id.into_owned());
    let dialog = tasks.answer_dialog(&task, DialogAnswer { accept, prompt_text, dialog_id }).await?;
    Ok(reply(&Answered { ok: true, dialog }))
}

/// Returns the text as the raw string literal it came as: it may be empty, and it may hold lone
/// surrogates, which a page can receive and Rust text cannot hold.
fn prompt_text(raw: &RawValue) -> Result<Bytes, CallError> {
    if raw.get().starts_with('"') {
        Ok(Bytes::copy_from_slice(raw.get().as_bytes()))
    } else {
        Err(bad("prompt_text", "must be a string"))
    }
}
