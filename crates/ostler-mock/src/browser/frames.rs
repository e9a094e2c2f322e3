//! Frames, and the order of events in which Chromium tells of them.
//!
//! An OOPIF is a frame with a target of its own, which bears the frame's id. The orders are those measured on Chromium
//! 156; each function names what it tells.

use super::dialogs::Caller;
use super::state::{Context, FrameNode, Held, Stall, State, Target};
use crate::ids::{FrameId, TargetId};
use crate::wire::quoted;

/// Which of the two events comes first when an OOPIF's element is removed: Chromium sends them in either order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalOrder {
    /// `Page.frameDetached`, then `Target.detachedFromTarget`.
    FrameFirst,
    /// `Target.detachedFromTarget`, then `Page.frameDetached`.
    SessionFirst,
}

/// Looking at the tree.
impl State {
    /// Returns a frame and all below it, parents first, across processes.
    pub(super) fn frames_below(&self, root: &FrameId) -> Vec<FrameId> {
        let mut found = vec![root.clone()];
        let mut next = 0;
        while let Some(id) = found.get(next) {
            if let Some(frame) = self.frames.get(id) {
                found.extend(frame.children.iter().cloned());
            }
            next += 1;
        }
        found
    }

    /// Returns the frames that live in the process of a target, parents first.
    pub(super) fn local_frames(&self, target: &TargetId) -> Vec<FrameId> {
        let mut found = self.frames_below(&target.root_frame());
        found.retain(|id| self.frames.get(id).is_some_and(|frame| frame.target == *target));
        found
    }

    /// Returns the OOPIFs whose parent frame lives in the process of a target.
    pub(super) fn oopifs_of(&self, target: &TargetId) -> Vec<TargetId> {
        let is_child = |id: &FrameId| {
            let own = id.own_target();
            let parent = self.targets.get(&own)?.parent.as_ref()?;
            (parent == target).then_some(own)
        };
        let frames = self.frames_below(&target.root_frame());
        frames.iter().filter_map(is_child).collect()
    }

    /// Returns what `Page.getFrameTree` shows: the frames of this process alone.
    pub(super) fn frame_tree(&self, target: &TargetId) -> String {
        self.branch(&target.root_frame(), target)
    }

    fn branch(&self, id: &FrameId, target: &TargetId) -> String {
        let info = self.frame_info(id);
        let children = self.frames.get(id).map_or(&[][..], |frame| &frame.children);
        let local = |id: &&FrameId| self.frames.get(id).is_some_and(|frame| frame.target == *target);
        let branches: Vec<_> = children.iter().filter(local).map(|id| self.branch(id, target)).collect();
        match branches.is_empty() {
            true => format!(r#"{{"frame":{info}}}"#),
            false => format!(r#"{{"frame":{info},"childFrames":[{}]}}"#, branches.join(",")),
        }
    }

    pub(super) fn history(&self, target: &TargetId) -> String {
        let url = self.targets.get(target).map_or("", |target| &target.url);
        format!(
            r#"{{"currentIndex":0,"entries":[{{"id":1,"url":{url},"userTypedURL":{url},"title":"","transitionType":"typed"}}]}}"#,
            url = quoted(url)
        )
    }
}

/// Documents.
impl State {
    /// A new document commits in a frame; the command that asked for it, if any, is answered on the way.
    pub(super) fn navigate(&mut self, id: &FrameId, url: &str, asked: Option<Caller>) {
        let Some(target) = self.frames.get(id).map(|frame| frame.target.clone()) else {
            return;
        };
        let is_root = *id == target.root_frame();
        if is_root {
            self.close_dialog_with_page(&target);
            self.terminate(&target, "Inspected target navigated or closed");
        }
        let crashed = self.unstall_for_navigation(&target, is_root);
        let loader = self.hex_id('1');
        self.start_navigating(&target, id, url, &loader);
        if let Some((connection, command)) = asked {
            let result = format!(r#"{{"frameId":"{id}","loaderId":"{loader}","isDownload":false}}"#);
            match command.method.as_str() {
                "Page.navigate" => self.reply(connection, &command, &result),
                _ => self.reply(connection, &command, "{}"),
            }
        }
        if crashed {
            self.target_event(&target, |_| true, "Inspector.targetReloadedAfterCrash", "{}");
        }
        self.drop_children(id, is_root);
        if is_root {
            self.runtime_event(&target, "Runtime.executionContextsCleared", "{}");
        } else if let Some(left) = self.frames.get_mut(id).and_then(|frame| frame.context.take()) {
            self.context_destroyed(&target, &left);
        }
        self.commit(&target, id, url, loader);
        self.drain_queue(&target);
    }

    fn start_navigating(&mut self, target: &TargetId, id: &FrameId, url: &str, loader: &str) {
        let started = format!(
            r#"{{"frameId":"{id}","url":{},"loaderId":"{loader}","navigationType":"differentDocument"}}"#,
            quoted(url)
        );
        self.page_event(target, "Page.frameStartedNavigating", &started);
        self.page_event(target, "Page.frameStartedLoading", &format!(r#"{{"frameId":"{id}"}}"#));
    }

    /// The new document is there: its frame is told, its target, its context, and that it has loaded.
    fn commit(&mut self, target: &TargetId, id: &FrameId, url: &str, loader: String) {
        let context = self.context(target);
        if let Some(frame) = self.frames.get_mut(id) {
            url.clone_into(&mut frame.url);
            frame.loader = loader;
            frame.context = context;
        }
        let is_root = *id == target.root_frame();
        let info = self.frame_info(id);
        let navigated = format!(r#"{{"frame":{info},"type":"Navigation"}}"#);
        self.page_event(target, "Page.frameNavigated", &navigated);
        if let Some(state) = self.targets.get_mut(target).filter(|_| is_root) {
            url.clone_into(&mut state.url);
            url.clone_into(&mut state.title);
            self.info_changed(target);
        }
        if let Some(context) = self.context_info(id) {
            self.runtime_event(target, "Runtime.executionContextCreated", &context);
        }
        if is_root {
            let at = format!(r#"{{"timestamp":{}}}"#, self.number());
            self.page_event(target, "Page.domContentEventFired", &at);
            self.page_event(target, "Page.loadEventFired", &at);
        }
        self.page_event(target, "Page.frameStoppedLoading", &format!(r#"{{"frameId":"{id}"}}"#));
    }

    /// When a root leaves, only its OOPIFs' sessions say so; below another frame, each frame is told to have gone.
    fn drop_children(&mut self, id: &FrameId, is_root: bool) {
        let Some(frame) = self.frames.get_mut(id) else {
            return;
        };
        for child in std::mem::take(&mut frame.children) {
            if is_root {
                for frame in self.frames_below(&child).iter().rev() {
                    self.end_target(&frame.own_target());
                    self.frames.remove(frame);
                }
            } else {
                self.remove_frame(&child, RemovalOrder::FrameFirst);
            }
        }
    }

    fn context_destroyed(&mut self, target: &TargetId, left: &Context) {
        let params = format!(r#"{{"executionContextId":{},"executionContextUniqueId":"{}"}}"#, left.id, left.unique);
        self.runtime_event(target, "Runtime.executionContextDestroyed", &params);
    }

    /// Returns whether the renderer had crashed.
    fn unstall_for_navigation(&mut self, target: &TargetId, is_root: bool) -> bool {
        let Some(target) = self.targets.get_mut(target).filter(|_| is_root) else {
            return false;
        };
        target.held = None;
        target.stall.take() == Some(Stall::Crashed)
    }
}

/// Child frames.
impl State {
    /// A frame is put into the document of `parent`, in the same process.
    pub(super) fn add_frame(&mut self, parent: &FrameId, url: &str) -> FrameId {
        let id = self.insert_frame(parent, url);
        if let Some(target) = self.frames.get(&id).map(|frame| frame.target.clone()) {
            let loader = self.hex_id('1');
            self.commit(&target, &id, url, loader);
        }
        id
    }

    /// A frame is put into the document of `parent`, and its first document is one of another site.
    pub(super) fn add_oopif(&mut self, parent: &FrameId, url: &str) -> FrameId {
        let id = self.insert_frame(parent, "");
        self.move_out(&id, url);
        id
    }

    fn insert_frame(&mut self, parent: &FrameId, url: &str) -> FrameId {
        let id = FrameId::from(self.hex_id('F'));
        let Some(around) = self.frames.get_mut(parent) else {
            return id;
        };
        around.children.push(id.clone());
        let target = around.target.clone();
        let frame = FrameNode {
            parent: Some(parent.clone()),
            children: Vec::new(),
            target: target.clone(),
            url: url.to_owned(),
            loader: self.hex_id('1'),
            context: None,
        };
        self.frames.insert(id.clone(), frame);
        let attached = format!(r#"{{"frameId":"{id}","parentFrameId":"{parent}"}}"#);
        self.page_event(&target, "Page.frameAttached", &attached);
        id
    }

    /// A frame of its parent's process navigates to another site and becomes an OOPIF: it is announced on the sessions
    /// around it, and waits there to be resumed.
    pub(super) fn move_out(&mut self, id: &FrameId, url: &str) {
        let Some(frame) = self.frames.get_mut(id) else {
            return;
        };
        let around = frame.target.clone();
        let own = id.own_target();
        if around == own {
            return;
        }
        frame.target = own.clone();
        let left_context = frame.context.take();
        let loader = self.hex_id('1');
        self.start_navigating(&around, id, url, &loader);
        let mut target = Target::new("iframe", "");
        target.parent = Some(around.clone());
        self.targets.insert(own.clone(), target);
        self.announce(&own);
        let mut holders = Vec::new();
        let sessions = self.targets.get(&around).map_or_else(Vec::new, |target| target.sessions.clone());
        for via in sessions {
            let Some(session) = self.sessions.get(&via) else {
                continue;
            };
            let connection = session.connection;
            let wanted = session.auto_attach.as_ref().filter(|wanted| wanted.takes("iframe"));
            if let Some(waits) = wanted.map(|wanted| wanted.waits) {
                let session = self.attach(connection, Some(&via), &own, true, waits);
                if waits {
                    holders.push((connection, session));
                }
            }
        }
        let held = !holders.is_empty();
        if let Some(target) = self.targets.get_mut(&own) {
            target.held = Some(Held { url: url.to_owned(), by: holders, one_resume_frees: false, left_context });
        }
        if !held {
            self.begin(&own);
        }
    }

    /// The OOPIF's document commits, and only then does the process that it left say `swap`.
    pub(super) fn begin_oopif(&mut self, own: &TargetId, url: &str, left: Option<Context>) {
        let id = own.root_frame();
        let Some(around) = self.targets.get(own).and_then(|target| target.parent.clone()) else {
            return;
        };
        self.runtime_event(own, "Runtime.executionContextsCleared", "{}");
        let loader = self.hex_id('1');
        self.commit(own, &id, url, loader);
        let swapped = format!(r#"{{"frameId":"{id}","reason":"swap"}}"#);
        self.page_event(&around, "Page.frameDetached", &swapped);
        if let Some(left) = left {
            self.context_destroyed(&around, &left);
        }
    }

    /// An OOPIF navigates back to its parent's site: its session ends, and the parent's process announces it anew.
    pub(super) fn move_in(&mut self, id: &FrameId, url: &str) {
        let own = id.own_target();
        let Some(around) = self.targets.get(&own).and_then(|target| target.parent.clone()) else {
            return;
        };
        self.drop_children(id, true);
        self.end_target(&own);
        let Some(frame) = self.frames.get_mut(id) else {
            return;
        };
        frame.target = around.clone();
        let parent = frame.parent.as_ref().map_or("", FrameId::as_str);
        let attached = format!(r#"{{"frameId":"{id}","parentFrameId":"{parent}"}}"#);
        self.page_event(&around, "Page.frameAttached", &attached);
        let loader = self.hex_id('1');
        self.commit(&around, id, url, loader);
    }

    /// The frame's element is removed from its parent's document.
    pub(super) fn remove_frame(&mut self, id: &FrameId, order: RemovalOrder) {
        let Some(frame) = self.frames.get(id) else {
            return;
        };
        let Some(parent) = frame.parent.clone() else {
            return;
        };
        let Some(around) = self.frames.get(&parent).map(|parent| parent.target.clone()) else {
            return;
        };
        self.lose_dialogs_below(id);
        let detached = format!(r#"{{"frameId":"{id}","reason":"remove"}}"#);
        if order == RemovalOrder::FrameFirst {
            self.page_event(&around, "Page.frameDetached", &detached);
        }
        for below in self.frames_below(id).iter().rev() {
            let own = below.own_target();
            if self.targets.contains_key(&own) {
                self.end_target(&own);
            } else if let Some(left) = self.frames.get_mut(below).and_then(|frame| frame.context.take()) {
                self.context_destroyed(&around, &left);
            }
            self.frames.remove(below);
        }
        if order == RemovalOrder::SessionFirst {
            self.page_event(&around, "Page.frameDetached", &detached);
        }
        if let Some(parent) = self.frames.get_mut(&parent) {
            parent.children.retain(|child| child != id);
        }
    }

    /// A renderer crashes: the frames below go, whoever watches the target is told, and its commands are lost.
    pub(super) fn crash(&mut self, id: &TargetId) {
        if self.trips_over_lost_dialog(id) {
            return;
        }
        self.close_dialog_with_page(id);
        let children = self.frames.get(&id.root_frame()).map_or_else(Vec::new, |frame| frame.children.clone());
        for child in children {
            self.remove_frame(&child, RemovalOrder::FrameFirst);
        }
        self.target_event(id, |_| true, "Inspector.targetCrashed", "{}");
        let crashed = format!(r#"{{"targetId":"{id}","status":"crashed","errorCode":11}}"#);
        self.discovery_event("Target.targetCrashed", &crashed);
        if let Some(target) = self.targets.get_mut(id) {
            target.stall = Some(Stall::Crashed);
            target.queue.clear();
        }
        if let Some(frame) = self.frames.get_mut(&id.root_frame()) {
            frame.context = None;
        }
    }
}
