//! Tasks side by side in one browser: their tabs, their ends, and what they never see of each other.

use super::*;

/// The default task with tab `T`, and task `b` with tab `B`, in a browser of our own.
fn two_tasks() -> Bench {
    let mut bench = Bench::with_tab();
    bench.start_task("b", DialogPolicy::MustRespond);
    let call = bench.call_for("b", "Runtime.evaluate");
    let create = bench.expect("", "Target.createTarget");
    bench.target_created("B", "page", "");
    bench.attached("", "B", "SB", "page", true, "");
    bench.reply(&create, r#"{"targetId":"B"}"#);
    bench.answer_set_up("SB", "B", "PB");
    assert_eq!(bench.result(call), "{}");
    bench
}

impl Bench {
    fn call_for(&mut self, task: &str, method: &str) -> Waiter {
        let call = self.client_call(method);
        self.make(ClientCall { task: TaskId::from(task), ..call })
    }

    fn end_task(&mut self, task: &str) {
        self.input(Input::EndTask(TaskId::from(task)));
    }
}

#[test]
fn each_task_has_its_own_tab_dialogs_and_numbers() {
    let mut bench = two_tasks();
    bench.opening("SB", "B", "alert", "b's");
    assert_eq!(bench.pending(), [""; 0]);
    bench.opening("S", "T", "alert", "the default's");
    assert_eq!(bench.view_of("b").pending_dialogs[0].message, "b's");
    assert_eq!(bench.view_of("b").pending_dialogs[0].id.to_string(), "d-1");
    assert_eq!(bench.pending(), ["d-1"]);
    bench.accept();
    bench.expect("S", "Page.handleJavaScriptDialog");
    assert!(!bench.was_sent("SB", "Page.handleJavaScriptDialog"));
}

#[test]
fn each_task_has_its_own_policy() {
    let mut bench = two_tasks();
    bench.start_task("b", DialogPolicy::AutoDismiss);
    bench.opening("S", "T", "alert", "");
    bench.expect_nothing_sent();
    bench.opening("SB", "B", "alert", "");
    bench.expect("SB", "Page.handleJavaScriptDialog");
}

#[test]
fn a_popup_belongs_to_its_openers_task() {
    let mut bench = two_tasks();
    bench.popup("B", "U", "SU", "PB");
    assert_eq!(bench.view_of("b").tabs.len(), 2);
    assert_eq!(bench.view().tabs.len(), 1);
}

#[test]
fn a_tab_that_comes_by_itself_is_the_default_tasks() {
    let mut bench = two_tasks();
    bench.tab("NEW", "SN", "PN");
    assert_eq!(bench.view().tabs.len(), 2);
    assert_eq!(bench.view_of("b").tabs.len(), 1);
}

#[test]
fn another_tasks_session_tab_or_frame_is_refused_and_named() {
    let mut bench = two_tasks();
    let session = bench.call_on("SB", "Runtime.evaluate");
    let target = bench.call_to_target("B", "Runtime.evaluate");
    let (select, task) = (bench.waiter(), TaskId::default_task());
    bench.input(Input::SelectTab { waiter: select, task, session: None, target: Some(TargetId::from("B")) });
    for waiter in [session, target, select] {
        assert_eq!(bench.code(waiter), "bad_request");
        assert!(bench.error(waiter).to_string().contains("belongs to task b"));
    }
    let frame = bench.call_in_frame("B", "Runtime.evaluate", "{}");
    assert_eq!(bench.code(frame), "unknown_frame");
    bench.expect_nothing_sent();
}

#[test]
fn an_unknown_task_lists_the_known_ones() {
    let mut bench = two_tasks();
    let call = bench.call_for("c", "Runtime.evaluate");
    let known = ["b".to_owned(), "default".to_owned()];
    assert_eq!((bench.code(call), bench.error(call).known()), ("unknown_task", Some(&known[..])));
    let answer = DialogAnswer { task: TaskId::from("c"), ..bench.dialog_answer(true) };
    let answer = bench.answer(answer);
    assert_eq!(bench.code(answer), "unknown_task");
}

#[test]
fn a_task_that_is_started_again_keeps_what_it_has() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    bench.start_task("default", DialogPolicy::AutoDismiss);
    assert_eq!(bench.pending(), ["d-1"]);
    assert_eq!(bench.view().policy.dialog_policy, DialogPolicy::AutoDismiss);
    assert_eq!(bench.view().tabs.len(), 1);
}

// --- events ---

#[test]
fn each_event_is_recorded_for_the_task_whose_it_is() {
    let mut bench = two_tasks();
    bench.recorded.clear();
    bench.event("SB", "Network.loadingFinished", "{}");
    bench.event("S", "Some.newEvent", "{}");
    bench.event("", "Browser.downloadProgress", "{}");
    bench.target_destroyed("B");
    let recorded: Vec<_> = bench.recorded.iter().map(|(task, method)| (task.as_str(), method.as_str())).collect();
    let expected = [
        ("b", "Network.loadingFinished"),
        ("default", "Some.newEvent"),
        ("default", "Browser.downloadProgress"),
        ("b", "Target.targetDestroyed"),
    ];
    assert_eq!(recorded, expected);
}

#[test]
fn a_guest_records_nothing_of_foreign_tabs() {
    let mut bench = Bench::guest();
    bench.target_created("FOREIGN", "page", "");
    bench.event("", "Browser.downloadProgress", "{}");
    bench.target_destroyed("FOREIGN");
    assert_eq!(bench.recorded, []);
}

// --- the end ---

#[test]
fn an_ended_tasks_calls_end() {
    let mut bench = two_tasks();
    let sent = bench.call_for("b", "Runtime.evaluate");
    bench.detached("", "B", "SB");
    let queued = bench.call_for("b", "Page.navigate");
    bench.end_task("b");
    assert_eq!(bench.code(sent), "unknown_outcome");
    assert_eq!(bench.code(queued), "unknown_task");
    assert!(!bench.was_sent("", "Target.createTarget"), "what waited does not open a tab for a task that is over");
}

#[test]
fn an_ended_tasks_held_tabs_are_resumed_before_they_are_left() {
    let mut bench = two_tasks();
    let more = r#","openerId":"B","canAccessOpener":true"#;
    bench.target_created("U", "page", more);
    bench.attached("", "U", "SU", "page", true, more);
    bench.sent.clear();
    bench.end_task("b");
    let sent = bench.methods();
    let resume = sent.iter().position(|sent| sent == "SU Runtime.runIfWaitingForDebugger");
    let detach = bench.sent.iter().position(|sent| sent.params.contains(r#""SU""#));
    assert!(resume.is_some() && resume < detach, "E3: {sent:?}");
}

#[test]
fn an_attach_answered_after_its_task_ended_lets_the_target_go() {
    let mut bench = Bench::guest();
    bench.target_created("T", "page", "");
    bench.call("Runtime.evaluate");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.end_task("default");
    bench.attached("", "T", "S", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"S"}"#);
    assert_eq!(bench.methods(), ["Target.detachFromTarget"], "F3: it runs, and a resume would let others go");
    bench.detached("", "T", "S");
    assert!(bench.core.sessions.is_empty());
}

#[test]
fn a_guest_closes_the_tabs_that_it_opened_and_leaves_the_users() {
    let mut bench = Bench::guest();
    bench.target_created("USERS", "page", "");
    bench.start_task("b", DialogPolicy::MustRespond);
    for (task, target) in [("default", "USERS"), ("b", "OPENED")] {
        bench.call_for(task, "Runtime.evaluate");
        if task == "b" {
            let create = bench.expect("", "Target.createTarget");
            bench.target_created(target, "page", "");
            bench.reply(&create, r#"{"targetId":"OPENED"}"#);
        }
        let attach = bench.expect("", "Target.attachToTarget");
        assert_eq!(attach.param("targetId"), target);
        bench.attached("", target, task, "page", false, "");
        bench.reply(&attach, &format!(r#"{{"sessionId":"{task}"}}"#));
        bench.answer_set_up(task, target, task);
    }
    bench.end_task("default");
    assert_eq!(bench.expect("", "Target.detachFromTarget").param("sessionId"), "default");
    bench.end_task("b");
    assert_eq!(bench.expect("", "Target.closeTarget").param("targetId"), "OPENED");
    bench.expect_nothing_sent();
}

#[test]
fn a_tab_opened_for_a_task_that_is_over_is_closed_again() {
    for scope in [Scope::Own, Scope::Guest] {
        let mut bench = Bench::connected(scope);
        bench.call("Runtime.evaluate");
        let create = bench.expect("", "Target.createTarget");
        bench.end_task("default");
        bench.reply(&create, r#"{"targetId":"N"}"#);
        assert_eq!(bench.expect("", "Target.closeTarget").param("targetId"), "N");
        assert!(bench.core.tabs.is_empty());
    }
}

#[test]
fn a_task_started_after_another_ended_gets_the_tab_that_this_one_left() {
    let mut bench = Bench::with_tab();
    bench.end_task("default");
    bench.expect("", "Target.detachFromTarget");
    bench.detached("", "T", "S");
    bench.start_task("default", DialogPolicy::MustRespond);
    let call = bench.call("Runtime.evaluate");
    let attach = bench.expect("", "Target.attachToTarget");
    bench.attached("", "T", "S2", "page", false, "");
    bench.reply(&attach, r#"{"sessionId":"S2"}"#);
    bench.answer_set_up("S2", "T", "P");
    assert_eq!(bench.result(call), "{}");
}

#[test]
fn tabs_from_before_the_first_task_are_that_tasks() {
    let mut bench = Bench::unconnected();
    bench.end_task("default");
    bench.connect("BROWSER", Scope::Own);
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S", "page", true, "");
    bench.expect("S", "Runtime.runIfWaitingForDebugger");
    bench.start_task("late", DialogPolicy::MustRespond);
    bench.expect("S", "Page.enable");
    assert_eq!(bench.view_of("late").tabs.len(), 1);
}

#[test]
fn starting_and_ending_a_thousand_tasks_leaves_nothing_behind() {
    let mut bench = two_tasks();
    for round in 0..1000 {
        let (task, tab) = (format!("t{round}"), format!("T{round}"));
        bench.start_task(&task, DialogPolicy::MustRespond);
        bench.call_for(&task, "Runtime.evaluate");
        let create = bench.expect("", "Target.createTarget");
        bench.tab(&tab, &tab, "P");
        bench.reply(&create, &format!(r#"{{"targetId":"{tab}"}}"#));
        bench.opening(&tab, &tab, "alert", "");
        bench.end_task(&task);
        bench.detached("", &tab, &tab);
        bench.target_destroyed(&tab);
        bench.sent.clear();
    }
    bench.pass(Duration::from_secs(30));
    assert_eq!((bench.core.sessions.len(), bench.core.tabs.len(), bench.core.targets.len()), (2, 2, 2));
    assert_eq!((bench.core.tasks.len(), bench.core.in_flight(), bench.core.poll_timeout()), (2, 0, None));
}

#[test]
fn a_tab_that_a_client_closed_takes_no_further_call_though_the_browser_is_slow_to_tell() {
    let mut bench = Bench::with_tab();
    bench.target_created("T2", "page", "");
    bench.attached("", "T2", "S2", "page", false, "");
    bench.answer_set_up("S2", "T2", "2");
    let close = bench.call_with("Target.closeTarget", r#"{"targetId":"T"}"#);
    let sent = bench.expect("", "Target.closeTarget");
    bench.reply(&sent, r#"{"success":true}"#);
    assert_eq!(bench.result(close), r#"{"success":true}"#);
    bench.call("Runtime.evaluate");
    bench.expect("S2", "Runtime.evaluate");
    let late = bench.call_on("S", "Runtime.evaluate");
    assert_eq!(bench.code(late), "session_gone");
    // What is still told of it does not bring it back.
    bench.event("", "Target.targetInfoChanged", r#"{"targetInfo":{"targetId":"T","type":"page","url":"about:blank"}}"#);
    bench.target_destroyed("T2");
    bench.call("Runtime.evaluate");
    bench.expect("", "Target.createTarget");
    bench.target_destroyed("T");
}

#[test]
fn a_popup_that_is_being_attached_when_its_task_ends_is_resumed_before_it_is_detached() {
    let mut bench = Bench::guest();
    bench.tab_of_guest("T", "S");
    let popup = r#","openerId":"T","canAccessOpener":true"#;
    bench.target_created("P", "page", popup);
    bench.expect("", "Target.attachToTarget");
    bench.attached("", "P", "SP", "page", false, popup);
    bench.input(Input::EndTask("default".into()));
    let sent = bench.methods();
    let at = sent.iter().position(|method| method == "SP Runtime.runIfWaitingForDebugger");
    let detached = bench.sent.iter().position(|sent| sent.param("sessionId") == "SP");
    assert!(at.is_some() && at < detached, "detached before it is resumed it would hang for good (E3): {sent:?}");
}

#[test]
fn a_tab_of_ours_in_which_a_dialogs_frame_went_away_is_closed_once_page_is_off() {
    let mut bench = Bench::with_tab_of_ours();
    bench.oopif("S", "T", "O", "SO", "PO");
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    bench.sent.clear();
    bench.input(Input::EndTask("default".into()));
    assert!(!bench.was_sent("", "Target.closeTarget"), "it would end the browser (A25)");
    let disable = bench.expect("S", "Page.disable");
    bench.reply(&disable, "{}");
    bench.expect("", "Target.closeTarget");
}

#[test]
fn a_tab_left_in_danger_is_still_so_when_the_connection_took_its_reload_away() {
    let mut bench = Bench::with_oopif();
    bench.opening("S", "O", "confirm", "");
    bench.frame_detached("S", "O", "remove");
    bench.input(Input::EndTask("default".into()));
    bench.expect("S", "Page.reload");
    bench.lose_connection();
    bench.sent.clear();
    bench.start_task("default", DialogPolicy::MustRespond);
    bench.connect("BROWSER", Scope::Own);
    bench.target_created("T", "page", "");
    bench.attached("", "T", "S2", "page", false, "");
    bench.expect("S2", "Page.reload");
    assert!(!bench.was_sent("S2", "Page.enable"), "it would let the next navigation end the browser (A25)");
}

#[test]
fn a_tab_is_reached_by_the_short_name_that_tools_give_it() {
    let mut bench = Bench::with_tab();
    bench.popup("T", "U", "SU", "P");
    let call = bench.call_to_target("t2", "Runtime.evaluate");
    let sent = bench.expect("SU", "Runtime.evaluate");
    bench.reply(&sent, "{}");
    assert_eq!(bench.result(call), "{}");
    let waiter = bench.waiter();
    let target = Some(TargetId::from("t2"));
    bench.input(Input::SelectTab { waiter, task: TaskId::default_task(), session: None, target });
    assert_eq!(bench.view().current, Some(TargetId::from("U")));
    let call = bench.call_to_target("t9", "Runtime.evaluate");
    assert_eq!(bench.error(call).to_string(), "`target_id`: t9 is no tab of this task; there are t1, t2");
}
