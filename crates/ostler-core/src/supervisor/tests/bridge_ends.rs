//! How a question over the bridge ends that nobody answers: with its page, its frame, or our leaving (facts B6, F12).

use super::bridge::{ON_FRAME, OWNER, RESUME, by};
use super::*;

#[test]
fn a_page_that_another_client_lets_go_on_is_recorded_as_remote() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.event("S", "Debugger.resumed", "{}");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]), "B7");
    bench.asks("S", "T", "confirm", 2);
    let late = bench.accept();
    bench.event("S", "Debugger.resumed", "{}");
    assert!(bench.is_waiting(late), "whose answer it got the reply will tell");
    assert_eq!(bench.pending(), [""; 0], "it is over either way");
    bench.sent.retain(|sent| !sent.param("expression").as_str().is_some_and(|script| script.contains("number === 1")));
    bench.takes_answer("S", false);
    assert_eq!(bench.code(late), "no_dialog");
    assert!(!bench.was_sent("S", RESUME), "it may be in its next pause");
    assert_eq!(bench.closed_by()[1], ("d-2".to_owned(), ClosedBy::Remote));
}

#[test]
fn a_pause_that_was_over_before_its_question_was_read_is_left_to_the_native_dialog() {
    let mut bench = Bench::bridged();
    bench.pauses("S", "T");
    let read = bench.expect("S", ON_FRAME);
    bench.event("S", "Debugger.resumed", "{}");
    bench.refuse(&read, -32000, "Can only perform operation while paused.");
    bench.expect_nothing_sent();
    bench.opening("S", "T", "confirm", "");
    assert_eq!(bench.pending(), ["d-1"]);
    bench.accept();
    bench.answer_arrives("S");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Agent)]));
}

#[test]
fn a_frame_that_is_gone_before_its_question_was_read_does_not_leave_its_page_paused() {
    let mut bench = Bench::bridged();
    bench.frame_attached("S", "SAME", "T");
    bench.pauses("S", "SAME");
    let owner = bench.expect("S", OWNER);
    bench.frame_detached("S", "SAME", "remove");
    bench.refuse(&owner, -32000, "Frame with the given id was not found.");
    let read = bench.expect("S", ON_FRAME);
    bench.refuse(&read, -32000, "Cannot find context with specified id");
    bench.expect("S", RESUME);
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_frame_that_may_show_no_dialogs_goes_on_unread_and_so_does_one_inside_of_it() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.frame_attached("SO", "IN", "O");
    bench.pauses("SO", "IN");
    for (session, frame, sandbox) in
        [("SO", "IN", "allow-scripts allow-modals"), ("S", "O", "allow-scripts allow-same-origin")]
    {
        let owner = bench.expect(session, OWNER);
        assert_eq!(owner.param("frameId"), frame);
        bench.reply(&owner, r#"{"backendNodeId":7,"nodeId":0}"#);
        let node = bench.expect(session, "DOM.describeNode");
        assert_eq!(node.param("backendNodeId"), 7);
        bench.reply(&node, &format!(r#"{{"node":{{"nodeName":"IFRAME","attributes":["sandbox","{sandbox}"]}}}}"#));
    }
    bench.expect("SO", RESUME);
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), [""; 0]);
    assert_eq!(bench.closed_by(), by(&[]));
}

#[test]
fn a_page_that_says_nothing_of_its_frames_is_asked_for_the_question_all_the_same() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.pauses("SO", "O");
    let owner = bench.expect("S", OWNER);
    bench.pass(Duration::from_secs(1));
    let read = bench.expect("SO", ON_FRAME);
    bench.reply_question(&read, "confirm", 1);
    assert_eq!(bench.pending(), ["d-1"]);
    bench.reply(&owner, r#"{"backendNodeId":7}"#);
    bench.expect_nothing_sent();
}

#[test]
fn a_pause_that_ends_while_its_frame_is_looked_at_is_not_read() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.pauses("SO", "O");
    let owner = bench.expect("S", OWNER);
    bench.event("SO", "Debugger.resumed", "{}");
    bench.reply(&owner, r#"{"backendNodeId":7}"#);
    bench.expect_nothing_sent();
}

#[test]
fn a_question_ends_with_its_document_and_the_next_ones_pause_is_not_touched() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.navigated("S", "T", None, "https://b/");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]), "B6");
    let free = bench.expect("S", ON_FRAME);
    bench.refuse(&free, -32000, "Can only perform operation while paused.");
    bench.expect("S", "Runtime.getIsolateId");
    bench.expect_nothing_sent();
}

#[test]
fn a_frame_that_goes_away_under_its_question_needs_no_reload_but_its_page_to_go_on() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.asks("SO", "O", "confirm", 1);
    bench.frame_detached("S", "O", "remove");
    bench.detached("S", "O", "SO");
    assert_eq!(bench.pending(), [""; 0]);
    assert!(!bench.was_sent("S", "Page.disable") && !bench.was_sent("S", "Page.reload"), "nothing of fact A25");

    bench.frame_attached("S", "SAME", "T");
    bench.asks("S", "SAME", "confirm", 1);
    bench.frame_detached("S", "SAME", "remove");
    bench.expect("S", RESUME);
    assert_eq!(bench.pending(), [""; 0]);
}

#[test]
fn a_frame_that_leaves_its_parents_process_ends_the_questions_that_were_asked_there() {
    let mut bench = Bench::bridged();
    bench.frame_attached("S", "O", "T");
    bench.frame_attached("S", "IN", "O");
    bench.asks("S", "IN", "confirm", 1);
    bench.attached("S", "O", "SO", "iframe", true, r#","parentFrameId":"T""#);
    bench.navigated("SO", "O", Some("T"), "https://b/");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]), "C17: no other word comes of the frames below");
    bench.expect("S", RESUME);
}

#[test]
fn a_crash_or_a_lost_connection_ends_the_question() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.event("S", "Inspector.targetCrashed", "{}");
    assert_eq!(bench.pending(), [""; 0]);
    bench.expect_nothing_sent();
    bench.event("S", "Inspector.targetReloadedAfterCrash", "{}");
    let revived = ["S Debugger.disable", "S Debugger.enable", "S Debugger.setBlackboxPatterns"];
    assert_eq!(bench.methods()[..3], revived, "B4");
    bench.answer_set_up("S", "T", "P");

    bench.asks("S", "T", "confirm", 1);
    bench.lose_connection();
    assert_eq!(bench.closed_by()[1], ("d-2".to_owned(), ClosedBy::Remote), "the page goes on by itself: B6");
}

#[test]
fn switched_off_the_bridge_stays_until_what_is_open_has_its_answer() {
    let mut bench = Bench::bridged();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.asks("S", "T", "confirm", 1);
    bench.switch_bridge_off();
    assert!(!bench.was_sent("S", "Debugger.disable"), "that would let the page go on with an answer nobody gave");
    bench.expect("SO", "Debugger.disable");
    bench.accept();
    bench.takes_answer("S", true);
    bench.expect("S", "Debugger.disable");
    bench.pauses("S", "T");
    assert_eq!(bench.methods(), [format!("S {RESUME}")], "unread: whether the page still waits nobody knows");
}

#[test]
fn switched_off_beside_a_client_with_the_debugger_the_script_that_is_left_asks_natively() {
    let mut bench = Bench::bridged();
    bench.call("Debugger.enable");
    bench.expect("S", "Debugger.enable");
    bench.switch_bridge_off();
    assert!(!bench.was_sent("S", "Debugger.disable"), "it is the client's too");
    bench.sent.clear();
    bench.recorded.clear();
    bench.pauses("S", "T");
    assert_eq!(bench.methods(), [format!("S {RESUME}")]);
    assert!(!bench.recorded.iter().any(|(_, method)| method == "Debugger.paused"), "no client is told of it");
    bench.sent.clear();
    bench.paused("S", "7", "theirs");
    bench.expect_nothing_sent();
    assert!(bench.recorded.iter().any(|(_, method)| method == "Debugger.paused"));
}

#[test]
fn a_bridge_that_comes_to_a_client_with_the_debugger_leaves_it_that() {
    let mut bench = Bench::with_tab();
    bench.call("Debugger.enable");
    bench.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Always);
    bench.paused("S", "7", "theirs");
    assert!(bench.recorded.iter().any(|(_, method)| method == "Debugger.paused"));
    bench.switch_bridge_off();
    assert!(!bench.was_sent("S", "Debugger.disable"), "it is the client's");
}

#[test]
fn switched_off_the_bridge_stays_for_the_pause_that_follows_the_last_one() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.switch_bridge_off();
    bench.pauses("S", "T");
    assert!(!bench.was_sent("S", "Debugger.disable"), "the page waits in the second one");
    let read = bench.expect("S", ON_FRAME);
    bench.reply_question(&read, "confirm", 2);
    assert_eq!(bench.pending(), ["d-2"]);
    bench.accept();
    bench.takes_answer("S", true);
    bench.expect("S", "Debugger.disable");
}

#[test]
fn a_script_that_is_in_place_after_the_bridge_was_taken_off_is_taken_out_and_stops_no_page() {
    let mut bench = Bench::bridged();
    bench.attached("S", "O", "SO", "iframe", true, r#","parentFrameId":"T""#);
    let add = bench.expect("SO", "Page.addScriptToEvaluateOnNewDocument");
    bench.call_on("SO", "Debugger.enable");
    bench.switch_bridge_off();
    bench.reply(&add, r#"{"identifier":"7"}"#);
    let removed = bench.expect("SO", "Page.removeScriptToEvaluateOnNewDocument");
    assert_eq!(removed.param("identifier"), "7");
    bench.recorded.clear();
    bench.pauses("SO", "O");
    bench.expect("SO", RESUME);
    assert!(!bench.recorded.iter().any(|(_, method)| method == "Debugger.paused"));
    bench.paused("SO", "5", "f");
    assert!(bench.recorded.iter().any(|(_, method)| method == "Debugger.paused"), "the client's own");
}

#[test]
fn of_a_page_that_crashes_while_its_question_is_read_the_bridge_can_be_taken_off() {
    for switched_off_meanwhile in [true, false] {
        let mut bench = Bench::bridged();
        bench.pauses("S", "T");
        bench.expect("S", ON_FRAME);
        if switched_off_meanwhile {
            bench.switch_bridge_off();
        }
        bench.event("S", "Inspector.targetCrashed", "{}");
        assert!(!bench.was_sent("S", "Debugger.disable"), "nobody is there to hear it");
        bench.event("S", "Inspector.targetReloadedAfterCrash", "{}");
        if !switched_off_meanwhile {
            bench.expect("S", "Debugger.enable");
            bench.sent.clear();
            bench.switch_bridge_off();
        }
        bench.expect("S", "Debugger.disable");
        assert!(!bench.was_sent("S", "Debugger.enable"));
    }
}
