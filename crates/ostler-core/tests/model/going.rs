//! Pages that ask while they go elsewhere, and what may not be done to them (facts F18, F40 and F48).
//!
//! ```text
//!   location = … ; alert() ──▶ going: the dialog holds the page ──answered──▶ the next document comes
//!                                                                  └─asks again─▶ stuck, if that is to come here
//!   a navigation ──▶ cancels the open dialog ──▶ the next document comes
//!                                             └─asks again─▶ stuck
//! ```

use super::No;
use super::browser::Browser;
use super::dialogs::{Leaving, State};
use super::wire::{Command, Note};

/// What the browser says of a page that is about to be replaced.
pub(crate) const NOT_ACTIVE: &str = "Not attached to an active page";

impl Browser {
    /// A script sends its page away and asks; returns whether it can.
    pub(crate) fn go_and_ask(&mut self, frame: No, site: u8) -> bool {
        let tab = self.frames[&frame].tab;
        if self.tabs[&tab].dialog.is_some() || !self.can_ask_on(frame) || !self.can_open_natively(frame) {
            return false;
        }
        self.seen("F18: a page asks while it goes");
        self.started_navigating(tab, "differentDocument");
        self.open_natively(frame, "confirm", None);
        self.tab_mut(tab).going = Some(site);
        true
    }

    /// Returns whether a script of this frame would ask natively, and be seen to, in the page's own process.
    fn can_ask_on(&self, frame: No) -> bool {
        let tab = self.frames[&frame].tab;
        let seen = self.sessions_on(tab).iter().any(|session| self.sessions[session].page);
        self.local_root(frame) == tab && seen && self.bridge_of(frame).is_none()
    }

    /// The dialog is answered that held a page on its way elsewhere: it goes, or asks once more.
    pub(crate) fn go_on_leaving(&mut self, tab: No, frame: No) {
        let Some(site) = self.tab_mut(tab).going.take() else { return };
        if self.rng.percent(40) || !self.can_ask_on(frame) || !self.can_open_natively(frame) {
            return self.navigate_tab(tab, site);
        }
        let stuck = self.would_stay_in_process(tab, site) && self.rng.percent(70);
        self.open_natively(frame, "alert", None);
        let state = self.tab_mut(tab);
        (state.going, state.stuck) = (Some(site), stuck);
        if stuck {
            self.seen("F48: a dialog and its page's next document wait for each other");
        }
    }

    /// A navigation cancels what is open, and the page's script asks once more; returns whether it does so in time.
    pub(crate) fn asks_once_more(&mut self, command: &Command, tab: No, leaving: Leaving) -> bool {
        let site = match leaving {
            Leaving::To(site) => site,
            Leaving::Reload => self.frames[&tab].site,
            Leaving::Close => return false,
        };
        let Some(open) = self.tabs[&tab].dialog else { return false };
        let dialog = &self.dialogs[&open];
        let (frame, ordinary) = (dialog.frame, dialog.kind != "beforeunload" && dialog.state == State::Open);
        let same = self.would_stay_in_process(tab, site) && self.tabs[&tab].lost.is_none();
        if !ordinary || !same || !self.can_ask_on(frame) || self.rng.percent(50) {
            return false;
        }
        if leaving == Leaving::Reload {
            self.reply_ok(command);
        }
        self.started_navigating(tab, "differentDocument");
        let state = self.tab_mut(tab);
        (state.dialog, state.leaving) = (None, None);
        self.end_dialog(open, State::Ended, false, true);
        self.open_natively(frame, "alert", None);
        let state = self.tab_mut(tab);
        (state.going, state.stuck) = (Some(site), true);
        self.seen("F48: a dialog and its page's next document wait for each other");
        true
    }

    pub(crate) fn would_stay_in_process(&self, tab: No, site: u8) -> bool {
        let (top, group) = (&self.frames[&tab], self.tabs[&tab].group);
        top.site == site && self.homes.get(&(group, site)) == Some(&top.proc)
    }

    /// What a stuck page does with what would leave it.
    pub(crate) fn on_stuck_page(&mut self, command: &Command, tab: No, leaving: Leaving) {
        match leaving {
            Leaving::To(site) if !self.would_stay_in_process(tab, site) => {
                self.reply_navigated(command);
                self.leave(tab, leaving);
            }
            Leaving::To(_) if self.rng.percent(50) => self.reply_aborted(command),
            // It waits, too.
            Leaving::To(_) => {}
            Leaving::Reload | Leaving::Close => self.reply_stuck(command, tab),
        }
    }

    /// The browser refuses what it does not do to a page whose next document waits.
    pub(crate) fn reply_stuck(&mut self, command: &Command, tab: No) {
        let note = self.tabs[&tab].dialog.map_or(Note::Nothing, Note::Stuck);
        self.reply_with(command, &format!(r#""error":{{"code":-32000,"message":"{NOT_ACTIVE}"~}}"#), note);
    }

    /// `Page` is switched off in a session, or one goes that has it on. Returns whether that ends the browser, as it does if
    /// the session saw the dialog open (fact F50); it then has.
    pub(crate) fn ends_the_browser_by_letting_go(&mut self, session: No, command: &Command) -> bool {
        let Some(tab) = self.tab_of_session(session).filter(|_| self.sessions[&session].page) else { return false };
        let stuck = self.tabs[&tab].dialog.filter(|_| self.tabs[&tab].stuck);
        let Some(dialog) = stuck.filter(|dialog| self.dialogs[dialog].saw.contains(&session)) else { return false };
        // A client's own session is kept from that from the start.
        let open = &self.dialogs[&dialog];
        let heard = if command.mark.is_some() { open.reached } else { open.stuck_heard };
        self.ends_by(command, tab, dialog, heard, "F48")
    }

    /// A tab is closed. Returns whether that ends the browser; it then has.
    pub(crate) fn ends_the_browser_by_closing(&mut self, tab: No, command: &Command) -> bool {
        let state = &self.tabs[&tab];
        let of_frame = |open: &No| {
            let dialog = &self.dialogs[open];
            dialog.frame != tab && matches!(dialog.state, State::Open | State::Lost)
        };
        let asks = [state.dialog, state.lost].into_iter().flatten().find(of_frame);
        match asks.filter(|_| state.going.is_none() && self.watched(tab)) {
            Some(dialog) => {
                let open = &self.dialogs[&dialog];
                // A client may close a tab that is nobody's any more, whatever is open there.
                let somebodys = command.mark.is_none() || open.told.is_some();
                let heard = if somebodys { open.heard } else { u64::MAX };
                self.ends_by(command, tab, dialog, heard, "F40")
            }
            None => false,
        }
    }

    /// `heard` is when the supervisor was told of the dialog.
    fn ends_by(&mut self, command: &Command, tab: No, dialog: No, heard: u64, fact: &str) -> bool {
        self.dead = true;
        // Whoever attaches later is not told of it (fact A9).
        let known = self.dialogs[&dialog].saw.iter().any(|session| self.sessions.contains_key(session));
        if known && heard <= command.heard {
            self.blame = Some(format!("{} on tab {tab} ended the browser (fact {fact})", command.method));
        }
        true
    }

    /// The connection ends: with it the whole browser, if a dialog waits for its page's next document.
    pub(crate) fn ends_with_the_connection(&self) -> bool {
        let stuck = self.tabs.values().filter(|tab| tab.stuck).filter_map(|tab| tab.dialog);
        let watches = |session: &No| self.sessions.get(session).is_some_and(|session| session.page);
        stuck.flat_map(|dialog| &self.dialogs[&dialog].saw).any(watches)
    }
}
