//! Leaving a page whose dialog is open (facts F18 and F48).

use super::*;

const ANSWER: &str = "Page.handleJavaScriptDialog";
const PROBE: &str = "Runtime.getIsolateId";
const NAVIGATE: &str = "Page.navigate";
const ELSEWHERE: &str = r#"{"url":"https://b/"}"#;

impl Bench {
    /// What the page asks is cancelled, and it asks this next.
    #[track_caller]
    fn is_cancelled_and_asks(&mut self, next: &str) {
        let cancel = self.expect("S", ANSWER);
        assert_eq!(cancel.params, r#"{"accept":false}"#);
        self.closed("S", "T");
        self.reply(&cancel, "{}");
        self.opening("S", "T", "alert", next);
    }

    /// So often that it counts as one that never stops.
    #[track_caller]
    fn asks_on_and_on(&mut self) {
        self.expect("S", PROBE);
        for asked in 1..=5 {
            self.is_cancelled_and_asks(&asked.to_string());
        }
    }
}

#[test]
fn a_page_that_asks_is_left_once_it_has_been_told_cancel_and_answers() {
    for (method, params) in [(NAVIGATE, ELSEWHERE), ("Page.reload", "{}")] {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "confirm", "1");
        let call = bench.call_with(method, params);
        let probe = bench.expect("S", PROBE);
        bench.is_cancelled_and_asks("2");
        let cancel = bench.expect("S", ANSWER);
        bench.closed("S", "T");
        bench.reply(&cancel, "{}");
        bench.expect_nothing_sent();
        bench.reply(&probe, r#"{"id":"i"}"#);
        let sent = bench.expect("S", method);
        assert_eq!(sent.params, params, "it is passed on as it came");
        bench.reply(&sent, "{}");
        assert!(bench.outcome(call).is_ok());
        assert_eq!(bench.closed_by(), [("d-1".into(), ClosedBy::Remote), ("d-2".into(), ClosedBy::Remote)]);
    }
}

#[test]
fn a_page_that_never_stops_asking_is_left_by_way_of_another_process() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "0");
    let call = bench.call_with(NAVIGATE, ELSEWHERE);
    bench.asks_on_and_on();
    let blank = bench.expect("S", NAVIGATE);
    assert_eq!(blank.param("url"), "about:blank");
    bench.navigated("S", "T", None, "about:blank");
    bench.reply(&blank, r#"{"frameId":"T","loaderId":"L"}"#);
    assert!(!bench.was_sent("S", NAVIGATE), "its process still runs, and would be the next document's");
    bench.pass(Duration::from_secs(2));
    let sent = bench.expect("S", NAVIGATE);
    assert_eq!(sent.params, ELSEWHERE);
    assert!(bench.is_waiting(call));
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_page_that_never_stops_asking_is_not_reloaded_and_its_dialog_told_of() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "0");
    let call = bench.call("Page.reload");
    bench.asks_on_and_on();
    assert_eq!(bench.code(call), "dialog_open");
    assert_eq!(bench.pending().len(), 1, "it is the agent's again");
    assert!(!bench.was_sent("S", ANSWER) && !bench.was_sent("S", "Page.reload"));
}

#[test]
fn a_cancel_that_was_refused_is_not_said_again_once_nobody_leaves_the_page() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let call = bench.call_with(NAVIGATE, ELSEWHERE);
    let cancel = bench.expect("S", ANSWER);
    bench.refuse(&cancel, -32000, "Not attached to an active page");
    bench.input(Input::Cancel(call));
    bench.pass(Duration::from_secs(1));
    assert!(!bench.was_sent("S", ANSWER));
    assert_eq!(bench.pending(), ["d-1"], "it is the agent's again");
    bench.accept();
    assert!(bench.was_sent("S", ANSWER));
}

#[test]
fn a_page_that_asked_a_moment_ago_may_ask_again_and_one_that_asked_long_ago_is_left_at_once() {
    for (ago, at_once) in [(100, false), (600, true)] {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "alert", "");
        bench.closed("S", "T");
        bench.pass(ms(ago));
        bench.sent.clear();
        bench.call_with(NAVIGATE, ELSEWHERE);
        assert_eq!(bench.was_sent("S", NAVIGATE), at_once);
        if !at_once {
            let probe = bench.expect("S", PROBE);
            bench.reply(&probe, r#"{"id":"i"}"#);
        }
        bench.expect("S", NAVIGATE);
        bench.expect_nothing_sent();
    }
}

#[test]
fn a_page_that_neither_asks_nor_answers_is_left_all_the_same() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    let call = bench.call_with(NAVIGATE, ELSEWHERE);
    let cancel = bench.expect("S", ANSWER);
    bench.closed("S", "T");
    bench.reply(&cancel, "{}");
    bench.pass(Duration::from_secs(2));
    bench.expect("S", "Runtime.terminateExecution");
    bench.expect("S", NAVIGATE);
    assert!(bench.is_waiting(call));
}

#[test]
fn a_page_that_asks_slowly_without_end_is_left_by_way_of_another_process_too() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "0");
    bench.call_with(NAVIGATE, ELSEWHERE);
    bench.expect("S", PROBE);
    bench.is_cancelled_and_asks("1");
    bench.pass(Duration::from_secs(2));
    assert_eq!(bench.expect("S", NAVIGATE).param("url"), "about:blank");
}

#[test]
fn a_page_that_does_not_go_to_another_process_keeps_its_dialog_and_the_navigation_is_told_of_it() {
    for refused in [true, false] {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "alert", "0");
        let call = bench.call_with(NAVIGATE, ELSEWHERE);
        bench.asks_on_and_on();
        let blank = bench.expect("S", NAVIGATE);
        match refused {
            true => bench.reply(&blank, r#"{"frameId":"T","loaderId":"L","errorText":"net::ERR_ABORTED"}"#),
            false => bench.pass(Duration::from_secs(2)),
        }
        assert_eq!(bench.code(call), "dialog_open");
        assert_eq!(bench.pending().len(), 1);
        assert!(!bench.was_sent("S", NAVIGATE));
    }
}

#[test]
fn a_page_whose_dialog_was_answered_a_moment_ago_may_ask_again_however_long_it_was_open() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.pass(Duration::from_secs(3));
    bench.accept();
    let accepted = bench.expect("S", ANSWER);
    bench.closed("S", "T");
    bench.reply(&accepted, "{}");
    bench.call_with(NAVIGATE, ELSEWHERE);
    assert!(!bench.was_sent("S", NAVIGATE));
    let probe = bench.expect("S", PROBE);
    bench.reply(&probe, r#"{"id":"i"}"#);
    bench.expect("S", NAVIGATE);
}

#[test]
fn a_navigation_that_waits_as_its_session_is_lost_is_sent_on_the_next_one_once_that_is_set_up() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    let call = bench.call_with(NAVIGATE, ELSEWHERE);
    bench.detached("", "T", "S");
    assert!(bench.is_waiting(call));
    assert!(!bench.was_sent("S", NAVIGATE));
    bench.sent.retain(|sent| sent.method == "Target.attachToTarget");
    bench.attach_as_asked("T", "S2");
    assert!(!bench.was_sent("S2", NAVIGATE), "not before it is set up");
    bench.answer_own_set_up("S2", "T", "P");
    bench.expect("S2", NAVIGATE);
}

#[test]
fn nothing_that_waits_for_a_page_to_be_left_is_begun_while_we_leave() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    let call = bench.call_with(NAVIGATE, ELSEWHERE);
    let waiter = bench.waiter();
    bench.input(Input::Leave(waiter));
    assert_eq!(bench.code(call), "browser_gone");
    bench.pass(Duration::from_secs(2));
    assert!(!bench.was_sent("S", NAVIGATE));
}

#[test]
fn what_was_asked_for_a_navigation_that_nobody_waits_for_ends_no_other_ones_wait() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "1");
    let given_up = bench.call_with(NAVIGATE, ELSEWHERE);
    let old = bench.expect("S", PROBE);
    bench.input(Input::Cancel(given_up));
    bench.is_cancelled_and_asks("2");
    bench.call_with(NAVIGATE, ELSEWHERE);
    bench.reply(&old, r#"{"id":"i"}"#);
    assert!(!bench.was_sent("S", NAVIGATE), "it was asked before");
    let cancel = bench.expect("S", ANSWER);
    bench.closed("S", "T");
    bench.reply(&cancel, "{}");
    assert!(!bench.was_sent("S", NAVIGATE));
    let probe = bench.expect("S", PROBE);
    bench.reply(&probe, r#"{"id":"i"}"#);
    bench.expect("S", NAVIGATE);
}

#[test]
fn a_page_that_asks_is_left_for_a_place_in_its_history_too_and_not_for_what_brings_no_document() {
    for (method, params, waits) in [
        ("Page.navigateToHistoryEntry", r#"{"entryId":3}"#, true),
        (NAVIGATE, r#"{"url":"javascript:void 0"}"#, false),
        (NAVIGATE, r#"{"url":"mailto:ada@example.com"}"#, false),
    ] {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "alert", "");
        bench.call_with(method, params);
        assert_eq!(bench.was_sent("S", method), !waits, "{params}");
    }
}

#[test]
fn a_lost_connection_ends_the_wait_and_the_tab_is_as_any_other_afterwards() {
    for evicted in [false, true] {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "alert", "0");
        let call = bench.call_with(NAVIGATE, ELSEWHERE);
        if evicted {
            bench.asks_on_and_on();
            bench.expect("S", NAVIGATE);
        }
        bench.lose_connection();
        assert_eq!(bench.code(call), "browser_gone");
        assert!(bench.core.tabs.values().all(|tab| tab.lead_out.is_none()));
    }
}

#[test]
fn once_nobody_wants_to_leave_it_any_more_its_dialogs_are_the_agents_again() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "1");
    let call = bench.call_with(NAVIGATE, ELSEWHERE);
    bench.input(Input::Cancel(call));
    bench.is_cancelled_and_asks("2");
    bench.expect("S", PROBE);
    bench.expect_nothing_sent();
    assert_eq!(bench.pending().len(), 1);
}

#[test]
fn a_place_in_the_same_document_and_a_frames_navigation_leave_no_page() {
    for params in [r#"{"url":"https://a/#here"}"#, r#"{"url":"https://b/","frameId":"F"}"#] {
        let mut bench = Bench::with_tab();
        bench.frame_attached("S", "F", "T");
        bench.opening("S", "T", "alert", "");
        bench.call_with(NAVIGATE, params);
        bench.expect("S", NAVIGATE);
        bench.expect_nothing_sent();
    }
}
