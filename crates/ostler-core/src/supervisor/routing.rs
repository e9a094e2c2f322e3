//! Where a client's request goes. What it is and how it waits is in `requests.rs`, how it ends in `in_flight.rs`.
//!
//! ```text
//!   Target.*, Browser.* ──▶ the browser
//!   session_id ──▶ that session, or session_gone          (never anywhere else)
//!   frame_id   ──▶ the frame's own session, or its context in its parent's, or frame_in_process
//!   target_id  ──▶ that tab or frame
//!   nothing    ──▶ the task's current tab, found or opened when there is none
//! ```

use std::time::Duration;

use bytes::Bytes;

use super::answers::AnsweredBy;
use super::closing::GOES_WHILE_IT_ASKS;
use super::requests::{Leaves, Request, Then, What, gone, millis};
use super::sessions::{Kind, Phase};
use super::timers::Timer;
use super::{Flight, OnDialog, Purpose, Supervisor, blocking, choosers, object, wire};
use crate::error::{CallError, TimeoutHint};
use crate::ids::{DialogId, FrameId, SessionId, TargetId, TaskId, Waiter};

/// The largest message that we send: Chromium drops the connection at 100 MiB (fact D5).
const MAX_OUTGOING: usize = 99 << 20;
/// What a message may hold beside its parameters.
const ENVELOPE: usize = 1024;

impl Supervisor {
    pub(super) fn route_call(&mut self, mut request: Request) {
        let What::Call(call) = &mut request.what else { return };
        if call.params.as_ref().map_or(0, Bytes::len) + call.method.len() + ENVELOPE > MAX_OUTGOING {
            let why = "the message is larger than 99 MiB, which the browser does not take; send it in parts".to_owned();
            return self.fail_request(request, CallError::BadRequest { field: "params", why });
        }
        if call.method.starts_with("Target.") || call.method.starts_with("Browser.") {
            return self.call_browser(request);
        }
        if let Some(session) = call.session.clone() {
            return self.call_session(request, &session);
        }
        if let Some(frame) = call.frame.clone() {
            return self.call_frame(request, &frame);
        }
        if let Some(target) = call.target.clone() {
            return match self.tab_named(&request.task, target) {
                Ok(target) => self.call_target(request, &target),
                Err(error) => self.fail_request(request, error),
            };
        }
        let task = request.task.clone();
        if let Some((target, request)) = self.current_or_wait(&task, request) {
            let chosen = self.tasks.get(&task).and_then(|task| task.chosen_session.clone());
            match chosen.or_else(|| self.tabs.get(&target).and_then(|tab| tab.session.clone())) {
                Some(session) => self.call_on(request, &session),
                None => self.fail_request(request, gone("tab", target.as_str())),
            }
        }
    }

    fn call_browser(&mut self, request: Request) {
        let What::Call(call) = &request.what else { return };
        let params = call.params.as_deref().and_then(|raw| str::from_utf8(raw).ok()).unwrap_or("{}");
        if let Some(why) = self.harms_supervision(&call.method, params) {
            return self.fail_request(request, CallError::BadRequest { field: "method", why });
        }
        if call.method == "Target.closeTarget"
            && let Some(named) = wire::read::<wire::NamesTarget>(params)
            && self.must_wait_to_close(&named.target_id)
            && let Some(tab) = self.tabs.get_mut(&named.target_id)
        {
            return tab.queue.push(request);
        }
        let then = match call.method.as_str() {
            "Target.createTarget" => Then::OwnCreated,
            "Target.closeTarget" => {
                wire::read::<wire::NamesTarget>(params).map_or(Then::Nothing, |named| Then::Close(named.target_id))
            }
            "Target.attachToTarget" => wire::read::<wire::NamesTarget>(params)
                .map_or(Then::Nothing, |named| Then::ClientAttach(named.target_id)),
            _ => Then::Nothing,
        };
        self.send_call(request, None, then);
    }

    /// Returns why a browser-level call would take away what supervision stands on; `None` for all else.
    fn harms_supervision(&self, method: &str, params: &str) -> Option<String> {
        match method {
            "Target.setAutoAttach" | "Target.autoAttachRelated" => Some(format!(
                "{method} is ostler's own: every tab and frame of the task is attached already, see the sessions in `state`"
            )),
            "Target.setDiscoverTargets" if !wire::discovers_everything(params) => Some(
                "Target.setDiscoverTargets is ostler's own and stays on for all targets; leave the call out".to_owned(),
            ),
            "Target.detachFromTarget" => {
                let named = wire::read::<wire::NamesSession>(params).map(|named| named.session_id);
                // The older form names the target, and means whichever session there is.
                let target = wire::read::<wire::NamesTarget>(params).map(|named| named.target_id);
                let meant = |(id, session): &(&SessionId, &super::Session)| {
                    session.supervised && (Some(*id) == named.as_ref() || Some(&session.target) == target.as_ref())
                };
                if named.as_ref().is_some_and(|id| self.goes_while_it_asks(id)) {
                    return Some(GOES_WHILE_IT_ASKS.to_owned());
                }
                let (_, session) = self.sessions.iter().find(meant)?;
                let tab = session.tab.as_ref().and_then(|tab| self.tabs.get(tab))?;
                (!tab.dialogs.is_empty()).then(|| {
                    "a dialog is open on this tab, and detaching now would leave it unanswerable; answer it first"
                        .to_owned()
                })
            }
            _ => None,
        }
    }

    fn call_session(&mut self, request: Request, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else {
            return self.fail_request(request, gone("session", id.as_str()));
        };
        if let Some(owner) = session.tab.as_ref().and_then(|tab| self.tabs.get(tab)).map(|tab| &tab.task)
            && *owner != request.task
        {
            let why = format!("session {id} belongs to task {owner}; name that task in `task` to use it");
            return self.fail_request(request, CallError::BadRequest { field: "session_id", why });
        }
        self.call_on(request, id);
    }

    fn call_frame(&mut self, mut request: Request, id: &FrameId) {
        let top = id.as_target();
        if self.tabs.get(&top).is_some_and(|tab| tab.task == request.task) {
            // A tab's top frame is reached as the tab is, also while that is attached again.
            return self.call_target(request, &top);
        }
        let Some(task) = self.tasks.get(&request.task) else { return };
        let holder = task.tabs.iter().find_map(|target| {
            let frames = self.tabs.get(target)?.frames.as_ref()?;
            Some((target, frames, frames.get(id)?))
        });
        let Some((_, frames, frame)) = holder else {
            let known = task.tabs.iter().filter_map(|target| self.tabs.get(target)?.frames.as_ref());
            let known = known.flat_map(|frames| frames.ids()).map(|id| id.to_string()).collect();
            return self.fail_request(request, CallError::UnknownFrame { frame_id: id.to_string(), known });
        };
        let reporter = frame.reporter.clone();
        if id == frames.top() || frame.oopif.is_some() {
            let session = frame.oopif.clone().unwrap_or(reporter);
            return self.call_on(request, &session);
        }
        let What::Call(call) = &mut request.what else { return };
        let params = call.params.as_deref().and_then(|raw| str::from_utf8(raw).ok()).unwrap_or("{}");
        let worlds = self.sessions.get(&reporter).map(|session| session.contexts.values());
        match worlds.into_iter().flatten().find(|world| world.frame == *id) {
            Some(world) if call.method == "Runtime.evaluate" => {
                if let Some(params) = in_context(params, &world.unique_id) {
                    call.params = Some(params.into());
                }
                self.call_on(request, &reporter);
            }
            None if call.method == "Runtime.evaluate" && self.is_quiet(&reporter) => {
                call.world = Some(id.clone()).filter(|_| !names_context(params));
                self.call_on(request, &reporter);
            }
            _ => {
                let error = CallError::FrameInProcess { frame_id: id.clone(), method: call.method.clone() };
                self.fail_request(request, error);
            }
        }
    }

    /// Returns the target that is meant by a tab's short name, `t1`, as tools and tables show it; what is no such name is a
    /// target's own.
    fn tab_named(&self, task: &TaskId, named: TargetId) -> Result<TargetId, CallError> {
        let number = named.as_str().strip_prefix('t').and_then(|digits| digits.parse::<u64>().ok());
        let Some(number) = number else { return Ok(named) };
        let tabs = self.tasks.get(task).into_iter().flat_map(|task| &task.tabs);
        let tabs = tabs.filter_map(|target| Some((target, self.tabs.get(target)?.number)));
        if let Some((target, _)) = tabs.clone().find(|(_, known)| *known == number) {
            return Ok(target.clone());
        }
        let known: Vec<_> = tabs.map(|(_, number)| format!("t{number}")).collect();
        let known =
            if known.is_empty() { "there are none".to_owned() } else { format!("there are {}", known.join(", ")) };
        Err(CallError::BadRequest { field: "target_id", why: format!("t{number} is no tab of this task; {known}") })
    }

    fn call_target(&mut self, request: Request, id: &TargetId) {
        if let Some(tab) = self.tabs.get(id) {
            if tab.task != request.task {
                let why = format!("tab {id} belongs to task {}; name that task in `task` to use it", tab.task);
                return self.fail_request(request, CallError::BadRequest { field: "target_id", why });
            }
            let session = tab.session.clone();
            if let Some(session) = session.filter(|_| self.takes_calls(id)) {
                return self.call_on(request, &session);
            }
            if let Some(tab) = self.tabs.get_mut(id) {
                tab.queue.push(request);
            }
            return self.wake(id);
        }
        let frame = self.sessions.iter().find(|(_, session)| session.supervised && session.target == *id);
        if let Some((session, _)) = frame {
            let session = session.clone();
            return self.call_session(request, &session);
        }
        if self.targets.iter().any(|info| info.target_id == *id && info.kind == "page") {
            // The client names a tab that nobody has: it is the task's from now on.
            let task = request.task.clone();
            let session = self.unclaimed_session(id);
            self.adopt(id, &task, session);
            return self.call_target(request, id);
        }
        self.fail_request(request, gone("target", id.as_str()));
    }

    /// Sends a call on a session, unless it is known that it could not end there.
    fn call_on(&mut self, request: Request, id: &SessionId) {
        let What::Call(call) = &request.what else { return };
        let Some(session) = self.sessions.get(id) else {
            return self.fail_request(request, gone("session", id.as_str()));
        };
        if session.crashed && !blocking::survives_crash(&call.method) {
            let what = format!("{} {}", if session.kind == Kind::Page { "tab" } else { "frame" }, session.target);
            return self.fail_request(request, CallError::TargetCrashed { what });
        }
        if session.supervised
            && !(call.method == "Runtime.disable" && self.is_quiet(id))
            && let Some(why) = blocking::blinds_the_supervisor(&call.method)
        {
            let why = format!(
                "{} is refused on this session because {why}; attach one of your own with Target.attachToTarget to use it there",
                call.method
            );
            return self.fail_request(request, CallError::BadRequest { field: "method", why });
        }
        if call.method == "Page.disable" && self.goes_while_it_asks(id) {
            let why = GOES_WHILE_IT_ASKS.to_owned();
            return self.fail_request(request, CallError::BadRequest { field: "method", why });
        }
        if let Some(why) = session.bridge.as_ref().and_then(|bridge| bridge.is_broken_by(&call.method)) {
            let why = format!(
                "{} is refused on this session because {why}; attach one of your own with Target.attachToTarget to use it there",
                call.method
            );
            return self.fail_request(request, CallError::BadRequest { field: "method", why });
        }
        let tab = session.tab.clone();
        if let Some(target) = &tab {
            let navigates = blocking::navigates(&call.method);
            let too_early = match self.tabs.get(target).map(|tab| tab.phase) {
                Some(Phase::Recovering) => true,
                Some(Phase::SettingUp) => {
                    navigates || self.comes_before_focus(target, &call.method) || !self.takes_calls(target)
                }
                _ => navigates && self.overtakes_focus(target),
            };
            if too_early
                && navigates
                && call.on_dialog == OnDialog::Return
                && let Some(dialog) = self.dialog_before_navigation(target)
            {
                return self.fail_request(request, CallError::DialogOpen { dialog, sent: false });
            }
            if let Some(tab) = self.tabs.get_mut(target).filter(|_| too_early) {
                tab.queue.push(request);
                if navigates {
                    self.make_way(target);
                }
                return self.wake(target);
            }
        }
        // What may wait does so in the browser, which would carry this one out at once.
        let waits = call.on_dialog == OnDialog::Wait && !blocking::ends_the_browser_under_a_dialog(&call.method);
        if !waits && let Some(dialog) = self.blocking_dialog(id, &call.method, call.params.as_deref()) {
            return self.fail_request(request, CallError::DialogOpen { dialog, sent: false });
        }
        if !waits {
            let awaits = blocking::awaits_promise(&call.method, call.params.as_deref());
            if let Some(error) = self.asks_on(id, &call.method, awaits, false) {
                return self.fail_request(request, error);
            }
        }
        let mut then = Then::Nothing;
        if call.method.starts_with("Debugger.") {
            then = self.on_client_uses_debugger(id, &call.method.clone());
        }
        if let Some(target) = &tab
            && let Some(leaves) = self.must_wait_to_leave(id, &call.method, call.params.as_deref())
            && let Some(tab) = self.tabs.get_mut(target)
        {
            return tab.queue.push(Request { leaves, ..request });
        }
        if blocking::navigates(&call.method) {
            self.clear_the_way(id);
        }
        if call.method.starts_with("Runtime.") && self.is_quiet(id) {
            self.on_client_uses_runtime(id, &call.method.clone());
        }
        if call.method == "Page.handleJavaScriptDialog"
            && let Some(tab) = tab
        {
            if let Some(number) = self.bridged_dialog_to_answer(&tab) {
                return self.answer_bridged_raw(request, &tab, number);
            }
            self.on_raw_answer(&tab);
            then = Then::RawAnswer(tab);
        }
        let id = id.clone();
        if call.method != choosers::METHOD {
            return self.send_call(request, Some(&id), then);
        }
        self.on_client_sets_choosers(&id, call.params.as_deref());
        self.send_call(request, Some(&id), then);
        self.match_choosers_of(&id);
    }

    fn must_wait_to_leave(&mut self, id: &SessionId, method: &str, params: Option<&[u8]>) -> Option<Leaves> {
        if self.must_leave_unseen(id, method, params) {
            return Some(Leaves::Unseen);
        }
        self.must_lead_out(id, method, params).then_some(Leaves::LedOut)
    }

    /// Sends a navigation for which its tab has been made safe.
    pub(super) fn send_leaving(&mut self, request: Request, target: &TargetId) {
        match self.tabs.get(target).and_then(|tab| tab.session.clone()) {
            Some(root) => self.send_call(request, Some(&root), Then::Nothing),
            None => self.fail_request(request, gone("tab", target.as_str())),
        }
    }

    /// A client answers a dialog of the bridge as it would a native one, which the browser does not know.
    fn answer_bridged_raw(&mut self, mut request: Request, tab: &TargetId, number: DialogId) {
        let What::Call(call) = &request.what else { return };
        let params = call.params.clone().unwrap_or_default();
        let Some(answer) = str::from_utf8(&params).ok().and_then(wire::read::<wire::RawAnswer<'_>>) else {
            let why = "Page.handleJavaScriptDialog needs `accept`, true or false, and takes `promptText`".to_owned();
            return self.fail_request(request, CallError::BadRequest { field: "params", why });
        };
        self.disarm(&mut request);
        let by = AnsweredBy::RawCallToBridge(request.waiter);
        let text = answer.prompt_text.map(serde_json::value::RawValue::get);
        self.answer(tab, number, answer.accept, text, by);
        // The answer has its own time, and the call that gave it another, whatever becomes of the dialog meanwhile.
        self.timers.start(request.deadline, Timer::RawAnswer(request.waiter, request.timeout));
    }

    /// The time of a client's raw answer to a question of the bridge is over; the answer is on its way all the same.
    pub(super) fn on_raw_answer_due(&mut self, waiter: Waiter, timeout: Duration) {
        let by = AnsweredBy::RawCallToBridge(waiter);
        let given = |flight: &Flight<Purpose>| matches!(&flight.purpose, Purpose::Answer { by: of, .. } if *of == by);
        let Some(id) = self.calls.select(given).first().copied() else { return };
        if let Some(Flight { purpose: Purpose::Answer { by, .. }, .. }) = self.calls.get_mut(id) {
            *by = AnsweredBy::RawCall;
        }
        let (method, hint) = ("Page.handleJavaScriptDialog".to_owned(), TimeoutHint::None);
        self.finish(waiter, Err(CallError::Timeout { method, timeout_ms: millis(timeout), hint }));
    }

    pub(super) fn send_call(&mut self, mut request: Request, session: Option<&SessionId>, then: Then) {
        self.disarm(&mut request);
        let left = request.deadline.since(self.now);
        let What::Call(call) = request.what else { return };
        self.reach_out(&call.method, call.params.as_deref());
        let (waiter, task, timeout, on_dialog) = (request.waiter, request.task, request.timeout, call.on_dialog);
        let awaits = blocking::awaits_promise(&call.method, call.params.as_deref());
        let client = |then| Purpose::Client { waiter, task, on_dialog, timeout, awaits, then };
        match (session, call.world) {
            (Some(session), Some(frame)) => {
                let params = call.params.as_deref().and_then(|raw| str::from_utf8(raw).ok()).unwrap_or("{}").into();
                let then = Then::Evaluate { frame: frame.clone(), params, deadline: request.deadline };
                self.make_world(client(then), session, &frame, left);
            }
            _ => {
                self.send_for_client(client(then), session, &call.method, call.params.as_deref(), left);
            }
        }
    }

    // --- the current tab ---

    pub(super) fn select_tab(&mut self, request: Request) {
        let What::SelectTab { session, target } = &request.what else { return };
        let (session, named) = (session.clone(), target.clone());
        let known = session.as_ref().map(|id| (id.clone(), self.sessions.get(id)));
        let (tab, frame_session) = match (&known, named) {
            (Some((id, None)), _) => return self.fail_request(request, gone("session", id.as_str())),
            (Some((id, Some(session))), _) if session.kind != Kind::Page => match session.tab.clone() {
                Some(tab) => (tab, Some(id.clone())),
                None => return self.fail_request(request, gone("tab of session", id.as_str())),
            },
            (Some((_, Some(session))), _) => (session.target.clone(), None),
            (None, Some(target)) => match self.tab_named(&request.task, target) {
                Ok(target) => (target, None),
                Err(error) => return self.fail_request(request, error),
            },
            (None, None) => {
                let why = "name the tab by `target_id`, or a session on it by `session_id`".to_owned();
                return self.fail_request(request, CallError::BadRequest { field: "target_id", why });
            }
        };
        match self.tabs.get(&tab) {
            Some(known) if known.task != request.task => {
                let why = format!("tab {tab} belongs to task {}", known.task);
                return self.fail_request(request, CallError::BadRequest { field: "target_id", why });
            }
            Some(_) => {}
            None if self.targets.iter().any(|info| info.target_id == tab && info.kind == "page") => {
                let task = request.task.clone();
                self.adopt(&tab, &task, session);
            }
            None => return self.fail_request(request, gone("tab", tab.as_str())),
        }
        if let Some(task) = self.tasks.get_mut(&request.task) {
            task.current = Some(tab.clone());
            task.chosen_session = frame_session;
            task.dirty = super::publish::Dirty::ALL;
        }
        let task = request.task.clone();
        if let Some((target, request)) = self.current_or_wait(&task, request) {
            self.answer_with_tab(request, &target);
        }
    }
}

/// Returns whether a `Runtime.evaluate` says itself where it runs; one that cannot be read is left as it is.
fn names_context(params: &str) -> bool {
    wire::read::<wire::EvaluateWhere<'_>>(params)
        .is_none_or(|named| named.context_id.is_some() || named.unique_context_id.is_some())
}

/// Returns `params` of a `Runtime.evaluate` with the context it is to run in, unless it names one itself.
fn in_context(params: &str, unique_id: &str) -> Option<String> {
    if names_context(params) {
        return None;
    }
    let context = object(&[("uniqueContextId", unique_id)]);
    with_field(params, context.strip_prefix('{')?.strip_suffix('}')?)
}

/// Returns an object, written as JSON, with a field before all others, and the rest byte by byte as it is.
pub(super) fn with_field(object: &str, field: &str) -> Option<String> {
    let rest = object.trim_start().strip_prefix('{')?;
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    Some(format!("{{{field}{comma}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::in_context;

    #[test]
    fn an_evaluate_is_sent_into_a_context_with_the_rest_unchanged() {
        let sent = in_context(r#" {"expression":"'\ud800'"}"#, "1.2");
        assert_eq!(sent.as_deref(), Some(r#"{"uniqueContextId":"1.2","expression":"'\ud800'"}"#));
        assert_eq!(in_context("{}", "1.2").as_deref(), Some(r#"{"uniqueContextId":"1.2"}"#));
        assert_eq!(in_context(r#"{"contextId":3}"#, "1.2"), None);
    }
}
