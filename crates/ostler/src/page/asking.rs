//! A call to a page that goes to another one is given up soon: until its server answers the browser holds back whatever
//! is meant for the page (fact F41), and that may take longer than anybody waits.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use ostler_core::supervisor::OnDialog;
use ostler_core::view::{Arrival, TabView};
use ostler_core::{CallError, TargetId, TimeoutHint};
use tokio::time::timeout;

use crate::meta::TaskLayer;
use crate::tasks::CallRequest;

/// How long a call may take before it is looked at whether the page goes to another one, and again after that.
const LOOK_AFTER: Duration = Duration::from_secs(1);
/// How long a page that does may take to show that it answers all the same, as it does when the other one is there.
const ANSWER: Duration = Duration::from_millis(800);

/// Makes a call to the page that `tab` shows, or to one of its frames.
pub(crate) async fn call<T: TaskLayer>(tasks: &T, tab: &TargetId, request: CallRequest) -> Result<Bytes, CallError> {
    if request.timeout <= LOOK_AFTER + ANSWER {
        return tasks.call(request).await;
    }
    let (task, method) = (request.task.clone(), request.method.clone());
    let mut answer = pin!(tasks.call(request));
    loop {
        if let Ok(answer) = timeout(LOOK_AFTER, &mut answer).await {
            return answer;
        }
        let waits_for_server = |known: &TabView| known.target_id == *tab && known.arrival == Arrival::Requested;
        if !tasks.view(&task)?.tabs.iter().any(waits_for_server) {
            continue;
        }
        let question = tasks.call(CallRequest {
            task: task.clone(),
            session_id: None,
            frame_id: None,
            target_id: Some(tab.clone()),
            method: "Runtime.getIsolateId".to_owned(),
            params: None,
            timeout: ANSWER,
            on_dialog: OnDialog::Return,
        });
        let shown = tokio::select! {
            answer = &mut answer => return answer,
            shown = question => shown,
        };
        if let Err(CallError::Timeout { hint: hint @ TimeoutHint::Arriving, .. }) = shown {
            let waited = (LOOK_AFTER + ANSWER).as_millis();
            let timeout_ms = u64::try_from(waited).unwrap_or(u64::MAX);
            return Err(CallError::Timeout { method, timeout_ms, hint });
        }
    }
}
