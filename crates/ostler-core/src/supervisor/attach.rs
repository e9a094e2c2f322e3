//! How targets come under supervision: what is attached, by whom, and whose it becomes.
//!
//! Every target that can hold a document goes through the same steps: attached, set up, resumed. The second and the third
//! are in `set_up.rs`.

use super::publish::Dirty;
use super::requests::Then;
use super::sessions::{Kind, Session};
use super::{End, Purpose, Scope, Supervisor, wire};
use crate::ids::{SessionId, TargetId, TaskId};

impl Supervisor {
    pub(super) fn on_attached(&mut self, params: &str, parent: Option<&SessionId>) {
        let Some(event) = wire::read::<wire::AttachedToTarget>(params) else { return };
        let wire::AttachedToTarget { session_id: id, target_info: info, waiting_for_debugger } = event;
        if self.sessions.contains_key(&id) {
            // A session is attached once; told again, it must not lose what is known of it.
            return;
        }
        let kind = Kind::new(&info.kind);
        let mut session = Session::new(info.target_id.clone(), kind.clone());
        session.held = waiting_for_debugger;
        session.tab = parent.and_then(|parent| self.sessions.get(parent)).and_then(|parent| parent.tab.clone());
        self.sessions.insert(id.clone(), session);
        match (kind, parent) {
            (Kind::Page, None) => self.on_page_attached(&id, &info, waiting_for_debugger),
            (Kind::Iframe, Some(parent)) => self.on_iframe_attached(&id, &info, parent),
            // A client attached a frame itself: it belongs to the frame's tab, but we watch it through our own session.
            (Kind::Iframe, None) => {
                let tab = self.sessions.values().find(|other| other.supervised && other.target == info.target_id);
                let tab = tab.and_then(|other| other.tab.clone());
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.tab = tab;
                }
            }
            _ => self.let_run(&id),
        }
    }

    fn on_page_attached(&mut self, id: &SessionId, info: &wire::TargetInfo, held: bool) {
        // What is attached by name never says that it waits (fact E2), so a held one came by auto-attach.
        let explicit = !held && self.is_being_attached(&info.target_id);
        match self.tabs.get(&info.target_id) {
            // A second session on a tab of ours, attached by a client; or, in a browser that is not ours, the
            // first one, and only the answer to our own `attachToTarget` says whether that is it.
            Some(tab) if tab.session.is_some() || self.scope == Scope::Guest && explicit => {
                if let Some(session) = self.sessions.get_mut(id) {
                    session.tab = Some(info.target_id.clone());
                }
                if self.scope == Scope::Guest && !explicit {
                    // Auto-attach went wide over a tab of ours.
                    self.let_go(id);
                }
            }
            Some(_) => self.supervise(id, &info.target_id),
            None if self.scope == Scope::Own => match self.owner_of_new_tab(info) {
                Some(task) => {
                    self.remember_target(info);
                    self.adopt(&info.target_id, &task, Some(id.clone()));
                }
                None => {
                    self.remember_target(info);
                    self.let_run(id);
                }
            },
            // Somebody attached, by name, a tab that no task has.
            None if explicit => {}
            None => {
                if let Some(task) = self.claim_or_let_go(id, info) {
                    self.remember_target(info);
                    self.adopt(&info.target_id, &task, Some(id.clone()));
                }
            }
        }
    }

    /// Returns whether somebody is attaching to the target by name, so that its session may be theirs.
    pub(super) fn is_being_attached(&self, target: &TargetId) -> bool {
        self.calls.any(|flight| match &flight.purpose {
            Purpose::Attach { target: other } | Purpose::Release(other) => other == target,
            Purpose::Client { then: Then::ClientAttach(other), .. } => other == target,
            _ => false,
        })
    }

    /// Returns the task that a tab of our own browser belongs to: its opener's, the one that is
    /// opening a tab, or the default one.
    fn owner_of_new_tab(&self, info: &wire::TargetInfo) -> Option<TaskId> {
        let opener = info.opener_id.as_ref().and_then(|opener| self.tabs.get(opener));
        opener.map(|tab| tab.task.clone()).or_else(|| self.task_opening_a_tab()).or_else(|| self.fallback_task())
    }

    fn on_iframe_attached(&mut self, id: &SessionId, info: &wire::TargetInfo, parent: &SessionId) {
        let Some((target, frames)) = self.frames_of(parent) else { return self.let_run(id) };
        frames.on_oopif_attached(info.target_id.as_frame(), info.parent_frame_id.clone(), &info.url.0, id);
        self.touch(&target, Dirty::FRAMES | Dirty::SESSIONS);
        self.own_dialogs_of_frame(&target, &info.target_id.as_frame(), id);
        if self.tabs.get(&target).is_some_and(|tab| tab.armed) {
            // `Page` must stay off until the document has been replaced.
            return self.let_run(id);
        }
        self.set_up(id);
    }

    pub(super) fn on_attach_answered(&mut self, target: &TargetId, end: End) {
        let wanted = self.tabs.get(target).is_some_and(|tab| tab.session.is_none());
        let result = match end {
            End::Answer(result) => result.ok(),
            // No answer is no news of the tab. A lost connection attaches again when it is back.
            End::Failed(_) if wanted && matches!(self.link, super::Link::Ready) && !self.ending => {
                return self.attach(target);
            }
            End::Failed(_) => return,
        };
        let attached = result.as_deref().and_then(|raw| str::from_utf8(raw).ok());
        match attached.and_then(wire::read::<wire::NamesSession>) {
            Some(attached) if wanted => self.supervise(&attached.session_id, target),
            // Its event came first, and was enough.
            Some(attached) if self.is_session_of(target, &attached.session_id) => {}
            // Given up meanwhile, or attached in another way: this session would hold it for nobody.
            Some(attached) => self.let_go(&attached.session_id),
            None if wanted => {
                // The tab is gone: whoever waited for it goes to the task's next one.
                self.targets.retain(|info| info.target_id != *target);
                self.forget_tab(target, "the tab was closed");
            }
            None => {}
        }
    }

    pub(super) fn is_session_of(&self, target: &TargetId, id: &SessionId) -> bool {
        self.tabs.get(target).is_some_and(|tab| tab.session.as_ref() == Some(id))
    }

    /// In a browser of our own every tab belongs to some task: the first task takes those that came before it.
    pub(super) fn adopt_unowned_tabs(&mut self, task: &TaskId) {
        if self.scope != Scope::Own || self.tasks.len() > 1 {
            return;
        }
        let unowned = |(_, session): &(&SessionId, &Session)| session.kind == Kind::Page && session.tab.is_none();
        let mut pages: Vec<_> =
            self.sessions.iter().filter(unowned).map(|(id, session)| (id.clone(), session.target.clone())).collect();
        // In the order in which the browser told of them, whatever else it told of.
        let told = |target: &TargetId| self.targets.iter().position(|info| info.target_id == *target);
        pages.sort_by_cached_key(|(id, target)| (told(target), id.clone()));
        pages.dedup_by(|later, first| later.1 == first.1);
        for (session, target) in pages {
            self.adopt(&target, task, Some(session));
        }
    }

    pub(super) fn unclaimed_session(&self, target: &TargetId) -> Option<SessionId> {
        let unclaimed = |session: &Session| session.target == *target && session.tab.is_none();
        self.sessions.iter().filter(|(_, session)| unclaimed(session)).map(|(id, _)| id).min().cloned()
    }

    fn task_opening_a_tab(&self) -> Option<TaskId> {
        self.calls.find_map(|flight| {
            let task = match &flight.purpose {
                Purpose::CreateTab { task } => task,
                Purpose::Client { task, .. } if &*flight.method == "Target.createTarget" => task,
                _ => return None,
            };
            // It may have been ended since.
            self.tasks.contains_key(task).then(|| task.clone())
        })
    }
}
