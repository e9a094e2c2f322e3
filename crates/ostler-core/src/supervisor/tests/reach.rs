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
    bench.attach_as_asked("T", "S");
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
fn a_popup_that_is_being_released_is_the_tasks_once_its_opener_is() {
    let mut bench = Bench::guest();
    bench.target_created("T", "page", "");
    bench.target_created("U", "page", POPUP);
    let release = bench.expect("", "Target.attachToTarget");
    bench.call("Runtime.evaluate");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "U", "SU", "page", false, POPUP);
    bench.reply(&release, r#"{"sessionId":"SU"}"#);
    bench.expect("SU", "Page.enable");
    assert!(!bench.was_sent("", "Target.detachFromTarget"), "F3: it would let go what else the tab opens");
    bench.attached("", "T", "S", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"S"}"#);
    assert_eq!(bench.view().tabs.len(), 2);
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
    bench.attach_as_asked("T", "S");
    bench.answer_set_up("S", "T", "1");
    bench.sent.clear();
    bench.attached("", "F", "SF", "page", true, "");
    bench.expect("SF", "Runtime.runIfWaitingForDebugger");
    bench.expect("", "Target.detachFromTarget");
    bench.expect_nothing_sent();
}

#[test]
fn a_popup_that_has_been_let_run_gets_no_further_resume_whatever_it_looks_like() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    bench.target_created("U", "page", POPUP);
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "U", "SU", "page", false, POPUP);
    bench.reply(&attach, r#"{"sessionId":"SU"}"#);
    bench.answer_set_up("SU", "U", "P");
    bench.sent.clear();
    bench.call("Input.dispatchMouseEvent");
    bench.attached("", "U", "WIDE", "page", false, POPUP);
    assert!(
        !bench.was_sent("WIDE", "Runtime.runIfWaitingForDebugger"),
        "F3: it would let others go before their set-up"
    );
    assert_eq!(bench.expect("", "Target.detachFromTarget").param("sessionId"), "WIDE");
}

#[test]
fn one_action_after_another_keeps_auto_attach_wide_and_is_told_to_the_browser_once() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    for _ in 0..3 {
        bench.call("Input.dispatchMouseEvent");
        bench.pass(Duration::from_secs(4));
    }
    bench.expect("", "Target.setAutoAttach");
    assert!(!bench.was_sent("", "Target.setAutoAttach"), "each time all tabs would be attached again (E6)");
    bench.pass(Duration::from_secs(2));
    assert_eq!(bench.expect("", "Target.setAutoAttach").param("filter").to_string(), "[]");
}

#[test]
fn a_daemon_that_stood_still_while_wide_lets_go_of_what_waited_and_is_narrow_again() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    bench.call("Input.dispatchMouseEvent");
    bench.expect("", "Target.setAutoAttach");
    bench.sent.clear();
    // Stopped, and gone on: the first thing read is a page that has waited all the time.
    bench.now = bench.now + Duration::from_secs(3);
    bench.attached("", "F", "SF", "page", true, "");
    assert_eq!(bench.methods(), ["SF Runtime.runIfWaitingForDebugger", "Target.detachFromTarget"]);
    bench.sent.clear();
    bench.attached("", "G", "SG", "page", true, "");
    bench.pass(ms(100));
    let sent = bench.methods();
    assert_eq!(
        sent,
        ["SG Runtime.runIfWaitingForDebugger", "Target.detachFromTarget", "Target.setAutoAttach"],
        "narrow only after what waited (consequence 28)"
    );
    assert!(bench.notes.iter().any(|note| note.contains("stood still")));
    bench.call("Input.dispatchMouseEvent");
    assert!(bench.sent.last().is_some_and(|sent| sent.method == "Input.dispatchMouseEvent"));
    bench.expect("", "Target.setAutoAttach");
    assert!(bench.expect("", "Target.setAutoAttach").params.contains("page"), "the next action is wide as ever");
}

#[test]
fn a_daemon_that_is_only_busy_stays_wide() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    bench.call("Input.dispatchMouseEvent");
    bench.expect("", "Target.setAutoAttach");
    for _ in 0..4 {
        bench.now = bench.now + ms(1400);
        bench.input(Input::Tick);
    }
    assert!(!bench.was_sent("", "Target.setAutoAttach"));
}

#[test]
fn developer_tools_that_a_person_opens_on_our_tab_are_not_touched() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    bench.call("Input.dispatchMouseEvent");
    bench.sent.clear();
    bench.target_created("D", "other", r#","openerId":"T""#);
    bench.target_destroyed("D");
    bench.expect_nothing_sent();
    assert_eq!(bench.tab_state("T"), TabState::Ready, "E14");
}

#[test]
fn a_popup_that_another_supervisor_let_run_first_is_supervised_all_the_same() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    bench.call("Input.dispatchMouseEvent");
    bench.sent.clear();
    bench.target_created("U", "page", POPUP);
    bench.attached("", "U", "SU", "page", true, POPUP);
    // The other one resumes at once (E15): its first script asks before it takes our set-up in.
    bench.opening("SU", "U", "confirm", "first?");
    assert_eq!(bench.pending(), ["d-1"]);
    bench.pass(Duration::from_secs(2));
    bench.expect("SU", "Runtime.runIfWaitingForDebugger");
    bench.accept();
    let answer = bench.expect("SU", "Page.handleJavaScriptDialog");
    bench.reply(&answer, "{}");
    bench.answer_set_up("SU", "U", "P");
    assert_eq!(bench.tab_state("U"), TabState::Ready);
    assert_eq!(bench.closed_by(), [("d-1".to_owned(), ClosedBy::Agent)]);
}

#[test]
fn a_tab_that_an_ended_task_had_asked_for_is_left_alone() {
    for ended in [false, true] {
        let mut bench = Bench::guest();
        bench.target_created("T", "page", "");
        bench.call("Runtime.evaluate");
        bench.attach_as_asked("T", "S");
        bench.answer_set_up("S", "T", "P");
        let asked = r#"{"frameId":"T","reason":"anchorClick","url":"https://a.example/new","disposition":"newTab"}"#;
        bench.event("S", "Page.frameRequestedNavigation", asked);
        if ended {
            bench.input(Input::EndTask(TaskId::default_task()));
        }
        bench.sent.clear();
        let created = r#"{"targetInfo":{"targetId":"N","type":"page","title":"","url":"https://a.example/new","canAccessOpener":false}}"#;
        bench.event("", "Target.targetCreated", created);
        assert_eq!(bench.was_sent("", "Target.attachToTarget"), !ended);
    }
}
