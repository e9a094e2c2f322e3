//! Native dialogs of the model browser: who sees them, what they block, how they end (facts A1 to A27).

use super::No;
use super::bridge::Way;
use super::browser::{Browser, Hold};
use super::going::NOT_ACTIVE;
use super::wire::{Command, Note};

/// One dialog, kept after its end until the checks have looked at it.
#[derive(Debug)]
pub(crate) struct Dialog {
    pub(crate) tab: No,
    pub(crate) frame: No,
    pub(crate) kind: &'static str,
    /// The process that it blocks.
    pub(crate) proc: No,
    /// The way that it takes over the bridge; none for a native one.
    pub(crate) way: Option<Way>,
    pub(crate) state: State,
    /// The sessions that saw it open: each of them can answer it (fact F35).
    pub(crate) saw: Vec<No>,
    /// When its opening arrived at the supervisor, for a tab of a task.
    pub(crate) told: Option<u64>,
    /// How many messages had arrived with its opening.
    pub(crate) heard: u64,
    /// The same, whosever tab it is.
    pub(crate) reached: u64,
    /// How many messages had arrived when the supervisor was told that the dialog waits for its page's next document.
    pub(crate) stuck_heard: u64,
    /// Who answered cannot be told: a client sent the raw command, or an answer that was meant for the
    /// dialog before met this one, for the command names none.
    pub(crate) crossed: bool,
    /// An answer was refused that another try would have brought through (fact A19).
    pub(crate) refused: bool,
    /// The command that opened it: it gets no answer until the dialog is over (fact A18).
    cause: Option<Command>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It can be answered.
    Open,
    /// Nobody can answer it: nobody saw it open, or who saw it has gone (facts A9, A11).
    Unseen,
    /// One of another process opened after it and is gone too: nobody can answer this one (fact A26).
    Lost,
    /// It was answered over CDP.
    Answered,
    /// It ended otherwise.
    Ended,
}

/// What goes on when a page lets itself be left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    To(u8),
    Reload,
    Close,
}

impl Dialog {
    /// A native one that nobody has seen yet.
    fn native(tab: No, frame: No, kind: &'static str, proc: No, cause: Option<Command>) -> Self {
        Self {
            tab,
            frame,
            kind,
            proc,
            way: None,
            state: State::Open,
            saw: Vec::new(),
            told: None,
            heard: u64::MAX,
            reached: u64::MAX,
            stuck_heard: u64::MAX,
            crossed: false,
            refused: false,
            cause,
        }
    }

    /// A question of a script that waits in it.
    pub(crate) fn bridged(tab: No, frame: No, kind: &'static str, proc: No, way: Way, cause: Option<Command>) -> Self {
        Self { way: Some(way), ..Self::native(tab, frame, kind, proc, cause) }
    }

    pub(crate) fn take_cause(&mut self) -> Option<Command> {
        self.cause.take()
    }

    pub(crate) fn into_cause(self) -> Option<Command> {
        self.cause
    }

    /// Whoever saw it open has gone.
    pub(crate) fn lose_client(&mut self) {
        if self.state == State::Open {
            self.state = State::Unseen;
        }
        (self.cause, self.told) = (None, None);
    }
}

pub(crate) const DEFAULT_PROMPT: &str = "as offered";

impl Browser {
    /// Returns whether a script of this frame may open a dialog now, native or not.
    pub(crate) fn can_open_dialog(&self, frame: No) -> bool {
        self.can_open_natively(frame)
    }

    pub(crate) fn can_open_natively(&self, frame: No) -> bool {
        let Some(known) = self.frames.get(&frame) else { return false };
        let tab = &self.tabs[&known.tab];
        let first_is_fine = tab.dialog.is_none_or(|open| self.dialogs[&open].state == State::Open);
        let whole = !known.crashed && known.pending.is_none() && tab.hold == Hold::Free && !tab.crashed;
        // While a removed frame's dialog is about, another one ends the browser (fact A25).
        whole
            && self.runs_scripts(known.proc)
            && tab.armed.is_none()
            && tab.lost.is_none()
            && tab.going.is_none()
            && first_is_fine
            && !tab.ghost
    }

    /// A script opens a dialog, over the bridge where that is; its process waits from here on.
    pub(crate) fn open_dialog(&mut self, frame: No, kind: &'static str, mut cause: Option<Command>) {
        if !self.ask_over_bridge(frame, kind, &mut cause) {
            self.open_natively(frame, kind, cause);
        }
    }

    pub(crate) fn open_natively(&mut self, frame: No, kind: &'static str, cause: Option<Command>) {
        let number = self.number();
        let (tab, proc) = (self.frames[&frame].tab, self.frames[&frame].proc);
        let mut saw = self.sessions_on(tab);
        saw.retain(|session| self.sessions[session].page);
        let seen = !saw.is_empty();
        let name = self.frame_name(frame);
        let default = if kind == "prompt" { DEFAULT_PROMPT } else { "" };
        let message = if kind == "beforeunload" { String::new() } else { format!("m{number}") };
        let params = format!(
            r#""url":"{}","frameId":"{name}","message":"{message}","type":"{kind}","hasBrowserHandler":true,"defaultPrompt":"{default}""#,
            self.url_of(frame)
        );
        self.page_event(tab, "Page.javascriptDialogOpening", &params, Note::Opening(number, 0));
        self.proc_mut(proc).blocks += 1;
        self.seen(match (seen, kind) {
            (false, _) => "A9: a dialog opens that nobody sees",
            (true, "beforeunload") => "A20: a page asks before it is left",
            (true, _) => "A1: a dialog opens",
        });
        let first = self.tab_mut(tab).dialog.take();
        let state = match first {
            // The second one of another process dismisses the first, and cannot be answered (fact A26).
            Some(first) => {
                self.seen("A26: a dialog of another process dismisses the first");
                self.end_dialog(first, State::Ended, false, true);
                self.tab_mut(tab).lost = Some(number);
                State::Lost
            }
            None => {
                self.tab_mut(tab).dialog = Some(number);
                if seen { State::Open } else { State::Unseen }
            }
        };
        self.dialogs.insert(number, Dialog { saw, state, ..Dialog::native(tab, frame, kind, proc, cause) });
    }

    /// A dialog is over; `said` says whether the browser tells so.
    pub(crate) fn end_dialog(&mut self, number: No, state: State, result: bool, said: bool) {
        let dialog = self.dialogs.get_mut(&number).expect("it was open");
        dialog.state = state;
        let (tab, frame, proc, cause) = (dialog.tab, dialog.frame, dialog.proc, dialog.cause.take());
        self.unblock(proc);
        if said {
            let params = format!(r#""frameId":"{}","result":{result},"userInput":"""#, self.frame_name(frame));
            self.page_event(tab, "Page.javascriptDialogClosed", &params, Note::Nothing);
        }
        match cause {
            Some(cause) if &*cause.method == "Page.navigate" && result => self.reply_navigated(&cause),
            Some(cause) if &*cause.method == "Page.navigate" => self.reply_aborted(&cause),
            Some(cause) => self.reply_ok(&cause),
            None => {}
        }
    }

    /// All that is open in a tab ends, because its document does (facts A12, A23).
    pub(crate) fn end_dialogs(&mut self, tab: No, said: bool) {
        let state = self.tab_mut(tab);
        let (open, lost) = (state.dialog.take(), state.lost.take());
        (state.leaving, state.going, state.stuck) = (None, None, false);
        if let Some(open) = open {
            let seen = self.dialogs[&open].state == State::Open;
            self.end_dialog(open, State::Ended, false, said && seen);
        }
        if let Some(lost) = lost {
            self.end_dialog(lost, State::Ended, false, false);
        }
    }

    /// Frames go because the document above them does: their dialogs are told to be over (fact A25, its end).
    pub(crate) fn end_dialogs_in(&mut self, tab: No, frames: &[No]) {
        let state = &self.tabs[&tab];
        let hit = |open: &No| frames.contains(&self.dialogs[open].frame);
        let (open, lost) = (state.dialog.filter(hit), state.lost.filter(hit));
        if let Some(open) = open {
            let seen = self.dialogs[&open].state == State::Open;
            (self.tab_mut(tab).dialog, self.tab_mut(tab).leaving) = (None, None);
            self.end_dialog(open, State::Ended, false, seen);
        }
        if let Some(lost) = lost {
            self.tab_mut(tab).lost = None;
            self.end_dialog(lost, State::Ended, false, false);
        }
    }

    /// The process of an OOPIF crashed with its dialog open: no word of it, and an answer is still taken (A24).
    pub(crate) fn end_dialog_of_crashed(&mut self, tab: No, root: No, proc: No) {
        for open in [self.tabs[&tab].dialog, self.tabs[&tab].lost].into_iter().flatten() {
            let dialog = &self.dialogs[&open];
            if dialog.proc == proc && self.local_root(dialog.frame) == root {
                let was_open = dialog.state == State::Open;
                self.end_dialog(open, State::Ended, false, false);
                let tab = self.tab_mut(tab);
                tab.ghost = was_open;
                (tab.dialog, tab.lost) = (tab.dialog.filter(|no| *no != open), tab.lost.filter(|no| *no != open));
            }
        }
    }

    /// The frame of an open dialog was taken away: nothing tells that it closed, and much ends the
    /// browser from here on (fact A25).
    pub(crate) fn orphan_by_removal(&mut self, tab: No, dialog: No) {
        self.end_dialog(dialog, State::Ended, false, false);
        let state = self.tab_mut(tab);
        (state.dialog, state.leaving, state.armed, state.armed_heard) = (None, None, Some(dialog), None);
    }

    /// Somebody else answers (facts A13, A14): another client, or a person.
    pub(crate) fn answer_foreign(&mut self, tab: No) {
        if self.tabs[&tab].stuck {
            return;
        }
        let Some(open) = self.tab_mut(tab).dialog.take() else { return };
        self.seen("A13: somebody else answers");
        self.end_dialog(open, State::Ended, false, true);
        self.tab_mut(tab).leaving = None;
        self.go_on_leaving(tab, self.dialogs[&open].frame);
    }

    /// `Page.handleJavaScriptDialog`.
    pub(crate) fn answer(&mut self, command: &Command, session: No) {
        let target = self.sessions[&session].target;
        let Some(tab) = self.tabs.get(&target) else {
            return self.reply_error(command, -32000, "Command can only be executed on top-level targets");
        };
        if tab.stuck || !self.silent && self.rng.percent(4) {
            let (open, stuck) = (tab.dialog, tab.stuck);
            if let Some(open) = open.and_then(|open| self.dialogs.get_mut(&open)) {
                open.refused = true;
            }
            if stuck {
                return self.reply_stuck(command, target);
            }
            self.seen("A19: an answer meets a page that is about to change");
            return self.reply_error(command, -32000, NOT_ACTIVE);
        }
        if tab.ghost {
            self.seen("A24: an answer meets a crashed frame");
            self.tab_mut(target).ghost = false;
            self.cross(target);
            return self.reply_ok(command);
        }
        let Some(open) = tab.dialog.filter(|open| self.dialogs[open].state == State::Open) else {
            return self.reply_error(command, -32602, "No dialog is showing");
        };
        let accept = command.params.accept.expect("an answer says which");
        let dialog = &self.dialogs[&open];
        if command.mark.is_none() && command.heard >= dialog.heard && dialog.kind == "prompt" && accept {
            assert!(command.params.prompt_text.is_some(), "an accepted prompt without a text gives \"\" (fact A4)");
        }
        if command.mark.is_some() || command.heard < dialog.heard {
            self.cross(target);
        }
        self.seen("A3: a dialog is answered");
        let reply_first = self.rng.percent(50);
        if reply_first {
            self.reply_ok(command);
        }
        let state = self.tab_mut(target);
        state.dialog = None;
        let leaving = state.leaving.take();
        self.end_dialog(open, State::Answered, accept, true);
        if !reply_first {
            self.reply_ok(command);
        }
        if let Some(leaving) = leaving.filter(|_| accept) {
            self.leave(target, leaving);
        } else {
            self.go_on_leaving(target, self.dialogs[&open].frame);
        }
    }

    fn cross(&mut self, tab: No) {
        for dialog in self.dialogs.values_mut().filter(|dialog| dialog.tab == tab) {
            dialog.crossed = true;
        }
    }
}
