//! Targets come and go: tabs, popups, and what a client asks of them.

use super::state::{ConnectionId, FrameNode, Held, OpenedBy, Stall, State, Target};
use crate::ids::{FrameId, SessionId, TargetId};
use crate::wire::{Command, quoted};

/// Targets.
impl State {
    /// Adds a tab that nobody opened, as one that was there before, or the user's Ctrl+T.
    pub(super) fn add_page(&mut self, url: &str) -> TargetId {
        let id = self.insert_page(url, None);
        self.announce(&id);
        for (connection, auto_attach) in self.browser_auto_attaches("page") {
            self.attach(connection, None, &id, true, auto_attach.waits);
        }
        id
    }

    /// Opens a popup from a frame. It waits to be resumed as Chromium's do; see [`Held`].
    pub(super) fn add_popup(&mut self, opener: &FrameId, url: &str, accessible: bool) -> Option<TargetId> {
        let opener_target = self.frames.get(opener)?.target.clone();
        let page = self.page_of(&opener_target);
        let opener_is_watched = !self.targets.get(&opener_target)?.sessions.is_empty();
        let by = OpenedBy { page, frame: opener.clone(), accessible };
        let id = self.insert_page("", Some(by));
        self.announce(&id);
        let mut holders = Vec::new();
        for (connection, auto_attach) in self.browser_auto_attaches("page") {
            let session = self.attach(connection, None, &id, true, auto_attach.waits);
            if auto_attach.waits {
                holders.push((connection, session));
            }
        }
        // With an opener, any auto-attach at all holds it, one that takes no page included.
        let anyone_attaches = self.connections.values().any(|one| one.auto_attach.is_some());
        let held = !holders.is_empty() || (accessible && opener_is_watched && anyone_attaches);
        let target = self.targets.get_mut(&id)?;
        target.held = Some(Held { url: url.to_owned(), by: holders, one_resume_frees: accessible, left_context: None });
        if !held {
            self.begin(&id);
        } else if !accessible {
            target.stall = Some(Stall::NotStarted);
        }
        Some(id)
    }

    /// Takes a target away with all under it, telling its sessions first.
    pub(super) fn remove_target(&mut self, id: &TargetId) {
        for frame in self.frames_below(&id.root_frame()) {
            let oopif = frame.own_target();
            if oopif != *id && self.targets.contains_key(&oopif) {
                self.end_target(&oopif);
            }
            self.frames.remove(&frame);
        }
        if self.targets.get(id).is_some_and(|target| target.kind == "page") {
            let gone = r#"{"reason":"Render process gone."}"#;
            self.target_event(id, |_| true, "Inspector.detached", gone);
        }
        self.end_target(id);
    }

    /// Detaches every session of a target and forgets it; its frames are left to the caller.
    pub(super) fn end_target(&mut self, id: &TargetId) {
        let Some(target) = self.targets.get_mut(id) else {
            return;
        };
        let sessions = std::mem::take(&mut target.sessions);
        if !sessions.is_empty() {
            self.info_changed(id);
        }
        for session in sessions {
            self.detach(&session);
        }
        self.targets.remove(id);
        self.discovery_event("Target.targetDestroyed", &format!(r#"{{"targetId":"{id}"}}"#));
    }

    pub(super) fn announce(&mut self, id: &TargetId) {
        let info = self.target_info(id);
        self.discovery_event("Target.targetCreated", &format!(r#"{{"targetInfo":{info}}}"#));
    }

    /// Returns the page that a target belongs to: itself, or the one around an OOPIF.
    pub(super) fn page_of(&self, id: &TargetId) -> TargetId {
        let mut page = id.clone();
        while let Some(parent) = self.targets.get(&page).and_then(|target| target.parent.clone()) {
            page = parent;
        }
        page
    }

    fn insert_page(&mut self, url: &str, opener: Option<OpenedBy>) -> TargetId {
        let id = TargetId::from(self.hex_id('A'));
        let mut target = Target::new("page", url);
        target.opener = opener;
        url.clone_into(&mut target.title);
        self.targets.insert(id.clone(), target);
        let context = self.context(&id);
        let frame = FrameNode {
            parent: None,
            children: Vec::new(),
            target: id.clone(),
            url: url.to_owned(),
            loader: self.hex_id('1'),
            context,
        };
        self.frames.insert(id.root_frame(), frame);
        id
    }
}

/// The commands of the Target domain, on the browser and on sessions alike.
impl State {
    pub(super) fn on_discover(&mut self, connection: ConnectionId, command: &Command) {
        let on = command.flag("discover").unwrap_or(false);
        let Some(state) = self.connections.get_mut(&connection) else {
            return;
        };
        let first = on && !std::mem::replace(&mut state.discovers, on);
        let known: Vec<_> = self.targets.keys().filter(|_| first).cloned().collect();
        for target in known {
            let params = format!(r#"{{"targetInfo":{}}}"#, self.target_info(&target));
            self.event(connection, None, "Target.targetCreated", &params);
        }
        self.reply(connection, command, "{}");
    }

    pub(super) fn target_command(&mut self, connection: ConnectionId, command: &Command) {
        let named = command.text("targetId").map(TargetId::from);
        let target = named.filter(|target| self.targets.contains_key(target));
        match (command.method.as_str(), target) {
            ("Target.createTarget", _) => {
                let url = command.text("url").unwrap_or_default();
                let target = self.add_page(&url);
                self.reply(connection, command, &format!(r#"{{"targetId":"{target}"}}"#));
            }
            ("Target.getTargets", _) => {
                let infos: Vec<_> = self.targets.keys().map(|id| self.target_info(id)).collect();
                let infos = format!(r#"{{"targetInfos":[{}]}}"#, infos.join(","));
                self.reply(connection, command, &infos);
            }
            ("Target.detachFromTarget", _) => {
                let session = command.text("sessionId").map(SessionId::from);
                let theirs =
                    |id: &SessionId| self.sessions.get(id).is_some_and(|session| session.connection == connection);
                match session.filter(theirs) {
                    Some(session) => {
                        self.detach(&session);
                        self.reply(connection, command, "{}");
                    }
                    None => self.fail(connection, command, -32602, "No session with given id"),
                }
            }
            ("Target.attachToTarget", Some(target)) => {
                let via = command.session.as_ref();
                let session = self.attach(connection, via, &target, false, false);
                let result = format!(r#"{{"sessionId":{}}}"#, quoted(session.as_str()));
                self.reply(connection, command, &result);
            }
            ("Target.getTargetInfo", Some(target)) => {
                let info = format!(r#"{{"targetInfo":{}}}"#, self.target_info(&target));
                self.reply(connection, command, &info);
            }
            ("Target.closeTarget", Some(target)) => {
                if !self.trips_over_lost_dialog(&target) {
                    self.reply(connection, command, r#"{"success":true}"#);
                    self.close_dialog_with_page(&target);
                    self.remove_target(&target);
                }
            }
            (method, None) if TAKE_A_TARGET.contains(&method) => {
                self.fail(connection, command, -32602, "No target with given id found");
            }
            _ => self.reply(connection, command, "{}"),
        }
    }
}

const TAKE_A_TARGET: &[&str] =
    &["Target.activateTarget", "Target.attachToTarget", "Target.closeTarget", "Target.getTargetInfo"];
