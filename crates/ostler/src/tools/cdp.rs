//! `browser_cdp`: any CDP call, for what no other tool does.

use bytes::Bytes;
use ostler_core::view::{SessionView, TabState, TabView, TaskView};
use ostler_core::{CallError, FrameId, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::arguments::named;
use super::context::{Context, HUNG, Route};
use super::outcome::Outcome;
use super::tab_names;
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::times::{self, CALL_DEFAULT, CALL_LONGEST};

/// The longest result that stands in the text, in characters; the data has it whole.
const MAX_TEXT: usize = 20_000;

/// Sends any Chrome DevTools Protocol command, such as Runtime.evaluate, and returns its result.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Such as Page.reload.
    method: String,
    /// Its parameters.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    params: Option<Box<RawValue>>,
    /// Send it to this frame.
    frame_id: Option<String>,
    /// Send it to this tab.
    target_id: Option<String>,
    /// Default 30.
    timeout_s: Option<f64>,
}

#[derive(Serialize)]
struct Data<'a> {
    result: &'a RawValue,
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let params = args.params.as_deref().map(RawValue::get).filter(|params| *params != "null");
    if params.is_some_and(|params| !params.starts_with('{')) {
        return Err(bad("params", "must be an object"));
    }
    let timeout = times::tool_timeout(args.timeout_s, CALL_DEFAULT, CALL_LONGEST);
    let timeout = timeout.map_err(|why| bad("timeout_s", why))?;
    let (target, frame) = (named("target_id", args.target_id)?, named("frame_id", args.frame_id)?);
    let view = context.view()?;
    let route = Route {
        target: target.as_deref().map(|given| tab_names::target(&view, given)).transpose()?,
        session: None,
        frame: frame.as_deref().map(Into::into),
        timeout: Some(timeout),
    };
    if args.timeout_s.is_none() && needs_an_answer(&args.method) {
        let frame = route.frame.as_ref().and_then(|frame| hung_session(&view, frame));
        if let Some(session) = frame {
            let route = Route { session: Some(session.clone()), ..Route::default() };
            context.ask(route, HUNG).await.map_err(|error| silent(error, &args.method))?;
        }
        let target = route.target.as_ref().or(view.current.as_ref());
        let hung = |tab: &&TabView| Some(&tab.target_id) == target && tab.state == TabState::Hung;
        if let Some(tab) = view.tabs.iter().find(hung).filter(|_| route.frame.is_none()) {
            context.tab_of(tab)?.ask(HUNG).await.map_err(|error| silent(error, &args.method))?;
        }
    }
    let params = params.map(|params| Bytes::copy_from_slice(params.as_bytes()));
    let result = context.call_raw(&args.method, params, route).await?;
    let result: &RawValue = serde_json::from_slice(&result).map_err(|_| CallError::Cdp {
        code: 0,
        message: format!("the browser's answer to {} is no JSON", args.method),
    })?;
    Ok(Outcome::new(text_of(result), &Data { result }))
}

/// Says of the method itself what was found out by another one.
fn silent(error: CallError, method: &str) -> CallError {
    match error {
        CallError::Timeout { timeout_ms, hint, .. } => {
            CallError::Timeout { method: method.to_owned(), timeout_ms, hint }
        }
        error => error,
    }
}

/// Returns the session of a frame that a script is known to keep busy.
fn hung_session<'a>(view: &'a TaskView, frame: &FrameId) -> Option<&'a SessionId> {
    let hung = |session: &&SessionView| session.hung && session.target_id.as_frame() == *frame;
    view.sessions.iter().find(hung).map(|session| &session.session_id)
}

/// Returns whether a method gets no answer from a page whose script never ends, and does not end that script either.
fn needs_an_answer(method: &str) -> bool {
    let of_renderer = ["Runtime.", "DOM.", "Input."].iter().any(|domain| method.starts_with(domain));
    of_renderer && method != "Runtime.terminateExecution"
}

/// Returns the result as a model reads it: cut where it is long.
fn text_of(result: &RawValue) -> String {
    let json = result.get();
    let Some((end, _)) = json.char_indices().nth(MAX_TEXT) else { return json.to_owned() };
    let all = json.chars().count();
    format!("{}\n... cut: {MAX_TEXT} of {all} characters; ask for less", &json[..end])
}
