//! What holds a page's loading up that the page itself knows nothing of: a frame in a process that does not answer.
//!
//! Frames of one site share a process across tabs, so a dialog in one tab, or a script that spins there, keeps every
//! page with a frame of that site from loading to its end.

use std::time::Duration;

use futures_util::future::join_all;
use ostler_core::{CallError, DialogId};
use serde_json::{Value, json};

use super::context::{Route, Tab};
use crate::meta::TaskLayer;

/// How long a page is waited for before its frames are asked whether they answer, and again after that.
pub(super) const ASK_AFTER: Duration = Duration::from_secs(2);
/// How long they may take.
const ANSWER: Duration = Duration::from_secs(1);

/// A frame that does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SilentFrame {
    url: String,
    /// The dialog that stops its process, where that is known.
    dialog: Option<DialogId>,
}

impl SilentFrame {
    /// Returns the first frame of the current tab with a process of its own that does not answer.
    pub(super) async fn of<T: TaskLayer>(tab: &Tab<'_, T>) -> Option<Self> {
        let (context, nothing) = (tab.context(), &json!({}));
        let view = context.view().ok()?;
        let frames = view.all_frames.as_ref().filter(|_| view.current.as_ref() == Some(&tab.target))?;
        let with_session = frames.children.iter().filter(|frame| frame.session_id.is_some());
        let asked = with_session.map(async |frame| {
            let route = Route { session: frame.session_id.clone(), timeout: Some(ANSWER), ..Route::default() };
            match context.call::<Value>("Runtime.getIsolateId", nothing, route).await {
                Err(CallError::Timeout { .. }) => Some(Self { url: frame.url.clone(), dialog: None }),
                Err(CallError::DialogOpen { dialog, .. }) => {
                    Some(Self { url: frame.url.clone(), dialog: Some(dialog.id) })
                }
                _ => None,
            }
        });
        join_all(asked).await.into_iter().flatten().next()
    }

    /// Says what the page waits for.
    pub(super) fn sentence(&self) -> String {
        // One that has no document yet has no address either.
        let frame =
            if self.url.is_empty() { "one of its frames".to_owned() } else { format!("its frame {}", self.url) };
        let why = match self.dialog {
            Some(dialog) => format!("{dialog} stops it"),
            None => "a dialog in another tab that has frames of its site stops it, or a script".to_owned(),
        };
        format!("It does not load any further before {frame} answers: {why}.")
    }
}
