//! The bridge over held requests, where the Debugger domain is refused (fact B1).

use super::bridge::by;
use super::*;

#[test]
fn a_held_request_is_a_dialog_and_its_page_is_deaf_meanwhile() {
    let mut bench = Bench::bridged_by_requests();
    bench.recorded.clear();
    bench.request_held("S", "R1", "prompt");
    assert_eq!(bench.pending(), ["d-1"]);
    let blocked = bench.call("Runtime.evaluate");
    assert_eq!(bench.code(blocked), "dialog_open");
    let answer = bench.dialog_answer(true);
    let waiter = bench.answer(DialogAnswer { prompt_text: Some(Bytes::from_static(br#""hi""#)), ..answer });
    let sent = bench.expect("S", "Fetch.fulfillRequest");
    assert_eq!((sent.param("requestId"), sent.param("responseCode")), ("R1".into(), 200.into()));
    assert_eq!(sent.param("body"), "eyJhY2NlcHQiOnRydWUsInRleHQiOiJoaSJ9");
    assert_eq!(sent.param("responseHeaders")[0]["name"], "Access-Control-Allow-Origin", "B2");
    bench.reply(&sent, "{}");
    assert!(bench.outcome(waiter).is_ok());
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Agent)]));
    assert!(!bench.recorded.iter().any(|(_, method)| method.starts_with("Fetch.")));
}

#[test]
fn a_request_whose_question_cannot_be_read_is_left_to_the_native_dialog() {
    let mut bench = Bench::bridged_by_requests();
    let params = r#"{"requestId":"R1","request":{"url":"https://0000000000000003.ostler-bridge.invalid/","method":"GET"},"frameId":"T"}"#;
    bench.event("S", "Fetch.requestPaused", params);
    assert_eq!(bench.expect("S", "Fetch.failRequest").param("requestId"), "R1");
    let other = r#"{"requestId":"R2","request":{"url":"https://a/","method":"GET"},"frameId":"T"}"#;
    bench.recorded.clear();
    bench.event("S", "Fetch.requestPaused", other);
    bench.expect_nothing_sent();
    assert_eq!(bench.recorded.len(), 1, "whoever holds other requests is told of them");
    let call = bench.call("Fetch.disable");
    assert_eq!(bench.code(call), "bad_request");
}

#[test]
fn a_page_that_asks_in_a_loop_has_one_question_open_whatever_comes_first() {
    let mut bench = Bench::bridged_by_requests();
    bench.request_held("S", "R1", "prompt");
    let first = bench.accept();
    let sent = bench.expect("S", "Fetch.fulfillRequest");
    // The page has the answer and asks again, before the browser tells that it has carried the answer out.
    bench.request_held("S", "R2", "prompt");
    assert_eq!((bench.pending(), bench.closed_by()), (vec!["d-2".to_owned()], by(&[("d-1", ClosedBy::Agent)])));
    assert!(bench.is_waiting(first));
    bench.reply(&sent, "{}");
    let Ok(Outcome::Dialog(closed)) = bench.outcome(first) else { unreachable!("the dialog that was answered") };
    assert_eq!((closed.id.to_string().as_str(), closed.closed_by), ("d-1", ClosedBy::Agent));
    // One that nobody has answered cannot be waited for any more either.
    bench.request_held("S", "R3", "prompt");
    assert_eq!(bench.expect("S", "Fetch.fulfillRequest").param("requestId"), "R2");
    assert_eq!(bench.pending(), ["d-3"]);
    assert_eq!(bench.closed_by()[1], ("d-2".to_owned(), ClosedBy::Remote));
}

#[test]
fn a_request_that_was_given_up_meanwhile_is_recorded_as_remote() {
    let mut bench = Bench::bridged_by_requests();
    bench.request_held("S", "R1", "confirm");
    let waiter = bench.accept();
    let sent = bench.expect("S", "Fetch.fulfillRequest");
    bench.refuse(&sent, -32602, "Invalid InterceptionId.");
    assert_eq!(bench.code(waiter), "no_dialog");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]));
}

#[test]
fn a_bridge_that_is_to_go_stays_for_the_question_that_follows_the_last_one() {
    let mut bench = Bench::bridged_by_requests();
    bench.request_held("S", "R1", "confirm");
    bench.switch_bridge_off();
    bench.request_held("S", "R2", "confirm");
    assert!(!bench.was_sent("S", "Fetch.disable"), "the page waits in the second one");
    assert_eq!(bench.pending(), ["d-2"]);
    bench.sent.clear();
    bench.accept();
    let sent = bench.expect("S", "Fetch.fulfillRequest");
    bench.reply(&sent, "{}");
    bench.expect("S", "Fetch.disable");
}
