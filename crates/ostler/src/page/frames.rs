//! Where each frame stands in the page, and through which session its document is reached.

use std::sync::Arc;

use ostler_core::view::FrameTreeView;
use ostler_core::{CallError, FrameId, SessionId};

use super::Page;
use crate::meta::TaskLayer;

/// The frames of the tab at one moment.
#[derive(Debug)]
pub(super) struct Frames {
    tree: Option<Arc<FrameTreeView>>,
    top: FrameId,
    session: SessionId,
}

impl<T: TaskLayer> Page<'_, T> {
    /// Returns the frame of that id, if the tab has it.
    pub(crate) fn frame(&self, id: &str) -> Result<FrameId, CallError> {
        self.frames()?.find(id)
    }

    /// Returns the frames that there are now.
    pub(super) fn frames(&self) -> Result<Frames, CallError> {
        let view = self.view()?;
        let ours = view.current.as_ref() == Some(&self.target);
        let tree = view.all_frames.clone().filter(|_| ours);
        Ok(Frames { tree, top: self.target.as_frame(), session: self.session.clone() })
    }
}

impl Frames {
    /// Returns the tab's own frame.
    pub(super) fn top(&self) -> &FrameId {
        self.tree.as_ref().map_or(&self.top, |tree| &tree.top.frame_id)
    }

    fn find(&self, id: &str) -> Result<FrameId, CallError> {
        let all = std::iter::once(self.top()).chain(self.below().map(|(id, _)| id));
        all.clone().find(|frame| frame.as_str() == id).cloned().ok_or_else(|| CallError::UnknownFrame {
            frame_id: id.to_owned(),
            known: all.map(ToString::to_string).collect(),
        })
    }

    /// Returns the frames that stand right inside of a frame.
    pub(super) fn children(&self, of: &FrameId) -> Vec<FrameId> {
        self.below().filter(|(_, parent)| *parent == of).map(|(id, _)| id.clone()).collect()
    }

    /// Returns the frame that holds a frame; `None` for the top one.
    pub(super) fn parent(&self, of: &FrameId) -> Option<&FrameId> {
        self.below().find(|(id, _)| *id == of).map(|(_, parent)| parent)
    }

    /// Returns the session of the process that a frame is in.
    pub(super) fn session(&self, of: &FrameId) -> &SessionId {
        let mut at = of;
        // As often as there are frames at most, should they be told in a circle.
        for _ in 0..=self.tree.as_ref().map_or(0, |tree| tree.children.len()) {
            let Some(child) = self.tree.iter().flat_map(|tree| &tree.children).find(|child| child.frame_id == *at)
            else {
                break;
            };
            if let Some(session) = &child.session_id {
                return session;
            }
            at = &child.parent_frame_id;
        }
        &self.session
    }

    fn below(&self) -> impl Iterator<Item = (&FrameId, &FrameId)> + Clone {
        self.tree.iter().flat_map(|tree| &tree.children).map(|child| (&child.frame_id, &child.parent_frame_id))
    }
}
