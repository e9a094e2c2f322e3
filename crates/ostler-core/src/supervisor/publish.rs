//! From what is known to what is shown: builds the parts of a task's view that have changed.

use std::ops::{BitOr, BitOrAssign};
use std::sync::{Arc, OnceLock};

use super::Supervisor;
use super::answers::AnsweredBy;
use super::dialogs::Dialog;
use super::frames::Frames;
use super::link::Link;
use crate::ids::{DialogId, TargetId, TaskId};
use crate::view::{
    ClosedDialogView, ConsoleEntry, DialogView, FrameTreeView, PolicyView, SessionView, TabView, TaskView,
};

/// Which parts of a view are out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dirty(u8);

impl Dirty {
    pub(super) const NONE: Self = Self(0);
    pub(super) const TABS: Self = Self(1);
    pub(super) const DIALOGS: Self = Self(2);
    pub(super) const FRAMES: Self = Self(4);
    pub(super) const CONSOLE: Self = Self(8);
    pub(super) const SESSIONS: Self = Self(16);
    pub(super) const POLICY: Self = Self(32);
    pub(super) const ALL: Self = Self(63);

    fn has(self, part: Self) -> bool {
        self.0 & part.0 != 0
    }
}

impl BitOr for Dirty {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Dirty {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The parts of the view that was published last.
#[derive(Debug, Default)]
pub(super) struct Parts {
    tabs: Arc<[TabView]>,
    pending: Arc<[Arc<DialogView>]>,
    by_policy: Arc<[DialogId]>,
    recent: Arc<[ClosedDialogView]>,
    frame_tree: Option<Arc<FrameTreeView>>,
    all_frames: Option<Arc<FrameTreeView>>,
    console: Arc<[ConsoleEntry]>,
    sessions: Arc<[SessionView]>,
}

impl Supervisor {
    /// Notes that part of the tab's task has changed.
    pub(super) fn touch(&mut self, target: &TargetId, part: Dirty) {
        let task = self.tabs.get(target).and_then(|tab| self.tasks.get_mut(&tab.task));
        if let Some(task) = task {
            // A tab's frames are shown only while it is the current one.
            let part = if part == Dirty::FRAMES && task.current.as_ref() != Some(target) { Dirty::NONE } else { part };
            task.dirty |= part;
            if part.has(Dirty::DIALOGS) {
                task.dirty |= Dirty::TABS;
            }
        }
    }

    pub(super) fn mark_all_dirty(&mut self) {
        for task in self.tasks.values_mut() {
            task.dirty = Dirty::ALL;
        }
    }

    /// Returns the next task's view that is out of date, brought up to date.
    pub(super) fn publish_next(&mut self) -> Option<Arc<TaskView>> {
        let id = self.tasks.iter().find(|(_, task)| task.dirty != Dirty::NONE).map(|(id, _)| id.clone())?;
        Some(self.publish(&id))
    }

    fn publish(&mut self, id: &TaskId) -> Arc<TaskView> {
        let bridged = self.is_bridged(id);
        let mut task = self.tasks.remove(id).expect("only tasks that are there are out of date");
        let dirty = std::mem::replace(&mut task.dirty, Dirty::NONE);
        let current = task.current.as_ref().and_then(|current| self.tabs.get(current));
        if dirty.has(Dirty::TABS) {
            let known = task.tabs.iter().filter_map(|target| Some((target, self.tabs.get(target)?)));
            let views = known.map(|(target, tab)| TabView {
                number: tab.number,
                target_id: target.clone(),
                session_id: tab.session.clone(),
                url: tab.url.clone(),
                title: tab.title.clone(),
                state: tab.state(),
                arrival: tab.arrival,
            });
            task.parts.tabs = views.collect();
        }
        if dirty.has(Dirty::DIALOGS) {
            task.parts.pending = self.open_dialogs(&task).map(|(_, dialog)| Arc::clone(&dialog.view)).collect();
            let by_policy =
                |dialog: &Dialog| dialog.answer.as_ref().is_some_and(|given| given.by == AnsweredBy::Policy);
            let answered = self.open_dialogs(&task).filter(|(_, dialog)| by_policy(dialog));
            task.parts.by_policy = answered.map(|(_, dialog)| dialog.view.id).collect();
            task.parts.recent = task.recent.iter().cloned().collect();
        }
        if dirty.has(Dirty::FRAMES) {
            let frames = current.and_then(|tab| tab.frames.as_ref());
            let shown = frames.and_then(Frames::view).map(Arc::new);
            // Nearly always the same tree, so that it is there once.
            task.parts.all_frames = match &shown {
                Some(shown) if shown.truncated => frames.and_then(Frames::whole_view).map(Arc::new),
                shown => shown.clone(),
            };
            task.parts.frame_tree = shown;
        }
        if dirty.has(Dirty::CONSOLE) {
            task.parts.console = task.console.entries().cloned().collect();
        }
        if dirty.has(Dirty::SESSIONS) {
            let owner = |tab: &TargetId| self.tabs.get(tab).map(|tab| &tab.task);
            let owned = |tab: &Option<TargetId>| tab.as_ref().and_then(owner) == Some(id);
            let mut views: Vec<_> = self
                .sessions
                .iter()
                .filter(|(_, session)| owned(&session.tab))
                .map(|(id, session)| SessionView {
                    session_id: id.clone(),
                    target_id: session.target.clone(),
                    kind: session.kind.as_str().to_owned(),
                    hung: session.hung.is_some(),
                })
                .collect();
            views.sort_by(|a, b| a.session_id.cmp(&b.session_id));
            task.parts.sessions = views.into();
        }
        let ready = matches!(self.link, Link::Ready);
        let view = TaskView {
            task: id.clone(),
            active: ready && current.is_some_and(|tab| tab.session.is_some()),
            current: task.current.clone(),
            current_session: current.and_then(|tab| tab.session.clone()),
            tabs: Arc::clone(&task.parts.tabs),
            pending_dialogs: Arc::clone(&task.parts.pending),
            answered_by_policy: Arc::clone(&task.parts.by_policy),
            recent_dialogs: Arc::clone(&task.parts.recent),
            frame_tree: task.parts.frame_tree.clone(),
            all_frames: task.parts.all_frames.clone(),
            console: Arc::clone(&task.parts.console),
            current_dialog_params: current.and_then(|tab| Some(tab.dialogs.first()?.raw.clone())),
            policy: PolicyView {
                dialog_policy: task.policy,
                dialog_timeout_s: task.dialog_timeout.as_secs_f64(),
                dialog_bridge: task.dialog_bridge,
                bridged,
            },
            dialogs_so_far: task.dialogs_so_far,
            sessions: Arc::clone(&task.parts.sessions),
            state_json: OnceLock::new(),
        };
        self.tasks.insert(id.clone(), task);
        Arc::new(view)
    }
}
