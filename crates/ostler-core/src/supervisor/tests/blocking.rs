//! What an open dialog ends, and what it leaves alone: facts A15 to A18 and A21.

use super::*;

#[test]
fn a_dialog_ends_the_calls_that_its_renderer_would_have_answered() {
    let mut bench = Bench::with_tab();
    let blocked = ["Runtime.evaluate", "DOM.getDocument", "Page.captureScreenshot", "Input.insertText", "Page.enable"];
    let free = ["Page.reload", "Network.getCookies", "Page.getNavigationHistory", "Storage.getCookies"];
    let blocked = blocked.map(|method| (method, bench.call(method)));
    let free = free.map(|method| (method, bench.call(method)));
    let browser = bench.call("Target.getTargets");
    bench.opening("S", "T", "confirm", "sure?");
    for (method, waiter) in blocked {
        assert_eq!(bench.code(waiter), "dialog_open", "{method}");
    }
    for (method, waiter) in free {
        assert!(bench.is_waiting(waiter), "{method} is answered by the browser (A15)");
    }
    assert!(bench.is_waiting(browser));
}

#[test]
fn a_call_that_a_dialog_would_block_is_not_even_sent() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "sure?");
    let call = bench.call("Runtime.evaluate");
    bench.expect_nothing_sent();
    let error = bench.error(call);
    assert_eq!(error.code(), "dialog_open");
    let said = error.to_string();
    assert!(said.contains("a confirm dialog (d-1: \"sure?\")") && said.contains("not sent"), "{said}");
}

#[test]
fn a_second_navigation_under_a_beforeunload_is_told_of_the_dialog_and_not_sent() {
    let mut bench = Bench::with_tab();
    let first = bench.call("Page.navigate");
    bench.expect("S", "Page.navigate");
    bench.opening("S", "T", "beforeunload", "");
    assert_eq!(bench.code(first), "dialog_open");
    let second = bench.call("Page.navigate");
    bench.expect_nothing_sent();
    assert_eq!(bench.code(second), "dialog_open");
    let patient = ClientCall { on_dialog: OnDialog::Wait, ..bench.client_call("Page.navigate") };
    let patient = bench.make(patient);
    bench.expect("S", "Page.navigate");
    assert!(bench.is_waiting(patient));
    bench.dismiss();
    bench.call("Page.navigate");
    bench.expect("S", "Page.navigate");
}

#[test]
fn a_call_that_waits_for_dialogs_is_sent_and_gets_its_answer_afterwards() {
    let mut bench = Bench::with_tab();
    let before = ClientCall { on_dialog: OnDialog::Wait, ..bench.client_call("Runtime.evaluate") };
    let before = bench.make(before);
    let first = bench.expect("S", "Runtime.evaluate");
    bench.opening("S", "T", "alert", "");
    let during = ClientCall { on_dialog: OnDialog::Wait, ..bench.client_call("Runtime.evaluate") };
    let during = bench.make(during);
    let second = bench.expect("S", "Runtime.evaluate");
    assert!(bench.is_waiting(before) && bench.is_waiting(during));
    bench.accept();
    bench.answer_arrives("S");
    bench.reply(&first, "{}");
    bench.reply(&second, "{}");
    assert_eq!((bench.result(before), bench.result(during)), ("{}", "{}"));
}

#[test]
fn the_late_answer_of_a_call_that_a_dialog_ended_is_dropped() {
    let mut bench = Bench::with_tab();
    let call = bench.call("Runtime.evaluate");
    let sent = bench.expect("S", "Runtime.evaluate");
    bench.opening("S", "T", "alert", "");
    bench.accept();
    bench.answer_arrives("S");
    bench.reply(&sent, "{}");
    assert_eq!(bench.code(call), "dialog_open", "it ended once");
}

#[test]
fn calls_go_through_again_once_the_answer_is_on_its_way() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.accept();
    bench.call("Runtime.evaluate");
    bench.expect("S", "Runtime.evaluate");
}

#[test]
fn a_call_made_while_the_answer_is_on_its_way_is_not_ended_by_an_old_suspicion() {
    let mut bench = Bench::with_tab();
    bench.popup("T", "U", "SU", "P");
    // The popup has navigated, and has not told its process yet.
    bench.navigated("SU", "U", None, "https://a/2");
    bench.opening("S", "T", "confirm", "");
    bench.pass(ms(200));
    bench.accept();
    let call = bench.call_on("SU", "Runtime.evaluate");
    bench.pass(ms(100));
    assert!(bench.is_waiting(call));
}

#[test]
fn an_oopifs_dialog_blocks_its_own_process_and_nothing_else() {
    let mut bench = Bench::with_oopif();
    bench.oopif("S", "T", "O2", "SO2", "PO2");
    bench.oopif("S", "T", "O3", "SO3", "PO");
    let (root, own) = (bench.call("Runtime.evaluate"), bench.call_on("SO", "Runtime.evaluate"));
    let (other, same) = (bench.call_on("SO2", "Runtime.evaluate"), bench.call_on("SO3", "Runtime.evaluate"));
    let (pdf, mhtml) = (bench.call("Page.printToPDF"), bench.call("Page.captureSnapshot"));
    bench.sent.clear();
    bench.opening("S", "O", "confirm", "");
    assert!(bench.is_waiting(root) && bench.is_waiting(other), "A16");
    for (name, waiter) in [("own", own), ("same process", same), ("pdf", pdf), ("mhtml", mhtml)] {
        assert_eq!(bench.code(waiter), "dialog_open", "{name}");
    }
    bench.expect_nothing_sent();
}

#[test]
fn a_page_is_not_crashed_or_closed_under_the_dialog_of_its_frame_which_would_take_the_browser_along() {
    for method in ["Page.crash", "Page.close"] {
        let mut bench = Bench::with_oopif();
        bench.opening("S", "O", "confirm", "");
        for on_dialog in [OnDialog::Return, OnDialog::Wait] {
            let call = ClientCall { on_dialog, ..bench.client_call(method) };
            let call = bench.make(call);
            assert_eq!(bench.code(call), "dialog_open", "F36, F40: {method}");
        }
        bench.expect_nothing_sent();
        bench.closed("S", "O");
        bench.call(method);
        bench.expect("S", method);
    }
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.call("Page.close");
    bench.expect("S", "Page.close");
}

#[test]
fn a_page_is_not_crashed_that_shares_the_process_of_one_whose_frame_asks() {
    let crash = |bench: &mut Bench, session: &str, method: &str, params: &str| {
        let call = ClientCall { session: Some(session.into()), ..bench.client_call(method) };
        bench.make(ClientCall { params: Some(Bytes::copy_from_slice(params.as_bytes())), ..call })
    };
    let calls = [("Page.crash", "{}"), ("Page.navigate", r#"{"url":"chrome://crash"}"#)];
    for (method, params) in calls {
        let mut bench = Bench::with_oopif();
        bench.tab("SAME", "S2", "P");
        bench.tab("OTHER", "S3", "P3");
        bench.opening("S", "O", "confirm", "");
        bench.sent.clear();
        let refused = crash(&mut bench, "S2", method, params);
        assert_eq!(bench.code(refused), "dialog_open", "F36: {method}");
        bench.expect_nothing_sent();
        crash(&mut bench, "S3", method, params);
        bench.expect("S3", method);
        // Its answer may come too late as well.
        bench.accept();
        let refused = crash(&mut bench, "S2", method, params);
        assert_eq!(bench.code(refused), "dialog_open", "{method}");
    }
}

#[test]
fn a_popups_dialog_blocks_an_opener_in_its_process_and_no_other_tab() {
    let mut bench = Bench::with_tab();
    bench.popup("T", "U", "SU", "P");
    bench.tab("X", "SX", "PX");
    let (opener, other) = (bench.call_on("S", "Runtime.evaluate"), bench.call_on("SX", "Runtime.evaluate"));
    bench.opening("SU", "U", "alert", "");
    assert_eq!(bench.code(opener), "dialog_open", "A17");
    assert!(bench.is_waiting(other));
}

#[test]
fn a_popup_in_a_process_of_its_own_leaves_its_opener_alone() {
    let mut bench = Bench::with_tab();
    bench.popup("T", "U", "SU", "PU");
    let opener = bench.call_on("S", "Runtime.evaluate");
    bench.opening("SU", "U", "alert", "");
    bench.pass(ms(1000));
    assert!(bench.is_waiting(opener));
}

#[test]
fn a_session_of_unknown_process_is_asked_and_counts_as_blocked_only_if_silent() {
    for answers in [true, false] {
        let mut bench = Bench::with_oopif();
        // The page has navigated, perhaps into the frame's process, and has not told yet.
        bench.navigated("S", "T", None, "https://b/");
        bench.oopif("S", "T", "O2", "SO2", "PO2");
        let asked_before = bench.expect("S", "Runtime.getIsolateId");
        let call = bench.call("Runtime.evaluate");
        bench.opening("S", "O2", "alert", "");
        assert!(bench.is_waiting(call), "not before it had its chance");
        let asked = bench.expect("S", "Runtime.getIsolateId");
        if answers {
            bench.reply(&asked_before, r#"{"id":"PX"}"#);
            bench.reply(&asked, r#"{"id":"PX"}"#);
        }
        bench.pass(ms(250));
        assert_eq!(bench.is_waiting(call), answers);
        if !answers {
            assert_eq!(bench.code(call), "dialog_open");
            bench.reply(&asked, r#"{"id":"PX"}"#);
            let later = bench.call("Runtime.evaluate");
            assert!(bench.is_waiting(later), "it answers after all");
        }
    }
}

#[test]
fn input_that_opened_a_dialog_in_another_process_ends_with_it() {
    let mut bench = Bench::with_oopif();
    let click = bench.call("Input.dispatchMouseEvent");
    bench.pass(ms(20));
    bench.opening("S", "O", "alert", "");
    assert_eq!(bench.code(click), "dialog_open", "A18");
}

#[test]
fn input_anywhere_in_a_tab_whose_frame_asks_is_not_told_to_have_worked() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "alert", "");
    for method in ["Input.dispatchMouseEvent", "Input.dispatchKeyEvent"] {
        let swallowed = bench.call(method);
        assert_eq!(bench.code(swallowed), "dialog_open", "{method}: the browser would answer and do nothing");
    }
    let other = bench.call("Runtime.evaluate");
    assert!(bench.is_waiting(other), "A16");
    bench.closed("S", "O");
    let later = bench.call("Input.dispatchMouseEvent");
    assert!(bench.is_waiting(later));
}

#[test]
fn a_beforeunload_ends_the_navigation_that_waits_for_it_but_not_a_reload() {
    let mut bench = Bench::with_tab();
    let (navigate, reload) = (bench.call("Page.navigate"), bench.call("Page.reload"));
    bench.opening("S", "T", "beforeunload", "");
    assert_eq!(bench.code(navigate), "dialog_open", "A21");
    assert!(bench.is_waiting(reload));
    assert_eq!(bench.view().pending_dialogs[0].kind.as_str(), "beforeunload");
}

#[test]
fn a_dialog_while_loading_leaves_the_navigation_alone() {
    let mut bench = Bench::with_tab();
    let navigate = bench.call("Page.navigate");
    bench.navigated("S", "T", None, "https://b/");
    bench.opening("S", "T", "alert", "in the first script");
    assert!(bench.is_waiting(navigate), "A18");
}

#[test]
fn a_page_that_asks_for_the_first_time_while_it_is_left_ends_the_navigation_that_waits_for_it() {
    let mut bench = Bench::with_tab();
    let navigate = bench.call("Page.navigate");
    bench.opening("S", "T", "prompt", "1");
    assert_eq!(bench.code(navigate), "dialog_open", "F18");
}

#[test]
fn closing_a_tab_and_answering_never_wait_behind_a_dialog() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.call_with("Target.closeTarget", r#"{"targetId":"T"}"#);
    bench.accept();
    assert_eq!(bench.methods(), ["Target.closeTarget", "S Page.handleJavaScriptDialog"]);
}
