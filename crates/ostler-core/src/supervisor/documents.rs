//! What a target's documents tell: frames, script contexts, console.

use super::console::FrameOfContext;
use super::frames::{Frame, Frames};
use super::publish::Dirty;
use super::sessions::{Kind, MainWorld, Tab};
use super::{End, Flight, Outcome, Purpose, Supervisor, wire};
use crate::ids::{FrameId, SessionId, TargetId};
use crate::view::{Arrival, ConsoleEntry};

impl Supervisor {
    /// Returns the tab that a supervised session belongs to, with its frames. What an OOPIF's session
    /// still says after its parent removed the frame comes late, and would bring the frame back.
    pub(super) fn frames_of(&mut self, id: &SessionId) -> Option<(TargetId, &mut Frames)> {
        let session = self.sessions.get(id).filter(|session| session.supervised)?;
        let target = session.tab.clone()?;
        let frames = self.tabs.get_mut(&target)?.frames.as_mut()?;
        let known = |frame: &Frame| frame.oopif.as_ref() == Some(id);
        let there = session.kind == Kind::Page || frames.get(&session.target.as_frame()).is_some_and(known);
        there.then_some((target, frames))
    }

    pub(super) fn on_frame_attached(&mut self, params: &str, id: &SessionId) {
        let Some(event) = wire::read::<wire::FrameAttached>(params) else { return };
        let Some((target, frames)) = self.frames_of(id) else { return };
        frames.on_attached(event.frame_id.clone(), event.parent_frame_id, id);
        self.touch(&target, Dirty::FRAMES);
        self.look_ahead(id, &event.frame_id);
    }

    pub(super) fn on_frame_detached(&mut self, params: &str, id: &SessionId) {
        let Some(event) = wire::read::<wire::FrameDetached<'_>>(params) else { return };
        if event.reason.as_deref() == Some("swap") {
            return;
        }
        let reads_tree = |flight: &Flight<Purpose>| matches!(&flight.purpose, Purpose::FrameTree(of) if of == id);
        let unread = self.calls.any(reads_tree);
        let Some((target, frames)) = self.frames_of(id).filter(|(_, frames)| event.frame_id != *frames.top()) else {
            return;
        };
        let known = frames.get(&event.frame_id).is_some() && !unread;
        let may_hold_more = !known || frames.holds_oopif(&event.frame_id);
        let mut gone = frames.on_removed(&event.frame_id);
        if gone.is_empty() {
            gone.push(event.frame_id);
        }
        // A dialog can be told of before its frame, and that frame be below this one.
        gone.extend(self.unknown_frames_gone(&target, &gone, may_hold_more));
        self.touch(&target, Dirty::FRAMES);
        self.on_frames_removed(&target, &gone);
    }

    pub(super) fn on_frame_started_navigating(&mut self, params: &str, id: &SessionId) {
        let Some(event) = wire::read::<wire::StartedNavigating<'_>>(params) else { return };
        if let Some((_, frames)) = self.frames_of(id) {
            frames.on_started_navigating(&event.frame_id);
            // Its sandbox is that of the element as it is now.
            self.look_ahead(id, &event.frame_id);
        }
        if !event.stays_in_document() {
            self.set_arrival(id, &event.frame_id, Arrival::Begun);
        }
    }

    /// A request is under way: if it is for the page's next document, nothing of the page before keeps that any more.
    pub(super) fn on_requested(&mut self, params: &str, id: &SessionId) {
        // Only of a page that goes elsewhere it is worth a look.
        let tab = self.sessions.get(id).and_then(|session| self.tabs.get(session.tab.as_ref()?));
        if tab.is_some_and(|tab| tab.arrival == Arrival::Begun)
            && let Some(frame) = wire::read::<wire::Requested<'_>>(params).and_then(wire::Requested::document_of)
        {
            self.set_arrival(id, &frame, Arrival::Requested);
        }
    }

    /// A frame has what it will get: if it is the page's own, nothing is on its way any more.
    pub(super) fn on_frame_stopped_loading(&mut self, params: &str, id: &SessionId) {
        if let Some(event) = wire::read::<wire::NamesFrame>(params) {
            self.set_arrival(id, &event.frame_id, Arrival::None);
        }
    }

    fn set_arrival(&mut self, id: &SessionId, frame: &FrameId, arrival: Arrival) {
        let Some(target) = self.sessions.get(id).and_then(|session| session.tab.clone()) else { return };
        if let Some(tab) =
            self.tabs.get_mut(&target).filter(|tab| *frame == target.as_frame() && tab.arrival != arrival)
        {
            tab.arrival = arrival;
            self.touch(&target, Dirty::TABS);
        }
    }

    pub(super) fn on_frame_navigated(&mut self, params: &str, id: &SessionId) {
        let Some(event) = wire::read::<wire::FrameNavigated<'_>>(params) else { return };
        let restored = event.kind.as_deref() == Some("BackForwardCacheRestore");
        let info: super::frames::FrameInfo = event.frame.into();
        let frame = info.id.clone();
        let Some((target, frames)) = self.frames_of(id) else { return };
        let is_top = info.parent.is_none();
        let local_root = is_top || frames.get(&frame).is_some_and(|known| known.oopif.as_ref() == Some(id));
        let gone = frames.on_navigated(info, id);
        self.touch(&target, Dirty::FRAMES);
        if is_top {
            self.set_arrival(id, &frame, Arrival::None);
            self.on_left(id);
            self.on_awake(&target);
            self.forget_hung(&target);
            self.close_dialogs_of_old_document(&target);
        } else {
            // Their ends are told on the root (facts A1, A25), where one that the new document's first script opens
            // can be told before this is told on the frame's own session: only what nobody tells of ends here.
            self.close_lost_dialogs_of_frames(&target, &gone);
            // What asked over the bridge did so in the old document: the new one's scripts run after this.
            if local_root {
                self.close_bridged_dialogs_of_document(&target, id);
            }
            // One that has just left its parent's process asked there, on that session.
            self.close_bridged_dialogs_of_frames(&target, &gone);
            self.close_bridged_dialogs_of_frames(&target, std::slice::from_ref(&frame));
        }
        if local_root {
            if let Some(session) = self.sessions.get_mut(id) {
                // Perhaps in another process now, and certainly in one that runs.
                let crashed = std::mem::replace(&mut session.crashed, false);
                session.isolate = None;
                self.forget_hung_frame(id);
                if crashed {
                    self.adjust_bridge_of(id);
                }
            }
            let calls_since = self.calls.coming_id();
            if let Some(tab) = self.tabs.get_mut(&target).filter(|_| is_top) {
                (tab.crashed, tab.calls_since) = (false, calls_since);
                self.touch(&target, Dirty::TABS);
            }
            self.ask_isolate(id);
        }
        if restored {
            self.send_own(Purpose::FrameTree(id.clone()), Some(id), "Page.getFrameTree", "{}");
        }
    }

    pub(super) fn on_navigated_within(&mut self, params: &str, id: &SessionId) {
        let Some(event) = wire::read::<wire::NamesFrame>(params) else { return };
        let Some((target, frames)) = self.frames_of(id) else { return };
        frames.set_url(&event.frame_id, event.url.0);
        self.touch(&target, Dirty::FRAMES);
    }

    pub(super) fn on_frame_tree(&mut self, id: &SessionId, end: End) {
        let End::Answer(Ok(result)) = end else { return };
        let Some(tree) = str::from_utf8(&result).ok().and_then(wire::read::<wire::FrameTreeResult>) else { return };
        let Some((target, frames)) = self.frames_of(id) else { return };
        frames.sync(tree.flatten(), id);
        self.touch(&target, Dirty::FRAMES);
        self.look_at_frames_ahead(id);
    }

    pub(super) fn on_context_created(&mut self, params: &str, id: &SessionId) {
        let Some(wire::ContextCreated { context }) = wire::read(params) else { return };
        let Some(frame) = context.aux_data.filter(|aux| aux.is_default).and_then(|aux| aux.frame_id) else { return };
        if let Some(session) = self.sessions.get_mut(id) {
            session
                .contexts
                .insert(context.id, MainWorld { frame, unique_id: context.unique_id.into(), bridge_script: None });
        }
    }

    pub(super) fn on_context_destroyed(&mut self, params: &str, id: &SessionId) {
        let Some(event) = wire::read::<wire::ContextDestroyed>(params) else { return };
        if let Some(session) = self.sessions.get_mut(id) {
            session.contexts.remove(&event.execution_context_id);
        }
    }

    pub(super) fn on_contexts_cleared(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.contexts.clear();
        if let Some(target) = session.tab.clone() {
            self.on_document_replaced(&target, id);
        }
    }

    pub(super) fn on_console(
        &mut self,
        id: &SessionId,
        read: impl FnOnce(&dyn FrameOfContext) -> Option<ConsoleEntry>,
    ) {
        let Some(session) = self.sessions.get(id).filter(|session| session.supervised) else { return };
        let Some(mut entry) = read(session) else { return };
        let Some(tab) = session.tab.as_ref().and_then(|tab| self.tabs.get(tab)) else { return };
        if entry.frame_id.is_none() {
            entry.frame_id = Some(FrameId::from(session.target.as_str())).filter(|_| session.kind != Kind::Page);
        }
        if let Some(task) = self.tasks.get_mut(&tab.task) {
            task.console.push(entry);
            task.dirty |= Dirty::CONSOLE;
        }
    }

    /// Answers a request for the current tab.
    pub(super) fn tab_outcome(&self, target: &TargetId) -> Option<Outcome> {
        let tab: &Tab = self.tabs.get(target)?;
        Some(Outcome::Tab(target.clone(), tab.session.clone()?))
    }
}
