//! Which frames have gone under their open dialogs, where nobody tells: no session of ours has seen the frame that asks,
//! or the one that held it. What follows from it is in `recovery.rs`.

use super::dialogs::Dialog;
use super::sessions::Tab;
use super::{Supervisor, wire};
use crate::ids::{FrameId, SessionId, TargetId};

impl Supervisor {
    /// Returns the frames of a session that have a dialog open. One that was lost to another (A26) is none:
    /// navigating the tab is its way out, and takes the session along without a word on the dialog.
    pub(super) fn frames_asking_in(&self, target: &TargetId, session: &SessionId) -> Vec<FrameId> {
        let dialogs = self.tabs.get(target).into_iter().flat_map(|tab| &tab.dialogs);
        let open = dialogs.filter(|dialog| dialog.owner == *session && dialog.view.answerable && !dialog.is_bridged());
        open.map(|dialog| dialog.view.frame_id.clone()).collect()
    }

    /// Returns the frames with an open dialog that the tree does not hold, and that may have gone with these. Of a frame
    /// with a target of its own that target tells; of any other nothing does, and the worse counts if more `may_be_below`
    /// those that went than was known. One that was lost to another (A26) does not count, as in the above.
    pub(super) fn unknown_frames_gone(&self, target: &TargetId, gone: &[FrameId], may_be_below: bool) -> Vec<FrameId> {
        let Some(tab) = self.tabs.get(target) else { return Vec::new() };
        let in_tree = |frame: &FrameId| tab.frames.as_ref().is_some_and(|frames| frames.get(frame).is_some());
        let open = |dialog: &&Dialog| dialog.view.answerable && !dialog.is_bridged();
        let asking = tab.dialogs.iter().filter(open).map(|dialog| &dialog.view.frame_id);
        let went = |frame: &&FrameId| match self.target_of_frame(frame) {
            Some(info) => self.targets_above(info).any(|above| gone.contains(above)),
            None => may_be_below,
        };
        asking.filter(|frame| !in_tree(frame)).filter(went).cloned().collect()
    }

    fn target_of_frame(&self, frame: &FrameId) -> Option<&wire::TargetInfo> {
        self.targets.iter().find(|info| info.target_id.as_str() == frame.as_str())
    }

    /// Returns the frames that hold a frame's target, from below, as far as targets tell.
    fn targets_above<'a>(&'a self, info: &'a wire::TargetInfo) -> impl Iterator<Item = &'a FrameId> {
        let next = |above: &&'a FrameId| self.target_of_frame(above)?.parent_frame_id.as_ref();
        // Not for ever, should targets be told to hold each other in a circle.
        std::iter::successors(info.parent_frame_id.as_ref(), next).take(self.targets.len() + 1)
    }

    /// The target of a frame has gone. Where no session of ours has seen that frame, no other word comes on the frames
    /// that it held, and one of them may be what asks: the worse counts.
    pub(super) fn on_unseen_frame_gone(&mut self, frame: &FrameId, parent: &FrameId) {
        // Frames come and go by the thousand, and nearly always nothing asks anything.
        if self.asking.is_empty() || self.page_of_frame(frame).is_some() {
            return;
        }
        let page = self.page_of_frame(parent);
        let may_hold = |tab: &&TargetId| page.as_ref().is_none_or(|page| page == *tab);
        for tab in self.asking.iter().filter(may_hold).cloned().collect::<Vec<_>>() {
            let asking = self.unknown_frames_gone(&tab, std::slice::from_ref(frame), true);
            self.on_frames_removed(&tab, &asking);
        }
    }

    /// Returns the page that holds a frame, as far as trees and targets tell.
    fn page_of_frame(&self, frame: &FrameId) -> Option<TargetId> {
        let holds = |tab: &Tab, frame: &FrameId| tab.frames.as_ref().is_some_and(|frames| frames.get(frame).is_some());
        let page_of = |frame: &FrameId| {
            let ours = self.tabs.iter().find(|(_, tab)| holds(tab, frame)).map(|(page, _)| page);
            let page = || self.target_of_frame(frame).filter(|info| info.parent_frame_id.is_none());
            ours.or_else(|| page().map(|info| &info.target_id)).cloned()
        };
        let above = || self.targets_above(self.target_of_frame(frame)?).find_map(page_of);
        page_of(frame).or_else(above)
    }
}
