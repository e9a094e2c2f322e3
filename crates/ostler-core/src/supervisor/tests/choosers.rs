//! File choosers are held back while an action runs, and by nobody else's doing afterwards (fact A29).

use super::*;

const METHOD: &str = "Page.setInterceptFileChooserDialog";

impl Bench {
    fn hold_choosers(&mut self) {
        self.input(Input::HoldChoosers(TargetId::from("T")));
    }

    fn release_choosers(&mut self) {
        self.input(Input::ReleaseChoosers(TargetId::from("T")));
    }

    /// What the session was told since the last look.
    fn told(&mut self, session: &str) -> bool {
        self.expect(session, METHOD).param("enabled") == Value::Bool(true)
    }
}

#[test]
fn choosers_of_every_process_are_held_back_while_an_action_runs() {
    let mut bench = Bench::with_oopif();
    bench.hold_choosers();
    assert!(bench.told("S") && bench.told("SO"));
    bench.release_choosers();
    assert!(!bench.told("S") && !bench.told("SO"));
}

#[test]
fn an_action_that_ends_lets_nothing_through_under_another_one() {
    let mut bench = Bench::with_tab();
    bench.hold_choosers();
    assert!(bench.told("S"));
    bench.hold_choosers();
    bench.release_choosers();
    bench.expect_nothing_sent();
    bench.release_choosers();
    assert!(!bench.told("S"));
}

#[test]
fn an_action_that_a_dialog_holds_leaves_no_chooser_held_back() {
    let mut bench = Bench::with_tab();
    bench.hold_choosers();
    assert!(bench.told("S"));
    bench.opening("S", "T", "confirm", "Sure?");
    bench.release_choosers();
    assert!(!bench.told("S"), "the browser keeps it for the page until the dialog is over");
}

#[test]
fn a_frame_that_comes_while_an_action_runs_has_its_choosers_held_back_too() {
    let mut bench = Bench::with_tab();
    bench.hold_choosers();
    assert!(bench.told("S"));
    bench.attached("S", "O", "SO", "iframe", true, r#","parentFrameId":"T""#);
    assert!(bench.told("SO"));
    bench.release_choosers();
    assert!(!bench.told("S") && !bench.told("SO"));
}

#[test]
fn what_a_client_wants_of_choosers_outlives_an_action() {
    let mut bench = Bench::with_tab();
    bench.call_with(METHOD, r#"{"enabled":true}"#);
    assert!(bench.told("S"));
    bench.hold_choosers();
    bench.release_choosers();
    bench.expect_nothing_sent();
    bench.hold_choosers();
    bench.call_with(METHOD, r#"{"enabled":false}"#);
    assert!(!bench.told("S"));
    assert!(bench.told("S"), "the action goes on");
    bench.release_choosers();
    assert!(!bench.told("S"));
}
