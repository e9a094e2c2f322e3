//! How dialogs end that nobody answers, and what is left of those that nobody can.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;

use super::Supervisor;
use super::answers::Answer;
use super::bridge::Via;
use super::dialogs::Dialog;
use super::publish::Dirty;
use crate::error::CallError;
use crate::ids::{FrameId, SessionId, TargetId};
use crate::view::{ClosedBy, DialogKind, DialogView};

impl Supervisor {
    /// The page is gone, or what it shows is: nothing more is heard of its dialogs.
    pub(super) fn close_all_dialogs(&mut self, target: &TargetId) {
        self.close_open_dialogs(target);
        let closing = self.tabs.get_mut(target).map(|tab| std::mem::take(&mut tab.closing)).unwrap_or_default();
        for dialog in closing {
            self.record_as_answered(target, dialog);
        }
    }

    pub(super) fn close_open_dialogs(&mut self, target: &TargetId) {
        self.close_where(target, |_| true);
    }

    pub(super) fn close_dialogs_of_frames(&mut self, target: &TargetId, frames: &[FrameId]) {
        self.close_where(target, |dialog| frames.contains(&dialog.view.frame_id));
    }

    /// The tab's document was replaced: none of its dialogs is left, whichever frame they were of (fact A23).
    pub(super) fn close_dialogs_of_old_document(&mut self, target: &TargetId) {
        let Some(frames) = self.tabs.get(target).and_then(|tab| tab.frames.as_ref()) else { return };
        let mut kept: HashSet<FrameId> = frames.ids().into_iter().collect();
        kept.remove(frames.top());
        self.close_where(target, |dialog| !kept.contains(&dialog.view.frame_id));
    }

    pub(super) fn close_lost_dialogs_of_frames(&mut self, target: &TargetId, frames: &[FrameId]) {
        self.close_where(target, |dialog| !dialog.view.answerable && frames.contains(&dialog.view.frame_id));
    }

    /// Frames are gone, or have another document, while our script asks in them: nothing else tells that it is over.
    pub(super) fn close_bridged_dialogs_of_frames(&mut self, target: &TargetId, frames: &[FrameId]) {
        let of_frames = |dialog: &Dialog| dialog.is_bridged() && frames.contains(&dialog.view.frame_id);
        self.let_survivors_go_on(target, of_frames);
        self.close_where(target, of_frames);
    }

    /// The same, of all frames of a session whose own document was replaced: with it the pause has ended (fact B6), and
    /// the new document may be in one already.
    pub(super) fn close_bridged_dialogs_of_document(&mut self, target: &TargetId, session: &SessionId) {
        self.close_where(target, |dialog| dialog.is_bridged() && dialog.owner == *session);
    }

    pub(super) fn close_dialogs_of_session(&mut self, target: &TargetId, session: &SessionId) {
        self.close_where(target, |dialog| dialog.owner == *session);
    }

    /// The page answers the set-up of a session: what blocked it before is over.
    pub(super) fn close_orphans(&mut self, target: &TargetId) {
        self.close_where(target, |dialog| dialog.orphan);
    }

    fn close_where(&mut self, target: &TargetId, over: impl Fn(&Dialog) -> bool) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        for dialog in tab.dialogs.extract_if(.., |dialog| over(dialog)).collect::<Vec<_>>() {
            self.free_bridged(&dialog);
            // If an answer of ours is on its way it may be the one that ended it; nobody can tell.
            self.record_closed(target, dialog, ClosedBy::Remote);
        }
        // Of those whose closing was seen, the reply to our answer tells, which a navigation does not stop.
    }

    /// It closed while our answer was on its way, and the reply is lost: most likely it was the answer.
    pub(super) fn record_as_answered(&mut self, target: &TargetId, dialog: Dialog) {
        let by = dialog.answer.as_ref().map_or(ClosedBy::Remote, |answer| answer.by.into());
        self.record_closed(target, dialog, by);
    }

    /// The connection is gone, or `Page` is off: what is open stays open in the page, and nobody can answer it
    /// (fact A11).
    pub(super) fn orphan_dialogs(&mut self, target: &TargetId) {
        if !self.is_connected() {
            // What the bridge holds goes on by itself when we are gone (fact B6).
            self.close_where(target, Dialog::is_bridged);
        }
        let Some(tab) = self.tabs.get_mut(target) else { return };
        let mut waiters = Vec::new();
        for dialog in tab.dialogs.iter_mut().filter(|dialog| !dialog.is_bridged()) {
            Arc::make_mut(&mut dialog.view).answerable = false;
            dialog.orphan = true;
            let waiter = dialog.answer.take().as_ref().and_then(Answer::waits_to_be_sent_again);
            waiters.extend(waiter.map(|waiter| (waiter, Arc::clone(&dialog.view))));
        }
        // None of these answers is on its way: the dialog is open as before.
        for (waiter, dialog) in waiters {
            let error = self.gone_error().unwrap_or(CallError::DialogOpen { dialog, sent: false });
            self.finish(waiter, Err(error));
        }
        self.touch(target, Dirty::DIALOGS);
    }

    /// A page does not answer though its browser does: a dialog that opened before we came, a print
    /// preview, or a busy script (fact A10). It is a state with a name, not a hang.
    pub(super) fn report_blocked(&mut self, target: &TargetId, id: &SessionId) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        if tab.dialogs.iter().any(|dialog| !dialog.orphan) {
            // It opened since, and says itself why the page is silent.
            return;
        }
        if let Some(known) = tab.dialogs.iter_mut().find(|dialog| dialog.orphan) {
            // It was open when the connection was lost, and is met again under the session of now.
            known.owner = id.clone();
            known.blocked.insert(id.clone());
            Arc::make_mut(&mut known.view).session_id = id.clone();
            let number = known.view.id;
            self.touch(target, Dirty::DIALOGS);
            return self.end_blocked_flights(target, number, false);
        }
        let Some(task) = self.tasks.get_mut(&tab.task) else { return };
        let number = task.next_dialog_id();
        let view = DialogView {
            id: number,
            kind: DialogKind::Unknown,
            message: String::new(),
            default_prompt: String::new(),
            opened_at: self.now.as_unix_seconds(),
            session_id: id.clone(),
            frame_id: target.as_frame(),
            answerable: false,
            in_a_row: 1,
        };
        let dialog = Dialog {
            view: Arc::new(view),
            raw: Bytes::from_static(b"{}"),
            via: Via::Native,
            orphan: true,
            stuck: false,
            owner: id.clone(),
            isolate: None,
            blocked: HashSet::from([id.clone()]),
            timers: Vec::new(),
            opened: self.now,
            watchdog: None,
            answer: None,
        };
        self.open(target, dialog);
        self.end_blocked_flights(target, number, false);
    }
}
