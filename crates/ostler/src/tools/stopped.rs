//! A browser whose process is stopped keeps its connection and answers nothing (fact F32). A tool says so, instead of
//! waiting out its time for a page that looks busy.

use std::time::Duration;

use ostler_core::{CallError, TimeoutHint};
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::time::sleep;

use super::context::{Context, Route};
use crate::meta::TaskLayer;

/// How long a tool works before the browser is asked whether it is there, and again after that.
const ASK_AFTER: Duration = Duration::from_secs(2);
/// How long its answer may take, which is there in milliseconds on a machine with far more work than processors.
const ANSWER: Duration = Duration::from_secs(3);

/// Returns once nothing at all is heard from the browser, with the error that says so of the tool.
pub(super) async fn is_silent<T: TaskLayer>(context: &Context<'_, T>, tool: &str) -> CallError {
    loop {
        sleep(ASK_AFTER).await;
        let route = Route { timeout: Some(ANSWER), ..Route::default() };
        let answer = context.call::<IgnoredAny>("Browser.getVersion", &json!({}), route).await;
        if let Err(CallError::Timeout { hint: hint @ TimeoutHint::BrowserSilent, .. }) = answer {
            let waited = (ASK_AFTER + ANSWER).as_millis();
            return CallError::Timeout {
                method: tool.to_owned(),
                timeout_ms: u64::try_from(waited).unwrap_or(u64::MAX),
                hint,
            };
        }
    }
}
