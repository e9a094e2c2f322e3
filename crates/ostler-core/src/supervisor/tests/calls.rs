//! Clients' calls: where they go, and that each ends once, with its result, its error or its deadline.

use super::*;

// --- passing through ---

#[test]
fn parameters_and_result_pass_unchanged() {
    let mut bench = Bench::with_tab();
    let call = bench.call_with("Runtime.evaluate", r#"{ "expression" : "\ud800\u2028" , "new" : [ 1.0 ] }"#);
    let sent = bench.expect("S", "Runtime.evaluate");
    assert_eq!(sent.params, r#"{ "expression" : "\ud800\u2028" , "new" : [ 1.0 ] }"#);
    bench.reply(&sent, r#"{ "value" : "\udc00" }"#);
    assert_eq!(bench.result(call), r#"{ "value" : "\udc00" }"#);
}

#[test]
fn the_browsers_own_error_keeps_its_code_and_words() {
    let mut bench = Bench::with_tab();
    let call = bench.call("Page.navigate");
    let sent = bench.expect("S", "Page.navigate");
    bench.refuse(&sent, -32602, "Invalid parameters");
    let expected = CallError::Cdp { code: -32602, message: "Invalid parameters".to_owned() };
    assert_eq!(bench.error(call), &expected);
}

#[test]
fn errors_that_have_a_name_of_their_own_get_it() {
    for (code, message, named) in [
        (-32001, "Session with given id not found.", "session_gone"),
        (-32000, "Inspected target navigated or closed", "unknown_outcome"),
        (-32000, "Target crashed", "target_crashed"),
        (-32000, "Not attached to an active page", "cdp"),
    ] {
        let mut bench = Bench::with_tab();
        let call = bench.call("Runtime.evaluate");
        let sent = bench.expect("S", "Runtime.evaluate");
        bench.refuse(&sent, code, message);
        assert_eq!(bench.code(call), named, "{message}");
        bench.expect_nothing_sent();
    }
}

#[test]
fn calls_are_answered_in_whatever_order_the_browser_answers() {
    let mut bench = Bench::with_tab();
    let calls = [bench.call("A.a"), bench.call("A.b"), bench.call("A.c")];
    let sent = ["A.a", "A.b", "A.c"].map(|method| bench.expect("S", method));
    for at in [2, 0, 1] {
        bench.reply(&sent[at], &format!(r#"{{"n":{at}}}"#));
        assert_eq!(bench.result(calls[at]), format!(r#"{{"n":{at}}}"#));
    }
}

#[test]
fn an_answer_that_nobody_asked_for_changes_nothing() {
    let mut bench = Bench::with_tab();
    let before = bench.view().state_json();
    bench.message(r#"{"id":424242,"result":{}}"#);
    bench.message(r#"{"id":1,"error":{"code":-1,"message":"late"}}"#);
    assert_eq!(bench.view().state_json(), before);
    bench.expect_nothing_sent();
}

// --- where a call goes ---

#[test]
fn target_and_browser_methods_go_to_the_browser_even_if_a_session_is_named() {
    let mut bench = Bench::with_tab();
    bench.call_on("S", "Target.getTargets");
    bench.call_on("S", "Browser.getVersion");
    bench.expect("", "Target.getTargets");
    bench.expect("", "Browser.getVersion");
}

#[test]
fn a_named_session_is_used_and_an_unknown_one_never_redirected() {
    let mut bench = Bench::with_oopif();
    bench.call_on("SO", "DOM.getDocument");
    bench.expect("SO", "DOM.getDocument");
    let gone = bench.call_on("NOBODY", "DOM.getDocument");
    assert_eq!(bench.code(gone), "session_gone");
    bench.expect_nothing_sent();
}

#[test]
fn a_target_may_be_a_tab_or_a_frame_and_an_unknown_one_is_gone() {
    let mut bench = Bench::with_oopif();
    bench.tab("T2", "S2", "P2");
    bench.call_to_target("T2", "DOM.getDocument");
    bench.expect("S2", "DOM.getDocument");
    bench.call_to_target("O", "DOM.getDocument");
    bench.expect("SO", "DOM.getDocument");
    let gone = bench.call_to_target("NOBODY", "DOM.getDocument");
    assert_eq!(bench.code(gone), "session_gone");
    bench.expect_nothing_sent();
}

#[test]
fn the_default_session_heals_when_the_current_tab_is_closed() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    bench.detached("", "T", "S");
    bench.target_destroyed("T");
    let call = bench.call("Runtime.evaluate");
    let sent = bench.expect("S2", "Runtime.evaluate");
    bench.reply(&sent, "{}");
    assert_eq!(bench.result(call), "{}");
}

#[test]
fn the_last_tab_closed_opens_a_new_one_for_the_next_call() {
    let mut bench = Bench::with_tab();
    bench.target_destroyed("T");
    let first = bench.call("Runtime.evaluate");
    let second = bench.call("Page.navigate");
    let create = bench.expect("", "Target.createTarget");
    assert_eq!(create.params, r#"{"url":"about:blank","background":true}"#, "C9, E18");
    bench.expect_nothing_sent();
    bench.target_created("N", "page", "");
    bench.attached("", "N", "SN", "page", true, "");
    bench.reply(&create, r#"{"targetId":"N"}"#);
    bench.answer_set_up("SN", "N", "PN");
    assert_eq!((bench.result(first), bench.result(second)), ("{}", "{}"));
}

#[test]
fn a_tab_whose_creation_is_answered_before_it_is_attached_comes_all_the_same() {
    let mut bench = Bench::own();
    let call = bench.call("Runtime.evaluate");
    let create = bench.expect("", "Target.createTarget");
    bench.reply(&create, r#"{"targetId":"N"}"#);
    bench.expect_nothing_sent();
    bench.target_created("N", "page", "");
    bench.attached("", "N", "SN", "page", true, "");
    bench.answer_set_up("SN", "N", "PN");
    assert_eq!(bench.result(call), "{}");
}

#[test]
fn a_refused_tab_fails_the_calls_that_waited_for_it() {
    let mut bench = Bench::own();
    let call = bench.call("Runtime.evaluate");
    let create = bench.expect("", "Target.createTarget");
    bench.refuse(&create, -32000, "no more tabs");
    assert_eq!(bench.code(call), "cdp");
    bench.call("Runtime.evaluate");
    bench.expect("", "Target.createTarget");
}

#[test]
fn browser_level_calls_never_wait_for_a_page() {
    let mut bench = Bench::own();
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", true, "");
    let held = bench.call("Runtime.evaluate");
    let browser = bench.call("Target.getTargets");
    let sent = bench.expect("", "Target.getTargets");
    bench.reply(&sent, "{}");
    assert_eq!(bench.result(browser), "{}");
    assert!(bench.is_waiting(held));
}

#[test]
fn a_selected_tab_becomes_the_current_one() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    let (waiter, task) = (bench.waiter(), TaskId::default_task());
    bench.input(Input::SelectTab { waiter, task, session: None, target: Some(TargetId::from("T2")) });
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Tab(TargetId::from("T2"), SessionId::from("S2"))));
    bench.call("Runtime.evaluate");
    bench.expect("S2", "Runtime.evaluate");
    let (waiter, task) = (bench.waiter(), TaskId::default_task());
    bench.input(Input::CurrentTab { waiter, task, timeout: Duration::from_secs(30) });
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Tab(TargetId::from("T2"), SessionId::from("S2"))));
}

#[test]
fn a_selected_frame_session_takes_the_calls_until_it_goes() {
    let mut bench = Bench::with_oopif();
    let (waiter, task) = (bench.waiter(), TaskId::default_task());
    bench.input(Input::SelectTab { waiter, task, session: Some(SessionId::from("SO")), target: None });
    bench.call("Runtime.evaluate");
    bench.expect("SO", "Runtime.evaluate");
    bench.detached("S", "O", "SO");
    bench.call("Runtime.evaluate");
    bench.expect("S", "Runtime.evaluate");
}

#[test]
fn selecting_what_is_not_there_says_so_and_changes_nothing() {
    let mut bench = Bench::with_tab();
    for (session, target, code) in
        [(Some("NOBODY"), None, "session_gone"), (None, Some("NOBODY"), "session_gone"), (None, None, "bad_request")]
    {
        let (waiter, task) = (bench.waiter(), TaskId::default_task());
        let (session, target) = (session.map(SessionId::from), target.map(TargetId::from));
        bench.input(Input::SelectTab { waiter, task, session, target });
        assert_eq!(bench.code(waiter), code);
    }
    assert_eq!(bench.view().current, Some(TargetId::from("T")));
}

// --- refusals ---

#[test]
fn what_would_blind_the_supervisor_is_refused_and_goes_through_on_a_clients_own_session() {
    let mut bench = Bench::with_tab();
    bench.attached("", "T", "CLIENT", "page", false, "");
    for method in ["Page.disable", "Runtime.disable", "Log.disable", "Inspector.disable"] {
        let refused = bench.call(method);
        assert_eq!(bench.code(refused), "bad_request", "{method}");
        bench.expect_nothing_sent();
        bench.call_on("CLIENT", method);
        bench.expect("CLIENT", method);
    }
    for (method, params) in [
        ("Target.setAutoAttach", "{}"),
        ("Target.autoAttachRelated", "{}"),
        ("Target.setDiscoverTargets", r#"{"discover":false}"#),
        ("Target.setDiscoverTargets", r#"{"discover":false,"why":"true"}"#),
        ("Target.setDiscoverTargets", r#"{"discover":true,"filter":[{"type":"page"}]}"#),
    ] {
        let refused = bench.call_with(method, params);
        assert_eq!(bench.code(refused), "bad_request", "{method}");
        bench.expect_nothing_sent();
    }
    bench.call_with("Target.setDiscoverTargets", r#"{"discover":true}"#);
    bench.expect("", "Target.setDiscoverTargets");
}

#[test]
fn a_tab_with_an_open_dialog_is_not_detached_whichever_way_it_is_named() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    for params in [r#"{"sessionId":"S"}"#, r#"{"targetId":"T"}"#] {
        let refused = bench.call_with("Target.detachFromTarget", params);
        assert_eq!(bench.code(refused), "bad_request", "A11: {params}");
        bench.expect_nothing_sent();
    }
}

#[test]
fn a_message_larger_than_the_browser_takes_is_refused() {
    let mut bench = Bench::with_tab();
    let call = bench.client_call("Runtime.evaluate");
    let params = Some(Bytes::from(vec![b' '; 99 << 20]));
    let call = bench.make(ClientCall { params, ..call });
    assert_eq!(bench.code(call), "bad_request", "D5");
    bench.expect_nothing_sent();
}

// --- deadlines, cancel ---

#[test]
fn a_call_without_an_answer_ends_at_its_deadline() {
    let mut bench = Bench::with_tab();
    let call = ClientCall { timeout: ms(700), ..bench.client_call("Runtime.evaluate") };
    let call = bench.make(call);
    let sent = bench.expect("S", "Runtime.evaluate");
    bench.pass(ms(699));
    assert!(bench.is_waiting(call));
    bench.pass(ms(1));
    assert_eq!(bench.code(call), "timeout");
    assert!(bench.error(call).to_string().contains("within 700 ms"));
    bench.reply(&sent, "{}");
    assert_eq!(bench.code(call), "timeout", "it ended once");
}

#[test]
fn a_page_is_called_busy_only_if_it_answered_nothing_all_the_while() {
    for answers_another in [false, true] {
        let mut bench = Bench::with_tab();
        bench.pass(ms(1));
        let call = ClientCall { timeout: ms(700), ..bench.client_call("Runtime.evaluate") };
        let call = bench.make(call);
        bench.call("Runtime.getProperties");
        if answers_another {
            let sent = bench.expect("S", "Runtime.getProperties");
            bench.reply(&sent, "{}");
        }
        bench.pass(ms(500));
        if !answers_another {
            let version = bench.expect("", "Browser.getVersion");
            bench.reply(&version, "{}");
        }
        bench.pass(ms(200));
        assert_eq!(bench.error(call).to_string().contains("kept the page busy"), !answers_another);
    }
}

#[test]
fn a_browser_that_answers_nothing_at_all_is_told_from_a_busy_page() {
    for (method, session) in [("Runtime.evaluate", "S"), ("Target.getTargets", "")] {
        let mut bench = Bench::with_tab();
        bench.pass(ms(1));
        let call = ClientCall { timeout: ms(700), ..bench.client_call(method) };
        let call = bench.make(call);
        bench.expect(session, method);
        bench.pass(ms(499));
        bench.expect_nothing_sent();
        bench.pass(ms(1));
        bench.expect("", "Browser.getVersion");
        bench.pass(ms(200));
        assert_eq!(bench.code(call), "timeout");
        let told = bench.error(call).to_string();
        assert!(told.contains("the browser itself answers nothing either") && !told.contains("busy"), "{told}");
        assert_ne!(bench.tab_state("T"), TabState::Hung, "nothing is known of the page");
    }
}

#[test]
fn a_browser_that_tells_anything_is_not_asked_whether_it_answers() {
    let mut bench = Bench::with_tab();
    let call = ClientCall { timeout: ms(700), ..bench.client_call("Target.getTargets") };
    let call = bench.make(call);
    bench.expect("", "Target.getTargets");
    bench.pass(ms(100));
    bench.event("S", "Page.lifecycleEvent", "{}");
    bench.pass(ms(600));
    bench.expect_nothing_sent();
    assert!(!bench.error(call).to_string().contains("the browser itself"));
}

#[test]
fn a_request_that_waits_for_a_tab_of_a_browser_that_answers_nothing_is_told_so() {
    let mut bench = Bench::own();
    bench.pass(ms(1));
    let waiter = bench.waiter();
    bench.input(Input::CurrentTab { waiter, task: TaskId::default_task(), timeout: ms(700) });
    bench.expect("", "Target.createTarget");
    bench.pass(ms(700));
    bench.expect("", "Browser.getVersion");
    assert!(bench.error(waiter).to_string().contains("the browser itself answers nothing either"));
}

#[test]
fn a_page_that_answers_is_not_called_busy_by_a_call_that_waits_alone() {
    let mut bench = Bench::with_tab();
    bench.pass(ms(1));
    let call = ClientCall { timeout: ms(700), ..bench.client_call("Runtime.evaluate") };
    let call = bench.make(call);
    bench.pass(ms(600));
    let probe = bench.expect("S", "Runtime.getIsolateId");
    bench.reply(&probe, r#"{"id":"P"}"#);
    bench.pass(ms(100));
    assert_eq!(bench.code(call), "timeout");
    assert!(!bench.error(call).to_string().contains("kept the page busy"), "it awaits a promise, say");
}

#[test]
fn a_calls_time_runs_while_it_waits_for_its_tab() {
    let mut bench = Bench::own();
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", true, "");
    let patient = ClientCall { timeout: ms(3000), ..bench.client_call("Runtime.evaluate") };
    let patient = bench.make(patient);
    let hasty = ClientCall { timeout: ms(500), ..bench.client_call("Runtime.evaluate") };
    let hasty = bench.make(hasty);
    bench.pass(ms(500));
    assert_eq!(bench.code(hasty), "timeout");
    bench.pass(ms(1500));
    bench.expect("S", "Runtime.evaluate");
    assert!(!bench.was_sent("S", "Runtime.evaluate"), "what has ended is not sent");
    bench.pass(ms(999));
    assert!(bench.is_waiting(patient));
    bench.pass(ms(1));
    assert_eq!(bench.code(patient), "timeout", "3 s in all, not 3 s from its sending");
}

#[test]
fn a_time_without_end_does_not_overflow() {
    let mut bench = Bench::with_tab();
    let call = ClientCall { timeout: Duration::MAX, ..bench.client_call("Runtime.evaluate") };
    let call = bench.make(call);
    bench.pass(Duration::from_secs(1_000_000));
    assert!(bench.is_waiting(call));
}

#[test]
fn a_clock_that_is_set_back_ends_nothing_early_and_nothing_late() {
    let mut bench = Bench::with_tab();
    let call = ClientCall { timeout: ms(1000), ..bench.client_call("Runtime.evaluate") };
    let call = bench.make(call);
    bench.core.handle_input(Timestamp(0), Input::Tick);
    assert!(bench.is_waiting(call));
    bench.pass(ms(1000));
    assert_eq!(bench.code(call), "timeout");
}

#[test]
fn a_cancelled_call_is_told_nothing_and_leaves_nothing() {
    let mut bench = Bench::own();
    let queued = bench.call("Runtime.evaluate");
    bench.input(Input::Cancel(queued));
    let create = bench.expect("", "Target.createTarget");
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", true, "");
    bench.reply(&create, r#"{"targetId":"T"}"#);
    assert!(!bench.was_sent("S", "Runtime.evaluate"));
    bench.answer_set_up("S", "T", "P");

    let sent = bench.call("Runtime.evaluate");
    let command = bench.expect("S", "Runtime.evaluate");
    bench.input(Input::Cancel(sent));
    bench.reply(&command, "{}");
    bench.pass(Duration::from_secs(60));
    assert!(bench.is_waiting(queued) && bench.is_waiting(sent));
    assert_eq!((bench.core.in_flight(), bench.core.poll_timeout()), (0, None));
}

#[test]
fn cancelling_what_is_over_or_unknown_changes_nothing() {
    let mut bench = Bench::with_tab();
    let call = bench.call("Runtime.evaluate");
    let sent = bench.expect("S", "Runtime.evaluate");
    bench.reply(&sent, "{}");
    bench.input(Input::Cancel(call));
    bench.input(Input::Cancel(Waiter(99)));
    assert_eq!(bench.result(call), "{}");
}

#[test]
fn a_cancelled_tab_creation_still_gives_the_tab_to_its_task() {
    let mut bench = Bench::guest();
    let call = bench.call_with("Target.createTarget", r#"{"url":"about:blank"}"#);
    let create = bench.expect("", "Target.createTarget");
    bench.input(Input::Cancel(call));
    bench.target_created("N", "page", "");
    bench.reply(&create, r#"{"targetId":"N"}"#);
    bench.expect("", "Target.attachToTarget");
    assert_eq!(bench.view().tabs.len(), 1);
}

// --- a busy page ---

#[test]
fn an_interrupt_stops_the_script_of_a_page_that_does_not_answer() {
    let mut bench = Bench::with_tab();
    let waiter = bench.waiter();
    bench.input(Input::Interrupt { waiter, task: TaskId::default_task() });
    let probe = bench.expect("S", "Runtime.getIsolateId");
    bench.pass(ms(149));
    bench.expect_nothing_sent();
    bench.pass(ms(1));
    bench.expect("S", "Runtime.terminateExecution");
    assert!(bench.is_waiting(waiter));
    bench.reply(&probe, "{}");
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
}

#[test]
fn an_interrupt_of_a_free_page_stops_nothing() {
    let mut bench = Bench::with_oopif();
    let waiter = bench.waiter();
    bench.input(Input::Interrupt { waiter, task: TaskId::default_task() });
    for session in ["S", "SO"] {
        let probe = bench.expect(session, "Runtime.getIsolateId");
        bench.reply(&probe, "{}");
    }
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
    bench.pass(ms(1000));
    bench.expect_nothing_sent();
}

#[test]
fn an_interrupt_of_a_page_with_a_dialog_names_the_dialog() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    let waiter = bench.waiter();
    bench.input(Input::Interrupt { waiter, task: TaskId::default_task() });
    assert_eq!(bench.code(waiter), "dialog_open");
    bench.expect_nothing_sent();
}

#[test]
fn an_interrupt_that_cannot_free_the_page_ends_once_with_timeout() {
    let mut bench = Bench::with_oopif();
    let waiter = bench.waiter();
    bench.input(Input::Interrupt { waiter, task: TaskId::default_task() });
    bench.pass(ms(150));
    let version = bench.expect("", "Browser.getVersion");
    bench.reply(&version, "{}");
    bench.pass(Duration::from_secs(30));
    assert_eq!(bench.code(waiter), "timeout");
    let told = bench.error(waiter).to_string();
    assert!(told.contains("could not be stopped") && told.contains("close the tab"), "{told}");
}

/// A tab whose page left a call without an answer, and with it the question whether it answers at all.
fn hung() -> Bench {
    let mut bench = Bench::with_tab();
    bench.pass(ms(1));
    let call = ClientCall { timeout: ms(1000), ..bench.client_call("Runtime.evaluate") };
    let call = bench.make(call);
    bench.pass(ms(800));
    bench.expect("S", "Runtime.evaluate");
    bench.expect("S", "Runtime.getIsolateId");
    let standing = bench.expect("S", "Page.getNavigationHistory");
    bench.reply(&standing, "{}");
    bench.pass(ms(200));
    assert_eq!((bench.code(call), bench.tab_state("T")), ("timeout", TabState::Hung));
    bench
}

#[test]
fn a_page_that_is_known_to_hang_is_told_with_how_long_it_has_been() {
    let mut bench = hung();
    bench.pass(Duration::from_secs(40));
    let call = ClientCall { timeout: ms(500), ..bench.client_call("Runtime.evaluate") };
    let call = bench.make(call);
    bench.pass(ms(300));
    let standing = bench.expect("S", "Page.getNavigationHistory");
    bench.reply(&standing, "{}");
    bench.pass(ms(200));
    let told = bench.error(call).to_string();
    assert!(told.contains("a script has kept the page busy for at least 41 s"), "{told}");
    assert!(told.contains("interrupt") && !told.contains("reload"), "a reload would wait for the script: {told}");
}

#[test]
fn a_navigation_stops_the_script_of_a_page_that_is_known_to_hang() {
    let mut bench = hung();
    bench.call("Page.navigate");
    bench.expect("S", "Runtime.terminateExecution");
    bench.expect("S", "Page.navigate");
    bench.navigated("S", "T", None, "https://a.example/next");
    assert_eq!(bench.tab_state("T"), TabState::Ready);
    bench.call("Page.reload");
    bench.expect("S", "Page.reload");
    assert!(!bench.was_sent("S", "Runtime.terminateExecution"), "what answers is left alone");
}

#[test]
fn what_keeps_a_page_that_goes_elsewhere_is_its_script_until_the_next_document_is_requested_and_then_the_server() {
    let document = |id: &str| format!(r#"{{"requestId":"{id}","loaderId":"L","frameId":"T"}}"#);
    let begun = |kind: &str| format!(r#"{{"frameId":"T","url":"u","loaderId":"L","navigationType":"{kind}"}}"#);
    let (asked, moved) = (begun("differentDocument"), begun("sameDocument"));
    for (events, expected, why) in [
        (vec![("Page.frameStartedNavigating", &*asked)], Arrival::Begun, "a script has kept the page busy"),
        (
            vec![("Page.frameStartedNavigating", &*asked), ("Network.requestWillBeSent", &*document("7.1"))],
            Arrival::Begun,
            "a script has kept the page busy",
        ),
        (
            vec![("Page.frameStartedNavigating", &*asked), ("Network.requestWillBeSent", &*document("L"))],
            Arrival::Requested,
            "whose server has not answered yet",
        ),
        (vec![("Page.frameStartedNavigating", &*moved)], Arrival::None, "a script has kept the page busy"),
        (vec![("Network.requestWillBeSent", &*document("L"))], Arrival::None, "a script has kept the page busy"),
    ] {
        let mut bench = Bench::with_tab();
        for (method, params) in &events {
            bench.event("S", method, params);
        }
        assert_eq!(bench.view().tabs[0].arrival, expected, "{events:?}");
        bench.pass(ms(1));
        let call = ClientCall { timeout: ms(1000), ..bench.client_call("Runtime.evaluate") };
        let call = bench.make(call);
        bench.pass(ms(800));
        let standing = bench.expect("S", "Page.getNavigationHistory");
        bench.reply(&standing, "{}");
        bench.pass(ms(200));
        let told = bench.error(call).to_string();
        assert!(told.contains(why), "{events:?}: {told}");
        bench.navigated("S", "T", None, "https://a.example/next");
        assert_eq!(bench.view().tabs[0].arrival, Arrival::None, "{events:?}");
    }
}

#[test]
fn a_page_whose_script_holds_up_its_leaving_is_told_that_only_closing_it_helps() {
    let mut bench = Bench::with_tab();
    let navigation = bench.call("Page.navigate");
    let sent = bench.expect("S", "Page.navigate");
    bench.reply(&sent, r#"{"frameId":"T","loaderId":"L"}"#);
    assert!(!bench.is_waiting(navigation));
    bench.pass(ms(1));
    let call = ClientCall { timeout: ms(1000), ..bench.client_call("Runtime.evaluate") };
    let call = bench.make(call);
    bench.pass(ms(800));
    let standing = bench.expect("S", "Page.getNavigationHistory");
    bench.refuse(&standing, -32000, "Not attached to an active page");
    bench.pass(ms(200));
    let told = bench.error(call).to_string();
    assert!(told.contains("is being left") && told.contains("Target.closeTarget, which alone frees it"), "{told}");
    assert!(!told.contains("interrupt") && !told.contains("reload"), "{told}");

    let waiter = bench.waiter();
    bench.input(Input::Interrupt { waiter, task: TaskId::default_task() });
    bench.pass(ms(150));
    assert!(bench.is_waiting(waiter));
    let standing = bench.expect("S", "Page.getNavigationHistory");
    bench.refuse(&standing, -32000, "Not attached to an active page");
    let told = bench.error(waiter).to_string();
    assert!(told.contains("is being left") && told.contains("which alone frees it"), "{told}");

    bench.call("Page.navigate");
    assert!(bench.was_sent("S", "Page.navigate"));
    bench.navigated("S", "T", None, "https://a.example/next");
    assert_eq!(bench.tab_state("T"), TabState::Ready, "its script ended after all");
}

#[test]
fn a_frame_that_a_script_keeps_busy_is_named_and_known_until_it_answers() {
    let mut bench = Bench::with_oopif();
    let hung = |bench: &Bench| bench.view().sessions.iter().any(|known| known.hung);
    let call = bench.client_call("DOM.getDocument");
    let call = bench.make(ClientCall { session: Some(SessionId::from("SO")), timeout: Duration::from_secs(5), ..call });
    bench.pass(ms(4900));
    let alive = bench.expect("", "Browser.getVersion");
    bench.reply(&alive, "{}");
    bench.pass(ms(100));
    let said = bench.error(call).sentence(crate::Words::Tools);
    assert!(said.contains("a script has kept frame O busy for at least 5 s"), "{said}");
    assert!(said.contains("Runtime.terminateExecution and frame_id O"), "{said}");
    assert!(hung(&bench));
    assert_eq!(bench.tab_state("T"), TabState::Ready, "the page around it is not");
    let probe = bench.expect("SO", "Runtime.getIsolateId");
    bench.reply(&probe, r#"{"id":"PO"}"#);
    assert!(!hung(&bench));
}
