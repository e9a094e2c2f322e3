//! Renderers crash, with all that they render (facts C19, C20, A23, A24).

use super::No;
use super::browser::{Browser, Frame, Hold};
use super::wire::{BROWSER, Note};

impl Browser {
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

    /// Returns whether the facts say what a crash of this process leaves behind.
    pub(crate) fn can_crash(&self, proc: No) -> bool {
        if !self.procs.contains_key(&proc)
            || self.frames.values().any(|frame| frame.pending.is_some_and(|(_, to)| to == proc))
        {
            return false;
        }
        self.tabs.iter().all(|(no, tab)| {
            let in_it = |frame: No| self.frames[&frame].proc == proc;
            let hit = self.frames_of(*no).into_iter().any(in_it);
            let dialog_stays = [tab.dialog, tab.lost].into_iter().flatten().all(|open| {
                let frame = self.dialogs[&open].frame;
                let root = self.local_root(frame);
                // A frame in a frame that nobody has a session on: nothing would tell.
                let told = frame == root || !self.sessions_on(root).is_empty();
                told && !self.above(root).into_iter().any(in_it)
            });
            let held =
                tab.hold != Hold::Free || self.frames_of(*no).iter().any(|frame| self.frames[frame].pending.is_some());
            !(hit && tab.stuck)
                && (!hit || in_it(*no) && !held && tab.armed.is_none() || dialog_stays && !held && tab.armed.is_none())
        })
    }
}
