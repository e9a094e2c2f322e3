//! Leaving a page whose dialog is open.
//!
//! A navigation takes the open dialog along, the page's script goes on, and may ask again. If it does before the new
//! document is there, and that is to come in the same process, then both wait for each other: nobody can answer any more,
//! and whatever ends our session on the tab ends the whole browser (facts F18 and F48). So the page is led out of its
//! dialogs first:
//!
//! ```text
//!   navigation ──▶ Cancel to what is open ──▶ does the page answer? ──yes──────────────────▶ the navigation is sent
//!                        ▲                         │ it asks again
//!                        └───────────── a few times ┴─for ever─▶ about:blank, another process ──a second──▶ sent
//! ```
//!
//! The page gets of it what the navigation alone would have given it: Cancel.

use std::sync::Arc;
use std::time::Duration;

use super::answers::AnsweredBy;
use super::dialogs::Dialog;
use super::requests::{Request, What};
use super::sessions::Tab;
use super::timers::Timer;
use super::{End, Purpose, Supervisor};
use crate::error::CallError;
use crate::ids::{DialogId, SessionId, TargetId};
use crate::time::Timestamp;
use crate::view::DialogKind;

/// How often a page may ask while it is left, before it counts as one that never stops.
const PATIENCE: u32 = 4;
/// How long it may take to answer that it asks no more, or to be gone.
const LEAD_OUT: Duration = Duration::from_secs(2);
/// How long the process may take to end whose page had to go: its script still runs, and would keep a document busy that
/// came into the same one. Chromium gives it half a second.
const PROCESS_ENDS: Duration = Duration::from_secs(1);
/// A page that asked so shortly ago may be about to ask again.
const JUST_NOW: Duration = Duration::from_millis(500);

/// How far a page has been led out of its dialogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeadOut {
    /// It was told Cancel, this often.
    Cancelling(u32),
    /// It is on its way to another process.
    Evicting,
}

impl Tab {
    fn asked_just_now(&self, now: Timestamp) -> bool {
        self.asked_at.is_some_and(|at| now < at + JUST_NOW)
    }
}

impl Supervisor {
    /// Returns whether a tab's root process has asked natively, and so shortly ago that it may be about to ask again.
    pub(super) fn asked_just_now(&self, target: &TargetId) -> bool {
        self.tabs.get(target).is_some_and(|tab| tab.asked_just_now(self.now))
    }

    /// Called right before a client's navigation is sent. Returns whether it has to wait until the page asks no more.
    pub(super) fn must_lead_out(&mut self, id: &SessionId, method: &str, params: Option<&[u8]>) -> bool {
        let Some(target) = self.left_by(id, method, params) else { return false };
        let Some(tab) = self.tabs.get_mut(&target).filter(|tab| !tab.armed) else { return false };
        if tab.lead_out.is_some() {
            return true;
        }
        let native = |dialog: &&Dialog| !dialog.is_bridged() && !dialog.orphan && dialog.owner == *id;
        let mut open = tab.dialogs.iter().filter(native).peekable();
        if open.peek().is_none() && !tab.asked_just_now(self.now) {
            return false;
        }
        // Whether the page may be left is asked by what is left already, and one that was lost to another (A26) can only
        // be taken along.
        if open.any(|dialog| dialog.view.kind == DialogKind::Beforeunload || !dialog.view.answerable) {
            return false;
        }
        tab.lead_out = Some(LeadOut::Cancelling(0));
        let unanswered = tab.dialogs.iter().filter(native).filter(|dialog| dialog.answer.is_none());
        for number in unanswered.map(|dialog| dialog.view.id).collect::<Vec<_>>() {
            self.answer(&target, number, false, None, AnsweredBy::Navigation);
        }
        self.send(Purpose::LedOut(target), Some(id), "Runtime.getIsolateId", Some(b"{}"), LEAD_OUT);
        true
    }

    /// A page that is led out asks again. Returns whether that is nobody else's business.
    pub(super) fn asks_while_led_out(&mut self, target: &TargetId, number: DialogId) -> bool {
        let Some(tab) = self.tabs.get_mut(target) else { return false };
        let Some(LeadOut::Cancelling(times)) = tab.lead_out else { return false };
        if !tab.queue.iter().any(|request| request.leaves) {
            // Whoever wanted to leave it has given up.
            tab.lead_out = None;
            return false;
        }
        let open = tab.dialogs.iter().find(|dialog| dialog.view.id == number);
        if open.is_some_and(Dialog::is_bridged) {
            // What waits in our script makes way by itself (fact B6).
            self.on_led_out(target);
            return false;
        }
        let ordinary = |dialog: &&Dialog| dialog.view.answerable && dialog.view.kind != DialogKind::Beforeunload;
        let Some(dialog) = open.filter(ordinary) else { return false };
        let (view, root) = (Arc::clone(&dialog.view), dialog.view.session_id.clone());
        if times < PATIENCE {
            tab.lead_out = Some(LeadOut::Cancelling(times + 1));
            self.answer(target, number, false, None, AnsweredBy::Navigation);
        } else if self.is_left_by_address(target) {
            if let Some(tab) = self.tabs.get_mut(target) {
                tab.lead_out = Some(LeadOut::Evicting);
            }
            let blank = br#"{"url":"about:blank"}"#;
            self.send(Purpose::Evicted(target.clone()), Some(&root), "Page.navigate", Some(blank), LEAD_OUT);
        } else {
            // A reload would wait for it, and there is no other way to the same document.
            self.end_lead_out(target, |core, request| {
                core.fail_request(request, CallError::DialogOpen { dialog: Arc::clone(&view), sent: false });
            });
            return false;
        }
        true
    }

    fn is_left_by_address(&self, target: &TargetId) -> bool {
        let waiting = self.tabs.get(target).into_iter().flat_map(|tab| &tab.queue).filter(|request| request.leaves);
        let reloads = |what: &What| matches!(what, What::Call(call) if call.method == "Page.reload");
        !waiting.into_iter().any(|request| reloads(&request.what))
    }

    /// The page answers, so that it asks nothing; or it neither asks nor answers, and what comes of that is known.
    pub(super) fn on_led_out(&mut self, target: &TargetId) {
        let cancelling = |tab: &Tab| matches!(tab.lead_out, Some(LeadOut::Cancelling(_)));
        if self.tabs.get(target).is_some_and(cancelling) {
            self.end_lead_out(target, |core, request| core.send_leaving(request, target));
        }
    }

    /// It is gone to another process, or will not go there.
    pub(super) fn on_evicted(&mut self, target: &TargetId, end: &End) {
        match end {
            End::Answer(Ok(_)) => {
                self.start_timer(PROCESS_ENDS, Timer::ProcessEnds(target.clone()));
            }
            End::Answer(Err(_)) | End::Failed(_) => self.on_process_ended(target),
        }
    }

    pub(super) fn on_process_ended(&mut self, target: &TargetId) {
        if self.tabs.get(target).is_some_and(|tab| tab.lead_out == Some(LeadOut::Evicting)) {
            self.end_lead_out(target, |core, request| core.send_leaving(request, target));
        }
    }

    fn end_lead_out(&mut self, target: &TargetId, each: impl Fn(&mut Self, Request)) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        (tab.lead_out, tab.asked_at) = (None, None);
        if !self.is_connected() {
            // What waits is told of that.
            return;
        }
        let Some(tab) = self.tabs.get_mut(target) else { return };
        for request in tab.queue.extract_if(.., |request| request.leaves).collect::<Vec<_>>() {
            each(self, request);
        }
    }
}
