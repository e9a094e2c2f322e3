//! How we let go: of a task's tabs when it ends, and of the browser when the daemon does.
//!
//! Nothing of a page may stay blocked behind us (invariant 7): dialogs are dismissed, scripts that wait in the bridge go
//! on, held targets run, all before their sessions end. What the browser has to answer for that, it is given time for,
//! and no more than that: it may be slow, stuck or gone.
//!
//! ```text
//!   task ends ──▶ its tabs are nobody's ──native dialog dismissed?──▶ sessions detached, tabs of ours closed (closing.rs)
//!   daemon ends ──▶ dismiss, resume, attach no more ──all answered, or LEAVE is over──▶ done; the socket closes
//! ```

use std::time::Duration;

use super::answers::{AnsweredBy, RETRY, is_not_ready};
use super::sessions::{Kind, Session, Tab};
use super::timers::{Timer, TimerId};
use super::{End, Flight, Outcome, Purpose, Scope, Supervisor, closing};
use crate::error::CallError;
use crate::ids::{SessionId, TargetId, TaskId, Waiter};
use crate::time::Timestamp;

/// How long a page whose dialog was answered may take to show that it asks nothing more.
const LAST_WORD: Duration = Duration::from_millis(250);
/// How long the browser may take to say whether the page's next document waits.
const LAST_LOOK: Duration = Duration::from_secs(1);
/// How long letting go of a browser takes at the most, whatever it answers.
pub const LEAVE: Duration = Duration::from_secs(2);

/// The daemon is about to end.
#[derive(Debug)]
pub(super) struct Leave {
    /// Who waits for everything to be let go.
    waiters: Vec<Waiter>,
    /// When that is over at the latest.
    until: TimerId,
}

/// A tab that was its task's until a moment ago, and whose native dialogs have to go before our sessions do: without
/// them nobody could answer them any more (fact A11), and one that waits for its page's next document would take the
/// browser along (fact F48).
#[derive(Debug)]
pub(super) struct Departed {
    pub(super) target: TargetId,
    pub(super) root: SessionId,
    /// What is detached then.
    pub(super) sessions: Vec<SessionId>,
    /// At the latest.
    pub(super) until: Timestamp,
    /// What it said last: that its next document waits.
    pub(super) stuck: bool,
}

impl Supervisor {
    // --- a task ends ---

    /// Ends a task. Its dialogs are dismissed and what is held is let go before its sessions are
    /// detached (facts A11, E3); a tab that ostler opened for it is closed, all others stay as they are.
    pub(super) fn on_end_task(&mut self, id: &TaskId) {
        // First of all: a request that waited for one of its tabs must not open another one.
        let Some(task) = self.tasks.remove(id) else { return };
        self.requested.retain(|requested| requested.task != *id);
        for target in task.tabs {
            self.leave_tab(&target);
        }
        for request in task.queue {
            let error = self.unknown_task(id);
            self.fail_request(request, error);
        }
        self.effects.push_back(super::Effect::Retire(id.clone()));
    }

    fn leave_tab(&mut self, target: &TargetId) {
        let closes = |tab: &Tab| tab.ours && self.scope == Scope::Guest;
        let closes = self.tabs.get(target).is_some_and(closes);
        let later = if closes { self.closes_later(target) } else { None };
        if closes && later.is_none() {
            self.make_safe_to_close(target);
        }
        self.let_scripts_go_on(target);
        let asks_natively = self.asks_natively(target);
        let may_ask = self.may_ask(target);
        let belongs = |session: &Session| session.held && session.tab.as_ref() == Some(target);
        let held: Vec<_> =
            self.sessions.iter().filter(|(_, session)| belongs(session)).map(|(id, _)| id.clone()).collect();
        for session in held {
            self.resume(&session);
        }
        let Some(tab) = self.tabs.get(target) else { return };
        let (ours, root, armed) = (tab.ours && self.scope == Scope::Guest, tab.session.clone(), tab.armed);
        let stuck = tab.dialogs.iter().any(|dialog| dialog.stuck);
        if armed {
            // Until the answer to a reload says otherwise, which a lost connection may take away.
            self.left_armed.push(target.clone());
        }
        // Those of frames below go with the one that attached them; clients' own are nobody's any more.
        let attached = self.sessions.iter().filter(|(_, session)| {
            let by_itself = session.kind == Kind::Page || session.kind == Kind::Iframe && !session.supervised;
            by_itself && session.tab.as_ref() == Some(target)
        });
        let sessions: Vec<_> = attached.map(|(id, _)| id.clone()).collect();
        self.forget_tab(target, "the task was ended");
        if !self.is_connected() {
            return;
        }
        match root {
            // `Page.disable` is on its way to every session, but only its answer says that closing is safe (A25).
            Some(root) if armed && ours => {
                self.send_own(Purpose::CloseDisarmed(target.clone()), Some(&root), "Page.disable", "{}");
            }
            Some(root) if let Some(closing) = later => self.close_later(&root, closing),
            // What is open goes with it.
            _ if ours => self.close_own(target),
            Some(root) if armed => {
                // Nobody else may find the tab so.
                let purpose = Purpose::Reload { tab: target.clone() };
                self.send(purpose, Some(&root), "Page.reload", Some(b"{}"), super::OWN_CALL);
                self.detach_all(sessions);
            }
            Some(root) if may_ask => {
                let (target, until) = (target.clone(), self.now + LEAVE);
                self.departed.push(Departed { target, root: root.clone(), sessions, until, stuck });
                if asks_natively { self.dismiss_departed(&root) } else { self.hear_departed(&root) }
            }
            Some(_) => self.detach_all(sessions),
            // A popup that is only being attached may be held, and not say so (fact E2).
            None if self.may_be_left_held(target) => sessions.iter().for_each(|session| self.let_go(session)),
            None => self.detach_all(sessions),
        }
    }

    fn detach_all(&mut self, sessions: Vec<SessionId>) {
        for session in sessions {
            self.detach(&session);
        }
    }

    /// Returns whether a native dialog is open that can be answered, whoever may be about to.
    fn asks_natively(&self, target: &TargetId) -> bool {
        let dialogs = self.tabs.get(target).into_iter().flat_map(|tab| &tab.dialogs);
        dialogs.into_iter().any(|dialog| dialog.view.answerable && !dialog.is_bridged())
    }

    /// Returns whether a native dialog is open, or perhaps about to be.
    fn may_ask(&self, target: &TargetId) -> bool {
        self.asks_natively(target) || self.asked_just_now(target)
    }

    /// Dismisses what is open, behind whatever answer of an agent is on its way. It is nobody's dialog any more: should
    /// another one have opened meanwhile, that one is to go as well.
    fn dismiss_departed(&mut self, root: &SessionId) {
        let Some(departed) = self.departed.iter().find(|departed| departed.root == *root) else { return };
        let left = departed.until.since(self.now);
        let purpose = Purpose::LastAnswer(root.clone());
        self.send(purpose, Some(root), "Page.handleJavaScriptDialog", Some(br#"{"accept":false}"#), left);
    }

    pub(super) fn on_last_answer(&mut self, root: &SessionId, end: &End) {
        if self.waits_for_next_document(root, end) {
            self.try_again_or_close(root);
        } else if matches!(end, End::Answer(_)) {
            // Its script may be about to ask again.
            self.hear_departed(root);
        } else {
            self.depart(root);
        }
    }

    /// Returns whether a page's next document waits for its dialog, as far as it has told; one that tells nothing more is
    /// taken at its last word.
    fn waits_for_next_document(&mut self, root: &SessionId, end: &End) -> bool {
        let Some(departed) = self.departed.iter_mut().find(|departed| departed.root == *root) else { return false };
        if let End::Answer(answer) = end {
            departed.stuck = matches!(answer, Err(error) if is_not_ready(error));
        }
        departed.stuck
    }

    fn try_again_or_close(&mut self, root: &SessionId) {
        let again = self.now + RETRY;
        if self.departed.iter().any(|departed| departed.root == *root && again < departed.until) {
            self.timers.start(again, Timer::LastAnswer(root.clone()));
        } else {
            self.close_departed(root);
        }
    }

    /// Waits until the page answers, which it does once it neither asks nor is about to.
    fn hear_departed(&mut self, root: &SessionId) {
        let Some(departed) = self.departed.iter().find(|departed| departed.root == *root) else { return };
        let left = departed.until.since(self.now).min(LAST_WORD);
        self.send(Purpose::LastWord(root.clone()), Some(root), "Runtime.getIsolateId", Some(b"{}"), left);
    }

    pub(super) fn on_last_word(&mut self, root: &SessionId, end: &End) {
        let in_time = |departed: &Departed| departed.root == *root && self.now < departed.until;
        let silent = matches!(end, End::Failed(CallError::Timeout { .. }));
        if silent && self.departed.iter().any(in_time) {
            self.on_last_answer_again(root);
        } else {
            self.depart(root);
        }
    }

    pub(super) fn on_last_answer_again(&mut self, root: &SessionId) {
        let departed = self.departed.iter().find(|departed| departed.root == *root);
        if departed.is_some_and(|departed| self.tabs.contains_key(&departed.target)) {
            // Somebody has it by now, and what opens in it is theirs to answer: only that we go must end no browser.
            self.send(Purpose::LastLook(root.clone()), Some(root), closing::HISTORY, Some(b"{}"), LAST_LOOK);
        } else {
            self.dismiss_departed(root);
        }
    }

    pub(super) fn on_last_look(&mut self, root: &SessionId, end: &End) {
        if self.waits_for_next_document(root, end) { self.try_again_or_close(root) } else { self.depart(root) }
    }

    /// The dialog and the document that its page goes to wait for each other: to detach would end the browser, and nobody
    /// can use the tab any more (fact F48).
    fn close_departed(&mut self, root: &SessionId) {
        for departed in self.departed.extract_if(.., |departed| departed.root == *root).collect::<Vec<_>>() {
            self.close_stuck(&departed.target);
        }
    }

    /// If we leave, we do so once it is closed.
    pub(super) fn close_stuck(&mut self, target: &TargetId) {
        self.note(format!("tab {target}: its dialog and its next document wait for each other; closing it"));
        self.send_own(Purpose::Leave, None, "Target.closeTarget", &super::object(&[("targetId", target.as_str())]));
    }

    fn depart(&mut self, root: &SessionId) {
        for departed in self.departed.extract_if(.., |departed| departed.root == *root).collect::<Vec<_>>() {
            if self.is_connected() {
                self.detach_all(departed.sessions);
            }
        }
    }

    // --- the daemon ends ---

    /// Dismisses what is open and resumes what waits, so that nothing stays blocked behind us
    /// (invariant 7, facts A11 and E3). Closing the socket undoes all else (fact E17).
    pub(super) fn on_leave(&mut self, waiter: Waiter) {
        self.ending = true;
        if let Some(leave) = &mut self.leave {
            return leave.waiters.push(waiter);
        }
        self.leave = Some(Leave { waiters: vec![waiter], until: self.start_timer(LEAVE, Timer::Leave) });
        self.on_narrow_due();
        for (target, number) in self.open_and_unanswered() {
            self.answer(&target, number, false, None, AnsweredBy::Leaving);
        }
        self.resume_all_held();
        self.end_lead_outs();
        for root in self.roots_that_may_ask() {
            // Answered once its page neither asks nor is about to; what opens until then is dismissed.
            self.send(Purpose::Leave, Some(&root), "Runtime.getIsolateId", Some(b"{}"), LEAVE);
        }
        // Its answer is behind the answers to all that was sent before, of tasks that ended a moment ago too.
        if self.is_connected() {
            self.send_own(Purpose::Leave, None, "Browser.getVersion", "{}");
        }
    }

    fn roots_that_may_ask(&self) -> Vec<SessionId> {
        let may_ask = self.tabs.iter().filter(|(target, _)| self.may_ask(target));
        may_ask.filter_map(|(_, tab)| tab.session.clone()).collect()
    }

    fn resume_all_held(&mut self) {
        let held = self.sessions.iter().filter(|(_, session)| session.held);
        for session in held.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.resume(&session);
        }
    }

    /// Asked after each input, since whatever ends a dialog can be what leaving waited for.
    pub(super) fn leave_if_done(&mut self) {
        let counts = |flight: &Flight<Purpose>| {
            // What is being attached may be held, and is let go once it is (fact E2).
            let attaches = matches!(flight.purpose, Purpose::Attach { .. } | Purpose::Release(_));
            attaches
                || matches!(flight.purpose, Purpose::CloseLater(_))
                || matches!(flight.purpose, Purpose::Leave)
                || flight.purpose.asking().is_some()
        };
        if !self.calls.any(counts) && !self.is_dismissing() && self.departed.is_empty() {
            self.left();
        }
    }

    /// The browser has had its time. What it has not told us by now cannot be waited for, but can be let go blindly.
    pub(super) fn on_leave_due(&mut self) {
        if self.is_connected() {
            for target in self.tabs.keys().cloned().collect::<Vec<_>>() {
                self.let_scripts_go_on(&target);
            }
        }
        self.left();
    }

    fn left(&mut self) {
        let Some(leave) = self.leave.take() else { return };
        self.timers.stop(leave.until);
        for waiter in leave.waiters {
            self.finish(waiter, Ok(Outcome::Done));
        }
    }
}
