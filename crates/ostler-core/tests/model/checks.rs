//! What must hold, compared with the model browser itself.

use ostler_core::cdp::envelope::WireEvent;
use ostler_core::supervisor::Scope;
use ostler_core::view::{
    ClosedBy, DialogKind, MAX_CONSOLE, MAX_FRAMES, MAX_OOPIF_DEPTH, MAX_RECENT_DIALOGS, TabState, TaskView,
};

use super::No;
use super::bridge::Way;
use super::browser::Hold;
use super::clients::What;
use super::dialogs::State;
use super::schedule::Schedule;
use super::wire::Command;

/// How long a held target may wait, at most (design consequence 4).
const HOLD: u64 = 2_000_000;
/// How long a call may go on that a dialog blocks: until it is known that it does, or while it is being
/// answered, which can take some tries.
const SUSPICION: u64 = 2_000_000;
/// How long it may take until it is known that a frame may ask over the bridge.
const LOOK: u64 = 4_000_000;

impl Schedule {
    // --- at any time ---

    /// No held target waits longer than its deadline (invariant 2).
    pub(crate) fn check_holds(&self) {
        for (session, since) in &self.held_since {
            let there = self.browser.sessions.get(session).is_some_and(|session| session.held);
            assert!(
                !there || !self.online || self.now <= since + HOLD,
                "session {session} has been held since {since}"
            );
        }
    }

    /// A command of the supervisor's own: to whom it may go, and which answers it may give.
    pub(crate) fn check_own_command(&self, command: &Command) {
        let Some(session) = command.session else { return self.check_browser_command(command) };
        let Some(tab) = self.browser.tab_of_session(session) else { return };
        if &*command.method == "Runtime.runIfWaitingForDebugger" {
            return;
        }
        let owned = self.is_owned(tab);
        assert!(owned, "{} was sent to tab {tab}, which no task has", command.method);
        if &*command.method == "Page.handleJavaScriptDialog" {
            assert_eq!(self.browser.sessions[&session].target, tab, "only a tab's root may answer (fact A3)");
            self.check_answer(command.params.accept.expect("an answer says which"), tab, false);
        }
        if let Some(accept) = command.params.gives()
            && self.browser.question_of(command, session).is_some()
        {
            self.check_answer(accept, tab, true);
        }
    }

    fn check_browser_command(&self, command: &Command) {
        if &*command.method == "Target.attachToTarget" && self.scope == Scope::Guest {
            let named = command.params.target_id.as_deref().map_or(0, |name| self.browser.number_in(name));
            let popup = self.browser.tabs.get(&named).is_none_or(|tab| tab.access);
            assert!(popup || self.is_owned(named), "attached to tab {named}, which no task has");
        }
    }

    /// Only those answers are given that somebody gave (invariant 2).
    fn check_answer(&self, accept: bool, tab: No, bridged: bool) {
        let task = self.owners.get(&tab).copied();
        let by_policy = task.is_some_and(|task| self.answers_itself[task]);
        let by_agent = task.is_some_and(|task| {
            self.clients.has_answered(task, accept) || bridged && self.clients.has_answered_raw(task)
        });
        let timeout =
            task.and_then(|task| self.policies.get(&task)).map_or(0, |(_, timeout)| timeout.as_micros() as u64);
        let by_watchdog = !accept
            && self.browser.dialogs.values().any(|dialog| {
                dialog.tab == tab && dialog.told.is_some_and(|told| told + timeout.min(5_000_000) <= self.now)
            });
        let at_the_end = !accept && (self.leaving || self.ending);
        assert!(by_policy || by_agent || by_watchdog || at_the_end, "nobody gave the answer {accept} on tab {tab}");
    }

    /// A client's call goes to nobody else's tab.
    pub(crate) fn check_client_command(&self, command: &Command, task: usize) {
        let Some(tab) = command.session.and_then(|session| self.browser.tab_of_session(session)) else { return };
        if let Some(owner) = self.owners.get(&tab) {
            assert_eq!(*owner, task, "{} of one task went to another one's tab {tab}", command.method);
        }
    }

    pub(crate) fn check_record(&self, task: usize, event: &WireEvent) {
        let Some(session) = event.session.as_ref().map(|name| self.browser.number_in(name.as_str())) else { return };
        if let Some(owner) = self.browser.tab_of_session(session).and_then(|tab| self.owners.get(&tab)) {
            assert_eq!(*owner, task, "{} was recorded for another task", event.method);
        }
    }

    pub(crate) fn check_caps(&self, view: &TaskView) {
        assert!(view.recent_dialogs.len() <= MAX_RECENT_DIALOGS);
        assert!(view.console.len() <= MAX_CONSOLE);
        assert!(view.frame_tree.as_ref().is_none_or(|tree| tree.children.len() < MAX_FRAMES));
    }

    /// No two tasks show one tab.
    pub(crate) fn check_owners(&mut self) {
        let mut owners = std::collections::BTreeMap::new();
        for (task, view) in &self.views {
            for tab in view.tabs.iter() {
                let tab = self.browser.number_in(tab.target_id.as_str());
                let before = owners.insert(tab, *task);
                assert!(before.is_none() || tab == 0, "tab {tab} is shown by two tasks");
            }
        }
        self.owners = owners;
    }

    /// A dialog that was announced is in the view at once (invariant 2).
    pub(crate) fn check_opening(&self, number: No) {
        let Some(dialog) = self.browser.dialogs.get(&number).filter(|dialog| dialog.told.is_some()) else { return };
        let frame = self.browser.frame_name(dialog.frame);
        let shown = self.views.values().any(|view| {
            view.pending_dialogs
                .iter()
                .any(|pending| pending.frame_id.as_str() == frame && pending.kind.as_str() == dialog.kind)
        });
        assert!(shown, "dialog {number} opened in {frame} and is not pending");
    }

    // --- at rest ---

    /// Nothing is on its way: what is known is what is so. `long` says that time has passed, too.
    pub(crate) fn check_at_rest(&mut self, long: bool) {
        self.clients.assert_none_late(self.now);
        if !self.online {
            return;
        }
        self.check_life();
        self.check_trees();
        self.check_dialogs();
        self.check_blocked_calls();
        if long {
            self.check_nothing_unread();
            self.check_nothing_held();
            self.check_supervised();
        }
        self.browser.dialogs.retain(|_, dialog| !matches!(dialog.state, State::Answered | State::Ended));
    }

    /// Nothing of an earlier browser is left (invariant 5).
    fn check_life(&self) {
        let ours = |name: &str| self.browser.number_in(name) != 0;
        for view in self.views.values() {
            for tab in view.tabs.iter() {
                assert!(ours(tab.target_id.as_str()), "{} is of an earlier browser", tab.target_id);
                assert!(tab.session_id.as_ref().is_none_or(|id| ours(id.as_str())), "{tab:?}");
            }
            for dialog in view.pending_dialogs.iter() {
                assert!(ours(dialog.frame_id.as_str()), "{dialog:?} is of an earlier browser");
            }
            for session in view.sessions.iter() {
                let session = self.browser.number_in(session.session_id.as_str());
                assert!(self.browser.sessions.contains_key(&session), "session {session} is shown and gone");
            }
        }
    }

    /// The shown tree is the union of the trees of all sessions (invariant 4).
    fn check_trees(&self) {
        for view in self.views.values() {
            for shown in view.tabs.iter() {
                let tab = self.browser.number_in(shown.target_id.as_str());
                assert!(self.browser.tabs.contains_key(&tab), "tab {tab} is shown and gone");
                let unlike = shown.url != self.browser.url_of(tab);
                assert!(!unlike, "tab {tab} is shown at {:?} and is at {:?}", shown.url, self.browser.url_of(tab));
            }
            let Some(tab) = view.current_tab() else { continue };
            let no = self.browser.number_in(tab.target_id.as_str());
            if tab.state != TabState::Ready || !self.tells_all(no) {
                continue;
            }
            let Some(tree) = &view.frame_tree else { unreachable!("tab {no} is ready and shows no tree") };
            assert_eq!(tree.top.url, self.browser.url_of(no), "top of tab {no}");
            let mut told: Vec<_> = tree
                .children
                .iter()
                .map(|frame| {
                    let session = frame.session_id.as_ref().map(|id| id.to_string());
                    (
                        frame.frame_id.to_string(),
                        frame.parent_frame_id.to_string(),
                        frame.url.clone(),
                        frame.is_oopif,
                        session,
                    )
                })
                .collect();
            let (mut real, truncated) = self.real_tree(no);
            told.sort();
            real.sort();
            assert_eq!(told, real, "the frames of tab {no}, told and real");
            assert_eq!(tree.truncated, truncated, "whether frames of tab {no} were left out");
        }
    }

    /// Returns whether all renderers of a tab have told what they have.
    fn tells_all(&self, tab: No) -> bool {
        let state = &self.browser.tabs[&tab];
        if state.crashed || state.armed.is_some() || state.hold != Hold::Free {
            return false;
        }
        self.browser.frames_of(tab).into_iter().all(|frame| {
            let known = &self.browser.frames[&frame];
            if known.pending.is_some() || known.crashed || !self.browser.is_free(known.proc) {
                return false;
            }
            let sessions = self.browser.sessions_on(frame);
            let ready = |session: &No| {
                let session = &self.browser.sessions[session];
                session.supervised && session.auto_attach && session.page && session.runtime
            };
            (!known.oopif && known.parent.is_some()) || sessions.iter().any(ready)
        })
    }

    /// Returns the frames below the top as the contract shows them, and whether some are left out.
    #[expect(clippy::type_complexity, reason = "the fields of one frame, made to be compared")]
    fn real_tree(&self, tab: No) -> (Vec<(String, String, String, bool, Option<String>)>, bool) {
        let browser = &self.browser;
        let mut found = Vec::new();
        let mut truncated = false;
        for frame in browser.below(tab) {
            let known = &browser.frames[&frame];
            let above = browser.above(frame).into_iter().filter(|above| browser.frames[above].oopif).count();
            if above + usize::from(known.oopif) > MAX_OOPIF_DEPTH {
                truncated = true;
                continue;
            }
            let supervised =
                browser.sessions_on(frame).into_iter().find(|session| browser.sessions[session].supervised);
            found.push((
                browser.frame_name(frame),
                browser.frame_name(known.parent.unwrap_or(0)),
                browser.url_of(frame),
                known.oopif,
                supervised.map(|session| browser.session_name(session)),
            ));
        }
        (found, truncated)
    }

    /// What is open is pending, what is over is not, and who ended it is told (invariant 2).
    fn check_dialogs(&self) {
        for (number, dialog) in &self.browser.dialogs {
            if dialog.told.is_none() || !self.owners.contains_key(&dialog.tab) {
                continue;
            }
            let frame = self.browser.frame_name(dialog.frame);
            let message = if dialog.kind == "beforeunload" { String::new() } else { format!("m{number}") };
            let pending = self.views.values().flat_map(|view| view.pending_dialogs.iter()).find(|pending| {
                pending.frame_id.as_str() == frame && pending.message == message && pending.kind.as_str() == dialog.kind
            });
            let answerable = pending.map(|pending| pending.answerable);
            let looked_at = dialog.way != Some(Way::Request) || dialog.told.is_some_and(|told| told + LOOK < self.now);
            match dialog.state {
                // Whether it may ask is asked of a page that may be blocked itself.
                State::Open if !looked_at => {}
                State::Open => assert_eq!(answerable, Some(true), "dialog {number} {dialog:?} is open"),
                State::Lost | State::Unseen => {
                    assert_eq!(answerable, Some(false), "dialog {number} {dialog:?} is open and cannot be answered");
                }
                // A frame asks before it is left again and again, always in the same words.
                State::Answered | State::Ended if message.is_empty() => {}
                // Nothing but the reply to an answer tells that a script has it, and that came too late to count.
                State::Answered | State::Ended
                    if dialog.way.is_some() && dialog.told.is_some_and(|told| told <= self.slow_until) => {}
                State::Answered | State::Ended => {
                    assert_eq!(answerable, None, "dialog {number} {dialog:?} is over");
                    let unclear = dialog.crossed || dialog.told.is_some_and(|told| told <= self.slow_until);
                    // It can end before it is known that it may be asked at all.
                    let unasked = dialog.way == Some(Way::Request) && dialog.state == State::Ended;
                    // Whose answer it was, the reply to ours will tell.
                    if !unclear && !unasked && !self.browser.is_being_answered(*number) {
                        self.check_closed(*number, &message, dialog.state);
                    }
                }
            }
        }
        for (task, view) in &self.views {
            for pending in view.pending_dialogs.iter().filter(|pending| pending.answerable) {
                let frame = self.browser.number_in(pending.frame_id.as_str());
                let mut of_frame = self.browser.dialogs.values().filter(|dialog| dialog.frame == frame);
                let slow = pending.opened_at * 1e6 <= self.slow_until as f64;
                let real = slow || of_frame.any(|dialog| dialog.state == State::Open);
                assert!(real, "task {task} shows {pending:?}, which is not open");
            }
            for pending in view.pending_dialogs.iter().filter(|pending| pending.kind == DialogKind::Unknown) {
                let tab = self.browser.number_in(pending.frame_id.as_str());
                let free = self.browser.frames.get(&tab).is_none_or(|frame| self.browser.is_free(frame.proc));
                let crashed = self.browser.tabs.get(&tab).is_some_and(|tab| tab.crashed);
                assert!(!free || crashed, "task {task} shows {pending:?} and tab {tab} answers");
            }
        }
    }

    fn check_closed(&self, number: No, message: &str, state: State) {
        let views = || self.views.values().filter(|view| view.recent_dialogs.len() < MAX_RECENT_DIALOGS);
        let closed = views().flat_map(|view| view.recent_dialogs.iter()).find(|closed| closed.message == message);
        let Some(closed) = closed else {
            assert!(views().count() < self.views.len(), "dialog {number} is over and nowhere to be seen");
            return;
        };
        assert_eq!(closed.closed_by == ClosedBy::Remote, state == State::Ended, "{closed:?} was {state:?}");
    }

    /// A call that a dialog blocks has ended (invariant 1).
    fn check_blocked_calls(&self) {
        for (waiter, asked) in &self.clients.open {
            let What::Call { method, waits_for_dialogs: false, .. } = &asked.what else { continue };
            if asked.sent_at + SUSPICION > self.now
                || !matches!(*method, "Runtime.evaluate" | "DOM.getDocument" | "Page.captureScreenshot")
            {
                continue;
            }
            let Some(session) = asked.sent.and_then(|session| self.browser.sessions.get(&session)) else { continue };
            let Some(frame) = self.browser.frames.get(&session.target).filter(|_| session.supervised) else { continue };
            let blocking = self.browser.dialogs.iter().find(|(_, dialog)| {
                dialog.tab == frame.tab
                    // A paused page answers (fact B5).
                    && dialog.way != Some(Way::Pause)
                    && matches!(dialog.state, State::Open | State::Lost)
                    && dialog.told.is_some_and(|told| told + SUSPICION < self.now)
                    && self.browser.frames.get(&dialog.frame).is_some_and(|asking| asking.proc == frame.proc)
            });
            let by_policy = self.owners.get(&frame.tab).is_none_or(|task| self.answers_itself[*task]);
            assert!(blocking.is_none() || by_policy, "call {waiter} {asked:?} waits for dialog {blocking:?}");
        }
    }

    /// No page waits in a question that nobody has looked at (invariant 2).
    fn check_nothing_unread(&self) {
        for (number, question) in &self.browser.questions {
            let told = self.browser.dialogs[number].told.is_some();
            let owned = self.browser.tab_of_session(question.session).is_some_and(|tab| self.owners.contains_key(&tab));
            assert!(told || !owned, "question {number} {question:?} was never looked at");
        }
    }

    fn check_nothing_held(&self) {
        for (tab, state) in &self.browser.tabs {
            assert_eq!(state.hold, Hold::Free, "tab {tab} is still held");
        }
        for (frame, state) in &self.browser.frames {
            assert!(state.pending.is_none(), "frame {frame} is still held");
        }
    }

    /// In a browser of our own, every tab that came since is some task's.
    fn check_supervised(&self) {
        if self.scope == Scope::Guest || self.policies.is_empty() {
            return;
        }
        for tab in self.browser.tabs.keys() {
            let attached = !self.browser.sessions_on(*tab).is_empty();
            assert!(!attached || self.owners.contains_key(tab), "tab {tab} is attached and nobody's");
        }
    }

    /// After leaving nothing is held, and no dialog that could be answered is open (invariant 7).
    pub(crate) fn check_left(&self) {
        self.check_nothing_held();
        for (number, dialog) in &self.browser.dialogs {
            let ours = dialog.told.is_some() && self.owners.contains_key(&dialog.tab);
            assert!(!ours || dialog.state != State::Open, "dialog {number} is left open");
        }
    }
}
