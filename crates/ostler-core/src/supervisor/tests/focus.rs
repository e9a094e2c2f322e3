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
