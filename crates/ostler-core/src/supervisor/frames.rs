//! One tab's frames, across all of its sessions: invariant 4, "the tree is true".
//!
//! ```text
//!   frameAttached ──▶ in its parent's process ──attachedToTarget(iframe)──▶ OOPIF
//!                             ▲                                              │
//!                             └──── frameAttached ◀── detachedFromTarget ────┘
//!   frameDetached{remove}: gone with all below      frameDetached{swap}: nothing happened (C13)
//!   frameNavigated: all below is gone, except OOPIFs attached since the navigation started (C18)
//! ```

use std::collections::{HashMap, VecDeque};

use super::bridge::Sandbox;
use crate::ids::{FrameId, SessionId};
use crate::view::{FrameTreeView, FrameView, MAX_FRAMES, MAX_OOPIF_DEPTH, TopFrameView};

/// How many documents are remembered that may show no dialogs: far more than a tab shows at once.
const MAX_SANDBOXED: usize = 256;

/// What is known of one frame.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// `None` only for the top frame.
    pub(crate) parent: Option<FrameId>,
    pub(crate) url: String,
    pub(crate) origin: String,
    /// The session that reported it last (fact C24).
    pub(crate) reporter: SessionId,
    /// The session of its own target while it is an OOPIF.
    pub(crate) oopif: Option<SessionId>,
    /// Counts up over all frames, so that siblings keep their order.
    order: u64,
    /// Counts up with `order`: when its own target was attached; 0 if it has had none since it was announced.
    oopif_since: u64,
    /// Where the count stood when its latest navigation started.
    navigation_mark: Option<u64>,
    /// Which loading its document came by.
    pub(crate) loader: Option<Box<str>>,
    /// What the element that holds it says of dialogs, where that is looked at beforehand.
    pub(crate) owner: Option<Sandbox>,
}

/// A tab's frames.
#[derive(Debug)]
pub(crate) struct Frames {
    top: FrameId,
    frames: HashMap<FrameId, Frame>,
    count: u64,
    /// Documents that their own policies keep from showing dialogs, by their loading, the newest last.
    sandboxed: VecDeque<(Box<str>, Sandbox)>,
}

/// A frame as `Page.frameNavigated` and `Page.getFrameTree` describe it.
#[derive(Debug)]
pub(crate) struct FrameInfo {
    pub(crate) id: FrameId,
    pub(crate) parent: Option<FrameId>,
    pub(crate) url: String,
    pub(crate) origin: String,
    pub(crate) loader: Option<Box<str>>,
}

impl Frames {
    /// Starts with a top frame whose document is not known yet.
    pub(crate) fn new(top: FrameId, session: SessionId, url: String) -> Self {
        let mut frames = Self { top: top.clone(), frames: HashMap::new(), count: 0, sandboxed: VecDeque::new() };
        let info = FrameInfo { id: top, parent: None, url, origin: String::new(), loader: None };
        frames.upsert(info, &session);
        frames
    }

    pub(crate) fn top(&self) -> &FrameId {
        &self.top
    }

    pub(crate) fn get(&self, id: &FrameId) -> Option<&Frame> {
        self.frames.get(id)
    }

    /// Returns the session through which the frame's document is reached: its own, or the one that reported it.
    pub(crate) fn session_of(&self, id: &FrameId) -> Option<&SessionId> {
        self.frames.get(id).map(|frame| frame.oopif.as_ref().unwrap_or(&frame.reporter))
    }

    /// Returns all frame ids, parents before children.
    pub(crate) fn ids(&self) -> Vec<FrameId> {
        let mut all: Vec<_> = self.frames.iter().map(|(id, frame)| (frame.order, id.clone())).collect();
        all.sort_unstable_by_key(|(order, _)| *order);
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns the frames that `root` holds, itself included.
    pub(crate) fn subtree(&self, root: &FrameId) -> Vec<FrameId> {
        let mut children_of: HashMap<&FrameId, Vec<&FrameId>> = HashMap::new();
        for (id, frame) in &self.frames {
            if let Some(parent) = &frame.parent {
                children_of.entry(parent).or_default().push(id);
            }
        }
        let mut found = vec![root.clone()];
        let mut next = 0;
        while next < found.len() {
            // Taken out, so that parents that were told in a circle end as well.
            let children = children_of.remove(&found[next]).unwrap_or_default();
            found.extend(children.into_iter().filter(|child| *child != root).cloned());
            next += 1;
        }
        found
    }

    /// Returns whether a frame holds, or may hold, one of another process: what is below that is told on another session,
    /// and so perhaps later than its end.
    pub(crate) fn holds_oopif(&self, root: &FrameId) -> bool {
        let is_or_was = |frame: &Frame| frame.oopif_since > 0;
        self.subtree(root).iter().any(|id| self.frames.get(id).is_some_and(is_or_was))
    }

    pub(crate) fn on_attached(&mut self, id: FrameId, parent: FrameId, session: &SessionId) {
        let frame = self.entry(id, session);
        frame.parent = Some(parent);
        frame.reporter = session.clone();
        (frame.oopif, frame.oopif_since) = (None, 0);
    }

    pub(crate) fn on_started_navigating(&mut self, id: &FrameId) {
        let mark = self.count;
        if let Some(frame) = self.frames.get_mut(id) {
            frame.navigation_mark = Some(mark);
        }
    }

    /// Takes in a committed navigation; returns the frames that went with the old document.
    pub(crate) fn on_navigated(&mut self, info: FrameInfo, session: &SessionId) -> Vec<FrameId> {
        let id = info.id.clone();
        if info.parent.is_none() && id != self.top {
            // The tab's top frame was exchanged: nothing of the old tree is left.
            let gone: Vec<_> = self.frames.drain().map(|(id, _)| id).collect();
            self.top = id;
            self.upsert(info, session);
            return gone;
        }
        let mark = self.frames.get(&id).and_then(|frame| frame.navigation_mark);
        let mut gone = if id == self.top { self.ids() } else { self.subtree(&id) };
        gone.retain(|child| *child != id);
        gone.retain(|child| {
            let Some(frame) = self.frames.get(child) else { return true };
            let arrived_with_it = frame.oopif.is_some() && mark.is_some_and(|mark| frame.oopif_since > mark);
            !arrived_with_it
        });
        for child in &gone {
            self.frames.remove(child);
        }
        self.upsert(info, session);
        if let Some(frame) = self.frames.get_mut(&id) {
            frame.navigation_mark = None;
        }
        gone
    }

    /// Takes a frame out with all that it holds; returns what went.
    pub(crate) fn on_removed(&mut self, id: &FrameId) -> Vec<FrameId> {
        if *id == self.top || !self.frames.contains_key(id) {
            return Vec::new();
        }
        let gone = self.subtree(id);
        for frame in &gone {
            self.frames.remove(frame);
        }
        gone
    }

    pub(crate) fn on_oopif_attached(&mut self, id: FrameId, parent: Option<FrameId>, url: &str, session: &SessionId) {
        self.count += 1;
        let since = self.count;
        let top = self.top.clone();
        let frame = self.entry(id, session);
        frame.oopif = Some(session.clone());
        frame.oopif_since = since;
        if parent.is_some() {
            frame.parent = parent;
        } else if frame.parent.is_none() {
            frame.parent = Some(top);
        }
        if !url.is_empty() {
            url.clone_into(&mut frame.url);
        }
    }

    /// Forgets a session: its frame stays until it is removed or announced again (fact C15).
    pub(crate) fn on_session_gone(&mut self, session: &SessionId) {
        for frame in self.frames.values_mut() {
            if frame.oopif.as_ref() == Some(session) {
                frame.oopif = None;
            }
        }
    }

    /// Makes this session's part of the tree equal to what `Page.getFrameTree` gave for it.
    pub(crate) fn sync(&mut self, tree: Vec<FrameInfo>, session: &SessionId) {
        let listed: Vec<FrameId> = tree.iter().map(|info| info.id.clone()).collect();
        for info in tree {
            if info.parent.is_none() && info.id != self.top {
                self.frames.remove(&std::mem::replace(&mut self.top, info.id.clone()));
            }
            // A frame that was leaving this process when the tree was read: its own session knows better.
            let has_left = |frame: &Frame| frame.oopif.as_ref().is_some_and(|own| own != session);
            if !self.frames.get(&info.id).is_some_and(has_left) {
                self.upsert(info, session);
            }
        }
        let top = &self.top;
        self.frames.retain(|id, frame| {
            id == top || frame.oopif.is_some() || frame.reporter != *session || listed.contains(id)
        });
    }

    pub(crate) fn set_url(&mut self, id: &FrameId, url: String) {
        if let Some(frame) = self.frames.get_mut(id) {
            frame.url = url;
        }
    }

    /// Remembers that a document which is being loaded may show no dialogs. It may come back from the cache.
    pub(crate) fn remember_sandbox(&mut self, loader: Box<str>, sandbox: Sandbox) {
        if self.sandboxed.len() == MAX_SANDBOXED {
            self.sandboxed.pop_front();
        }
        self.sandboxed.push_back((loader, sandbox));
    }

    /// Returns the sandbox that the policy of a frame's document puts it in.
    pub(crate) fn sandbox_of_document(&self, frame: &Frame) -> Option<&Sandbox> {
        let loader = frame.loader.as_ref()?;
        self.sandboxed.iter().rev().find(|(known, _)| known == loader).map(|(_, sandbox)| sandbox)
    }

    pub(crate) fn set_owner(&mut self, id: &FrameId, sandbox: Sandbox) {
        if let Some(frame) = self.frames.get_mut(id) {
            frame.owner = Some(sandbox);
        }
    }

    fn upsert(&mut self, info: FrameInfo, session: &SessionId) {
        let frame = self.entry(info.id, session);
        frame.reporter = session.clone();
        frame.url = info.url;
        frame.origin = info.origin;
        frame.loader = info.loader;
        if info.parent.is_some() {
            frame.parent = info.parent;
        }
    }

    fn entry(&mut self, id: FrameId, session: &SessionId) -> &mut Frame {
        self.count += 1;
        let order = self.count;
        self.frames.entry(id).or_insert_with(|| Frame {
            parent: None,
            url: String::new(),
            origin: String::new(),
            reporter: session.clone(),
            oopif: None,
            order,
            oopif_since: 0,
            navigation_mark: None,
            loader: None,
            owner: None,
        })
    }

    /// Returns the contract's `frame_tree`.
    pub(crate) fn view(&self) -> Option<FrameTreeView> {
        self.tree(MAX_FRAMES, MAX_OOPIF_DEPTH)
    }

    /// Returns the tree with nothing left out.
    pub(crate) fn whole_view(&self) -> Option<FrameTreeView> {
        self.tree(usize::MAX, usize::MAX)
    }

    fn tree(&self, most_frames: usize, deepest_oopif: usize) -> Option<FrameTreeView> {
        let top = self.frames.get(&self.top)?;
        let mut children_of: HashMap<&FrameId, Vec<(u64, &FrameId, &Frame)>> = HashMap::new();
        for (id, frame) in &self.frames {
            if let Some(parent) = &frame.parent {
                children_of.entry(parent).or_default().push((frame.order, id, frame));
            }
        }
        let mut tree = FrameTreeView {
            top: TopFrameView { frame_id: self.top.clone(), url: top.url.clone(), origin: top.origin.clone() },
            children: Vec::new(),
            truncated: false,
        };
        // Breadth first, so that a cut leaves out the deepest frames.
        let mut level = vec![(&self.top, 0)];
        while !level.is_empty() {
            let mut below = Vec::new();
            for (parent, depth) in level {
                let mut children = children_of.remove(parent).unwrap_or_default();
                children.sort_unstable_by_key(|(order, ..)| *order);
                for (_, id, frame) in children {
                    let depth = depth + usize::from(frame.oopif.is_some());
                    if depth > deepest_oopif || tree.children.len() + 1 >= most_frames {
                        tree.truncated = true;
                        continue;
                    }
                    below.push((id, depth));
                    tree.children.push(FrameView {
                        frame_id: id.clone(),
                        url: frame.url.clone(),
                        is_oopif: frame.oopif.is_some(),
                        session_id: frame.oopif.clone(),
                        parent_frame_id: parent.clone(),
                    });
                }
            }
            level = below;
        }
        Some(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: &str) -> FrameId {
        FrameId::from(id)
    }

    fn session(id: &str) -> SessionId {
        SessionId::from(id)
    }

    fn info(id: &str, parent: Option<&str>, url: &str) -> FrameInfo {
        FrameInfo { id: frame(id), parent: parent.map(frame), url: url.to_owned(), origin: String::new(), loader: None }
    }

    fn tab() -> Frames {
        Frames::new(frame("top"), session("root"), "http://a/".to_owned())
    }

    fn shown(frames: &Frames) -> Vec<(String, Option<String>)> {
        let tree = frames.view().expect("a top frame");
        let text = |child: FrameView| (child.frame_id.to_string(), child.session_id.map(|s| s.to_string()));
        tree.children.into_iter().map(text).collect()
    }

    #[test]
    fn a_frame_that_swaps_into_its_own_process_and_back_keeps_its_place() {
        let mut frames = tab();
        frames.on_attached(frame("f"), frame("top"), &session("root"));
        frames.on_oopif_attached(frame("f"), Some(frame("top")), "", &session("oopif"));
        frames.on_navigated(info("f", Some("top"), "http://b/"), &session("oopif"));
        assert_eq!(shown(&frames), [("f".into(), Some("oopif".into()))]);
        assert_eq!(frames.session_of(&frame("f")), Some(&session("oopif")));

        frames.on_session_gone(&session("oopif"));
        frames.on_attached(frame("f"), frame("top"), &session("root"));
        frames.on_navigated(info("f", Some("top"), "http://a/2"), &session("root"));
        assert_eq!(shown(&frames), [("f".into(), None)]);
        assert_eq!(frames.session_of(&frame("f")), Some(&session("root")));
    }

    #[test]
    fn a_root_navigation_leaves_no_frame_of_the_old_document() {
        let mut frames = tab();
        frames.on_attached(frame("f"), frame("top"), &session("root"));
        frames.on_oopif_attached(frame("o"), Some(frame("f")), "http://b/", &session("oopif"));
        let gone = frames.on_navigated(info("top", None, "http://a/2"), &session("root"));
        assert_eq!((gone.len(), shown(&frames).len()), (2, 0));
    }

    #[test]
    fn oopifs_announced_before_a_restored_page_commits_stay() {
        let mut frames = tab();
        frames.on_oopif_attached(frame("old"), Some(frame("top")), "http://b/", &session("s1"));
        frames.on_started_navigating(&frame("top"));
        frames.on_oopif_attached(frame("new"), Some(frame("top")), "http://c/", &session("s2"));
        frames.on_navigated(info("top", None, "http://a/back"), &session("root"));
        assert_eq!(shown(&frames), [("new".into(), Some("s2".into()))]);
    }

    #[test]
    fn removing_a_frame_takes_all_that_it_holds() {
        let mut frames = tab();
        frames.on_attached(frame("f"), frame("top"), &session("root"));
        frames.on_attached(frame("g"), frame("f"), &session("root"));
        frames.on_oopif_attached(frame("h"), Some(frame("g")), "http://b/", &session("s"));
        assert_eq!(frames.on_removed(&frame("f")).len(), 3);
        assert_eq!(shown(&frames).len(), 0);
        assert!(frames.on_removed(&frame("top")).is_empty(), "the top frame only goes with its tab");
    }

    #[test]
    fn frames_that_hold_each_other_in_a_circle_are_removed_and_end() {
        let mut frames = tab();
        frames.on_attached(frame("f"), frame("g"), &session("root"));
        frames.on_attached(frame("g"), frame("f"), &session("root"));
        frames.on_attached(frame("self"), frame("self"), &session("root"));
        assert_eq!(shown(&frames).len(), 0);
        assert_eq!(frames.on_removed(&frame("f")).len(), 2);
        assert_eq!(frames.on_removed(&frame("self")).len(), 1);
    }

    #[test]
    fn reading_one_sessions_tree_drops_only_that_sessions_frames() {
        let mut frames = tab();
        frames.on_attached(frame("stale"), frame("top"), &session("root"));
        frames.on_oopif_attached(frame("o"), Some(frame("top")), "http://b/", &session("s"));
        frames.on_attached(frame("inner"), frame("o"), &session("s"));
        frames.sync(vec![info("top", None, "http://a/"), info("kept", Some("top"), "http://a/k")], &session("root"));
        assert_eq!(frames.ids().len(), 4);
        assert!(frames.get(&frame("stale")).is_none());
    }

    #[test]
    fn the_view_is_cut_at_thirty_frames_and_two_levels_of_oopifs_and_says_so() {
        let mut frames = tab();
        for i in 0..MAX_FRAMES - 1 {
            frames.on_attached(frame(&format!("f{i}")), frame("top"), &session("root"));
        }
        assert!(!frames.view().expect("a tree").truncated);
        frames.on_attached(frame("one more"), frame("top"), &session("root"));
        let tree = frames.view().expect("a tree");
        assert_eq!((tree.children.len(), tree.truncated), (MAX_FRAMES - 1, true));
        let whole = frames.whole_view().expect("a tree");
        assert_eq!((whole.children.len(), whole.truncated), (MAX_FRAMES, false));

        let mut deep = tab();
        for (id, parent) in [("a", "top"), ("b", "a"), ("c", "b")] {
            deep.on_oopif_attached(frame(id), Some(frame(parent)), "", &session(id));
        }
        let tree = deep.view().expect("a tree");
        assert_eq!((tree.children.len(), tree.truncated), (2, true));
    }
}
