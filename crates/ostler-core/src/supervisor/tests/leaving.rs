//! Letting go, of a task's tabs and of the browser: in good order, and in time (facts A11, A19, B6, E2, E3).

use super::super::LEAVE;
use super::bridge::{ON_FRAME, RESUME, RUN};
use super::*;

const ANSWER: &str = "Page.handleJavaScriptDialog";
const DETACH: &str = "Target.detachFromTarget";
const NOT_READY: &str = "Not attached to an active page";
const ASKS_NOTHING: &str = "Runtime.getIsolateId";
const HISTORY: &str = "Page.getNavigationHistory";
const CLOSE: &str = "Target.closeTarget";

impl Bench {
    fn leave(&mut self) -> Waiter {
        let waiter = self.waiter();
        self.input(Input::Leave(waiter));
        waiter
    }

    /// The page answers, as it does once its script has nothing more to ask.
    #[track_caller]
    fn asks_nothing(&mut self, session: &str) {
        let asked = self.expect(session, ASKS_NOTHING);
        self.reply(&asked, r#"{"id":"i"}"#);
    }

    /// The task of `with_tab` ends while its page asks natively; what was sent before is of no interest.
    fn end_while_it_asks(&mut self) -> Sent {
        self.opening("S", "T", "confirm", "");
        self.input(Input::EndTask("default".into()));
        self.expect("S", ANSWER)
    }
}

// --- the daemon ends ---

#[test]
fn leaving_dismisses_what_is_open_and_tells_when_that_is_done() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    bench.opening("S", "T", "confirm", "");
    bench.opening("S2", "T2", "alert", "");
    bench.attached("S", "O", "SO", "iframe", true, "");
    let waiter = bench.waiter();
    bench.input(Input::Leave(waiter));
    let first = bench.expect("S", ANSWER);
    assert_eq!(first.params, r#"{"accept":false}"#, "A11");
    let second = bench.expect("S2", ANSWER);
    let resume = bench.expect("SO", "Runtime.runIfWaitingForDebugger");
    for sent in [&first, &second] {
        bench.reply(sent, "{}");
        assert!(bench.is_waiting(waiter));
    }
    bench.reply(&resume, "{}");
    assert!(bench.is_waiting(waiter), "what was sent before may still be on its way");
    let last = bench.expect("", "Browser.getVersion");
    bench.reply(&last, "{}");
    bench.asks_nothing("S");
    assert!(bench.is_waiting(waiter), "one of them may ask again");
    bench.asks_nothing("S2");
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
}

#[test]
fn leaving_with_nothing_open_is_done_at_once() {
    let mut bench = Bench::unconnected();
    let waiter = bench.waiter();
    bench.input(Input::Leave(waiter));
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
}

#[test]
fn a_popup_that_comes_while_we_leave_runs_at_once() {
    let mut bench = Bench::with_tab();
    let waiter = bench.waiter();
    bench.input(Input::Leave(waiter));
    let more = r#","openerId":"T","canAccessOpener":true"#;
    bench.target_created("POPUP", "page", more);
    bench.attached("", "POPUP", "SP", "page", true, more);
    bench.expect("SP", "Runtime.runIfWaitingForDebugger");
    assert!(!bench.was_sent("SP", "Page.enable"), "E3: nobody would be there to resume it afterwards");
}

#[test]
fn leaving_a_browser_that_is_not_ours_waits_for_a_popup_that_is_being_attached() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    let waiter = bench.waiter();
    bench.input(Input::Leave(waiter));
    let last = bench.expect("", "Browser.getVersion");
    bench.target_created("POPUP", "page", r#","openerId":"T","canAccessOpener":true"#);
    let attach = bench.expect("", "Target.attachToTarget");
    bench.reply(&last, "{}");
    assert!(bench.is_waiting(waiter), "E2: it is held, and nobody else lets it go");
    bench.attached("", "POPUP", "SP", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"SP"}"#);
    bench.expect("SP", "Runtime.runIfWaitingForDebugger");
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
}

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
fn leaving_ends_in_time_whatever_the_browser_leaves_unanswered() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.opening("S", "T", "confirm", "");
    bench.attached("S", "HELD", "SH", "iframe", true, "");
    bench.target_created("POPUP", "page", POPUP);
    bench.target_created("FOREIGN", "page", r#","openerId":"X","canAccessOpener":true"#);
    let waiter = bench.leave();
    bench.detached("", "T", "S");
    bench.pass(LEAVE - ms(1));
    assert!(bench.is_waiting(waiter), "it may still answer");
    bench.pass(ms(1));
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
    for asked in ["Target.attachToTarget", "Browser.getVersion"] {
        bench.expect("", asked);
    }
    bench.pass(Duration::from_secs(60));
    let targets: Vec<_> = bench.sent.iter().filter(|sent| sent.method == "Target.attachToTarget").collect();
    assert_eq!(targets.len(), 1, "nothing that is lost is attached again: {targets:?}");
}

#[test]
fn an_attaching_that_fails_while_we_leave_is_not_tried_again() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    bench.detached("", "T", "S");
    bench.expect("", "Target.attachToTarget");
    bench.pass(Duration::from_secs(9));
    let waiter = bench.leave();
    let last = bench.expect("", "Browser.getVersion");
    bench.reply(&last, "{}");
    bench.pass(Duration::from_secs(1));
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done), "its time is over, and nothing else is open");
    bench.expect_nothing_sent();
}

#[test]
fn a_question_that_nobody_has_read_when_the_time_is_over_goes_on_as_cancelled() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.pauses("SO", "O");
    let waiter = bench.leave();
    bench.pass(LEAVE);
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
    bench.expect("SO", ON_FRAME);
    let marked = bench.expect("SO", ON_FRAME);
    assert_eq!(marked.param("expression"), "seen = true", "unread it would ask natively, and nobody would answer");
    bench.expect("SO", RESUME);
}

#[test]
fn an_answer_that_is_refused_while_we_leave_is_followed_by_a_dismissal() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "prompt", "");
    bench.accept();
    let accepted = bench.expect("S", ANSWER);
    let waiter = bench.leave();
    let last = bench.expect("", "Browser.getVersion");
    bench.reply(&last, "{}");
    assert!(bench.is_waiting(waiter), "an agent's answer is on its way");
    bench.refuse(&accepted, -32602, "Invalid parameters");
    let dismissed = bench.expect("S", ANSWER);
    assert_eq!(dismissed.params, r#"{"accept":false}"#);
    bench.refuse(&dismissed, -32602, "Invalid parameters");
    bench.asks_nothing("S");
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
    bench.expect_nothing_sent();
}

#[test]
fn nothing_new_is_begun_while_we_leave() {
    let mut bench = Bench::with_tab();
    bench.leave();
    bench.sent.clear();
    let call = bench.call("Runtime.evaluate");
    assert_eq!(bench.code(call), "browser_gone");
    bench.expect_nothing_sent();
}

#[test]
fn two_who_wait_for_the_end_hear_of_it_together() {
    let mut bench = Bench::with_tab();
    let (first, second) = (bench.leave(), bench.leave());
    let last = bench.expect("", "Browser.getVersion");
    bench.reply(&last, "{}");
    for waiter in [first, second] {
        assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
    }
}

// --- a task ends ---

#[test]
fn an_ended_tasks_dialog_is_dismissed_before_its_tab_is_left() {
    let mut bench = Bench::with_tab();
    let sent = bench.end_while_it_asks();
    assert_eq!(sent.params, r#"{"accept":false}"#);
    bench.expect_nothing_sent();
    assert_eq!(bench.retired, [TaskId::default_task()]);
    bench.reply(&sent, "{}");
    bench.asks_nothing("S");
    assert_eq!(bench.methods(), [DETACH], "A11");
    let call = bench.call("Runtime.evaluate");
    assert_eq!(bench.code(call), "unknown_task");
}

#[test]
fn an_ended_tasks_dialog_that_the_page_was_not_ready_to_end_is_dismissed_again() {
    let mut bench = Bench::with_tab();
    let sent = bench.end_while_it_asks();
    bench.refuse(&sent, -32000, NOT_READY);
    bench.expect_nothing_sent();
    bench.pass(ms(100));
    let again = bench.expect("S", ANSWER);
    bench.reply(&again, "{}");
    bench.asks_nothing("S");
    assert_eq!(bench.methods(), [DETACH], "A19");
    bench.pass(Duration::from_secs(60));
    assert_eq!((bench.core.in_flight(), bench.core.poll_timeout()), (0, None));
}

#[test]
fn an_ended_tasks_tab_is_left_in_time_whatever_its_page_does() {
    for (answers, left_by) in [(true, CLOSE), (false, DETACH)] {
        let mut bench = Bench::with_tab();
        let mut sent = Some(bench.end_while_it_asks());
        let mut waited = Duration::ZERO;
        while !bench.was_sent("", left_by) {
            assert!(!bench.was_sent("", DETACH), "what waits for its next document is not let go (F48)");
            assert!(waited <= LEAVE, "after {waited:?}");
            if let Some(sent) = sent.take().filter(|_| answers) {
                bench.refuse(&sent, -32000, NOT_READY);
            }
            bench.pass(ms(50));
            waited += ms(50);
            if bench.was_sent("S", ANSWER) {
                sent = Some(bench.expect("S", ANSWER));
            }
        }
    }
}

#[test]
fn an_ended_tasks_page_that_tells_nothing_more_is_taken_at_its_last_word() {
    let mut bench = Bench::with_tab();
    let sent = bench.end_while_it_asks();
    bench.refuse(&sent, -32000, NOT_READY);
    bench.pass(ms(100));
    bench.expect("S", ANSWER);
    bench.pass(LEAVE);
    assert_eq!(bench.methods(), [CLOSE], "F48: it was refused before, and to let go of it would end the browser");
}

#[test]
fn what_was_known_of_a_page_before_its_task_ended_counts_if_it_tells_nothing_any_more() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let answer = bench.accept();
    while bench.is_waiting(answer) {
        let sent = bench.expect("S", ANSWER);
        bench.refuse(&sent, -32000, NOT_READY);
        bench.pass(ms(100));
    }
    bench.input(Input::EndTask("default".into()));
    bench.expect("S", ANSWER);
    bench.pass(LEAVE);
    assert_eq!(bench.methods(), [CLOSE], "F48");
}

#[test]
fn an_ended_tasks_page_that_asks_again_is_dismissed_again_before_it_is_left() {
    let mut bench = Bench::with_tab();
    let sent = bench.end_while_it_asks();
    bench.reply(&sent, "{}");
    bench.expect("S", ASKS_NOTHING);
    bench.expect_nothing_sent();
    bench.pass(ms(250));
    let again = bench.expect("S", ANSWER);
    bench.reply(&again, "{}");
    bench.asks_nothing("S");
    assert_eq!(bench.methods(), [DETACH]);
}

#[test]
fn a_page_that_asked_a_moment_ago_is_left_once_it_answers() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    bench.closed("S", "T");
    bench.sent.clear();
    bench.input(Input::EndTask("default".into()));
    bench.asks_nothing("S");
    assert_eq!(bench.methods(), [DETACH]);
}

#[test]
fn a_dialog_that_waits_for_its_pages_next_document_has_its_tab_closed_when_we_leave() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    let waiter = bench.leave();
    let last = bench.expect("", "Browser.getVersion");
    bench.reply(&last, "{}");
    bench.expect("S", ASKS_NOTHING);
    while !bench.was_sent("", CLOSE) {
        let sent = bench.expect("S", ANSWER);
        bench.refuse(&sent, -32000, NOT_READY);
        bench.pass(ms(100));
    }
    assert_eq!(bench.methods(), [CLOSE]);
    assert!(bench.is_waiting(waiter));
    let closed = bench.expect("", CLOSE);
    bench.reply(&closed, r#"{"success":true}"#);
    bench.target_destroyed("T");
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
}

#[test]
fn an_agents_answer_that_is_on_its_way_as_its_task_ends_is_followed_by_a_dismissal() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.accept();
    bench.expect("S", ANSWER);
    bench.input(Input::EndTask("default".into()));
    let sent = bench.expect("S", ANSWER);
    assert_eq!(sent.params, r#"{"accept":false}"#, "it may be refused");
    bench.refuse(&sent, -32602, "No dialog is showing");
    bench.asks_nothing("S");
    assert_eq!(bench.methods(), [DETACH], "it may have asked once more in between");
}

#[test]
fn a_tab_that_is_somebody_elses_by_now_gets_no_further_dismissal() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    let sent = bench.end_while_it_asks();
    bench.refuse(&sent, -32000, NOT_READY);
    bench.start_task("default", DialogPolicy::MustRespond);
    bench.call_to_target("T", "Runtime.evaluate");
    bench.attach_as_asked("T", "S2");
    bench.answer_own_set_up("S2", "T", "P");
    bench.sent.clear();
    bench.pass(ms(100));
    let history = bench.expect("S", HISTORY);
    bench.expect_nothing_sent();
    bench.reply(&history, "{}");
    assert_eq!(bench.methods(), [DETACH], "what opens there from now on is for the new task to answer");
}

#[test]
fn a_tab_that_is_somebody_elses_by_now_is_not_let_go_while_its_dialog_and_next_document_wait_for_each_other() {
    for comes in [true, false] {
        let mut bench = Bench::guest();
        bench.tab_of_guest("T", "S");
        let sent = bench.end_while_it_asks();
        bench.refuse(&sent, -32000, NOT_READY);
        bench.start_task("default", DialogPolicy::MustRespond);
        bench.call_to_target("T", "Runtime.evaluate");
        bench.attach_as_asked("T", "S2");
        bench.sent.clear();
        bench.pass(ms(100));
        let mut waited = ms(100);
        while waited < LEAVE - ms(100) {
            let history = bench.expect("S", HISTORY);
            bench.refuse(&history, -32000, NOT_READY);
            bench.expect_nothing_sent();
            bench.pass(ms(100));
            waited += ms(100);
        }
        let history = bench.expect("S", HISTORY);
        match comes {
            true => bench.reply(&history, "{}"),
            false => bench.refuse(&history, -32000, NOT_READY),
        }
        assert_eq!(bench.methods(), [if comes { DETACH } else { CLOSE }], "F48");
    }
}

#[test]
fn leaving_waits_for_the_dialog_of_a_task_that_ended_a_moment_ago() {
    let mut bench = Bench::with_tab();
    let sent = bench.end_while_it_asks();
    let waiter = bench.leave();
    let last = bench.expect("", "Browser.getVersion");
    bench.reply(&last, "{}");
    assert!(bench.is_waiting(waiter));
    bench.reply(&sent, "{}");
    bench.asks_nothing("S");
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
}

#[test]
fn a_lost_connection_ends_the_wait_for_an_ended_tasks_dialog() {
    let mut bench = Bench::with_tab();
    bench.end_while_it_asks();
    bench.lose_connection();
    bench.pass(Duration::from_secs(60));
    bench.expect_nothing_sent();
    assert!(bench.core.departed.is_empty());
}

#[test]
fn an_ended_tasks_pages_go_on_before_they_are_left_also_those_that_nobody_has_read() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.asks("S", "T", "confirm", 1);
    bench.pauses("SO", "O");
    bench.sent.clear();
    bench.input(Input::EndTask("default".into()));
    let at = |session: &str, method: &str| {
        let found = bench.sent.iter().position(|sent| sent.session == session && sent.method == method);
        found.expect("it was sent")
    };
    for session in ["S", "SO"] {
        assert!(at(session, ON_FRAME) < at(session, RESUME), "with its answer");
        assert!(at(session, RESUME) < at("", DETACH), "B6");
    }
    assert_eq!(bench.sent[at("SO", ON_FRAME)].param("expression"), "seen = true");
}

#[test]
fn an_ended_tasks_page_whose_request_nobody_has_read_gets_cancel() {
    let mut bench = Bench::bridged_by_requests();
    bench.frame_attached("S", "F", "T");
    bench.request_held_of("S", "F", "1", "confirm", "m");
    bench.sent.clear();
    bench.input(Input::EndTask("default".into()));
    let fulfilled = bench.expect("S", "Fetch.fulfillRequest");
    assert_eq!(fulfilled.param("requestId"), "1");
    bench.expect("", DETACH);
    assert!(!bench.was_sent("S", RUN));
}
