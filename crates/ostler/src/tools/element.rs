//! An element of a page, held by the browser for us while a tool works with it.

use std::time::Duration;

use ostler_core::{CallError, SessionId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::context::{Context, Evaluated, Route, Tab};
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
    /// Calls a function with the element as `this`, and reads what `R` wants of its value.
    pub(super) async fn call<T: TaskLayer, R: DeserializeOwned>(
        &self,
        context: &Context<'_, T>,
        function: &str,
        args: &[&str],
    ) -> Result<R, CallError> {
        let args: Vec<_> = args.iter().map(|arg| json!({ "value": arg })).collect();
        let params = json!({
            "functionDeclaration": function, "objectId": self.object, "arguments": args,
            "returnByValue": true, "awaitPromise": true, "userGesture": true,
        });
        let route = Route { session: Some(self.session.clone()), timeout: Some(ANSWER), ..Route::default() };
        let evaluated: Evaluated = context.call("Runtime.callFunctionOn", &params, route).await?;
        evaluated.read()
    }
}

/// Returns the element that has the focus, in shadow roots and frames of the same process too; `None` if none has.
pub(super) async fn focused<T: TaskLayer>(tab: &Tab<'_, T>) -> Result<Option<Element>, CallError> {
    #[derive(Deserialize)]
    struct Found {
        result: Object,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Object {
        object_id: Option<String>,
    }
    // What is in a form or a document may be named like a property of it; prototypes know better.
    const FOCUSED: &str = "(() => {
      const own = (node, name) => node && Reflect.get(Object.getPrototypeOf(node), name, node);
      const isWhole = node => node === own(document, 'body') || node === own(document, 'documentElement');
      let at = own(document, 'activeElement');
      for (;;) {
        let inner = null;
        try { inner = own(own(at, 'shadowRoot') ?? own(at, 'contentDocument'), 'activeElement'); } catch {}
        if (!inner) return isWhole(at) ? null : at;
        at = inner;
      }
    })()";
    let found: Found = tab.call_within("Runtime.evaluate", &json!({"expression": FOCUSED}), ANSWER).await?;
    Ok(found.result.object_id.map(|object| Element { session: tab.session.clone(), object }))
}
