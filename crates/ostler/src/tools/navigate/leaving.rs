//! How a page is left: a script of it that would keep the next one from coming is stopped first, or while it does so.

use std::pin::pin;
use std::time::Duration;

use ostler_core::view::{Arrival, TabState};
use ostler_core::{CallError, TimeoutHint};
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::time::timeout;

use super::super::context::{Route, Tab};
use super::super::held_up;
use super::{LOAD, Navigated};
use crate::meta::TaskLayer;

/// How long a page that is about to be left may take to show that no script keeps it busy.
const BUSY: Duration = Duration::from_secs(1);
/// How long the script of a page may take to end that asks on and on over the bridge.
const STOP: Duration = Duration::from_secs(10);
/// How long a navigation may take to be answered before it is looked at whether the page holds it up, and again after that.
const LOOK_AFTER: Duration = Duration::from_secs(1);
/// How often in a row a page is seen to be asked whether it may be left, with nothing requested yet, until its handler is
/// taken for one that never ends (fact F47).
const LOOKS: u32 = 3;
/// How long a handler may take to end once it is stopped. A page that waits for a server does not even hear of it (fact
/// F41).
const STOP_HANDLER: Duration = Duration::from_millis(500);

/// What came of a navigation.
pub(super) struct Sent {
    pub(super) answer: Result<Navigated, CallError>,
    /// Whether a handler of the page before had to be stopped for it.
    pub(super) stopped: bool,
}

/// Finds out whether a script keeps the page busy: such a page has its script stopped as it is left, and that has to be
/// known before, since once the next document waits for it nothing stops it any more (fact F33). One that asks on and on
/// over the bridge is stopped as well; natively, the navigation itself leads it out of its dialogs (fact F48).
pub(super) async fn make_way<T: TaskLayer>(tab: &Tab<'_, T>) -> Result<(), CallError> {
    match tab.view()?.state {
        TabState::Ready | TabState::Hung => {}
        TabState::Dialog if tab.policy_answers()? => {}
        _ => return Ok(()),
    }
    match held_up::ask(tab.context(), tab.session.clone(), BUSY).await {
        Err(error @ CallError::Timeout { hint: TimeoutHint::Leaving, .. }) => Err(error),
        Err(CallError::AsksOn { .. }) if tab.context().view()?.policy.bridged => stop(tab, STOP).await.map(drop),
        _ => Ok(()),
    }
}

/// Sends the tab to an address. A `beforeunload` handler that never ends holds that up before anything is requested: it
/// is stopped.
pub(super) async fn send<T: TaskLayer>(tab: &Tab<'_, T>, url: &str) -> Result<Sent, CallError> {
    let params = json!({ "url": url });
    let route = Route { timeout: Some(LOAD), ..tab.route() };
    let mut answer = pin!(tab.context().call::<Navigated>("Page.navigate", &params, route));
    // Looked at again and again, since a navigation can wait to be sent, and what it is held up by then is no handler.
    let mut held_up = 0;
    while held_up < LOOKS {
        if let Ok(answer) = timeout(LOOK_AFTER, &mut answer).await {
            return Ok(Sent { answer, stopped: false });
        }
        held_up = if tab.view()?.arrival == Arrival::Begun { held_up + 1 } else { 0 };
    }
    let stopped = stop(tab, STOP_HANDLER).await?;
    Ok(Sent { answer: answer.await, stopped })
}

/// Ends the script that runs in a page; returns whether the page has taken that in.
async fn stop<T: TaskLayer>(tab: &Tab<'_, T>, patience: Duration) -> Result<bool, CallError> {
    let route = Route { timeout: Some(patience), ..tab.route() };
    match tab.context().call::<IgnoredAny>("Runtime.terminateExecution", &json!({}), route).await {
        Ok(_) => Ok(true),
        Err(error @ (CallError::SessionGone { .. } | CallError::BrowserGone { .. })) => Err(error),
        Err(_) => Ok(false),
    }
}
