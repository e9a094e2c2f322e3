//! Faults that random schedules found, each shrunk by hand to the few messages that it takes.

use std::sync::Arc;
use std::time::Duration;

use ostler_core::supervisor::{BridgeSecret, ClientCall, DialogAnswer, OnDialog, Outcome, Scope};
use ostler_core::view::{ClosedBy, DialogBridge, DialogPolicy, TabState, TaskView};
use ostler_core::{CallError, Effect, Input, Supervisor, Timestamp, Waiter};

/// A supervisor with the browser's side of the wire in the test's hands.
struct Wire {
    supervisor: Supervisor,
    now: u64,
    /// What was sent and is unanswered: the id, and the whole command.
    sent: Vec<(u64, String)>,
    outcomes: Vec<(u64, Result<Outcome, CallError>)>,
    view: Option<Arc<TaskView>>,
}

impl Wire {
    /// Connects to a browser that has one tab, `T`, supervised through session `R`.
    fn with_tab(scope: Scope) -> Self {
        let mut wire = Self::new();
        wire.connect(scope);
        wire.create_target();
        if scope == Scope::Guest {
            wire.answer_all();
            wire.input(Input::CurrentTab {
                waiter: Waiter(99),
                task: "default".into(),
                timeout: Duration::from_secs(30),
            });
        }
        wire.attach_page("R", false);
        wire.answer_all();
        wire
    }

    fn new() -> Self {
        let (supervisor, sent, outcomes) = (Supervisor::new(BridgeSecret::new([1, 2, 3])), Vec::new(), Vec::new());
        let mut wire = Self { supervisor, now: 1_000_000, sent, outcomes, view: None };
        wire.start_task();
        wire
    }

    fn start_task(&mut self) {
        self.input(Input::StartTask {
            task: "default".into(),
            policy: DialogPolicy::MustRespond,
            dialog_timeout: Duration::from_secs(300),
            quiet: false,
            dialog_bridge: DialogBridge::Auto,
            dialogs_before: 0,
        });
    }

    fn connect(&mut self, scope: Scope) {
        self.input(Input::Connected { browser_id: Some("B".to_owned()), scope, answers_dialogs: false });
    }

    fn create_target(&mut self) {
        self.tell(r#"{"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"T","type":"page","title":"x","url":"http://a/"}}}"#);
    }

    /// Announces an OOPIF by its target alone: nobody is attached to it.
    fn create_frame_target(&mut self, frame: &str, parent: &str) {
        self.tell(&format!(
            r#"{{"method":"Target.targetCreated","params":{{"targetInfo":{{"targetId":"{frame}","type":"iframe","title":"","url":"http://b/","parentFrameId":"{parent}"}}}}}}"#
        ));
    }

    fn attach_page(&mut self, session: &str, held: bool) {
        self.tell(&format!(
            r#"{{"method":"Target.attachedToTarget","params":{{"sessionId":"{session}","targetInfo":{{"targetId":"T","type":"page","title":"x","url":"http://a/"}},"waitingForDebugger":{held}}}}}"#
        ));
    }

    /// Announces frame `F` as an OOPIF on session `O`.
    fn attach_oopif(&mut self) {
        self.tell(r#"{"method":"Page.frameAttached","params":{"frameId":"F","parentFrameId":"T"},"sessionId":"R"}"#);
        self.tell(r#"{"method":"Target.attachedToTarget","params":{"sessionId":"O","targetInfo":{"targetId":"F","type":"iframe","url":"http://b/","parentFrameId":"T"},"waitingForDebugger":false},"sessionId":"R"}"#);
    }

    fn open_dialog(&mut self, frame: &str) {
        self.tell(&format!(
            r#"{{"method":"Page.javascriptDialogOpening","params":{{"url":"","frameId":"{frame}","message":"in {frame}","type":"confirm","defaultPrompt":""}},"sessionId":"R"}}"#
        ));
    }

    fn close_dialog(&mut self, frame: &str) {
        self.tell(&format!(
            r#"{{"method":"Page.javascriptDialogClosed","params":{{"frameId":"{frame}","result":false}},"sessionId":"R"}}"#
        ));
    }

    fn tell(&mut self, message: &str) {
        self.input(Input::Message(message.to_owned().into()));
    }

    fn input(&mut self, input: Input) {
        self.supervisor.handle_input(Timestamp(self.now), input);
        while let Some(effect) = self.supervisor.poll_effect() {
            match effect {
                Effect::Send(_, message) => {
                    let text = String::from_utf8(message.to_vec()).expect("commands are text");
                    let id = text.strip_prefix(r#"{"id":"#).and_then(|rest| rest.split_once(','));
                    let id = id.and_then(|(id, _)| id.parse().ok()).expect("a command begins with its id");
                    self.sent.push((id, text));
                }
                Effect::Finish(waiter, outcome) => self.outcomes.push((waiter.0, outcome)),
                Effect::Publish(view) => self.view = Some(view),
                Effect::Record(..) | Effect::Note(_) | Effect::Retire(_) => {}
            }
        }
    }

    fn wait(&mut self, seconds: u64) {
        let end = self.now + seconds * 1_000_000;
        while let Some(due) = self.supervisor.poll_timeout().filter(|due| due.0 <= end) {
            self.now = due.0;
            self.input(Input::Tick);
        }
        self.now = end;
    }

    /// Answers one command, the oldest of its method.
    fn answer(&mut self, method: &str, body: &str) {
        let at = self.sent.iter().position(|(_, text)| text.contains(&format!("\"{method}\"")));
        let (id, _) = self.sent.remove(at.expect("it was sent"));
        self.tell(&format!(r#"{{"id":{id},{body}}}"#));
    }

    /// Answers all that was sent, as a browser does that has nothing to say.
    fn answer_all(&mut self) {
        while !self.sent.is_empty() {
            let (id, text) = self.sent.remove(0);
            let result = if text.contains("Target.attachToTarget") { r#"{"sessionId":"R"}"# } else { "{}" };
            self.tell(&format!(r#"{{"id":{id},"result":{result}}}"#));
        }
    }

    fn sends(&self, method: &str) -> usize {
        self.sent.iter().filter(|(_, text)| text.contains(&format!("\"{method}\""))).count()
    }

    fn call(&mut self, waiter: u64, method: &str, session: Option<&str>) {
        self.call_on(waiter, method, session, None);
    }

    fn call_in_target(&mut self, waiter: u64, method: &str, target: &str) {
        self.call_on(waiter, method, None, Some(target));
    }

    fn call_on(&mut self, waiter: u64, method: &str, session: Option<&str>, target: Option<&str>) {
        self.input(Input::Call(ClientCall {
            waiter: Waiter(waiter),
            task: "default".into(),
            session: session.map(Into::into),
            frame: None,
            target: target.map(Into::into),
            method: method.to_owned(),
            params: None,
            timeout: Duration::from_secs(30),
            on_dialog: OnDialog::Return,
        }));
    }

    fn answer_dialog(&mut self, waiter: u64) {
        self.input(Input::AnswerDialog(DialogAnswer {
            waiter: Waiter(waiter),
            task: "default".into(),
            accept: true,
            prompt_text: None,
            dialog_id: None,
        }));
    }

    fn view(&self) -> &TaskView {
        self.view.as_ref().expect("a task publishes its view")
    }

    fn frames(&self) -> Vec<String> {
        let tree = self.view().frame_tree.as_ref().expect("a tab shows its tree");
        tree.children.iter().map(|frame| frame.frame_id.to_string()).collect()
    }
}

#[test]
fn a_dialog_that_opens_while_the_first_is_being_answered_is_lost_and_says_so() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.attach_oopif();
    wire.answer_all();
    wire.open_dialog("T");
    wire.answer_dialog(1);
    wire.open_dialog("F");
    wire.close_dialog("T");
    let pending = &wire.view().pending_dialogs;
    assert_eq!((pending.len(), pending[0].frame_id.as_str(), pending[0].answerable), (1, "F", false));
}

#[test]
fn an_oopif_whose_session_goes_before_it_is_removed_under_its_dialog_disarms_the_tab() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.attach_oopif();
    wire.answer_all();
    wire.open_dialog("F");
    wire.tell(r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"O"},"sessionId":"R"}"#);
    wire.tell(r#"{"method":"Page.frameDetached","params":{"frameId":"F","reason":"remove"},"sessionId":"R"}"#);
    assert_eq!((wire.sends("Page.disable"), wire.sends("Page.reload")), (1, 0));
    wire.call(1, "Page.navigate", None);
    assert_eq!(wire.sends("Page.navigate"), 0, "it would end the browser (fact A25)");
}

#[test]
fn a_tab_whose_recovery_was_cut_short_is_reloaded_before_page_is_enabled() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.attach_oopif();
    wire.answer_all();
    wire.open_dialog("F");
    wire.tell(r#"{"method":"Page.frameDetached","params":{"frameId":"F","reason":"remove"},"sessionId":"R"}"#);
    wire.sent.clear();
    wire.input(Input::Gone { why: "lost".to_owned(), retry_after: Some(Duration::from_secs(1)) });
    assert!(wire.sent.is_empty(), "nothing is sent without a connection: {:?}", wire.sent);
    wire.connect(Scope::Own);
    wire.create_target();
    wire.attach_page("R", false);
    assert_eq!((wire.sends("Page.enable"), wire.sends("Page.reload")), (0, 1));
    wire.answer_all();
    wire.tell(r#"{"method":"Runtime.executionContextsCleared","params":{},"sessionId":"R"}"#);
    assert_eq!(wire.sends("Page.enable"), 1);
}

#[test]
fn a_first_scripts_dialog_told_before_its_frames_navigation_stays_open() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.attach_oopif();
    wire.answer_all();
    wire.open_dialog("F");
    wire.tell(r#"{"method":"Page.frameNavigated","params":{"frame":{"id":"F","parentId":"T","url":"http://b/2","securityOrigin":"http://b"}},"sessionId":"O"}"#);
    assert_eq!(wire.view().pending_dialogs.len(), 1);
}

#[test]
fn a_removed_frames_late_answers_do_not_bring_it_back() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.attach_oopif();
    wire.tell(r#"{"method":"Page.frameDetached","params":{"frameId":"F","reason":"remove"},"sessionId":"R"}"#);
    let tree = r#""result":{"frameTree":{"frame":{"id":"F","parentId":"T","url":"http://b/"}}}"#;
    wire.answer("Page.getFrameTree", tree);
    assert_eq!(wire.frames(), Vec::<String>::new());
}

#[test]
fn a_tree_that_was_read_before_a_frame_left_does_not_change_it() {
    let mut wire = Wire::new();
    wire.connect(Scope::Own);
    wire.attach_page("R", false);
    wire.attach_oopif();
    wire.tell(r#"{"method":"Page.frameNavigated","params":{"frame":{"id":"F","parentId":"T","url":"http://b/new"}},"sessionId":"O"}"#);
    let tree = r#""result":{"frameTree":{"frame":{"id":"T","url":"http://a/"},"childFrames":[{"frame":{"id":"F","parentId":"T","url":"http://a/old"}}]}}"#;
    wire.answer("Page.getFrameTree", tree);
    let tree = wire.view().frame_tree.clone().expect("a tree");
    assert_eq!((tree.children[0].url.as_str(), tree.children[0].is_oopif), ("http://b/new", true));
}

#[test]
fn an_answer_that_waits_for_its_next_try_hears_when_the_dialog_closes() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.open_dialog("T");
    wire.answer_dialog(7);
    wire.answer("Page.handleJavaScriptDialog", r#""error":{"code":-32000,"message":"Not attached to an active page"}"#);
    wire.close_dialog("T");
    assert!(matches!(wire.outcomes.last(), Some((7, Err(CallError::NoDialog { .. })))), "{:?}", wire.outcomes);
    assert_eq!(wire.view().recent_dialogs[0].closed_by, ClosedBy::Remote);
}

#[test]
fn a_page_that_was_blocked_for_longer_than_any_command_is_ready_once_it_answers() {
    let mut wire = Wire::new();
    wire.connect(Scope::Own);
    wire.answer_all();
    wire.attach_page("R", false);
    wire.wait(2);
    wire.answer("Page.getNavigationHistory", r#""result":{}"#);
    wire.wait(3);
    assert_eq!(wire.view().tabs[0].state, TabState::Blocked);
    wire.wait(60);
    wire.answer("Page.enable", r#""result":{}"#);
    assert_eq!((wire.view().tabs[0].state, wire.view().pending_dialogs.len()), (TabState::Ready, 0));
}

#[test]
fn a_task_that_ends_while_its_tab_is_opened_has_it_closed() {
    let mut wire = Wire::new();
    wire.connect(Scope::Guest);
    wire.answer_all();
    wire.call(1, "Runtime.evaluate", None);
    assert_eq!(wire.sends("Target.createTarget"), 1);
    wire.input(Input::EndTask("default".into()));
    assert!(matches!(wire.outcomes.last(), Some((1, Err(CallError::UnknownTask { .. })))), "{:?}", wire.outcomes);
    wire.answer("Target.createTarget", r#""result":{"targetId":"N"}"#);
    assert_eq!((wire.sends("Target.closeTarget"), wire.sends("Target.attachToTarget")), (1, 0));
}

#[test]
fn a_popup_whose_attaching_is_answered_after_its_task_ended_is_resumed_and_then_detached() {
    let mut wire = Wire::with_tab(Scope::Guest);
    wire.tell(r#"{"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"P","type":"page","title":"","url":"","openerId":"T","canAccessOpener":true}}}"#);
    assert_eq!(wire.sends("Target.attachToTarget"), 1);
    wire.input(Input::EndTask("default".into()));
    wire.sent.retain(|(_, text)| text.contains("Target.attachToTarget"));
    wire.answer("Target.attachToTarget", r#""result":{"sessionId":"S"}"#);
    let order: Vec<_> = wire.sent.iter().map(|(_, text)| text.contains("Runtime.runIfWaitingForDebugger")).collect();
    assert_eq!(order, [true, false], "resume, then detach (fact E3): {:?}", wire.sent);
}

#[test]
fn a_lost_connection_does_not_take_a_tab_that_was_being_attached() {
    let mut wire = Wire::with_tab(Scope::Guest);
    wire.tell(r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"R"}}"#);
    assert_eq!(wire.sends("Target.attachToTarget"), 1);
    wire.input(Input::Gone { why: "lost".to_owned(), retry_after: Some(Duration::from_secs(1)) });
    assert_eq!(wire.view().tabs.len(), 1);
}

#[test]
fn a_dialog_of_a_frame_in_a_frame_that_nobody_is_attached_to_disarms_the_tab_when_the_outer_one_goes() {
    let mut wire = Wire::with_tab(Scope::Own);
    // Both were there before we came, and the root's own tree holds neither (fact C5).
    wire.create_frame_target("F", "T");
    wire.create_frame_target("G", "F");
    wire.open_dialog("in G");
    assert_eq!(wire.view().pending_dialogs.len(), 1);
    wire.tell(r#"{"method":"Target.targetDestroyed","params":{"targetId":"G"}}"#);
    assert_eq!((wire.sends("Page.disable"), wire.sends("Page.reload")), (1, 0), "it is fact A25");
    assert_eq!(wire.view().pending_dialogs.len(), 0);
}

#[test]
fn a_frame_that_goes_in_another_page_leaves_the_dialog_of_an_unknown_frame_alone() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.tell(r#"{"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"U","type":"page","title":"","url":"http://c/"}}}"#);
    wire.create_frame_target("F", "U");
    wire.create_frame_target("G", "F");
    wire.open_dialog("unknown");
    wire.tell(r#"{"method":"Target.targetDestroyed","params":{"targetId":"G"}}"#);
    assert_eq!((wire.sends("Page.disable"), wire.view().pending_dialogs.len()), (0, 1));
}

#[test]
fn what_runs_already_gets_no_resume_that_would_let_a_held_popup_go_before_its_set_up() {
    let mut wire = Wire::new();
    wire.connect(Scope::Own);
    wire.input(Input::EndTask("default".into()));
    wire.create_target();
    wire.attach_page("R", false);
    wire.start_task();
    wire.attach_oopif();
    assert_eq!(wire.sends("Page.enable"), 2, "the task takes the tab over that it finds, and its frame is set up");
    assert_eq!(wire.sends("Runtime.runIfWaitingForDebugger"), 0, "fact F3");
    wire.answer_all();

    // Nor does a frame that is met while the tab has to be left alone.
    wire.open_dialog("F");
    wire.tell(r#"{"method":"Page.frameDetached","params":{"frameId":"F","reason":"remove"},"sessionId":"R"}"#);
    assert_eq!(wire.sends("Page.disable"), 2);
    wire.tell(r#"{"method":"Target.attachedToTarget","params":{"sessionId":"Q","targetInfo":{"targetId":"G","type":"iframe","url":"http://b/","parentFrameId":"T"},"waitingForDebugger":false},"sessionId":"R"}"#);
    assert_eq!(wire.sends("Runtime.runIfWaitingForDebugger"), 0, "fact F3");
}

#[test]
fn a_popup_that_an_earlier_connection_left_held_is_resumed_though_it_is_not_said_to_wait() {
    let mut wire = Wire::new();
    wire.connect(Scope::Own);
    wire.tell(r#"{"method":"Target.attachedToTarget","params":{"sessionId":"P","targetInfo":{"targetId":"P","type":"page","title":"","url":"","openerId":"T","canAccessOpener":true},"waitingForDebugger":false}}"#);
    assert_eq!(wire.sends("Runtime.runIfWaitingForDebugger"), 1, "fact E3");
}

#[test]
fn a_page_with_a_worker_is_left_as_safely_as_any_while_a_frame_of_it_asks() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.attach_oopif();
    wire.tell(r#"{"method":"Target.attachedToTarget","params":{"sessionId":"W","targetInfo":{"targetId":"W","type":"worker","title":"","url":"w.js"},"waitingForDebugger":true},"sessionId":"R"}"#);
    wire.answer_all();
    wire.open_dialog("F");
    wire.call(1, "Page.reload", Some("R"));
    assert_eq!((wire.sends("Page.disable"), wire.sends("Page.reload")), (2, 0), "fact F38");
}

#[test]
fn a_frame_of_which_all_is_known_is_removed_and_the_dialog_of_an_unknown_one_stays() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.attach_oopif();
    wire.tell(r#"{"method":"Page.frameAttached","params":{"frameId":"G","parentFrameId":"F"},"sessionId":"O"}"#);
    wire.answer_all();
    // It is told of before its frame is, which some other session may know already.
    wire.open_dialog("unknown");
    wire.tell(r#"{"method":"Page.frameDetached","params":{"frameId":"G","reason":"remove"},"sessionId":"O"}"#);
    assert_eq!((wire.sends("Page.disable"), wire.view().pending_dialogs.len()), (0, 1));
    // In one that holds another process's it may have been.
    wire.tell(r#"{"method":"Page.frameDetached","params":{"frameId":"F","reason":"remove"},"sessionId":"R"}"#);
    assert_eq!((wire.sends("Page.disable"), wire.view().pending_dialogs.len()), (2, 0));
}

#[test]
fn a_dialog_that_was_lost_in_an_unknown_frame_outlives_the_removal_of_others() {
    let mut wire = Wire::with_tab(Scope::Own);
    wire.attach_oopif();
    wire.open_dialog("F");
    wire.open_dialog("unknown");
    wire.close_dialog("F");
    wire.tell(r#"{"method":"Page.frameDetached","params":{"frameId":"F","reason":"remove"},"sessionId":"R"}"#);
    assert_eq!((wire.sends("Page.disable"), wire.view().pending_dialogs.len()), (0, 1), "the way out is the agent's");
}

#[test]
fn a_foreign_popup_that_a_client_names_while_it_is_being_released_keeps_its_session() {
    let mut wire = Wire::with_tab(Scope::Guest);
    wire.tell(r#"{"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"P","type":"page","title":"","url":"","openerId":"FOREIGN","canAccessOpener":true}}}"#);
    assert_eq!(wire.sends("Target.attachToTarget"), 1, "it may be held (fact E2)");
    wire.tell(r#"{"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":{"targetId":"P","type":"page","title":"x","url":"http://c/"},"waitingForDebugger":false}}"#);
    wire.call_in_target(1, "Runtime.evaluate", "P");
    assert_eq!(wire.sends("Page.enable"), 1, "the session that is there is the tab's");
    wire.answer("Target.attachToTarget", r#""result":{"sessionId":"S"}"#);
    assert_eq!(wire.sends("Target.detachFromTarget"), 0);
}
