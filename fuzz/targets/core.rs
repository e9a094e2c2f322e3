//! The supervisor under inputs of any kind in any order: nothing panics, every request ends once and in the end, and
//! nothing is sent into a connection that is not there.
//!
//! Inputs are made of a few names each, so that they meet: a frame that opens a dialog is likely one that was told of.

#![no_main]

use std::collections::HashMap;
use std::time::Duration;

use arbitrary::Arbitrary;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use ostler_core::supervisor::{BridgeSecret, ClientCall, DialogAnswer, OnDialog, Scope};
use ostler_core::view::{DialogBridge, DialogPolicy};
use ostler_core::{Effect, FrameId, Input, SessionId, Supervisor, TargetId, TaskId, Timestamp, Waiter};

/// One of a few names.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Name(u8);

impl Name {
    fn session(self) -> String {
        format!("S{}", self.0 % 6)
    }

    /// Tabs are frames and targets, too.
    fn frame(self) -> String {
        format!("F{}", self.0 % 6)
    }

    fn task(self) -> TaskId {
        TaskId::from(["default", "default", "b"][usize::from(self.0 % 3)])
    }
}

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Connect { own: bool, another: bool },
    Lose,
    Wait { millis: u16 },
    StartTask { task: Name, policy: u8, quiet: bool, dialog_timeout_s: u8 },
    EndTask(Name),
    Call { task: Name, method: u8, to: Where, params: u8, timeout_ms: u16, waits: bool },
    Answer { task: Name, accept: bool, dialog: Option<u8> },
    Select { task: Name, session: Option<Name>, target: Option<Name> },
    Current(Name),
    Interrupt(Name),
    FetchConsole(Name),
    Cancel(u8),
    Leave,
    Created { target: Name, kind: u8, opener: Option<Name>, access: bool, url: u8 },
    Changed { target: Name, kind: u8, url: u8 },
    Destroyed(Name),
    Attached { parent: Option<Name>, target: Name, session: Name, kind: u8, held: bool, above: Name },
    Detached(Name),
    FrameAttached { session: Name, frame: Name, parent: Name },
    FrameDetached { session: Name, frame: Name, swap: bool },
    Navigated { session: Name, frame: Name, parent: Option<Name>, restored: bool },
    Opening { session: Name, frame: Name, kind: u8 },
    Closed { session: Name, frame: Name },
    Said { session: Name, what: u8 },
    Tree { frames: [Name; 3] },
    Reply { which: u8, session: Name, target: Name },
    Refuse { which: u8, why: u8 },
    Raw(&'a [u8]),
}

#[derive(Arbitrary, Debug)]
enum Where {
    Nowhere,
    Session(Name),
    Frame(Name),
    Target(Name),
}

const METHODS: [&str; 12] = [
    "Runtime.evaluate",
    "Page.navigate",
    "Input.dispatchMouseEvent",
    "Page.handleJavaScriptDialog",
    "Page.reload",
    "Target.createTarget",
    "Target.closeTarget",
    "Target.attachToTarget",
    "Target.detachFromTarget",
    "Runtime.enable",
    "Runtime.disable",
    "Page.disable",
];
const KINDS: [&str; 5] = ["page", "page", "iframe", "other", "worker"];
const DIALOGS: [&str; 5] = ["alert", "confirm", "prompt", "beforeunload", "newer"];
/// What the bridge's script knows; its names end in the last number.
const SECRET: BridgeSecret = BridgeSecret::new([1, 2, 3]);
/// What it asks.
const QUESTION: &str = r#"{"number":1,"type":"prompt","message":"m","defaultPrompt":"d","url":"u1"}"#;
/// `SIGNED` stands for that as the script sends it.
const SAID: [(&str, &str); 14] = [
    ("Inspector.targetCrashed", "{}"),
    ("Inspector.targetReloadedAfterCrash", "{}"),
    ("Runtime.executionContextsCleared", "{}"),
    (
        "Runtime.executionContextCreated",
        r#"{"context":{"id":1,"uniqueId":"u","auxData":{"isDefault":true,"frameId":"F1"}}}"#,
    ),
    ("Runtime.consoleAPICalled", r#"{"type":"error","args":[],"executionContextId":1,"timestamp":1}"#),
    ("Page.frameStartedNavigating", r#"{"frameId":"F1"}"#),
    ("Page.frameRequestedNavigation", r#"{"frameId":"F1","url":"u1","disposition":"newTab"}"#),
    ("Log.entryAdded", r#"{"entry":{"level":"error","text":"x","timestamp":1}}"#),
    (
        "Debugger.scriptParsed",
        r#"{"scriptId":"7","url":"ostler-bridge-0000000000000003.js","executionContextId":1}"#,
    ),
    (
        "Debugger.paused",
        r#"{"callFrames":[{"callFrameId":"c","functionName":"ostlerBridgeAsk","location":{"scriptId":"7"}}],"reason":"other"}"#,
    ),
    (
        "Debugger.paused",
        r#"{"callFrames":[{"callFrameId":"c","functionName":"f","location":{"scriptId":"8"}}],"reason":"other"}"#,
    ),
    ("Debugger.resumed", "{}"),
    (
        "Fetch.requestPaused",
        r#"{"requestId":"R1","request":{"url":"https://0000000000000003.ostler-bridge.invalid/","method":"POST","postData":SIGNED},"frameId":"F1"}"#,
    ),
    (
        "Fetch.requestPaused",
        r#"{"requestId":"R2","request":{"url":"https://0000000000000003.ostler-bridge.invalid/","method":"GET"},"frameId":"F1"}"#,
    ),
];
const REFUSALS: [(i64, &str); 4] = [
    (-32000, "Not attached to an active page"),
    (-32602, "No dialog is showing"),
    (-32001, "Session with given id not found."),
    (-32000, "Inspected target navigated or closed"),
];
/// The longest that a request can wait and a command take: past it, all have ended.
const LONG: u64 = 200_000_000;

fn one<T: Copy>(of: &[T], which: u8) -> T {
    of[usize::from(which) % of.len()]
}

/// A command that was sent and not answered.
struct Sent {
    id: u64,
    method: String,
}

struct Run {
    core: Supervisor,
    now: u64,
    connected: bool,
    sent: Vec<Sent>,
    waiters: u64,
    ended: HashMap<u64, u8>,
    cancelled: Vec<u64>,
    tree: [Name; 3],
}

impl Run {
    fn new() -> Self {
        Self {
            core: Supervisor::new(SECRET),
            now: 1_000_000,
            connected: false,
            sent: Vec::new(),
            waiters: 0,
            ended: HashMap::new(),
            cancelled: Vec::new(),
            tree: [Name(0); 3],
        }
    }

    fn waiter(&mut self) -> Waiter {
        self.waiters += 1;
        Waiter(self.waiters)
    }

    fn input(&mut self, input: Input) {
        self.core.handle_input(Timestamp(self.now), input);
        while let Some(effect) = self.core.poll_effect() {
            match effect {
                Effect::Send(_, command) => {
                    assert!(self.connected, "sent into no connection: {command:?}");
                    let command: serde_json::Value = serde_json::from_slice(&command).expect("a command is JSON");
                    let method = command["method"].as_str().expect("a method").to_owned();
                    self.sent.push(Sent { id: command["id"].as_u64().expect("a number"), method });
                }
                Effect::Finish(waiter, _) => {
                    let times = self.ended.entry(waiter.0).or_default();
                    *times += 1;
                    assert_eq!(*times, 1, "request {waiter:?} ended twice");
                }
                Effect::Publish(view) => {
                    view.state_json();
                    for dialog in view.pending_dialogs.iter().filter(|dialog| dialog.answerable) {
                        let live = view.sessions.iter().any(|session| session.session_id == dialog.session_id);
                        assert!(live, "{} has no session to be answered on", dialog.id);
                    }
                }
                Effect::Record(..) | Effect::Note(_) | Effect::Retire(_) => {}
            }
        }
    }

    fn pass(&mut self, micros: u64) {
        let end = self.now + micros;
        while let Some(due) = self.core.poll_timeout().filter(|due| due.0 <= end) {
            self.now = self.now.max(due.0);
            self.input(Input::Tick);
        }
        self.now = end;
        self.input(Input::Tick);
    }

    fn message(&mut self, json: String) {
        if self.connected {
            self.input(Input::Message(json.into()));
        }
    }

    fn event(&mut self, session: Option<Name>, method: &str, params: &str) {
        let on = session.map(|session| format!(r#","sessionId":"{}""#, session.session())).unwrap_or_default();
        self.message(format!(r#"{{"method":"{method}","params":{params}{on}}}"#));
    }

    fn lose(&mut self) {
        self.connected = false;
        self.sent.clear();
        self.input(Input::Gone { why: "lost".to_owned(), retry_after: Some(Duration::from_secs(1)) });
    }

    fn take_sent(&mut self, which: u8) -> Option<Sent> {
        (!self.sent.is_empty()).then(|| self.sent.remove(usize::from(which) % self.sent.len()))
    }

    fn step(&mut self, step: Step<'_>) {
        match step {
            Step::Connect { own, another } if !self.connected => {
                self.connected = true;
                let scope = if own { Scope::Own } else { Scope::Guest };
                self.input(Input::Dialling);
                self.input(Input::Connected { browser_id: Some(another.to_string()), scope, answers_dialogs: another });
            }
            Step::Lose if self.connected => self.lose(),
            Step::Connect { .. } | Step::Lose => {}
            Step::Wait { millis } => self.pass(u64::from(millis) * 1000),
            Step::StartTask { task, policy, quiet, dialog_timeout_s } => {
                let policies = [DialogPolicy::MustRespond, DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept];
                self.input(Input::StartTask {
                    task: task.task(),
                    policy: one(&policies, policy),
                    dialog_timeout: Duration::from_secs(dialog_timeout_s.into()),
                    quiet,
                    dialog_bridge: one(&[DialogBridge::Auto, DialogBridge::Always, DialogBridge::Never], policy / 3),
                    dialogs_before: 0,
                });
            }
            Step::EndTask(task) => self.input(Input::EndTask(task.task())),
            Step::Call { .. } | Step::Answer { .. } | Step::Select { .. } => self.ask(step),
            Step::Current(task) => {
                let (waiter, task) = (self.waiter(), task.task());
                self.input(Input::CurrentTab { waiter, task, timeout: Duration::from_secs(30) });
            }
            Step::Interrupt(task) => {
                let (waiter, task) = (self.waiter(), task.task());
                self.input(Input::Interrupt { waiter, task });
            }
            Step::FetchConsole(task) => {
                let (waiter, task) = (self.waiter(), task.task());
                self.input(Input::FetchConsole { waiter, task });
            }
            Step::Cancel(which) => {
                let which = u64::from(which) % (self.waiters + 1);
                self.cancelled.push(which);
                self.input(Input::Cancel(Waiter(which)));
            }
            Step::Leave => {
                let waiter = self.waiter();
                self.input(Input::Leave(waiter));
            }
            _ => self.browser(step),
        }
    }

    fn ask(&mut self, step: Step<'_>) {
        let waiter = self.waiter();
        match step {
            Step::Call { task, method, to, params, timeout_ms, waits } => {
                let name = Name(params);
                let params = match params % 4 {
                    0 => None,
                    1 => Some(format!(r#"{{"targetId":"{}"}}"#, name.frame())),
                    2 => Some(format!(r#"{{"sessionId":"{}"}}"#, name.session())),
                    _ => Some(r#"{"expression":"1","userGesture":true}"#.to_owned()),
                };
                let mut call = ClientCall {
                    waiter,
                    task: task.task(),
                    session: None,
                    frame: None,
                    target: None,
                    method: one(&METHODS, method).to_owned(),
                    params: params.map(Bytes::from),
                    timeout: Duration::from_millis(timeout_ms.into()),
                    on_dialog: if waits { OnDialog::Wait } else { OnDialog::Return },
                };
                match to {
                    Where::Nowhere => {}
                    Where::Session(name) => call.session = Some(SessionId::from(&*name.session())),
                    Where::Frame(name) => call.frame = Some(FrameId::from(&*name.frame())),
                    Where::Target(name) => call.target = Some(TargetId::from(&*name.frame())),
                }
                self.input(Input::Call(call));
            }
            Step::Answer { task, accept, dialog } => {
                let dialog_id = dialog.map(|number| format!("d-{}", number % 8));
                let answer = DialogAnswer { waiter, task: task.task(), accept, prompt_text: None, dialog_id };
                self.input(Input::AnswerDialog(answer));
            }
            Step::Select { task, session, target } => {
                let session = session.map(|name| SessionId::from(&*name.session()));
                let target = target.map(|name| TargetId::from(&*name.frame()));
                self.input(Input::SelectTab { waiter, task: task.task(), session, target });
            }
            _ => unreachable!("only what a client asks for"),
        }
    }

    fn browser(&mut self, step: Step<'_>) {
        let info = |target: Name, kind: u8, url: u8, more: String| {
            let (target, kind) = (target.frame(), one(&KINDS, kind));
            format!(r#"{{"targetId":"{target}","type":"{kind}","title":"t","url":"u{}"{more}}}"#, url % 3)
        };
        match step {
            Step::Created { target, kind, opener, access, url } => {
                let more =
                    opener.map(|opener| format!(r#","openerId":"{}","canAccessOpener":{access}"#, opener.frame()));
                let info = info(target, kind, url, more.unwrap_or_default());
                self.event(None, "Target.targetCreated", &format!(r#"{{"targetInfo":{info}}}"#));
            }
            Step::Changed { target, kind, url } => {
                let info = info(target, kind, url, String::new());
                self.event(None, "Target.targetInfoChanged", &format!(r#"{{"targetInfo":{info}}}"#));
            }
            Step::Destroyed(target) => {
                self.event(None, "Target.targetDestroyed", &format!(r#"{{"targetId":"{}"}}"#, target.frame()));
            }
            Step::Attached { parent, target, session, kind, held, above } => {
                let info = info(target, kind, 0, format!(r#","parentFrameId":"{}""#, above.frame()));
                let session = session.session();
                let params = format!(r#"{{"sessionId":"{session}","targetInfo":{info},"waitingForDebugger":{held}}}"#);
                self.event(parent, "Target.attachedToTarget", &params);
            }
            Step::Detached(session) => {
                self.event(None, "Target.detachedFromTarget", &format!(r#"{{"sessionId":"{}"}}"#, session.session()));
            }
            Step::FrameAttached { session, frame, parent } => {
                let params = format!(r#"{{"frameId":"{}","parentFrameId":"{}"}}"#, frame.frame(), parent.frame());
                self.event(Some(session), "Page.frameAttached", &params);
            }
            Step::FrameDetached { session, frame, swap } => {
                let reason = if swap { "swap" } else { "remove" };
                let params = format!(r#"{{"frameId":"{}","reason":"{reason}"}}"#, frame.frame());
                self.event(Some(session), "Page.frameDetached", &params);
            }
            Step::Navigated { session, frame, parent, restored } => {
                let parent = parent.map(|parent| format!(r#","parentId":"{}""#, parent.frame())).unwrap_or_default();
                let kind = if restored { "BackForwardCacheRestore" } else { "Navigation" };
                let params = format!(r#"{{"frame":{{"id":"{}"{parent},"url":"u"}},"type":"{kind}"}}"#, frame.frame());
                self.event(Some(session), "Page.frameNavigated", &params);
            }
            Step::Opening { session, frame, kind } => {
                let (frame, kind) = (frame.frame(), one(&DIALOGS, kind));
                let params = format!(r#"{{"frameId":"{frame}","message":"m","type":"{kind}","defaultPrompt":"d"}}"#);
                self.event(Some(session), "Page.javascriptDialogOpening", &params);
            }
            Step::Closed { session, frame } => {
                let params = format!(r#"{{"frameId":"{}","result":false,"userInput":""}}"#, frame.frame());
                self.event(Some(session), "Page.javascriptDialogClosed", &params);
            }
            Step::Said { session, what } => {
                let (method, params) = one(&SAID, what);
                let signed = serde_json::Value::from(format!("{:x}{QUESTION}", SECRET.sign(QUESTION))).to_string();
                self.event(Some(session), method, &params.replace("SIGNED", &signed));
            }
            Step::Tree { frames } => self.tree = frames,
            Step::Reply { which, session, target } => {
                let Some(sent) = self.take_sent(which) else { return };
                let result = match sent.method.as_str() {
                    "Target.attachToTarget" => format!(r#"{{"sessionId":"{}"}}"#, session.session()),
                    "Target.createTarget" => format!(r#"{{"targetId":"{}"}}"#, target.frame()),
                    "Runtime.getIsolateId" => format!(r#"{{"id":"P{}"}}"#, session.0 % 2),
                    // A question, or that its answer was taken.
                    "Debugger.evaluateOnCallFrame" if session.0 % 2 == 0 => {
                        format!(r#"{{"result":{{"value":{{"proof":"{}","question":{QUESTION}}}}}}}"#, SECRET.proof())
                    }
                    "Debugger.evaluateOnCallFrame" => r#"{"result":{"value":true}}"#.to_owned(),
                    "Page.createIsolatedWorld" => r#"{"executionContextId":1}"#.to_owned(),
                    "Page.getFrameTree" => {
                        let [top, one, two] = self.tree.map(Name::frame);
                        format!(
                            r#"{{"frameTree":{{"frame":{{"id":"{top}"}},"childFrames":[{{"frame":{{"id":"{one}","parentId":"{top}"}}}},{{"frame":{{"id":"{two}","parentId":"{one}"}}}}]}}}}"#
                        )
                    }
                    _ => "{}".to_owned(),
                };
                self.message(format!(r#"{{"id":{},"result":{result}}}"#, sent.id));
            }
            Step::Refuse { which, why } => {
                let Some(sent) = self.take_sent(which) else { return };
                let (code, message) = one(&REFUSALS, why);
                self.message(format!(r#"{{"id":{},"error":{{"code":{code},"message":"{message}"}}}}"#, sent.id));
            }
            Step::Raw(bytes) if self.connected => self.input(Input::Message(Bytes::copy_from_slice(bytes))),
            _ => {}
        }
    }

    /// Nothing comes any more: whatever was asked for ends, at the latest with the connection.
    fn finish(mut self) {
        if !self.connected {
            self.input(Input::Gone { why: "never there".to_owned(), retry_after: Some(Duration::from_secs(1)) });
        }
        self.pass(LONG);
        for waiter in 1..=self.waiters {
            assert!(
                self.ended.contains_key(&waiter) || self.cancelled.contains(&waiter),
                "request {waiter} never ended"
            );
        }
        if self.connected {
            self.lose();
        }
        assert_eq!(self.core.in_flight(), 0, "commands outlive their connection");
    }
}

fuzz_target!(|steps: Vec<Step<'_>>| {
    let mut run = Run::new();
    for step in steps {
        run.step(step);
    }
    run.finish();
});
