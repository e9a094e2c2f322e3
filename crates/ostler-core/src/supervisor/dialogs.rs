//! Dialogs: seen on the tab's root session, answered there, never missed and never answered by accident. Those of the
//! bridge come from `bridge/` and are the same from here on, but for what they block and how they are answered.
//!
//! ```text
//!                    ┌── answered by agent, policy or watchdog ──▶ closing ──reply──▶ closed by it
//!   Opening ──▶ pending ── Closed, navigation, crash, tab gone ───────────────────▶ closed: remote
//!                    ├── the frame is removed under it (A25) ──▶ disarm, reload ─────▶ closed: remote
//!                    └── a dialog of another process opens (A26), connection lost ──▶ not answerable
//! ```

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::answers::{Answer, CLOSED_BY_OTHERS};
use super::bridge::Via;
use super::focus::Leaving;
use super::publish::Dirty;
use super::requests::Then;
use super::timers::{Timer, TimerId};
use super::{End, Flight, OnDialog, Purpose, Supervisor, blocking, wire};
use crate::cdp::envelope::WireEvent;
use crate::error::CallError;
use crate::ids::{CallId, DialogId, FrameId, SessionId, TargetId, TaskId};
use crate::time::Timestamp;
use crate::view::{ClosedBy, ClosedDialogView, DialogKind, DialogView};

/// After how long a session that does not tell its process counts as sharing the dialog's.
const SUSPICION: Duration = Duration::from_millis(250);

/// A question that a page has just put.
pub(super) struct Asked {
    pub(super) kind: DialogKind,
    pub(super) message: String,
    pub(super) default_prompt: String,
    pub(super) frame: FrameId,
    /// The tab's root session, and the one whose renderer waits.
    pub(super) root: SessionId,
    pub(super) owner: SessionId,
    pub(super) answerable: bool,
    pub(super) raw: Bytes,
    pub(super) via: Via,
}

/// One open dialog.
#[derive(Debug)]
pub(crate) struct Dialog {
    pub(crate) view: Arc<DialogView>,
    /// The raw parameters of its opening.
    pub(crate) raw: Bytes,
    /// How it came, and so where its answer goes.
    pub(super) via: Via,
    /// It was open before the session of now was attached.
    pub(super) orphan: bool,
    /// It and the document that its page goes to wait for each other (fact F48).
    pub(super) stuck: bool,
    /// The session whose renderer it blocks, and the isolate of that renderer.
    pub(super) owner: SessionId,
    pub(super) isolate: Option<Box<str>>,
    /// Sessions that were found to be blocked by it.
    pub(super) blocked: HashSet<SessionId>,
    pub(super) timers: Vec<TimerId>,
    /// When it opened, as far as we know.
    pub(super) opened: Timestamp,
    /// Runs while it can be answered.
    pub(super) watchdog: Option<TimerId>,
    /// The answer that is on its way, kept to be tried again.
    pub(super) answer: Option<Answer>,
}

impl Dialog {
    /// Returns whether a script of ours asks, and no native dialog is there.
    pub(super) fn is_bridged(&self) -> bool {
        !matches!(self.via, Via::Native)
    }
}

impl Supervisor {
    pub(super) fn on_dialog_opening(&mut self, event: &WireEvent, params: &str, id: &SessionId) {
        let Some(opening) = wire::read::<wire::DialogOpening<'_>>(params) else { return };
        let Some(session) = self.sessions.get(id).filter(|session| session.supervised) else { return };
        let Some(target) = session.tab.clone() else { return };
        if self.sessions.get(id).is_some_and(|session| session.leaving != Leaving::No) {
            // The navigation has ended what the page's script asked over the bridge, of which nothing tells, and the script
            // asks on (fact F18).
            self.close_pauses_of(id);
        }
        let Some(tab) = self.tabs.get_mut(&target).filter(|tab| tab.session.as_ref() == Some(id)) else { return };
        let owner = tab.frames.as_ref().and_then(|frames| frames.session_of(&opening.frame_id)).unwrap_or(id).clone();
        // Within one process they queue, so one that opens beside another is of another process: it dismisses
        // the first, even while that is being answered, and cannot be answered itself (fact A26).
        // In a tab that waits for its reload an answer would end the browser (fact A25).
        let answerable = !tab.armed && tab.dialogs.iter().all(|open| open.orphan || open.is_bridged());
        let asked = Asked {
            kind: DialogKind::of_cdp(&opening.kind),
            message: opening.message.0,
            default_prompt: opening.default_prompt.0,
            frame: opening.frame_id,
            root: id.clone(),
            owner,
            answerable,
            raw: Bytes::copy_from_slice(event.params.as_bytes()),
            via: Via::Native,
        };
        self.on_asked(&target, asked);
    }

    /// Opens a dialog, and lets the task's policy deal with it.
    pub(super) fn on_asked(&mut self, target: &TargetId, asked: Asked) {
        let Asked { kind, message, default_prompt, frame, root, owner, answerable, raw, via } = asked;
        let Some(task) = self.tabs.get(target).and_then(|tab| self.tasks.get_mut(&tab.task)) else { return };
        let (number, timeout) = (task.next_dialog_id(), task.dialog_timeout);
        let in_a_row = self.count_in_row(&owner);
        let view = DialogView {
            id: number,
            kind,
            message,
            default_prompt,
            opened_at: self.now.as_unix_seconds(),
            session_id: root,
            frame_id: frame,
            answerable,
            in_a_row,
        };
        let isolate = self.sessions.get(&owner).and_then(|session| session.isolate.clone());
        if let Some(tab) = self.tabs.get_mut(target).filter(|_| matches!(via, Via::Native) && owner == view.session_id)
        {
            tab.asked_at = Some(self.now);
        }
        let dialog = Dialog {
            view: Arc::new(view),
            raw,
            via,
            orphan: false,
            stuck: false,
            blocked: HashSet::from([owner.clone()]),
            owner,
            isolate,
            timers: Vec::new(),
            opened: self.now,
            watchdog: None,
            answer: None,
        };
        self.open(target, dialog);
        self.watch(target, number, self.now + timeout);
        self.decide(target, number);
    }

    /// A frame whose dialog was told of first has its session now: that is the one which the dialog blocks.
    pub(super) fn own_dialogs_of_frame(&mut self, target: &TargetId, frame: &FrameId, id: &SessionId) {
        let dialogs = self.tabs.get_mut(target).into_iter().flat_map(|tab| &mut tab.dialogs);
        let mut owned = Vec::new();
        for dialog in dialogs.filter(|dialog| dialog.view.frame_id == *frame && !dialog.is_bridged()) {
            dialog.blocked.remove(&dialog.owner);
            dialog.blocked.insert(id.clone());
            (dialog.owner, dialog.isolate) = (id.clone(), None);
            owned.push(dialog.view.id);
        }
        for number in owned {
            self.end_blocked_flights(target, number, false);
            self.look_for_blocked(target, number);
        }
    }

    /// Ends the calls that the dialog blocks, and finds out which sessions it blocks besides its owner's.
    pub(super) fn block(&mut self, target: &TargetId, number: DialogId) {
        self.end_blocked_flights(target, number, true);
        self.look_for_blocked(target, number);
        // A navigation that waits for the page's set-up waits for the dialog now.
        self.flush(target);
    }

    fn look_for_blocked(&mut self, target: &TargetId, number: DialogId) {
        let Some(dialog) = self.dialog(target, number) else { return };
        if matches!(dialog.via, Via::Pause { .. }) {
            // The renderer of a paused page answers, on every session that shares it (fact B5).
            return;
        }
        let (owner, isolate) = (dialog.owner.clone(), dialog.isolate.clone());
        // Those of the same tab, of its popups and of its opener can share the process (facts A16, A17).
        let suspects: Vec<SessionId> = self
            .sessions
            .iter()
            .filter(|(id, session)| {
                let unknown = session.isolate.is_none() || isolate.is_none();
                session.supervised && **id != owner && unknown && self.are_related(target, session.tab.as_ref())
            })
            .map(|(id, _)| id.clone())
            .collect();
        if suspects.is_empty() {
            return;
        }
        for suspect in &suspects {
            self.ask_isolate(suspect);
        }
        let timer = self.start_timer(SUSPICION, Timer::Suspects(target.clone(), number));
        if let Some(dialog) = self.dialog_mut(target, number) {
            dialog.timers.push(timer);
        }
    }

    /// Returns whether two tabs can share a renderer process because one opened the other.
    fn are_related(&self, tab: &TargetId, other: Option<&TargetId>) -> bool {
        let Some(other) = other else { return false };
        let opener = |id: &TargetId| self.tabs.get(id).and_then(|tab| tab.opener.clone());
        let group = |id: &TargetId| {
            let mut top = id.clone();
            let mut seen = HashSet::new();
            while let Some(next) = opener(&top).filter(|next| self.tabs.contains_key(next) && seen.insert(next.clone()))
            {
                top = next;
            }
            top
        };
        tab == other || group(tab) == group(other)
    }

    /// The sessions that have not told their process by now are blocked with the dialog's owner.
    pub(super) fn on_suspects_due(&mut self, target: &TargetId, number: DialogId) {
        let silent: Vec<SessionId> = self
            .calls
            .select(|flight| matches!(flight.purpose, Purpose::Isolate(_)))
            .into_iter()
            .filter_map(|id| self.calls.get(id)?.session.clone())
            .filter(|id| self.are_related(target, self.sessions.get(id).and_then(|session| session.tab.as_ref())))
            .collect();
        if let Some(dialog) = self.dialog_mut(target, number) {
            dialog.blocked.extend(silent);
        }
        self.end_blocked_flights(target, number, false);
    }

    pub(super) fn on_isolate(&mut self, id: &SessionId, end: End) {
        let End::Answer(Ok(result)) = end else { return };
        let Some(answer) = str::from_utf8(&result).ok().and_then(wire::read::<wire::IsolateId>) else { return };
        if let Some(session) = self.sessions.get_mut(id) {
            session.isolate = Some(answer.id.into());
        }
        // It answers: whatever was suspected, this session is not blocked.
        for tab in self.tabs.values_mut() {
            for dialog in tab.dialogs.iter_mut().filter(|dialog| dialog.owner != *id) {
                dialog.blocked.remove(id);
            }
        }
    }

    /// Returns whether `dialog` keeps `method` on `session` from finishing; `awaits` if it waits for a promise.
    fn blocks(&self, tab: &TargetId, dialog: &Dialog, session: &SessionId, method: &str, awaits: bool) -> bool {
        if method == "Page.navigate" && dialog.view.kind == DialogKind::Beforeunload {
            // The page is asked whether it may be left, and so is what leaves it a second time.
            return self.sessions.get(session).is_some_and(|known| known.tab.as_ref() == Some(tab));
        }
        let in_tab = self.sessions.get(session).is_some_and(|known| known.tab.as_ref() == Some(tab));
        let native_of_frame = matches!(dialog.via, Via::Native) && dialog.view.frame_id != tab.as_frame();
        let goes_too = in_tab || method == "Page.crash" && self.shares_renderer(tab, session);
        if goes_too && native_of_frame && blocking::ends_the_browser_under_a_dialog(method) {
            return true;
        }
        if blocking::finishes_despite_dialog(method) {
            return false;
        }
        if matches!(dialog.via, Via::Pause { .. }) && !awaits && !blocking::stops_in_pause(method) {
            return false;
        }
        let Some(known) = self.sessions.get(session) else { return false };
        let shares_process = dialog.isolate.is_some() && dialog.isolate == known.isolate;
        let same_target = self.sessions.get(&dialog.owner).is_some_and(|owner| owner.target == known.target);
        let swallowed = matches!(dialog.via, Via::Native) && blocking::is_swallowed_in_tab(method);
        let needs_it = in_tab && (swallowed || blocking::needs_every_frame(method));
        dialog.blocked.contains(session) || shares_process || same_target || needs_it
    }

    /// Returns whether a session's page is in the process of another tab's, as far as both have told.
    fn shares_renderer(&self, tab: &TargetId, session: &SessionId) -> bool {
        let isolate = |id: &SessionId| self.sessions.get(id)?.isolate.as_ref();
        let root = self.tabs.get(tab).and_then(|tab| tab.session.as_ref());
        root.and_then(isolate).is_some_and(|root| Some(root) == isolate(session))
    }

    /// Returns the dialog that keeps a call from finishing, if any.
    pub(super) fn blocking_dialog(
        &self,
        session: &SessionId,
        method: &str,
        params: Option<&[u8]>,
    ) -> Option<Arc<DialogView>> {
        // A call must not cost a look at every tab: nearly always none asks anything.
        let asking = self.asking.iter().filter_map(|target| Some((target, self.tabs.get(target)?)));
        let awaits = || blocking::awaits_promise(method, params);
        let method = if blocking::crashes(method, params) { "Page.crash" } else { method };
        // One whose answer is on its way is open until that arrives, which counts where the browser is at stake; and an
        // answer to one that waits for its page's next document ends nothing.
        let counts = |dialog: &Dialog| dialog.answer.is_none() || dialog.stuck || method == "Page.crash";
        asking
            .flat_map(|(target, tab)| tab.dialogs.iter().map(move |dialog| (target, dialog)))
            .find(|(tab, dialog)| counts(dialog) && self.blocks(tab, dialog, session, method, awaits()))
            .map(|(_, dialog)| Arc::clone(&dialog.view))
    }

    /// Ends clients' calls in flight that the dialog blocks. `at_opening` ends also the input that may
    /// have opened it, whichever process it was aimed at (fact A18), and a navigation that waits for a
    /// `beforeunload` (fact A21) or for a page that asks once more before it goes (fact F18).
    pub(super) fn end_blocked_flights(&mut self, target: &TargetId, number: DialogId, at_opening: bool) {
        let Some(dialog) = self.dialog(target, number).filter(|dialog| dialog.answer.is_none()) else { return };
        let view = Arc::clone(&dialog.view);
        let mut picked = self.calls.select(|flight| {
            let Purpose::Client { on_dialog: OnDialog::Return, awaits, .. } = flight.purpose else { return false };
            let Some(session) = &flight.session else { return false };
            let in_tab = self.sessions.get(session).is_some_and(|session| session.tab.as_ref() == Some(target));
            let caused_it = at_opening && in_tab && blocking::can_trigger_dialog(&flight.method);
            caused_it || self.blocks(target, dialog, session, &flight.method, awaits)
        });
        if at_opening {
            picked.extend(self.calls_that_leave_the_document(target));
        }
        if let Via::Pause { read, .. } = dialog.via {
            picked.extend(self.calls_that_paused(&dialog.owner, read));
        }
        for id in picked {
            if let Some(flight) = self.calls.take(id) {
                let prepares = matches!(flight.purpose, Purpose::Client { then: Then::Evaluate { .. }, .. });
                let error = CallError::DialogOpen { dialog: Arc::clone(&view), sent: !prepares };
                self.end_flight(flight, End::Failed(error));
            }
        }
    }

    /// Returns the navigations that the document of now is still there under: the one of a call that is older than the
    /// document may be the document itself, which asks while it loads.
    fn calls_that_leave_the_document(&self, target: &TargetId) -> Vec<CallId> {
        let Some(tab) = self.tabs.get(target) else { return Vec::new() };
        let navigates = |flight: &Flight<Purpose>| {
            let returns = matches!(flight.purpose, Purpose::Client { on_dialog: OnDialog::Return, .. });
            let session = flight.session.as_ref().and_then(|id| self.sessions.get(id));
            let here = session.is_some_and(|session| session.tab.as_ref() == Some(target));
            returns && here && &*flight.method == "Page.navigate"
        };
        self.calls.select(navigates).into_iter().filter(|id| *id >= tab.calls_since).collect()
    }

    /// Returns the calls that run the script which paused: sent before the question was read on the same session, and
    /// not answered when that was, though a page does such calls in order.
    fn calls_that_paused(&self, owner: &SessionId, read: CallId) -> Vec<CallId> {
        let target = |id: &SessionId| self.sessions.get(id).map(|session| &session.target);
        let ran = |flight: &Flight<Purpose>| {
            let returns = matches!(flight.purpose, Purpose::Client { on_dialog: OnDialog::Return, .. });
            let same = flight.session.as_ref().is_some_and(|session| target(session) == target(owner));
            returns && same && blocking::is_done_in_order(&flight.method)
        };
        self.calls.select(ran).into_iter().filter(|id| *id < read).collect()
    }

    pub(super) fn on_dialog_closed(&mut self, params: &str, id: &SessionId) {
        let Some(closed) = wire::read::<wire::DialogClosed>(params) else { return };
        let Some(target) = self.sessions.get(id).and_then(|session| session.tab.clone()) else { return };
        let Some(tab) = self.tabs.get_mut(&target).filter(|tab| tab.session.as_ref() == Some(id)) else { return };
        // The newest: an older one of the same frame was there before this session, and need not be told of.
        let of_frame = |dialog: &Dialog| dialog.view.frame_id == closed.frame_id && !dialog.is_bridged();
        let found = tab.dialogs.iter().rposition(of_frame);
        // A dialog of another process that opened meanwhile took this one's place, and can be answered no more (A26), also
        // where this one was there before anybody told of it.
        let mut replaced = false;
        for lost in tab.dialogs[found.map_or(0, |at| at + 1)..].iter_mut().filter(|dialog| !dialog.is_bridged()) {
            Arc::make_mut(&mut lost.view).answerable = false;
            replaced = true;
        }
        let Some(at) = found else { return self.touch(&target, Dirty::DIALOGS) };
        let dialog = tab.dialogs.remove(at);
        if dialog.answer.as_ref().is_none_or(|answer| !answer.on_its_way) {
            let open_for = self.now.as_unix_seconds() - dialog.view.opened_at;
            self.record_closed(&target, dialog, ClosedBy::Remote);
            if !closed.result && !replaced && !self.is_being_left(id) {
                self.on_closed_by_others(&target, open_for);
            }
        } else {
            // Whose answer it was, the reply to ours will tell.
            tab.closing.push(dialog);
            self.touch(&target, Dirty::DIALOGS);
        }
    }

    pub(super) fn open(&mut self, target: &TargetId, dialog: Dialog) {
        let tabs = &self.tabs;
        self.asking.retain(|other| other != target && tabs.get(other).is_some_and(|tab| !tab.dialogs.is_empty()));
        self.asking.push(target.clone());
        if let Some(tab) = self.tabs.get_mut(target) {
            tab.dialogs.push(dialog);
        }
        self.touch(target, Dirty::DIALOGS);
    }

    pub(super) fn dialog(&self, target: &TargetId, number: DialogId) -> Option<&Dialog> {
        self.tabs.get(target)?.dialogs.iter().find(|dialog| dialog.view.id == number)
    }

    pub(super) fn dialog_mut(&mut self, target: &TargetId, number: DialogId) -> Option<&mut Dialog> {
        self.tabs.get_mut(target)?.dialogs.iter_mut().find(|dialog| dialog.view.id == number)
    }

    /// Takes a dialog out, open or closing.
    pub(super) fn take_dialog(&mut self, target: &TargetId, number: DialogId) -> Option<Dialog> {
        let tab = self.tabs.get_mut(target)?;
        let found = |dialog: &mut Dialog| dialog.view.id == number;
        tab.dialogs.extract_if(.., found).next().or_else(|| tab.closing.extract_if(.., found).next())
    }

    /// Sets right who closed a dialog that was recorded before that was known.
    pub(super) fn correct_closed(
        &mut self,
        target: &TargetId,
        number: DialogId,
        by: ClosedBy,
    ) -> Option<ClosedDialogView> {
        let task = self.tabs.get(target)?.task.clone();
        let task = self.tasks.get_mut(&task)?;
        let closed = task.recent.iter_mut().find(|closed| closed.id == number)?;
        closed.closed_by = by;
        task.dirty |= Dirty::DIALOGS;
        Some(closed.clone())
    }

    pub(super) fn record_closed(&mut self, target: &TargetId, dialog: Dialog, by: ClosedBy) -> ClosedDialogView {
        if !dialog.is_bridged()
            && dialog.owner == dialog.view.session_id
            && let Some(tab) = self.tabs.get_mut(target)
        {
            tab.asked_at = Some(self.now);
        }
        for timer in dialog.timers.iter().chain(&dialog.watchdog) {
            self.timers.stop(*timer);
        }
        if let Some(waiter) = dialog.answer.as_ref().and_then(Answer::waits_to_be_sent_again) {
            self.finish(waiter, Err(CallError::NoDialog { why: Some(CLOSED_BY_OTHERS) }));
        }
        if dialog.is_bridged() {
            self.on_bridged_closed(target, &dialog);
        }
        let closed = ClosedDialogView {
            id: dialog.view.id,
            kind: dialog.view.kind,
            message: dialog.view.message.clone(),
            opened_at: dialog.view.opened_at,
            closed_at: self.now.as_unix_seconds(),
            closed_by: by,
        };
        let task: Option<TaskId> = self.tabs.get(target).map(|tab| tab.task.clone());
        if let Some(task) = task.and_then(|task| self.tasks.get_mut(&task)) {
            task.remember(closed.clone());
            task.dirty |= Dirty::TABS;
        }
        closed
    }
}
