//! The dialog bridge: facts B1 to B7, B16, A14 and A28.

use super::super::bridge::Script;
use super::*;

const DEBUGGER: &str = "Debugger.enable";
const ADD_SCRIPT: &str = "Page.addScriptToEvaluateOnNewDocument";
pub(super) const ON_FRAME: &str = "Debugger.evaluateOnCallFrame";
pub(super) const RESUME: &str = "Debugger.resume";
pub(super) const OWNER: &str = "DOM.getFrameOwner";
const RUN: &str = "Runtime.runIfWaitingForDebugger";

impl Bench {
    /// A browser of our own with one tab `T`, session `S`, whose dialogs come over the bridge.
    pub(super) fn bridged() -> Self {
        Self::bridged_with(DialogPolicy::MustRespond)
    }

    fn bridged_with(policy: DialogPolicy) -> Self {
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

    /// A script of this number and with the bridge's name is in the world of this number, which is the frame's.
    fn script_parsed(&mut self, session: &str, script: u64, world: u64, frame: &str) {
        let aux = format!(r#"{{"isDefault":true,"type":"default","frameId":"{frame}"}}"#);
        let context = format!(r#"{{"id":{world},"uniqueId":"{frame}.{world}","origin":"","auxData":{aux}}}"#);
        self.event(session, "Runtime.executionContextCreated", &format!(r#"{{"context":{context}}}"#));
        self.only_script_parsed(session, script, world);
    }

    /// The same in a world that is known.
    fn only_script_parsed(&mut self, session: &str, script: u64, world: u64) {
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

    fn paused(&mut self, session: &str, script: &str, function: &str) {
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
    fn frames_may_ask(&mut self) {
        while let Some(at) = self.sent.iter().position(|sent| sent.method == OWNER) {
            let owner = self.sent.remove(at);
            self.reply(&owner, r#"{"backendNodeId":7}"#);
            let node = self.expect(&owner.session, "DOM.describeNode");
            self.reply(&node, r#"{"node":{"nodeName":"IFRAME","attributes":["src","/"]}}"#);
        }
    }

    fn reply_question(&mut self, read: &Sent, kind: &str, number: u64) {
        let question = format!(
            r#"{{"number":{number},"type":"{kind}","message":"m\ud800","defaultPrompt":"d","url":"https://a/"}}"#
        );
        self.reply_shown(read, &SECRET.proof(), &question);
    }

    fn reply_shown(&mut self, read: &Sent, proof: &str, question: &str) {
        let shown = format!(r#"{{"proof":"{proof}","question":{question}}}"#);
        self.reply(read, &format!(r#"{{"result":{{"type":"object","value":{shown}}}}}"#));
    }

    /// The page takes the answer that was sent to it, or not, and is resumed if it does. Returns the answer's script.
    #[track_caller]
    fn takes_answer(&mut self, session: &str, taken: bool) -> String {
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

    fn body_held(&mut self, session: &str, frame: &str, id: &str, body: &str) {
        let (address, body) = (Script::new(SECRET).address, Value::from(body));
        let params = format!(
            r#"{{"requestId":"{id}","request":{{"url":"{address}","method":"POST","postData":{body}}},"frameId":"{frame}","resourceType":"XHR"}}"#
        );
        self.event(session, "Fetch.requestPaused", &params);
    }
}

fn by(closed: &[(&str, ClosedBy)]) -> Vec<(String, ClosedBy)> {
    dialogs::ended(closed)
}

// --- put in place ---

#[test]
fn a_held_target_runs_only_when_the_bridge_is_in_place() {
    let mut bench = Bench::bridged();
    let popup = r#","openerId":"T","canAccessOpener":true"#;
    bench.target_created("POPUP", "page", popup);
    bench.attached("", "POPUP", "SP", "page", true, popup);
    let script = bench.expect("SP", ADD_SCRIPT);
    assert_eq!(script.param("runImmediately"), true);
    assert!(
        script
            .param("source")
            .as_str()
            .expect("a script")
            .ends_with("//# sourceURL=ostler-bridge-0000000000000003.js\n")
    );
    let patterns = bench.expect("SP", "Debugger.setBlackboxPatterns");
    assert_eq!(patterns.param("patterns")[0], r"^(?!ostler-bridge-0000000000000003\.js$).*$", "B4");
    bench.answer_set_up("SP", "POPUP", "P");
    assert!(!bench.was_sent("SP", RUN), "our script is not in place yet");
    bench.reply(&script, r#"{"identifier":"1"}"#);
    bench.expect("SP", RUN);
}

#[test]
fn the_first_session_tells_whether_the_debugger_may_be_had_and_waits_for_what_follows() {
    let mut bench = Bench::own();
    bench.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Always);
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", true, "");
    let probe = bench.expect("S", DEBUGGER);
    assert!(!bench.was_sent("S", ADD_SCRIPT), "which script it is to be is not known yet");
    bench.answer_set_up("S", "T", "P");
    bench.refuse(&probe, -32601, "'Debugger.enable' wasn't found");
    assert!(!bench.was_sent("S", RUN));
    assert_eq!(bench.methods(), ["S Fetch.enable", "S Page.setBypassCSP", "S Page.addScriptToEvaluateOnNewDocument"]);
    let fetch = bench.sent[0].param("patterns");
    assert_eq!(
        fetch,
        serde_json::json!([{"urlPattern": "https://0000000000000003.ostler-bridge.invalid/"}]),
        "that host only"
    );
    bench.answer_set_up("S", "T", "P");
    assert!(bench.notes[0].contains("refuses the Debugger domain"), "{:?}", bench.notes);
    // From now on it is known, and all is sent at once.
    bench.attached("S", "O", "SO", "iframe", true, r#","parentFrameId":"T""#);
    bench.expect("SO", "Fetch.enable");
    bench.expect("SO", ADD_SCRIPT);
    assert!(!bench.was_sent("SO", DEBUGGER));
}

#[test]
fn without_the_bridge_nothing_of_it_is_sent() {
    for bridge in [DialogBridge::Auto, DialogBridge::Never] {
        let mut bench = Bench::own();
        bench.start_task_with("default", DialogPolicy::MustRespond, bridge);
        bench.target_created("T", "page", "");
        bench.attached("", "T", "S", "page", false, "");
        for method in [DEBUGGER, ADD_SCRIPT, "Fetch.enable"] {
            assert!(!bench.was_sent("S", method), "{method} under {bridge:?}");
        }
    }
}

#[test]
fn a_backend_that_is_known_to_answer_gets_the_bridge_under_auto() {
    let mut bench = Bench::unconnected();
    let browser_id = Some("B".to_owned());
    bench.input(Input::Connected { browser_id, scope: Scope::Own, answers_dialogs: true });
    for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
        let sent = bench.expect("", method);
        bench.reply(&sent, "{}");
    }
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", false, "");
    bench.expect("S", DEBUGGER);
    assert!(bench.view().policy.bridged);
}

#[test]
fn a_dialog_that_somebody_else_answers_at_once_switches_the_bridge_on_for_its_task() {
    let mut bench = Bench::with_oopif();
    bench.start_task("other", DialogPolicy::MustRespond);
    bench.opening("S", "T", "confirm", "");
    bench.pass(ms(4));
    bench.closed("S", "T");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]));
    bench.expect("S", DEBUGGER);
    bench.expect("SO", DEBUGGER);
    assert!(bench.view().policy.bridged && !bench.view_of("other").policy.bridged);
    assert!(bench.notes[0].contains("somebody else answers"), "{:?}", bench.notes);
}

#[test]
fn a_person_who_answers_or_a_setting_of_never_leaves_the_bridge_off() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.pass(ms(900));
    bench.closed("S", "T");
    assert!(!bench.was_sent("S", DEBUGGER), "nobody reads and clicks within a tenth of a second, but this was one");
    bench.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Never);
    bench.opening("S", "T", "confirm", "");
    bench.closed("S", "T");
    bench.opening("S", "T", "confirm", "");
    let answer = bench.accept();
    bench.closed("S", "T");
    bench.answer_arrives("S");
    assert!(bench.outcome(answer).is_ok());
    assert!(!bench.was_sent("S", DEBUGGER));
}

// --- asked and answered ---

#[test]
fn a_pause_of_our_script_is_a_dialog_like_any_other() {
    let mut bench = Bench::bridged();
    bench.asks("S", "INNER", "prompt", 1);
    let dialog = bench.view().pending_dialogs[0].clone();
    assert_eq!((dialog.id.to_string().as_str(), dialog.kind, dialog.answerable), ("d-1", DialogKind::Prompt, true));
    assert_eq!((dialog.frame_id.as_str(), dialog.session_id.as_str()), ("INNER", "S"));
    assert_eq!((dialog.message.as_str(), dialog.default_prompt.as_str()), ("m\u{fffd}", "d"));
    let raw = bench.view().current_dialog_params.clone().expect("the parameters of an opening");
    let expected = r#"{"url":"https://a/","frameId":"INNER","message":"m\ud800","type":"prompt","hasBrowserHandler":true,"defaultPrompt":"d"}"#;
    assert_eq!(raw, expected);

    let answer = bench.dialog_answer(true);
    let waiter = bench.answer(DialogAnswer { prompt_text: Some(Bytes::from_static(br#""\udc00""#)), ..answer });
    assert!(bench.is_waiting(waiter));
    let script = bench.takes_answer("S", true);
    assert_eq!(script, r#"question.number === 1 && (answer = {"accept":true,"text":"\udc00"}, true)"#);
    let Ok(Outcome::Dialog(closed)) = bench.outcome(waiter) else { unreachable!("the dialog that was answered") };
    assert_eq!(closed.closed_by, ClosedBy::Agent);
    assert_eq!((bench.pending(), bench.tab_state("T")), (vec![], TabState::Ready));
    let told: Vec<_> = bench.recorded.iter().map(|(_, method)| method.as_str()).collect();
    assert!(told.ends_with(&["Page.javascriptDialogOpening", "Page.javascriptDialogClosed"]), "{told:?}");
    assert!(!told.iter().any(|method| method.starts_with("Debugger.")), "{told:?}");
}

#[test]
fn an_accepted_prompt_without_a_text_leaves_its_default_to_the_script_that_has_it() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "prompt", 3);
    bench.accept();
    assert_eq!(bench.takes_answer("S", true), r#"question.number === 3 && (answer = {"accept":true}, true)"#);
}

#[test]
fn policies_and_the_watchdog_answer_over_the_bridge() {
    for (policy, accept) in [(DialogPolicy::AutoDismiss, false), (DialogPolicy::AutoAccept, true)] {
        let mut bench = Bench::bridged_with(policy);
        bench.asks("S", "T", "confirm", 1);
        assert!(bench.takes_answer("S", true).contains(&format!(r#"{{"accept":{accept}}}"#)));
        assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::AutoPolicy)]));
    }
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.pass(DIALOG_TIMEOUT);
    assert!(bench.takes_answer("S", true).contains(r#"{"accept":false}"#));
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Watchdog)]));
}

#[test]
fn questions_of_two_processes_are_both_open_and_each_is_answered_on_its_own() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.asks("S", "T", "confirm", 1);
    bench.asks("SO", "O", "confirm", 1);
    assert_eq!(bench.pending(), ["d-1", "d-2"], "nothing of fact A26");
    assert!(bench.view().pending_dialogs.iter().all(|dialog| dialog.answerable));
    let answer = bench.dialog_answer(true);
    let second = bench.answer(DialogAnswer { dialog_id: Some("d-2".to_owned()), ..answer });
    bench.takes_answer("SO", true);
    assert!(bench.outcome(second).is_ok());
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_client_that_answers_with_plain_cdp_is_understood() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "prompt", 1);
    let wrong = bench.call_with("Page.handleJavaScriptDialog", "{}");
    assert_eq!(bench.code(wrong), "bad_request");
    let call = bench.call_with("Page.handleJavaScriptDialog", r#"{"accept":true,"promptText":"by hand"}"#);
    assert!(bench.takes_answer("S", true).contains(r#"{"accept":true,"text":"by hand"}"#));
    assert_eq!(bench.result(call), "{}");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Agent)]));
}

#[test]
fn a_client_that_answers_with_plain_cdp_hears_at_its_own_time_and_the_page_has_the_answer() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    let call = bench.client_call("Page.handleJavaScriptDialog");
    let params = Some(Bytes::from_static(br#"{"accept":true}"#));
    let call = bench.make(ClientCall { params, timeout: ms(200), ..call });
    bench.pass(ms(200));
    assert_eq!(bench.code(call), "timeout");
    bench.takes_answer("S", true);
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Agent)]));
    bench.outcome(call);
}

#[test]
fn a_page_that_wants_to_be_printed_goes_on_at_once_and_clients_are_told() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "print", 1);
    bench.expect("S", RESUME);
    assert_eq!((bench.pending(), bench.closed_by()), (vec![], vec![]));
    assert!(bench.recorded.iter().any(|(_, method)| method == "Ostler.printRequested"), "A28");
}

// --- what waits and what does not ---

#[test]
fn a_paused_page_answers_all_but_promises_and_input() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    for method in ["Runtime.evaluate", "Page.captureScreenshot", "DOM.getDocument", "Accessibility.getFullAXTree"] {
        let call = bench.call(method);
        let sent = bench.expect("S", method);
        bench.reply(&sent, "{}");
        assert_eq!(bench.result(call), "{}", "{method}");
    }
    let awaiting = bench.call_with("Runtime.evaluate", r#"{"expression":"1","awaitPromise":true}"#);
    assert_eq!(bench.code(awaiting), "dialog_open", "B5");
    for method in ["Input.dispatchMouseEvent", "CSS.enable", "Page.captureSnapshot", "Runtime.terminateExecution"] {
        let call = bench.call(method);
        assert_eq!(bench.code(call), "dialog_open", "{method}");
    }
    bench.expect_nothing_sent();
}

#[test]
fn the_calls_that_the_pause_holds_end_and_those_that_go_on_do_not() {
    let mut bench = Bench::bridged();
    let click = bench.call("Input.dispatchMouseEvent");
    let asking = bench.call("Runtime.evaluate");
    let shot = bench.call("Page.captureScreenshot");
    let awaiting = bench.call_with("Runtime.evaluate", r#"{"expression":"wait()","awaitPromise":true}"#);
    bench.sent.clear();
    bench.pauses("S", "T");
    let later = bench.call("Runtime.evaluate");
    let read = bench.expect("S", ON_FRAME);
    bench.reply_question(&read, "confirm", 1);
    for call in [click, asking, awaiting] {
        assert_eq!(bench.code(call), "dialog_open");
    }
    assert!(bench.is_waiting(later), "sent after the page had paused, it is answered in the pause");
    assert!(bench.is_waiting(shot), "B5");
}

// --- ends that nobody asked for ---

#[test]
fn a_page_that_another_client_lets_go_on_is_recorded_as_remote() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.event("S", "Debugger.resumed", "{}");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]), "B7");
    bench.asks("S", "T", "confirm", 2);
    let late = bench.accept();
    bench.event("S", "Debugger.resumed", "{}");
    assert!(bench.is_waiting(late), "whose answer it got the reply will tell");
    assert_eq!(bench.pending(), [""; 0], "it is over either way");
    bench.sent.retain(|sent| !sent.param("expression").as_str().is_some_and(|script| script.contains("number === 1")));
    bench.takes_answer("S", false);
    assert_eq!(bench.code(late), "no_dialog");
    assert!(!bench.was_sent("S", RESUME), "it may be in its next pause");
    assert_eq!(bench.closed_by()[1], ("d-2".to_owned(), ClosedBy::Remote));
}

#[test]
fn a_pause_that_was_over_before_its_question_was_read_is_left_to_the_native_dialog() {
    let mut bench = Bench::bridged();
    bench.pauses("S", "T");
    let read = bench.expect("S", ON_FRAME);
    bench.event("S", "Debugger.resumed", "{}");
    bench.refuse(&read, -32000, "Can only perform operation while paused.");
    bench.expect_nothing_sent();
    bench.opening("S", "T", "confirm", "");
    assert_eq!(bench.pending(), ["d-1"]);
    bench.accept();
    bench.answer_arrives("S");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Agent)]));
}

#[test]
fn a_frame_that_is_gone_before_its_question_was_read_does_not_leave_its_page_paused() {
    let mut bench = Bench::bridged();
    bench.frame_attached("S", "SAME", "T");
    bench.pauses("S", "SAME");
    let owner = bench.expect("S", OWNER);
    bench.frame_detached("S", "SAME", "remove");
    bench.refuse(&owner, -32000, "Frame with the given id was not found.");
    let read = bench.expect("S", ON_FRAME);
    bench.refuse(&read, -32000, "Cannot find context with specified id");
    bench.expect("S", RESUME);
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_frame_that_may_show_no_dialogs_goes_on_unread_and_so_does_one_inside_of_it() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.frame_attached("SO", "IN", "O");
    bench.pauses("SO", "IN");
    for (session, frame, sandbox) in
        [("SO", "IN", "allow-scripts allow-modals"), ("S", "O", "allow-scripts allow-same-origin")]
    {
        let owner = bench.expect(session, OWNER);
        assert_eq!(owner.param("frameId"), frame);
        bench.reply(&owner, r#"{"backendNodeId":7,"nodeId":0}"#);
        let node = bench.expect(session, "DOM.describeNode");
        assert_eq!(node.param("backendNodeId"), 7);
        bench.reply(&node, &format!(r#"{{"node":{{"nodeName":"IFRAME","attributes":["sandbox","{sandbox}"]}}}}"#));
    }
    bench.expect("SO", RESUME);
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), [""; 0]);
    assert_eq!(bench.closed_by(), by(&[]));
}

#[test]
fn a_page_that_says_nothing_of_its_frames_is_asked_for_the_question_all_the_same() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.pauses("SO", "O");
    let owner = bench.expect("S", OWNER);
    bench.pass(Duration::from_secs(1));
    let read = bench.expect("SO", ON_FRAME);
    bench.reply_question(&read, "confirm", 1);
    assert_eq!(bench.pending(), ["d-1"]);
    bench.reply(&owner, r#"{"backendNodeId":7}"#);
    bench.expect_nothing_sent();
}

#[test]
fn a_pause_that_ends_while_its_frame_is_looked_at_is_not_read() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.pauses("SO", "O");
    let owner = bench.expect("S", OWNER);
    bench.event("SO", "Debugger.resumed", "{}");
    bench.reply(&owner, r#"{"backendNodeId":7}"#);
    bench.expect_nothing_sent();
}

#[test]
fn a_question_ends_with_its_document_and_the_next_ones_pause_is_not_touched() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.navigated("S", "T", None, "https://b/");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]), "B6");
    let free = bench.expect("S", ON_FRAME);
    bench.refuse(&free, -32000, "Can only perform operation while paused.");
    bench.expect("S", "Runtime.getIsolateId");
    bench.expect_nothing_sent();
}

#[test]
fn a_frame_that_goes_away_under_its_question_needs_no_reload_but_its_page_to_go_on() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.asks("SO", "O", "confirm", 1);
    bench.frame_detached("S", "O", "remove");
    bench.detached("S", "O", "SO");
    assert_eq!(bench.pending(), [""; 0]);
    assert!(!bench.was_sent("S", "Page.disable") && !bench.was_sent("S", "Page.reload"), "nothing of fact A25");

    bench.frame_attached("S", "SAME", "T");
    bench.asks("S", "SAME", "confirm", 1);
    bench.frame_detached("S", "SAME", "remove");
    bench.expect("S", RESUME);
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_crash_or_a_lost_connection_ends_the_question() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.event("S", "Inspector.targetCrashed", "{}");
    assert_eq!(bench.pending(), [""; 0]);
    bench.expect_nothing_sent();
    bench.event("S", "Inspector.targetReloadedAfterCrash", "{}");
    let revived = ["S Debugger.disable", "S Debugger.enable", "S Debugger.setBlackboxPatterns"];
    assert_eq!(bench.methods()[..3], revived, "B4");
    bench.answer_set_up("S", "T", "P");

    bench.asks("S", "T", "confirm", 1);
    bench.lose_connection();
    assert_eq!(bench.closed_by()[1], ("d-2".to_owned(), ClosedBy::Remote), "the page goes on by itself: B6");
}

// --- questions that cannot be asked ---

impl Bench {
    /// A page that waits in our script, and may have been looked at, is told to ask by the native dialog, and goes on.
    #[track_caller]
    fn hands_over(&mut self, session: &str) {
        let told = self.expect(session, ON_FRAME);
        assert_eq!(told.param("expression"), "answer = { native: true }");
        self.expect(session, RESUME);
        assert_eq!(self.pending(), [""; 0]);
    }
}

#[test]
fn a_question_that_is_read_too_slowly_or_makes_no_sense_goes_to_the_native_dialog_and_is_no_cancel() {
    let mut bench = Bench::bridged();
    bench.pauses("S", "T");
    bench.expect("S", ON_FRAME);
    bench.pass(Duration::from_secs(10));
    bench.hands_over("S");
    for question in ["7", r#"{"number":1}"#] {
        bench.pauses("S", "T");
        let read = bench.expect("S", ON_FRAME);
        bench.reply_shown(&read, &SECRET.proof(), question);
        bench.hands_over("S");
    }
    bench.pauses("S", "T");
    let read = bench.expect("S", ON_FRAME);
    bench.refuse(&read, -32603, "Internal error");
    bench.expect("S", RESUME);
    for kind in ["beforeunload", "anything"] {
        bench.asks("S", "T", kind, 1);
        bench.hands_over("S");
    }
}

#[test]
fn a_pause_in_a_copy_of_our_script_asks_nothing() {
    let mut bench = Bench::bridged();
    bench.script_parsed("S", 7, 1, "T");
    bench.only_script_parsed("S", 8, 1);
    bench.paused("S", "8", "ostlerBridgeAsk");
    bench.expect("S", RESUME);
    // Told again, in another order, it is the first one all the same.
    bench.script_parsed("S", 8, 2, "T");
    bench.only_script_parsed("S", 7, 2);
    bench.paused("S", "8", "ostlerBridgeAsk");
    bench.expect("S", RESUME);
    bench.expect_nothing_sent();
    bench.paused("S", "7", "ostlerBridgeAsk");
    bench.expect("S", ON_FRAME);
}

#[test]
fn a_copy_that_was_there_before_our_script_cannot_prove_to_be_it() {
    let mut bench = Bench::bridged();
    bench.pauses("S", "T");
    let read = bench.expect("S", ON_FRAME);
    let question = r#"{"number":1,"type":"confirm","message":"m","defaultPrompt":"","url":"https://bank/"}"#;
    bench.reply_shown(&read, "00000000000000010000000000000003", question);
    bench.expect("S", RESUME);
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_request_that_our_script_has_not_signed_asks_nothing() {
    let mut bench = Bench::bridged_by_requests();
    let signed = r#"{"number":1,"type":"confirm","message":"m","defaultPrompt":"","url":"https://a/"}"#;
    let other = signed.replace('m', "n");
    let signature = format!("{:x}", SECRET.sign(signed));
    for body in ["", "{", "7", signed, &format!("1{signed}"), &format!("{signature}{other}"), &format!("+{signature}")]
    {
        bench.body_held("S", "T", "R1", body);
        assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R1", "{body}");
    }
    assert_eq!(bench.pending(), [""; 0]);
    bench.body_held("S", "T", "R2", &format!("{signature}{signed}"));
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_pause_without_readable_call_frames_is_not_left_standing() {
    let mut bench = Bench::bridged();
    for params in [r#"{"callFrames":[]}"#, r#"{"callFrames":"newer"}"#, "{}"] {
        bench.event("S", "Debugger.paused", params);
        bench.expect("S", RESUME);
    }
}

#[test]
fn a_refusal_to_read_an_earlier_pause_does_not_stand_for_the_one_that_followed_it() {
    let mut bench = Bench::bridged();
    bench.pauses("S", "T");
    let first = bench.expect("S", ON_FRAME);
    bench.pauses("S", "T");
    let second = bench.expect("S", ON_FRAME);
    bench.refuse(&first, -32000, "Could not find call frame with given id");
    bench.reply_question(&second, "confirm", 2);
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_frame_that_asks_in_a_tab_without_a_root_session_is_not_left_waiting() {
    for by_request in [false, true] {
        let mut bench = if by_request { Bench::bridged_by_requests() } else { Bench::bridged() };
        bench.oopif("S", "T", "O", "SO", "PO");
        bench.detached("", "T", "S");
        bench.sent.clear();
        if by_request {
            bench.request_held("SO", "R1", "confirm");
            bench.expect("SO", "Fetch.failRequest");
        } else {
            bench.asks("SO", "O", "confirm", 1);
            bench.hands_over("SO");
        }
        assert_eq!(bench.pending(), [""; 0]);
    }
}

#[test]
fn a_page_that_floods_us_with_questions_fills_no_memory() {
    let mut bench = Bench::bridged_by_requests();
    for frame in 0..32 {
        bench.request_held_of("S", &format!("F{frame}"), &format!("R{frame}"), "confirm", "m");
    }
    assert_eq!(bench.pending().len(), 32);
    bench.request_held_of("S", "ONE-MORE", "R5", "confirm", "m");
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R5");
}

#[test]
fn a_question_that_is_longer_or_of_another_kind_than_our_script_asks_is_not_kept() {
    let mut bench = Bench::bridged_by_requests();
    bench.request_held("S", "R1", "beforeunload");
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R1");
    bench.request_held_of("S", "T", "R2", "alert", &"m".repeat(6 * 10_240 + 1));
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R2");
    bench.request_held_of("S", "T", "R3", "alert", &r"\ud800".repeat(10_240));
    assert_eq!(bench.pending(), ["d-1"], "as long as Chromium shows it, in the longest way to write it");
}

#[test]
fn a_held_request_of_ours_that_cannot_be_read_is_not_left_hanging() {
    let mut bench = Bench::bridged_by_requests();
    let params = r#"{"requestId":"R1","request":{"url":"https://0000000000000003.ostler-bridge.invalid/"},"frameId":{"newer":1}}"#;
    bench.event("S", "Fetch.requestPaused", params);
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R1");
}

#[test]
fn events_that_only_mention_our_address_are_told_to_clients() {
    let mut bench = Bench::bridged_by_requests();
    let (ours, theirs) = (
        "https://0000000000000003.ostler-bridge.invalid/",
        "https://a/?see=https://0000000000000003.ostler-bridge.invalid/",
    );
    let heard = |bench: &mut Bench, params: &str| {
        bench.recorded.clear();
        bench.event("S", "Network.requestWillBeSent", params);
        bench.recorded.len()
    };
    let with_referrer = format!(r#"{{"request":{{"url":"https://a/","headers":{{"Referer":"{ours}"}}}}}}"#);
    assert_eq!(heard(&mut bench, &format!(r#"{{"request":{{"url":"{theirs}"}}}}"#)), 1);
    assert_eq!(heard(&mut bench, &format!(r#"{{"response":{{"url":"{theirs}"}}}}"#)), 1);
    assert_eq!(heard(&mut bench, &with_referrer), 1);
    assert_eq!(heard(&mut bench, &format!(r#"{{"request":{{"url":"{ours}"}}}}"#)), 0);
    assert_eq!(heard(&mut bench, &format!(r#"{{"response":{{"url":"{ours}"}}}}"#)), 0);
}

// --- pauses and clients that are not ours ---

#[test]
fn a_pause_that_is_not_ours_is_resumed_at_once_or_left_to_its_owner_for_a_while() {
    let mut own = Bench::bridged();
    own.paused("S", "9", "pageFunction");
    own.expect("S", RESUME);
    assert_eq!(own.pending(), [""; 0]);

    let mut guest = Bench::guest();
    guest.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Always);
    guest.tab_of_guest("T", "S");
    guest.paused("S", "9", "pageFunction");
    assert!(!guest.was_sent("S", RESUME), "somebody may be debugging");
    guest.pass(Duration::from_secs(10));
    guest.expect("S", RESUME);
    guest.paused("S", "9", "pageFunction");
    guest.event("S", "Debugger.resumed", "{}");
    guest.pass(Duration::from_secs(20));
    guest.expect_nothing_sent();
}

#[test]
fn a_client_that_debugs_sees_its_own_pauses_and_none_of_ours() {
    let mut bench = Bench::bridged();
    for method in ["Debugger.disable", "Debugger.setBlackboxPatterns", "Debugger.setSkipAllPauses"] {
        let call = bench.call(method);
        assert_eq!(bench.code(call), "bad_request", "{method}: B4");
    }
    bench.call(DEBUGGER);
    bench.expect("S", DEBUGGER);
    bench.recorded.clear();
    bench.paused("S", "9", "pageFunction");
    bench.asks("S", "T", "confirm", 1);
    assert!(!bench.was_sent("S", RESUME), "the client resumes what it made pause");
    let told: Vec<_> = bench.recorded.iter().map(|(_, method)| method.as_str()).collect();
    let world = "Runtime.executionContextCreated";
    assert_eq!(told, ["Debugger.paused", world, "Debugger.scriptParsed", "Page.javascriptDialogOpening"]);
}

// --- leaving ---

#[test]
fn leaving_answers_what_is_open_and_what_is_being_read() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.asks("S", "T", "confirm", 1);
    bench.pauses("SO", "O");
    let waiter = bench.waiter();
    bench.input(Input::Leave(waiter));
    let version = bench.expect("", "Browser.getVersion");
    bench.reply(&version, "{}");
    assert!(bench.takes_answer("S", true).contains(r#"{"accept":false}"#));
    assert!(bench.is_waiting(waiter), "a page has paused, and its question is on its way");
    bench.frames_may_ask();
    assert!(bench.is_waiting(waiter));
    let read = bench.expect("SO", ON_FRAME);
    bench.reply_question(&read, "confirm", 1);
    assert!(bench.is_waiting(waiter));
    bench.takes_answer("SO", true);
    assert!(bench.outcome(waiter).is_ok());
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn switched_off_the_bridge_stays_until_what_is_open_has_its_answer() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.asks("S", "T", "confirm", 1);
    bench.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Never);
    assert!(!bench.was_sent("S", "Debugger.disable"), "that would let the page go on with an answer nobody gave");
    bench.expect("SO", "Debugger.disable");
    bench.accept();
    bench.takes_answer("S", true);
    bench.expect("S", "Debugger.disable");
    bench.pauses("S", "T");
    bench.expect_nothing_sent();
}

// --- by requests ---

#[test]
fn a_held_request_is_a_dialog_and_its_page_is_deaf_meanwhile() {
    let mut bench = Bench::bridged_by_requests();
    bench.recorded.clear();
    bench.request_held("S", "R1", "prompt");
    assert_eq!(bench.pending(), ["d-1"]);
    let blocked = bench.call("Runtime.evaluate");
    assert_eq!(bench.code(blocked), "dialog_open");
    let answer = bench.dialog_answer(true);
    let waiter = bench.answer(DialogAnswer { prompt_text: Some(Bytes::from_static(br#""hi""#)), ..answer });
    let sent = bench.expect("S", "Fetch.fulfillRequest");
    assert_eq!((sent.param("requestId"), sent.param("responseCode")), ("R1".into(), 200.into()));
    assert_eq!(sent.param("body"), "eyJhY2NlcHQiOnRydWUsInRleHQiOiJoaSJ9");
    assert_eq!(sent.param("responseHeaders")[0]["name"], "Access-Control-Allow-Origin", "B2");
    bench.reply(&sent, "{}");
    assert!(bench.outcome(waiter).is_ok());
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Agent)]));
    assert!(!bench.recorded.iter().any(|(_, method)| method.starts_with("Fetch.")));
}

#[test]
fn a_request_whose_question_cannot_be_read_is_left_to_the_native_dialog() {
    let mut bench = Bench::bridged_by_requests();
    let params = r#"{"requestId":"R1","request":{"url":"https://0000000000000003.ostler-bridge.invalid/","method":"GET"},"frameId":"T"}"#;
    bench.event("S", "Fetch.requestPaused", params);
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R1");
    let other = r#"{"requestId":"R2","request":{"url":"https://a/","method":"GET"},"frameId":"T"}"#;
    bench.recorded.clear();
    bench.event("S", "Fetch.requestPaused", other);
    bench.expect_nothing_sent();
    assert_eq!(bench.recorded.len(), 1, "whoever holds other requests is told of them");
    let call = bench.call("Fetch.disable");
    assert_eq!(bench.code(call), "bad_request");
}

#[test]
fn a_page_that_asks_in_a_loop_has_one_question_open_whatever_comes_first() {
    let mut bench = Bench::bridged_by_requests();
    bench.request_held("S", "R1", "prompt");
    let first = bench.accept();
    let sent = bench.expect("S", "Fetch.fulfillRequest");
    // The page has the answer and asks again, before the browser tells that it has carried the answer out.
    bench.request_held("S", "R2", "prompt");
    assert_eq!((bench.pending(), bench.closed_by()), (vec!["d-2".to_owned()], by(&[("d-1", ClosedBy::Agent)])));
    assert!(bench.is_waiting(first));
    bench.reply(&sent, "{}");
    let Ok(Outcome::Dialog(closed)) = bench.outcome(first) else { unreachable!("the dialog that was answered") };
    assert_eq!((closed.id.to_string().as_str(), closed.closed_by), ("d-1", ClosedBy::Agent));
    // One that nobody has answered cannot be waited for any more either.
    bench.request_held("S", "R3", "prompt");
    assert_eq!(bench.expect("S", "Fetch.fulfillRequest").param("requestId"), "R2");
    assert_eq!(bench.pending(), ["d-3"]);
    assert_eq!(bench.closed_by()[1], ("d-2".to_owned(), ClosedBy::Remote));
}

#[test]
fn a_request_that_was_given_up_meanwhile_is_recorded_as_remote() {
    let mut bench = Bench::bridged_by_requests();
    bench.request_held("S", "R1", "confirm");
    let waiter = bench.accept();
    let sent = bench.expect("S", "Fetch.fulfillRequest");
    bench.refuse(&sent, -32602, "Invalid InterceptionId.");
    assert_eq!(bench.code(waiter), "no_dialog");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]));
}
