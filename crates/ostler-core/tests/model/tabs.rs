//! What pages and people do to tabs: they open, navigate, go back and close them (facts C6 to C18, E1 to E11).

use super::No;
use super::browser::{AutoAttach, Browser, Frame, Hold, Saved, Tab};
use super::dialogs::Leaving;
use super::wire::{BROWSER, Note, Stamp};

/// How a popup relates to its opener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Popup {
    /// `window.open`: it can reach its opener.
    Opener,
    /// `noopener`, or a plain `target=_blank` link.
    Noopener,
    /// By ctrl+click: the page asks for it, and it names no opener (fact E11).
    Requested,
    /// A tab that somebody else opened.
    Stranger,
}

impl Browser {
    /// A tab goes to another document. Returns false if that ends the browser (fact A25).
    pub(crate) fn navigate_tab(&mut self, tab: No, site: u8) {
        self.seen("C17: a tab navigates");
        let state = &self.tabs[&tab];
        let (group, crashed) = (state.group, state.crashed);
        let keep = !crashed && state.lost.is_none() && state.dialog.is_none() && state.armed.is_none();
        let old = self.frames[&tab].clone();
        self.started_navigating(tab, "differentDocument");
        self.leave_document(tab);
        let below = self.below(tab);
        let whole = below.iter().all(|no| self.frames[no].pending.is_none() && !self.frames[no].crashed);
        if keep && whole && old.page != 0 {
            let saved =
                Saved { top: old.clone(), below: below.iter().map(|no| (*no, self.frames[no].clone())).collect() };
            let tab = self.tab_mut(tab);
            tab.saved.push(saved);
            if tab.saved.len() > 3 {
                tab.saved.remove(0);
            }
        }
        self.clear_below(tab);
        let home = self.home(group, site);
        self.move_commands(tab, old.proc, home);
        self.tab_mut(tab).crashed = false;
        if crashed {
            for session in self.sessions_on(tab) {
                self.say(session, "Inspector.targetReloadedAfterCrash", "", None, Note::Nothing);
            }
        }
        self.runtime_event(tab, "Runtime.executionContextsCleared", "");
        self.commit(tab, site, home);
        self.target_changed(tab);
    }

    /// A tab goes back to a document in the back/forward cache (fact C18).
    pub(crate) fn restore(&mut self, tab: No) {
        let Some(saved) = self.tab_mut(tab).saved.pop() else { return };
        let alive = |frame: &Frame| self.procs.contains_key(&frame.proc);
        if !alive(&saved.top) || !saved.below.iter().all(|(_, frame)| alive(frame)) {
            return;
        }
        let old = self.frames[&tab].proc;
        self.started_navigating(tab, "historyDifferentDocument");
        self.leave_document(tab);
        self.clear_below(tab);
        self.move_commands(tab, old, saved.top.proc);
        self.frames.insert(tab, saved.top);
        self.seen("C18: a tab goes back by the back/forward cache");
        let oopifs: Vec<No> = saved.below.iter().filter(|(_, frame)| frame.oopif).map(|(no, _)| *no).collect();
        self.frames.extend(saved.below);
        for frame in &oopifs {
            self.target_created(*frame, "iframe", &self.url_of(*frame));
            let above = self.local_root(self.frames[frame].parent.expect("a frame below the top"));
            for session in self.sessions_on(above) {
                if self.sessions[&session].auto_attach {
                    self.attach(*frame, "iframe", session, false);
                }
            }
        }
        self.runtime_event(tab, "Runtime.executionContextsCleared", "");
        self.frame_navigated(tab, "BackForwardCacheRestore");
        self.context_created(tab);
        self.target_changed(tab);
    }

    /// What was open on the old document ends with it (facts A12, A23, A26).
    fn leave_document(&mut self, tab: No) {
        self.end_dialogs(tab, true);
        let state = self.tab_mut(tab);
        (state.armed, state.armed_heard, state.ghost) = (None, None, false);
    }

    pub(crate) fn reload(&mut self, tab: No) {
        let site = self.frames[&tab].site;
        self.navigate_tab(tab, site);
    }

    /// A new tab comes up, held where auto-attach holds it (facts C2, C8a, E1, E2).
    pub(crate) fn open_tab(&mut self, kind: Popup, opener: Option<No>, site: Option<u8>) -> No {
        let tab = self.number();
        let from = opener.map(|frame| self.frames[&frame].clone());
        let access = kind == Popup::Opener;
        let group = from.as_ref().filter(|_| access).map_or(tab, |from| self.tabs[&from.tab].group);
        let start_site = from.as_ref().filter(|_| access).map_or(0, |from| from.site);
        let proc = self.home(group, start_site);
        let wide = self.auto_attach == AutoAttach::Wide;
        let from_proc = from.as_ref().map_or(0, |from| from.proc);
        // In a narrow browser an opener popup is held where some session lives in its opener's process.
        let watched = self
            .sessions
            .values()
            .any(|session| self.frames.get(&session.target).is_some_and(|frame| frame.proc == from_proc));
        let shared = self.rng.percent(25);
        let hold = match kind {
            Popup::Opener if wide || self.auto_attach == AutoAttach::Narrow && (watched || shared) => Hold::Held,
            Popup::Noopener if wide => Hold::Bare,
            Popup::Requested | Popup::Stranger if wide => Hold::Held,
            _ => Hold::Free,
        };
        match hold {
            Hold::Bare => self.seen("C8a: a popup is held before it has a renderer"),
            Hold::Held if access && !wide => self.seen("E2: a narrow browser holds a popup"),
            Hold::Held => self.seen("C6: a tab is held"),
            Hold::Free => self.seen("E4: a tab runs at once"),
        }
        let mut frame =
            Frame { tab, parent: None, site: start_site, page: 0, proc, oopif: false, pending: None, crashed: false };
        if let (Popup::Requested, Some(site), Some(opener)) = (kind, site, opener) {
            // Its address is known before it has a document.
            (frame.site, frame.page) = (site, tab);
            self.request_tab(opener, &Self::url(site, tab));
        }
        self.frames.insert(tab, frame);
        let opener_proc = from.as_ref().filter(|_| access && hold == Hold::Held).map(|from| from.proc);
        if let Some(proc) = opener_proc {
            self.proc_mut(proc).blocks += 1;
        }
        self.tabs.insert(
            tab,
            Tab {
                group,
                asked_by: from.as_ref().map(|from| from.tab),
                came_wide: wide,
                ordered: false,
                awaited: false,
                told: None,
                opener: from.filter(|_| kind != Popup::Requested).map(|from| from.tab),
                access,
                hold,
                bound_for: site,
                opener_proc,
                waiting: Vec::new(),
                crashed: false,
                dialog: None,
                lost: None,
                ghost: false,
                armed: None,
                armed_heard: None,
                asleep: false,
                leaving: None,
                going: None,
                stuck: false,
                saved: Vec::new(),
            },
        );
        self.target_created(tab, "page", &self.url_of(tab));
        if wide {
            self.attach(tab, "page", BROWSER, hold != Hold::Free);
        }
        if hold == Hold::Free {
            self.start_tab(tab);
        }
        tab
    }

    /// A page asks for a tab of its own, and says so just before that comes (fact E11).
    fn request_tab(&mut self, frame: No, url: &str) {
        self.seen("E11: a tab comes by ctrl+click");
        let params = format!(
            r#""frameId":"{}","reason":"anchorClick","url":"{url}","disposition":"newTab""#,
            self.frame_name(frame)
        );
        self.page_event(self.local_root(frame), "Page.frameRequestedNavigation", &params, Note::Nothing);
    }

    /// A resume frees whatever opener popup is held in the same renderer process (fact F3).
    pub(crate) fn free_popups_of_process(&mut self, target: No) -> Vec<No> {
        let Some(proc) = self.frames.get(&target).map(|frame| frame.proc) else { return Vec::new() };
        let held = |(tab, state): &(&No, &Tab)| {
            state.hold == Hold::Held && state.access && **tab != target && self.frames[*tab].proc == proc
        };
        let freed: Vec<No> = self.tabs.iter().filter(held).map(|(tab, _)| *tab).collect();
        for tab in &freed {
            self.release_tab(*tab);
        }
        freed
    }

    /// Lets a tab go that was held before its first script.
    pub(crate) fn release_tab(&mut self, tab: No) {
        let state = self.tab_mut(tab);
        if state.hold == Hold::Free {
            return;
        }
        state.hold = Hold::Free;
        let (frozen, waiting) = (state.opener_proc.take(), std::mem::take(&mut state.waiting));
        if let Some(proc) = frozen {
            self.unblock(proc);
        }
        let proc = self.frames[&tab].proc;
        self.proc_mut(proc).inbox.extend(waiting);
        for session in self.sessions_on(tab) {
            self.session_mut(session).held = false;
        }
        self.start_tab(tab);
    }

    fn start_tab(&mut self, tab: No) {
        if let Some(site) = self.tab_mut(tab).bound_for.take() {
            self.navigate_tab(tab, site);
        }
    }

    /// A tab is closed, whoever closes it (facts A23, C22).
    pub(crate) fn close_tab(&mut self, tab: No) {
        if let Some(proc) = self.tab_mut(tab).opener_proc.take() {
            self.unblock(proc);
        }
        self.end_dialogs(tab, true);
        for session in self.sessions_on(tab) {
            self.say(session, "Inspector.detached", r#""reason":"Render process gone.""#, None, Note::Nothing);
        }
        self.clear_below(tab);
        let mut gone: Option<Stamp> = None;
        for session in self.sessions.iter().filter(|(_, s)| s.target == tab).map(|(no, _)| *no).collect::<Vec<_>>() {
            gone = self.detach(session).or(gone);
        }
        self.frames.remove(&tab);
        self.tabs.remove(&tab);
        self.target_destroyed(tab, gone);
    }

    /// The browser throws a tab's page away. The tab goes on under a new target, at the same address (facts E12, F8).
    pub(crate) fn discard_tab(&mut self, old: No) {
        self.seen("E12: a tab is discarded");
        self.clear_below(old);
        let new = self.number();
        let mut state = self.tabs.remove(&old).expect("the model acts on tabs that there are");
        let mut frame = self.frames[&old].clone();
        // No renderer is behind it, so that nothing of its process's can reach it.
        (frame.tab, frame.proc) = (new, self.number());
        (state.asleep, state.opener, state.access) = (true, None, false);
        (state.told, state.awaited, state.came_wide) = (None, false, self.auto_attach == AutoAttach::Wide);
        state.saved.clear();
        let old_url = self.url_of(old);
        self.frames.insert(new, frame);
        self.tabs.insert(new, state);
        self.moved.insert(old, new);
        self.target_created(new, "page", &old_url);
        self.target_is_no_page(old, &old_url);
        for session in self.sessions_on(old) {
            self.say(session, "Inspector.detached", r#""reason":"Render process gone.""#, None, Note::Nothing);
        }
        let mut gone: Option<Stamp> = None;
        for session in self.sessions.iter().filter(|(_, s)| s.target == old).map(|(no, _)| *no).collect::<Vec<_>>() {
            gone = self.detach(session).or(gone);
        }
        self.frames.remove(&old);
        for popup in self.tabs.values_mut().filter(|popup| popup.opener == Some(old)) {
            popup.opener = None;
        }
        self.target_destroyed(old, gone);
        if self.auto_attach == AutoAttach::Wide {
            self.attach(new, "page", BROWSER, false);
        }
    }

    /// Its page is needed: it is loaded again, and does first what it was asked while it slept.
    pub(crate) fn wake_tab(&mut self, tab: No) {
        let state = self.tab_mut(tab);
        if std::mem::take(&mut state.asleep) {
            let waiting = std::mem::take(&mut state.waiting);
            let proc = self.frames[&tab].proc;
            self.proc_mut(proc).inbox.extend(waiting);
        }
    }

    pub(crate) fn add_worker(&mut self, tab: No) {
        for session in self.sessions_on(tab) {
            if self.sessions[&session].auto_attach {
                self.attach(tab, "worker", session, true);
            }
        }
    }

    /// A page lets itself be left, or the question was answered with yes.
    pub(crate) fn leave(&mut self, tab: No, leaving: Leaving) {
        match leaving {
            Leaving::To(site) => self.navigate_tab(tab, site),
            Leaving::Reload => self.reload(tab),
            Leaving::Close => self.close_tab(tab),
        }
    }
}
