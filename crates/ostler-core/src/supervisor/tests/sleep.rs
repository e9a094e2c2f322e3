//! Tabs that the browser discards: they keep their place and wake when somebody needs them (facts E12, F8).

use super::*;

/// What the browser says when it discards a tab: the page is another target's from now on.
fn discard(bench: &mut Bench, old: &str, session: &str, new: &str) {
    bench.event(session, "Inspector.detached", r#"{"reason":"Render process gone."}"#);
    bench.target_created(new, "page", "");
    let info = target_info(old, "other", "");
    bench.event("", "Target.targetInfoChanged", &format!(r#"{{"targetInfo":{info}}}"#));
    bench.detached("", old, session);
    bench.target_destroyed(old);
}

/// A guest with its tab `T` discarded: it is `N` now.
fn asleep() -> Bench {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    discard(&mut bench, "T", "S", "N");
    bench
}

impl Bench {
    /// Attaches to `N` as the supervisor asked, and lets it be silent for as long as it takes.
    fn attach_and_find_silent(&mut self) -> Sent {
        let attach = self.expect("", "Target.attachToTarget");
        assert_eq!(attach.param("targetId"), "N");
        self.attached("", "N", "SN", "page", false, "");
        self.reply(&attach, r#"{"sessionId":"SN"}"#);
        assert!(!self.was_sent("SN", "Page.reload"));
        self.pass(ms(300));
        self.expect("SN", "Page.reload")
    }
}

#[test]
fn a_discarded_tab_keeps_its_place_and_is_left_to_sleep() {
    let bench = asleep();
    assert_eq!(bench.view().current.as_ref().map(TargetId::as_str), Some("N"));
    assert_eq!(bench.view().tabs.len(), 1);
    assert_eq!(bench.tab_state("N"), TabState::Asleep);
    bench.expect_nothing_sent();
}

#[test]
fn the_next_call_wakes_it_and_goes_through_once_its_document_is_there() {
    let mut bench = asleep();
    let call = bench.call("Runtime.evaluate");
    bench.attach_and_find_silent();
    bench.answer_own_set_up("SN", "N", "P");
    assert!(!bench.was_sent("SN", "Runtime.evaluate"), "the document of before the reload is none");
    bench.navigated("SN", "N", None, "https://a/");
    let evaluate = bench.expect("SN", "Runtime.evaluate");
    bench.reply(&evaluate, "{}");
    assert_eq!(bench.result(call), "{}");
    assert_eq!(bench.tab_state("N"), TabState::Ready);
}

#[test]
fn a_tab_that_somebody_else_has_woken_is_not_reloaded() {
    let mut bench = asleep();
    bench.call("Runtime.evaluate");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "N", "SN", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"SN"}"#);
    bench.answer_own_set_up("SN", "N", "P");
    bench.expect("SN", "Runtime.evaluate");
    bench.pass(Duration::from_secs(5));
    assert!(!bench.was_sent("SN", "Page.reload"));
}

#[test]
fn a_document_that_never_comes_does_not_keep_calls_that_lead_elsewhere() {
    let mut bench = asleep();
    bench.call("Page.navigate");
    bench.attach_and_find_silent();
    bench.answer_own_set_up("SN", "N", "P");
    assert!(!bench.was_sent("SN", "Page.navigate"));
    bench.pass(Duration::from_secs(3));
    bench.expect("SN", "Page.navigate");
}

#[test]
fn calls_in_flight_end_with_the_page_and_waiting_ones_wake_the_tab() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    let call = bench.call("Runtime.evaluate");
    bench.expect("S", "Runtime.evaluate");
    bench.opening("S", "T", "alert", "");
    discard(&mut bench, "T", "S", "N");
    assert_eq!(bench.code(call), "dialog_open");
    assert_eq!((bench.pending().len(), bench.closed_by()), (0, vec![("d-1".to_owned(), ClosedBy::Remote)]));
    let to_target = bench.call_to_target("N", "Runtime.evaluate");
    let to_current = bench.call("Runtime.evaluate");
    bench.expect("", "Target.attachToTarget");
    bench.expect_nothing_sent();
    assert!(bench.is_waiting(to_target) && bench.is_waiting(to_current));
}

#[test]
fn in_a_browser_of_our_own_auto_attach_brings_it_and_it_sleeps_all_the_same() {
    let mut bench = Bench::with_tab();
    bench.start_task("b", DialogPolicy::MustRespond);
    bench.target_created("N", "page", "");
    bench.attached("", "N", "SN", "page", false, "");
    assert_eq!(bench.view().tabs.len(), 2, "until more is told it looks like a new tab");
    let info = target_info("T", "other", "");
    bench.event("", "Target.targetInfoChanged", &format!(r#"{{"targetInfo":{info}}}"#));
    bench.detached("", "T", "S");
    bench.target_destroyed("T");
    let tabs: Vec<_> = bench.view().tabs.iter().map(|tab| tab.target_id.as_str()).collect();
    assert_eq!((tabs, bench.tab_state("N")), (vec!["N"], TabState::Asleep));
    bench.pass(Duration::from_secs(5));
    assert_eq!((bench.pending().len(), bench.tab_state("N")), (0, TabState::Asleep), "it is not blocked");
    bench.call("Runtime.evaluate");
    bench.expect("SN", "Page.reload");
}

#[test]
fn a_tab_that_sleeps_is_attached_by_nobody_after_a_lost_connection_either() {
    let mut bench = asleep();
    bench.lose_connection();
    bench.input(Input::Connected {
        browser_id: Some("BROWSER".to_owned()),
        scope: Scope::Guest,
        answers_dialogs: false,
    });
    bench.target_created("N", "page", "");
    for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
        let sent = bench.expect("", method);
        bench.reply(&sent, "{}");
    }
    assert_eq!(bench.tab_state("N"), TabState::Asleep);
    bench.expect_nothing_sent();
    bench.call("Runtime.evaluate");
    bench.attach_and_find_silent();
}

#[test]
fn a_target_that_is_no_page_any_more_without_another_in_its_place_changes_nothing() {
    let mut bench = Bench::with_tab();
    let info = target_info("T", "other", "");
    bench.event("", "Target.targetInfoChanged", &format!(r#"{{"targetInfo":{info}}}"#));
    assert_eq!(bench.tab_state("T"), TabState::Ready);
}

#[test]
fn another_tasks_tab_that_looks_the_same_is_not_taken_for_a_discarded_ones() {
    let mut bench = Bench::with_tab();
    bench.tab("N", "SN", "PN");
    let info = target_info("T", "other", "");
    bench.event("", "Target.targetInfoChanged", &format!(r#"{{"targetInfo":{info}}}"#));
    let tabs: Vec<_> = bench.view().tabs.iter().map(|tab| tab.target_id.as_str()).collect();
    assert_eq!((tabs, bench.tab_state("N")), (vec!["T", "N"], TabState::Ready));

    // Nor is one that sleeps in its own place.
    let mut bench = asleep();
    bench.target_created("T2", "page", "");
    bench.input(Input::SelectTab {
        waiter: Waiter(1000),
        task: "default".into(),
        session: None,
        target: Some("T2".into()),
    });
    let info = target_info("T2", "other", "");
    bench.event("", "Target.targetInfoChanged", &format!(r#"{{"targetInfo":{info}}}"#));
    assert!(bench.view().tabs.iter().any(|tab| tab.target_id.as_str() == "N"));
}

#[test]
fn a_second_request_does_not_cut_short_the_time_in_which_a_tab_may_show_that_it_is_awake() {
    let mut bench = asleep();
    bench.call("Runtime.evaluate");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "N", "SN", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"SN"}"#);
    bench.pass(ms(200));
    bench.call("Runtime.evaluate");
    assert!(!bench.was_sent("SN", "Page.reload"));
    bench.pass(ms(100));
    bench.expect("SN", "Page.reload");
}

#[test]
fn a_time_that_was_left_over_does_not_cut_short_the_next_waking() {
    let mut bench = asleep();
    bench.call("Page.navigate");
    bench.attach_and_find_silent();
    bench.pass(ms(2000));
    bench.lose_connection();
    bench.input(Input::Connected {
        browser_id: Some("BROWSER".to_owned()),
        scope: Scope::Guest,
        answers_dialogs: false,
    });
    bench.target_created("N", "page", "");
    bench.sent.retain(|sent| sent.session.is_empty());
    for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
        let sent = bench.expect("", method);
        bench.reply(&sent, "{}");
    }
    bench.call("Page.navigate");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "N", "SN2", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"SN2"}"#);
    bench.pass(ms(300));
    bench.expect("SN2", "Page.reload");
    bench.answer_own_set_up("SN2", "N", "P");
    bench.pass(ms(2900));
    assert!(!bench.was_sent("SN2", "Page.navigate"), "the first waking would have been over by now");
    bench.pass(ms(100));
    bench.expect("SN2", "Page.navigate");
}
