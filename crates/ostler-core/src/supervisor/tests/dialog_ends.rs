//! Dialogs that nobody answers: how they end, and what cannot be answered any more: facts A11 and A23 to A26.

use super::dialogs::ended;
use super::*;

const ANSWER: &str = "Page.handleJavaScriptDialog";
const NOT_SHOWING: &str = "No dialog is showing";

impl Bench {
    /// Every session of the tab was told to be blind, and only then the tab is reloaded (A25).
    #[track_caller]
    fn expect_disarm_then_reload(&mut self, sessions: &[&str]) -> Sent {
        self.disarm(sessions);
        self.expect("S", "Page.reload")
    }

    /// Every session is told to be blind, and the next document to wait; nobody leaves the page before (F38).
    #[track_caller]
    fn disarm(&mut self, sessions: &[&str]) {
        let mut asked: Vec<Sent> = sessions.iter().map(|session| self.expect(session, "Page.disable")).collect();
        asked.push(self.expect("S", "Debugger.enable"));
        asked.push(self.expect("S", "EventBreakpoints.setInstrumentationBreakpoint"));
        assert_eq!(asked[asked.len() - 1].params, r#"{"eventName":"scriptFirstStatement"}"#);
        for sent in asked {
            let leaves = |sent: &String| sent.ends_with("Page.reload") || sent.ends_with("Page.navigate");
            assert!(!self.methods().iter().any(leaves), "{:?}", self.methods());
            self.reply(&sent, "{}");
        }
    }
}

// --- by the page, the tab or the process ---

#[test]
fn dialog_closed_by_navigation_leaves_no_pending_dialog() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    bench.navigated("S", "T", None, "https://b/");
    assert_eq!(bench.pending(), [""; 0], "A23: without a Closed");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]));
    bench.closed("S", "T");
    assert_eq!(bench.closed_by().len(), 1, "a Closed that comes late is no second one");
}

#[test]
fn a_root_navigation_closes_the_dialog_of_a_frame_that_was_never_announced() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "NEVER-SEEN", "alert", "");
    bench.navigated("S", "T", None, "https://b/");
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_navigation_elsewhere_leaves_a_dialog_open() {
    let mut bench = Bench::with_oopif();
    bench.frame_attached("S", "F", "T");
    bench.opening("S", "O", "alert", "");
    bench.navigated("S", "F", Some("T"), "https://b/");
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_closed_tab_takes_its_dialog_along() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    bench.opening("S", "T", "confirm", "");
    bench.target_destroyed("T");
    assert_eq!(bench.pending(), [""; 0]);
    bench.pass(DIALOG_TIMEOUT);
    bench.expect_nothing_sent();
}

#[test]
fn a_crash_closes_the_dialogs_of_its_process() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "alert", "");
    bench.event("SO", "Inspector.targetCrashed", "{}");
    assert_eq!(bench.pending(), [""; 0], "A24: no Closed comes");
    bench.opening("S", "T", "alert", "");
    bench.event("S", "Inspector.targetCrashed", "{}");
    assert_eq!(bench.pending(), [""; 0]);
}

// --- a frame removed under its dialog (A25) ---

#[test]
fn a_frame_removed_under_its_dialog_disarms_every_session_before_the_reload() {
    let mut bench = Bench::with_oopif();
    bench.attached("", "T", "CLIENT", "page", false, "");
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    assert_eq!(bench.pending(), [""; 0]);
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]));
    bench.detached("S", "O", "SO");
    assert!(bench.notes.iter().any(|note| note.contains("removed under its open dialog")));
    let reload = bench.expect_disarm_then_reload(&["CLIENT", "S"]);
    bench.reply(&reload, "{}");
    assert!(!bench.was_sent("S", "Page.enable"), "not before the document was replaced");
    bench.event("S", "Runtime.executionContextsCleared", "{}");
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    bench.expect("S", "Emulation.setFocusEmulationEnabled");
}

#[test]
fn a_detached_frame_that_owns_a_dialog_is_recovered_from_whichever_is_told_first() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.detached("S", "O", "SO");
    let before = bench.methods();
    bench.frame_detached("S", "O", "remove");
    assert_eq!(bench.methods(), before, "once is enough");
    bench.expect_disarm_then_reload(&["S"]);
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_frame_removed_by_an_enclosing_one_is_recovered_from() {
    let mut bench = Bench::with_oopif();
    bench.frame_attached("SO", "INNER", "O");
    bench.opening("S", "INNER", "alert", "");
    bench.frame_detached("S", "O", "remove");
    bench.expect("S", "Page.disable");
}

#[test]
fn a_frames_dialog_is_told_of_while_its_tab_is_made_safe_though_the_page_answers_its_set_up_late() {
    let mut bench = Bench::own();
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", false, "");
    let enable = bench.expect("S", "Page.enable");
    while bench.tab_state("T") != TabState::Blocked {
        bench.pass(ms(500));
        if bench.was_sent("S", "Page.getNavigationHistory") {
            let history = bench.expect("S", "Page.getNavigationHistory");
            bench.reply(&history, "{}");
        }
    }
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.opening("S", "O", "confirm", "");
    bench.sent.clear();
    bench.call_with("Page.navigate", r#"{"url":"https://b/"}"#);
    assert!(bench.was_sent("SO", "Page.disable"), "F38");
    bench.reply(&enable, "{}");
    assert!(bench.pending().contains(&"d-2".to_owned()), "{:?}", bench.pending());
}

#[test]
fn what_was_to_end_one_recovery_does_not_cut_the_next_one_short() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    let reload = bench.expect_disarm_then_reload(&["S", "SO"]);
    bench.reply(&reload, "{}");
    bench.event("S", REPLACED, "{}");
    bench.answer_own_set_up("S", "T", "1");
    bench.oopif("S", "T", "O2", "SO2", "PO");
    bench.opening("S", "O2", "confirm", "");
    bench.frame_detached("S", "O2", "remove");
    bench.sent.clear();
    bench.pass(Duration::from_secs(6));
    assert!(
        !bench.was_sent("S", "Page.enable"),
        "A25: before the reload it would let the next navigation end the browser"
    );
}

#[test]
fn nothing_reaches_a_tab_that_recovers() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    let before = bench.methods();
    let (navigate, evaluate) = (bench.call("Page.navigate"), bench.call_on("S", "Runtime.evaluate"));
    let close = bench.call_with("Target.closeTarget", r#"{"targetId":"T"}"#);
    let answer = bench.accept();
    let other = bench.call("Target.getTargets");
    bench.pass(ms(500));
    assert_eq!(bench.code(answer), "no_dialog");
    assert!(bench.is_waiting(other));
    bench.expect("", "Target.getTargets");
    assert_eq!(bench.methods(), before);
    let reload = bench.expect_disarm_then_reload(&["S", "SO"]);
    bench.expect_nothing_sent();
    bench.reply(&reload, "{}");
    bench.event("S", "Runtime.executionContextsCleared", "{}");
    for waiter in [navigate, evaluate, close] {
        assert!(bench.is_waiting(waiter));
    }
    bench.answer_own_set_up("S", "T", "1");
    bench.expect("S", "Page.navigate");
    bench.expect("S", "Runtime.evaluate");
    bench.expect("", "Target.closeTarget");
}

#[test]
fn a_dialog_told_while_its_tab_recovers_is_not_answered() {
    for policy in [DialogPolicy::MustRespond, DialogPolicy::AutoAccept, DialogPolicy::AutoDismiss] {
        let mut bench = Bench::with_oopif();
        bench.opening("S", "O", "confirm", "");
        bench.start_task("default", policy);
        bench.sent.clear();
        bench.frame_detached("S", "O", "remove");
        bench.opening("S", "T", "alert", "");
        bench.accept();
        bench.pass(DIALOG_TIMEOUT);
        assert!(!bench.was_sent("S", ANSWER), "{policy:?}: an answer now would end the browser");
    }
}

#[test]
fn the_other_dialog_of_a_tab_that_recovers_goes_with_the_reload() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.opening("S", "T", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    assert_eq!(bench.pending(), ["d-2"], "it blocks the page until then");
    assert!(!bench.view().pending_dialogs[0].answerable);
    bench.detached("S", "O", "SO");
    let reload = bench.expect_disarm_then_reload(&["S"]);
    bench.reply(&reload, "{}");
    assert_eq!(bench.pending(), [""; 0]);
    bench.pass(DIALOG_TIMEOUT);
    assert!(!bench.was_sent("S", ANSWER));
}

#[test]
fn a_recovering_tab_is_set_up_again_even_if_no_document_replaces_the_old_one() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    bench.detached("S", "O", "SO");
    let reload = bench.expect_disarm_then_reload(&["S"]);
    bench.reply(&reload, "{}");
    bench.pass(Duration::from_secs(5));
    bench.expect("S", "Page.enable");
}

#[test]
fn a_frame_that_swaps_process_or_goes_without_a_dialog_needs_no_recovery() {
    let mut bench = Bench::with_oopif();
    bench.frame_detached("S", "O", "swap");
    bench.frame_attached("S", "F", "T");
    bench.frame_detached("S", "F", "remove");
    bench.opening("S", "T", "alert", "");
    bench.detached("S", "O", "SO");
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), ["d-1"]);
}

// --- two at once (A26) ---

#[test]
fn the_second_of_two_dialogs_in_different_processes_cannot_be_answered() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "first");
    bench.opening("S", "T", "confirm", "second");
    assert_eq!(bench.pending(), ["d-1", "d-2"]);
    bench.closed("S", "O");
    assert_eq!(bench.pending(), ["d-2"]);
    assert!(!bench.view().pending_dialogs[0].answerable);
    let answer = bench.accept();
    assert_eq!(bench.code(answer), "dialog_open");
    assert!(bench.error(answer).to_string().contains("reload"));
    assert!(!bench.was_sent("S", ANSWER));
    bench.navigated("S", "T", None, "https://a/");
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn the_second_of_two_dialogs_stays_known_and_no_policy_answers_it() {
    let mut bench = Bench::with_oopif();
    bench.start_task("default", DialogPolicy::AutoAccept);
    bench.opening("S", "O", "confirm", "first");
    bench.opening("S", "T", "confirm", "second");
    bench.closed("S", "O");
    let sent = bench.expect("S", ANSWER);
    bench.refuse(&sent, -32602, NOT_SHOWING);
    assert!(!bench.was_sent("S", ANSWER), "no answer gets through to it");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]));
    assert_eq!(bench.pending(), ["d-2"], "it still blocks the page");
    assert!(!bench.view().pending_dialogs[0].answerable);
    let call = bench.call("Runtime.evaluate");
    assert_eq!(bench.code(call), "dialog_open");
}

#[test]
fn dialogs_that_queue_in_one_process_are_answered_one_after_the_other() {
    let mut bench = Bench::with_tab();
    bench.frame_attached("S", "F", "T");
    bench.opening("S", "T", "confirm", "first");
    bench.accept();
    bench.closed("S", "T");
    bench.opening("S", "F", "confirm", "second");
    bench.answer_arrives("S");
    assert_eq!(bench.pending(), ["d-2"]);
    assert!(bench.view().pending_dialogs[0].answerable);
    bench.accept();
    bench.answer_arrives("S");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Agent), ("d-2", ClosedBy::Agent)]));
}

#[test]
fn a_lost_connection_leaves_an_open_dialog_that_nobody_can_answer() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.lose_connection();
    assert_eq!(bench.pending(), ["d-1"]);
    assert!(!bench.view().pending_dialogs[0].answerable, "A11");
    bench.pass(DIALOG_TIMEOUT);
    bench.expect_nothing_sent();
}

#[test]
fn a_raw_answer_to_a_dialog_that_cannot_be_answered_does_not_close_it() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "first");
    bench.opening("S", "T", "confirm", "second");
    bench.closed("S", "O");
    let raw = bench.call(ANSWER);
    let sent = bench.expect("S", ANSWER);
    bench.reply(&sent, "{}");
    assert_eq!(bench.result(raw), "{}");
    assert_eq!(bench.pending(), ["d-2"], "whatever the browser says, it blocks the page until a reload (A26)");
}

#[test]
fn a_crash_while_a_tab_recovers_ends_the_recovery() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    bench.detached("S", "O", "SO");
    let reload = bench.expect_disarm_then_reload(&["S"]);
    bench.reply(&reload, "{}");
    bench.event("S", "Inspector.targetCrashed", "{}");
    bench.event("S", "Inspector.targetReloadedAfterCrash", "{}");
    bench.answer_set_up("S", "T", "P");
    assert_eq!(bench.tab_state("T"), TabState::Ready);
    bench.opening("S", "T", "confirm", "");
    assert!(bench.view().pending_dialogs[0].answerable);
}

// --- a page that is left while a frame of it asks (fact F38) ---

const REPLACED: &str = "Runtime.executionContextsCleared";

impl Bench {
    /// A tab in which a frame of another process asks, and the agent navigates; what was sent for that.
    fn left_while_a_frame_asks(method: &str, params: &'static str) -> (Self, Waiter, Sent) {
        let mut bench = Bench::with_oopif();
        bench.opening("S", "O", "confirm", "");
        let call = bench.call_with(method, params);
        bench.disarm(&["S", "SO"]);
        let sent = bench.expect("S", method);
        bench.expect_nothing_sent();
        (bench, call, sent)
    }
}

#[test]
fn a_page_is_left_with_page_off_while_a_frame_asks_since_that_may_be_gone_by_then() {
    let (mut bench, call, navigate) = Bench::left_while_a_frame_asks("Page.navigate", r#"{"url":"https://b/"}"#);
    let evaluate = bench.call("Runtime.evaluate");
    bench.reply(&navigate, r#"{"frameId":"T","loaderId":"L"}"#);
    assert!(bench.outcome(call).is_ok());
    bench.expect_nothing_sent();
    bench.event("S", REPLACED, "{}");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]), "the navigation has taken it along");
    let at = |method: &str| bench.sent.iter().position(|sent| sent.method == method).expect("it was sent");
    assert!(at("Page.enable") < at("Debugger.disable"), "before the new document's first script runs");
    assert!(at("EventBreakpoints.disable") < at("Debugger.disable"));
    bench.opening("S", "T", "prompt", "first");
    assert_eq!(bench.pending(), ["d-2"]);
    assert_eq!(bench.code(evaluate), "dialog_open", "what came meanwhile went to the new document");
}

#[test]
fn a_tab_that_was_left_so_is_set_up_again_by_its_new_document_or_by_time() {
    for (method, params, answer) in
        [("Page.reload", "{}", "{}"), ("Page.navigate", r#"{"url":"https://b/"}"#, r#"{"frameId":"T","loaderId":"L"}"#)]
    {
        for told in [true, false] {
            let (mut bench, call, sent) = Bench::left_while_a_frame_asks(method, params);
            bench.reply(&sent, answer);
            assert!(bench.outcome(call).is_ok());
            bench.expect_nothing_sent();
            if told {
                bench.event("S", REPLACED, "{}");
            } else {
                bench.pass(Duration::from_secs(5));
            }
            bench.expect("S", "Page.enable");
        }
    }
}

#[test]
fn a_navigation_that_brings_no_document_while_a_frame_asks_is_followed_by_a_reload() {
    for answer in [r#"{"frameId":"T"}"#, r#"{"frameId":"T","loaderId":"L","errorText":"net::ERR_ABORTED"}"#] {
        let (mut bench, _, navigate) = Bench::left_while_a_frame_asks("Page.navigate", r#"{"url":"https://b/"}"#);
        bench.reply(&navigate, answer);
        assert!(!bench.was_sent("S", "Page.enable"), "nobody knows whether that is safe");
        let reload = bench.expect("S", "Page.reload");
        bench.reply(&reload, "{}");
        bench.event("S", REPLACED, "{}");
        bench.expect("S", "Page.enable");
    }
    let (mut bench, call, _) = Bench::left_while_a_frame_asks("Page.navigate", r#"{"url":"https://b/"}"#);
    bench.pass(Duration::from_secs(30));
    assert_eq!(bench.code(call), "timeout");
    bench.expect("S", "Page.reload");
}

#[test]
fn a_page_is_left_as_ever_where_no_frame_can_go_or_a_client_would_lose_what_it_has_on() {
    for params in [r#"{"url":"https://a/#here"}"#, r#"{"url":"https://b/","frameId":"O"}"#] {
        let mut bench = Bench::with_oopif();
        bench.opening("S", "O", "confirm", "");
        bench.call_with("Page.navigate", params);
        bench.expect("S", "Page.navigate");
        bench.expect_nothing_sent();
    }
    let mut bench = Bench::with_oopif();
    bench.attached("", "T", "CLIENTS", "page", false, "");
    bench.opening("S", "O", "confirm", "");
    bench.call_with("Page.navigate", r#"{"url":"https://b/"}"#);
    assert!(!bench.was_sent("S", "Page.disable"));
}

#[test]
fn the_debugger_that_holds_a_document_is_nobody_elses_business() {
    let (mut bench, ..) = Bench::left_while_a_frame_asks("Page.navigate", r#"{"url":"https://b/"}"#);
    bench.recorded.clear();
    let paused = r#"{"callFrames":[],"reason":"instrumentation"}"#;
    bench.event("S", "Debugger.paused", paused);
    bench.event("S", REPLACED, "{}");
    bench.event("S", "Debugger.resumed", "{}");
    let told = |bench: &Bench| bench.recorded.iter().any(|(_, method)| method.starts_with("Debugger."));
    assert!(!told(&bench));
    let ended = bench.expect("S", "Debugger.disable");
    bench.reply(&ended, "{}");
    bench.event("S", "Debugger.paused", paused);
    assert!(told(&bench), "by now it is somebody else's");
}

#[test]
fn a_client_that_has_the_debugger_on_keeps_it_as_it_is() {
    let mut bench = Bench::with_oopif();
    bench.call("Debugger.enable");
    bench.sent.clear();
    bench.opening("S", "O", "confirm", "");
    bench.call_with("Page.navigate", r#"{"url":"https://b/"}"#);
    assert_eq!(bench.methods(), ["S Page.navigate"]);
    bench.frame_detached("S", "O", "remove");
    for session in ["S", "SO"] {
        let sent = bench.expect(session, "Page.disable");
        bench.reply(&sent, "{}");
    }
    bench.expect("S", "Page.reload");
    bench.event("S", "Runtime.executionContextsCleared", "{}");
    assert!(!bench.methods().iter().any(|sent| sent.contains("Debugger")), "{:?}", bench.methods());
}

#[test]
fn a_client_whom_the_backend_refuses_the_debugger_does_not_have_it_on() {
    let mut bench = Bench::with_oopif();
    let call = bench.call("Debugger.enable");
    let sent = bench.expect("S", "Debugger.enable");
    bench.refuse(&sent, -32601, "'Debugger.enable' wasn't found");
    assert_eq!(bench.code(call), "cdp");
    bench.sent.clear();
    bench.opening("S", "O", "confirm", "");
    bench.call_with("Page.navigate", r#"{"url":"https://b/"}"#);
    bench.disarm(&["S", "SO"]);
    bench.expect("S", "Page.navigate");
}

#[test]
fn a_tab_that_is_set_up_again_lets_no_popup_of_its_go() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    let reload = bench.expect_disarm_then_reload(&["S", "SO"]);
    bench.reply(&reload, "{}");
    bench.event("S", REPLACED, "{}");
    bench.expect("S", "Page.enable");
    assert!(!bench.was_sent("S", "Runtime.runIfWaitingForDebugger"), "F3");
    assert!(!bench.was_sent("S", "Target.setAutoAttach"), "F39: a frame that is just coming would be lost");
}
