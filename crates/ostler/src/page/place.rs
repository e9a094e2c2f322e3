//! What is at a place of the tab's window, in the words of the walker: the page itself has no say in them.

use ostler_core::CallError;
use ostler_core::cdp::text::LossyText;
use serde::Deserialize;

use super::document::{Argument, is_gone};
use super::geometry::Point;
use super::{CALL, Page};
use crate::meta::TaskLayer;

/// What is at a place.
#[derive(Debug, Deserialize)]
pub(crate) struct There {
    /// The element in words, such as `<button> "Save"`; none outside of the window.
    pub(crate) what: Option<LossyText>,
    /// The size of the window.
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl<T: TaskLayer> Page<'_, T> {
    /// Returns what is at a place of the tab's window.
    pub(crate) async fn what_is_at(&self, x: f64, y: f64) -> Result<There, CallError> {
        match self.ask_what_is_at(Point { x, y }).await {
            // The page went somewhere else meanwhile: what is asked for is in the one that is there now.
            Err(error) if is_gone(&error) => self.ask_what_is_at(Point { x, y }).await,
            outcome => outcome,
        }
    }

    async fn ask_what_is_at(&self, point: Point) -> Result<There, CallError> {
        let frames = self.frames()?;
        let document = self.document(frames.top(), frames.session(frames.top()), CALL).await?;
        document.ask(self, "whatIsAt", &[Argument::Value(point)], CALL).await
    }
}
