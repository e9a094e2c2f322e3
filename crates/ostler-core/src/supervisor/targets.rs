//! What the browser tells of its targets, whoever has them.

use super::publish::Dirty;
use super::{End, Purpose, Scope, Supervisor, wire};
use crate::ids::TargetId;

impl Supervisor {
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

    pub(super) fn on_target_changed(&mut self, params: &str) {
        let Some(wire::TargetEvent { target_info: info }) = wire::read(params) else { return };
        self.remember_target(&info);
        self.show_address(&info);
        if info.kind != "page" && self.tabs.contains_key(&info.target_id) {
            self.on_no_page_any_more(&info);
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

    pub(super) fn show_address(&mut self, info: &wire::TargetInfo) {
        let Some(tab) = self.tabs.get_mut(&info.target_id) else { return };
        if tab.title != info.title.0 || tab.url != info.url.0 {
            (tab.title, tab.url) = (info.title.0.clone(), info.url.0.clone());
            self.touch(&info.target_id, Dirty::TABS);
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
            // A client has named it since, and the tab is watched through this session.
            _ if self.is_session_of(target, &attached.session_id) => {}
            _ => self.let_go(&attached.session_id),
        }
    }
}
