//! Frames that may show no dialogs (facts B10 and F21), whoever forbids it.

use super::bridge::{ON_FRAME, OWNER, RESUME};
use super::*;

const NODE: &str = "DOM.describeNode";
const CANCELLED: &str = "eyJhY2NlcHQiOmZhbHNlfQ==";

impl Bench {
    /// A document is being loaded in a frame, with this policy of its own; then it is there.
    fn loaded_with(&mut self, session: &str, frame: &str, parent: Option<&str>, loader: &str, policy: &str) {
        let headers = format!(r#"{{"Content-Type":"text/html","content-security-policy":"{policy}"}}"#);
        let response = format!(r#"{{"url":"https://a/","status":200,"headers":{headers}}}"#);
        let params = format!(
            r#"{{"requestId":"1","loaderId":"{loader}","type":"Document","frameId":"{frame}","response":{response}}}"#
        );
        self.event("S", "Network.responseReceived", &params);
        let parent = parent.map(|parent| format!(r#","parentId":"{parent}""#)).unwrap_or_default();
        let params = format!(r#"{{"frame":{{"id":"{frame}","loaderId":"{loader}"{parent},"url":"https://a/"}}}}"#);
        self.event(session, "Page.frameNavigated", &params);
    }

    /// The element that holds a frame is looked at, on the session of the page around it.
    #[track_caller]
    fn element_is(&mut self, session: &str, frame: &str, attributes: &str) {
        let owner = self.expect(session, OWNER);
        assert_eq!(owner.param("frameId"), frame);
        self.reply(&owner, r#"{"backendNodeId":7}"#);
        let node = self.expect(session, NODE);
        assert_eq!(node.param("backendNodeId"), 7);
        self.reply(&node, &format!(r#"{{"node":{{"nodeName":"IFRAME","attributes":[{attributes}]}}}}"#));
    }

    #[track_caller]
    fn is_cancelled(&mut self, session: &str, request: &str) {
        let sent = self.expect(session, "Fetch.fulfillRequest");
        assert_eq!((sent.param("requestId"), sent.param("body")), (request.into(), CANCELLED.into()));
        assert_eq!((self.pending(), self.closed_by()), (vec![], vec![]));
    }
}

#[test]
fn a_document_that_its_own_policy_sandboxes_asks_nobody_and_neither_does_what_it_holds() {
    let mut bench = Bench::bridged();
    bench.loaded_with("S", "T", None, "L1", "default-src *; sandbox allow-scripts");
    bench.frame_attached("S", "IN", "T");
    bench.pauses("S", "T");
    bench.expect("S", RESUME);
    assert!(!bench.was_sent("S", ON_FRAME), "unread");
    bench.pauses("S", "IN");
    bench.element_is("S", "IN", "");
    bench.expect("S", RESUME);
    assert_eq!(bench.pending(), [""; 0]);
    // The next document may ask, and the first one may not when it comes back.
    bench.navigated("S", "T", None, "https://b/");
    bench.asks("S", "T", "confirm", 1);
    assert_eq!(bench.pending(), ["d-1"]);
    let back = r#"{"frame":{"id":"T","loaderId":"L1","url":"https://a/"},"type":"BackForwardCacheRestore"}"#;
    bench.event("S", "Page.frameNavigated", back);
    bench.sent.clear();
    bench.pauses("S", "T");
    bench.expect("S", RESUME);
    assert!(!bench.was_sent("S", ON_FRAME));
}

#[test]
fn a_policy_that_the_bridge_itself_bypasses_is_kept_over_requests() {
    let mut bench = Bench::bridged_by_requests();
    bench.loaded_with("S", "T", None, "L1", "sandbox allow-scripts");
    bench.request_held("S", "R1", "confirm");
    bench.is_cancelled("S", "R1");
    bench.loaded_with("S", "T", None, "L2", "sandbox allow-scripts allow-modals");
    bench.request_held("S", "R2", "confirm");
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn over_requests_elements_are_looked_at_before_anything_in_them_asks() {
    let mut bench = Bench::bridged_by_requests();
    bench.frame_attached("S", "IN", "T");
    bench.element_is("S", "IN", r#""sandbox","allow-scripts""#);
    bench.frame_attached("S", "DEEP", "IN");
    bench.element_is("S", "DEEP", r#""src","/""#);
    for (frame, request) in [("IN", "R1"), ("DEEP", "R2")] {
        bench.request_held_of("S", frame, request, "confirm", "m");
        bench.is_cancelled("S", request);
    }
    // With its next document it is in the sandbox that its element has by then.
    bench.event("S", "Page.frameStartedNavigating", r#"{"frameId":"IN"}"#);
    bench.element_is("S", "IN", r#""sandbox","allow-scripts allow-modals""#);
    bench.request_held_of("S", "IN", "R3", "confirm", "m");
    assert_eq!(bench.pending(), ["d-1"]);
    bench.expect_nothing_sent();
}

#[test]
fn over_requests_what_was_not_seen_ahead_is_looked_at_and_waits_for_no_deaf_page() {
    let mut bench = Bench::bridged_by_requests();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.sent.clear();
    bench.request_held_of("SO", "O", "R1", "confirm", "m");
    bench.element_is("S", "O", r#""sandbox","""#);
    bench.is_cancelled("SO", "R1");
    bench.request_held_of("SO", "O", "R2", "confirm", "m");
    assert_eq!(bench.pending(), [""; 0]);
    bench.pass(Duration::from_secs(1));
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn a_sandbox_that_the_look_ahead_shows_during_that_of_the_question_counts() {
    for ahead_ends_during in [OWNER, NODE] {
        for answered in [true, false] {
            let mut bench = Bench::bridged_by_requests();
            bench.frame_attached("S", "O", "T");
            let ahead = bench.expect("S", OWNER);
            bench.oopif("S", "T", "O", "SO", "PO");
            bench.request_held_of("SO", "O", "R1", "confirm", "m");
            let mut look = bench.expect("S", OWNER);
            if ahead_ends_during == NODE {
                bench.reply(&look, r#"{"backendNodeId":7}"#);
                look = bench.expect("S", NODE);
            }
            bench.reply(&ahead, r#"{"backendNodeId":7}"#);
            let node = bench.expect("S", NODE);
            bench.reply(&node, r#"{"node":{"nodeName":"IFRAME","attributes":["sandbox","allow-scripts"]}}"#);
            match answered {
                true => bench.reply(&look, r#"{"backendNodeId":7}"#),
                false => bench.pass(Duration::from_secs(1)),
            }
            bench.is_cancelled("SO", "R1");
        }
    }
}

#[test]
fn a_request_whose_document_is_left_while_it_is_looked_at_is_no_dialog_and_the_bridge_can_be_taken_off() {
    for switched_off_meanwhile in [true, false] {
        let mut bench = Bench::bridged_by_requests();
        bench.oopif("S", "T", "O", "SO", "PO");
        bench.sent.clear();
        bench.request_held_of("SO", "O", "R1", "confirm", "m");
        let owner = bench.expect("S", OWNER);
        if switched_off_meanwhile {
            bench.switch_bridge_off();
            assert!(!bench.was_sent("SO", "Fetch.disable"), "it may yet ask");
        }
        bench.loaded_with("SO", "O", Some("T"), "L2", "");
        bench.reply(&owner, r#"{"backendNodeId":7}"#);
        bench.pass(Duration::from_secs(5));
        assert_eq!(bench.pending(), [""; 0]);
        if !switched_off_meanwhile {
            bench.switch_bridge_off();
        }
        bench.expect("SO", "Fetch.disable");
        assert_eq!(bench.expect("SO", "Page.setBypassCSP").param("enabled"), false);
    }
}

#[test]
fn switched_off_while_a_frame_is_looked_at_that_may_not_ask_the_bridge_is_taken_off() {
    let mut bench = Bench::bridged_by_requests();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.sent.clear();
    bench.request_held_of("SO", "O", "R1", "confirm", "m");
    bench.switch_bridge_off();
    bench.element_is("S", "O", r#""sandbox","allow-scripts""#);
    assert_eq!(bench.expect("SO", "Fetch.fulfillRequest").param("body"), CANCELLED);
    bench.expect("SO", "Fetch.disable");
}

#[test]
fn a_popup_is_in_the_sandbox_of_the_frame_that_opened_it_unless_it_may_leave_it() {
    for (tokens, forbids) in
        [("allow-popups", true), ("allow-popups allow-popups-to-escape-sandbox", false), ("allow-modals", false)]
    {
        let mut bench = Bench::bridged();
        bench.oopif("S", "T", "O", "SO", "PO");
        let more = r#","openerId":"T","openerFrameId":"O","canAccessOpener":true"#;
        bench.target_created("POPUP", "page", more);
        bench.attached("", "POPUP", "SP", "page", true, more);
        bench.answer_set_up("SP", "POPUP", "PO");
        bench.sent.clear();
        bench.pauses("SP", "POPUP");
        bench.element_is("S", "O", &format!(r#""sandbox","{tokens}""#));
        let next = if forbids { RESUME } else { ON_FRAME };
        bench.expect("SP", next);
        bench.expect_nothing_sent();
    }
}

#[test]
fn frames_that_hold_each_other_in_a_circle_are_looked_at_to_an_end() {
    let mut bench = Bench::bridged_by_requests();
    bench.frame_attached("S", "A", "B");
    bench.frame_attached("S", "B", "A");
    bench.element_is("S", "B", "");
    bench.frame_attached("S", "A", "B");
    bench.element_is("S", "A", "");
    bench.request_held_of("S", "A", "R1", "confirm", "m");
    assert_eq!(bench.pending(), ["d-1"]);
}
