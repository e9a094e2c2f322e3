//! The connection: made, lost, and made again to the same browser or to another one.

use super::*;

// --- before the first connection ---

#[test]
fn calls_wait_while_the_browser_is_dialled() {
    let mut bench = Bench::unconnected();
    let page = bench.call("Runtime.evaluate");
    let browser = bench.call("Browser.getVersion");
    bench.expect_nothing_sent();
    bench.input(Input::Connected { browser_id: None, scope: Scope::Own, answers_dialogs: false });
    assert_eq!(bench.methods(), ["Target.setDiscoverTargets", "Target.setAutoAttach"]);
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", false, "");
    assert!(!bench.was_sent("", "Browser.getVersion"), "not before the start is over");
    for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
        let sent = bench.expect("", method);
        bench.reply(&sent, "{}");
    }
    bench.expect("", "Browser.getVersion");
    bench.answer_set_up("S", "T", "P");
    assert_eq!(bench.result(page), "{}");
    assert!(bench.is_waiting(browser));
}

#[test]
fn a_call_that_waits_for_the_connection_has_its_deadline() {
    let mut bench = Bench::unconnected();
    let call = bench.call("Runtime.evaluate");
    bench.pass(Duration::from_secs(30));
    assert_eq!(bench.code(call), "browser_gone");
}

#[test]
fn a_browser_that_cannot_be_reached_fails_what_waits_and_says_when_to_ask_again() {
    let mut bench = Bench::unconnected();
    let waiting = bench.call("Runtime.evaluate");
    bench.lose_connection();
    assert_eq!(bench.code(waiting), "browser_gone");
    bench.pass(ms(400));
    let later = bench.call("Runtime.evaluate");
    let expected = CallError::BrowserGone { why: "the browser went away".to_owned(), retry_after_ms: Some(600) };
    assert_eq!(bench.error(later), &expected);
    bench.input(Input::Dialling);
    let hopeful = bench.call("Runtime.evaluate");
    assert!(bench.is_waiting(hopeful));
}

#[test]
fn what_does_not_pass_by_itself_is_not_told_to_be_tried_again() {
    let mut bench = Bench::unconnected();
    let why = "the browser refused the key: give a fresh one".to_owned();
    bench.input(Input::Gone { why: why.clone(), retry_after: None });
    let call = bench.call("Runtime.evaluate");
    assert_eq!(bench.error(call).to_string(), why);
}

#[test]
fn a_backend_that_refuses_to_attach_by_itself_is_driven_tab_by_tab() {
    let mut bench = Bench::unconnected();
    bench.input(Input::Connected { browser_id: None, scope: Scope::Own, answers_dialogs: false });
    let discover = bench.expect("", "Target.setDiscoverTargets");
    bench.target_created("T", "page", "");
    bench.reply(&discover, "{}");
    let auto = bench.expect("", "Target.setAutoAttach");
    bench.refuse(&auto, -32000, "Not allowed");
    assert!(bench.notes[0].contains("Not allowed"));
    bench.call("Runtime.evaluate");
    assert_eq!(bench.expect("", "Target.attachToTarget").param("targetId"), "T");
}

// --- lost ---

#[test]
fn a_lost_connection_ends_a_hundred_calls_at_once_and_sends_nothing_more() {
    let mut bench = Bench::with_oopif();
    bench.popup("T", "U", "SU", "PU");
    let sent: Vec<_> = (0..100).map(|_| bench.call("Runtime.evaluate")).collect();
    // A tab in every stage of its life.
    bench.target_created("H", "page", "");
    bench.attached("", "H", "SH", "page", true, "");
    let held = bench.call_on("SH", "Page.navigate");
    bench.detached("", "U", "SU");
    let attaching = bench.call_to_target("U", "Page.navigate");
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    let recovering = bench.call("Page.navigate");
    bench.sent.clear();

    bench.lose_connection();
    for waiter in sent {
        assert!(["unknown_outcome", "dialog_open"].contains(&bench.code(waiter)));
    }
    for waiter in [held, attaching, recovering] {
        assert_eq!(bench.code(waiter), "browser_gone", "it was never sent");
    }
    bench.pass(Duration::from_secs(600));
    bench.expect_nothing_sent();
    assert_eq!((bench.core.in_flight(), bench.core.poll_timeout()), (0, None));
    assert!(!bench.view().active);
}

#[test]
fn a_lost_connection_ends_a_call_that_a_given_up_answer_would_have_blocked_as_unknown() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let answer = bench.accept();
    let call = bench.call("Runtime.evaluate");
    bench.lose_connection();
    assert_eq!(bench.code(call), "unknown_outcome");
    assert_eq!(bench.code(answer), "unknown_outcome");
}

#[test]
fn a_call_that_waits_for_a_new_tab_was_not_sent_when_the_connection_goes() {
    let mut bench = Bench::own();
    let call = bench.call("Runtime.evaluate");
    bench.expect("", "Target.createTarget");
    bench.lose_connection();
    assert_eq!(bench.code(call), "browser_gone");
}

#[test]
fn every_request_fails_at_once_while_the_browser_is_gone() {
    let mut bench = Bench::with_tab();
    bench.lose_connection();
    let call = bench.call("Target.getTargets");
    let answer = bench.accept();
    let (interrupt, select, current) = (bench.waiter(), bench.waiter(), bench.waiter());
    let task = TaskId::default_task;
    bench.input(Input::Interrupt { waiter: interrupt, task: task() });
    bench.input(Input::SelectTab { waiter: select, task: task(), session: None, target: None });
    bench.input(Input::CurrentTab { waiter: current, task: task(), timeout: Duration::from_secs(30) });
    for waiter in [call, answer, interrupt, select, current] {
        assert_eq!(bench.code(waiter), "browser_gone");
    }
    let leave = bench.waiter();
    bench.input(Input::Leave(leave));
    assert_eq!(bench.outcome(leave), &Ok(Outcome::Done));
    bench.expect_nothing_sent();
}

#[test]
fn an_answer_from_before_the_loss_finds_nobody() {
    let mut bench = Bench::with_tab();
    let before = bench.call("Runtime.evaluate");
    let sent = bench.expect("S", "Runtime.evaluate");
    bench.lose_connection();
    bench.connect("BROWSER", Scope::Own);
    bench.reply(&sent, "{}");
    assert_eq!(bench.code(before), "unknown_outcome");
}

// --- back ---

#[test]
fn the_same_browser_gets_its_tabs_back_by_name() {
    for scope in [Scope::Own, Scope::Guest] {
        let mut bench = Bench::with_oopif();
        bench.tab("CLOSED", "SC", "PC");
        bench.lose_connection();
        bench.input(Input::Connected { browser_id: Some("BROWSER".to_owned()), scope, answers_dialogs: false });
        bench.target_created("T", "page", "");
        if scope == Scope::Own {
            bench.attached("", "T", "S2", "page", false, "");
        }
        for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
            let sent = bench.expect("", method);
            bench.reply(&sent, "{}");
        }
        let call = bench.call("Runtime.evaluate");
        if scope == Scope::Guest {
            let attach = bench.expect("", "Target.attachToTarget");
            bench.attached("", "T", "S2", "page", false, "");
            bench.reply(&attach, r#"{"sessionId":"S2"}"#);
        }
        bench.answer_set_up("S2", "T", "P");
        assert_eq!(bench.result(call), "{}", "{scope:?}");
        assert_eq!(bench.view().current, Some(TargetId::from("T")));
        assert_eq!(bench.view().tabs.len(), 1, "a tab that was closed meanwhile is gone");
        assert_eq!(bench.frames(), [""; 0], "the frames of before are not believed");
        bench.expect_nothing_sent();
    }
}

#[test]
fn the_same_browser_shows_a_dialog_of_before_until_its_page_answers() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.lose_connection();
    bench.input(Input::Connected { browser_id: Some("BROWSER".to_owned()), scope: Scope::Own, answers_dialogs: false });
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S2", "page", false, "");
    for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
        let sent = bench.expect("", method);
        bench.reply(&sent, "{}");
    }
    let call = bench.call("Runtime.evaluate");
    let enable = bench.expect("S2", "Page.enable");
    bench.pass(ms(2000));
    let probe = bench.expect("S2", "Page.getNavigationHistory");
    bench.reply(&probe, "{}");
    bench.pass(ms(3000));
    assert_eq!(bench.code(call), "dialog_open");
    assert_eq!(bench.pending(), ["d-1"], "met again, not counted twice");
    bench.reply(&enable, "{}");
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn an_attach_that_the_loss_ended_does_not_lose_the_tab() {
    let mut bench = Bench::with_tab();
    bench.detached("", "T", "S");
    bench.expect("", "Target.attachToTarget");
    bench.lose_connection();
    assert_eq!(bench.view().current, Some(TargetId::from("T")));
}

#[test]
fn another_browser_gets_nothing_of_the_old_ones_state() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "T", "alert", "");
    bench.accept();
    let sent = bench.expect("S", "Page.handleJavaScriptDialog");
    bench.reply(&sent, "{}");
    bench.opening("S", "O", "alert", "");
    let thrown = r#"{"timestamp":1,"exceptionDetails":{"text":"Uncaught","lineNumber":1}}"#;
    bench.event("S", "Runtime.exceptionThrown", thrown);
    bench.lose_connection();
    bench.connect("ANOTHER", Scope::Own);
    let view = bench.view();
    assert!(view.tabs.is_empty() && view.sessions.is_empty() && view.console.is_empty());
    assert!(view.pending_dialogs.is_empty() && view.recent_dialogs.is_empty() && view.frame_tree.is_none());
    assert_eq!(view.current, None);
    bench.tab("T", "S9", "P");
    bench.opening("S9", "T", "alert", "");
    assert_eq!(bench.pending(), ["d-3"], "numbers are never used again");
}

#[test]
fn connecting_and_losing_a_thousand_times_leaves_nothing_behind() {
    let mut bench = Bench::with_tab();
    for round in 0..1000 {
        bench.call("Runtime.evaluate");
        bench.opening(&format!("S{round}"), "T", "alert", "");
        bench.lose_connection();
        bench.sent.clear();
        bench.input(Input::Connected {
            browser_id: Some("BROWSER".to_owned()),
            scope: Scope::Own,
            answers_dialogs: false,
        });
        bench.tab("T", &format!("S{}", round + 1), "P");
        for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
            let sent = bench.expect("", method);
            bench.reply(&sent, "{}");
        }
    }
    assert_eq!((bench.core.sessions.len(), bench.core.targets.len(), bench.core.tabs.len()), (1, 1, 1));
    assert_eq!((bench.core.in_flight(), bench.core.poll_timeout()), (0, None));
    assert_eq!(bench.pending(), [""; 0]);
}
