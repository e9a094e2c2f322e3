//! A browser that is not ours: whose popups are taken, whose let go, and how far auto-attach reaches: facts E1 to E11.

use super::*;

#[test]
fn a_guest_attaches_to_nothing_by_itself() {
    let mut bench = Bench::unconnected();
    bench.input(Input::Connected { browser_id: None, scope: Scope::Guest, answers_dialogs: false });
    bench.target_created("A", "page", "");
    bench.target_created("B", "page", NOOPENER);
    let discover = bench.expect("", "Target.setDiscoverTargets");
    let auto = bench.expect("", "Target.setAutoAttach");
    assert_eq!(auto.param("filter").to_string(), "[]", "narrow (E2)");
    bench.reply(&discover, "{}");
    bench.reply(&auto, "{}");
    bench.target_created("C", "page", "");
    bench.expect_nothing_sent();
}

#[test]
fn a_guest_takes_the_popups_of_its_own_tab_and_releases_those_of_others() {
    let mut bench = Bench::guest();
    bench.target_created("T", "page", "");
    bench.call("Runtime.evaluate");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "T", "S", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"S"}"#);
    bench.answer_set_up("S", "T", "P");

    bench.target_created("U", "page", POPUP);
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "U", "SU", "page", false, POPUP);
    bench.reply(&attach, r#"{"sessionId":"SU"}"#);
    bench.expect("SU", "Page.enable");
    bench.expect("SU", "Runtime.runIfWaitingForDebugger");
    assert_eq!(bench.view().tabs.len(), 2);
    bench.sent.clear();

    bench.target_created("V", "page", r#","openerId":"FOREIGN","canAccessOpener":true"#);
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "V", "SV", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"SV"}"#);
    assert_eq!(bench.methods(), ["SV Runtime.runIfWaitingForDebugger", "Target.detachFromTarget"], "E3: in this order");
    assert_eq!(bench.view().tabs.len(), 2);
    bench.sent.clear();

    bench.target_created("W", "page", r#","openerId":"FOREIGN","canAccessOpener":false"#);
    bench.expect_nothing_sent();
}

#[test]
fn popups_that_an_earlier_daemon_left_held_are_released_at_connect() {
    let mut bench = Bench::unconnected();
    bench.input(Input::Connected { browser_id: None, scope: Scope::Guest, answers_dialogs: false });
    let left =
        r#"{"targetInfo":{"targetId":"L","type":"page","title":"","url":"","openerId":"X","canAccessOpener":true}}"#;
    bench.event("", "Target.targetCreated", left);
    for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
        let sent = bench.expect("", method);
        bench.reply(&sent, "{}");
    }
    let attach = bench.expect("", "Target.attachToTarget");
    assert_eq!(attach.param("targetId"), "L");
    bench.attached("", "L", "SL", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"SL"}"#);
    assert_eq!(bench.methods(), ["SL Runtime.runIfWaitingForDebugger", "Target.detachFromTarget"]);
}

#[test]
fn a_popup_that_was_held_before_auto_attach_went_wide_is_let_go_by_its_looks() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    bench.call("Input.dispatchMouseEvent");
    bench.sent.clear();
    // Held under the filter, which no event says (fact E2); the wide auto-attach finds it there.
    let info = r#"{"targetId":"P","type":"page","title":"","url":"","openerId":"FOREIGN","canAccessOpener":true}"#;
    bench.event("", "Target.targetCreated", &format!(r#"{{"targetInfo":{info}}}"#));
    let attached = format!(r#"{{"sessionId":"SP","targetInfo":{info},"waitingForDebugger":false}}"#);
    bench.event("", "Target.attachedToTarget", &attached);
    assert_eq!(bench.methods(), ["SP Runtime.runIfWaitingForDebugger", "Target.detachFromTarget"]);
}

#[test]
fn a_held_popup_that_is_being_attached_by_name_too_is_resumed_at_once() {
    let mut bench = Bench::guest();
    let popup = r#","openerId":"FOREIGN","canAccessOpener":true"#;
    bench.target_created("P", "page", popup);
    bench.expect("", "Target.attachToTarget");
    // A slow browser was still wide when the popup opened, and has not read the command yet.
    bench.attached("", "P", "SP", "page", true, popup);
    bench.expect("SP", "Runtime.runIfWaitingForDebugger");
    bench.expect("", "Target.detachFromTarget");
}

// --- wide around our own actions ---

#[test]
fn going_wide_frees_no_popup_that_is_held_in_the_same_process() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");

    bench.call("Input.dispatchMouseEvent");
    let wide = bench.expect("", "Target.setAutoAttach");
    assert!(wide.params.to_string().contains(r#""type":"page""#));
    bench.expect("S", "Input.dispatchMouseEvent");
    // Our own tab comes a second time, and a foreign one: neither is held, so neither may be resumed (fact F3).
    bench.attached("", "T", "S2", "page", false, "");
    bench.target_created("F", "page", "");
    bench.attached("", "F", "SF", "page", false, "");
    for _ in 0..2 {
        bench.expect("", "Target.detachFromTarget");
    }
    bench.expect_nothing_sent();

    bench.pass(Duration::from_secs(7));
    let narrow = bench.expect("", "Target.setAutoAttach");
    assert!(narrow.params.to_string().contains(r#""filter":[]"#));
}

#[test]
fn a_foreign_popup_that_comes_held_is_resumed_and_then_detached() {
    let mut bench = Bench::guest();
    bench.target_created("T", "page", "");
    bench.call("Input.insertText");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "T", "S", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"S"}"#);
    bench.answer_set_up("S", "T", "1");
    bench.sent.clear();
    bench.attached("", "F", "SF", "page", true, "");
    bench.expect("SF", "Runtime.runIfWaitingForDebugger");
    bench.expect("", "Target.detachFromTarget");
    bench.expect_nothing_sent();
}
