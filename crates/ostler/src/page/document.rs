//! One document of a page, and the walker that lives in an isolated world of it.
//!
//! The walker is held by a remote object's handle. The handle dies with the document, so whatever is asked of an old
//! document fails in the browser itself: a number can never mean an element of another document.

use std::sync::Arc;
use std::time::Duration;

use ostler_core::{CallError, FrameId, SessionId, TargetId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{CALL, Page, unknown_answer, walker};
use crate::evaluated::{Evaluated, Remote};
use crate::meta::TaskLayer;

/// The isolated world's name; a page cannot see it.
const WORLD: &str = "ostler";

/// One document's walker.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) tab: TargetId,
    pub(super) session: SessionId,
    pub(super) frame: FrameId,
    /// The isolated world, for other objects that are to be handed to the walker.
    context: u64,
    walker: String,
}

/// An argument of a walker's function.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Argument<'a, V> {
    Value(V),
    ObjectId(&'a str),
}

/// What a function of the walker is called for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    /// The value that it returns.
    Value,
    /// The value of the promise that it returns.
    Promised,
    /// A handle of the object that it returns.
    Handle,
}

impl Document {
    #[cfg(test)]
    pub(super) fn named(frame: &str) -> Arc<Self> {
        let (tab, session) = (TargetId::from(frame), SessionId::from("S"));
        Arc::new(Self { tab, session, frame: FrameId::from(frame), context: 1, walker: "W".to_owned() })
    }

    /// Puts a walker into the document that a frame shows now.
    async fn open<T: TaskLayer>(
        page: &Page<'_, T>,
        session: &SessionId,
        frame: &FrameId,
        patience: Duration,
    ) -> Result<Self, CallError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct World {
            execution_context_id: u64,
        }
        let params = json!({"frameId": frame, "worldName": WORLD});
        let world: World = page.call(session, "Page.createIsolatedWorld", &params, patience).await?;
        let context = world.execution_context_id;
        let params = json!({"expression": *walker::EXPRESSION, "contextId": context});
        let evaluated: Evaluated = page.call(session, "Runtime.evaluate", &params, CALL).await?;
        let walker = handle("Runtime.evaluate", outcome("Runtime.evaluate", evaluated)?)?;
        Ok(Self { tab: page.target.clone(), session: session.clone(), frame: frame.clone(), context, walker })
    }

    /// Calls one of the walker's functions and returns its value.
    pub(super) async fn ask<T: TaskLayer, V: Serialize, R: DeserializeOwned>(
        &self,
        page: &Page<'_, T>,
        function: &str,
        arguments: &[Argument<'_, V>],
        patience: Duration,
    ) -> Result<R, CallError> {
        let value = self.invoke(page, function, arguments, Wanted::Value, patience).await?;
        value.read().map_err(|error| unknown_answer(function, &error.to_string()))
    }

    /// The same for a function that returns a promise: waits for what that comes to. A page that waits in the bridge
    /// keeps no promise, and does answer what [`Document::ask`] asks (fact B5).
    pub(super) async fn ask_later<T: TaskLayer, V: Serialize, R: DeserializeOwned>(
        &self,
        page: &Page<'_, T>,
        function: &str,
        arguments: &[Argument<'_, V>],
        patience: Duration,
    ) -> Result<R, CallError> {
        let value = self.invoke(page, function, arguments, Wanted::Promised, patience).await?;
        value.read().map_err(|error| unknown_answer(function, &error.to_string()))
    }

    /// Calls one of the walker's functions and returns a handle of what it returns; `None` if that is no object.
    pub(super) async fn handle<T: TaskLayer, V: Serialize>(
        &self,
        page: &Page<'_, T>,
        function: &str,
        arguments: &[Argument<'_, V>],
        patience: Duration,
    ) -> Result<Option<String>, CallError> {
        Ok(self.invoke(page, function, arguments, Wanted::Handle, patience).await?.handle())
    }

    /// Returns a handle of the element that has a number; `None` if it is gone.
    pub(super) async fn element<T: TaskLayer>(
        &self,
        page: &Page<'_, T>,
        number: u64,
    ) -> Result<Option<String>, CallError> {
        self.handle(page, "element", &[Argument::Value(number)], CALL).await
    }

    async fn invoke<T: TaskLayer, V: Serialize>(
        &self,
        page: &Page<'_, T>,
        function: &str,
        arguments: &[Argument<'_, V>],
        wanted: Wanted,
        patience: Duration,
    ) -> Result<Remote, CallError> {
        let params = json!({
            "objectId": self.walker,
            "functionDeclaration": format!("function (...given) {{ return this.{function}(...given); }}"),
            "arguments": arguments,
            "returnByValue": wanted != Wanted::Handle,
            "awaitPromise": wanted == Wanted::Promised,
        });
        let evaluated: Evaluated = page.call(&self.session, "Runtime.callFunctionOn", &params, patience).await?;
        outcome(function, evaluated)
    }

    /// Returns a handle, in the walker's world, of the element that holds a child frame.
    pub(super) async fn owner<T: TaskLayer>(&self, page: &Page<'_, T>, child: &FrameId) -> Result<String, CallError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Owner {
            backend_node_id: u64,
        }
        let params = json!({"frameId": child});
        let owner: Owner = page.call(&self.session, "DOM.getFrameOwner", &params, CALL).await?;
        self.node(page, owner.backend_node_id).await
    }

    /// Returns a handle, in the walker's world, of a node that the browser named.
    pub(super) async fn node<T: TaskLayer>(&self, page: &Page<'_, T>, named: u64) -> Result<String, CallError> {
        #[derive(Deserialize)]
        struct Resolved {
            object: Remote,
        }
        let params = json!({"backendNodeId": named, "executionContextId": self.context});
        let resolved: Resolved = page.call(&self.session, "DOM.resolveNode", &params, CALL).await?;
        handle("DOM.resolveNode", resolved.object)
    }
}

impl<T: TaskLayer> Page<'_, T> {
    /// Returns the walker of the document that a frame shows now, which is put there first if need be.
    pub(super) async fn document(
        &self,
        frame: &FrameId,
        session: &SessionId,
        patience: Duration,
    ) -> Result<Arc<Document>, CallError> {
        if let Some(known) = self.memory.document(frame).filter(|known| known.session == *session)
            && known.answers(self, patience).await?
        {
            return Ok(known);
        }
        let opened = Arc::new(Document::open(self, session, frame, patience).await?);
        self.memory.keep_document(Arc::clone(&opened));
        Ok(opened)
    }
}

impl Document {
    /// Returns whether the document is still there; fails if its process does not answer.
    pub(super) async fn answers<T: TaskLayer>(
        &self,
        page: &Page<'_, T>,
        patience: Duration,
    ) -> Result<bool, CallError> {
        let params = json!({"objectId": self.walker, "functionDeclaration": "function () {}"});
        match page.call::<Evaluated>(&self.session, "Runtime.callFunctionOn", &params, patience).await {
            Ok(_) => Ok(true),
            Err(error) if is_gone(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether an error says that a document is not there any more.
pub(super) fn is_gone(error: &CallError) -> bool {
    match error {
        CallError::Cdp { message, .. } => tells_of_gone_document(message),
        CallError::UnknownOutcome { .. } | CallError::SessionGone { .. } => true,
        _ => false,
    }
}

/// Returns whether Chromium's words say that a document is not there any more.
pub(crate) fn tells_of_gone_document(message: &str) -> bool {
    let gone = ["Could not find object with given id", "Cannot find context with specified id"];
    gone.iter().any(|gone| message.contains(gone))
}

/// Returns what a function of the walker came to, which throws nothing as long as we know the page.
fn outcome(function: &str, evaluated: Evaluated) -> Result<Remote, CallError> {
    evaluated.outcome().map_err(|thrown| unknown_answer(function, &thrown.line()))
}

fn handle(function: &str, of: Remote) -> Result<String, CallError> {
    of.handle().ok_or_else(|| unknown_answer(function, "it names no object"))
}
