//! Conditions that a document is asked about: whether one holds now, and to tell when it comes to hold.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use ostler_core::{CallError, FrameId};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::document::{Argument, Document};
use super::{CALL, Page};
use crate::meta::TaskLayer;

/// How long a document may take to hear that nobody waits for it any more.
const GIVE_UP: Duration = Duration::from_secs(1);

/// How long a document looks on without being asked again: it cannot always be told that nobody waits any more, and one
/// that waits in a native dialog least of all.
const LEASE: Duration = Duration::from_secs(5);

/// What a document is asked.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    /// `load`, `text` or `selector`.
    pub(crate) kind: &'static str,
    /// The text or the selector.
    pub(crate) wanted: &'a str,
    /// Its own name, by which it is given up.
    name: String,
}

impl<'a> Question<'a> {
    pub(crate) fn new(kind: &'static str, wanted: &'a str) -> Self {
        Self { kind, wanted, name: fresh_name() }
    }
}

/// Returns a name that nobody had before.
pub(super) fn fresh_name() -> String {
    format!("ostler-{:016x}", RandomState::new().build_hasher().finish())
}

/// What a document says of a condition now.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Holds {
    /// Whether what is wanted is no selector at all.
    pub(crate) wrong: bool,
    pub(crate) holds: bool,
}

/// A document that was asked, to be told when its answer is not needed any more.
#[derive(Clone, Debug)]
pub(crate) struct Asked(Arc<Document>);

impl<T: TaskLayer> Page<'_, T> {
    /// Finds the document that a frame shows now, in order to ask it. The top frame is the one without an id.
    pub(crate) async fn to_ask(&self, frame: Option<&FrameId>, patience: Duration) -> Result<Asked, CallError> {
        let frames = self.frames()?;
        let frame = frame.unwrap_or_else(|| frames.top());
        self.document(frame, frames.session(frame), patience).await.map(Asked)
    }

    /// Returns whether a condition holds in a document now. Pages answer this that wait in the bridge.
    pub(crate) async fn holds(&self, Asked(document): &Asked, question: &Question<'_>) -> Result<Holds, CallError> {
        let arguments = [question.kind, question.wanted].map(Argument::Value);
        document.ask(self, "holds", &arguments, CALL).await
    }

    /// Returns whether a condition came to hold in a document within `patience`.
    pub(crate) async fn comes_to_hold(
        &self,
        Asked(document): &Asked,
        question: &Question<'_>,
        patience: Duration,
    ) -> Result<bool, CallError> {
        let Question { kind, wanted, name } = question;
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let lease = u64::try_from(left.min(LEASE).as_millis()).unwrap_or(u64::MAX);
            let arguments = [json!(kind), json!(wanted), json!(lease), json!(name)].map(Argument::Value);
            // A page that is too busy to tell in time is waited for all the same, and given a little longer.
            let told: Option<bool> =
                document.ask_later(self, "waitFor", &arguments, left + Duration::from_secs(1)).await?;
            match told {
                Some(told) => return Ok(told),
                None if left <= LEASE => return Ok(false),
                None => {}
            }
        }
    }

    /// Ends a question in a document where it is still asked. One that does not take this in gives up by itself.
    pub(crate) async fn give_up(&self, Asked(document): &Asked, question: &Question<'_>) {
        let arguments = [Argument::Value(&question.name)];
        let _: Result<bool, CallError> = document.ask(self, "giveUp", &arguments, GIVE_UP).await;
    }
}
