//! A question over the bridge is a dialog like any other, and holds what its page holds (facts B3, B5).

use super::bridge::{ON_FRAME, RESUME, by};
use super::*;

#[test]
fn a_pause_of_our_script_is_a_dialog_like_any_other() {
    let mut bench = Bench::bridged();
    bench.asks("S", "INNER", "prompt", 1);
    let dialog = bench.view().pending_dialogs[0].clone();
    assert_eq!((dialog.id.to_string().as_str(), dialog.kind, dialog.answerable), ("d-1", DialogKind::Prompt, true));
    assert_eq!((dialog.frame_id.as_str(), dialog.session_id.as_str()), ("INNER", "S"));
    assert_eq!((dialog.message.as_str(), dialog.default_prompt.as_str()), ("m\u{fffd}", "d"));
    let raw = bench.view().current_dialog_params.clone().expect("the parameters of an opening");
    let expected = r#"{"url":"https://a/","frameId":"INNER","message":"m\ud800","type":"prompt","hasBrowserHandler":true,"defaultPrompt":"d"}"#;
    assert_eq!(raw, expected);

    let answer = bench.dialog_answer(true);
    let waiter = bench.answer(DialogAnswer { prompt_text: Some(Bytes::from_static(br#""\udc00""#)), ..answer });
    assert!(bench.is_waiting(waiter));
    let script = bench.takes_answer("S", true);
    assert_eq!(script, r#"question.number === 1 && (answer = {"accept":true,"text":"\udc00"}, true)"#);
    let Ok(Outcome::Dialog(closed)) = bench.outcome(waiter) else { unreachable!("the dialog that was answered") };
    assert_eq!(closed.closed_by, ClosedBy::Agent);
    assert_eq!((bench.pending(), bench.tab_state("T")), (vec![], TabState::Ready));
    let told: Vec<_> = bench.recorded.iter().map(|(_, method)| method.as_str()).collect();
    assert!(told.ends_with(&["Page.javascriptDialogOpening", "Page.javascriptDialogClosed"]), "{told:?}");
    assert!(!told.iter().any(|method| method.starts_with("Debugger.")), "{told:?}");
}

#[test]
fn an_accepted_prompt_without_a_text_leaves_its_default_to_the_script_that_has_it() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "prompt", 3);
    bench.accept();
    assert_eq!(bench.takes_answer("S", true), r#"question.number === 3 && (answer = {"accept":true}, true)"#);
}

#[test]
fn policies_and_the_watchdog_answer_over_the_bridge() {
    for (policy, accept) in [(DialogPolicy::AutoDismiss, false), (DialogPolicy::AutoAccept, true)] {
        let mut bench = Bench::bridged_with(policy);
        bench.asks("S", "T", "confirm", 1);
        assert!(bench.takes_answer("S", true).contains(&format!(r#"{{"accept":{accept}}}"#)));
        assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::AutoPolicy)]));
    }
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.pass(DIALOG_TIMEOUT);
    assert!(bench.takes_answer("S", true).contains(r#"{"accept":false}"#));
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Watchdog)]));
}

#[test]
fn questions_of_two_processes_are_both_open_and_each_is_answered_on_its_own() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.asks("S", "T", "confirm", 1);
    bench.asks("SO", "O", "confirm", 1);
    assert_eq!(bench.pending(), ["d-1", "d-2"], "nothing of fact A26");
    assert!(bench.view().pending_dialogs.iter().all(|dialog| dialog.answerable));
    let answer = bench.dialog_answer(true);
    let second = bench.answer(DialogAnswer { dialog_id: Some("d-2".to_owned()), ..answer });
    bench.takes_answer("SO", true);
    assert!(bench.outcome(second).is_ok());
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_question_that_a_native_dialog_holds_up_is_answered_after_it() {
    let mut bench = Bench::bridged();
    bench.asks("S", "INNER", "confirm", 1);
    // Of a page that came back as it was before the bridge: it shares the process of the one that asks.
    bench.popup("T", "U", "SU", "P");
    bench.opening("SU", "U", "alert", "");
    let answer = bench.dialog_answer(true);
    let early = bench.answer(DialogAnswer { dialog_id: Some("d-1".to_owned()), ..answer });
    let Err(CallError::DialogOpen { dialog, sent: false }) = bench.outcome(early) else {
        unreachable!("it is held up")
    };
    assert_eq!(dialog.id.to_string(), "d-2");
    bench.closed("SU", "U");
    let answer = bench.dialog_answer(true);
    let second = bench.answer(DialogAnswer { dialog_id: Some("d-1".to_owned()), ..answer });
    bench.takes_answer("S", true);
    assert!(bench.outcome(second).is_ok());
}

#[test]
fn a_client_that_answers_with_plain_cdp_is_understood() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "prompt", 1);
    let wrong = bench.call_with("Page.handleJavaScriptDialog", "{}");
    assert_eq!(bench.code(wrong), "bad_request");
    let call = bench.call_with("Page.handleJavaScriptDialog", r#"{"accept":true,"promptText":"by hand"}"#);
    assert!(bench.takes_answer("S", true).contains(r#"{"accept":true,"text":"by hand"}"#));
    assert_eq!(bench.result(call), "{}");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Agent)]));
}

#[test]
fn a_client_that_answers_with_plain_cdp_hears_at_its_own_time_and_the_page_has_the_answer() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    let call = bench.client_call("Page.handleJavaScriptDialog");
    let params = Some(Bytes::from_static(br#"{"accept":true}"#));
    let call = bench.make(ClientCall { params, timeout: ms(200), ..call });
    bench.pass(ms(200));
    assert_eq!(bench.code(call), "timeout");
    bench.takes_answer("S", true);
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Agent)]));
    bench.outcome(call);
}

#[test]
fn a_page_that_wants_to_be_printed_goes_on_at_once_and_clients_are_told() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "print", 1);
    bench.expect("S", RESUME);
    assert_eq!((bench.pending(), bench.closed_by()), (vec![], vec![]));
    assert!(bench.recorded.iter().any(|(_, method)| method == "Ostler.printRequested"), "A28");
}

// --- what waits and what does not ---

#[test]
fn a_paused_page_answers_all_but_promises_and_input() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    for method in ["Runtime.evaluate", "Page.captureScreenshot", "DOM.getDocument", "Accessibility.getFullAXTree"] {
        let call = bench.call(method);
        let sent = bench.expect("S", method);
        bench.reply(&sent, "{}");
        assert_eq!(bench.result(call), "{}", "{method}");
    }
    let awaiting = bench.call_with("Runtime.evaluate", r#"{"expression":"1","awaitPromise":true}"#);
    assert_eq!(bench.code(awaiting), "dialog_open", "B5");
    for method in ["Input.dispatchMouseEvent", "CSS.enable", "Page.captureSnapshot", "Runtime.terminateExecution"] {
        let call = bench.call(method);
        assert_eq!(bench.code(call), "dialog_open", "{method}");
    }
    bench.expect_nothing_sent();
}

#[test]
fn the_calls_that_the_pause_holds_end_and_those_that_go_on_do_not() {
    let mut bench = Bench::bridged();
    let click = bench.call("Input.dispatchMouseEvent");
    let asking = bench.call("Runtime.evaluate");
    let shot = bench.call("Page.captureScreenshot");
    let awaiting = bench.call_with("Runtime.evaluate", r#"{"expression":"wait()","awaitPromise":true}"#);
    bench.sent.clear();
    bench.pauses("S", "T");
    let later = bench.call("Runtime.evaluate");
    let read = bench.expect("S", ON_FRAME);
    bench.reply_question(&read, "confirm", 1);
    for call in [click, asking, awaiting] {
        assert_eq!(bench.code(call), "dialog_open");
    }
    assert!(bench.is_waiting(later), "sent after the page had paused, it is answered in the pause");
    assert!(bench.is_waiting(shot), "B5");
}
