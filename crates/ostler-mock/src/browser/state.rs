//! What the browser is at this moment: connections, targets, frames, sessions, and who hears of a change.
//!
//! One lock guards all of it, and nothing waits while holding it: sending only puts a message into a connection's outbox.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Weak;

use tokio::sync::mpsc::UnboundedSender;

use super::Shared;
use super::auto_attach::AutoAttach;
use super::connection::Outgoing;
use super::dialogs::{Caller, ShownDialog, WaitingDialog};
use super::log::CommandLog;
use super::script::Rules;
use crate::ids::{FrameId, SessionId, TargetId};
use crate::wire::{self, Command, quoted};

pub(crate) type ConnectionId = u64;

/// Everything the mock browser knows. Maps are ordered by id, and ids count up, so lists come out in order of creation.
pub(crate) struct State {
    /// The way back to the lock around this state, for whatever happens later by a timer.
    pub(super) shared: Weak<Shared>,
    pub(super) rules: Rules,
    pub(super) log: CommandLog,
    pub(super) connections: BTreeMap<ConnectionId, Connection>,
    pub(super) targets: BTreeMap<TargetId, Target>,
    pub(super) frames: BTreeMap<FrameId, FrameNode>,
    pub(super) sessions: HashMap<SessionId, Session>,
    last_number: u64,
}

/// One WebSocket.
pub(super) struct Connection {
    pub(super) outbox: UnboundedSender<Outgoing>,
    pub(super) discovers: bool,
    pub(super) auto_attach: Option<AutoAttach>,
    /// The sessions attached from this connection itself; they may have ended since.
    pub(super) attached: Vec<SessionId>,
}

/// A page, or a frame that has a renderer of its own. To the mock each target is one renderer process.
pub(super) struct Target {
    pub(super) kind: &'static str,
    pub(super) url: String,
    pub(super) title: String,
    pub(super) opener: Option<OpenedBy>,
    /// The target around an OOPIF.
    pub(super) parent: Option<TargetId>,
    pub(super) sessions: Vec<SessionId>,
    /// Set while the target waits to be resumed: what happens then.
    pub(super) held: Option<Held>,
    /// Why the renderer does not answer, and the commands that wait for it.
    pub(super) stall: Option<Stall>,
    pub(super) queue: VecDeque<(ConnectionId, Command)>,
    pub(super) dialog: Option<ShownDialog>,
    /// Dialogs of the same process that open when the one before them has closed.
    pub(super) next_dialogs: VecDeque<WaitingDialog>,
    /// The evaluation that does not end.
    pub(super) looping: Option<Caller>,
    /// Leaving this page asks `beforeunload` first.
    pub(super) guards_unload: bool,
    /// Execution contexts made so far: ids count up per process.
    pub(super) contexts: u64,
}

pub(super) struct OpenedBy {
    pub(super) page: TargetId,
    pub(super) frame: FrameId,
    pub(super) accessible: bool,
}

/// A target that has not started yet.
pub(super) struct Held {
    pub(super) url: String,
    /// The sessions that still have to resume it. They go on holding it when they are detached, not when their connection
    /// ends.
    pub(super) by: Vec<(ConnectionId, SessionId)>,
    /// A popup with an opener runs as soon as any session resumes it, and by nothing else.
    pub(super) one_resume_frees: bool,
    /// The context that an OOPIF leaves behind in its parent's process.
    pub(super) left_context: Option<Context>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stall {
    /// A native dialog is open, or was and nobody can answer it.
    Dialog,
    /// A script runs without end.
    Script,
    /// A noopener popup has no renderer until it is resumed.
    NotStarted,
    Crashed,
}

pub(super) struct FrameNode {
    pub(super) parent: Option<FrameId>,
    pub(super) children: Vec<FrameId>,
    pub(super) target: TargetId,
    pub(super) url: String,
    pub(super) loader: String,
    /// The main world of the current document; none before there is one.
    pub(super) context: Option<Context>,
}

#[derive(Clone)]
pub(super) struct Context {
    pub(super) id: u64,
    pub(super) unique: String,
}

pub(super) struct Session {
    pub(super) connection: ConnectionId,
    pub(super) target: TargetId,
    /// The session it was attached from; none when that was the connection itself.
    pub(super) via: Option<SessionId>,
    pub(super) by_auto_attach: bool,
    pub(super) auto_attach: Option<AutoAttach>,
    /// The sessions attached from this one; they may have ended since.
    pub(super) attached: Vec<SessionId>,
    pub(super) page: bool,
    pub(super) runtime: bool,
    pub(super) log: bool,
}

impl State {
    pub(super) fn new(shared: Weak<Shared>) -> Self {
        Self {
            shared,
            rules: Rules::default(),
            log: CommandLog::default(),
            connections: BTreeMap::new(),
            targets: BTreeMap::new(),
            frames: BTreeMap::new(),
            sessions: HashMap::new(),
            last_number: 0,
        }
    }

    /// Counts up: every id of any kind holds a number of its own.
    pub(super) fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Returns a fresh id of CDP's usual shape; the first digit tells a person what it names.
    pub(super) fn hex_id(&mut self, kind: char) -> String {
        format!("{kind}{:031X}", self.number())
    }

    pub(super) fn context(&mut self, target: &TargetId) -> Option<Context> {
        let unique = format!("{}.156", self.number());
        let target = self.targets.get_mut(target)?;
        target.contexts += 1;
        Some(Context { id: target.contexts, unique })
    }
}

/// Sending.
impl State {
    /// Answers a command; `result` is raw JSON.
    pub(super) fn reply(&mut self, connection: ConnectionId, command: &Command, result: &str) {
        let result = match self.rules.adds_unknown_fields {
            true => wire::with_unknown_field(result),
            false => result.into(),
        };
        let text = wire::reply(command.id, command.session.as_ref(), &result);
        self.transmit(connection, &command.method, text);
    }

    pub(super) fn fail(&mut self, connection: ConnectionId, command: &Command, code: i64, message: &str) {
        let text = wire::failure(command.id, command.session.as_ref(), code, message);
        self.transmit(connection, &command.method, text);
    }

    /// Sends an event on a session, or on the connection itself; `params` is raw JSON.
    pub(super) fn event(&mut self, connection: ConnectionId, session: Option<&SessionId>, method: &str, params: &str) {
        let params = match self.rules.adds_unknown_fields {
            true => wire::with_unknown_field(params),
            false => params.into(),
        };
        self.transmit(connection, method, wire::event(session, method, &params));
    }

    /// Sends an event to every session of a target that `hears` it.
    pub(super) fn target_event(&mut self, target: &TargetId, hears: fn(&Session) -> bool, method: &str, params: &str) {
        let Some(target) = self.targets.get(target) else {
            return;
        };
        for id in target.sessions.clone() {
            let session = self.sessions.get(&id).filter(|session| hears(session));
            if let Some(connection) = session.map(|session| session.connection) {
                self.event(connection, Some(&id), method, params);
            }
        }
    }

    pub(super) fn page_event(&mut self, target: &TargetId, method: &str, params: &str) {
        self.target_event(target, |session| session.page, method, params);
    }

    pub(super) fn runtime_event(&mut self, target: &TargetId, method: &str, params: &str) {
        self.target_event(target, |session| session.runtime, method, params);
    }

    /// Sends an event to every connection that discovers targets.
    pub(super) fn discovery_event(&mut self, method: &str, params: &str) {
        let hears = |(id, connection): (&ConnectionId, &Connection)| connection.discovers.then_some(*id);
        let connections: Vec<_> = self.connections.iter().filter_map(hears).collect();
        for connection in connections {
            self.event(connection, None, method, params);
        }
    }

    pub(super) fn info_changed(&mut self, target: &TargetId) {
        let info = self.target_info(target);
        self.discovery_event("Target.targetInfoChanged", &format!(r#"{{"targetInfo":{info}}}"#));
    }

    /// Puts a message into a connection's outbox, unless the script holds its like back.
    pub(super) fn transmit(&mut self, connection: ConnectionId, method: &str, text: String) {
        let text = match self.rules.adds_unknown_fields {
            true => wire::with_unknown_field(&text).into_owned(),
            false => text,
        };
        if let Some(held) = self.rules.held.get_mut(method) {
            held.push((connection, text));
            return;
        }
        self.put(connection, Outgoing::Text(text));
    }

    /// Puts anything into a connection's outbox. A connection that is gone is not an error: nobody is left to tell.
    pub(super) fn put(&mut self, connection: ConnectionId, outgoing: Outgoing) {
        if let Some(connection) = self.connections.get(&connection) {
            let _ = connection.outbox.send(outgoing);
        }
    }

    pub(super) fn put_everywhere(&mut self, mut outgoing: impl FnMut() -> Outgoing) {
        for connection in self.connections.values() {
            let _ = connection.outbox.send(outgoing());
        }
    }
}

/// Descriptions, as raw JSON.
impl State {
    pub(super) fn target_info(&self, id: &TargetId) -> String {
        let Some(target) = self.targets.get(id) else {
            return "null".to_owned();
        };
        let mut text = format!(
            r#"{{"targetId":"{id}","type":"{}","title":{},"url":{},"attached":{}"#,
            target.kind,
            quoted(&target.title),
            quoted(&target.url),
            !target.sessions.is_empty(),
        );
        let mut field = |name: &str, value: &dyn std::fmt::Display| {
            text.push_str(&format!(r#","{name}":"{value}""#));
        };
        if let Some(opener) = &target.opener {
            field("openerId", &opener.page);
            field("openerFrameId", &opener.frame);
        }
        if let Some(parent) = &target.parent {
            field("parentId", parent);
        }
        let around = self.frames.get(&id.root_frame()).and_then(|frame| frame.parent.as_ref());
        if let Some(parent) = around {
            field("parentFrameId", parent);
        }
        field("browserContextId", &BROWSER_CONTEXT);
        let accessible = target.opener.as_ref().is_some_and(|opener| opener.accessible);
        text.push_str(&format!(r#","canAccessOpener":{accessible}}}"#));
        text
    }

    pub(super) fn frame_info(&self, id: &FrameId) -> String {
        let Some(frame) = self.frames.get(id) else {
            return "null".to_owned();
        };
        let parent = frame.parent.as_ref().map_or_else(String::new, |parent| format!(r#""parentId":"{parent}","#));
        format!(
            r#"{{"id":"{id}",{parent}"loaderId":"{}","url":{},"domainAndRegistry":"","securityOrigin":{},"mimeType":"text/html","adFrameStatus":{{"adFrameType":"none"}},"secureContextType":"Secure","crossOriginIsolatedContextType":"NotIsolated","gatedAPIFeatures":[]}}"#,
            frame.loader,
            quoted(&frame.url),
            quoted(&origin(&frame.url)),
        )
    }

    pub(super) fn context_info(&self, id: &FrameId) -> Option<String> {
        let frame = self.frames.get(id)?;
        let context = frame.context.as_ref()?;
        Some(format!(
            r#"{{"context":{{"id":{},"origin":{},"name":"","uniqueId":"{}","auxData":{{"isDefault":true,"type":"default","frameId":"{id}"}}}}}}"#,
            context.id,
            quoted(&origin(&frame.url)),
            context.unique,
        ))
    }
}

impl Target {
    pub(super) fn new(kind: &'static str, url: &str) -> Self {
        Self {
            kind,
            url: url.to_owned(),
            title: String::new(),
            opener: None,
            parent: None,
            sessions: Vec::new(),
            held: None,
            stall: None,
            queue: VecDeque::new(),
            dialog: None,
            next_dialogs: VecDeque::new(),
            looping: None,
            guards_unload: false,
            contexts: 0,
        }
    }
}

/// Returns what Chromium calls the origin of a document at `url`.
fn origin(url: &str) -> String {
    let opaque = || "://".to_owned();
    match url.split_once("://") {
        Some((scheme, rest)) if !rest.is_empty() => {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            format!("{scheme}://{host}")
        }
        _ => opaque(),
    }
}

pub(super) const BROWSER_CONTEXT: &str = "C0000000000000000000000000000001";
