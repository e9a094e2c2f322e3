//! One random schedule: drives the supervisor as a daemon would, and everything around it at random.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ostler_core::supervisor::{ClientCall, DialogAnswer, OnDialog, Outcome, Scope};
use ostler_core::view::{DialogBridge, DialogPolicy, TabView, TaskView};
use ostler_core::{CallError, Effect, Input, Supervisor, TaskId, Timestamp, Waiter};

use super::bridge::SECRET;
use super::browser::{Browser, Tab};
use super::clients::{Clients, What};
use super::prng::Rng;
use super::wire::{self, Note};
use super::{No, TASKS};

/// The longest that an answer to a dialog may take: each try has its time, and there are ten.
const ANSWER_LIMIT: u64 = 34_000_000;
/// How long a request without a time of its own may take: waiting, and one command.
const REQUEST_LIMIT: u64 = 40_000_000;
/// The time that a request for the current tab brings along.
const CURRENT_TAB: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) now: u64,
    pub(crate) scope: Scope,
    pub(crate) online: bool,
    pub(crate) browser: Browser,
    pub(crate) clients: Clients,
    pub(crate) views: BTreeMap<usize, Arc<TaskView>>,
    /// Which task shows a tab.
    pub(crate) owners: BTreeMap<No, usize>,
    /// Tabs that left their task in this batch: what was sent to them before still may be.
    just_left: Vec<No>,
    pub(crate) policies: BTreeMap<usize, (DialogPolicy, Duration)>,
    /// Tasks of which some dialog may be answered by a policy that they had.
    pub(crate) answers_itself: [bool; TASKS.len()],
    /// Held sessions that have been announced, and when.
    pub(crate) held_since: BTreeMap<No, u64>,
    /// When the browser was last so slow that the supervisor may have given up waiting for it.
    pub(crate) slow_until: u64,
    pub(crate) leaving: bool,
    ending: bool,
    /// Everything published and told, in one number.
    pub(crate) trace: u64,
    supervisor: Supervisor,
    rng: Rng,
    sprinkles: Option<Rng>,
    loud: bool,
}

impl Schedule {
    pub(crate) fn new(seed: u64, sprinkled: bool) -> Self {
        let mut rng = Rng::new(seed);
        let scope = if rng.percent(50) { Scope::Own } else { Scope::Guest };
        let mut browser = Browser::new(1, 0, Rng::new(rng.next()));
        for _ in 0..rng.below(3) {
            browser.act();
        }
        Self {
            now: 1_000_000_000,
            scope,
            online: false,
            browser,
            clients: Clients::default(),
            views: BTreeMap::new(),
            owners: BTreeMap::new(),
            just_left: Vec::new(),
            policies: BTreeMap::new(),
            answers_itself: [false; TASKS.len()],
            held_since: BTreeMap::new(),
            slow_until: 0,
            leaving: false,
            ending: false,
            trace: 0,
            supervisor: Supervisor::new(SECRET),
            rng,
            sprinkles: sprinkled.then(|| Rng::new(!seed)),
            loud: std::env::var_os("OSTLER_TRACE").is_some(),
        }
    }

    /// Runs the whole schedule; returns how many steps it took.
    pub(crate) fn run(&mut self, steps: usize) -> usize {
        self.start_task(0);
        let mut taken = 0;
        while taken < steps {
            for _ in 0..150 {
                self.step();
            }
            taken += 150 + self.settle();
            self.check_at_rest(false);
            if self.rng.percent(30) {
                taken += self.pass(11_000_000);
                self.check_at_rest(true);
            }
        }
        if self.online {
            taken += self.leave();
        }
        taken
    }

    fn step(&mut self) {
        let pause = self.rng.below(400) as u64;
        self.advance(pause);
        if !self.online {
            return self.step_offline();
        }
        match self.rng.below(1000) {
            0..=379 if !self.browser.out.is_empty() => self.deliver(),
            380..=549 if !self.browser.inbox.is_empty() => self.browser.read_command(),
            550..=699 if !self.browser.runnable().is_empty() => self.run_some_process(),
            0..=699 => self.browser.act(),
            700..=879 => self.browser.act(),
            880..=979 => self.client_acts(),
            980..=992 => {
                let longer = [10_000, 300_000, 2_100_000, 31_000_000];
                let wait = self.rng.pick(&longer).unwrap_or(0);
                self.wait(wait);
            }
            993..=997 => self.task_changes(),
            _ => self.lose_connection(),
        }
        self.survive();
    }

    /// Passes time while the browser answers, but for what is blocked; or now and then does not.
    fn wait(&mut self, micros: u64) {
        if self.rng.percent(15) {
            self.slow_until = self.now + micros;
            return self.advance(micros);
        }
        self.pass(micros);
    }

    /// Passes time with nothing on its way; returns the steps that took.
    fn pass(&mut self, micros: u64) -> usize {
        let end = self.now + micros;
        let mut steps = self.settle();
        while let Some(due) = self.supervisor.poll_timeout().filter(|due| due.0 <= end) {
            self.advance(due.0.saturating_sub(self.now));
            steps += self.settle();
        }
        self.advance(end - self.now);
        steps
    }

    fn step_offline(&mut self) {
        match self.rng.below(10) {
            0..=3 => self.browser.act(),
            4..=6 => self.client_acts(),
            7 => self.task_changes(),
            8 => {
                self.say(|| "dialling".to_owned());
                self.input(Input::Dialling);
                if self.rng.percent(30) {
                    self.input(Input::Gone { why: "refused".to_owned(), retry_after: Some(Duration::from_secs(1)) });
                }
            }
            _ => self.connect(),
        }
    }

    /// Lets everything that is on its way arrive and be done; returns the steps that took.
    pub(crate) fn settle(&mut self) -> usize {
        let mut steps = 0;
        while self.online {
            let runnable = !self.browser.runnable().is_empty();
            if self.browser.out.is_empty() && self.browser.inbox.is_empty() && !runnable {
                break;
            }
            match self.rng.below(3) {
                0 => self.deliver(),
                1 => self.browser.read_command(),
                _ => self.run_some_process(),
            }
            self.survive();
            steps += 1;
            assert!(steps < 20_000, "the two never come to rest");
        }
        steps
    }

    fn run_some_process(&mut self) {
        let runnable = self.browser.runnable();
        if let Some(proc) = self.rng.pick(&runnable) {
            self.browser.run_process(proc);
        }
    }

    /// Passes time, waking the supervisor when it asked to be.
    pub(crate) fn advance(&mut self, micros: u64) {
        let end = self.now + micros;
        while let Some(due) = self.supervisor.poll_timeout().filter(|due| due.0 <= end) {
            self.now = self.now.max(due.0);
            self.input(Input::Tick);
        }
        self.now = end;
        self.check_holds();
    }

    // --- the browser ---

    fn deliver(&mut self) {
        let Some((text, note)) = self.browser.out.deliver(&mut self.rng) else { return };
        self.say(|| format!("  ◀ {text}"));
        if note != Note::Nothing {
            self.on_note_before(note);
        }
        let message = wire::encode(&text, self.sprinkles.as_mut());
        self.input(Input::Message(message));
        self.sprinkle();
        if let Note::Opening(dialog, session) = note
            && self.is_watched(session)
        {
            self.check_opening(dialog);
        }
    }

    fn on_note_before(&mut self, note: Note) {
        match note {
            Note::Attached(session) => {
                if self.browser.sessions.get(&session).is_some_and(|session| session.held) {
                    self.held_since.insert(session, self.now);
                }
            }
            Note::Orphaned(tab, dialog, session) => {
                let (heard, known) = (self.browser.out.arrived, self.is_known(session));
                let armed = |tab: &&mut Tab| known && tab.armed == Some(dialog);
                if let Some(tab) = self.browser.tabs.get_mut(&tab).filter(armed) {
                    tab.armed_heard = Some(heard);
                }
            }
            Note::Opening(dialog, session) => {
                let (now, heard, watched) = (self.now, self.browser.out.arrived, self.is_watched(session));
                if let Some(known) = self.browser.dialogs.get_mut(&dialog).filter(|_| watched) {
                    (known.told, known.heard) = (Some(now), heard);
                }
            }
            Note::Asked(question, session) => {
                let (now, heard, known) = (self.now, self.browser.out.arrived, self.is_known(session));
                if let Some(asked) = self.browser.dialogs.get_mut(&question).filter(|_| known) {
                    (asked.told, asked.heard) = (Some(now), heard);
                }
            }
            Note::Created(_) | Note::Nothing => {}
        }
    }

    /// Returns whether some task still has this session.
    fn is_known(&self, session: No) -> bool {
        let name = self.browser.session_name(session);
        self.views.values().any(|view| view.sessions.iter().any(|shown| shown.session_id.as_str() == name))
    }

    /// Returns whether some task watches a tab through this session.
    fn is_watched(&self, session: No) -> bool {
        let name = self.browser.session_name(session);
        let through = |tab: &TabView| tab.session_id.as_ref().is_some_and(|id| id.as_str() == name);
        self.views.values().any(|view| view.tabs.iter().any(through))
    }

    /// Sends what only a newer Chromium would send: it must change nothing.
    fn sprinkle(&mut self) {
        let Some(rng) = &mut self.sprinkles else { return };
        let message = match rng.below(12) {
            0 => r#"{"method":"Quantum.entangled","params":{"frameId":"F1.1","sessionId":"S1.1"}}"#,
            1 => r#"{"method":"Page.frameEntangled","params":{"frameId":"F1.1"},"sessionId":"S1.1"}"#,
            2 => {
                r#"{"method":"Target.attachedToTarget","params":{"sessionId":"Q","targetInfo":{"targetId":"Q","type":"quantum","title":"","url":"","attached":true},"waitingForDebugger":true}}"#
            }
            3 => {
                r#"{"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"Q","type":"quantum","title":"","url":"","attached":false}}}"#
            }
            4 => r#"{"kind":"neither"}"#,
            _ => return,
        };
        self.input(Input::Message(Bytes::from_static(message.as_bytes())));
    }

    fn connect(&mut self) {
        let another = self.browser.dead || self.rng.percent(20);
        if another {
            let mut next = Browser::new(self.browser.life + 1, self.browser.next, Rng::new(self.rng.next()));
            for _ in 0..self.rng.below(3) {
                next.act();
            }
            next.tally = std::mem::take(&mut self.browser.tally);
            self.browser = next;
            self.owners.clear();
        }
        self.say(|| format!("connected, {}", if another { "to another browser" } else { "to the same browser" }));
        self.online = true;
        let browser_id = Some(format!("uuid-{}", self.browser.life));
        self.input(Input::Connected { browser_id, scope: self.scope, answers_dialogs: false });
    }

    fn lose_connection(&mut self) {
        if !self.rng.percent(40) {
            return;
        }
        self.say(|| "lost".to_owned());
        self.online = false;
        self.browser.disconnect();
        self.held_since.clear();
        self.input(Input::Gone { why: "lost".to_owned(), retry_after: Some(Duration::from_secs(1)) });
    }

    /// If the browser went down, it must not have been a command that could be known to do that.
    fn survive(&mut self) {
        self.browser.sweep_questions();
        if self.browser.dead && self.online {
            assert!(self.browser.blame.is_none(), "{}", self.browser.blame.as_deref().unwrap_or_default());
            self.online = false;
            self.browser.disconnect();
            self.held_since.clear();
            self.input(Input::Gone { why: "the browser ended".to_owned(), retry_after: Some(Duration::from_secs(1)) });
        }
    }

    // --- the supervisor ---

    fn input(&mut self, input: Input) {
        self.supervisor.handle_input(Timestamp(self.now), input);
        let mut tabs_changed = false;
        while let Some(effect) = self.supervisor.poll_effect() {
            match effect {
                Effect::Send(_, message) => self.on_send(&message),
                Effect::Finish(waiter, outcome) => self.on_finish(waiter, &outcome),
                Effect::Publish(view) => tabs_changed |= self.on_view(view),
                Effect::Retire(task) => {
                    let task = index(&task);
                    self.views.remove(&task);
                    tabs_changed = true;
                }
                Effect::Record(task, event) => self.check_record(index(&task), &event),
                Effect::Note(_) => {}
            }
        }
        if tabs_changed {
            self.check_owners();
        }
        self.just_left.clear();
    }

    fn on_send(&mut self, message: &Bytes) {
        assert!(self.online, "sent without a connection: {message:?}");
        self.say(|| format!("  ▶ {}", String::from_utf8_lossy(message)));
        let browser = &self.browser;
        let command = wire::read(message, browser.out.arrived, |name| browser.number_in(name));
        if command.session == Some(0) {
            // A sprinkled target's session: nobody is there, and nobody answers.
            assert!(self.sprinkles.is_some(), "sent to a session of another browser: {message:?}");
            return;
        }
        match command.mark {
            Some(mark) => {
                let name = command.session.map(|session| self.browser.session_name(session));
                let task = self.clients.on_sent(mark, &command, name.as_deref(), self.now);
                self.check_client_command(&command, task);
            }
            None => self.check_own_command(&command),
        }
        if &*command.method == "Runtime.runIfWaitingForDebugger"
            && let Some(session) = command.session
        {
            self.held_since.remove(&session);
        }
        self.browser.inbox.push_back(command);
    }

    fn on_finish(&mut self, waiter: Waiter, outcome: &Result<Outcome, CallError>) {
        self.say(|| format!("  finished {}: {outcome:?}", waiter.0));
        if self.trace != 0 {
            // What a result holds goes through as it is, the news in it too.
            let told = match outcome {
                Ok(Outcome::Result(_)) => format!("{waiter:?} has a result"),
                outcome => format!("{waiter:?} {outcome:?}"),
            };
            self.note(told.as_bytes());
        }
        self.clients.on_finished(waiter.0, outcome, self.now);
    }

    /// Takes in a view; returns whether it may show other tabs than the one before.
    fn on_view(&mut self, view: Arc<TaskView>) -> bool {
        self.check_caps(&view);
        let task = index(&view.task);
        let changed = self.views.get(&task).is_none_or(|before| !Arc::ptr_eq(&before.tabs, &view.tabs));
        if changed {
            let shown: Vec<No> = view.tabs.iter().map(|tab| self.browser.number_in(tab.target_id.as_str())).collect();
            let left = self.owners.iter().filter(|(tab, owner)| **owner == task && !shown.contains(tab));
            let left: Vec<No> = left.map(|(tab, _)| *tab).collect();
            self.owners.retain(|tab, _| !left.contains(tab));
            self.just_left.extend(left);
            self.owners.extend(shown.into_iter().map(|tab| (tab, task)));
        }
        if self.trace != 0 {
            let json = view.state_json();
            self.note(json.as_bytes());
        }
        self.views.insert(task, view);
        changed
    }

    /// Returns whether a tab is, or was until this batch, a task's.
    pub(crate) fn is_owned(&self, tab: No) -> bool {
        self.owners.contains_key(&tab) || self.just_left.contains(&tab)
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending
    }

    /// Mixes what happened into the trace.
    fn note(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.trace = (self.trace ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    // --- tasks and clients ---

    fn start_task(&mut self, task: usize) {
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

    fn task_changes(&mut self) {
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
        self.policies.remove(&task);
        self.ending = true;
        self.input(Input::EndTask(TASKS[task].into()));
        self.ending = false;
        self.answers_itself[task] = false;
    }

    fn client_acts(&mut self) {
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
        const METHODS: [&str; 25] = [
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
        ];
        let method = self.rng.pick(&METHODS).unwrap_or("Runtime.evaluate");
        // Such calls leave little of a tab.
        if matches!(method, "Page.crash" | "Page.navigate" | "Page.reload" | "Page.close") && self.rng.percent(70) {
            return;
        }
        let mark = self.clients.next_mark();
        let tabs: Vec<No> = self.browser.tabs.keys().copied().collect();
        let params = match method {
            "Target.closeTarget" | "Target.attachToTarget" => {
                let tab = self.rng.pick(&tabs).unwrap_or(1);
                // Closing a held popup leaves its opener frozen for good (fact E3).
                if self.browser.tabs.get(&tab).is_some_and(|tab| tab.opener_proc.is_some()) {
                    return;
                }
                format!(r#"{{"targetId":"{}","mark":{mark}}}"#, self.browser.frame_name(tab))
            }
            "Page.handleJavaScriptDialog" => format!(r#"{{"accept":{},"mark":{mark}}}"#, self.rng.percent(50)),
            _ => format!(r#"{{"mark":{mark}}}"#),
        };
        let (mut session, mut frame, mut target) = (None, None, None);
        match self.rng.below(10) {
            0..=4 => {}
            5..=6 => {
                let sessions: Vec<No> =
                    self.browser.sessions.iter().filter(|(_, s)| !s.worker).map(|(no, _)| *no).collect();
                session = self.rng.pick(&sessions).map(|session| self.browser.session_name(session));
                if self.rng.percent(3) {
                    session = Some("S0.7".to_owned());
                }
            }
            7..=8 => {
                let frames: Vec<No> = self.browser.frames.keys().copied().collect();
                frame = self.rng.pick(&frames).map(|frame| self.browser.frame_name(frame));
            }
            _ => target = self.rng.pick(&tabs).map(|tab| self.browser.frame_name(tab)),
        }
        let times = [1, 200, 3_000, 30_000];
        let timeout = Duration::from_millis(self.rng.pick(&times).unwrap_or(0));
        let on_dialog = if self.rng.percent(15) { OnDialog::Wait } else { OnDialog::Return };
        let what = What::Call { method, session: session.clone(), waits_for_dialogs: on_dialog == OnDialog::Wait };
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
            session = self.rng.pick(&sessions).map(|session| self.browser.session_name(session).into());
        } else {
            let tabs: Vec<No> = self.browser.tabs.keys().copied().collect();
            target = self.rng.pick(&tabs).map(|tab| self.browser.frame_name(tab).into());
        }
        let waiter = self.clients.ask(What::Tab, task, self.now + REQUEST_LIMIT);
        self.say(|| format!("{} selects {session:?} {target:?}", TASKS[task]));
        self.input(Input::SelectTab { waiter, task: TASKS[task].into(), session, target });
    }

    /// The daemon ends in order: nothing stays blocked behind it (invariant 7).
    fn leave(&mut self) -> usize {
        self.leaving = true;
        let waiter = self.clients.ask(What::Leave, 0, self.now + ANSWER_LIMIT);
        self.say(|| "leaving".to_owned());
        self.input(Input::Leave(waiter));
        let steps = self.pass(2_000_000);
        self.check_left();
        self.pass(60_000_000);
        self.clients.assert_none_late(self.now);
        steps
    }

    pub(crate) fn say(&self, what: impl FnOnce() -> String) {
        if self.loud {
            println!("{:>12} {}", self.now, what());
        }
    }
}

pub(crate) fn index(task: &TaskId) -> usize {
    TASKS.iter().position(|name| *name == task.as_str()).expect("a task that the schedule started")
}
