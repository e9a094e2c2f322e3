//! `pending_dialog`: the current tab's oldest open dialog, in Chromium's own words.

use super::{Answer, Fields, Outcome, TaskLayer};

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let view = tasks.view(&fields.task()?)?;
    let dialog: &[u8] = view.current_dialog_params.as_deref().unwrap_or(b"null");
    Ok(Outcome::Reply([br#"{"dialog":"#, dialog, b"}"].concat().into()))
}
