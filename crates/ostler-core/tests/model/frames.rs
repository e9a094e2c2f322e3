//! What pages do to their frames, told in the orders of facts C13 to C17.

use super::No;
use super::browser::{Browser, Frame, Session};
use super::wire::Note;

impl Browser {
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

    pub(crate) fn started_navigating(&mut self, frame: No, kind: &str) {
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
    pub(crate) fn commit(&mut self, frame: No, site: u8, proc: No) {
        self.clear_below(frame);
        let page = self.number();
        let known = self.frame_mut(frame);
        (known.site, known.page, known.proc, known.crashed) = (site, page, proc, false);
        self.frame_navigated(frame, "Navigation");
        self.context_created(frame);
    }

    /// The documents below a frame go with its own, without a word on the frames themselves (fact C17).
    pub(crate) fn clear_below(&mut self, frame: No) {
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

    /// What a target's sessions have asked its renderer goes to its next one; what asked for the
    /// document itself ends with it (fact A19).
    pub(crate) fn move_commands(&mut self, target: No, from: No, to: No) {
        let Some(old) = self.procs.get_mut(&from) else { return };
        let on_target = |session: &Option<No>, sessions: &std::collections::BTreeMap<No, Session>| {
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
}
