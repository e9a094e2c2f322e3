//! The bridge is put in place before a page's first script, where it is wanted and only there (facts B3, B4, B7, A14).

use super::bridge::{ADD_SCRIPT, DEBUGGER, RUN, by};
use super::*;

#[test]
fn a_held_target_runs_only_when_the_bridge_is_in_place() {
    let mut bench = Bench::bridged();
    let popup = r#","openerId":"T","canAccessOpener":true"#;
    bench.target_created("POPUP", "page", popup);
    bench.attached("", "POPUP", "SP", "page", true, popup);
    let script = bench.expect("SP", ADD_SCRIPT);
    assert_eq!(script.param("runImmediately"), true);
    assert!(
        script
            .param("source")
            .as_str()
            .expect("a script")
            .ends_with("//# sourceURL=ostler-bridge-0000000000000003.js\n")
    );
    let patterns = bench.expect("SP", "Debugger.setBlackboxPatterns");
    assert_eq!(patterns.param("patterns")[0], r"^(?!ostler-bridge-0000000000000003\.js$).*$", "B4");
    bench.answer_set_up("SP", "POPUP", "P");
    assert!(!bench.was_sent("SP", RUN), "our script is not in place yet");
    bench.reply(&script, r#"{"identifier":"1"}"#);
    bench.expect("SP", RUN);
}

#[test]
fn the_first_session_tells_whether_the_debugger_may_be_had_and_waits_for_what_follows() {
    let mut bench = Bench::own();
    bench.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Always);
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", true, "");
    let probe = bench.expect("S", DEBUGGER);
    assert!(!bench.was_sent("S", ADD_SCRIPT), "which script it is to be is not known yet");
    bench.answer_set_up("S", "T", "P");
    bench.refuse(&probe, -32601, "'Debugger.enable' wasn't found");
    assert!(!bench.was_sent("S", RUN));
    assert_eq!(bench.methods(), ["S Fetch.enable", "S Page.setBypassCSP", "S Page.addScriptToEvaluateOnNewDocument"]);
    let fetch = bench.sent[0].param("patterns");
    assert_eq!(
        fetch,
        serde_json::json!([{"urlPattern": "https://0000000000000003.ostler-bridge.invalid/"}]),
        "that host only"
    );
    bench.answer_set_up("S", "T", "P");
    assert!(bench.notes[0].contains("refuses the Debugger domain"), "{:?}", bench.notes);
    // From now on it is known, and all is sent at once.
    bench.attached("S", "O", "SO", "iframe", true, r#","parentFrameId":"T""#);
    bench.expect("SO", "Fetch.enable");
    bench.expect("SO", ADD_SCRIPT);
    assert!(!bench.was_sent("SO", DEBUGGER));
}

#[test]
fn without_the_bridge_nothing_of_it_is_sent() {
    for bridge in [DialogBridge::Auto, DialogBridge::Never] {
        let mut bench = Bench::own();
        bench.start_task_with("default", DialogPolicy::MustRespond, bridge);
        bench.target_created("T", "page", "");
        bench.attached("", "T", "S", "page", false, "");
        for method in [DEBUGGER, ADD_SCRIPT, "Fetch.enable"] {
            assert!(!bench.was_sent("S", method), "{method} under {bridge:?}");
        }
    }
}

#[test]
fn a_backend_that_is_known_to_answer_gets_the_bridge_under_auto() {
    let mut bench = Bench::unconnected();
    let browser_id = Some("B".to_owned());
    bench.input(Input::Connected { browser_id, scope: Scope::Own, answers_dialogs: true });
    for method in ["Target.setDiscoverTargets", "Target.setAutoAttach"] {
        let sent = bench.expect("", method);
        bench.reply(&sent, "{}");
    }
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", false, "");
    bench.expect("S", DEBUGGER);
    assert!(bench.view().policy.bridged);
}

#[test]
fn a_dialog_that_somebody_else_answers_at_once_switches_the_bridge_on_for_its_task() {
    let mut bench = Bench::with_oopif();
    bench.start_task("other", DialogPolicy::MustRespond);
    bench.opening("S", "T", "confirm", "");
    bench.pass(ms(4));
    bench.closed("S", "T");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]));
    bench.expect("S", DEBUGGER);
    bench.expect("SO", DEBUGGER);
    assert!(bench.view().policy.bridged && !bench.view_of("other").policy.bridged);
    assert!(bench.notes[0].contains("somebody else answers"), "{:?}", bench.notes);
}

#[test]
fn a_dialog_whose_place_another_one_takes_was_answered_by_nobody() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.pass(ms(4));
    bench.opening("S", "T", "confirm", "");
    bench.closed("S", "O");
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::Remote)]));
    assert!(!bench.was_sent("S", DEBUGGER) && bench.notes.is_empty(), "A26: {:?}", bench.notes);
}

#[test]
fn a_dialog_that_goes_with_its_page_was_answered_by_nobody() {
    let mut bench = Bench::with_tab();
    bench.call("Page.navigate");
    bench.opening("S", "T", "confirm", "");
    bench.pass(ms(4));
    bench.closed("S", "T");
    assert!(!bench.was_sent("S", DEBUGGER), "{:?}", bench.notes);
    bench.navigated("S", "T", None, "https://b/");
    bench.opening("S", "T", "confirm", "");
    bench.closed("S", "T");
    bench.expect("S", DEBUGGER);
}

#[test]
fn a_person_who_answers_or_a_setting_of_never_leaves_the_bridge_off() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.pass(ms(900));
    bench.closed("S", "T");
    assert!(!bench.was_sent("S", DEBUGGER), "nobody reads and clicks within a tenth of a second, but this was one");
    bench.start_task_with("default", DialogPolicy::MustRespond, DialogBridge::Never);
    bench.opening("S", "T", "confirm", "");
    bench.closed("S", "T");
    bench.opening("S", "T", "confirm", "");
    let answer = bench.accept();
    bench.closed("S", "T");
    bench.answer_arrives("S");
    assert!(bench.outcome(answer).is_ok());
    assert!(!bench.was_sent("S", DEBUGGER));
}
