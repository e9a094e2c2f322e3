//! The supervisor on a simulated clock, with the test in the browser's place.
//!
//! A [`Bench`] reads like a script of expect and send: the test makes an event happen, expects the
//! commands that follow, answers them, and looks at what clients and readers of the view were told.
//! Names of tests state the fact; letters with numbers are those of `docs/cdp-facts.md`.

mod attach;
mod blocking;
mod bridge;
mod bridge_answers;
mod bridge_asking;
mod bridge_doubts;
mod bridge_ends;
mod bridge_in_place;
mod bridge_requests;
mod calls;
mod choosers;
mod closing;
mod dialog_ends;
mod dialogs;
mod focus;
mod frames;
mod leave_page;
mod leaving;
mod link;
mod orders;
mod policies;
mod quiet;
mod reach;
mod rows;
mod silence;
mod sleep;
mod tasks;
mod views;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{BridgeSecret, ClientCall, DialogAnswer, Effect, Input, OnDialog, Outcome, Scope, Supervisor};
use crate::error::CallError;
use crate::ids::{CallId, FrameId, SessionId, TargetId, TaskId, Waiter};
use crate::time::Timestamp;
use crate::view::{Arrival, ClosedBy, DialogBridge, DialogKind, DialogPolicy, TabState, TaskView};

/// When every simulated clock starts: the moment that the contract's example shows.
const START: Timestamp = Timestamp(1_650_000_000_000_000);
/// How long a dialog waits for its answer, as the contract's default says.
const DIALOG_TIMEOUT: Duration = Duration::from_secs(300);

/// What the bridge's script knows and pages do not.
const SECRET: BridgeSecret = BridgeSecret::new([1, 2, 3]);

/// What is sent on a page's session before anybody asked for anything.
const SET_UP: [&str; 9] = [
    "Page.enable",
    "Runtime.enable",
    "Target.setAutoAttach",
    "Log.enable",
    "Network.enable",
    "Page.getFrameTree",
    "Runtime.getIsolateId",
    "Runtime.runIfWaitingForDebugger",
    "Emulation.setFocusEmulationEnabled",
];

/// What is told of popups of tab `T`: one that can reach its opener, and one that cannot.
const POPUP: &str = r#","openerId":"T","canAccessOpener":true"#;
const NOOPENER: &str = r#","openerId":"T","canAccessOpener":false"#;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// One command that the supervisor sent.
#[derive(Clone, Debug)]
struct Sent {
    id: u64,
    method: String,
    /// The raw parameters; `{}` when there were none.
    params: String,
    /// The session; empty for the browser.
    session: String,
}

impl Sent {
    fn param(&self, name: &str) -> Value {
        let params: Value = serde_json::from_str(&self.params).expect("parameters are JSON");
        params[name].clone()
    }
}

/// A supervisor with a simulated clock, and all that it has let out so far.
struct Bench {
    core: Supervisor,
    now: Timestamp,
    /// Commands that no test line has taken yet, in the order in which they were sent.
    sent: Vec<Sent>,
    outcomes: HashMap<Waiter, Vec<Result<Outcome, CallError>>>,
    views: HashMap<TaskId, Arc<TaskView>>,
    recorded: Vec<(TaskId, String)>,
    notes: Vec<String>,
    retired: Vec<TaskId>,
    last_waiter: u64,
}

impl Bench {
    /// A supervisor that waits for its first connection, with the default task.
    fn unconnected() -> Self {
        let mut bench = Self {
            core: Supervisor::new(SECRET),
            now: START,
            sent: Vec::new(),
            outcomes: HashMap::new(),
            views: HashMap::new(),
            recorded: Vec::new(),
            notes: Vec::new(),
            retired: Vec::new(),
            last_waiter: 0,
        };
        bench.start_task("default", DialogPolicy::MustRespond);
        bench
    }

    /// Connected to a browser whose tabs are all ours; it has none yet.
    fn own() -> Self {
        Self::connected(Scope::Own)
    }

    /// Connected to somebody's own browser; it has no tab yet.
    fn guest() -> Self {
        Self::connected(Scope::Guest)
    }

    fn connected(scope: Scope) -> Self {
        let mut bench = Self::unconnected();
        bench.connect("BROWSER", scope);
        bench
    }

    /// The usual scene: a browser of our own with one tab `T`, session `S`, in process `P`.
    fn with_tab() -> Self {
        let mut bench = Self::own();
        bench.tab("T", "S", "P");
        bench
    }

    /// A browser that is not ours, and tab `T` in it at session `S`, which was opened for the default task.
    fn with_tab_of_ours() -> Self {
        let mut bench = Self::guest();
        let waiter = bench.call("Runtime.evaluate");
        let create = bench.expect("", "Target.createTarget");
        bench.target_created("T", "page", "");
        bench.reply(&create, r#"{"targetId":"T"}"#);
        let attach = bench.expect("", "Target.attachToTarget");
        bench.attached("", "T", "S", "page", false, "");
        bench.reply(&attach, r#"{"sessionId":"S"}"#);
        bench.answer_set_up("S", "T", "P");
        assert_eq!(bench.result(waiter), "{}");
        bench
    }

    /// The usual scene with a frame `O` of another site in it, session `SO`, in process `PO`.
    fn with_oopif() -> Self {
        let mut bench = Self::with_tab();
        bench.oopif("S", "T", "O", "SO", "PO");
        bench
    }

    // --- inputs ---

    /// The browser does as it was told, and attaches to a page that was named to it.
    #[track_caller]
    fn attach_as_asked(&mut self, target: &str, session: &str) {
        let attach = self.expect("", "Target.attachToTarget");
        self.attached("", target, session, "page", false, "");
        self.reply(&attach, &format!(r#"{{"sessionId":"{session}"}}"#));
    }

    fn input(&mut self, input: Input) {
        self.core.handle_input(self.now, input);
        self.collect();
    }

    fn collect(&mut self) {
        while let Some(effect) = self.core.poll_effect() {
            match effect {
                Effect::Send(_, message) => self.sent.push(read_command(&message)),
                Effect::Finish(waiter, outcome) => self.outcomes.entry(waiter).or_default().push(outcome),
                Effect::Record(task, event) => self.recorded.push((task, event.method.to_string())),
                Effect::Publish(view) => drop(self.views.insert(view.task.clone(), view)),
                Effect::Note(text) => self.notes.push(text),
                Effect::Retire(task) => self.retired.push(task),
            }
        }
    }

    /// Lets time pass, and every timer fire at its own moment.
    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(next) = self.core.poll_timeout().filter(|next| *next <= until) {
            self.now = self.now.max(next);
            self.input(Input::Tick);
        }
        self.now = until;
        self.input(Input::Tick);
    }

    fn message(&mut self, json: &str) {
        self.input(Input::Message(Bytes::from(json.to_owned())));
    }

    /// An event on `session`; on the browser's own level when that is empty.
    fn event(&mut self, session: &str, method: &str, params: &str) {
        let on = if session.is_empty() { String::new() } else { format!(r#","sessionId":"{session}""#) };
        self.message(&format!(r#"{{"method":"{method}","params":{params}{on}}}"#));
    }

    fn reply(&mut self, sent: &Sent, result: &str) {
        self.message(&format!(r#"{{"id":{},"result":{result}}}"#, sent.id));
    }

    fn refuse(&mut self, sent: &Sent, code: i64, message: &str) {
        self.message(&format!(r#"{{"id":{},"error":{{"code":{code},"message":"{message}"}}}}"#, sent.id));
    }

    fn start_task(&mut self, task: &str, policy: DialogPolicy) {
        self.start_task_with(task, policy, DialogBridge::Auto);
    }

    fn start_task_with(&mut self, task: &str, policy: DialogPolicy, dialog_bridge: DialogBridge) {
        self.input(Input::StartTask {
            task: TaskId::from(task),
            policy,
            dialog_timeout: DIALOG_TIMEOUT,
            quiet: false,
            dialog_bridge,
            dialogs_before: 0,
        });
    }

    /// Connects and answers the first commands, with no target in between.
    fn connect(&mut self, browser_id: &str, scope: Scope) {
        self.input(Input::Connected { browser_id: Some(browser_id.to_owned()), scope, answers_dialogs: false });
        for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
            let sent = self.expect("", method);
            self.reply(&sent, "{}");
        }
    }

    fn lose_connection(&mut self) {
        let retry_after = Some(Duration::from_secs(1));
        self.input(Input::Gone { why: "the browser went away".to_owned(), retry_after });
    }

    // --- what a browser does ---

    /// A target appears, with `more` fields beside the usual ones.
    fn target_created(&mut self, target: &str, kind: &str, more: &str) {
        self.event("", "Target.targetCreated", &format!(r#"{{"targetInfo":{}}}"#, target_info(target, kind, more)));
    }

    fn attached(&mut self, parent: &str, target: &str, session: &str, kind: &str, waiting: bool, more: &str) {
        let info = target_info(target, kind, more);
        let params = format!(r#"{{"sessionId":"{session}","targetInfo":{info},"waitingForDebugger":{waiting}}}"#);
        self.event(parent, "Target.attachedToTarget", &params);
    }

    fn detached(&mut self, parent: &str, target: &str, session: &str) {
        let params = format!(r#"{{"sessionId":"{session}","targetId":"{target}"}}"#);
        self.event(parent, "Target.detachedFromTarget", &params);
    }

    fn target_destroyed(&mut self, target: &str) {
        self.event("", "Target.targetDestroyed", &format!(r#"{{"targetId":"{target}"}}"#));
    }

    /// A tab of a browser of our own, attached and set up.
    fn tab(&mut self, target: &str, session: &str, process: &str) {
        self.target_created(target, "page", "");
        self.attached("", target, session, "page", false, "");
        self.answer_set_up(session, target, process);
    }

    /// A tab in somebody's own browser that the default task has chosen, attached and set up.
    fn tab_of_guest(&mut self, target: &str, session: &str) {
        self.target_created(target, "page", "");
        let waiter = self.waiter();
        self.input(Input::CurrentTab { waiter, task: "default".into(), timeout: Duration::from_secs(30) });
        let attach = self.expect("", "Target.attachToTarget");
        self.attached("", target, session, "page", false, "");
        self.reply(&attach, &format!(r#"{{"sessionId":"{session}"}}"#));
        self.answer_set_up(session, target, "P");
    }

    /// A popup of `opener`, attached, set up and resumed.
    fn popup(&mut self, opener: &str, target: &str, session: &str, process: &str) {
        let more = format!(r#","openerId":"{opener}","canAccessOpener":true"#);
        self.target_created(target, "page", &more);
        self.attached("", target, session, "page", true, &more);
        self.answer_set_up(session, target, process);
    }

    /// A frame in a process of its own, attached, set up and resumed.
    fn oopif(&mut self, parent_session: &str, parent: &str, frame: &str, session: &str, process: &str) {
        let more = format!(r#","parentFrameId":"{parent}""#);
        self.attached(parent_session, frame, session, "iframe", true, &more);
        self.navigated(session, frame, Some(parent), &format!("https://{frame}/"));
        self.answer_set_up(session, frame, process);
    }

    fn frame_attached(&mut self, session: &str, frame: &str, parent: &str) {
        let params = format!(r#"{{"frameId":"{frame}","parentFrameId":"{parent}"}}"#);
        self.event(session, "Page.frameAttached", &params);
    }

    fn frame_detached(&mut self, session: &str, frame: &str, reason: &str) {
        let params = format!(r#"{{"frameId":"{frame}","reason":"{reason}"}}"#);
        self.event(session, "Page.frameDetached", &params);
    }

    fn navigated(&mut self, session: &str, frame: &str, parent: Option<&str>, url: &str) {
        let parent = parent.map(|parent| format!(r#","parentId":"{parent}""#)).unwrap_or_default();
        let params = format!(r#"{{"frame":{{"id":"{frame}"{parent},"url":"{url}"}},"type":"Navigation"}}"#);
        self.event(session, "Page.frameNavigated", &params);
    }

    fn context_created(&mut self, session: &str, frame: &str, unique_id: &str) {
        let aux = format!(r#"{{"isDefault":true,"type":"default","frameId":"{frame}"}}"#);
        let context = format!(r#"{{"id":1,"uniqueId":"{unique_id}","origin":"","name":"","auxData":{aux}}}"#);
        self.event(session, "Runtime.executionContextCreated", &format!(r#"{{"context":{context}}}"#));
    }

    fn opening(&mut self, session: &str, frame: &str, kind: &str, message: &str) {
        let params = format!(
            r#"{{"url":"https://a/","frameId":"{frame}","message":"{message}","type":"{kind}","hasBrowserHandler":true,"defaultPrompt":""}}"#
        );
        self.event(session, "Page.javascriptDialogOpening", &params);
    }

    fn closed(&mut self, session: &str, frame: &str) {
        let params = format!(r#"{{"frameId":"{frame}","result":false,"userInput":""}}"#);
        self.event(session, "Page.javascriptDialogClosed", &params);
    }

    /// Answers every command that waits on `session`, as a page without frames does.
    fn answer_set_up(&mut self, session: &str, frame: &str, process: &str) {
        self.answer_where(frame, process, |sent| sent.session == session);
    }

    /// Answers what ostler itself has sent on `session`, and leaves clients' calls waiting.
    fn answer_own_set_up(&mut self, session: &str, frame: &str, process: &str) {
        self.answer_where(frame, process, |sent| sent.session == session && SET_UP.contains(&sent.method.as_str()));
    }

    fn answer_where(&mut self, frame: &str, process: &str, wanted: impl Fn(&Sent) -> bool) {
        while let Some(at) = self.sent.iter().position(&wanted) {
            let sent = self.sent.remove(at);
            match sent.method.as_str() {
                "Runtime.getIsolateId" => self.reply(&sent, &format!(r#"{{"id":"{process}"}}"#)),
                "Page.getFrameTree" => self.reply_frame_tree(&sent, frame),
                _ => self.reply(&sent, "{}"),
            }
        }
    }

    /// A tree of this frame alone, where it was before: below its parent, at its address.
    fn reply_frame_tree(&mut self, sent: &Sent, frame: &str) {
        let tree = self.view().frame_tree.clone();
        let known = tree.as_ref().and_then(|tree| tree.children.iter().find(|child| child.frame_id.as_str() == frame));
        let frame = match known {
            Some(child) => {
                let (parent, url) = (&child.parent_frame_id, &child.url);
                format!(r#"{{"id":"{frame}","parentId":"{parent}","url":"{url}"}}"#)
            }
            None => format!(r#"{{"id":"{frame}","url":"https://a/","securityOrigin":"https://a"}}"#),
        };
        self.reply(sent, &format!(r#"{{"frameTree":{{"frame":{frame}}}}}"#));
    }

    // --- what clients do ---

    fn waiter(&mut self) -> Waiter {
        self.last_waiter += 1;
        Waiter(self.last_waiter)
    }

    /// A call with nothing but a method, for the default task.
    fn client_call(&mut self, method: &str) -> ClientCall {
        ClientCall {
            waiter: self.waiter(),
            task: TaskId::default_task(),
            session: None,
            frame: None,
            target: None,
            method: method.to_owned(),
            params: None,
            timeout: Duration::from_secs(30),
            on_dialog: OnDialog::Return,
        }
    }

    fn make(&mut self, call: ClientCall) -> Waiter {
        let waiter = call.waiter;
        self.input(Input::Call(call));
        waiter
    }

    /// A call to the current tab.
    fn call(&mut self, method: &str) -> Waiter {
        let call = self.client_call(method);
        self.make(call)
    }

    fn call_on(&mut self, session: &str, method: &str) -> Waiter {
        let call = self.client_call(method);
        self.make(ClientCall { session: Some(SessionId::from(session)), ..call })
    }

    fn call_in_frame(&mut self, frame: &str, method: &str, params: &'static str) -> Waiter {
        let call = self.client_call(method);
        let params = Some(Bytes::from_static(params.as_bytes()));
        self.make(ClientCall { frame: Some(FrameId::from(frame)), params, ..call })
    }

    fn call_to_target(&mut self, target: &str, method: &str) -> Waiter {
        let call = self.client_call(method);
        self.make(ClientCall { target: Some(TargetId::from(target)), ..call })
    }

    fn call_with(&mut self, method: &str, params: &'static str) -> Waiter {
        let call = self.client_call(method);
        self.make(ClientCall { params: Some(Bytes::from_static(params.as_bytes())), ..call })
    }

    fn dialog_answer(&mut self, accept: bool) -> DialogAnswer {
        let task = TaskId::default_task();
        DialogAnswer { waiter: self.waiter(), task, accept, prompt_text: None, dialog_id: None }
    }

    fn answer(&mut self, answer: DialogAnswer) -> Waiter {
        let waiter = answer.waiter;
        self.input(Input::AnswerDialog(answer));
        waiter
    }

    fn accept(&mut self) -> Waiter {
        let answer = self.dialog_answer(true);
        self.answer(answer)
    }

    fn dismiss(&mut self) -> Waiter {
        let answer = self.dialog_answer(false);
        self.answer(answer)
    }

    // --- expectations ---

    /// Takes the oldest command of this method on this session that no line has taken yet.
    #[track_caller]
    fn expect(&mut self, session: &str, method: &str) -> Sent {
        let at = self.sent.iter().position(|sent| sent.session == session && sent.method == method);
        assert!(at.is_some(), "no {method} on {session:?} was sent, but {:?}", self.methods());
        self.sent.remove(at.expect("just checked"))
    }

    /// The untaken commands, as `session method`, or only `method` for the browser's.
    fn methods(&self) -> Vec<String> {
        self.sent.iter().map(|sent| format!("{} {}", sent.session, sent.method).trim().to_owned()).collect()
    }

    /// Whether such a command waits untaken.
    fn was_sent(&self, session: &str, method: &str) -> bool {
        self.sent.iter().any(|sent| sent.session == session && sent.method == method)
    }

    #[track_caller]
    fn expect_nothing_sent(&self) {
        assert!(self.sent.is_empty(), "unexpected commands: {:?}", self.methods());
    }

    /// How the request ended; a request ends once.
    #[track_caller]
    fn outcome(&self, waiter: Waiter) -> &Result<Outcome, CallError> {
        let outcomes = self.outcomes.get(&waiter).map_or(&[][..], Vec::as_slice);
        assert_eq!(outcomes.len(), 1, "a request ends exactly once, but: {outcomes:?}");
        &outcomes[0]
    }

    fn is_waiting(&self, waiter: Waiter) -> bool {
        !self.outcomes.contains_key(&waiter)
    }

    #[track_caller]
    fn error(&self, waiter: Waiter) -> &CallError {
        self.outcome(waiter).as_ref().expect_err("the request failed")
    }

    #[track_caller]
    fn code(&self, waiter: Waiter) -> &'static str {
        self.error(waiter).code()
    }

    /// The raw result of a call.
    #[track_caller]
    fn result(&self, waiter: Waiter) -> &str {
        let outcome = self.outcome(waiter).as_ref().expect("the call succeeded");
        let Outcome::Result(raw) = outcome else { unreachable!("a call gives a result, not {outcome:?}") };
        str::from_utf8(raw).expect("a slice of a message that was valid UTF-8")
    }

    fn view(&self) -> &TaskView {
        self.view_of("default")
    }

    fn view_of(&self, task: &str) -> &TaskView {
        self.views.get(task).expect("the task was published")
    }

    /// The open dialogs by their numbers.
    fn pending(&self) -> Vec<String> {
        self.view().pending_dialogs.iter().map(|dialog| dialog.id.to_string()).collect()
    }

    /// Who closed which dialogs, the oldest first.
    fn closed_by(&self) -> Vec<(String, ClosedBy)> {
        self.view().recent_dialogs.iter().map(|dialog| (dialog.id.to_string(), dialog.closed_by)).collect()
    }

    fn tab_state(&self, target: &str) -> TabState {
        let tab = self.view().tabs.iter().find(|tab| tab.target_id.as_str() == target);
        tab.expect("the tab is the task's").state
    }

    /// The frames below the top as `frame<parent`, with the session of those that have one.
    fn frames(&self) -> Vec<String> {
        let Some(tree) = &self.view().frame_tree else { return Vec::new() };
        let shown = tree.children.iter().map(|child| {
            let session = child.session_id.as_ref().map(|session| format!("@{session}")).unwrap_or_default();
            format!("{}{session}<{}", child.frame_id, child.parent_frame_id)
        });
        shown.collect()
    }
}

fn target_info(target: &str, kind: &str, more: &str) -> String {
    // One that can reach its opener has no address before it runs (fact E3).
    let url = if more.contains(r#""canAccessOpener":true"#) { "" } else { "https://a/" };
    format!(r#"{{"targetId":"{target}","type":"{kind}","title":"","url":"{url}","attached":false{more}}}"#)
}

fn read_command(message: &Bytes) -> Sent {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Command<'a> {
        id: u64,
        method: String,
        #[serde(borrow)]
        params: Option<&'a RawValue>,
        session_id: Option<String>,
    }
    let command: Command<'_> = serde_json::from_slice(message).expect("what is sent is JSON");
    assert_ne!(CallId(command.id), CallId(0), "numbers count up from 1");
    Sent {
        id: command.id,
        method: command.method,
        params: command.params.map_or("{}", RawValue::get).to_owned(),
        session: command.session_id.unwrap_or_default(),
    }
}
