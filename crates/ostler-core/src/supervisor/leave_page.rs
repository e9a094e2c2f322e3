//! Leaving a page that asks.
//!
//! A navigation takes the open dialog along, the page's script goes on, and may ask again. If it does before the new
//! document is there, and that is to come in the same process, then both wait for each other: nobody can answer any more,
//! and whatever ends our session on the tab ends the whole browser (facts F18 and F48). So the page is led out of its
//! dialogs first:
//!
//! ```text
//!   navigation ──▶ Cancel to what is open ──▶ does the page answer? ──yes──────────────────▶ the navigation is sent
//!                        ▲                     │ it asks again  └ silent: its script is stopped ──▲
//!                        └─────── a few times ─┴─ on and on ─▶ about:blank, another process ─2 seconds──▶ sent
//! ```
//!
//! The page gets of it what the navigation alone would have given it: Cancel.

use std::sync::Arc;
use std::time::Duration;

use super::answers::AnsweredBy;
use super::dialogs::Dialog;
use super::recovery::brings_document;
use super::requests::{Leaves, Request, What};
use super::sessions::Tab;
use super::timers::Timer;
use super::{End, Purpose, Supervisor, wire};
use crate::error::CallError;
use crate::ids::{CallId, DialogId, SessionId, TargetId};
use crate::time::Timestamp;
use crate::view::{DialogKind, DialogView};

/// How often a page may ask while it is left, before it counts as one that never stops.
const MOST_CANCELS: u32 = 4;
/// How long it may take to answer that it asks no more, or to be gone.
const LEAD_OUT: Duration = Duration::from_secs(2);
/// How long the process may take to end whose page had to go: its script still runs, and would keep a document busy that
/// came into the same one. Chromium gives it half a second.
const PROCESS_ENDS: Duration = Duration::from_secs(2);
/// A page that asked so shortly ago may be about to ask again.
const JUST_NOW: Duration = Duration::from_millis(500);
/// Addresses that another document comes from, as far as one can tell beforehand.
const DOCUMENTS: [&str; 7] = ["http:", "https:", "file:", "about:", "data:", "blob:", "chrome:"];

/// How far a page has been led out of its dialogs, and the call by whose end it is known how that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeadOut {
    /// It was told Cancel, this often since it was first.
    Cancelling { times: u32, probe: CallId },
    /// It is on its way to another process, and this was the last that it asked.
    Evicting { call: CallId, dialog: DialogId },
}

impl Tab {
    fn asked_just_now(&self, now: Timestamp) -> bool {
        self.asked_at.is_some_and(|at| now < at + JUST_NOW)
    }

    /// Returns whether a navigation still waits until the page is led out of its dialogs.
    fn is_wanted_out(&self) -> bool {
        self.queue.iter().any(|request| request.leaves == Leaves::LedOut)
    }
}

impl Supervisor {
    /// Returns whether a tab's root process has asked natively, and so shortly ago that it may be about to ask again.
    pub(super) fn asked_just_now(&self, target: &TargetId) -> bool {
        self.tabs.get(target).is_some_and(|tab| tab.asked_just_now(self.now))
    }

    /// Returns whether a tab's page is led out of its dialogs, and somebody still waits for that.
    pub(super) fn is_led_out(&self, target: &TargetId) -> bool {
        self.tabs.get(target).is_some_and(|tab| tab.lead_out.is_some() && tab.is_wanted_out())
    }

    /// Called right before a client's navigation is sent. Returns whether it has to wait until the page asks no more.
    pub(super) fn must_lead_out(&mut self, id: &SessionId, method: &str, params: Option<&[u8]>) -> bool {
        let Some(target) = self.replaced_by(id, method, params) else { return false };
        let Some(tab) = self.tabs.get_mut(&target).filter(|tab| !tab.armed) else { return false };
        if tab.lead_out.is_some() {
            return true;
        }
        let native = |dialog: &&Dialog| !dialog.is_bridged() && !dialog.orphan && dialog.owner == *id;
        let mut open = tab.dialogs.iter().filter(native).peekable();
        if open.peek().is_none() && !tab.asked_just_now(self.now) {
            return false;
        }
        // Whether the page may be left is asked by what is left already; one that was lost to another (A26), or waits for
        // the next document already, can only be taken along.
        if open.any(|dialog| dialog.view.kind == DialogKind::Beforeunload || !dialog.view.answerable || dialog.stuck) {
            return false;
        }
        let probe = self.calls.coming_id();
        tab.lead_out = Some(LeadOut::Cancelling { times: 0, probe });
        let unanswered = tab.dialogs.iter().filter(native).filter(|dialog| dialog.answer.is_none());
        let unanswered: Vec<_> = unanswered.map(|dialog| dialog.view.id).collect();
        let purpose = Purpose::LedOut(target.clone(), probe);
        self.send(purpose, Some(id), "Runtime.getIsolateId", Some(b"{}"), LEAD_OUT);
        for number in unanswered {
            self.answer(&target, number, false, None, AnsweredBy::Navigation);
        }
        true
    }

    /// Returns the tab whose document a call replaces.
    fn replaced_by(&self, id: &SessionId, method: &str, params: Option<&[u8]>) -> Option<TargetId> {
        if method == "Page.navigateToHistoryEntry" {
            return self.tab_at_root(id).map(|(target, _)| target.clone());
        }
        let target = self.left_by(id, method, params)?;
        let address = || wire::read::<wire::NamesFrameAndUrl>(str::from_utf8(params?).ok()?);
        let comes = |url: &str| DOCUMENTS.iter().any(|scheme| url.trim_start().starts_with(scheme));
        (method == "Page.reload" || address().is_some_and(|named| comes(&named.url.0))).then_some(target)
    }

    /// A page that is led out asks again. Returns whether that is nobody else's business.
    pub(super) fn asks_while_led_out(&mut self, target: &TargetId, number: DialogId) -> bool {
        let Some(tab) = self.tabs.get_mut(target).filter(|_| !self.ending) else { return false };
        let Some(LeadOut::Cancelling { times, probe }) = tab.lead_out else { return false };
        if !tab.is_wanted_out() {
            // Whoever wanted to leave it has given up.
            tab.lead_out = None;
            return false;
        }
        let open = tab.dialogs.iter().find(|dialog| dialog.view.id == number);
        if open.is_some_and(Dialog::is_bridged) {
            // What waits in our script makes way by itself (fact B6).
            self.end_lead_out(target);
            return false;
        }
        let ordinary = |dialog: &&Dialog| dialog.view.answerable && dialog.view.kind != DialogKind::Beforeunload;
        let Some(dialog) = open.filter(ordinary) else { return false };
        if times == MOST_CANCELS {
            let view = Arc::clone(&dialog.view);
            return self.evict(target, &view);
        }
        tab.lead_out = Some(LeadOut::Cancelling { times: times + 1, probe });
        self.answer(target, number, false, None, AnsweredBy::Navigation);
        true
    }

    /// Sends a page that never stops asking to another process; returns whether it can be.
    fn evict(&mut self, target: &TargetId, dialog: &Arc<DialogView>) -> bool {
        // Only another address leads back to the same place: a reload would wait for the dialog.
        let by_address = |what: &What| matches!(what, What::Call(call) if call.method == "Page.navigate");
        self.fail_led_out(target, dialog, |request| !by_address(&request.what));
        let Some(tab) = self.tabs.get_mut(target) else { return false };
        if !tab.is_wanted_out() {
            tab.lead_out = None;
            return false;
        }
        let call = self.calls.coming_id();
        tab.lead_out = Some(LeadOut::Evicting { call, dialog: dialog.id });
        let (purpose, blank) = (Purpose::Evicted(target.clone(), call), br#"{"url":"about:blank"}"#);
        self.send(purpose, Some(&dialog.session_id), "Page.navigate", Some(blank), LEAD_OUT);
        true
    }

    pub(super) fn on_led_out(&mut self, target: &TargetId, asked_by: CallId, end: &End) {
        let Some(tab) = self.tabs.get(target) else { return };
        let Some(LeadOut::Cancelling { times, probe }) = tab.lead_out.filter(|_| !self.ending) else { return };
        if probe != asked_by {
            return;
        }
        if matches!(end, End::Failed(CallError::Timeout { .. })) {
            let asks = tab.dialogs.iter().find(|dialog| !dialog.is_bridged() && dialog.view.answerable);
            match (asks.map(|dialog| Arc::clone(&dialog.view)), tab.session.clone()) {
                // It asks slowly, and on and on.
                (Some(dialog), _) if times > 0 && self.evict(target, &dialog) => return,
                // It asks nothing, and does not answer: a script keeps it busy, and would keep the next document so (F33).
                (None, Some(root)) => {
                    self.send_own(Purpose::Ignored, Some(&root), "Runtime.terminateExecution", "{}");
                }
                _ => {}
            }
        }
        self.end_lead_out(target);
    }

    /// It is gone to another process, or will not go there: then its dialog is the agent's again.
    pub(super) fn on_evicted(&mut self, target: &TargetId, sent: CallId, end: &End) {
        let Some(LeadOut::Evicting { call, dialog }) = self.tabs.get(target).and_then(|tab| tab.lead_out) else {
            return;
        };
        if call != sent {
            return;
        }
        if matches!(end, End::Answer(Ok(result)) if brings_document(result)) {
            self.start_timer(PROCESS_ENDS, Timer::ProcessEnds(target.clone(), call));
            return;
        }
        let open = self.dialog(target, dialog).filter(|_| self.is_connected());
        if let Some(view) = open.map(|dialog| Arc::clone(&dialog.view)) {
            self.fail_led_out(target, &view, |_| true);
        }
        self.end_lead_out(target);
        if self.dialog(target, dialog).is_some_and(|dialog| dialog.answer.is_none()) {
            self.decide(target, dialog);
        }
    }

    pub(super) fn on_process_ended(&mut self, target: &TargetId, sent: CallId) {
        let evicted = |tab: &Tab| matches!(tab.lead_out, Some(LeadOut::Evicting { call, .. }) if call == sent);
        if self.tabs.get(target).is_some_and(evicted) {
            self.end_lead_out(target);
        }
    }

    fn fail_led_out(&mut self, target: &TargetId, dialog: &Arc<DialogView>, which: impl Fn(&Request) -> bool) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        let failed = tab.queue.extract_if(.., |request| request.leaves == Leaves::LedOut && which(request));
        for request in failed.collect::<Vec<_>>() {
            self.fail_request(request, CallError::DialogOpen { dialog: Arc::clone(dialog), sent: false });
        }
    }

    /// What waited goes the way of every other request: it is sent, waits for the tab to be set up again, or is told that
    /// there is no browser any more.
    pub(super) fn end_lead_out(&mut self, target: &TargetId) {
        let Some(tab) = self.tabs.get_mut(target).filter(|tab| tab.lead_out.is_some()) else { return };
        (tab.lead_out, tab.asked_at) = (None, None);
        let led_out = |request: &&mut Request| request.leaves == Leaves::LedOut;
        tab.queue.iter_mut().filter(led_out).for_each(|request| request.leaves = Leaves::No);
        let session = tab.session.as_ref();
        if session.is_some_and(|id| self.sessions.contains_key(id)) {
            self.flush(target);
        }
    }

    /// Nothing is begun any more.
    pub(super) fn end_lead_outs(&mut self) {
        let led_out = self.tabs.iter().filter(|(_, tab)| tab.lead_out.is_some());
        for target in led_out.map(|(target, _)| target.clone()).collect::<Vec<_>>() {
            self.end_lead_out(&target);
        }
    }
}
