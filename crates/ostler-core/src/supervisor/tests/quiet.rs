//! Quiet tasks: `Runtime` stays off, and what needs it is had in another way (facts B15, B16).

use super::*;

const QUIET_SET_UP: [&str; 6] = [
    "Page.enable",
    "Target.setAutoAttach",
    "Log.enable",
    "Network.enable",
    "Page.getFrameTree",
    "Runtime.getIsolateId",
];

/// A quiet default task with tab `T`, session `S`, in process `P`, of a browser of our own.
fn quiet() -> Bench {
    let mut bench = Bench::own();
    bench.be_quiet(true);
    bench.tab("T", "S", "P");
    bench
}

impl Bench {
    fn be_quiet(&mut self, quiet: bool) {
        self.be_quiet_with(quiet, DialogBridge::Auto);
    }

    fn be_quiet_with(&mut self, quiet: bool, dialog_bridge: DialogBridge) {
        self.input(Input::StartTask {
            task: TaskId::default_task(),
            policy: DialogPolicy::MustRespond,
            dialog_timeout: DIALOG_TIMEOUT,
            quiet,
            dialog_bridge,
            dialogs_before: 0,
        });
    }

    fn fetch_console(&mut self) -> Waiter {
        let waiter = self.waiter();
        self.input(Input::FetchConsole { waiter, task: TaskId::default_task() });
        waiter
    }

    /// An error that the page printed at this moment, in milliseconds since the Unix epoch.
    fn printed(&mut self, session: &str, at: u32, text: &str) {
        let args = format!(r#"[{{"type":"string","value":"{text}"}}]"#);
        let params = format!(r#"{{"type":"error","args":{args},"executionContextId":1,"timestamp":{at}}}"#);
        self.event(session, "Runtime.consoleAPICalled", &params);
    }

    fn console(&self) -> Vec<&str> {
        self.view().console.iter().map(|entry| entry.text.as_str()).collect()
    }
}

#[test]
fn a_quiet_tab_is_set_up_without_what_page_script_can_tell() {
    let mut bench = Bench::own();
    bench.be_quiet(true);
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", false, "");
    let methods: Vec<_> = bench.sent.iter().map(|sent| sent.method.as_str()).collect();
    assert_eq!(methods, QUIET_SET_UP);
}

#[test]
fn a_held_popup_of_a_quiet_task_runs_when_its_shorter_set_up_is_answered() {
    let mut bench = quiet();
    let more = r#","openerId":"T","canAccessOpener":true"#;
    bench.target_created("U", "page", more);
    bench.attached("", "U", "SU", "page", true, more);
    for method in ["Page.enable", "Target.setAutoAttach"] {
        let sent = bench.expect("SU", method);
        bench.reply(&sent, "{}");
        assert!(!bench.was_sent("SU", "Runtime.runIfWaitingForDebugger"));
    }
    let sent = bench.expect("SU", "Emulation.setFocusEmulationEnabled");
    bench.reply(&sent, "{}");
    bench.expect("SU", "Runtime.runIfWaitingForDebugger");
    assert!(!bench.was_sent("SU", "Runtime.enable"));
}

#[test]
fn a_task_that_becomes_quiet_or_loud_changes_the_tabs_that_it_has() {
    let mut bench = Bench::with_tab();
    bench.context_created("S", "T", "u-1");
    bench.be_quiet(true);
    bench.expect("S", "Runtime.disable");
    bench.be_quiet(true);
    bench.expect_nothing_sent();
    bench.be_quiet(false);
    bench.expect("S", "Runtime.enable");
    bench.expect_nothing_sent();
}

// --- frames of their parent's process ---

#[test]
fn an_evaluate_in_such_a_frame_runs_in_a_world_of_its_own() {
    let mut bench = quiet();
    bench.frame_attached("S", "F", "T");
    let call = bench.call_in_frame("F", "Runtime.evaluate", r#"{"expression":"1"}"#);
    let world = bench.expect("S", "Page.createIsolatedWorld");
    assert_eq!(world.param("frameId"), "F");
    bench.expect_nothing_sent();
    bench.reply(&world, r#"{"executionContextId":7}"#);
    let evaluate = bench.expect("S", "Runtime.evaluate");
    assert_eq!(evaluate.params, r#"{"contextId":7,"expression":"1"}"#);
    bench.reply(&evaluate, r#"{"result":{}}"#);
    assert_eq!(bench.result(call), r#"{"result":{}}"#);
}

#[test]
fn whatever_ends_the_call_ends_its_first_step_and_says_that_nothing_was_sent() {
    let start = || {
        let mut bench = quiet();
        bench.frame_attached("S", "F", "T");
        let call = bench.call_in_frame("F", "Runtime.evaluate", "{}");
        (bench, call)
    };
    let (mut bench, call) = start();
    bench.opening("S", "T", "alert", "");
    assert!(matches!(bench.error(call), CallError::DialogOpen { sent: false, .. }));

    let (mut bench, call) = start();
    bench.lose_connection();
    assert_eq!(bench.code(call), "browser_gone");

    let (mut bench, call) = start();
    bench.detached("", "T", "S");
    assert_eq!(bench.code(call), "session_gone");

    let (mut bench, call) = start();
    let world = bench.expect("S", "Page.createIsolatedWorld");
    bench.refuse(&world, -32000, "No frame for given id found");
    assert_eq!(bench.code(call), "cdp");

    let (mut bench, call) = start();
    bench.pass(Duration::from_secs(31));
    assert!(bench.error(call).to_string().contains("Runtime.evaluate"), "{}", bench.error(call));

    let (mut bench, call) = start();
    let world = bench.expect("S", "Page.createIsolatedWorld");
    bench.input(Input::Cancel(call));
    bench.reply(&world, r#"{"executionContextId":7}"#);
    assert!(!bench.was_sent("S", "Runtime.evaluate"));
}

#[test]
fn an_evaluate_that_says_where_it_runs_is_sent_as_it_is() {
    let mut bench = quiet();
    bench.frame_attached("S", "F", "T");
    bench.call_in_frame("F", "Runtime.evaluate", r#"{"contextId":3}"#);
    assert_eq!(bench.expect("S", "Runtime.evaluate").params, r#"{"contextId":3}"#);
}

#[test]
fn other_methods_in_such_a_frame_are_refused_as_ever() {
    let mut bench = quiet();
    bench.frame_attached("S", "F", "T");
    let call = bench.call_in_frame("F", "DOM.getDocument", "{}");
    assert_eq!(bench.code(call), "frame_in_process");
}

// --- the console ---

#[test]
fn the_console_is_fetched_when_somebody_asks_and_told_once() {
    let mut bench = quiet();
    let fetch = bench.fetch_console();
    bench.expect("S", "Runtime.enable");
    bench.printed("S", 1, "first");
    bench.printed("S", 2, "second");
    assert!(bench.is_waiting(fetch));
    let disable = bench.expect("S", "Runtime.disable");
    bench.reply(&disable, "{}");
    assert_eq!(bench.outcome(fetch), &Ok(Outcome::Done));
    assert_eq!(bench.console(), ["first", "second"]);

    bench.recorded.clear();
    let again = bench.fetch_console();
    for (at, text) in [(1, "first"), (2, "second"), (3, "third")] {
        bench.printed("S", at, text);
    }
    let disable = bench.expect("S", "Runtime.disable");
    bench.reply(&disable, "{}");
    assert_eq!(bench.outcome(again), &Ok(Outcome::Done));
    assert_eq!(bench.console(), ["first", "second", "third"]);
    assert_eq!(bench.recorded.len(), 1, "what was told before is no event: {:?}", bench.recorded);
}

#[test]
fn a_task_that_is_not_quiet_has_told_its_console_already() {
    let mut bench = Bench::with_tab();
    let fetch = bench.fetch_console();
    assert_eq!(bench.outcome(fetch), &Ok(Outcome::Done));
    bench.expect_nothing_sent();
}

#[test]
fn a_page_that_is_blocked_or_busy_holds_nobody_up_who_asks_for_the_console() {
    let mut bench = quiet();
    let busy = bench.fetch_console();
    bench.pass(Duration::from_secs(1));
    assert_eq!(bench.outcome(busy), &Ok(Outcome::Done));
    bench.printed("S", 1, "late");
    assert_eq!(bench.console(), ["late"]);

    bench.opening("S", "T", "alert", "");
    bench.sent.clear();
    let blocked = bench.fetch_console();
    assert_eq!(bench.outcome(blocked), &Ok(Outcome::Done));
    bench.expect_nothing_sent();
}

#[test]
fn a_client_that_turns_the_domain_on_for_itself_keeps_it_and_can_turn_it_off() {
    let mut bench = quiet();
    bench.call("Runtime.enable");
    bench.expect("S", "Runtime.enable");
    bench.context_created("S", "T", "u-1");
    let fetch = bench.fetch_console();
    assert_eq!(bench.outcome(fetch), &Ok(Outcome::Done));
    bench.expect_nothing_sent();
    bench.call("Runtime.disable");
    bench.expect("S", "Runtime.disable");
    bench.fetch_console();
    bench.expect("S", "Runtime.enable");
}

// --- the bridge ---

#[test]
fn the_bridge_of_a_quiet_task_comes_by_requests_and_never_turns_the_debugger_on() {
    let mut bench = Bench::own();
    bench.be_quiet_with(true, DialogBridge::Always);
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", true, "");
    for method in ["Fetch.enable", "Page.setBypassCSP"] {
        assert!(bench.was_sent("S", method), "{method}");
    }
    let script = bench.expect("S", "Page.addScriptToEvaluateOnNewDocument");
    assert!(script.param("source").as_str().expect("a script").contains("XMLHttpRequest"));
    bench.answer_set_up("S", "T", "P");
    assert!(!bench.was_sent("S", "Runtime.runIfWaitingForDebugger"), "our script is not in place yet");
    bench.reply(&script, r#"{"identifier":"1"}"#);
    bench.expect("S", "Runtime.runIfWaitingForDebugger");
    assert!(bench.methods().iter().all(|sent| !sent.contains("Debugger")), "{:?}", bench.methods());

    // Another task that is not quiet still learns whether it may have the Debugger.
    bench.start_task_with("b", DialogPolicy::MustRespond, DialogBridge::Always);
    let waiter = bench.waiter();
    let (task, timeout) = (TaskId::from("b"), Duration::from_secs(30));
    bench.input(Input::CurrentTab { waiter, task, timeout });
    let create = bench.expect("", "Target.createTarget");
    bench.target_created("U", "page", "");
    bench.attached("", "U", "SU", "page", true, "");
    bench.reply(&create, r#"{"targetId":"U"}"#);
    bench.expect("SU", "Debugger.enable");
}

#[test]
fn a_task_that_becomes_quiet_changes_the_way_its_bridge_takes_and_changes_it_back() {
    let mut bench = Bench::own();
    bench.be_quiet_with(false, DialogBridge::Always);
    bench.tab("T", "S", "P");
    bench.be_quiet_with(true, DialogBridge::Always);
    bench.expect("S", "Debugger.disable");
    bench.expect("S", "Fetch.enable");
    bench.answer_set_up("S", "T", "P");
    bench.be_quiet_with(true, DialogBridge::Always);
    bench.expect_nothing_sent();
    bench.be_quiet_with(false, DialogBridge::Always);
    bench.expect("S", "Fetch.disable");
    bench.expect("S", "Debugger.enable");
}

#[test]
fn a_task_that_becomes_quiet_before_it_is_known_whether_the_debugger_may_be_had_takes_requests() {
    let mut bench = Bench::own();
    bench.be_quiet_with(false, DialogBridge::Always);
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", false, "");
    let probe = bench.expect("S", "Debugger.enable");
    bench.be_quiet_with(true, DialogBridge::Always);
    bench.expect("S", "Debugger.disable");
    bench.answer_set_up("S", "T", "P");
    bench.reply(&probe, "{}");
    bench.expect_nothing_sent();
}
