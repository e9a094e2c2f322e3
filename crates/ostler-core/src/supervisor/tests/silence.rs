//! Pages that answer nothing when we come: what is told of them, and when: facts A9, A10 and F14.

use super::*;

impl Bench {
    /// A browser of our own with a tab `T`, attached as session `S`, that has answered nothing.
    pub(super) fn with_silent_page() -> Self {
        let mut bench = Self::own();
        bench.target_created("T", "page", "");
        bench.attached("", "T", "S", "page", false, "");
        bench
    }
}

#[test]
fn a_silent_page_is_reported_as_blocked_by_something_unknown() {
    let mut bench = Bench::with_silent_page();
    let call = bench.call("Runtime.evaluate");
    bench.pass(ms(2000));
    let probe = bench.expect("S", "Page.getNavigationHistory");
    assert_eq!(bench.pending(), [""; 0], "not before the browser's side has answered");
    bench.reply(&probe, r#"{"currentIndex":0,"entries":[]}"#);
    bench.pass(ms(3000));
    let state = bench.view().state_json();
    assert!(state.contains(r#""id":"d-1","type":"unknown""#), "{state}");
    assert!(state.contains(r#""answerable":false"#), "{state}");
    assert_eq!(bench.tab_state("T"), TabState::Blocked);
    assert_eq!(bench.code(call), "dialog_open");
    let said = bench.error(call).to_string();
    assert!(said.contains("the page has not answered since ostler attached, as with a dialog from before"), "{said}");
    assert!(said.contains("navigate, reload or close the tab"), "{said}");

    let answer = bench.accept();
    assert_eq!(bench.code(answer), "dialog_open");
    assert!(!bench.was_sent("S", "Page.handleJavaScriptDialog"), "nobody can answer it (A9)");
    let reload = bench.call("Page.reload");
    bench.expect("S", "Page.reload");
    assert!(bench.is_waiting(reload), "what frees the page goes through (A12)");
}

#[test]
fn a_blocked_page_that_answers_again_is_blocked_no_more_however_late() {
    for wait in [ms(10), Duration::from_secs(600)] {
        let mut bench = Bench::with_silent_page();
        let enable = bench.expect("S", "Page.enable");
        bench.pass(ms(2000));
        let probe = bench.expect("S", "Page.getNavigationHistory");
        bench.reply(&probe, "{}");
        bench.pass(ms(3000));
        assert_eq!(bench.pending(), ["d-1"]);
        bench.pass(wait);
        bench.reply(&enable, "{}");
        assert_eq!(bench.pending(), [""; 0], "after {wait:?}");
        assert_eq!(bench.closed_by(), [("d-1".to_owned(), ClosedBy::Remote)]);
        assert_eq!(bench.tab_state("T"), TabState::Ready);
    }
}

#[test]
fn a_page_that_is_only_slow_to_answer_is_never_called_blocked() {
    let mut bench = Bench::with_silent_page();
    let call = bench.call("Runtime.evaluate");
    bench.pass(ms(2000));
    let probe = bench.expect("S", "Page.getNavigationHistory");
    bench.reply(&probe, "{}");
    bench.pass(ms(2999));
    assert_eq!(bench.pending(), [""; 0]);
    bench.answer_own_set_up("S", "T", "1");
    bench.pass(Duration::from_secs(20));
    assert_eq!((bench.pending().len(), bench.tab_state("T")), (0, TabState::Ready));
    assert!(bench.closed_by().is_empty(), "no dialog was ever told of");
    let sent = bench.expect("S", "Runtime.evaluate");
    bench.reply(&sent, "{}");
    assert_eq!(bench.result(call), "{}");
}

#[test]
fn a_page_whose_browser_is_silent_too_is_not_reported() {
    let mut bench = Bench::with_silent_page();
    bench.pass(Duration::from_secs(60));
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_page_that_answered_in_time_is_not_probed() {
    let mut bench = Bench::with_tab();
    bench.pass(Duration::from_secs(60));
    bench.expect_nothing_sent();
}
