//! A frame that may show no dialogs is not asked for one over the bridge either (fact B10).
//!
//! Where a document is sandboxed without `allow-modals`, the native functions return at once and show nothing. Its script
//! cannot tell. What put it there does: its own policy, the element that holds the frame, or those of an ancestor, or of
//! the frame that opened its popup. So these are looked at first, from the frame upwards:
//!
//! ```text
//!   asks ──▶ policy of the document? ──▶ element: DOM.getFrameOwner, DOM.describeNode ──┬─ no modals: the page gets Cancel
//!                 ▲                                                                     ├─ the top, or nobody answers: asked
//!                 └──────────── its parent's; its opener's ─────────────────────────────┘
//! ```
//!
//! A page that waits for a request is deaf, and so is the one around it in the same process. There the elements are
//! looked at ahead, when a frame comes and whenever it starts to navigate. That can come too late for a first script, so
//! our script looks as well, as far as it can see.

use std::collections::HashMap;
use std::time::Duration;

use super::super::{End, Purpose, Supervisor, wire};
use super::sandbox::Sandbox;
use super::{CANCEL, Transport};
use crate::ids::{FrameId, SessionId, TargetId};

/// How long a page may be silent about its frames before its question counts regardless.
const LOOK: Duration = Duration::from_secs(1);
/// How far up is looked: more than any page has frames in frames, and an end where they were told in a circle.
const HIGHEST: usize = 64;

/// A page that waits in our script, of which it is not known yet whether it may ask.
#[derive(Debug)]
pub(in super::super) struct Asking {
    pub(super) session: SessionId,
    pub(super) frame: FrameId,
    pub(super) held: Held,
    /// What is looked at: the frame that asks or an ancestor, and whether that is in another tab than its popup.
    at: (TargetId, FrameId),
    from_popup: bool,
    left: usize,
}

/// What the page waits in.
#[derive(Debug)]
pub(super) enum Held {
    /// This call frame, and which of the session's pauses it is.
    Pause { call_frame: Box<str>, pause: u64 },
    /// This request with the question, of a document that was loaded as `document`.
    Request { id: Box<str>, question: Box<str>, document: Option<Box<str>> },
}

/// An element that is looked at before any script asks.
#[derive(Debug)]
pub(in super::super) struct Ahead {
    pub(super) session: SessionId,
    frame: FrameId,
}

impl Purpose {
    /// Returns who waits for the command's answer, if it is a step of finding out what a page asks.
    pub(in super::super) fn asking(&self) -> Option<&Asking> {
        match self {
            Self::BridgeOwner(asking) | Self::BridgeOwnerNode(asking) | Self::BridgeQuestion(asking) => Some(asking),
            _ => None,
        }
    }

    fn into_asking(self) -> Option<Asking> {
        match self {
            Self::BridgeOwner(asking) | Self::BridgeOwnerNode(asking) | Self::BridgeQuestion(asking) => Some(asking),
            _ => None,
        }
    }
}

enum Step {
    Forbidden,
    Allowed,
    Up((TargetId, FrameId), bool),
    Look(SessionId),
}

impl Supervisor {
    /// Has the question asked, unless the frame may show no dialogs.
    pub(super) fn ask_if_allowed(&mut self, session: &SessionId, frame: FrameId, held: Held) {
        let tab = self.sessions.get(session).and_then(|session| session.tab.clone());
        let at = (tab.unwrap_or_else(|| frame.as_target()), frame.clone());
        self.look_up(Asking { session: session.clone(), frame, held, at, from_popup: false, left: HIGHEST });
    }

    fn look_up(&mut self, mut asking: Asking) {
        loop {
            match self.step(&asking) {
                Step::Forbidden => return self.say_no(asking),
                Step::Allowed => return self.ask(asking),
                Step::Up(at, from_popup) => {
                    (asking.at, asking.from_popup, asking.left) = (at, from_popup, asking.left - 1);
                }
                Step::Look(holder) => {
                    let params = super::object(&[("frameId", asking.at.1.as_str())]);
                    return self.look(&holder, "DOM.getFrameOwner", &params, asking, Purpose::BridgeOwner);
                }
            }
        }
    }

    fn step(&self, asking: &Asking) -> Step {
        let (target, id) = &asking.at;
        let Some(tab) = self.tabs.get(target).filter(|_| asking.left > 0) else { return Step::Allowed };
        let Some((frames, frame)) = tab.frames.as_ref().and_then(|frames| Some((frames, frames.get(id)?))) else {
            return Step::Allowed;
        };
        let forbids = |sandbox: &Sandbox| sandbox.forbids_dialogs(asking.from_popup);
        if frames.sandbox_of_document(frame).is_some_and(forbids) {
            return Step::Forbidden;
        }
        match (&frame.parent, &frame.owner) {
            (Some(_), Some(owner)) if forbids(owner) => Step::Forbidden,
            (Some(parent), Some(_)) => Step::Up((target.clone(), parent.clone()), asking.from_popup),
            (Some(parent), None) => frames.session_of(parent).cloned().map_or(Step::Allowed, Step::Look),
            (None, _) => match (&tab.opener, &tab.opener_frame) {
                (Some(opener), Some(frame)) => Step::Up((opener.clone(), frame.clone()), true),
                _ => Step::Allowed,
            },
        }
    }

    fn look(&mut self, holder: &SessionId, method: &str, params: &str, asking: Asking, purpose: fn(Asking) -> Purpose) {
        let session = asking.session.clone();
        let paused = matches!(asking.held, Held::Pause { .. });
        let call = self.send(purpose(asking), Some(holder), method, Some(params.as_bytes()), LOOK);
        if let Some(bridge) = self.bridge_mut(&session).filter(|_| paused) {
            bridge.reading = Some(call);
        }
    }

    /// A look at an element, or the reading of a question, has ended: takes the next step if the page still waits. If
    /// nothing more comes of it, the bridge may now be changed as somebody wanted meanwhile.
    pub(in super::super) fn go_on_asking(&mut self, asking: Asking, end: &End, step: fn(&mut Self, Asking, &End)) {
        let session = asking.session.clone();
        if self.still_asks(&asking) {
            step(self, asking, end);
        }
        self.adjust_bridge_of(&session);
    }

    pub(in super::super) fn on_owner(&mut self, asking: Asking, end: &End) {
        match (answer::<wire::FrameOwner>(end), self.step(&asking)) {
            (Some(owner), Step::Look(holder)) => {
                let params = node_of(&owner);
                self.look(&holder, "DOM.describeNode", &params, asking, Purpose::BridgeOwnerNode);
            }
            _ => self.ask_unless_seen(asking),
        }
    }

    /// This look has shown nothing. One that was begun ahead may have, meanwhile.
    fn ask_unless_seen(&mut self, asking: Asking) {
        match self.step(&asking) {
            Step::Look(_) => self.ask(asking),
            _ => self.look_up(asking),
        }
    }

    pub(in super::super) fn on_owner_node(&mut self, mut asking: Asking, end: &End) {
        let Some(sandbox) = sandbox_in(end) else { return self.ask_unless_seen(asking) };
        if sandbox.forbids_dialogs(asking.from_popup) {
            return self.say_no(asking);
        }
        let (target, frame) = &asking.at;
        let frames = self.tabs.get(target).and_then(|tab| tab.frames.as_ref());
        match frames.and_then(|frames| frames.get(frame)?.parent.clone()) {
            Some(parent) => {
                (asking.at.1, asking.left) = (parent, asking.left.saturating_sub(1));
                self.look_up(asking);
            }
            None => self.ask(asking),
        }
    }

    fn ask(&mut self, asking: Asking) {
        match asking.held {
            Held::Pause { .. } => self.read_question(asking),
            Held::Request { id, question, .. } => {
                self.ask_by_request(&asking.session, asking.frame, &id, &question);
            }
        }
    }

    /// The page gets what the native function gives it.
    fn say_no(&mut self, asking: Asking) {
        match asking.held {
            // Unread, it asks natively, and the native function says no.
            Held::Pause { .. } => {
                self.end_reading(&asking.session);
                self.go_on(&asking.session);
            }
            // Not so here, where the document's policy is bypassed (fact F21).
            Held::Request { id, .. } => self.answer_request(Purpose::Ignored, &asking.session, &id, CANCEL),
        }
    }

    /// Ends the asking of every page of a tab of which nothing was shown to anybody yet.
    pub(super) fn cancel_unasked(&mut self, target: &TargetId) {
        for id in self.calls.select(|flight| flight.purpose.asking().is_some()) {
            let Some(flight) = self.calls.get_mut(id) else { continue };
            let session = flight.purpose.asking().and_then(|asking| self.sessions.get(&asking.session));
            if session.is_none_or(|session| session.tab.as_ref() != Some(target)) {
                continue;
            }
            let asked = std::mem::replace(&mut flight.purpose, Purpose::Ignored);
            if let Some(asking) = asked.into_asking() {
                self.cancel(asking);
            }
        }
    }

    fn cancel(&mut self, asking: Asking) {
        match asking.held {
            Held::Pause { call_frame, .. } => {
                self.end_reading(&asking.session);
                self.cancel_pause(&asking.session, &call_frame);
            }
            Held::Request { id, .. } => self.answer_request(Purpose::Ignored, &asking.session, &id, CANCEL),
        }
    }

    /// Nobody reads any more what this session's page asks: it has gone on, or crashed.
    pub(in super::super) fn end_reading(&mut self, session: &SessionId) {
        if let Some(bridge) = self.bridge_mut(session) {
            bridge.reading = None;
        }
    }

    /// Returns whether the page still waits in what it waited in.
    fn still_asks(&mut self, asking: &Asking) -> bool {
        let there = self.is_connected() && self.sessions.get(&asking.session).is_some_and(|session| !session.crashed);
        match &asking.held {
            Held::Pause { pause, .. } => {
                let bridge = self.bridge_mut(&asking.session);
                there && bridge.is_some_and(|bridge| bridge.pauses == *pause && bridge.reading.is_some())
            }
            Held::Request { document, .. } => there && self.document_in(&asking.session, &asking.frame) == *document,
        }
    }

    /// Returns how the document that a frame shows was loaded.
    pub(super) fn document_in(&self, session: &SessionId, frame: &FrameId) -> Option<Box<str>> {
        let tab = self.tabs.get(self.sessions.get(session)?.tab.as_ref()?)?;
        tab.frames.as_ref()?.get(frame)?.loader.clone()
    }

    // --- what is known beforehand ---

    /// A document came with headers: its policy may put it in a sandbox.
    pub(in super::super) fn on_response(&mut self, params: &str, id: &SessionId) {
        if memchr::memmem::find(params.as_bytes(), b"\"Document\"").is_none() {
            return;
        }
        let Some(received) = wire::read::<wire::ResponseReceived<'_>>(params) else { return };
        let policies: HashMap<_, _> = received.response.headers;
        let policy = policies.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-security-policy"));
        let Some(sandbox) = policy.map(|(_, policy)| Sandbox::of_policies(policy)) else { return };
        if sandbox.forbids_dialogs(false)
            && let Some((_, frames)) = self.frames_of(id)
        {
            frames.remember_sandbox(received.loader_id.into(), sandbox);
        }
    }

    /// Looks at the elements of all frames that a session's documents hold.
    pub(in super::super) fn look_at_frames_ahead(&mut self, id: &SessionId) {
        let Some((_, frames)) = self.frames_of(id) else { return };
        let held = |frame: &FrameId| frames.get(frame).and_then(|frame| frames.session_of(frame.parent.as_ref()?));
        let here: Vec<_> = frames.ids().into_iter().filter(|frame| held(frame) == Some(id)).collect();
        for frame in here {
            self.look_ahead(id, &frame);
        }
    }

    /// Looks at the element of a frame, where a page that asks will be deaf.
    pub(in super::super) fn look_ahead(&mut self, id: &SessionId, frame: &FrameId) {
        let Some((_, frames)) = self.frames_of(id) else { return };
        let parent = frames.get(frame).and_then(|frame| frame.parent.clone());
        let Some(holder) = parent.and_then(|parent| frames.session_of(&parent).cloned()) else { return };
        if self.bridge_mut(&holder).is_none_or(|bridge| bridge.transport != Transport::Request) {
            return;
        }
        let params = super::object(&[("frameId", frame.as_str())]);
        let ahead = Ahead { session: holder.clone(), frame: frame.clone() };
        self.send_own(Purpose::BridgeOwnerAhead(ahead), Some(&holder), "DOM.getFrameOwner", &params);
    }

    pub(in super::super) fn on_owner_ahead(&mut self, ahead: Ahead, end: &End) {
        if let Some(owner) = answer::<wire::FrameOwner>(end) {
            let session = ahead.session.clone();
            let purpose = Purpose::BridgeOwnerNodeAhead(ahead);
            self.send_own(purpose, Some(&session), "DOM.describeNode", &node_of(&owner));
        }
    }

    pub(in super::super) fn on_owner_node_ahead(&mut self, ahead: &Ahead, end: &End) {
        if let Some(sandbox) = sandbox_in(end)
            && let Some((_, frames)) = self.frames_of(&ahead.session)
        {
            frames.set_owner(&ahead.frame, sandbox);
        }
    }
}

fn node_of(owner: &wire::FrameOwner) -> String {
    format!(r#"{{"backendNodeId":{}}}"#, owner.backend_node_id)
}

fn sandbox_in(end: &End) -> Option<Sandbox> {
    answer::<wire::DescribedNode<'_>>(end).map(|described| Sandbox::of_element(&described.node.attributes))
}

fn answer<'a, T: serde::Deserialize<'a>>(end: &'a End) -> Option<T> {
    let End::Answer(Ok(result)) = end else { return None };
    wire::read::<T>(str::from_utf8(result).ok()?)
}
