//! What tasks and their clients ask for, at random.

use std::time::Duration;

use bytes::Bytes;
use ostler_core::supervisor::{ClientCall, DialogAnswer, OnDialog};
use ostler_core::view::{DialogBridge, DialogPolicy};
use ostler_core::{Input, Waiter};

use super::browser::Session;
use super::clients::{Aim, What};
use super::schedule::{ANSWER_LIMIT, Schedule};
use super::{No, TASKS};

/// How long a request without a time of its own may take: waiting, and one command.
const REQUEST_LIMIT: u64 = 40_000_000;
/// The time that a request for the current tab brings along.
const CURRENT_TAB: Duration = Duration::from_secs(30);

impl Schedule {
    // --- tasks ---

    pub(crate) fn start_task(&mut self, task: usize) {
        let policies =
            [DialogPolicy::MustRespond, DialogPolicy::MustRespond, DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept];
        let policy = self.rng.pick(&policies).unwrap_or_default();
        let dialog_timeout = Duration::from_secs(if self.rng.percent(50) { 5 } else { 300 });
        let quiet = self.rng.percent(25);
        let bridges = [DialogBridge::Always, DialogBridge::Auto, DialogBridge::Auto, DialogBridge::Never];
        let dialog_bridge = self.rng.pick(&bridges).unwrap_or_default();
        self.policies.insert(task, (policy, dialog_timeout));
        self.answers_itself[task] |= policy != DialogPolicy::MustRespond;
        self.say(|| format!("task {} starts with {policy:?}", TASKS[task]));
        self.input(Input::StartTask {
            task: TASKS[task].into(),
            policy,
            dialog_timeout,
            quiet,
            dialog_bridge,
            dialogs_before: 0,
        });
    }

    pub(crate) fn task_changes(&mut self) {
        let task = self.rng.below(TASKS.len());
        if !self.policies.contains_key(&task) || self.rng.percent(30) {
            return self.start_task(task);
        }
        self.say(|| format!("task {} ends", TASKS[task]));
        for dialog in self.browser.dialogs.values_mut() {
            if self.owners.get(&dialog.tab) == Some(&task) {
                dialog.told = None;
            }
        }
        let left = self.owners.iter().filter(|(_, owner)| **owner == task).map(|(tab, _)| (*tab, self.now));
        self.left_at.extend(left);
        // Nobody waits for them any more: they are let go as they are.
        for (tab, state) in &mut self.browser.tabs {
            state.awaited &= self.owners.get(tab) != Some(&task);
        }
        self.policies.remove(&task);
        self.ending = true;
        self.input(Input::EndTask(TASKS[task].into()));
        self.ending = false;
        self.answers_itself[task] = false;
    }

    pub(crate) fn client_acts(&mut self) {
        let task = self.rng.below(TASKS.len());
        if !self.policies.contains_key(&task) && self.rng.percent(90) {
            return;
        }
        match self.rng.below(100) {
            0..=64 => self.call(task),
            65..=84 => self.answer(task),
            85..=88 => self.select_tab(task),
            89..=92 => {
                let waiter = self.clients.ask(What::Tab, task, self.now + REQUEST_LIMIT);
                self.input(Input::CurrentTab { waiter, task: TASKS[task].into(), timeout: CURRENT_TAB });
            }
            93..=95 => {
                let waiter = self.clients.ask(What::Interrupt, task, self.now + REQUEST_LIMIT);
                self.input(Input::Interrupt { waiter, task: TASKS[task].into() });
            }
            _ => {
                let open: Vec<u64> = self.clients.open.keys().copied().collect();
                if let Some(waiter) = self.rng.pick(&open) {
                    self.clients.cancel(waiter);
                    self.input(Input::Cancel(Waiter(waiter)));
                }
            }
        }
    }

    fn call(&mut self, task: usize) {
        const METHODS: [&str; 27] = [
            "Runtime.evaluate",
            "Runtime.evaluate",
            "Runtime.evaluate",
            "DOM.getDocument",
            "DOM.getDocument",
            "Page.captureScreenshot",
            "Input.dispatchMouseEvent",
            "Input.dispatchKeyEvent",
            "Page.navigate",
            "Page.navigate",
            "Page.reload",
            "Page.close",
            "Page.getNavigationHistory",
            "Network.getCookies",
            "Target.getTargets",
            "Browser.getVersion",
            "Target.createTarget",
            "Target.closeTarget",
            "Target.attachToTarget",
            "Page.handleJavaScriptDialog",
            "Page.enable",
            "Page.crash",
            "Debugger.disable",
            "Fetch.disable",
            "Debugger.enable",
            "Target.detachFromTarget",
            "Page.disable",
        ];
        let method = self.rng.pick(&METHODS).unwrap_or("Runtime.evaluate");
        // Such calls leave little of a tab.
        if matches!(method, "Page.crash" | "Page.navigate" | "Page.reload" | "Page.close") && self.rng.percent(70) {
            return;
        }
        let mark = self.clients.next_mark();
        let tabs: Vec<No> = self.browser.tabs.keys().copied().collect();
        let own = |(_, session): &(&No, &Session)| session.by_client && !session.supervised;
        let own: Vec<No> = self.browser.sessions.iter().filter(own).map(|(no, _)| *no).collect();
        let own = self.rng.pick(&own).map(|session| self.browser.session_name(session));
        let params = match method {
            // Its own session it may let go of as it likes.
            "Target.detachFromTarget" => match &own {
                Some(session) => format!(r#"{{"sessionId":"{session}","mark":{mark}}}"#),
                None => return,
            },
            "Page.disable" if own.is_none() => return,
            "Target.closeTarget" | "Target.attachToTarget" => {
                let tab = self.rng.pick(&tabs).unwrap_or(1);
                // Closing a held popup leaves its opener frozen for good (fact E3).
                if self.browser.tabs.get(&tab).is_some_and(|tab| tab.opener_proc.is_some()) {
                    return;
                }
                self.named.insert(tab);
                format!(r#"{{"targetId":"{}","mark":{mark}}}"#, self.browser.frame_name(tab))
            }
            "Page.navigate" => format!(r#"{{"url":"http://s{}.test/","mark":{mark}}}"#, self.rng.below(4)),
            "Page.handleJavaScriptDialog" => format!(r#"{{"accept":{},"mark":{mark}}}"#, self.rng.percent(50)),
            _ => format!(r#"{{"mark":{mark}}}"#),
        };
        let (mut session, mut frame, mut target) = (None, None, None);
        let mut aim = Aim::Current;
        match self.rng.below(10) {
            0..=4 => {}
            5..=6 => {
                let sessions: Vec<No> =
                    self.browser.sessions.iter().filter(|(_, s)| !s.worker).map(|(no, _)| *no).collect();
                session = self.rng.pick(&sessions).map(|session| self.browser.session_name(session));
                if self.rng.percent(3) {
                    session = Some("S0.7".to_owned());
                }
                aim = session.clone().map_or(aim, Aim::Session);
            }
            7..=8 => {
                let frames: Vec<No> = self.browser.frames.keys().copied().collect();
                let named = self.rng.pick(&frames);
                frame = named.map(|frame| self.browser.frame_name(frame));
                aim = named.map_or(aim, Aim::Frame);
            }
            _ => {
                let named = self.rng.pick(&tabs);
                target = named.map(|tab| self.browser.frame_name(tab));
                self.named.extend(named);
                aim = named.map_or(aim, Aim::Target);
            }
        }
        if method == "Page.disable" {
            (session, frame, target) = (own.clone(), None, None);
            aim = own.map_or(Aim::Current, Aim::Session);
        }
        let times = [1, 200, 3_000, 30_000];
        let timeout = Duration::from_millis(self.rng.pick(&times).unwrap_or(0));
        let on_dialog = if self.rng.percent(15) { OnDialog::Wait } else { OnDialog::Return };
        let what = What::Call { method, aim, waits_for_dialogs: on_dialog == OnDialog::Wait };
        let waiter = self.clients.ask(what, task, self.now + timeout.as_micros() as u64);
        self.say(|| {
            format!("{} calls {method} {params} on {session:?} {frame:?} {target:?} within {timeout:?}", TASKS[task])
        });
        self.input(Input::Call(ClientCall {
            waiter,
            task: TASKS[task].into(),
            session: session.map(Into::into),
            frame: frame.map(Into::into),
            target: target.map(Into::into),
            method: method.to_owned(),
            params: Some(params.into()),
            timeout,
            on_dialog,
        }));
    }

    fn answer(&mut self, task: usize) {
        let pending = self.views.get(&task).map(|view| view.pending_dialogs.clone()).unwrap_or_default();
        if pending.is_empty() && self.rng.percent(95) {
            return;
        }
        let named = self.rng.pick(&pending).map(|dialog| dialog.id.to_string());
        let dialog_id = if self.rng.percent(5) { Some("d-0".to_owned()) } else { named };
        let accept = self.rng.percent(60);
        let prompt_text = self.rng.percent(30).then(|| Bytes::from_static(b"\"typed\""));
        let waiter = self.clients.ask(What::Answer { accept }, task, self.now + ANSWER_LIMIT);
        self.say(|| format!("{} answers {dialog_id:?} with {accept}", TASKS[task]));
        self.input(Input::AnswerDialog(DialogAnswer {
            waiter,
            task: TASKS[task].into(),
            accept,
            prompt_text,
            dialog_id,
        }));
    }

    fn select_tab(&mut self, task: usize) {
        let (mut session, mut target) = (None, None);
        if self.rng.percent(30) {
            let sessions: Vec<No> = self.browser.sessions.keys().copied().collect();
            let named = self.rng.pick(&sessions);
            self.named.extend(named.and_then(|session| self.browser.tab_of_session(session)));
            session = named.map(|session| self.browser.session_name(session).into());
        } else {
            let tabs: Vec<No> = self.browser.tabs.keys().copied().collect();
            let named = self.rng.pick(&tabs);
            self.named.extend(named);
            target = named.map(|tab| self.browser.frame_name(tab).into());
        }
        let waiter = self.clients.ask(What::Tab, task, self.now + REQUEST_LIMIT);
        self.say(|| format!("{} selects {session:?} {target:?}", TASKS[task]));
        self.input(Input::SelectTab { waiter, task: TASKS[task].into(), session, target });
    }
}
