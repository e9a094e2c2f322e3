//! Sessions: attached by a client or by auto-attach, and ended with their connection, their target or on request.

use std::collections::HashSet;

use super::auto_attach::AutoAttach;
use super::connection::Outgoing;
use super::state::{Connection, ConnectionId, Session, State, Target};
use crate::ids::{SessionId, TargetId};

/// Connections.
impl State {
    pub(super) fn open_connection(&mut self, connection: Connection) -> ConnectionId {
        let id = self.number();
        self.connections.insert(id, connection);
        id
    }

    /// Ends all that the connection held: its sessions, and its hold on whatever waited for it, popups with an opener
    /// excepted.
    pub(super) fn close_connection(&mut self, id: ConnectionId) {
        self.connections.remove(&id);
        let theirs = |(session, state): (&SessionId, &Session)| {
            (state.connection == id).then(|| (session.clone(), state.target.clone()))
        };
        let ended: Vec<_> = self.sessions.iter().filter_map(theirs).collect();
        for (session, target) in ended {
            self.drop_session(&session);
            self.unhold(&target, |(connection, _)| *connection == id);
        }
    }

    /// Makes room for another browser, and returns its UUID.
    pub(super) fn forget_everything(&mut self) -> String {
        self.targets.clear();
        self.frames.clear();
        self.sessions.clear();
        format!("00000000-0000-4000-8000-1{:011x}", self.number())
    }

    /// Ends every connection and stops listening, as a browser does that crashes.
    pub(super) fn die(&mut self) {
        self.put_everywhere(|| Outgoing::Reset);
        self.close_door();
    }

    pub(super) fn close_door(&self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.door.slam();
        }
    }
}

/// Sessions.
impl State {
    pub(super) fn attach(
        &mut self,
        connection: ConnectionId,
        via: Option<&SessionId>,
        id: &TargetId,
        by_auto_attach: bool,
        waits: bool,
    ) -> SessionId {
        let session = SessionId::from(self.hex_id('5'));
        let attached = match via {
            Some(via) => self.sessions.get_mut(via).map(|session| &mut session.attached),
            None => self.connections.get_mut(&connection).map(|connection| &mut connection.attached),
        };
        if let Some(attached) = attached {
            attached.push(session.clone());
        }
        let state = Session {
            connection,
            target: id.clone(),
            via: via.cloned(),
            by_auto_attach,
            auto_attach: None,
            attached: Vec::new(),
            page: false,
            runtime: false,
            log: false,
        };
        self.sessions.insert(session.clone(), state);
        if let Some(target) = self.targets.get_mut(id) {
            target.sessions.push(session.clone());
            if target.sessions.len() == 1 {
                self.info_changed(id);
            }
        }
        let info = self.target_info(id);
        let params = format!(r#"{{"sessionId":"{session}","targetInfo":{info},"waitingForDebugger":{waits}}}"#);
        self.event(connection, via, "Target.attachedToTarget", &params);
        session
    }

    /// Ends a session and those attached from it, and says so where it was attached.
    pub(super) fn detach(&mut self, id: &SessionId) {
        let Some(session) = self.drop_session(id) else {
            return;
        };
        for nested in &session.attached {
            self.detach(nested);
        }
        let target = session.target;
        let params = format!(r#"{{"sessionId":"{id}","targetId":"{target}"}}"#);
        self.event(session.connection, session.via.as_ref(), "Target.detachedFromTarget", &params);
    }

    fn drop_session(&mut self, id: &SessionId) -> Option<Session> {
        let session = self.sessions.remove(id)?;
        if let Some(target) = self.targets.get_mut(&session.target) {
            target.sessions.retain(|other| other != id);
        }
        self.orphan_dialog(&session.target);
        Some(session)
    }

    pub(super) fn on_browser_auto_attach(&mut self, connection: ConnectionId, wanted: Option<AutoAttach>) {
        let Some(state) = self.connections.get_mut(&connection) else {
            return;
        };
        state.auto_attach.clone_from(&wanted);
        let attached = state.attached.clone();
        let Some(wanted) = wanted else {
            return self.end_auto_attached(&attached);
        };
        let have = self.auto_attached_targets(&attached);
        let missing = |(id, target): (&TargetId, &Target)| {
            (target.parent.is_none() && wanted.takes(target.kind) && !have.contains(id)).then(|| id.clone())
        };
        let missing: Vec<_> = self.targets.iter().filter_map(missing).collect();
        for target in missing {
            self.attach(connection, None, &target, true, false);
        }
    }

    pub(super) fn on_session_auto_attach(
        &mut self,
        connection: ConnectionId,
        id: &SessionId,
        around: &TargetId,
        wanted: Option<AutoAttach>,
    ) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        session.auto_attach.clone_from(&wanted);
        let attached = session.attached.clone();
        let Some(wanted) = wanted else {
            return self.end_auto_attached(&attached);
        };
        let have = self.auto_attached_targets(&attached);
        for target in self.oopifs_of(around) {
            if wanted.takes("iframe") && !have.contains(&target) {
                self.attach(connection, Some(id), &target, true, false);
            }
        }
    }

    fn auto_attached_targets(&self, sessions: &[SessionId]) -> HashSet<TargetId> {
        let sessions = sessions.iter().filter_map(|id| self.sessions.get(id));
        let by_auto_attach = sessions.filter(|session| session.by_auto_attach);
        by_auto_attach.map(|session| session.target.clone()).collect()
    }

    fn end_auto_attached(&mut self, sessions: &[SessionId]) {
        for id in sessions {
            let session = self.sessions.get(id).filter(|session| session.by_auto_attach);
            if let Some(target) = session.map(|session| session.target.clone()) {
                self.detach(id);
                self.unhold(&target, |(_, session)| session == id);
            }
        }
    }

    pub(super) fn browser_auto_attaches(&self, kind: &str) -> Vec<(ConnectionId, AutoAttach)> {
        let takes = |(id, connection): (&ConnectionId, &Connection)| {
            let auto_attach = connection.auto_attach.clone().filter(|wanted| wanted.takes(kind))?;
            Some((*id, auto_attach))
        };
        self.connections.iter().filter_map(takes).collect()
    }
}
