//! Dialogs that no agent answers: the policy does, at once or when it changes, or the watchdog.

use super::bridge::by;
use super::dialogs::ended;
use super::*;

const ANSWER: &str = "Page.handleJavaScriptDialog";
const NOT_READY: &str = "Not attached to an active page";
const DISMISSED: &str = r#"{"accept":false}"#;

impl Bench {
    fn set_policy(&mut self, policy: DialogPolicy) {
        self.start_task("default", policy);
    }

    fn set_dialog_timeout(&mut self, dialog_timeout: Duration) {
        self.input(Input::StartTask {
            task: TaskId::default_task(),
            policy: DialogPolicy::MustRespond,
            dialog_timeout,
            quiet: false,
            dialog_bridge: DialogBridge::Auto,
            dialogs_before: 0,
        });
    }
}

// --- the policy ---

#[test]
fn a_policy_answers_at_once_and_ends_no_call() {
    for (policy, params) in [
        (DialogPolicy::AutoDismiss, r#"{"accept":false}"#),
        (DialogPolicy::AutoAccept, r#"{"accept":true,"promptText":"\ud800"}"#),
    ] {
        let mut bench = Bench::with_tab();
        bench.start_task("default", policy);
        let call = bench.call("Runtime.evaluate");
        let evaluate = bench.expect("S", "Runtime.evaluate");
        let opening = r#"{"frameId":"T","message":"","type":"prompt","defaultPrompt":"\ud800"}"#;
        bench.event("S", "Page.javascriptDialogOpening", opening);
        assert!(bench.is_waiting(call));
        let sent = bench.answer_arrives("S");
        assert_eq!(sent.params, params);
        assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::AutoPolicy)]));
        bench.reply(&evaluate, "{}");
        assert_eq!(bench.result(call), "{}");
    }
}

#[test]
fn a_policys_answer_that_fails_leaves_the_dialog_to_the_agent() {
    let mut bench = Bench::with_tab();
    bench.start_task("default", DialogPolicy::AutoAccept);
    let call = bench.call("Runtime.evaluate");
    bench.opening("S", "T", "confirm", "");
    bench.pass(Duration::from_secs(10));
    assert_eq!(bench.code(call), "dialog_open");
    assert_eq!(bench.pending(), ["d-1"]);
}

#[test]
fn the_watchdog_dismisses_what_nobody_answers() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.pass(DIALOG_TIMEOUT - ms(1));
    bench.expect_nothing_sent();
    bench.pass(ms(1));
    let sent = bench.answer_arrives("S");
    assert_eq!(sent.params, r#"{"accept":false}"#);
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Watchdog)]));
}

#[test]
fn the_watchdog_leaves_an_answered_dialog_alone() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.accept();
    bench.answer_arrives("S");
    bench.pass(DIALOG_TIMEOUT * 2);
    bench.expect_nothing_sent();
}

#[test]
fn the_watchdog_looks_again_when_an_answer_that_was_on_its_way_fails() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.pass(DIALOG_TIMEOUT - Duration::from_secs(1));
    bench.accept();
    let sent = bench.expect("S", ANSWER);
    bench.pass(Duration::from_secs(2));
    bench.refuse(&sent, -32000, "Something else");
    assert_eq!(bench.pending(), ["d-1"]);
    bench.pass(Duration::from_secs(10));
    let sent = bench.expect("S", ANSWER);
    assert_eq!(sent.param("accept"), false);
    bench.reply(&sent, "{}");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Watchdog)]));
}

#[test]
fn the_watchdog_looks_again_when_its_answer_did_not_get_through() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.pass(DIALOG_TIMEOUT);
    bench.expect("S", ANSWER);
    bench.pass(Duration::from_secs(20));
    bench.answer_arrives("S");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Watchdog)]));
}

#[test]
fn a_dialog_time_of_nothing_dismisses_at_once() {
    let mut bench = Bench::with_tab();
    let task = TaskId::default_task();
    bench.input(Input::StartTask {
        task,
        policy: DialogPolicy::MustRespond,
        dialog_timeout: Duration::ZERO,
        quiet: false,
        dialog_bridge: DialogBridge::Auto,
        dialogs_before: 0,
    });
    bench.opening("S", "T", "confirm", "");
    bench.expect("S", ANSWER);
}

#[test]
fn a_dialog_time_without_end_does_not_overflow() {
    let mut bench = Bench::with_tab();
    let task = TaskId::default_task();
    bench.input(Input::StartTask {
        task,
        policy: DialogPolicy::MustRespond,
        dialog_timeout: Duration::MAX,
        quiet: false,
        dialog_bridge: DialogBridge::Auto,
        dialogs_before: 0,
    });
    bench.opening("S", "T", "confirm", "");
    bench.pass(DIALOG_TIMEOUT * 100);
    assert_eq!(bench.pending(), ["d-1"]);
}

// --- it changes ---

#[test]
fn a_policy_that_answers_by_itself_answers_what_is_open_when_it_is_set() {
    for (policy, params) in
        [(DialogPolicy::AutoDismiss, DISMISSED), (DialogPolicy::AutoAccept, r#"{"accept":true,"promptText":"\ud800"}"#)]
    {
        let mut bench = Bench::with_tab();
        let opening = r#"{"frameId":"T","message":"","type":"prompt","defaultPrompt":"\ud800"}"#;
        bench.event("S", "Page.javascriptDialogOpening", opening);
        bench.set_policy(policy);
        let sent = bench.answer_arrives("S");
        assert_eq!(sent.params, params);
        assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::AutoPolicy)]));
    }
}

#[test]
fn a_policy_that_is_set_answers_every_dialog_of_its_task_and_no_others() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    bench.start_task("b", DialogPolicy::MustRespond);
    let call = bench.client_call("Target.createTarget");
    bench.make(ClientCall { task: "b".into(), ..call });
    let create = bench.expect("", "Target.createTarget");
    bench.target_created("B", "page", "");
    bench.attached("", "B", "SB", "page", true, "");
    bench.answer_set_up("SB", "B", "PB");
    bench.reply(&create, r#"{"targetId":"B"}"#);
    for (session, target) in [("S", "T"), ("S2", "T2"), ("SB", "B")] {
        bench.opening(session, target, "confirm", "");
    }
    bench.set_policy(DialogPolicy::AutoDismiss);
    bench.answer_arrives("S");
    bench.answer_arrives("S2");
    bench.expect_nothing_sent();
    assert_eq!(bench.view_of("b").pending_dialogs.len(), 1);
}

#[test]
fn a_policy_that_is_set_answers_over_the_bridge_too() {
    let mut bench = Bench::bridged();
    bench.asks("S", "T", "confirm", 1);
    bench.start_task_with("default", DialogPolicy::AutoAccept, DialogBridge::Always);
    assert!(bench.takes_answer("S", true).contains(r#"{"accept":true}"#));
    assert_eq!(bench.closed_by(), by(&[("d-1", ClosedBy::AutoPolicy)]));
}

#[test]
fn a_policy_that_is_set_leaves_an_agents_answer_alone_unless_that_fails() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    let waiter = bench.accept();
    let accepted = bench.expect("S", ANSWER);
    bench.set_policy(DialogPolicy::AutoDismiss);
    bench.expect_nothing_sent();
    bench.refuse(&accepted, -32602, "Invalid parameters");
    assert_eq!(bench.code(waiter), "cdp");
    assert_eq!(bench.answer_arrives("S").params, DISMISSED);
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::AutoPolicy)]));
}

#[test]
fn a_policy_that_is_set_leaves_alone_what_cannot_be_answered() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "T", "confirm", "");
    bench.opening("S", "O", "confirm", "");
    bench.closed("S", "T");
    bench.sent.clear();
    bench.set_policy(DialogPolicy::AutoDismiss);
    bench.expect_nothing_sent();
    assert_eq!(bench.pending(), ["d-2"], "A26");
}

#[test]
fn a_policy_that_is_set_again_answers_nothing_that_it_could_not_answer() {
    let mut bench = Bench::with_tab();
    bench.set_policy(DialogPolicy::AutoDismiss);
    bench.opening("S", "T", "confirm", "");
    let sent = bench.expect("S", ANSWER);
    bench.refuse(&sent, -32602, "Invalid parameters");
    bench.set_policy(DialogPolicy::AutoDismiss);
    bench.expect_nothing_sent();
    bench.set_policy(DialogPolicy::AutoAccept);
    bench.expect("S", ANSWER);
}

#[test]
fn a_task_that_must_respond_again_takes_back_what_its_policy_was_about_to_repeat() {
    let mut bench = Bench::with_tab();
    bench.set_policy(DialogPolicy::AutoDismiss);
    let call = bench.call("Runtime.evaluate");
    bench.expect("S", "Runtime.evaluate");
    bench.opening("S", "T", "confirm", "");
    let sent = bench.expect("S", ANSWER);
    bench.refuse(&sent, -32000, NOT_READY);
    bench.set_policy(DialogPolicy::MustRespond);
    assert_eq!(bench.code(call), "dialog_open");
    bench.pass(ms(200));
    assert!(!bench.was_sent("S", ANSWER));
    let waiter = bench.accept();
    bench.answer_arrives("S");
    assert!(bench.outcome(waiter).is_ok());
}

#[test]
fn an_answer_takes_the_place_of_a_policys_that_was_about_to_be_repeated_and_is_sent_once() {
    let mut bench = Bench::with_tab();
    bench.set_policy(DialogPolicy::AutoDismiss);
    bench.opening("S", "T", "confirm", "");
    let sent = bench.expect("S", ANSWER);
    bench.refuse(&sent, -32000, NOT_READY);
    bench.set_policy(DialogPolicy::AutoAccept);
    let sent = bench.expect("S", ANSWER);
    assert_eq!(sent.params, r#"{"accept":true}"#);
    bench.pass(ms(200));
    bench.expect_nothing_sent();
}

#[test]
fn a_dialog_keeps_its_watchdog_when_its_task_must_respond_again() {
    let mut bench = Bench::with_tab();
    bench.set_policy(DialogPolicy::AutoDismiss);
    bench.opening("S", "T", "confirm", "");
    let sent = bench.expect("S", ANSWER);
    bench.refuse(&sent, -32602, "Invalid parameters");
    bench.set_policy(DialogPolicy::MustRespond);
    bench.pass(DIALOG_TIMEOUT - ms(1));
    bench.expect_nothing_sent();
    bench.pass(ms(1));
    bench.answer_arrives("S");
    assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Watchdog)]));
}

#[test]
fn another_time_to_respond_counts_from_the_opening_of_what_is_open() {
    for (timeout, wait) in [(10, 4), (3, 0), (1000, 994)] {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", "confirm", "");
        bench.pass(Duration::from_secs(6));
        bench.set_dialog_timeout(Duration::from_secs(timeout));
        if let Some(almost) = Duration::from_secs(wait).checked_sub(ms(1)) {
            bench.pass(almost);
            bench.expect_nothing_sent();
        }
        bench.pass(ms(1));
        bench.answer_arrives("S");
        assert_eq!(bench.closed_by(), ended(&[("d-1", ClosedBy::Watchdog)]));
    }
}
