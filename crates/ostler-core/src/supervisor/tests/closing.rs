//! Closing a tab in which a frame asks: with `Page` off, or on, or not yet: facts A25, F24, F40 and F48.

use super::dialogs::ended;
use super::*;

const CLOSE: &str = "Target.closeTarget";
const HISTORY: &str = "Page.getNavigationHistory";
const NOT_READY: &str = "Not attached to an active page";

impl Bench {
    /// A tab in which a frame asks that shares the top frame's process.
    fn whose_frame_asks() -> Self {
        let mut bench = Self::with_tab();
        bench.frame_attached("S", "SAME", "T");
        bench.opening("S", "SAME", "alert", "");
        bench.sent.clear();
        bench
    }

    fn close(&mut self) -> Waiter {
        self.call_with(CLOSE, r#"{"targetId":"T"}"#)
    }
}

#[test]
fn a_tab_whose_frame_asks_is_closed_with_page_off_since_the_frame_may_be_gone_by_then() {
    let mut bench = Bench::with_oopif();
    bench.attached("", "T", "CLIENT", "page", false, "");
    bench.opening("S", "O", "confirm", "");
    let close = bench.call_with("Target.closeTarget", r#"{"targetId":"T"}"#);
    let mut sent = bench.methods();
    assert_eq!(sent.pop().as_deref(), Some("Target.closeTarget"), "right behind, and not a moment later");
    sent.sort();
    assert_eq!(sent, ["CLIENT Page.disable", "S Page.disable", "SO Page.disable"]);
    let sent = bench.expect("", "Target.closeTarget");
    bench.reply(&sent, r#"{"success":true}"#);
    assert_eq!(bench.result(close), r#"{"success":true}"#);
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]));

    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.call_with("Target.closeTarget", r#"{"targetId":"T"}"#);
    assert_eq!(bench.methods(), ["Target.closeTarget"], "a page's own frames stand still with it");
}

#[test]
fn a_tab_whose_frame_asks_is_closed_with_page_off_whichever_process_the_frame_is_in() {
    let mut bench = Bench::whose_frame_asks();
    let close = bench.close();
    let history = bench.expect("S", HISTORY);
    bench.expect_nothing_sent();
    bench.reply(&history, "{}");
    assert_eq!(bench.methods(), ["S Page.disable", CLOSE], "F40");
    let sent = bench.expect("", CLOSE);
    bench.reply(&sent, r#"{"success":true}"#);
    assert_eq!(bench.result(close), r#"{"success":true}"#);

    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "alert", "");
    bench.opening("S", "T", "alert", "");
    bench.closed("S", "O");
    bench.close();
    assert_eq!(bench.methods(), [CLOSE], "the top frame's own does no harm");
}

#[test]
fn a_tab_whose_frame_asks_while_its_next_document_waits_is_closed_with_page_on() {
    let mut bench = Bench::whose_frame_asks();
    let (first, second) = (bench.close(), bench.close());
    let history = bench.expect("S", HISTORY);
    bench.expect_nothing_sent();
    bench.refuse(&history, -32000, NOT_READY);
    assert_eq!(bench.methods(), [CLOSE, CLOSE], "F48: it is `Page.disable` that would end the browser");
    for close in [first, second] {
        let sent = bench.expect("", CLOSE);
        bench.reply(&sent, r#"{"success":true}"#);
        assert!(bench.outcome(close).is_ok());
    }
}

#[test]
fn a_tab_whose_dialog_is_over_before_it_is_known_how_to_close_it_is_just_closed() {
    let mut bench = Bench::whose_frame_asks();
    bench.close();
    let history = bench.expect("S", HISTORY);
    bench.closed("S", "SAME");
    bench.sent.clear();
    bench.reply(&history, "{}");
    assert_eq!(bench.methods(), [CLOSE]);
}

#[test]
fn a_browser_that_is_slow_to_say_how_a_tab_can_be_closed_is_waited_for() {
    let mut bench = Bench::whose_frame_asks();
    bench.close();
    let history = bench.expect("S", HISTORY);
    bench.pass(Duration::from_secs(20));
    assert!(!bench.was_sent("S", "Page.disable") && !bench.was_sent("", CLOSE), "nothing is done by guess");
    bench.sent.clear();
    bench.refuse(&history, -32000, NOT_READY);
    assert_eq!(bench.methods(), [CLOSE]);

    let mut bench = Bench::with_tab_of_ours();
    bench.frame_attached("S", "SAME", "T");
    bench.opening("S", "SAME", "alert", "");
    bench.sent.clear();
    bench.input(Input::EndTask("default".into()));
    let history = bench.expect("S", HISTORY);
    bench.pass(Duration::from_secs(3600));
    bench.expect_nothing_sent();
    bench.refuse(&history, -32000, NOT_READY);
    assert_eq!(bench.methods(), [CLOSE]);
}

#[test]
fn a_tab_without_a_session_is_closed_without_a_look() {
    let mut bench = Bench::whose_frame_asks();
    bench.close();
    bench.expect("S", HISTORY);
    bench.sent.clear();
    bench.detached("", "T", "S");
    assert!(bench.was_sent("", CLOSE), "{:?}", bench.methods());
}

#[test]
fn nothing_is_done_to_a_tab_that_its_client_wants_closed_no_more() {
    let mut bench = Bench::whose_frame_asks();
    let close = bench.close();
    let history = bench.expect("S", HISTORY);
    bench.input(Input::Cancel(close));
    bench.reply(&history, "{}");
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_tab_whose_asking_frame_goes_before_it_is_known_how_to_close_it_is_closed_when_it_is_safe() {
    let mut bench = Bench::with_oopif();
    bench.attached("", "T", "CLIENT", "page", false, "");
    bench.frame_attached("S", "SAME", "T");
    bench.opening("S", "SAME", "alert", "");
    bench.close();
    let history = bench.expect("S", HISTORY);
    bench.frame_detached("S", "SAME", "remove");
    bench.reply(&history, "{}");
    assert!(!bench.was_sent("", CLOSE), "A25: not before every session has told that `Page` is off");
}

#[test]
fn a_tab_of_ours_whose_frame_asks_is_closed_as_one_that_a_client_closes_is() {
    for (waits, sent) in [(false, vec!["S Page.disable", CLOSE]), (true, vec![CLOSE])] {
        let mut bench = Bench::with_tab_of_ours();
        bench.frame_attached("S", "SAME", "T");
        bench.opening("S", "SAME", "alert", "");
        bench.sent.clear();
        bench.input(Input::EndTask("default".into()));
        let history = bench.expect("S", HISTORY);
        bench.expect_nothing_sent();
        let waiter = bench.waiter();
        bench.input(Input::Leave(waiter));
        let last = bench.expect("", "Browser.getVersion");
        bench.reply(&last, "{}");
        assert!(bench.is_waiting(waiter), "the tab is not closed yet");
        match waits {
            true => bench.refuse(&history, -32000, NOT_READY),
            false => bench.reply(&history, "{}"),
        }
        assert_eq!(bench.methods(), sent);
    }
}

#[test]
fn a_client_keeps_page_on_in_its_own_session_while_a_page_goes_and_asks() {
    for goes in [true, false] {
        let mut bench = Bench::with_tab();
        bench.attached("", "T", "CLIENT", "page", false, "");
        if goes {
            bench.event("S", "Page.frameStartedNavigating", r#"{"frameId":"T"}"#);
        }
        bench.opening("S", "T", "alert", "");
        bench.sent.clear();
        let calls = [
            bench.call_on("CLIENT", "Page.disable"),
            bench.call_with("Target.detachFromTarget", r#"{"sessionId":"CLIENT"}"#),
        ];
        if !goes {
            assert_eq!(bench.methods(), ["Target.detachFromTarget"], "the other waits for its dialog");
            continue;
        }
        for call in calls {
            let said = bench.error(call).to_string();
            assert!(said.contains("could end the whole browser; answer its dialog first"), "F48: {said}");
        }
        bench.expect_nothing_sent();
    }
}

#[test]
fn a_client_keeps_page_on_where_a_dialog_waits_for_the_next_document_though_the_load_was_stopped() {
    let mut bench = Bench::with_tab();
    bench.attached("", "T", "CLIENT", "page", false, "");
    bench.frame_attached("S", "SAME", "T");
    bench.event("S", "Page.frameStartedNavigating", r#"{"frameId":"T"}"#);
    bench.opening("S", "SAME", "alert", "");
    bench.sent.clear();
    bench.close();
    let history = bench.expect("S", HISTORY);
    bench.refuse(&history, -32000, NOT_READY);
    bench.expect("", CLOSE);
    bench.event("S", "Page.frameStoppedLoading", r#"{"frameId":"T"}"#);
    for call in [
        bench.call_on("CLIENT", "Page.disable"),
        bench.call_with("Target.detachFromTarget", r#"{"sessionId":"CLIENT"}"#),
    ] {
        let said = bench.error(call).to_string();
        assert!(said.contains("could end the whole browser; answer its dialog first"), "{said}");
    }
    bench.expect_nothing_sent();
}

#[test]
fn a_tab_that_the_browser_would_not_close_is_reloaded_to_be_of_use_again() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.call_with("Target.closeTarget", r#"{"targetId":"T"}"#);
    let close = bench.expect("", "Target.closeTarget");
    bench.refuse(&close, -32000, "Not allowed");
    let reload = bench.expect("S", "Page.reload");
    bench.reply(&reload, "{}");
    bench.event("S", "Runtime.executionContextsCleared", "{}");
    bench.expect("S", "Page.enable");
}
