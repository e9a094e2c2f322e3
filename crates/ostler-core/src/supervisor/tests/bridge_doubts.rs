//! A question that cannot be asked goes to the native dialog, and a pause that is not ours to its owner (facts B8, B16).

use super::bridge::{DEBUGGER, ON_FRAME, RESUME};
use super::*;

impl Bench {
    /// A page that waits in our script, and may have been looked at, is told to ask by the native dialog, and goes on.
    #[track_caller]
    fn hands_over(&mut self, session: &str) {
        let told = self.expect(session, ON_FRAME);
        assert_eq!(told.param("expression"), "answer = { native: true }");
        self.expect(session, RESUME);
        assert_eq!(self.pending(), [""; 0]);
    }
}

#[test]
fn a_question_that_is_read_too_slowly_or_makes_no_sense_goes_to_the_native_dialog_and_is_no_cancel() {
    let mut bench = Bench::bridged();
    bench.pauses("S", "T");
    bench.expect("S", ON_FRAME);
    bench.pass(Duration::from_secs(10));
    bench.hands_over("S");
    for question in ["7", r#"{"number":1}"#] {
        bench.pauses("S", "T");
        let read = bench.expect("S", ON_FRAME);
        bench.reply_shown(&read, &SECRET.proof(), question);
        bench.hands_over("S");
    }
    bench.pauses("S", "T");
    let read = bench.expect("S", ON_FRAME);
    bench.refuse(&read, -32603, "Internal error");
    bench.expect("S", RESUME);
    for kind in ["beforeunload", "anything"] {
        bench.asks("S", "T", kind, 1);
        bench.hands_over("S");
    }
}

#[test]
fn a_pause_in_a_copy_of_our_script_asks_nothing() {
    let mut bench = Bench::bridged();
    bench.script_parsed("S", 7, 1, "T");
    bench.only_script_parsed("S", 8, 1);
    bench.paused("S", "8", "ostlerBridgeAsk");
    bench.expect("S", RESUME);
    // Told again, in another order, it is the first one all the same.
    bench.script_parsed("S", 8, 2, "T");
    bench.only_script_parsed("S", 7, 2);
    bench.paused("S", "8", "ostlerBridgeAsk");
    bench.expect("S", RESUME);
    bench.expect_nothing_sent();
    bench.paused("S", "7", "ostlerBridgeAsk");
    bench.expect("S", ON_FRAME);
}

#[test]
fn a_copy_that_was_there_before_our_script_cannot_prove_to_be_it() {
    let mut bench = Bench::bridged();
    bench.pauses("S", "T");
    let read = bench.expect("S", ON_FRAME);
    let question = r#"{"number":1,"type":"confirm","message":"m","defaultPrompt":"","url":"https://bank/"}"#;
    bench.reply_shown(&read, "00000000000000010000000000000003", question);
    bench.expect("S", RESUME);
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_request_that_our_script_has_not_signed_asks_nothing() {
    let mut bench = Bench::bridged_by_requests();
    let signed = r#"{"number":1,"type":"confirm","message":"m","defaultPrompt":"","url":"https://a/"}"#;
    let other = signed.replace('m', "n");
    let signature = format!("{:x}", SECRET.sign(signed));
    for body in ["", "{", "7", signed, &format!("1{signed}"), &format!("{signature}{other}"), &format!("+{signature}")]
    {
        bench.body_held("S", "T", "R1", body);
        assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R1", "{body}");
    }
    assert_eq!(bench.pending(), [""; 0]);
    bench.body_held("S", "T", "R2", &format!("{signature}{signed}"));
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_pause_without_readable_call_frames_is_not_left_standing() {
    let mut bench = Bench::bridged();
    for params in [r#"{"callFrames":[]}"#, r#"{"callFrames":"newer"}"#, "{}"] {
        bench.event("S", "Debugger.paused", params);
        bench.expect("S", RESUME);
    }
}

#[test]
fn a_refusal_to_read_an_earlier_pause_does_not_stand_for_the_one_that_followed_it() {
    let mut bench = Bench::bridged();
    bench.pauses("S", "T");
    let first = bench.expect("S", ON_FRAME);
    bench.pauses("S", "T");
    let second = bench.expect("S", ON_FRAME);
    bench.refuse(&first, -32000, "Could not find call frame with given id");
    bench.reply_question(&second, "confirm", 2);
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_frame_that_asks_in_a_tab_without_a_root_session_is_not_left_waiting() {
    for by_request in [false, true] {
        let mut bench = if by_request { Bench::bridged_by_requests() } else { Bench::bridged() };
        bench.oopif("S", "T", "O", "SO", "PO");
        bench.detached("", "T", "S");
        bench.sent.clear();
        if by_request {
            bench.request_held("SO", "R1", "confirm");
            bench.expect("SO", "Fetch.failRequest");
        } else {
            bench.asks("SO", "O", "confirm", 1);
            bench.hands_over("SO");
        }
        assert_eq!(bench.pending(), [""; 0]);
    }
}

#[test]
fn a_page_that_floods_us_with_questions_fills_no_memory() {
    let mut bench = Bench::bridged_by_requests();
    for frame in 0..32 {
        bench.request_held_of("S", &format!("F{frame}"), &format!("R{frame}"), "confirm", "m");
    }
    assert_eq!(bench.pending().len(), 32);
    bench.request_held_of("S", "ONE-MORE", "R5", "confirm", "m");
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R5");
}

#[test]
fn a_question_that_is_longer_or_of_another_kind_than_our_script_asks_is_not_kept() {
    let mut bench = Bench::bridged_by_requests();
    bench.request_held("S", "R1", "beforeunload");
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R1");
    bench.request_held_of("S", "T", "R2", "alert", &"m".repeat(6 * 10_240 + 1));
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R2");
    bench.request_held_of("S", "T", "R3", "alert", &r"\ud800".repeat(10_240));
    assert_eq!(bench.pending(), ["d-1"], "as long as Chromium shows it, in the longest way to write it");
}

#[test]
fn a_held_request_of_ours_that_cannot_be_read_is_not_left_hanging() {
    let mut bench = Bench::bridged_by_requests();
    let params = r#"{"requestId":"R1","request":{"url":"https://0000000000000003.ostler-bridge.invalid/"},"frameId":{"newer":1}}"#;
    bench.event("S", "Fetch.requestPaused", params);
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R1");
}

#[test]
fn events_that_only_mention_our_address_are_told_to_clients() {
    let mut bench = Bench::bridged_by_requests();
    let (ours, theirs) = (
        "https://0000000000000003.ostler-bridge.invalid/",
        "https://a/?see=https://0000000000000003.ostler-bridge.invalid/",
    );
    let heard = |bench: &mut Bench, params: &str| {
        bench.recorded.clear();
        bench.event("S", "Network.requestWillBeSent", params);
        bench.recorded.len()
    };
    let with_referrer = format!(r#"{{"request":{{"url":"https://a/","headers":{{"Referer":"{ours}"}}}}}}"#);
    assert_eq!(heard(&mut bench, &format!(r#"{{"request":{{"url":"{theirs}"}}}}"#)), 1);
    assert_eq!(heard(&mut bench, &format!(r#"{{"response":{{"url":"{theirs}"}}}}"#)), 1);
    assert_eq!(heard(&mut bench, &with_referrer), 1);
    assert_eq!(heard(&mut bench, &format!(r#"{{"request":{{"url":"{ours}"}}}}"#)), 0);
    assert_eq!(heard(&mut bench, &format!(r#"{{"response":{{"url":"{ours}"}}}}"#)), 0);
}

#[test]
fn a_pause_that_is_not_ours_is_resumed_at_once_or_left_to_its_owner_for_a_while() {
    let mut own = Bench::bridged();
    own.paused("S", "9", "pageFunction");
    own.expect("S", RESUME);
    assert_eq!(own.pending(), [""; 0]);

    let mut guest = Bench::guest();
    guest.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Always);
    guest.tab_of_guest("T", "S");
    guest.paused("S", "9", "pageFunction");
    assert!(!guest.was_sent("S", RESUME), "somebody may be debugging");
    guest.pass(Duration::from_secs(10));
    guest.expect("S", RESUME);
    guest.paused("S", "9", "pageFunction");
    guest.event("S", "Debugger.resumed", "{}");
    guest.pass(Duration::from_secs(20));
    guest.expect_nothing_sent();
}

#[test]
fn a_client_that_debugs_sees_its_own_pauses_and_none_of_ours() {
    let mut bench = Bench::bridged();
    for method in ["Debugger.disable", "Debugger.setBlackboxPatterns", "Debugger.setSkipAllPauses"] {
        let call = bench.call(method);
        assert_eq!(bench.code(call), "bad_request", "{method}: B4");
    }
    bench.call(DEBUGGER);
    bench.expect("S", DEBUGGER);
    bench.recorded.clear();
    bench.paused("S", "9", "pageFunction");
    bench.asks("S", "T", "confirm", 1);
    assert!(!bench.was_sent("S", RESUME), "the client resumes what it made pause");
    let told: Vec<_> = bench.recorded.iter().map(|(_, method)| method.as_str()).collect();
    let world = "Runtime.executionContextCreated";
    assert_eq!(told, ["Debugger.paused", world, "Debugger.scriptParsed", "Page.javascriptDialogOpening"]);
}
