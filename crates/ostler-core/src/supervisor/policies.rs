//! Who answers a dialog that no agent does: its task's policy, when it opens or when the policy changes, and the
//! watchdog when its time is over.

use std::time::Duration;

use super::Supervisor;
use super::answers::AnsweredBy;
use super::publish::Dirty;
use super::timers::Timer;
use crate::ids::{DialogId, TargetId, TaskId};
use crate::time::Timestamp;
use crate::view::DialogPolicy;

/// When the watchdog looks again after an answer that was on its way, its own too, did not go through.
const WATCH_AGAIN: Duration = Duration::from_secs(10);

impl Supervisor {
    /// Has a dialog answered as its task wants it, or leaves it to the agent: then it blocks what it blocks.
    pub(super) fn decide(&mut self, target: &TargetId, number: DialogId) {
        if self.asks_while_led_out(target, number) {
            return;
        }
        match self.decision(target, number) {
            Some((accept, by)) => {
                self.answer(target, number, accept, None, by);
                self.end_calls_behind_row(target, number);
            }
            None => self.block(target, number),
        }
    }

    fn decision(&self, target: &TargetId, number: DialogId) -> Option<(bool, AnsweredBy)> {
        let dialog = self.dialog(target, number).filter(|dialog| dialog.view.answerable)?;
        if !self.sessions.contains_key(&dialog.view.session_id) {
            return None;
        }
        if self.ending {
            return Some((false, AnsweredBy::Leaving));
        }
        match self.tasks.get(&self.tabs.get(target)?.task)?.policy {
            DialogPolicy::MustRespond => None,
            DialogPolicy::AutoDismiss => Some((false, AnsweredBy::Policy)),
            DialogPolicy::AutoAccept => Some((true, AnsweredBy::Policy)),
        }
    }

    /// An answer did not go through. An agent whose answer failed may have been overtaken by a change of the policy;
    /// what we answered ourselves is not answered again in the same way.
    pub(super) fn decide_after_failure(&mut self, target: &TargetId, number: DialogId, by: Option<AnsweredBy>) {
        let again = match by {
            Some(AnsweredBy::Leaving) => false,
            Some(AnsweredBy::Policy | AnsweredBy::Watchdog) => self.ending,
            _ => true,
        };
        if by == Some(AnsweredBy::Watchdog) {
            self.watch(target, number, self.now + WATCH_AGAIN);
        }
        if again {
            self.decide(target, number);
        } else {
            self.block(target, number);
        }
    }

    /// A task wants its dialogs answered in another way than `before`: those that are open as well. An answer of an
    /// agent that is on its way stays what it is.
    pub(super) fn on_policy_changed(&mut self, id: &TaskId, before: (DialogPolicy, Duration)) {
        let Some(task) = self.tasks.get(id) else { return };
        let (policy, timeout) = (task.policy, task.dialog_timeout);
        let open: Vec<_> =
            self.open_dialogs(task).map(|(target, dialog)| (target.clone(), dialog.view.id, dialog.opened)).collect();
        for (target, number, opened) in open {
            if timeout != before.1 {
                self.watch(&target, number, self.now.max(opened + timeout));
            }
            if policy != before.0 {
                self.withdraw_policys_answer(&target, number);
                if self.dialog(&target, number).is_some_and(|dialog| dialog.answer.is_none()) {
                    self.decide(&target, number);
                }
            }
        }
    }

    /// What the policy of before said and the browser has refused for now is not said again.
    fn withdraw_policys_answer(&mut self, target: &TargetId, number: DialogId) {
        if let Some(dialog) = self.dialog_mut(target, number) {
            dialog.answer.take_if(|answer| answer.by == AnsweredBy::Policy && !answer.on_its_way);
            self.touch(target, Dirty::DIALOGS);
        }
    }

    /// Starts the time of a dialog's watchdog, anew if it runs already. What cannot be answered has none.
    pub(super) fn watch(&mut self, target: &TargetId, number: DialogId, at: Timestamp) {
        let Some(answerable) = self.dialog(target, number).map(|dialog| dialog.view.answerable) else { return };
        let timer = answerable.then(|| self.timers.start(at, Timer::Watchdog(target.clone(), number)));
        let before = self.dialog_mut(target, number).and_then(|dialog| std::mem::replace(&mut dialog.watchdog, timer));
        if let Some(before) = before {
            self.timers.stop(before);
        }
    }

    pub(super) fn on_watchdog(&mut self, target: &TargetId, number: DialogId) {
        let Some(dialog) = self.dialog(target, number).filter(|dialog| dialog.view.answerable) else { return };
        if dialog.answer.is_none() {
            return self.answer(target, number, false, None, AnsweredBy::Watchdog);
        }
        // Somebody's answer is on its way; it may still fail.
        self.watch(target, number, self.now + WATCH_AGAIN);
    }
}
