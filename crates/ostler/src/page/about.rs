//! What the tab's own document says of itself, in the words of the walker: the page has no say in them.

use std::time::Duration;

use ostler_core::cdp::text::LossyText;
use ostler_core::{CallError, SessionId};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::document::{Argument, Document, is_gone};
use super::{CALL, Page};
use crate::meta::TaskLayer;

/// What it says.
#[derive(Debug, Deserialize)]
pub(crate) struct About {
    pub(crate) url: LossyText,
    pub(crate) title: LossyText,
    /// HTTP's, of an error page too; 0 if there was none.
    pub(crate) status: u16,
    /// Pixels of the screen for each CSS pixel.
    pub(crate) ratio: f64,
    /// The size of the window.
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// An element that the browser holds for us.
#[derive(Debug)]
pub(crate) struct Held {
    /// The session of its document's process.
    pub(crate) session: SessionId,
    /// A remote object's handle of it, in that session.
    pub(crate) object: String,
}

impl<T: TaskLayer> Page<'_, T> {
    /// Returns what the document says of itself. It gets `patience` to say that it is there at all.
    pub(crate) async fn about(&self, patience: Duration) -> Result<About, CallError> {
        self.ask_top("about", patience).await
    }

    /// Returns when what the page does at once is done.
    pub(crate) async fn turn(&self, patience: Duration) -> Result<(), CallError> {
        let top = self.top(patience).await?;
        let nothing: [Argument<'_, ()>; 0] = [];
        top.ask_later::<_, _, bool>(self, "turn", &nothing, patience).await.map(drop)
    }

    /// Returns the element that has the keyboard, in shadow trees and frames of the same process too.
    pub(crate) async fn focused(&self) -> Result<Option<Held>, CallError> {
        let top = self.top(CALL).await?;
        let nothing: [Argument<'_, ()>; 0] = [];
        let held = top.handle(self, "focused", &nothing, CALL).await?;
        Ok(held.map(|object| Held { session: top.session.clone(), object }))
    }

    /// Returns the walker of the tab's own document.
    pub(super) async fn top(&self, patience: Duration) -> Result<std::sync::Arc<Document>, CallError> {
        let frames = self.frames()?;
        self.document(frames.top(), frames.session(frames.top()), patience).await
    }

    async fn ask_top<R: DeserializeOwned>(&self, function: &str, patience: Duration) -> Result<R, CallError> {
        let nothing: [Argument<'_, ()>; 0] = [];
        let asked = async || self.top(patience).await?.ask(self, function, &nothing, patience).await;
        match asked().await {
            // The page went somewhere else meanwhile: the one that is there now is what is asked for.
            Err(error) if is_gone(&error) => asked().await,
            outcome => outcome,
        }
    }
}
