//! The bridge in the model browser: scripts that ask by a pause or by a request, and go on when they are answered, let go
//! by somebody else, or gone (facts B2 to B7). A question is a [`Dialog`] to the checks, as it is to an agent.

use ostler_core::supervisor::BridgeSecret;

use super::No;
use super::browser::{Browser, Hold};
use super::dialogs::{DEFAULT_PROMPT, Dialog, State};
use super::wire::{Command, Note};

pub(crate) const SECRET: BridgeSecret = BridgeSecret::new([1, 2, 3]);
/// What follows from its last number.
const NAME: &str = "ostler-bridge-0000000000000003.js";
const ADDRESS: &str = "https://0000000000000003.ostler-bridge.invalid/";

/// What of the bridge a session has on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bridge {
    debugger: bool,
    fetch: bool,
    script: Option<Way>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Pause,
    Request,
}

/// A script that waits in a question.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) way: Way,
    /// The session that it was told on, and the document that it is in.
    pub(crate) session: No,
    frame: No,
    page: No,
    proc: No,
    /// Somebody has looked at it; has set an answer; has sent it to the native dialog.
    read: bool,
    accepted: Option<bool>,
    native: bool,
}

impl Browser {
    /// Returns whether a process can run a script.
    pub(crate) fn runs_scripts(&self, proc: No) -> bool {
        self.procs.get(&proc).is_some_and(|proc| proc.is_free() && !proc.paused)
    }

    /// Returns the session on which a frame's script would ask, and how.
    pub(crate) fn bridge_of(&self, frame: No) -> Option<(No, Way)> {
        let sessions = self.sessions_on(self.local_root(frame));
        sessions.into_iter().filter(|session| self.sessions[session].supervised).find_map(|session| {
            let Bridge { debugger, fetch, script } = self.sessions[&session].bridge;
            let way = script.filter(|way| if *way == Way::Pause { debugger } else { fetch })?;
            Some((session, way))
        })
    }

    /// Asks over the bridge, where it is; returns whether it is.
    pub(crate) fn ask_over_bridge(&mut self, frame: No, kind: &'static str, cause: &mut Option<Command>) -> bool {
        let Some((session, way)) = self.bridge_of(frame).filter(|_| kind != "beforeunload") else { return false };
        let number = self.number();
        let known = self.frames[&frame].clone();
        let question = Question {
            way,
            session,
            frame,
            page: known.page,
            proc: known.proc,
            read: false,
            accepted: None,
            native: false,
        };
        self.questions.insert(number, question);
        self.dialogs.insert(number, Dialog::bridged(known.tab, frame, kind, known.proc, way, cause.take()));
        match way {
            Way::Pause => {
                self.seen("B3: a script asks by a pause");
                self.proc_mut(known.proc).paused = true;
                self.pause(number, session, frame);
            }
            Way::Request => {
                self.seen("B2: a script asks by a request");
                self.proc_mut(known.proc).blocks += 1;
                let text = self.question_json(number);
                let body = serde_json::Value::from(format!("{:x}{text}", SECRET.sign(&text)));
                let name = self.frame_name(frame);
                let params = format!(
                    r#""requestId":"R{number}","request":{{"url":"{ADDRESS}","method":"POST","postData":{body}~}},"frameId":"{name}","resourceType":"XHR""#
                );
                self.say(session, "Fetch.requestPaused", &params, None, Note::Asked(number, session));
            }
        }
        true
    }

    /// Tells of a pause, and of the script that it is in when it is first needed.
    fn pause(&mut self, number: No, session: No, frame: No) {
        let name = self.frame_name(frame);
        let aux = format!(r#"{{"isDefault":true,"type":"default","frameId":"{name}"~}}"#);
        let world = format!(r#""context":{{"id":{number},"uniqueId":"w{number}","origin":"","auxData":{aux}~}}"#);
        self.say(session, "Runtime.executionContextCreated", &world, None, Note::Nothing);
        let parsed = format!(r#""scriptId":"{number}","url":"{NAME}","executionContextId":{number}"#);
        self.say(session, "Debugger.scriptParsed", &parsed, None, Note::Nothing);
        let location = format!(r#"{{"scriptId":"{number}","lineNumber":1~}}"#);
        let frame = format!(
            r#"{{"callFrameId":"C{}.{number}","functionName":"ostlerBridgeAsk","location":{location},"url":""~}}"#,
            self.life
        );
        let paused = format!(r#""callFrames":[{frame}],"reason":"other""#);
        self.say(session, "Debugger.paused", &paused, None, Note::Nothing);
    }

    fn question_json(&self, number: No) -> String {
        let Dialog { kind, frame, .. } = &self.dialogs[&number];
        let (default, url) = (if *kind == "prompt" { DEFAULT_PROMPT } else { "" }, self.url_of(*frame));
        format!(
            r#"{{"number":{number},"type":"{kind}","message":"m{number}","defaultPrompt":"{default}","url":"{url}"}}"#
        )
    }

    // --- commands ---

    /// What the browser process does of the bridge's commands; returns whether it is one.
    pub(crate) fn on_bridge_command(&mut self, command: &Command, session: No) -> bool {
        match &*command.method {
            "Debugger.enable" if self.refuses_debugger => {
                self.reply_error(command, -32601, "'Debugger.enable' wasn't found");
            }
            "Fetch.enable" => {
                self.session_mut(session).bridge.fetch = true;
                self.reply_ok(command);
            }
            "Fetch.disable" => {
                self.may_be_switched_off(command, session, Way::Request);
                self.session_mut(session).bridge.fetch = false;
                let held = |question: &Question| question.way == Way::Request && question.session == session;
                for number in self.questions_where(held) {
                    self.ask_natively(number);
                }
                self.reply_ok(command);
            }
            "Fetch.fulfillRequest" | "Fetch.failRequest" => match self.question_of(command, session) {
                Some(number) if &*command.method == "Fetch.failRequest" => {
                    self.reply_ok(command);
                    self.ask_natively(number);
                }
                Some(number) => {
                    self.reply_ok(command);
                    self.end_question(number, State::Answered);
                }
                None => self.reply_error(command, -32602, "Invalid InterceptionId."),
            },
            _ => return false,
        }
        true
    }

    /// What a renderer does of them, which may be paused; returns whether it is one.
    pub(crate) fn on_bridge_command_in_renderer(&mut self, command: &Command, session: No) -> bool {
        let bridge = &mut self.session_mut(session).bridge;
        match &*command.method {
            "Debugger.enable" => bridge.debugger = true,
            "Debugger.disable" => {
                bridge.debugger = false;
                self.may_be_switched_off(command, session, Way::Pause);
                let paused = |question: &Question| question.way == Way::Pause && question.session == session;
                for number in self.questions_where(paused) {
                    self.go_on(number);
                }
            }
            "Page.addScriptToEvaluateOnNewDocument" => {
                let source = command.params.source.as_deref().unwrap_or_default();
                bridge.script = Some(if source.contains("debugger;") { Way::Pause } else { Way::Request });
                self.reply(command, r#""result":{"identifier":"1"~}"#);
                return true;
            }
            "Page.removeScriptToEvaluateOnNewDocument" => bridge.script = None,
            "DOM.getFrameOwner" => {
                self.reply(command, r#""result":{"backendNodeId":7~}"#);
                return true;
            }
            "DOM.describeNode" => {
                self.reply(command, r#""result":{"node":{"nodeName":"IFRAME","attributes":["src","/"]~}~}"#);
                return true;
            }
            "Debugger.evaluateOnCallFrame" => {
                self.evaluate_in_pause(command, session);
                return true;
            }
            "Debugger.resume" => {
                let paused = |question: &Question| question.way == Way::Pause && question.session == session;
                let Some(number) = self.questions_where(paused).first().copied() else {
                    self.reply_error(command, -32000, "Can only perform operation while paused.");
                    return true;
                };
                self.reply_ok(command);
                self.go_on(number);
                return true;
            }
            _ => return false,
        }
        self.reply_ok(command);
        true
    }

    fn evaluate_in_pause(&mut self, command: &Command, session: No) {
        let Some(number) = self.question_of(command, session) else {
            return self.reply_error(command, -32000, "Can only perform operation while paused.");
        };
        let expression = command.params.expression.as_deref().unwrap_or_default();
        let question = self.questions.get_mut(&number).expect("it was just found");
        if expression.starts_with("(seen") {
            question.read = true;
            let (proof, text) = (SECRET.proof(), self.question_json(number));
            let shown = format!(r#"{{"proof":"{proof}","question":{text}}}"#);
            let body = format!(r#""result":{{"result":{{"type":"object","value":{shown}~}}~}}"#);
            return self.reply_with(command, &body, Note::Asked(number, session));
        }
        match command.params.gives() {
            Some(accept) => question.accepted = Some(accept),
            None => question.native = true,
        }
        self.reply(command, r#""result":{"result":{"type":"boolean","value":true~}~}"#);
    }

    /// Returns the question that a command names, if its script still waits.
    pub(crate) fn question_of(&self, command: &Command, session: No) -> Option<No> {
        let named = command.params.call_frame_id.as_deref().or(command.params.request_id.as_deref())?;
        let number = named.rsplit(['.', 'R']).next()?.parse().ok()?;
        self.questions.get(&number).filter(|question| question.session == session).map(|_| number)
    }

    fn questions_where(&self, wanted: impl Fn(&Question) -> bool) -> Vec<No> {
        self.questions.iter().filter(|(_, question)| wanted(question)).map(|(number, _)| *number).collect()
    }

    /// What lets pages go on with an answer that nobody gave is not sent while they are known to ask (fact B4).
    fn may_be_switched_off(&self, command: &Command, session: No, way: Way) {
        for (number, question) in &self.questions {
            let dialog = &self.dialogs[number];
            let known = dialog.told.is_some() && dialog.heard <= command.heard && question.accepted.is_none();
            let hit = question.session == session && question.way == way;
            assert!(!hit || !known, "{} under question {number}", command.method);
        }
    }

    // --- ends ---

    /// A paused script goes on, whoever resumed it.
    fn go_on(&mut self, number: No) {
        let Question { session, read, accepted, native, .. } = self.questions[&number];
        self.say(session, "Debugger.resumed", "", None, Note::Nothing);
        match accepted {
            Some(_) => self.end_question(number, State::Answered),
            // Looked at and let go on without an answer, it takes that for Cancel (fact B7).
            None if read && !native => self.end_question(number, State::Ended),
            None => self.ask_natively(number),
        }
    }

    /// Another client resumes whatever is paused (fact B7).
    pub(crate) fn resume_by_another(&mut self) {
        let paused = self.questions_where(|question| question.way == Way::Pause);
        if let Some(number) = self.rng.pick(&paused) {
            self.seen("B7: another client lets a page go on");
            self.go_on(number);
        }
    }

    /// The script leaves its question to the native dialog.
    fn ask_natively(&mut self, number: No) {
        let Some(question) = self.let_go(number) else { return };
        let dialog = self.dialogs.remove(&number).expect("each question is a dialog");
        self.seen("B1: a question goes to the native dialog");
        let (kind, cause) = (dialog.kind, dialog.into_cause());
        if self.frames.contains_key(&question.frame) && self.can_open_natively(question.frame) {
            self.open_natively(question.frame, kind, cause);
        } else if let Some(cause) = cause {
            self.reply_ok(&cause);
        }
    }

    /// Returns whether an answer to a paused script is on its way, or waits for a process that is blocked.
    pub(crate) fn is_being_answered(&self, number: No) -> bool {
        let mut under_way = self.inbox.iter().chain(self.procs.values().flat_map(|proc| &proc.inbox));
        let name = format!("C{}.{number}", self.life);
        let to_it = |command: &Command| command.params.call_frame_id.as_deref() == Some(&*name);
        under_way.any(|command| to_it(command) && command.params.gives().is_some())
    }

    fn end_question(&mut self, number: No, state: State) {
        let answer_comes = self.is_being_answered(number);
        // It had its answer, and was gone before it was resumed.
        let had_answer = self.questions[&number].accepted.is_some() && state == State::Ended;
        self.let_go(number);
        let dialog = self.dialogs.get_mut(&number).expect("each question is a dialog");
        (dialog.state, dialog.crossed) = (state, dialog.crossed || answer_comes || had_answer);
        if let Some(cause) = dialog.take_cause() {
            self.reply_ok(&cause);
        }
    }

    fn let_go(&mut self, number: No) -> Option<Question> {
        let question = self.questions.remove(&number)?;
        if let Some(proc) = self.procs.get_mut(&question.proc) {
            match question.way {
                Way::Pause => proc.paused = false,
                Way::Request => proc.blocks = proc.blocks.saturating_sub(1),
            }
        }
        Some(question)
    }

    /// Questions end with their document, their process and their session: nothing tells so but what tells of those (B6).
    pub(crate) fn sweep_questions(&mut self) {
        let ended = self.questions_where(|question| {
            let there = self.frames.get(&question.frame).is_some_and(|frame| {
                let same = frame.page == question.page && frame.proc == question.proc && !frame.crashed;
                same && self.tabs.get(&frame.tab).is_some_and(|tab| tab.hold == Hold::Free)
            });
            !there || !self.procs.contains_key(&question.proc) || !self.sessions.contains_key(&question.session)
        });
        for number in ended {
            self.seen("B6: a question ends with its page");
            self.end_question(number, State::Ended);
        }
    }
}
