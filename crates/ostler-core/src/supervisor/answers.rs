//! Answers to dialogs: by an agent, a policy, the watchdog, or because we leave. Given on the tab's root session only
//! (fact A3), and tried again where Chromium says that it was not ready (fact A19). A question of the bridge is answered
//! on the session that it came on, to the script that asks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::bridge::Via;
use super::dialogs::Dialog;
use super::publish::Dirty;
use super::silence::NOT_ACTIVE;
use super::timers::Timer;
use super::{DialogAnswer, End, Outcome, Purpose, Supervisor, wire};
use crate::cdp::envelope::WireError;
use crate::error::CallError;
use crate::ids::{DialogId, TargetId, Waiter};
use crate::view::{ClosedBy, DialogKind, DialogView};

/// How long the browser may take to carry out an answer.
pub(super) const ANSWER: Duration = Duration::from_secs(10);
/// How long after a refusal that may pass an answer is tried again (fact A19), and how often.
pub(super) const RETRY: Duration = Duration::from_millis(100);
const RETRIES: u32 = 10;
/// The same where little time is left.
const RETRIES_AT_THE_END: u32 = 4;

pub(super) const CLOSED_BY_OTHERS: &str = "the dialog was closed by someone else before the answer arrived";

/// An answer on its way.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) accept: bool,
    /// The prompt's text, a raw JSON string.
    pub(super) text: Option<String>,
    pub(super) by: AnsweredBy,
    tries: u32,
    /// Whether the browser owes a reply to it; otherwise it waits to be sent again.
    pub(super) on_its_way: bool,
}

impl Answer {
    /// Returns it as an object with its text, if it has one, under the given name.
    fn as_json(&self, text_key: &str) -> String {
        let Self { accept, text, .. } = self;
        match text {
            Some(text) => format!(r#"{{"accept":{accept},"{text_key}":{text}}}"#),
            None => format!(r#"{{"accept":{accept}}}"#),
        }
    }

    /// Returns the client that waits for an answer of which no reply will tell any more.
    pub(super) fn waits_to_be_sent_again(&self) -> Option<Waiter> {
        match self.by {
            AnsweredBy::Agent(waiter) | AnsweredBy::RawCallToBridge(waiter) if !self.on_its_way => Some(waiter),
            _ => None,
        }
    }
}

/// Returns whether Chromium refused an answer for a reason that passes (fact A19).
pub(super) fn is_not_ready(error: &WireError) -> bool {
    error.message.contains(NOT_ACTIVE)
}

/// Who answered, and who waits to hear that it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnsweredBy {
    /// A client through the dialog verb.
    Agent(Waiter),
    /// A client that sent `Page.handleJavaScriptDialog` itself.
    RawCall,
    /// A client that sent that for a dialog of the bridge, of which the browser knows nothing.
    RawCallToBridge(Waiter),
    /// `auto_dismiss` or `auto_accept`.
    Policy,
    /// Nobody answered in time.
    Watchdog,
    /// The daemon or the task ends.
    Leaving,
    /// The page is about to be left; see `leave_page.rs`.
    Navigation,
}

impl From<AnsweredBy> for ClosedBy {
    fn from(by: AnsweredBy) -> Self {
        match by {
            AnsweredBy::Agent(_) | AnsweredBy::RawCall | AnsweredBy::RawCallToBridge(_) => Self::Agent,
            AnsweredBy::Policy => Self::AutoPolicy,
            AnsweredBy::Watchdog | AnsweredBy::Leaving => Self::Watchdog,
            // As it is where the navigation itself takes it along.
            AnsweredBy::Navigation => Self::Remote,
        }
    }
}

impl Supervisor {
    pub(super) fn on_answer_dialog(&mut self, answer: DialogAnswer) {
        let waiter = answer.waiter;
        match self.choose_dialog(&answer) {
            Ok((tab, number)) => {
                let text = answer.prompt_text.as_deref().and_then(|raw| str::from_utf8(raw).ok());
                self.answer(&tab, number, answer.accept, text, AnsweredBy::Agent(waiter));
            }
            Err(error) => self.finish(waiter, Err(error)),
        }
    }

    fn choose_dialog(&self, answer: &DialogAnswer) -> Result<(TargetId, DialogId), CallError> {
        if let Some(error) = self.gone_error() {
            return Err(error);
        }
        let task = self.tasks.get(&answer.task).ok_or_else(|| self.unknown_task(&answer.task))?;
        let open: Vec<(&TargetId, &Dialog)> = self.open_dialogs(task).collect();
        let known = || open.iter().map(|(_, dialog)| dialog.view.id.to_string()).collect();
        let (tab, dialog) = match (&answer.dialog_id, open.as_slice()) {
            (_, []) => return Err(CallError::NoDialog { why: None }),
            (None, [only]) => *only,
            (None, _) => return Err(CallError::AmbiguousDialog { known: known() }),
            (Some(wanted), open) => *open
                .iter()
                .find(|(_, dialog)| dialog.view.id.to_string() == *wanted)
                .ok_or_else(|| CallError::UnknownDialog { dialog_id: wanted.clone(), known: known() })?,
        };
        if !dialog.view.answerable {
            return Err(CallError::DialogOpen { dialog: Arc::clone(&dialog.view), sent: false });
        }
        if dialog.answer.is_some() {
            return Err(CallError::NoDialog { why: Some("the dialog is being answered already") });
        }
        // Our script takes its answer in the page, where a native dialog of the same process holds it up.
        if matches!(dialog.via, Via::Pause { .. })
            && let Some(dialog) = self.blocking_dialog(&dialog.owner, "Runtime.evaluate", None)
        {
            return Err(CallError::DialogOpen { dialog, sent: false });
        }
        Ok((tab.clone(), dialog.view.id))
    }

    /// Returns the task's open dialogs, the oldest first.
    pub(super) fn open_dialogs<'a>(
        &'a self,
        task: &'a super::tasks::Task,
    ) -> impl Iterator<Item = (&'a TargetId, &'a Dialog)> {
        let mut open: Vec<_> = task
            .tabs
            .iter()
            .filter_map(|target| Some((target, self.tabs.get(target)?)))
            .flat_map(|(target, tab)| tab.dialogs.iter().map(move |dialog| (target, dialog)))
            .collect();
        open.sort_by_key(|(_, dialog)| dialog.view.id);
        open.into_iter()
    }

    /// Answers a dialog on its tab's root session, the only one that may (fact A3). `text` is a raw
    /// JSON string; without it an accepted prompt gets its default text (fact A4).
    pub(super) fn answer(
        &mut self,
        target: &TargetId,
        number: DialogId,
        accept: bool,
        text: Option<&str>,
        by: AnsweredBy,
    ) {
        let Some(dialog) = self.dialog_mut(target, number) else { return };
        let prompt = dialog.view.kind == DialogKind::Prompt && accept;
        let raw = str::from_utf8(&dialog.raw).unwrap_or("{}");
        let default = || {
            let opening: wire::RawDefaultPrompt<'_> = wire::read(raw)?;
            opening.default_prompt.map(|raw| raw.get().to_owned())
        };
        let text = match text {
            Some(text) => Some(text.to_owned()),
            // Our script knows what its page offered, and has all of it.
            None if prompt && !dialog.is_bridged() => default(),
            None => None,
        };
        dialog.answer = Some(Answer { accept, text, by, tries: 0, on_its_way: false });
        self.touch(target, Dirty::DIALOGS);
        self.send_answer(target, number);
    }

    fn send_answer(&mut self, target: &TargetId, number: DialogId) {
        let Some(dialog) = self.dialog_mut(target, number) else { return };
        let Some(answer) = &mut dialog.answer else { return };
        (answer.tries, answer.on_its_way) = (answer.tries + 1, true);
        let purpose = Purpose::Answer { tab: target.clone(), dialog: number, by: answer.by };
        let (via, owner, root) = (dialog.via.clone(), dialog.owner.clone(), dialog.view.session_id.clone());
        let text_key = if matches!(via, Via::Native) { "promptText" } else { "text" };
        let params = answer.as_json(text_key);
        match &via {
            Via::Native => {
                let method = "Page.handleJavaScriptDialog";
                self.send(purpose, Some(&root), method, Some(params.as_bytes()), ANSWER);
            }
            Via::Pause { call_frame, number, .. } => self.answer_pause(purpose, &owner, (call_frame, *number), &params),
            Via::Request { id } => self.answer_request(purpose, &owner, id, &params),
        }
    }

    pub(super) fn on_answer_again(&mut self, target: &TargetId, number: DialogId) {
        let waits =
            |dialog: &Dialog| dialog.answer.as_ref().filter(|answer| !answer.on_its_way).map(|answer| answer.by);
        match self.dialog(target, number).and_then(waits) {
            // Nobody leaves the page any more, and nobody else has said Cancel.
            Some(AnsweredBy::Navigation) if !self.is_led_out(target) => {
                self.give_up_answer(target, number, ClosedBy::Remote);
            }
            Some(_) => self.send_answer(target, number),
            None => {}
        }
    }

    pub(super) fn on_answer_ended(&mut self, target: &TargetId, number: DialogId, by: AnsweredBy, end: End) {
        let waits = self.dialog(target, number).is_some();
        let known = self.tabs.get(target).into_iter().flat_map(|tab| tab.dialogs.iter().chain(&tab.closing));
        let bridged = known.into_iter().find(|dialog| dialog.view.id == number && dialog.is_bridged());
        let lost = match bridged.map(|dialog| (dialog.via.clone(), dialog.owner.clone())) {
            Some((Via::Pause { .. }, owner)) => {
                matches!(end, End::Answer(_)) && !self.on_pause_answered(&owner, &end, waits)
            }
            Some((Via::Request { .. }, _)) => matches!(end, End::Answer(Err(_))),
            Some((Via::Native, _)) | None => false,
        };
        let outcome = match end {
            End::Answer(_) if lost => {
                // The page asks no more: another client let it go on, or it has left.
                if let Some(dialog) = self.take_dialog(target, number) {
                    self.record_closed(target, dialog, ClosedBy::Remote);
                }
                Err(CallError::NoDialog { why: Some(CLOSED_BY_OTHERS) })
            }
            End::Answer(Ok(_)) => match self.take_dialog(target, number) {
                Some(dialog) => Ok(self.record_closed(target, dialog, by.into())),
                // What the answer set off, such as leaving the page, was told before the answer's own reply.
                None => self
                    .correct_closed(target, number, by.into())
                    .ok_or(CallError::NoDialog { why: Some("the dialog's tab was closed as the answer arrived") }),
            },
            End::Answer(Err(error)) if is_not_ready(&error) && self.dialog(target, number).is_some() => {
                let tries = self.dialog(target, number).and_then(|dialog| Some(dialog.answer.as_ref()?.tries));
                let most = if self.ending { RETRIES_AT_THE_END } else { RETRIES };
                if tries.is_some_and(|tries| tries < most) {
                    let timer = self.start_timer(RETRY, Timer::AnswerAgain(target.clone(), number));
                    if let Some(dialog) = self.dialog_mut(target, number) {
                        dialog.timers.push(timer);
                        if let Some(answer) = &mut dialog.answer {
                            answer.on_its_way = false;
                        }
                    }
                    return;
                }
                if let Some(dialog) = self.dialog_mut(target, number) {
                    dialog.stuck = true;
                }
                if by == AnsweredBy::Leaving {
                    self.close_stuck(target);
                }
                self.give_up_answer(target, number, ClosedBy::Remote);
                // Its page is being left for one that waits for it, while it waits for this dialog (fact F18). Should that
                // come to nothing it can be answered again; until then the way out is that of one that cannot.
                Err(match self.dialog(target, number).map(|dialog| DialogView::clone(&dialog.view)) {
                    Some(dialog) => CallError::DialogOpen {
                        dialog: Arc::new(DialogView { answerable: false, ..dialog }),
                        sent: false,
                    },
                    None => CallError::Cdp { code: error.code, message: error.message },
                })
            }
            End::Answer(Err(error))
                if error.message.contains("No dialog is showing") || self.dialog(target, number).is_none() =>
            {
                match self.dialog(target, number).filter(|dialog| !dialog.view.answerable) {
                    // It took another one's place: the page is blocked by it all the same (fact A26).
                    Some(dialog) => {
                        let dialog = Arc::clone(&dialog.view);
                        self.give_up_answer(target, number, ClosedBy::Remote);
                        Err(CallError::DialogOpen { dialog, sent: false })
                    }
                    // Somebody else was quicker (fact A13).
                    None => {
                        if let Some(dialog) = self.take_dialog(target, number) {
                            self.record_closed(target, dialog, ClosedBy::Remote);
                        }
                        Err(CallError::NoDialog { why: Some(CLOSED_BY_OTHERS) })
                    }
                }
            }
            End::Answer(Err(error)) => {
                self.give_up_answer(target, number, ClosedBy::Remote);
                Err(CallError::Cdp { code: error.code, message: error.message })
            }
            End::Failed(error) => {
                self.give_up_answer(target, number, by.into());
                Err(error)
            }
        };
        match by {
            AnsweredBy::Agent(waiter) => self.finish(waiter, outcome.map(Outcome::Dialog)),
            AnsweredBy::RawCallToBridge(waiter) => {
                self.finish(waiter, outcome.map(|_| Outcome::Result(Bytes::from_static(b"{}"))));
            }
            _ => {}
        }
    }

    /// The answer did not go through: the dialog is open as before, and blocks what it blocks. One that
    /// was told to be closed meanwhile is closed, by `closed_by` as far as we can tell.
    pub(super) fn give_up_answer(&mut self, target: &TargetId, number: DialogId, closed_by: ClosedBy) {
        let Some(dialog) = self.dialog_mut(target, number) else {
            if let Some(dialog) = self.take_dialog(target, number) {
                self.record_closed(target, dialog, closed_by);
            }
            return;
        };
        let by = dialog.answer.take().map(|answer| answer.by);
        self.touch(target, Dirty::DIALOGS);
        self.decide_after_failure(target, number, by);
    }

    /// A client answers by sending `Page.handleJavaScriptDialog` itself; remembered, so that the closing
    /// is recorded as the agent's.
    pub(super) fn on_raw_answer(&mut self, target: &TargetId) {
        let dialogs = self.tabs.get_mut(target).map(|tab| &mut tab.dialogs);
        let open = dialogs.and_then(|dialogs| dialogs.iter_mut().rfind(|dialog| !dialog.is_bridged()));
        if let Some(dialog) = open.filter(|dialog| dialog.view.answerable && dialog.answer.is_none()) {
            let by = AnsweredBy::RawCall;
            dialog.answer = Some(Answer { accept: false, text: None, by, tries: 1, on_its_way: true });
        }
    }

    pub(super) fn on_raw_answer_ended(&mut self, target: &TargetId, accepted: bool) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        let raw = |dialog: &Dialog| dialog.answer.as_ref().is_some_and(|answer| answer.by == AnsweredBy::RawCall);
        let number = tab.dialogs.iter().chain(&tab.closing).find(|dialog| raw(dialog)).map(|dialog| dialog.view.id);
        let Some(number) = number else { return };
        if !accepted {
            self.give_up_answer(target, number, ClosedBy::Remote);
        } else if let Some(dialog) = self.take_dialog(target, number) {
            self.record_closed(target, dialog, ClosedBy::Agent);
        }
    }

    /// Returns every dialog that can be answered and is not being answered.
    pub(super) fn open_and_unanswered(&self) -> Vec<(TargetId, DialogId)> {
        let all = self.tabs.iter().flat_map(|(target, tab)| tab.dialogs.iter().map(move |dialog| (target, dialog)));
        let open = all.filter(|(_, dialog)| dialog.view.answerable && dialog.answer.is_none());
        open.map(|(target, dialog)| (target.clone(), dialog.view.id)).collect()
    }

    /// Returns whether an answer is still on its way, or waits to be tried again.
    pub(super) fn is_dismissing(&self) -> bool {
        self.tabs.values().any(|tab| tab.dialogs.iter().any(|dialog| dialog.answer.is_some()))
    }
}
