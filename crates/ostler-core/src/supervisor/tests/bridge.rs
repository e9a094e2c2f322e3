//! What a browser and its pages say under the dialog bridge: the bench that the tests of it share.

use super::super::bridge::Script;
use super::*;

pub(super) const DEBUGGER: &str = "Debugger.enable";
pub(super) const ADD_SCRIPT: &str = "Page.addScriptToEvaluateOnNewDocument";
pub(super) const ON_FRAME: &str = "Debugger.evaluateOnCallFrame";
pub(super) const RESUME: &str = "Debugger.resume";
pub(super) const OWNER: &str = "DOM.getFrameOwner";
pub(super) const RUN: &str = "Runtime.runIfWaitingForDebugger";

impl Bench {
    /// A browser of our own with one tab `T`, session `S`, whose dialogs come over the bridge.
    pub(super) fn bridged() -> Self {
        Self::bridged_with(DialogPolicy::MustRespond)
    }

    pub(super) fn bridged_with(policy: DialogPolicy) -> Self {
        let mut bench = Self::own();
        bench.start_task_with("default", policy, DialogBridge::Always);
        bench.tab("T", "S", "P");
        bench
    }

    /// The same where the browser refuses the Debugger domain.
    pub(super) fn bridged_by_requests() -> Self {
        let mut bench = Self::own();
        bench.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Always);
        bench.target_created("T", "page", "");
        bench.attached("", "T", "S", "page", false, "");
        let probe = bench.expect("S", DEBUGGER);
        bench.refuse(&probe, -32601, "'Debugger.enable' wasn't found");
        bench.answer_set_up("S", "T", "P");
        bench
    }

    /// The task does not want the bridge any more.
    pub(super) fn switch_bridge_off(&mut self) {
        self.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Never);
    }

    /// A script of this number and with the bridge's name is in the world of this number, which is the frame's.
    pub(super) fn script_parsed(&mut self, session: &str, script: u64, world: u64, frame: &str) {
        let aux = format!(r#"{{"isDefault":true,"type":"default","frameId":"{frame}"}}"#);
        let context = format!(r#"{{"id":{world},"uniqueId":"{frame}.{world}","origin":"","auxData":{aux}}}"#);
        self.event(session, "Runtime.executionContextCreated", &format!(r#"{{"context":{context}}}"#));
        self.only_script_parsed(session, script, world);
    }

    /// The same in a world that is known.
    pub(super) fn only_script_parsed(&mut self, session: &str, script: u64, world: u64) {
        let name = Script::new(SECRET).name;
        let params = format!(r#"{{"scriptId":"{script}","url":"{name}","executionContextId":{world}}}"#);
        self.event(session, "Debugger.scriptParsed", &params);
    }

    /// A page pauses in our script.
    pub(super) fn pauses(&mut self, session: &str, frame: &str) {
        let number = frame.bytes().map(u64::from).sum();
        self.script_parsed(session, number, number, frame);
        self.paused(session, &number.to_string(), "ostlerBridgeAsk");
    }

    pub(super) fn paused(&mut self, session: &str, script: &str, function: &str) {
        let params = format!(
            r#"{{"callFrames":[{{"callFrameId":"F{script}","functionName":"{function}","location":{{"scriptId":"{script}","lineNumber":1}},"url":"","scopeChain":[],"this":{{"type":"undefined"}}}}],"reason":"other","hitBreakpoints":[]}}"#
        );
        self.event(session, "Debugger.paused", &params);
    }

    /// A page asks: it pauses in our script, and the question is read.
    pub(super) fn asks(&mut self, session: &str, frame: &str, kind: &str, number: u64) {
        self.pauses(session, frame);
        self.frames_may_ask();
        let read = self.expect(session, ON_FRAME);
        assert_eq!(read.param("expression"), "(seen = true, { proof, question })");
        self.reply_question(&read, kind, number);
    }

    /// The elements that hold the frame that asks, and its ancestors, have no sandbox.
    pub(super) fn frames_may_ask(&mut self) {
        while let Some(at) = self.sent.iter().position(|sent| sent.method == OWNER) {
            let owner = self.sent.remove(at);
            self.reply(&owner, r#"{"backendNodeId":7}"#);
            let node = self.expect(&owner.session, "DOM.describeNode");
            self.reply(&node, r#"{"node":{"nodeName":"IFRAME","attributes":["src","/"]}}"#);
        }
    }

    pub(super) fn reply_question(&mut self, read: &Sent, kind: &str, number: u64) {
        let question = format!(
            r#"{{"number":{number},"type":"{kind}","message":"m\ud800","defaultPrompt":"d","url":"https://a/"}}"#
        );
        self.reply_shown(read, &SECRET.proof(), &question);
    }

    pub(super) fn reply_shown(&mut self, read: &Sent, proof: &str, question: &str) {
        let shown = format!(r#"{{"proof":"{proof}","question":{question}}}"#);
        self.reply(read, &format!(r#"{{"result":{{"type":"object","value":{shown}}}}}"#));
    }

    /// The page takes the answer that was sent to it, or not, and is resumed if it does. Returns the answer's script.
    #[track_caller]
    pub(super) fn takes_answer(&mut self, session: &str, taken: bool) -> String {
        assert!(!self.was_sent(session, RESUME), "not before the page has its answer");
        let sent = self.expect(session, ON_FRAME);
        self.reply(&sent, &format!(r#"{{"result":{{"type":"boolean","value":{taken}}}}}"#));
        if taken {
            self.expect(session, RESUME);
        }
        sent.param("expression").as_str().expect("a script").to_owned()
    }

    pub(super) fn request_held(&mut self, session: &str, id: &str, kind: &str) {
        self.request_held_of(session, "T", id, kind, "m");
    }

    pub(super) fn request_held_of(&mut self, session: &str, frame: &str, id: &str, kind: &str, message: &str) {
        let question =
            format!(r#"{{"number":1,"type":"{kind}","message":"{message}","defaultPrompt":"d","url":"https://a/"}}"#);
        self.body_held(session, frame, id, &format!("{:x}{question}", SECRET.sign(&question)));
    }

    pub(super) fn body_held(&mut self, session: &str, frame: &str, id: &str, body: &str) {
        let (address, body) = (Script::new(SECRET).address, Value::from(body));
        let params = format!(
            r#"{{"requestId":"{id}","request":{{"url":"{address}","method":"POST","postData":{body}}},"frameId":"{frame}","resourceType":"XHR"}}"#
        );
        self.event(session, "Fetch.requestPaused", &params);
    }
}

pub(super) fn by(closed: &[(&str, ClosedBy)]) -> Vec<(String, ClosedBy)> {
    dialogs::ended(closed)
}
