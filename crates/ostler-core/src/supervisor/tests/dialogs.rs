//! Dialogs: who sees them, who answers them, and what becomes of the answer: facts A1 to A5, A13, A14 and A19.

use super::*;

const ANSWER: &str = "Page.handleJavaScriptDialog";
const PASSING: &str = "Not attached to an active page";
const NOT_SHOWING: &str = "No dialog is showing";

impl Bench {
    /// The reply to the answer that was sent on `session`.
    #[track_caller]
    pub(super) fn answer_arrives(&mut self, session: &str) -> Sent {
        let sent = self.expect(session, ANSWER);
        self.reply(&sent, "{}");
        sent
    }
}

pub(super) fn ended(entries: &[(&str, ClosedBy)]) -> Vec<(String, ClosedBy)> {
    entries.iter().map(|(id, by)| ((*id).to_owned(), *by)).collect()
}

// --- seen and answered ---

#[test]
fn a_dialog_that_took_the_place_of_one_that_nobody_told_of_cannot_be_answered_either() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    let answer = bench.accept();
    let sent = bench.expect("S", ANSWER);
    bench.closed("S", "T");
    bench.refuse(&sent, -32602, "No dialog is showing");
    assert_eq!(bench.code(answer), "dialog_open", "A26");
    assert_eq!(bench.pending(), ["d-1"]);
    assert!(!bench.view().pending_dialogs[0].answerable);
}

#[test]
fn a_dialog_that_cannot_be_answered_for_now_blocks_calls_while_another_answer_is_tried() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let first = bench.accept();
    while bench.is_waiting(first) {
        let sent = bench.expect("S", ANSWER);
        bench.refuse(&sent, -32000, "Not attached to an active page");
        bench.pass(ms(100));
    }
    bench.accept();
    bench.expect("S", ANSWER);
    let call = bench.call("Runtime.evaluate");
    assert_eq!(bench.code(call), "dialog_open", "F48: the answer ends nothing");
}

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
fn an_answer_that_is_always_refused_ends_with_the_way_out_and_leaves_the_dialog_open() {
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
    assert_eq!(bench.code(waiter), "dialog_open", "F18");
    assert!(bench.error(waiter).to_string().contains("close the tab"));
    assert_eq!(bench.pending(), ["d-1"]);
    bench.accept();
    bench.answer_arrives("S");
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn an_answer_that_waits_to_be_tried_again_ends_with_its_dialog() {
    type Ending = (&'static str, fn(&mut Bench), &'static str);
    let endings: [Ending; 5] = [
        ("closed", |bench| bench.closed("S", "T"), "no_dialog"),
        ("navigated", |bench| bench.navigated("S", "T", None, "https://b/"), "no_dialog"),
        ("destroyed", |bench| bench.target_destroyed("T"), "no_dialog"),
        ("crashed", |bench| bench.event("S", "Inspector.targetCrashed", "{}"), "no_dialog"),
        // The dialog is open as before, and no answer is on its way to it.
        ("gone", Bench::lose_connection, "browser_gone"),
    ];
    for (name, end, code) in endings {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "confirm", "");
        let waiter = bench.accept();
        let sent = bench.expect("S", ANSWER);
        bench.refuse(&sent, -32000, PASSING);
        end(&mut bench);
        assert!(!bench.is_waiting(waiter), "{name}: the request never ended");
        assert_eq!(bench.code(waiter), code, "{name}");
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
    bench.pass(Duration::from_secs(10));
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
    bench.pass(Duration::from_secs(10));
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

#[test]
fn an_answer_that_is_on_its_way_when_the_connection_is_lost_has_an_unknown_outcome() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let waiter = bench.accept();
    bench.expect("S", ANSWER);
    bench.lose_connection();
    assert_eq!(bench.code(waiter), "unknown_outcome");
}
