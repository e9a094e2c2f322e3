//! Focus emulation is asked of pages that answer, and no navigation overtakes it: facts C30 and F2.

use super::*;

const FOCUS: &str = "Emulation.setFocusEmulationEnabled";

impl Bench {
    /// A page that is silent for so long that calls go through to it all the same.
    fn with_blocked_page() -> Self {
        let mut bench = Self::with_silent_page();
        bench.pass(ms(2000));
        let probe = bench.expect("S", "Page.getNavigationHistory");
        bench.reply(&probe, "{}");
        bench.pass(ms(3000));
        assert_eq!(bench.tab_state("T"), TabState::Blocked);
        bench
    }

    /// A page that has answered the first command of its set-up, and nothing since.
    fn with_page_that_stopped_answering() -> Self {
        let mut bench = Self::with_silent_page();
        let enable = bench.expect("S", "Page.enable");
        bench.reply(&enable, "{}");
        assert!(bench.was_sent("S", FOCUS));
        bench
    }
}

#[test]
fn a_page_is_asked_once_it_answers_and_a_blocked_one_is_left_without_it() {
    let mut bench = Bench::with_silent_page();
    assert!(!bench.was_sent("S", FOCUS));
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    bench.expect("S", FOCUS);

    let mut bench = Bench::with_blocked_page();
    bench.call("Page.reload");
    bench.expect("S", "Page.reload");
    assert!(!bench.was_sent("S", FOCUS), "nothing is under way that the reload could overtake");
}

#[test]
fn a_page_that_answers_while_it_is_being_left_is_asked_in_its_new_document() {
    let mut bench = Bench::with_blocked_page();
    bench.call("Page.reload");
    bench.expect("S", "Page.reload");
    // The reload ends the dialog, so that the old document answers before it goes.
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    assert!(!bench.was_sent("S", FOCUS));
    bench.navigated("S", "T", None, "https://a/");
    bench.expect("S", FOCUS);
    bench.pass(Duration::from_secs(60));
    assert!(!bench.was_sent("S", FOCUS), "once is enough");
}

#[test]
fn a_new_document_that_answers_late_is_asked_then() {
    let mut bench = Bench::with_blocked_page();
    bench.call("Page.navigate");
    bench.expect("S", "Page.navigate");
    bench.navigated("S", "T", None, "https://b/");
    assert!(!bench.was_sent("S", FOCUS));
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    bench.expect("S", FOCUS);
}

#[test]
fn a_navigation_that_brings_no_document_leaves_no_page_without_focus() {
    let mut bench = Bench::with_blocked_page();
    bench.call("Page.navigate");
    bench.expect("S", "Page.navigate");
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    bench.pass(Duration::from_secs(5));
    bench.expect("S", FOCUS);
}

#[test]
fn input_goes_right_behind_the_focus_that_it_needs() {
    let mut bench = Bench::with_silent_page();
    let wheel = bench.call("Input.dispatchMouseEvent");
    bench.call("Runtime.evaluate");
    assert!(bench.was_sent("S", "Runtime.evaluate"), "it needs none");
    assert!(!bench.was_sent("S", "Input.dispatchMouseEvent"));
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    let sent = bench.methods();
    assert_eq!(sent[sent.len() - 2..], [format!("S {FOCUS}"), "S Input.dispatchMouseEvent".to_owned()]);
    assert!(bench.is_waiting(wheel));
}

#[test]
fn a_navigation_that_comes_before_the_late_answer_waits_for_it() {
    let mut bench = Bench::with_blocked_page();
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    assert_eq!(bench.tab_state("T"), TabState::Ready);
    bench.call("Page.navigate");
    assert!(!bench.was_sent("S", "Page.navigate"));
    let focus = bench.expect("S", FOCUS);
    bench.answer_own_set_up("S", "T", "P");
    bench.reply(&focus, "{}");
    bench.expect("S", "Page.navigate");
}

#[test]
fn a_navigation_that_a_dialog_in_the_middle_of_the_set_up_keeps_waiting_is_told_so() {
    let mut bench = Bench::with_page_that_stopped_answering();
    let before = bench.call("Page.navigate");
    bench.opening("S", "T", "alert", "already?");
    assert_eq!(bench.code(before), "dialog_open");
    let after = bench.call("Page.reload");
    assert_eq!(bench.code(after), "dialog_open");
    bench.pass(Duration::from_secs(10));
    for sent in ["Page.navigate", "Page.reload", "Runtime.terminateExecution"] {
        assert!(!bench.was_sent("S", sent), "{sent}");
    }
    bench.accept();
    let answer = bench.expect("S", "Page.handleJavaScriptDialog");
    bench.reply(&answer, "{}");
    bench.call("Page.navigate");
    bench.answer_own_set_up("S", "T", "P");
    bench.expect("S", "Page.navigate");
}

#[test]
fn a_page_that_begins_to_spin_in_the_middle_of_its_set_up_is_stopped_for_the_navigation() {
    let mut bench = Bench::with_page_that_stopped_answering();
    let navigate = bench.call("Page.navigate");
    bench.pass(ms(1999));
    assert!(!bench.was_sent("S", "Runtime.terminateExecution"));
    bench.pass(ms(1));
    bench.expect("S", "Runtime.terminateExecution");
    bench.answer_own_set_up("S", "T", "P");
    let sent = bench.expect("S", "Page.navigate");
    bench.reply(&sent, "{}");
    assert!(!bench.is_waiting(navigate));
}

#[test]
fn a_page_that_nothing_stops_can_still_be_navigated_away() {
    let mut bench = Bench::with_page_that_stopped_answering();
    bench.pass(Duration::from_secs(60));
    assert!(!bench.was_sent("S", "Runtime.terminateExecution"), "no script is stopped that nobody leaves");
    bench.call("Page.navigate");
    bench.pass(ms(2999));
    assert!(!bench.was_sent("S", "Page.navigate"));
    bench.pass(ms(1));
    bench.expect("S", "Page.navigate");
}

#[test]
fn a_page_that_crashed_before_it_had_the_focus_gets_it_in_its_next_document() {
    let mut bench = Bench::with_page_that_stopped_answering();
    bench.expect("S", FOCUS);
    let auto = bench.expect("S", "Target.setAutoAttach");
    bench.reply(&auto, "{}");
    bench.event("S", "Inspector.targetCrashed", "{}");
    bench.call("Page.reload");
    bench.expect("S", "Page.reload");
    bench.event("S", "Inspector.targetReloadedAfterCrash", "{}");
    bench.navigated("S", "T", None, "https://a/");
    bench.expect("S", FOCUS);
}

#[test]
fn the_time_of_one_navigation_says_nothing_of_the_next_one() {
    let mut bench = Bench::with_blocked_page();
    bench.call("Page.navigate");
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    bench.pass(Duration::from_secs(3));
    bench.call("Page.navigate");
    bench.pass(Duration::from_secs(4));
    assert!(!bench.was_sent("S", FOCUS), "the first one's time is over, but the second one may come any moment");
    bench.pass(Duration::from_secs(1));
    bench.expect("S", FOCUS);
}

#[test]
fn a_navigation_that_leaves_the_page_where_it_is_withholds_nothing() {
    let within = r#"{"frameId":"T"}"#;
    let download = r#"{"frameId":"T","loaderId":"L","errorText":"net::ERR_ABORTED","isDownload":true}"#;
    for answer in [Some(within), Some(download), None] {
        let mut bench = Bench::with_blocked_page();
        bench.call("Page.navigate");
        let navigate = bench.expect("S", "Page.navigate");
        match answer {
            Some(answer) => bench.reply(&navigate, answer),
            None => bench.refuse(&navigate, -32000, "Cannot navigate to invalid URL"),
        }
        let enable = bench.expect("S", "Page.enable");
        bench.reply(&enable, "{}");
        bench.expect("S", FOCUS);
    }
    let mut bench = Bench::with_blocked_page();
    bench.call_with("Page.navigate", r#"{"frameId":"CHILD","url":"https://b/"}"#);
    bench.expect("S", "Page.navigate");
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    bench.expect("S", FOCUS);
}

#[test]
fn an_earlier_navigation_that_is_aborted_by_a_later_one_does_not_end_that() {
    let mut bench = Bench::with_blocked_page();
    bench.call("Page.navigate");
    let first = bench.expect("S", "Page.navigate");
    bench.call("Page.navigate");
    let enable = bench.expect("S", "Page.enable");
    bench.reply(&enable, "{}");
    bench.reply(&first, r#"{"frameId":"T","loaderId":"L1","errorText":"net::ERR_ABORTED"}"#);
    assert!(!bench.was_sent("S", FOCUS));
    let second = bench.expect("S", "Page.navigate");
    bench.reply(&second, r#"{"frameId":"T","loaderId":"L2"}"#);
    assert!(!bench.was_sent("S", FOCUS), "its document is on the way");
    bench.navigated("S", "T", None, "https://b/");
    bench.expect("S", FOCUS);
}

#[test]
fn a_script_has_its_whole_time_whatever_was_waited_for_before() {
    let mut bench = Bench::with_page_that_stopped_answering();
    bench.expect("S", FOCUS);
    let auto = bench.expect("S", "Target.setAutoAttach");
    bench.reply(&auto, "{}");
    bench.call("Page.navigate");
    bench.pass(ms(1000));
    bench.event("S", "Inspector.targetCrashed", "{}");
    bench.expect("S", "Page.navigate");
    bench.event("S", "Inspector.targetReloadedAfterCrash", "{}");
    bench.navigated("S", "T", None, "https://a/");
    bench.expect("S", FOCUS);
    bench.call("Page.navigate");
    bench.pass(ms(1999));
    assert!(!bench.was_sent("S", "Runtime.terminateExecution"));
    bench.pass(ms(1));
    bench.expect("S", "Runtime.terminateExecution");
}
