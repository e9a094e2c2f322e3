//! What passes between supervisor and browser: every message and effect goes through here, and is checked.

use std::sync::Arc;

use bytes::Bytes;
use ostler_core::supervisor::Outcome;
use ostler_core::view::{TabView, TaskView};
use ostler_core::{CallError, Effect, Input, TaskId, Timestamp, Waiter};

use super::browser::Tab;
use super::schedule::Schedule;
use super::wire::{self, Note};
use super::{No, TASKS};

/// How long after a time of silence what was said in it may still be on its way.
const CATCH_UP: u64 = 100_000;

impl Schedule {
    // --- the browser ---

    pub(crate) fn deliver(&mut self) {
        let Some((text, note)) = self.browser.out.deliver(&mut self.rng) else { return };
        self.say(|| format!("  ◀ {text}"));
        if note != Note::Nothing {
            self.on_note_before(note);
        }
        if !self.starting.is_empty() {
            self.starting.retain(|id| !text.starts_with(&format!(r#"{{"id":{id},"#)));
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
                let target = self.browser.sessions.get(&session).map_or(0, |session| session.target);
                let (ours, heard) = (self.is_opened_by_ours(target), self.browser.out.arrived);
                if let Some(tab) = self.browser.tabs.get_mut(&target).filter(|tab| tab.told.is_none()) {
                    tab.told = Some(heard);
                    tab.awaited &= ours;
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
                if let Some(known) = self.browser.dialogs.get_mut(&dialog) {
                    known.reached = known.reached.min(heard);
                }
                if let Some(known) = self.browser.dialogs.get_mut(&dialog).filter(|_| watched) {
                    (known.told, known.heard) = (Some(now), heard);
                }
            }
            Note::Asked(question, session) => {
                let (now, heard, known) = (self.now, self.browser.out.arrived, self.is_known(session));
                // Read so late that the supervisor may have given it up, and nothing is recorded of it then.
                let late = now <= self.slow_until + CATCH_UP;
                if let Some(asked) = self.browser.dialogs.get_mut(&question).filter(|_| known) {
                    (asked.told, asked.heard) = (Some(now), heard);
                    asked.crossed |= late;
                }
            }
            Note::Stuck(dialog) => {
                let heard = self.browser.out.arrived;
                if let Some(known) = self.browser.dialogs.get_mut(&dialog) {
                    known.stuck_heard = known.stuck_heard.min(heard);
                }
            }
            Note::Created(target) => {
                let ours = self.is_opened_by_ours(target);
                if let Some(tab) = self.browser.tabs.get_mut(&target) {
                    tab.awaited = ours;
                }
            }
            Note::Nothing => {}
        }
    }

    /// Returns whether a tab was opened by the page of a tab that a task has, the browser says so, and the connection
    /// has begun.
    fn is_opened_by_ours(&self, tab: No) -> bool {
        let opener = self.browser.tabs.get(&tab).and_then(|tab| tab.opener);
        self.starting.is_empty() && opener.is_some_and(|opener| self.owners.contains_key(&opener))
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
        let done = self.input(Input::Message(Bytes::from_static(message.as_bytes())));
        // A target of a kind that nobody knows is let go, whatever it is.
        if !message.contains("waitingForDebugger") {
            Self::unknown_changes_nothing(message, done);
        }
    }

    // --- the supervisor ---

    /// Gives the supervisor an input and does what it asks for; returns how many things that was.
    pub(crate) fn input(&mut self, input: Input) -> usize {
        self.heard = if let Input::Message(message) = &input { message.clone() } else { Bytes::new() };
        self.supervisor.handle_input(Timestamp(self.now), input);
        let (mut tabs_changed, mut done) = (false, 0);
        while let Some(effect) = self.supervisor.poll_effect() {
            done += usize::from(!matches!(effect, Effect::Record(..)));
            match effect {
                Effect::Send(_, message) => self.on_send(&message),
                Effect::Finish(waiter, outcome) => self.on_finish(waiter, &outcome),
                Effect::Publish(view) => tabs_changed |= self.on_view(view),
                Effect::Retire(task) => {
                    let task = index(&task);
                    self.views.remove(&task);
                    tabs_changed = true;
                }
                Effect::Record(task, event) => self.event_is_raw(index(&task), &event),
                Effect::Note(_) => {}
            }
        }
        if tabs_changed {
            self.no_tab_is_taken_from_its_person();
            self.each_tab_is_one_tasks();
        }
        self.just_left.clear();
        self.just_current.clear();
        self.check_step();
        done
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
                self.client_command_harms_nobody(&command, task);
                self.sent_where_it_was_meant(mark);
            }
            None => self.own_command_harms_nobody(&command),
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
        let asked = self.clients.on_finished(waiter.0, outcome, self.now);
        if let Ok(Outcome::Result(result)) = outcome
            && asked.is_some_and(|asked| asked.sent.is_some())
        {
            self.result_is_raw(result);
        }
    }

    /// Takes in a view; returns whether it may show other tabs than the one before.
    fn on_view(&mut self, view: Arc<TaskView>) -> bool {
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
        if let Some(before) = self.views.get(&task).cloned() {
            self.each_tab_keeps_its_place(&before, &view);
        }
        let current = self.current_tab(task);
        self.just_current.entry(task).or_insert(current);
        self.views.insert(task, view);
        changed
    }

    /// Returns the tab that a task's calls go to.
    pub(crate) fn current_tab(&self, task: usize) -> Option<No> {
        let current = self.views.get(&task)?.current.as_ref()?;
        Some(self.browser.number_in(current.as_str()))
    }

    /// Returns the tab that a task's calls went to when this batch began.
    pub(crate) fn tab_before(&self, task: usize) -> Option<No> {
        self.just_current.get(&task).copied().unwrap_or_else(|| self.current_tab(task))
    }

    /// Returns how much the supervisor keeps, written out.
    pub(crate) fn kept(&self) -> usize {
        format!("{:?}", self.supervisor).len()
    }

    /// Returns whether a tab is, or was until this batch, a task's.
    pub(crate) fn is_owned(&self, tab: No) -> bool {
        self.owners.contains_key(&tab) || self.just_left.contains(&tab)
    }

    /// Mixes what happened into the trace.
    fn note(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.trace = (self.trace ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

pub(crate) fn index(task: &TaskId) -> usize {
    TASKS.iter().position(|name| *name == task.as_str()).expect("a task that the schedule started")
}
