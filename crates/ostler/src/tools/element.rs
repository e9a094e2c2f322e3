//! An element of a page, held by the browser for us while a tool works with it.

use std::time::Duration;

use ostler_core::{CallError, SessionId};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::context::{Route, Tab};
use crate::evaluated::Evaluated;
use crate::meta::TaskLayer;

/// How long a page may take to do one thing with an element.
const ANSWER: Duration = Duration::from_secs(10);

/// An element. The browser keeps it as long as its document is there.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// The session of its document.
    pub(super) session: SessionId,
    /// CDP's handle on it.
    pub(super) object: String,
}

impl Element {
    /// Calls a function with the element as `this`, in the isolated world that it is held in, and reads what `R` wants of
    /// its value.
    pub(super) async fn call<T: TaskLayer, R: DeserializeOwned>(
        &self,
        tab: &Tab<'_, T>,
        function: &str,
        args: &[&str],
    ) -> Result<R, CallError> {
        let args: Vec<_> = args.iter().map(|arg| json!({ "value": arg })).collect();
        let params = json!({
            "functionDeclaration": function, "objectId": self.object, "arguments": args,
            "returnByValue": true, "awaitPromise": true, "userGesture": true,
        });
        let route = Route { session: Some(self.session.clone()), timeout: Some(ANSWER), ..Route::default() };
        let evaluated: Evaluated = tab.call_on(route, "Runtime.callFunctionOn", &params).await?;
        let failed = |why: String| CallError::Cdp { code: 0, message: format!("the field cannot be used: {why}") };
        let value = evaluated.outcome().map_err(|thrown| failed(thrown.line()))?;
        value.read().map_err(|error| failed(error.to_string()))
    }
}
