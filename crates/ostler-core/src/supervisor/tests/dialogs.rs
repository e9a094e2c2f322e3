//! Dialogs: who sees them, what they end, who answers, and how they go: facts A1 to A27.

use super::*;

const ANSWER: &str = "Page.handleJavaScriptDialog";
const PASSING: &str = "Not attached to an active page";
const NOT_SHOWING: &str = "No dialog is showing";

impl Bench {
    /// The reply to the answer that was sent on `session`.
    #[track_caller]
    fn answer_arrives(&mut self, session: &str) -> Sent {
        let sent = self.expect(session, ANSWER);
        self.reply(&sent, "{}");
        sent
    }

    /// Every session of the tab was told to be blind, and only then the tab is reloaded (A25).
    #[track_caller]
    fn expect_disarm_then_reload(&mut self, sessions: &[&str]) -> Sent {
        for session in sessions {
            assert!(!self.methods().iter().any(|sent| sent.ends_with("Page.reload")), "{:?}", self.methods());
            let sent = self.expect(session, "Page.disable");
            self.reply(&sent, "{}");
        }
        self.expect("S", "Page.reload")
    }
}

fn ended(entries: &[(&str, ClosedBy)]) -> Vec<(String, ClosedBy)> {
    entries.iter().map(|(id, by)| ((*id).to_owned(), *by)).collect()
}

// --- seen and answered ---

#[test]
fn a_dialog_is_seen_with_its_frame_and_answered_on_the_root() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "sure?");
    let dialog = bench.view().pending_dialogs[0].clone();
    assert_eq!((dialog.frame_id.as_str(), dialog.session_id.as_str()), ("O", "S"), "A1, A2");
    assert_eq!((dialog.message.as_str(), dialog.opened_at), ("sure?", 1_650_000_000.0));
    let waiter = bench.accept();
    let sent = bench.answer_arrives("S");
    assert_eq!(sent.params, r#"{"accept":true}"#);
    let Ok(Outcome::Dialog(closed)) = bench.outcome(waiter) else { unreachable!("the dialog that was answered") };
    assert_eq!(closed.closed_by, ClosedBy::Agent);
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Agent)]));
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_dialog_told_on_a_second_session_of_the_tab_counts_once() {
    let mut bench = Bench::with_tab();
    bench.attached("", "T", "CLIENT", "page", false, "");
    bench.opening("S", "T", "alert", "");
    bench.opening("CLIENT", "T", "alert", "");
    assert_eq!(bench.pending(), ["d-1"]);
    bench.closed("CLIENT", "T");
    assert_eq!(bench.pending(), ["d-1"], "only the supervisor's own session is believed");
}

#[test]
fn an_accepted_prompt_gets_its_default_text_raw() {
    let mut bench = Bench::with_tab();
    let opening = r#"{"frameId":"T","message":"m\ud800","type":"prompt","defaultPrompt":"a\ud800\"\u2028b"}"#;
    bench.event("S", "Page.javascriptDialogOpening", opening);
    assert_eq!(bench.view().pending_dialogs[0].message, "m\u{fffd}");
    bench.accept();
    let sent = bench.expect("S", ANSWER);
    assert_eq!(sent.params, r#"{"accept":true,"promptText":"a\ud800\"\u2028b"}"#, "A4: none would mean an empty text");
}

#[test]
fn a_prompt_gets_the_agents_text_raw_and_a_dismissed_one_none() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "prompt", "name?");
    let answer = bench.dialog_answer(true);
    bench.answer(DialogAnswer { prompt_text: Some(Bytes::from_static(br#""\udc00""#)), ..answer });
    let sent = bench.answer_arrives("S");
    assert_eq!(sent.params, r#"{"accept":true,"promptText":"\udc00"}"#);
    bench.opening("S", "T", "prompt", "name?");
    bench.dismiss();
    assert_eq!(bench.expect("S", ANSWER).params, r#"{"accept":false}"#);
}

#[test]
fn an_alert_gets_no_text() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "hi");
    bench.accept();
    assert_eq!(bench.expect("S", ANSWER).params, r#"{"accept":true}"#);
}

#[test]
fn the_closed_event_before_the_reply_makes_it_the_agents_answer_all_the_same() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let waiter = bench.accept();
    bench.closed("S", "T");
    assert_eq!(bench.pending(), [""; 0]);
    assert!(bench.is_waiting(waiter));
    bench.answer_arrives("S");
    assert!(bench.outcome(waiter).is_ok());
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Agent)]));
}

#[test]
fn an_accepted_beforeunload_whose_page_is_left_before_the_reply_is_the_agents() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "beforeunload", "");
    let waiter = bench.accept();
    bench.navigated("S", "T", None, "https://b/");
    assert_eq!(bench.pending(), [""; 0]);
    bench.answer_arrives("S");
    assert!(bench.outcome(waiter).is_ok());
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Agent)]));
}

#[test]
fn ids_count_up_and_are_never_used_again() {
    let mut bench = Bench::with_tab();
    for number in 1..=100 {
        bench.opening("S", "T", "confirm", "again");
        assert_eq!(bench.pending(), [format!("d-{number}")]);
        bench.accept();
        bench.closed("S", "T");
        bench.answer_arrives("S");
    }
    let closed = bench.closed_by();
    assert_eq!((closed.len(), closed[0].0.as_str(), closed[19].0.as_str()), (20, "d-81", "d-100"));
}

#[test]
fn no_dialog_unknown_dialog_and_ambiguous_dialog_list_what_there_is() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    let none = bench.accept();
    assert_eq!((bench.code(none), bench.error(none).known()), ("no_dialog", Some(&[][..])));
    bench.opening("S", "T", "alert", "one");
    bench.opening("S2", "T2", "alert", "two");
    let both = ["d-1".to_owned(), "d-2".to_owned()];
    let ambiguous = bench.accept();
    assert_eq!((bench.code(ambiguous), bench.error(ambiguous).known()), ("ambiguous_dialog", Some(&both[..])));
    let answer = bench.dialog_answer(true);
    let unknown = bench.answer(DialogAnswer { dialog_id: Some("d-7".to_owned()), ..answer });
    assert_eq!((bench.code(unknown), bench.error(unknown).known()), ("unknown_dialog", Some(&both[..])));
    bench.expect_nothing_sent();

    let answer = bench.dialog_answer(false);
    bench.answer(DialogAnswer { dialog_id: Some("d-2".to_owned()), ..answer });
    bench.answer_arrives("S2");
    assert_eq!(bench.pending(), ["d-1"], "A27: each tab's dialog on its own root");
}

#[test]
fn a_dialog_is_answered_once() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.accept();
    let second = bench.dismiss();
    assert_eq!(bench.code(second), "no_dialog");
    bench.expect("S", ANSWER);
    assert!(!bench.was_sent("S", ANSWER));
}

#[test]
fn a_clients_own_answer_is_recorded_as_the_agents() {
    for closed_first in [false, true] {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "confirm", "");
        let call = bench.call_with(ANSWER, r#"{"accept":true}"#);
        if closed_first {
            bench.closed("S", "T");
        }
        bench.answer_arrives("S");
        assert_eq!(bench.result(call), "{}");
        assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Agent)]));
    }
}

#[test]
fn a_clients_own_answer_on_a_frames_session_is_refused_and_the_dialog_stays() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    let call = bench.call_on("SO", ANSWER);
    let sent = bench.expect("SO", ANSWER);
    bench.refuse(&sent, -32000, "Command can only be executed on top-level targets");
    assert_eq!(bench.code(call), "cdp");
    assert_eq!(bench.pending(), ["d-1"], "A3");
    bench.accept();
    bench.expect("S", ANSWER);
}

// --- answers that do not go through ---

#[test]
fn an_answer_refused_while_a_document_commits_is_tried_again() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let waiter = bench.accept();
    for _ in 0..3 {
        let sent = bench.expect("S", ANSWER);
        bench.refuse(&sent, -32000, PASSING);
        bench.expect_nothing_sent();
        bench.pass(ms(100));
    }
    bench.answer_arrives("S");
    assert!(bench.outcome(waiter).is_ok());
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Agent)]));
}

#[test]
fn an_answer_that_is_always_refused_ends_and_leaves_the_dialog_open() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let waiter = bench.accept();
    let mut tries = 0;
    while bench.was_sent("S", ANSWER) {
        let sent = bench.expect("S", ANSWER);
        bench.refuse(&sent, -32000, PASSING);
        bench.pass(ms(100));
        tries += 1;
    }
    assert_eq!(tries, 10);
    assert_eq!(bench.code(waiter), "cdp");
    assert_eq!(bench.pending(), ["d-1"]);
    bench.accept();
    bench.answer_arrives("S");
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn an_answer_that_waits_to_be_tried_again_ends_with_its_dialog() {
    type Ending = (&'static str, fn(&mut Bench));
    let endings: [Ending; 5] = [
        ("closed", |bench| bench.closed("S", "T")),
        ("navigated", |bench| bench.navigated("S", "T", None, "https://b/")),
        ("destroyed", |bench| bench.target_destroyed("T")),
        ("crashed", |bench| bench.event("S", "Inspector.targetCrashed", "{}")),
        ("gone", Bench::lose_connection),
    ];
    for (name, end) in endings {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "confirm", "");
        let waiter = bench.accept();
        let sent = bench.expect("S", ANSWER);
        bench.refuse(&sent, -32000, PASSING);
        end(&mut bench);
        assert!(!bench.is_waiting(waiter), "{name}: the request never ended");
        assert_eq!(bench.code(waiter), "no_dialog", "{name}");
        bench.pass(Duration::from_secs(5));
        assert!(!bench.was_sent("S", ANSWER), "{name}: answered a dialog that has gone");
    }
}

#[test]
fn a_dialog_that_someone_else_answered_first_is_remote_and_not_an_accident() {
    for closed_first in [false, true] {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "confirm", "");
        let waiter = bench.accept();
        let sent = bench.expect("S", ANSWER);
        if closed_first {
            bench.closed("S", "T");
        }
        bench.refuse(&sent, -32602, NOT_SHOWING);
        if !closed_first {
            bench.closed("S", "T");
        }
        assert_eq!(bench.code(waiter), "no_dialog", "A13");
        assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]));
    }
}

#[test]
fn an_answer_refused_for_its_parameters_leaves_the_dialog_open() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "prompt", "");
    let answer = bench.dialog_answer(true);
    let waiter = bench.answer(DialogAnswer { prompt_text: Some(Bytes::from_static(b"7")), ..answer });
    let sent = bench.expect("S", ANSWER);
    bench.refuse(&sent, -32602, "Invalid parameters");
    assert_eq!(bench.code(waiter), "cdp");
    assert_eq!(bench.pending(), ["d-1"]);
    let call = bench.call("Runtime.evaluate");
    assert_eq!(bench.code(call), "dialog_open");
}

#[test]
fn an_answer_without_a_reply_ends_and_the_dialog_can_be_answered_again() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let waiter = bench.accept();
    bench.expect("S", ANSWER);
    bench.pass(Duration::from_secs(3));
    assert_eq!(bench.code(waiter), "timeout");
    assert_eq!(bench.pending(), ["d-1"]);
    bench.accept();
    bench.answer_arrives("S");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Agent)]));
}

#[test]
fn a_closed_dialog_is_recorded_even_if_the_reply_to_its_answer_never_comes() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let waiter = bench.accept();
    bench.closed("S", "T");
    bench.expect("S", ANSWER);
    bench.pass(Duration::from_secs(3));
    assert!(!bench.is_waiting(waiter));
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Agent)]));
}

#[test]
fn a_dialog_closed_without_an_answer_of_ours_is_remote() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "prompt", "");
    bench.pass(ms(4));
    bench.closed("S", "T");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]), "A14");
    let recent = &bench.view().recent_dialogs[0];
    assert_eq!(recent.closed_at, 1_650_000_000.004);
}

// --- policies and the watchdog ---

#[test]
fn a_policy_answers_at_once_and_ends_no_call() {
    for (policy, params) in [
        (DialogPolicy::AutoDismiss, r#"{"accept":false}"#),
        (DialogPolicy::AutoAccept, r#"{"accept":true,"promptText":"\ud800"}"#),
    ] {
        let mut bench = Bench::with_tab();
        bench.start_task("default", policy);
        let call = bench.call("Runtime.evaluate");
        let evaluate = bench.expect("S", "Runtime.evaluate");
        let opening = r#"{"frameId":"T","message":"","type":"prompt","defaultPrompt":"\ud800"}"#;
        bench.event("S", "Page.javascriptDialogOpening", opening);
        assert!(bench.is_waiting(call));
        let sent = bench.answer_arrives("S");
        assert_eq!(sent.params, params);
        assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::AutoPolicy)]));
        bench.reply(&evaluate, "{}");
        assert_eq!(bench.result(call), "{}");
    }
}

#[test]
fn a_policys_answer_that_fails_leaves_the_dialog_to_the_agent() {
    let mut bench = Bench::with_tab();
    bench.start_task("default", DialogPolicy::AutoAccept);
    let call = bench.call("Runtime.evaluate");
    bench.opening("S", "T", "confirm", "");
    bench.pass(Duration::from_secs(3));
    assert_eq!(bench.code(call), "dialog_open");
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn the_watchdog_dismisses_what_nobody_answers() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.pass(DIALOG_TIMEOUT - ms(1));
    bench.expect_nothing_sent();
    bench.pass(ms(1));
    let sent = bench.answer_arrives("S");
    assert_eq!(sent.params, r#"{"accept":false}"#);
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Watchdog)]));
}

#[test]
fn the_watchdog_leaves_an_answered_dialog_alone() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.accept();
    bench.answer_arrives("S");
    bench.pass(DIALOG_TIMEOUT * 2);
    bench.expect_nothing_sent();
}

#[test]
fn the_watchdog_looks_again_when_its_answer_did_not_get_through() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.pass(DIALOG_TIMEOUT);
    bench.expect("S", ANSWER);
    bench.pass(Duration::from_secs(13));
    bench.answer_arrives("S");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Watchdog)]));
}

#[test]
fn a_dialog_time_of_nothing_dismisses_at_once() {
    let mut bench = Bench::with_tab();
    let task = TaskId::default_task();
    bench.input(Input::StartTask { task, policy: DialogPolicy::MustRespond, dialog_timeout: Duration::ZERO });
    bench.opening("S", "T", "confirm", "");
    bench.expect("S", ANSWER);
}

#[test]
fn a_dialog_time_without_end_does_not_overflow() {
    let mut bench = Bench::with_tab();
    let task = TaskId::default_task();
    bench.input(Input::StartTask { task, policy: DialogPolicy::MustRespond, dialog_timeout: Duration::MAX });
    bench.opening("S", "T", "confirm", "");
    bench.pass(DIALOG_TIMEOUT * 100);
    assert_eq!(bench.pending(), ["d-1"]);
}

// --- what a dialog ends, and what it does not ---

#[test]
fn a_dialog_ends_the_calls_that_its_renderer_would_have_answered() {
    let mut bench = Bench::with_tab();
    let blocked = ["Runtime.evaluate", "DOM.getDocument", "Page.captureScreenshot", "Input.insertText", "Page.enable"];
    let free =
        ["Page.navigate", "Page.reload", "Network.getCookies", "Page.getNavigationHistory", "Storage.getCookies"];
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
    let navigate = bench.call("Page.navigate");
    bench.expect("S", "Page.navigate");
    assert!(bench.is_waiting(navigate));
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
    let later = bench.call("Input.dispatchMouseEvent");
    bench.expect("S", "Input.dispatchMouseEvent");
    bench.closed("S", "O");
    assert!(bench.is_waiting(later), "A16: input to the root is answered");
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
    bench.opening("S", "T", "alert", "in the first script");
    assert!(bench.is_waiting(navigate), "A18");
}

#[test]
fn closing_a_tab_and_answering_never_wait_behind_a_dialog() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.call_with("Target.closeTarget", r#"{"targetId":"T"}"#);
    bench.accept();
    assert_eq!(bench.methods(), ["Target.closeTarget", "S Page.handleJavaScriptDialog"]);
}

// --- dialogs that end otherwise ---

#[test]
fn dialog_closed_by_navigation_leaves_no_pending_dialog() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    bench.navigated("S", "T", None, "https://b/");
    assert_eq!(bench.pending(), [""; 0], "A23: without a Closed");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]));
    bench.closed("S", "T");
    assert_eq!(bench.closed_by().len(), 1, "a Closed that comes late is no second one");
}

#[test]
fn a_root_navigation_closes_the_dialog_of_a_frame_that_was_never_announced() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "NEVER-SEEN", "alert", "");
    bench.navigated("S", "T", None, "https://b/");
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_navigation_elsewhere_leaves_a_dialog_open() {
    let mut bench = Bench::with_oopif();
    bench.frame_attached("S", "F", "T");
    bench.opening("S", "O", "alert", "");
    bench.navigated("S", "F", Some("T"), "https://b/");
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_closed_tab_takes_its_dialog_along() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    bench.opening("S", "T", "confirm", "");
    bench.target_destroyed("T");
    assert_eq!(bench.pending(), [""; 0]);
    bench.pass(DIALOG_TIMEOUT);
    bench.expect_nothing_sent();
}

#[test]
fn a_crash_closes_the_dialogs_of_its_process() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "alert", "");
    bench.event("SO", "Inspector.targetCrashed", "{}");
    assert_eq!(bench.pending(), [""; 0], "A24: no Closed comes");
    bench.opening("S", "T", "alert", "");
    bench.event("S", "Inspector.targetCrashed", "{}");
    assert_eq!(bench.pending(), [""; 0]);
}

// --- a frame removed under its dialog (A25) ---

#[test]
fn a_frame_removed_under_its_dialog_disarms_every_session_before_the_reload() {
    let mut bench = Bench::with_oopif();
    bench.attached("", "T", "CLIENT", "page", false, "");
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    assert_eq!(bench.pending(), [""; 0]);
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]));
    bench.detached("S", "O", "SO");
    assert!(bench.notes.iter().any(|note| note.contains("removed under its open dialog")));
    let reload = bench.expect_disarm_then_reload(&["CLIENT", "S"]);
    bench.reply(&reload, "{}");
    assert!(!bench.was_sent("S", "Page.enable"), "not before the document was replaced");
    bench.event("S", "Runtime.executionContextsCleared", "{}");
    bench.expect("S", "Page.enable");
}

#[test]
fn a_detached_frame_that_owns_a_dialog_is_recovered_from_whichever_is_told_first() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.detached("S", "O", "SO");
    let disarm = bench.expect("S", "Page.disable");
    bench.frame_detached("S", "O", "remove");
    assert!(!bench.was_sent("S", "Page.disable"), "once is enough");
    bench.reply(&disarm, "{}");
    bench.expect("S", "Page.reload");
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_frame_removed_by_an_enclosing_one_is_recovered_from() {
    let mut bench = Bench::with_oopif();
    bench.frame_attached("SO", "INNER", "O");
    bench.opening("S", "INNER", "alert", "");
    bench.frame_detached("S", "O", "remove");
    bench.expect("S", "Page.disable");
}

#[test]
fn nothing_reaches_a_tab_that_recovers() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    bench.sent.retain(|sent| sent.method == "Page.disable");
    let (navigate, evaluate) = (bench.call("Page.navigate"), bench.call_on("S", "Runtime.evaluate"));
    let close = bench.call_with("Target.closeTarget", r#"{"targetId":"T"}"#);
    let answer = bench.accept();
    let other = bench.call("Target.getTargets");
    bench.pass(ms(500));
    assert_eq!(bench.code(answer), "no_dialog");
    assert!(bench.is_waiting(other));
    bench.expect("", "Target.getTargets");
    let reload = bench.expect_disarm_then_reload(&["S", "SO"]);
    bench.expect_nothing_sent();
    bench.reply(&reload, "{}");
    bench.event("S", "Runtime.executionContextsCleared", "{}");
    for waiter in [navigate, evaluate, close] {
        assert!(bench.is_waiting(waiter));
    }
    bench.answer_own_set_up("S", "T", "1");
    bench.expect("S", "Page.navigate");
    bench.expect("S", "Runtime.evaluate");
    bench.expect("", "Target.closeTarget");
}

#[test]
fn a_dialog_told_while_its_tab_recovers_is_not_answered() {
    for policy in [DialogPolicy::MustRespond, DialogPolicy::AutoAccept, DialogPolicy::AutoDismiss] {
        let mut bench = Bench::with_oopif();
        bench.opening("S", "O", "confirm", "");
        bench.start_task("default", policy);
        bench.frame_detached("S", "O", "remove");
        bench.opening("S", "T", "alert", "");
        bench.accept();
        bench.pass(DIALOG_TIMEOUT);
        assert!(!bench.was_sent("S", ANSWER), "{policy:?}: an answer now would end the browser");
    }
}

#[test]
fn the_other_dialog_of_a_tab_that_recovers_goes_with_the_reload() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.opening("S", "T", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    assert_eq!(bench.pending(), [""; 0]);
    bench.pass(DIALOG_TIMEOUT);
    assert!(!bench.was_sent("S", ANSWER));
}

#[test]
fn a_recovering_tab_is_set_up_again_even_if_no_document_replaces_the_old_one() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    bench.detached("S", "O", "SO");
    let reload = bench.expect_disarm_then_reload(&["S"]);
    bench.reply(&reload, "{}");
    bench.pass(Duration::from_secs(5));
    bench.expect("S", "Page.enable");
}

#[test]
fn a_frame_that_swaps_process_or_goes_without_a_dialog_needs_no_recovery() {
    let mut bench = Bench::with_oopif();
    bench.frame_detached("S", "O", "swap");
    bench.frame_attached("S", "F", "T");
    bench.frame_detached("S", "F", "remove");
    bench.opening("S", "T", "alert", "");
    bench.detached("S", "O", "SO");
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), ["d-1"]);
}

// --- two at once (A26) ---

#[test]
fn the_second_of_two_dialogs_in_different_processes_cannot_be_answered() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "first");
    bench.opening("S", "T", "confirm", "second");
    assert_eq!(bench.pending(), ["d-1", "d-2"]);
    bench.closed("S", "O");
    assert_eq!(bench.pending(), ["d-2"]);
    assert!(!bench.view().pending_dialogs[0].answerable);
    let answer = bench.accept();
    assert_eq!(bench.code(answer), "dialog_open");
    assert!(bench.error(answer).to_string().contains("reload"));
    assert!(!bench.was_sent("S", ANSWER));
    bench.navigated("S", "T", None, "https://a/");
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn the_second_of_two_dialogs_stays_known_although_a_policy_answered_both() {
    let mut bench = Bench::with_oopif();
    bench.start_task("default", DialogPolicy::AutoAccept);
    bench.opening("S", "O", "confirm", "first");
    bench.opening("S", "T", "confirm", "second");
    bench.closed("S", "O");
    for _ in 0..2 {
        let sent = bench.expect("S", ANSWER);
        bench.refuse(&sent, -32602, NOT_SHOWING);
    }
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Remote)]));
    assert_eq!(bench.pending(), ["d-2"], "it still blocks the page");
    assert!(!bench.view().pending_dialogs[0].answerable);
    let call = bench.call("Runtime.evaluate");
    assert_eq!(bench.code(call), "dialog_open");
}

#[test]
fn dialogs_that_queue_in_one_process_are_answered_one_after_the_other() {
    let mut bench = Bench::with_tab();
    bench.frame_attached("S", "F", "T");
    bench.opening("S", "T", "confirm", "first");
    bench.accept();
    bench.closed("S", "T");
    bench.opening("S", "F", "confirm", "second");
    bench.answer_arrives("S");
    assert_eq!(bench.pending(), ["d-2"]);
    assert!(bench.view().pending_dialogs[0].answerable);
    bench.accept();
    bench.answer_arrives("S");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Agent), ("d-2", ClosedBy::Agent)]));
}

// --- leaving ---

#[test]
fn leaving_dismisses_what_is_open_and_tells_when_that_is_done() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    bench.opening("S", "T", "confirm", "");
    bench.opening("S2", "T2", "alert", "");
    bench.attached("S", "O", "SO", "iframe", true, "");
    let waiter = bench.waiter();
    bench.input(Input::Leave(waiter));
    let first = bench.expect("S", ANSWER);
    assert_eq!(first.params, r#"{"accept":false}"#, "A11");
    let second = bench.expect("S2", ANSWER);
    let resume = bench.expect("SO", "Runtime.runIfWaitingForDebugger");
    for sent in [&first, &second] {
        bench.reply(sent, "{}");
        assert!(bench.is_waiting(waiter));
    }
    bench.reply(&resume, "{}");
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
}

#[test]
fn leaving_with_nothing_open_is_done_at_once() {
    let mut bench = Bench::unconnected();
    let waiter = bench.waiter();
    bench.input(Input::Leave(waiter));
    assert_eq!(bench.outcome(waiter), &Ok(Outcome::Done));
}

#[test]
fn a_lost_connection_leaves_an_open_dialog_that_nobody_can_answer() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.lose_connection();
    assert_eq!(bench.pending(), ["d-1"]);
    assert!(!bench.view().pending_dialogs[0].answerable, "A11");
    bench.pass(DIALOG_TIMEOUT);
    bench.expect_nothing_sent();
}
