//! Native dialogs: who hears of one, who may answer, what it blocks, and how it ends without an answer.

use tokio::sync::oneshot;

use super::dialog::{Answer, Dialog, DialogKind};
use super::state::{ConnectionId, Stall, State};
use crate::ids::{FrameId, TargetId};
use crate::wire::{Command, quoted};

/// A command that gets its reply only when the dialog that it opened has closed.
pub(super) type Caller = (ConnectionId, Command);

/// The dialog a tab shows, or has lost.
pub(super) struct ShownDialog {
    pub(super) serial: u64,
    dialog: Dialog,
    frame: FrameId,
    /// The target whose renderer waits for it.
    host: TargetId,
    state: Showing,
    caller: Option<Caller>,
    answered: Option<oneshot::Sender<Answer>>,
}

/// A dialog that waits for the one before it in the same process.
pub(super) struct WaitingDialog {
    frame: FrameId,
    dialog: Dialog,
    answered: Option<oneshot::Sender<Answer>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Showing {
    Answerable,
    /// Nobody can answer it: nobody saw it open, its last watcher left, or it opened over another process's dialog.
    Orphaned,
    /// Its frame was removed. From then on the next touch ends the whole browser, as long as anyone has Page enabled.
    Lost,
}

/// A dialog that has just closed, and what is still to be done about it.
pub(super) struct Closed {
    shown: ShownDialog,
    answer: Answer,
}

/// Opening.
impl State {
    pub(super) fn open_dialog(
        &mut self,
        frame: &FrameId,
        dialog: Dialog,
        caller: Option<Caller>,
        answered: Option<oneshot::Sender<Answer>>,
    ) {
        let Some(host) = self.frames.get(frame).map(|frame| frame.target.clone()) else {
            return;
        };
        let page = self.page_of(&host);
        if self.trips_over_lost_dialog(&page) {
            return;
        }
        let before = self.targets.get(&page).and_then(|page| page.dialog.as_ref());
        let opens_over_another = match before {
            Some(before) if before.host == host => {
                let waiting = WaitingDialog { frame: frame.clone(), dialog, answered };
                if let Some(page) = self.targets.get_mut(&page) {
                    page.next_dialogs.push_back(waiting);
                }
                return;
            }
            before => before.is_some(),
        };
        self.dialog_opening(&page, frame, &dialog);
        if opens_over_another && let Some(first) = self.close_dialog(&page, false, None) {
            self.finish_dialog(first);
        }
        let answerable = !opens_over_another && self.has_page_enabled(&page);
        let serial = self.number();
        if let Some(page) = self.targets.get_mut(&page) {
            page.dialog = Some(ShownDialog {
                serial,
                dialog,
                frame: frame.clone(),
                host: host.clone(),
                state: if answerable { Showing::Answerable } else { Showing::Orphaned },
                caller,
                answered,
            });
        }
        if let Some(host) = self.targets.get_mut(&host) {
            host.stall = Some(Stall::Dialog);
        }
        self.dismiss_later(page, serial);
    }

    /// Only the page's own sessions hear of a dialog, wherever in the page it opened.
    fn dialog_opening(&mut self, page: &TargetId, frame: &FrameId, dialog: &Dialog) {
        let url = self.frames.get(frame).map_or("", |frame| &frame.url);
        let shown: String = dialog.message.chars().take(LONGEST_MESSAGE).collect();
        let params = format!(
            r#"{{"url":{},"frameId":"{frame}","message":{},"type":"{}","hasBrowserHandler":true,"defaultPrompt":{}}}"#,
            quoted(url),
            quoted(&shown),
            dialog.kind.as_str(),
            quoted(&dialog.default_prompt),
        );
        self.page_event(page, "Page.javascriptDialogOpening", &params);
    }

    /// If the script says so, another client answers in a while.
    fn dismiss_later(&mut self, page: TargetId, serial: u64) {
        let Some(delay) = self.rules.dismisses_after else {
            return;
        };
        let shared = self.shared.clone();
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            if let Some(shared) = shared.upgrade() {
                shared.state().answer_as_other_client(&page, Some(serial), false);
            }
        });
    }
}

/// Closing.
impl State {
    pub(super) fn on_dialog_answer(&mut self, connection: ConnectionId, id: &TargetId, command: &Command) {
        if self.targets.get(id).is_none_or(|target| target.kind != "page") {
            let why = "Command can only be executed on top-level targets";
            return self.fail(connection, command, -32000, why);
        }
        if self.trips_over_lost_dialog(id) {
            return;
        }
        let answerable = self.shown(id).is_some_and(|shown| shown.state == Showing::Answerable);
        let accepted = command.flag("accept").unwrap_or(false);
        let closed = if answerable { self.close_dialog(id, accepted, command.text("promptText")) } else { None };
        match closed {
            Some(closed) => {
                self.reply(connection, command, "{}");
                self.finish_dialog(closed);
            }
            None => self.fail(connection, command, -32602, "No dialog is showing"),
        }
    }

    /// Closes a tab's dialog as a client does that is not under test; with a serial, only that very dialog.
    pub(super) fn answer_as_other_client(&mut self, page: &TargetId, serial: Option<u64>, accepted: bool) {
        let wanted =
            |shown: &&ShownDialog| shown.state != Showing::Lost && serial.is_none_or(|serial| serial == shown.serial);
        if self.shown(page).filter(wanted).is_some()
            && let Some(closed) = self.close_dialog(page, accepted, None)
        {
            self.finish_dialog(closed);
        }
    }

    /// The page goes away or gets another document: its dialog closes, and the command that opened it fails.
    pub(super) fn close_dialog_with_page(&mut self, page: &TargetId) {
        if let Some(page) = self.targets.get_mut(page) {
            page.next_dialogs.clear();
        }
        let Some(mut closed) = self.close_dialog(page, false, None) else {
            return;
        };
        if let Some((connection, command)) = closed.shown.caller.take() {
            let why = "Inspected target navigated or closed";
            self.fail(connection, &command, -32000, why);
        }
        self.finish_dialog(closed);
    }

    /// Says that the dialog is closed. What it blocked goes on only with [`finish_dialog`](Self::finish_dialog), so that
    /// the answerer's reply can come in between, as it does in Chromium.
    fn close_dialog(&mut self, page: &TargetId, accepted: bool, text: Option<String>) -> Option<Closed> {
        let shown = self.targets.get_mut(page)?.dialog.take()?;
        let input = text.filter(|_| accepted).unwrap_or_default();
        let params = format!(r#"{{"frameId":"{}","result":{accepted},"userInput":{}}}"#, shown.frame, quoted(&input));
        self.page_event(page, "Page.javascriptDialogClosed", &params);
        let is_prompt = shown.dialog.kind == DialogKind::Prompt;
        let answer = Answer { accepted, text: (accepted && is_prompt).then_some(input) };
        Some(Closed { shown, answer })
    }

    /// Gives the script its answer, and lets go on what waited for the renderer.
    fn finish_dialog(&mut self, closed: Closed) {
        let Closed { shown, answer } = closed;
        if let Some(answered) = shown.answered {
            let _ = answered.send(answer.clone());
        }
        let crashed = self.targets.get(&shown.host).is_none_or(|host| host.stall != Some(Stall::Dialog));
        if let Some(host) = self.targets.get_mut(&shown.host).filter(|_| !crashed) {
            host.stall = None;
        }
        if let Some((connection, command)) = shown.caller {
            self.answer_caller(connection, command, &shown.host, shown.dialog.kind, &answer);
        }
        self.drain_queue(&shown.host);
        let page = self.page_of(&shown.host);
        let next = self.targets.get_mut(&page).and_then(|page| page.next_dialogs.pop_front());
        if let Some(next) = next {
            self.open_dialog(&next.frame, next.dialog, None, next.answered);
        }
    }

    fn answer_caller(
        &mut self,
        connection: ConnectionId,
        command: Command,
        host: &TargetId,
        kind: DialogKind,
        answer: &Answer,
    ) {
        if kind == DialogKind::BeforeUnload {
            return self.after_beforeunload(connection, host, command, answer.accepted);
        }
        if command.method != "Runtime.evaluate" {
            return self.reply(connection, &command, "{}");
        }
        let result = match (kind, &answer.text) {
            (DialogKind::Confirm, _) => {
                format!(r#"{{"type":"boolean","value":{}}}"#, answer.accepted)
            }
            (DialogKind::Prompt, Some(text)) => {
                format!(r#"{{"type":"string","value":{}}}"#, quoted(text))
            }
            (DialogKind::Prompt, None) => r#"{"type":"object","subtype":"null","value":null}"#.to_owned(),
            _ => r#"{"type":"undefined"}"#.to_owned(),
        };
        self.reply(connection, &command, &format!(r#"{{"result":{result}}}"#));
    }
}

/// Dialogs that nobody can answer any more.
impl State {
    /// When a page's last session with Page enabled goes, its dialog stays, and nobody can answer it.
    pub(super) fn orphan_dialog(&mut self, page: &TargetId) {
        if self.has_page_enabled(page) {
            return;
        }
        let shown = self.targets.get_mut(page).and_then(|page| page.dialog.as_mut());
        if let Some(shown) = shown.filter(|shown| shown.state == Showing::Answerable) {
            shown.state = Showing::Orphaned;
        }
    }

    /// A frame is about to be removed: a dialog that it or an OOPIF below shows is lost.
    pub(super) fn lose_dialogs_below(&mut self, frame: &FrameId) {
        let Some(host) = self.frames.get(frame).map(|frame| frame.target.clone()) else {
            return;
        };
        let page = self.page_of(&host);
        let Some(shown) = self.shown(&page) else {
            return;
        };
        let goes = self.frames_below(frame).contains(&shown.frame);
        if goes && shown.host != page {
            if let Some(shown) = self.targets.get_mut(&page).and_then(|page| page.dialog.as_mut()) {
                shown.state = Showing::Lost;
            }
        } else if goes {
            self.close_dialog_with_page(&page);
        }
    }

    /// Returns whether this touch of a page ends the browser, and ends it then: see [`Showing::Lost`].
    pub(super) fn trips_over_lost_dialog(&mut self, target: &TargetId) -> bool {
        let page = self.page_of(target);
        if self.shown(&page).is_none_or(|shown| shown.state != Showing::Lost) {
            return false;
        }
        let trips = self.has_page_enabled(&page);
        if trips {
            self.die();
        } else if let Some(page) = self.targets.get_mut(&page) {
            page.dialog = None;
        }
        trips
    }

    fn shown(&self, page: &TargetId) -> Option<&ShownDialog> {
        self.targets.get(page)?.dialog.as_ref()
    }

    fn has_page_enabled(&self, page: &TargetId) -> bool {
        let sessions = self.targets.get(page).map_or(&[][..], |page| &page.sessions);
        let enabled = |id| self.sessions.get(id).is_some_and(|session| session.page);
        sessions.iter().any(enabled)
    }
}

/// Chromium cuts a message here, and no default text.
const LONGEST_MESSAGE: usize = 10_240;
