//! What pages, people and crashes do to tabs and frames, told in the orders of facts C13 to C20 and E10.

use super::No;
use super::browser::{AutoAttach, Browser, Frame, Hold, Proc, Saved, Tab};
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
    // --- frames ---

    /// A page adds a frame; it is in its parent's process until it navigates.
    pub(crate) fn add_frame(&mut self, parent: No, site: u8) {
        let frame = self.number();
        let above = self.frames[&parent].clone();
        let new = Frame {
            parent: Some(parent),
            site: above.site,
            page: 0,
            oopif: false,
            pending: None,
            crashed: false,
            ..above
        };
        self.frames.insert(frame, new);
        self.frame_attached(frame);
        self.navigate_frame(frame, site);
    }

    fn frame_attached(&mut self, frame: No) {
        let parent = self.frames[&frame].parent.expect("a frame below the top");
        let params = format!(r#""frameId":"{}","parentFrameId":"{}""#, self.frame_name(frame), self.frame_name(parent));
        self.page_event(self.local_root(parent), "Page.frameAttached", &params, Note::Nothing);
    }

    fn started_navigating(&mut self, frame: No, kind: &str) {
        let name = self.frame_name(frame);
        let params = format!(r#""frameId":"{name}","url":"http://s.test/","loaderId":"L","navigationType":"{kind}""#);
        self.page_event(self.local_root(frame), "Page.frameStartedNavigating", &params, Note::Nothing);
    }

    /// A frame below the top goes to a site: within its process, into another one, or back.
    pub(crate) fn navigate_frame(&mut self, frame: No, site: u8) {
        let Frame { tab, parent, oopif, proc, .. } = self.frames[&frame].clone();
        let parent = parent.expect("a frame below the top");
        let parent_proc = self.frames[&parent].proc;
        let group = self.tabs[&tab].group;
        let home = self.home(group, site);
        self.started_navigating(frame, "differentDocument");
        match (oopif, home != parent_proc) {
            (false, false) => self.commit(frame, site, proc),
            (false, true) => {
                self.seen("C13: a frame leaves its parent's process");
                self.target_created(frame, "iframe", "");
                let above = self.sessions_on(self.local_root(parent));
                let watching: Vec<No> = above.into_iter().filter(|no| self.sessions[no].auto_attach).collect();
                for session in &watching {
                    self.attach(frame, "iframe", *session, true);
                }
                self.frame_mut(frame).pending = Some((site, home));
                if watching.is_empty() {
                    self.swap_in(frame);
                }
            }
            (true, true) => {
                self.seen("C14: an OOPIF navigates");
                self.move_commands(frame, proc, home);
                self.runtime_event(frame, "Runtime.executionContextsCleared", "");
                self.commit(frame, site, home);
            }
            (true, false) => {
                self.seen("C15: an OOPIF goes back to its parent's process");
                self.clear_below(frame);
                let gone = self.detach_target(frame);
                self.target_destroyed(frame, gone);
                let known = self.frame_mut(frame);
                (known.oopif, known.proc) = (false, home);
                self.frame_attached(frame);
                self.commit(frame, site, home);
            }
        }
    }

    /// A frame that was held on its way into another process goes there (fact C13).
    pub(crate) fn swap_in(&mut self, frame: No) {
        let Some((site, mut home)) = self.frame_mut(frame).pending.take() else { return };
        if !self.runs_scripts(home) {
            let blocked = home;
            home = self.home(self.tabs[&self.frames[&frame].tab].group, site);
            self.move_commands(frame, blocked, home);
        }
        let parent = self.frames[&frame].parent.expect("a frame below the top");
        self.clear_below(frame);
        self.frame_mut(frame).oopif = true;
        self.runtime_event(frame, "Runtime.executionContextsCleared", "");
        self.commit(frame, site, home);
        let sessions = self.sessions_on(frame);
        let name = self.frame_name(frame);
        for root in self.sessions_on(self.local_root(parent)) {
            if self.sessions[&root].page {
                let after = sessions.first().and_then(|session| self.out.tail(*session));
                self.say(
                    root,
                    "Page.frameDetached",
                    &format!(r#""frameId":"{name}","reason":"swap""#),
                    after,
                    Note::Nothing,
                );
            }
        }
    }

    /// A new document takes the place of the frame's old one.
    fn commit(&mut self, frame: No, site: u8, proc: No) {
        self.clear_below(frame);
        let page = self.number();
        let known = self.frame_mut(frame);
        (known.site, known.page, known.proc, known.crashed) = (site, page, proc, false);
        self.frame_navigated(frame, "Navigation");
        self.context_created(frame);
    }

    /// The documents below a frame go with its own, without a word on the frames themselves (fact C17).
    fn clear_below(&mut self, frame: No) {
        let below = self.below(frame);
        self.end_dialogs_in(self.frames[&frame].tab, &below);
        for child in below {
            if self.frames[&child].oopif || self.frames[&child].pending.is_some() {
                let gone = self.detach_target(child);
                self.target_destroyed(child, gone);
            }
            self.frames.remove(&child);
        }
    }

    /// A page removes a frame; the order of the two messages varies (fact C16).
    pub(crate) fn remove_frame(&mut self, frame: No) {
        let Frame { tab, parent, .. } = self.frames[&frame].clone();
        let root = self.local_root(parent.expect("a frame below the top"));
        let mut gone = self.below(frame);
        gone.push(frame);
        let owner = self.tabs[&tab].dialog.filter(|dialog| gone.contains(&self.dialogs[dialog].frame));
        let note = owner.map_or(Note::Nothing, |dialog| Note::Orphaned(tab, dialog, 0));
        let params = format!(r#""frameId":"{}","reason":"remove""#, self.frame_name(frame));
        let sessions_first = self.rng.percent(50);
        if sessions_first {
            self.drop_targets(&gone);
        }
        self.page_event(root, "Page.frameDetached", &params, note);
        if !sessions_first {
            self.drop_targets(&gone);
        }
        for frame in gone {
            self.frames.remove(&frame);
        }
        self.seen("C16: a frame is removed");
        if let Some(dialog) = owner {
            self.seen("A25: a frame is removed under its dialog");
            self.orphan_by_removal(tab, dialog);
        }
    }

    fn drop_targets(&mut self, frames: &[No]) {
        for frame in frames {
            let gone = self.detach_target(*frame);
            if gone.is_some() || self.frames[frame].oopif {
                self.target_destroyed(*frame, gone);
            }
        }
    }

    pub(crate) fn navigate_within(&mut self, frame: No) {
        let page = self.number();
        self.frame_mut(frame).page = page;
        let params = format!(r#""frameId":"{}","url":"{}""#, self.frame_name(frame), self.url_of(frame));
        self.page_event(self.local_root(frame), "Page.navigatedWithinDocument", &params, Note::Nothing);
        if self.tabs.contains_key(&frame) {
            self.target_changed(frame);
        }
    }

    // --- tabs ---

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
                leaving: None,
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
    pub(crate) fn free_popups_of_process(&mut self, target: No) {
        let Some(proc) = self.frames.get(&target).map(|frame| frame.proc) else { return };
        let held = |(tab, state): &(&No, &Tab)| {
            state.hold == Hold::Held && state.access && **tab != target && self.frames[*tab].proc == proc
        };
        for tab in self.tabs.iter().filter(held).map(|(tab, _)| *tab).collect::<Vec<_>>() {
            self.seen("F3: a resume frees a popup of the same process");
            self.release_tab(tab);
        }
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

    // --- crashes ---

    /// A renderer crashes, with all that it renders (facts C19, C20, A23, A24).
    pub(crate) fn crash(&mut self, proc: No) {
        self.homes.retain(|_, home| *home != proc);
        let mine = |frame: &Frame| frame.proc == proc && !frame.crashed;
        let hit: Vec<No> = self.frames.iter().filter(|(_, frame)| mine(frame)).map(|(no, _)| *no).collect();
        for frame in hit {
            // A frame above may have taken it along.
            let Some(known) = self.frames.get(&frame).cloned() else { continue };
            let top = known.parent.is_none();
            if !top && !known.oopif {
                continue;
            }
            let tab = known.tab;
            if top {
                self.seen("C20: a page crashes");
                self.end_dialogs(tab, true);
            } else {
                self.seen("C19: an OOPIF crashes");
                self.end_dialog_of_crashed(tab, frame, proc);
            }
            for child in self.children(frame) {
                self.remove_frame(child);
            }
            for session in self.sessions_on(frame) {
                self.say(session, "Inspector.targetCrashed", "", None, Note::Nothing);
            }
            if self.discover {
                let params = format!(r#""targetId":"{}","status":"crashed","errorCode":5"#, self.frame_name(frame));
                self.say(BROWSER, "Target.targetCrashed", &params, None, Note::Nothing);
            }
            if top {
                self.tab_mut(tab).crashed = true;
            }
            self.frame_mut(frame).crashed = true;
        }
        self.procs.remove(&proc);
    }

    // --- small things ---

    pub(crate) fn add_worker(&mut self, tab: No) {
        for session in self.sessions_on(tab) {
            if self.sessions[&session].auto_attach {
                self.attach(tab, "worker", session, true);
            }
        }
    }

    pub(crate) fn console(&mut self, frame: No) {
        let n = self.number();
        let params = match n % 3 {
            0 => format!(r#""type":"error","args":[{{"type":"string","value":"e{n}"~}}],"executionContextId":1,"timestamp":1.5"#),
            1 => r#""timestamp":2,"exceptionDetails":{"exceptionId":1,"text":"Uncaught","lineNumber":1,"columnNumber":2~}"#
                .to_owned(),
            _ => format!(r#""type":"log","args":[],"executionContextId":1,"timestamp":{n}"#),
        };
        let method = if n % 3 == 1 { "Runtime.exceptionThrown" } else { "Runtime.consoleAPICalled" };
        self.runtime_event(self.local_root(frame), method, &params);
    }

    /// A page lets itself be left, or the question was answered with yes.
    pub(crate) fn leave(&mut self, tab: No, leaving: Leaving) {
        match leaving {
            Leaving::To(site) => self.navigate_tab(tab, site),
            Leaving::Reload => self.reload(tab),
            Leaving::Close => self.close_tab(tab),
        }
    }

    /// What a target's sessions have asked its renderer goes to its next one; what asked for the
    /// document itself ends with it (fact A19).
    fn move_commands(&mut self, target: No, from: No, to: No) {
        let Some(old) = self.procs.get_mut(&from) else { return };
        let on_target = |session: &Option<No>, sessions: &std::collections::BTreeMap<No, super::browser::Session>| {
            session
                .and_then(|session| sessions.get(&session))
                .is_some_and(|session| session.target == target && !session.worker)
        };
        let all = std::mem::take(&mut old.inbox);
        let (moved, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|command| on_target(&command.session, &self.sessions));
        self.proc_mut(from).inbox.extend(kept);
        for command in moved {
            if command.mark.is_some() && self.rng.percent(50) {
                self.reply_error(&command, -32000, "Inspected target navigated or closed");
            } else {
                self.proc_mut(to).inbox.push_back(command);
            }
        }
    }

    pub(crate) fn frame_mut(&mut self, frame: No) -> &mut Frame {
        self.frames.get_mut(&frame).expect("the model acts on frames that there are")
    }

    pub(crate) fn tab_mut(&mut self, tab: No) -> &mut Tab {
        self.tabs.get_mut(&tab).expect("the model acts on tabs that there are")
    }

    pub(crate) fn session_mut(&mut self, session: No) -> &mut super::browser::Session {
        self.sessions.get_mut(&session).expect("the model acts on sessions that there are")
    }

    pub(crate) fn proc_mut(&mut self, proc: No) -> &mut Proc {
        self.procs.entry(proc).or_default()
    }

    pub(crate) fn unblock(&mut self, proc: No) {
        if let Some(proc) = self.procs.get_mut(&proc) {
            proc.blocks = proc.blocks.saturating_sub(1);
        }
    }
}
