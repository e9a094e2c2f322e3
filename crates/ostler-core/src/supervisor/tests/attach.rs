//! How targets come under supervision, and how they leave it: facts C2 to C12, C19 to C22 and E10.

use super::*;

/// The commands that must be answered before a held target may run (fact C8).
const AWAITED: [&str; 3] = ["Page.enable", "Runtime.enable", "Target.setAutoAttach"];
/// What a page must have answered besides, before anything may navigate it (fact F2).
const FOCUS: &str = "Emulation.setFocusEmulationEnabled";

// --- set-up and resume ---

#[test]
fn a_call_that_does_not_navigate_goes_right_behind_the_set_up_of_a_document_that_was_there() {
    let mut bench = Bench::guest();
    bench.target_created("T", "page", "");
    bench.call("Runtime.evaluate");
    bench.attach_as_asked("T", "S");
    let sent = bench.methods();
    assert_eq!(sent.first().map(String::as_str), Some("S Page.enable"));
    assert_eq!(sent.last().map(String::as_str), Some("S Runtime.evaluate"));
}

#[test]
fn a_navigation_does_not_overtake_the_set_up_of_its_tab() {
    let mut bench = Bench::guest();
    bench.target_created("T", "page", "");
    let call = bench.call("Page.navigate");
    bench.attach_as_asked("T", "S");
    for method in AWAITED.into_iter().chain([FOCUS]) {
        assert!(!bench.was_sent("S", "Page.navigate"), "sent before {method} was answered");
        let sent = bench.expect("S", method);
        bench.reply(&sent, "{}");
    }
    bench.expect("S", "Page.navigate");
    assert!(bench.is_waiting(call));
}

#[test]
fn a_held_popup_runs_only_after_its_set_up_was_answered() {
    let mut bench = Bench::with_tab();
    bench.target_created("U", "page", POPUP);
    bench.attached("", "U", "SU", "page", true, POPUP);
    for method in AWAITED.into_iter().chain([FOCUS]) {
        assert!(!bench.was_sent("SU", "Runtime.runIfWaitingForDebugger"), "resumed before {method} was answered");
        let sent = bench.expect("SU", method);
        bench.reply(&sent, "{}");
    }
    bench.expect("SU", "Runtime.runIfWaitingForDebugger");
}

#[test]
fn a_refused_set_up_command_counts_as_answered() {
    let mut bench = Bench::with_tab();
    bench.attached("S", "O", "SO", "iframe", true, "");
    for method in AWAITED {
        let sent = bench.expect("SO", method);
        bench.refuse(&sent, -32601, "not found");
    }
    bench.expect("SO", "Runtime.runIfWaitingForDebugger");
}

#[test]
fn a_held_target_is_resumed_when_its_set_up_is_not_answered_in_time() {
    let mut bench = Bench::with_tab();
    bench.attached("S", "O", "SO", "iframe", true, "");
    bench.pass(ms(1999));
    assert!(!bench.was_sent("SO", "Runtime.runIfWaitingForDebugger"));
    bench.pass(ms(1));
    bench.expect("SO", "Runtime.runIfWaitingForDebugger");
    for method in AWAITED {
        let sent = bench.expect("SO", method);
        bench.reply(&sent, "{}");
    }
    assert!(!bench.was_sent("SO", "Runtime.runIfWaitingForDebugger"), "one resume is enough");
}

#[test]
fn a_noopener_popup_is_resumed_right_behind_its_set_up() {
    let mut bench = Bench::with_tab();
    bench.target_created("U", "page", NOOPENER);
    bench.attached("", "U", "SU", "page", true, NOOPENER);
    let sent = bench.methods();
    let place = |method: &str| sent.iter().position(|sent| *sent == format!("SU {method}"));
    let resume = place("Runtime.runIfWaitingForDebugger");
    for method in AWAITED {
        assert!(place(method).is_some() && place(method) < resume, "{method} before the resume: {sent:?}");
    }
}

#[test]
fn set_up_makes_attaching_recursive_and_leaves_service_workers_out() {
    let mut bench = Bench::with_tab();
    bench.attached("S", "O", "SO", "iframe", true, "");
    let sent = bench.expect("SO", "Target.setAutoAttach");
    assert_eq!(sent.param("autoAttach"), true);
    assert_eq!(sent.param("waitForDebuggerOnStart"), true);
    assert_eq!(sent.param("flatten"), true);
    assert_eq!(sent.param("filter").to_string(), r#"[{"exclude":true,"type":"service_worker"},{}]"#);
    bench.attached("SO", "N", "SN", "iframe", true, r#","parentFrameId":"O""#);
    bench.expect("SN", "Page.enable");
    assert_eq!(bench.frames(), ["O@SO<T", "N@SN<O"]);
}

#[test]
fn workers_and_unknown_kinds_are_only_resumed() {
    let mut bench = Bench::with_tab();
    for (parent, session, kind) in [("S", "W", "worker"), ("", "SW", "service_worker"), ("", "B", "browser_ui")] {
        bench.attached(parent, session, session, kind, true, "");
        bench.expect(session, "Runtime.runIfWaitingForDebugger");
        bench.expect_nothing_sent();
    }
}

#[test]
fn calls_to_a_held_tab_wait_until_it_runs() {
    let mut bench = Bench::with_tab();
    bench.target_created("U", "page", POPUP);
    bench.attached("", "U", "SU", "page", true, POPUP);
    let by_session = bench.call_on("SU", "Page.navigate");
    let by_target = bench.call_to_target("U", "Page.stopLoading");
    assert!(!bench.was_sent("SU", "Page.navigate") && !bench.was_sent("SU", "Page.stopLoading"));
    bench.answer_set_up("SU", "U", "PU");
    assert_eq!(bench.result(by_session), "{}");
    assert_eq!(bench.result(by_target), "{}");
}

#[test]
fn a_second_session_that_a_client_attached_is_not_set_up_again() {
    let mut bench = Bench::with_tab();
    bench.attached("", "T", "CLIENT", "page", false, "");
    bench.expect_nothing_sent();
    let call = bench.call_on("CLIENT", "Runtime.evaluate");
    let sent = bench.expect("CLIENT", "Runtime.evaluate");
    bench.reply(&sent, r#"{"x":1}"#);
    assert_eq!(bench.result(call), r#"{"x":1}"#);
    assert_eq!(bench.view().current_session, Some(SessionId::from("S")));
}

#[test]
fn an_attach_event_beside_the_attach_answer_sets_up_once() {
    let mut bench = Bench::guest();
    bench.target_created("T", "page", "");
    let call = bench.call("Runtime.evaluate");
    bench.attach_as_asked("T", "S");
    bench.answer_own_set_up("S", "T", "1");
    assert!(!bench.was_sent("S", "Page.enable"));
    let sent = bench.expect("S", "Runtime.evaluate");
    bench.reply(&sent, "{}");
    assert_eq!(bench.result(call), "{}");
}

// --- leaving ---

#[test]
fn a_lost_root_session_is_attached_again_to_the_same_tab() {
    let mut bench = Bench::with_tab();
    let call = bench.call_on("S", "Runtime.evaluate");
    bench.expect("S", "Runtime.evaluate");
    bench.detached("", "T", "S");
    assert_eq!(bench.code(call), "unknown_outcome");
    let named = bench.call_on("S", "Runtime.evaluate");
    assert_eq!(bench.code(named), "session_gone", "a call that names its session is never redirected");
    let default = bench.call("Runtime.evaluate");
    let by_frame = bench.call_in_frame("T", "Page.stopLoading", "{}");
    let attach = bench.expect("", "Target.attachToTarget");
    assert_eq!(attach.param("targetId"), "T");
    bench.attached("", "T", "S2", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"S2"}"#);
    bench.answer_set_up("S2", "T", "P");
    assert_eq!(bench.result(default), "{}");
    assert_eq!(bench.result(by_frame), "{}");
}

#[test]
fn a_closed_tab_ends_its_calls_and_the_next_call_goes_to_another_tab() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    let call = bench.call("Runtime.evaluate");
    bench.expect("S", "Runtime.evaluate");
    bench.event("S", "Inspector.detached", r#"{"reason":"Render process gone."}"#);
    bench.detached("", "T", "S");
    let meanwhile = bench.call("Runtime.evaluate");
    bench.target_destroyed("T");
    assert_eq!(bench.code(call), "unknown_outcome");
    let sent = bench.expect("S2", "Runtime.evaluate");
    bench.reply(&sent, r#"{"ok":1}"#);
    assert_eq!(bench.result(meanwhile), r#"{"ok":1}"#);
    assert_eq!(bench.view().current, Some(TargetId::from("T2")));
}

#[test]
fn the_late_refusal_of_an_attach_to_a_closed_tab_changes_nothing() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    bench.detached("", "T", "S");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.target_destroyed("T");
    bench.refuse(&attach, -32602, "No target with given id found");
    assert_eq!(bench.view().tabs.len(), 1);
    bench.expect_nothing_sent();
}

#[test]
fn an_attach_without_an_answer_is_tried_again_and_the_tab_is_kept() {
    let mut bench = Bench::with_tab();
    bench.detached("", "T", "S");
    bench.expect("", "Target.attachToTarget");
    bench.pass(Duration::from_secs(10));
    bench.expect("", "Target.attachToTarget");
    assert_eq!(bench.view().current, Some(TargetId::from("T")));
}

// --- crash ---

#[test]
fn a_crash_ends_what_the_renderer_would_have_answered_and_nothing_else() {
    let mut bench = Bench::with_tab();
    let evaluate = bench.call("Runtime.evaluate");
    let reload = bench.call("Page.reload");
    bench.event("S", "Inspector.targetCrashed", "{}");
    assert_eq!(bench.code(evaluate), "target_crashed");
    assert!(bench.is_waiting(reload), "the browser answers it (C20)");
    assert_eq!(bench.tab_state("T"), TabState::Crashed);
    let later = bench.call("Runtime.evaluate");
    assert_eq!(bench.code(later), "target_crashed");
}

#[test]
fn a_reload_brings_a_crashed_tab_back_on_the_same_session() {
    let mut bench = Bench::with_tab();
    bench.event("S", "Inspector.targetCrashed", "{}");
    let reload = bench.call("Page.reload");
    let sent = bench.expect("S", "Page.reload");
    bench.reply(&sent, "{}");
    assert_eq!(bench.result(reload), "{}");
    bench.event("S", "Inspector.targetReloadedAfterCrash", "{}");
    bench.expect("S", "Page.getFrameTree");
    assert_eq!(bench.tab_state("T"), TabState::Ready);
    let call = bench.call("Runtime.evaluate");
    bench.expect("S", "Runtime.evaluate");
    assert!(bench.is_waiting(call));
}

#[test]
fn a_crashed_frame_fails_its_own_calls_and_leaves_the_tab_alone() {
    let mut bench = Bench::with_oopif();
    let inside = bench.call_on("SO", "Runtime.evaluate");
    let outside = bench.call("Runtime.evaluate");
    bench.event("SO", "Inspector.targetCrashed", "{}");
    assert_eq!(bench.code(inside), "target_crashed");
    assert!(bench.is_waiting(outside));
    assert_eq!(bench.tab_state("T"), TabState::Ready);
}

#[test]
fn a_crashed_frame_that_navigates_answers_again() {
    let mut bench = Bench::with_oopif();
    bench.event("SO", "Inspector.targetCrashed", "{}");
    bench.navigated("SO", "O", Some("T"), "https://other/");
    let call = bench.call_on("SO", "Runtime.evaluate");
    bench.expect("SO", "Runtime.evaluate");
    assert!(bench.is_waiting(call));
}

#[test]
fn an_interrupt_of_a_crashed_tab_says_so_at_once() {
    let mut bench = Bench::with_tab();
    bench.event("S", "Inspector.targetCrashed", "{}");
    let waiter = bench.waiter();
    bench.input(Input::Interrupt { waiter, task: TaskId::default_task() });
    assert_eq!(bench.code(waiter), "target_crashed");
}

// --- popups and sessions that are told of twice ---

#[test]
fn a_session_whose_event_came_before_its_attach_was_answered_is_kept() {
    let mut bench = Bench::with_tab();
    bench.detached("", "T", "S");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "T", "S2", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"S2"}"#);
    bench.answer_set_up("S2", "T", "P");
    assert!(!bench.was_sent("", "Target.detachFromTarget"));
    assert_eq!(bench.tab_state("T"), TabState::Ready);
}

#[test]
fn a_popup_knows_its_opener_after_that_was_closed() {
    let mut bench = Bench::with_tab();
    bench.target_created("U", "page", NOOPENER);
    let changed = format!(r#"{{"targetInfo":{}}}"#, target_info("U", "page", ""));
    bench.event("", "Target.targetInfoChanged", &changed);
    bench.attached("", "U", "SU", "page", true, "");
    bench.expect("SU", "Runtime.runIfWaitingForDebugger");
}
