//! How targets come under supervision, and how they leave it.
//!
//! Every target that can hold a document goes through the same steps: attached, set up, resumed.
//! A held target is resumed on every path: when its set-up is answered, when it is not answered in
//! time, and when we leave (facts C6 to C12).

use std::time::Duration;

use super::focus::Focus;
use super::frames::Frames;
use super::publish::Dirty;
use super::requests::Then;
use super::sessions::{Kind, Phase, Session};
use super::sleep::Sleep;
use super::timers::Timer;
use super::{End, Flight, Purpose, Scope, Supervisor, wire};
use crate::error::CallError;
use crate::ids::{SessionId, TargetId, TaskId};

/// How long a held target waits for its set-up to be answered (design consequence 4).
const HOLD: Duration = Duration::from_secs(2);
/// How long a page may be silent after it was attached before we ask why (fact A10).
const SILENCE: Duration = Duration::from_secs(2);

/// Makes a session attach the frames and workers below it, held until they are set up. Service
/// workers are left out: one comes once for each page otherwise (fact C2).
const AUTO_ATTACH_BELOW: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,
"filter":[{"type":"service_worker","exclude":true},{}]}"#;

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

    /// Makes `id` the session through which we watch the tab, and sets it up.
    pub(super) fn supervise(&mut self, id: &SessionId, target: &TargetId) {
        let Some(tab) = self.tabs.get_mut(target) else { return };
        if tab.armed {
            return self.recover(id, target);
        }
        // Of another target it would be another tab's.
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.target == *target) else { return };
        session.tab = Some(target.clone());
        tab.session = Some(id.clone());
        tab.phase = Phase::SettingUp;
        tab.crashed = false;
        tab.frames = Some(Frames::new(target.as_frame(), id.clone(), tab.url.clone()));
        self.touch(target, Dirty::ALL);
        self.forget_leaving(id);
        self.set_up(id);
        self.watch_sleep(target);
        self.flush(target);
    }

    /// Sends a session's set-up, all at once. A held target is resumed when the commands that must
    /// come first are answered; one without a renderer yet answers nothing before, so it is resumed
    /// right behind them, in the same order on the wire (fact C8a).
    pub(super) fn set_up(&mut self, id: &SessionId) {
        if self.ending {
            // We are leaving, and what we held then would be held for good (fact E3): it runs at once.
            return self.let_run(id);
        }
        let quiet = self.is_quiet(id);
        self.set_focus(id, Focus::Due);
        let Some(session) = self.sessions.get_mut(id) else { return };
        if let Some(timer) = session.deadline.take() {
            self.timers.stop(timer);
        }
        let again = std::mem::replace(&mut session.supervised, true);
        let (is_page, held, target) = (session.kind == Kind::Page, session.held, session.target.clone());
        session.runtime |= !quiet;
        let attaches = std::mem::replace(&mut session.auto_attaches, true);
        session.awaiting = 1 + usize::from(!quiet) + usize::from(!attaches);
        session.set_up = false;
        // Questions of an earlier set-up count for nothing any more.
        let stale = |flight: &Flight<Purpose>| {
            let set_up = matches!(
                flight.purpose,
                Purpose::PageEnable(_)
                    | Purpose::SetUp(_)
                    | Purpose::Focus(_)
                    | Purpose::BridgeProbe(_)
                    | Purpose::BridgeScript(_)
            );
            flight.session.as_ref() == Some(id) && set_up
        };
        for stale in self.calls.select(stale) {
            if let Some(flight) = self.calls.get_mut(stale) {
                flight.purpose = Purpose::Ignored;
            }
        }
        self.send_own(Purpose::PageEnable(id.clone()), Some(id), "Page.enable", "{}");
        if !quiet {
            self.send_own(Purpose::SetUp(id.clone()), Some(id), "Runtime.enable", "{}");
        }
        self.arm_bridge(id);
        if !attaches {
            self.send_own(Purpose::SetUp(id.clone()), Some(id), "Target.setAutoAttach", AUTO_ATTACH_BELOW);
        }
        self.send_own(Purpose::Ignored, Some(id), "Log.enable", "{}");
        // A frame's document is requested on its parent's session and finishes on its own.
        self.send_own(Purpose::Ignored, Some(id), "Network.enable", "{}");
        self.send_own(Purpose::FrameTree(id.clone()), Some(id), "Page.getFrameTree", "{}");
        self.ask_isolate(id);
        self.match_choosers_of(id);
        let no_renderer_yet = self
            .targets
            .iter()
            .find(|info| info.target_id == target)
            .is_some_and(|info| info.opener_id.is_some() && !info.can_access_opener);
        if is_page && !again && if held { no_renderer_yet } else { self.may_be_left_held(&target) } {
            self.resume(id);
        }
        let timer = if held && !no_renderer_yet {
            self.start_timer(HOLD, Timer::Resume(id.clone()))
        } else {
            self.start_timer(SILENCE, Timer::Silence(id.clone()))
        };
        if let Some(session) = self.sessions.get_mut(id) {
            session.deadline = Some(timer);
        }
    }

    /// Asks which process the session's renderer is in: the V8 isolate of its main thread.
    pub(super) fn ask_isolate(&mut self, id: &SessionId) {
        self.send_own(Purpose::Isolate(id.clone()), Some(id), "Runtime.getIsolateId", "{}");
    }

    pub(super) fn on_set_up_answered(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.awaiting = session.awaiting.saturating_sub(1);
        if session.awaiting > 0 {
            return;
        }
        if session.held {
            self.resume(id);
        } else if let Some(timer) = session.deadline.take() {
            self.timers.stop(timer);
        }
        self.let_calls_through(id);
    }

    /// A held target has waited for its set-up long enough (facts C8, C12).
    pub(super) fn on_resume_due(&mut self, id: &SessionId) {
        self.resume(id);
        self.let_calls_through(id);
    }

    pub(super) fn let_calls_through(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        let Some(target) = session.tab.clone().filter(|_| session.kind == Kind::Page && session.supervised) else {
            return;
        };
        if let Some(tab) = self.tabs.get_mut(&target)
            && tab.phase == Phase::SettingUp
        {
            tab.phase = Phase::Ready;
            self.touch(&target, Dirty::TABS);
        }
        self.flush(&target);
    }

    /// Lets a target run that waits, or may. One that runs gets no resume: that frees whatever popup is held in the same
    /// renderer process, before its set-up (fact F3).
    pub(super) fn let_run(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        if session.held || self.may_be_left_held(&session.target) {
            self.resume(id);
        }
    }

    /// Not held says nothing of an opener popup that an earlier connection left behind (fact E3), or that is attached by
    /// name under a filter that leaves pages out (fact E2).
    pub(super) fn may_be_left_held(&self, target: &TargetId) -> bool {
        self.targets.iter().find(|info| info.target_id == *target).is_some_and(wire::TargetInfo::may_be_left_held)
    }

    /// Lets a held target run.
    pub(super) fn resume(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let held = std::mem::take(&mut session.held);
        if let Some(timer) = session.deadline.take() {
            self.timers.stop(timer);
        }
        // Whoever leaves waits until it runs.
        let purpose = if held && self.ending { Purpose::Leave } else { Purpose::Ignored };
        self.send_own(purpose, Some(id), "Runtime.runIfWaitingForDebugger", "{}");
    }

    /// Lets the requests go on that waited for this tab.
    pub(super) fn flush(&mut self, target: &TargetId) {
        if !self.takes_calls(target) {
            return;
        }
        let waiting = self.tabs.get_mut(target).map(|tab| std::mem::take(&mut tab.queue)).unwrap_or_default();
        for request in waiting {
            self.on_request(request);
        }
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

    fn is_session_of(&self, target: &TargetId, id: &SessionId) -> bool {
        self.tabs.get(target).is_some_and(|tab| tab.session.as_ref() == Some(id))
    }

    pub(super) fn on_release_answered(&mut self, target: &TargetId, end: End) {
        let End::Answer(Ok(result)) = end else { return };
        let Some(attached) = str::from_utf8(&result).ok().and_then(wire::read::<wire::NamesSession>) else { return };
        let opener =
            self.targets.iter().find(|info| info.target_id == *target).and_then(|info| info.opener_id.as_ref());
        match opener.and_then(|opener| self.tabs.get(opener)).map(|tab| tab.task.clone()) {
            // Its opener became a task's meanwhile, and so is it. Let go, it would take along whatever other popup of that
            // tab is held, before its set-up (fact F3).
            Some(task) if !self.ending && !self.tabs.contains_key(target) => {
                self.adopt(target, &task, Some(attached.session_id));
            }
            _ => self.let_go(&attached.session_id),
        }
    }

    /// Frees popups that an earlier daemon may have left held (fact E3).
    pub(super) fn release_leftovers(&mut self) {
        if self.scope == Scope::Own {
            return;
        }
        let held = |info: &&wire::TargetInfo| info.may_be_left_held() && !self.tabs.contains_key(&info.target_id);
        for target in self.targets.iter().filter(held).map(|info| info.target_id.clone()).collect::<Vec<_>>() {
            self.release(&target);
        }
    }

    fn release(&mut self, target: &TargetId) {
        self.send_attach(Purpose::Release(target.clone()), target);
    }

    pub(super) fn on_target_created(&mut self, params: &str) {
        let Some(wire::TargetEvent { target_info: info }) = wire::read(params) else { return };
        self.remember_target(&info);
        // After a reconnect it is told again, and may have gone elsewhere meanwhile.
        self.show_address(&info);
        if self.scope == Scope::Own || info.kind != "page" || !matches!(self.link, super::Link::Ready) {
            return;
        }
        if self.wide.is_some() {
            // Auto-attach brings it, held.
            return;
        }
        if let Some(task) = self.take_requested(&info.target_id) {
            return self.adopt(&info.target_id, &task, None);
        }
        let Some(opener) = &info.opener_id else { return };
        match self.tabs.get(opener).map(|tab| tab.task.clone()) {
            Some(task) if !self.tabs.contains_key(&info.target_id) => self.adopt(&info.target_id, &task, None),
            Some(_) => {}
            // Somebody else's popup is held only if it shares a process with a tab of ours: let it go on.
            None if info.can_access_opener => self.release(&info.target_id),
            None => {}
        }
    }

    /// A client has closed a tab: from now on nothing goes to it, and it is nobody's.
    pub(super) fn on_closing(&mut self, target: &TargetId) {
        if self.targets.iter().any(|info| info.target_id == *target) {
            self.targets.retain(|info| info.target_id != *target);
            self.closing.push(target.clone());
        }
        self.forget_tab(target, "the tab was closed");
    }

    pub(super) fn remember_target(&mut self, info: &wire::TargetInfo) {
        if self.closing.contains(&info.target_id) {
            return;
        }
        match self.targets.iter_mut().find(|known| known.target_id == info.target_id) {
            Some(known) => {
                // The opener is told only as long as it is open: keep it (fact E10).
                let opener = known.opener_id.take().or_else(|| info.opener_id.clone());
                *known = wire::TargetInfo { opener_id: opener, ..info.clone() };
            }
            None => self.targets.push(info.clone()),
        }
    }

    pub(super) fn on_target_changed(&mut self, params: &str) {
        let Some(wire::TargetEvent { target_info: info }) = wire::read(params) else { return };
        self.remember_target(&info);
        self.show_address(&info);
        if info.kind != "page" && self.tabs.contains_key(&info.target_id) {
            self.on_no_page_any_more(&info);
        }
    }

    pub(super) fn show_address(&mut self, info: &wire::TargetInfo) {
        let Some(tab) = self.tabs.get_mut(&info.target_id) else { return };
        if tab.title != info.title.0 || tab.url != info.url.0 {
            (tab.title, tab.url) = (info.title.0.clone(), info.url.0.clone());
            self.touch(&info.target_id, Dirty::TABS);
        }
    }

    pub(super) fn on_target_destroyed(&mut self, params: &str) {
        let Some(wire::NamesTarget { target_id }) = wire::read(params) else { return };
        let at = self.targets.iter().position(|info| info.target_id == target_id);
        let gone = at.map(|at| self.targets.remove(at));
        self.closing.retain(|closing| *closing != target_id);
        self.left_armed.retain(|left| *left != target_id);
        self.forget_tab(&target_id, "the tab was closed");
        // Of a frame that no session of ours has seen yet, nothing else tells that it went.
        let frame = target_id.as_frame();
        if let Some(parent) = gone.and_then(|gone| gone.parent_frame_id) {
            self.on_unseen_frame_gone(&frame, &parent);
        }
        for tab in self.tabs.keys().cloned().collect::<Vec<_>>() {
            self.close_lost_dialogs_of_frames(&tab, std::slice::from_ref(&frame));
            self.on_frames_removed(&tab, std::slice::from_ref(&frame));
        }
    }

    pub(super) fn on_detached(&mut self, params: &str) {
        let Some(wire::NamesSession { session_id }) = wire::read(params) else { return };
        let Some(session) = self.drop_session(&session_id, "its target was closed or detached") else { return };
        let Some(target) = session.tab else { return };
        let Some(tab) = self.tabs.get_mut(&target) else { return };
        if let Some(frames) = &mut tab.frames {
            frames.on_session_gone(&session_id);
        }
        self.touch(&target, Dirty::FRAMES | Dirty::SESSIONS);
        if session.kind == Kind::Iframe && session.supervised {
            // Whether the frame was removed or only left its process is told later, if at all: the worse counts.
            let asking = self.frames_asking_in(&target, &session_id);
            self.on_frames_removed(&target, &asking);
            self.close_dialogs_of_session(&target, &session_id);
        }
        let Some(tab) = self.tabs.get_mut(&target) else { return };
        if tab.session.as_ref() == Some(&session_id) {
            // Closed, or detached by somebody: only the browser knows, and attaching again tells.
            tab.session = None;
            tab.phase = Phase::Attaching;
            self.close_all_dialogs(&target);
            if !self.ending {
                self.attach(&target);
            }
            self.touch(&target, Dirty::ALL);
        }
    }

    /// Forgets a session and ends what is in flight on it.
    fn drop_session(&mut self, id: &SessionId, why: &'static str) -> Option<Session> {
        let session = self.sessions.remove(id)?;
        if let Some(timer) = session.deadline {
            self.timers.stop(timer);
        }
        for task in self.tasks.values_mut() {
            if task.chosen_session.as_ref() == Some(id) {
                task.chosen_session = None;
            }
        }
        self.fail_flights(
            |flight| flight.session.as_ref() == Some(id),
            |flight| CallError::UnknownOutcome { method: flight.method.to_string(), why },
        );
        Some(session)
    }

    /// Forgets the sessions of a tab and of its frames.
    pub(super) fn drop_sessions_of(&mut self, target: &TargetId, why: &'static str) {
        let belongs = |session: &Session| session.tab.as_ref() == Some(target);
        let ids: Vec<_> =
            self.sessions.iter().filter(|(_, session)| belongs(session)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.drop_session(&id, why);
        }
    }

    /// Forgets a tab with its sessions, frames and dialogs.
    pub(super) fn forget_tab(&mut self, target: &TargetId, why: &'static str) {
        self.close_all_dialogs(target);
        let Some(tab) = self.tabs.remove(target) else { return };
        self.drop_sessions_of(target, why);
        if let Some(task) = self.tasks.get_mut(&tab.task) {
            task.tabs.retain(|other| other != target);
            if task.current.as_ref() == Some(target) {
                (task.current, task.chosen_session) = (None, None);
            }
            task.dirty = Dirty::ALL;
        }
        for request in tab.queue {
            self.on_request(request);
        }
    }

    /// The connection is gone: tabs stay by name, to be attached again if the same browser comes back.
    pub(super) fn suspend_tabs(&mut self) {
        for target in self.tabs.keys().cloned().collect::<Vec<_>>() {
            self.orphan_dialogs(&target);
            if let Some(tab) = self.tabs.get_mut(&target) {
                (tab.session, tab.frames, tab.phase) = (None, None, Phase::Attaching);
            }
            self.fall_asleep_again(&target);
        }
    }

    /// Attaches again to the tabs that the same browser still has after a lost connection.
    pub(super) fn reattach_known_tabs(&mut self) {
        for target in self.tabs.keys().cloned().collect::<Vec<_>>() {
            if !self.targets.iter().any(|info| info.target_id == target) {
                self.forget_tab(&target, "the tab was closed");
            } else if self.tabs.get(&target).is_some_and(|tab| tab.session.is_none() && tab.sleep == Sleep::Awake) {
                self.attach(&target);
            }
        }
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
