//! What holds a page up that the page itself knows nothing of: a process that does not answer.
//!
//! Pages that opened each other share a process, and frames of one site do so across tabs. A dialog in one tab, or a
//! script that spins there, so keeps other pages from being left or from loading to their end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use ostler_core::view::DialogView;
use ostler_core::{CallError, DialogId, SessionId};
use serde_json::{Value, json};

use super::context::{Context, Route, Tab};
use crate::meta::TaskLayer;

/// How long a page is waited for before it is asked what holds it up, and again after that.
pub(super) const ASK_AFTER: Duration = Duration::from_secs(2);
/// How long the answer may take.
const ANSWER: Duration = Duration::from_secs(1);

/// What a page waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeldUp {
    /// This dialog, which stops the page's own process.
    ByDialog(DialogId),
    /// A frame whose process does not answer: its address, and the dialog that stops it, where that is known.
    ByFrame { url: String, dialog: Option<DialogId> },
}

impl HeldUp {
    /// Returns what holds the current tab up: the first thing that is found.
    pub(super) async fn of<T: TaskLayer>(tab: &Tab<'_, T>) -> Option<Self> {
        if let Some(dialog) = dialog_of_process(tab).await {
            return Some(Self::ByDialog(dialog.id));
        }
        let context = tab.context();
        let asked = tab.frames_apart().into_iter().map(async |(url, session)| {
            let dialog = match ask(context, session).await {
                Err(CallError::Timeout { .. }) => None,
                Err(CallError::DialogOpen { dialog, .. }) => Some(dialog.id),
                _ => return None,
            };
            Some(Self::ByFrame { url, dialog })
        });
        join_all(asked).await.into_iter().flatten().next()
    }

    /// Says what the page waits for.
    pub(super) fn sentence(&self) -> String {
        let (frame, dialog) = match self {
            Self::ByDialog(dialog) => {
                return format!("It does not load any further before {dialog} is answered, which stops its process.");
            }
            // One that has no document yet has no address either.
            Self::ByFrame { url, dialog } if url.is_empty() => ("one of its frames".to_owned(), dialog),
            Self::ByFrame { url, dialog } => (format!("its frame {url}"), dialog),
        };
        let why = match dialog {
            Some(dialog) => format!("{dialog} stops it"),
            None => "a dialog in another tab that has frames of its site stops it, or a script".to_owned(),
        };
        format!("It does not load any further before {frame} answers: {why}.")
    }
}

/// Returns the dialog that stops a tab's process, whichever tab it is of.
pub(super) async fn dialog_of_process<T: TaskLayer>(tab: &Tab<'_, T>) -> Option<Arc<DialogView>> {
    match ask(tab.context(), tab.session.clone()).await {
        Err(CallError::DialogOpen { dialog, .. }) => Some(dialog),
        _ => None,
    }
}

/// Asks for what also a page that waits in a question of the bridge does not answer: only a promise is held up there.
async fn ask<T: TaskLayer>(context: &Context<'_, T>, session: SessionId) -> Result<Value, CallError> {
    let route = Route { session: Some(session), timeout: Some(ANSWER), ..Route::default() };
    context.call("Runtime.evaluate", &json!({"expression": "0", "awaitPromise": true}), route).await
}
