//! Dialogs as the model browser has them, compared with what tasks are shown of them (invariants 1 and 2).

use ostler_core::view::{ClosedBy, DialogKind, DialogPolicy, MAX_RECENT_DIALOGS};

use super::No;
use super::bridge::Way;
use super::clients::What;
use super::dialogs::{Dialog, State};
use super::schedule::Schedule;

/// How long a call may go on that a dialog blocks: until it is known that it does, or while it is being
/// answered, which can take some tries.
const SUSPICION: u64 = 2_000_000;
/// How long it may take until it is known that a frame may ask over the bridge.
const LOOK: u64 = 4_000_000;

impl Schedule {
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

    /// What is open is pending, what is over is not, and who ended it is told (invariant 2).
    pub(super) fn check_dialogs(&self) {
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
            match dialog.state {
                State::Open if self.may_be_looked_at(dialog) => {}
                State::Open => assert_eq!(answerable, Some(true), "dialog {number} {dialog:?} is open"),
                // Of a frame whose place nobody has told, the worse counts: it may be in one that was removed.
                State::Unseen if !self.is_placed(&frame) => {
                    assert_ne!(answerable, Some(true), "dialog {number} {dialog:?}")
                }
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
                    // The reply that would have told whether somebody else was quicker went with its page.
                    let there = self.browser.frames.contains_key(&dialog.frame);
                    let untold = dialog.way.is_some() && !(there && self.browser.procs.contains_key(&dialog.proc));
                    // Whose answer it was, the reply to ours will tell.
                    if !untold && !unclear && !unasked && !self.browser.is_being_answered(*number) {
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

    /// Returns whether it may not be known yet that its frame may ask: that is asked of pages that may be blocked themselves.
    pub(super) fn may_be_looked_at(&self, dialog: &Dialog) -> bool {
        dialog.way == Some(Way::Request) && dialog.told.is_none_or(|told| told + LOOK >= self.now)
    }

    fn is_placed(&self, frame: &str) -> bool {
        let trees = self.views.values().filter_map(|view| view.all_frames.as_ref());
        let mut children = trees.flat_map(|tree| &tree.children);
        children.any(|child| child.frame_id.as_str() == frame)
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

    /// A task that answers its dialogs by itself leaves none open, whenever it was told to.
    pub(super) fn check_policies(&self) {
        for (number, dialog) in &self.browser.dialogs {
            // What waits for its page's next document nobody can answer.
            let stuck = self.browser.tabs.get(&dialog.tab).is_some_and(|tab| tab.stuck);
            let task = self.owners.get(&dialog.tab).filter(|_| dialog.state == State::Open && !stuck);
            let policy = task.and_then(|task| self.policies.get(task)).map(|(policy, _)| *policy);
            let ours_to_answer = policy.is_some_and(|policy| policy != DialogPolicy::MustRespond);
            let told = dialog.told.is_some_and(|told| told > self.slow_until);
            assert!(!ours_to_answer || !told, "dialog {number} {dialog:?} is open under {policy:?}");
        }
    }

    /// No page waits in a question that nobody has looked at (invariant 2).
    pub(super) fn check_nothing_unread(&self) {
        for (number, question) in &self.browser.questions {
            let told = self.browser.dialogs[number].told.is_some();
            let owned = self.browser.tab_of_session(question.session).is_some_and(|tab| self.owners.contains_key(&tab));
            assert!(told || !owned, "question {number} {question:?} was never looked at");
        }
    }

    /// Only those answers are given that somebody gave (invariant 2).
    pub(super) fn check_answer(&mut self, accept: bool, tab: No, bridged: bool) {
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
        // A page is led out of its dialogs before it is left.
        let is_left = !accept && !bridged && task.is_some_and(|task| self.clients.leaves_a_page(task));
        assert!(
            by_policy || by_agent || by_watchdog || at_the_end || is_left,
            "nobody gave the answer {accept} on tab {tab}"
        );
        if is_left {
            // Then it is said of what was open there that it was ended with its page.
            self.browser
                .dialogs
                .values_mut()
                .filter(|dialog| dialog.tab == tab)
                .for_each(|dialog| dialog.crossed = true);
        }
    }

    /// A call that a dialog blocks has ended (invariant 1).
    pub(super) fn check_blocked_calls(&self) {
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
}
