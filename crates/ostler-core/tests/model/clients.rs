//! The agents' side: what they ask for, and what they may be told (invariants 1 to 3).

use std::collections::BTreeMap;

use ostler_core::supervisor::Outcome;
use ostler_core::{CallError, Waiter};

use super::No;
use super::wire::Command;

/// One request that waits for its outcome.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) what: What,
    pub(crate) task: usize,
    pub(crate) deadline: u64,
    /// When its command was sent.
    pub(crate) sent_at: u64,
    /// The session that its command went to, once it was sent; 0 for the browser.
    pub(crate) sent: Option<No>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum What {
    Call { method: &'static str, aim: Aim, waits_for_dialogs: bool },
    Answer { accept: bool },
    Tab,
    Interrupt,
    Leave,
}

/// Where a call is meant to go.
#[derive(Debug, PartialEq)]
pub(crate) enum Aim {
    /// The session of this name.
    Session(String),
    Frame(No),
    Target(No),
    /// It names nothing, and so follows the current tab.
    Current,
}

#[derive(Debug, Default)]
pub(crate) struct Clients {
    next: u64,
    pub(crate) open: BTreeMap<u64, Asked>,
    /// Requests that nobody waits for any more: an outcome may come, but only one.
    cancelled: BTreeMap<u64, Asked>,
}

impl Clients {
    pub(crate) fn ask(&mut self, what: What, task: usize, deadline: u64) -> Waiter {
        self.next += 1;
        self.open.insert(self.next, Asked { what, task, deadline, sent_at: 0, sent: None });
        Waiter(self.next)
    }

    /// The number that the next request will have.
    pub(crate) fn next_mark(&self) -> u64 {
        self.next + 1
    }

    pub(crate) fn cancel(&mut self, waiter: u64) {
        if let Some(asked) = self.open.remove(&waiter) {
            self.cancelled.insert(waiter, asked);
        }
    }

    /// A client's command goes out: at most once, and to the session that was named.
    pub(crate) fn on_sent(&mut self, mark: u64, command: &Command, session_name: Option<&str>, now: u64) -> usize {
        let asked = self.open.get_mut(&mark);
        assert!(asked.is_some(), "call {mark} ({}) was sent after its end", command.method);
        let asked = asked.expect("just looked");
        assert!(asked.sent.is_none(), "call {mark} ({}) was sent twice", command.method);
        (asked.sent, asked.sent_at) = (Some(command.session.unwrap_or(0)), now);
        if let What::Call { aim: Aim::Session(named), method, .. } = &asked.what
            && !method.starts_with("Target.")
            && !method.starts_with("Browser.")
        {
            assert_eq!(session_name, Some(named.as_str()), "call {mark} ({method}) named its session");
        }
        asked.task
    }

    /// An outcome comes: the only one, in time, and true to what was sent.
    pub(crate) fn on_finished(&mut self, waiter: u64, outcome: &Result<Outcome, CallError>, now: u64) -> Option<Asked> {
        if self.cancelled.remove(&waiter).is_some() {
            return None;
        }
        let asked = self.open.remove(&waiter);
        assert!(asked.is_some(), "a second outcome for request {waiter}: {outcome:?}");
        let asked = asked.expect("just looked");
        assert!(
            now <= asked.deadline,
            "request {waiter} {asked:?} ended {} µs late: {outcome:?}",
            now - asked.deadline
        );
        match (&asked.what, outcome) {
            // Understood, and given to a question of the bridge.
            (What::Call { method: "Page.handleJavaScriptDialog", .. }, Ok(Outcome::Result(result)))
                if asked.sent.is_none() && &**result == b"{}" => {}
            (What::Call { method: "Page.handleJavaScriptDialog", .. }, Err(_)) if asked.sent.is_none() => {}
            (What::Call { .. }, Ok(Outcome::Result(result))) => {
                let mark = format!("\"mark\":{waiter}");
                let text = str::from_utf8(result).expect("results are text");
                assert!(text.contains(&mark), "call {waiter} got another one's result: {text}");
                assert!(asked.sent.is_some(), "call {waiter} has a result and was never sent");
            }
            (What::Answer { .. }, Ok(Outcome::Dialog(_)))
            | (What::Tab, Ok(Outcome::Tab(..)))
            | (What::Interrupt | What::Leave, Ok(Outcome::Done)) => {}
            (what, Ok(outcome)) => unreachable!("request {waiter} {what:?} got {outcome:?}"),
            (What::Call { .. }, Err(error)) => assert_true_to_sending(waiter, &asked, error),
            (What::Leave, Err(error)) => unreachable!("leaving failed: {error}"),
            (_, Err(_)) => {}
        }
        Some(asked)
    }

    /// Returns whether a client has given this answer, and nobody has heard how it ended.
    pub(crate) fn has_answered(&self, task: usize, accept: bool) -> bool {
        let mut all = self.open.values().chain(self.cancelled.values());
        all.any(|asked| asked.task == task && asked.what == What::Answer { accept })
    }

    /// Returns whether a client has sent the raw command for a dialog.
    pub(crate) fn has_answered_raw(&self, task: usize) -> bool {
        let raw = |what: &What| matches!(what, What::Call { method: "Page.handleJavaScriptDialog", .. });
        self.open.values().chain(self.cancelled.values()).any(|asked| asked.task == task && raw(&asked.what))
    }

    /// Returns whether a client leaves a page, or has wanted to until a moment ago.
    pub(crate) fn leaves_a_page(&self, task: usize) -> bool {
        let leaves = |what: &What| matches!(what, What::Call { method: "Page.navigate" | "Page.reload", .. });
        self.open.values().chain(self.cancelled.values()).any(|asked| asked.task == task && leaves(&asked.what))
    }

    /// Returns whether a client waits for a tab that it chooses.
    pub(crate) fn chooses_a_tab(&self, task: usize) -> bool {
        self.open.values().any(|asked| asked.task == task && asked.what == What::Tab)
    }

    /// Nothing is open that should have ended by now.
    pub(crate) fn assert_none_late(&self, now: u64) {
        for (waiter, asked) in &self.open {
            assert!(asked.deadline >= now, "request {waiter} {asked:?} is still open {} µs late", now - asked.deadline);
        }
    }
}

/// An error that says whether the call was sent says the truth.
fn assert_true_to_sending(waiter: u64, asked: &Asked, error: &CallError) {
    let says = match error {
        CallError::BrowserGone { .. }
        | CallError::FrameInProcess { .. }
        | CallError::UnknownFrame { .. }
        | CallError::UnknownTask { .. }
        | CallError::BadRequest { .. } => Some(false),
        CallError::UnknownOutcome { .. } | CallError::Cdp { .. } => Some(true),
        CallError::DialogOpen { sent, .. } => Some(*sent),
        _ => None,
    };
    if let Some(says) = says {
        assert_eq!(says, asked.sent.is_some(), "call {waiter} {asked:?} was told: {error}");
    }
}
