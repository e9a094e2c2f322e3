//! What the browser does with a command that the script leaves alone.

use super::auto_attach::AutoAttach;
use super::connection::Outgoing;
use super::flood::{self, Flood};
use super::script::Unknown;
use super::state::{ConnectionId, Session, Stall, State};
use crate::door::{PRODUCT, USER_AGENT};
use crate::ids::{SessionId, TargetId};
use crate::wire::{self, Command};

impl State {
    pub(super) fn carry_out(&mut self, connection: ConnectionId, command: Command) {
        let Some(id) = command.session.clone() else {
            return self.browser_command(connection, &command);
        };
        let target = match self.sessions.get(&id) {
            Some(session) if session.connection == connection => session.target.clone(),
            _ => {
                // Chromium leaves the session out of this one reply.
                let why = "Session with given id not found.";
                let text = wire::failure(command.id, None, -32001, why);
                return self.transmit(connection, &command.method, text);
            }
        };
        self.run_or_queue(connection, &id, &target, command);
    }

    /// Runs the commands that waited for the renderer of a target, as long as it answers.
    pub(super) fn drain_queue(&mut self, id: &TargetId) {
        loop {
            let Some(target) = self.targets.get_mut(id).filter(|target| target.stall.is_none()) else {
                return;
            };
            let Some((connection, command)) = target.queue.pop_front() else {
                return;
            };
            self.carry_out(connection, command);
        }
    }

    fn run_or_queue(&mut self, connection: ConnectionId, session: &SessionId, target: &TargetId, command: Command) {
        let Some(state) = self.targets.get_mut(target) else {
            return;
        };
        match state.stall {
            Some(stall) if !answers_while(stall, &command) => {
                // What a crashed renderer was asked is never answered, not even after a reload.
                if stall != Stall::Crashed {
                    state.queue.push_back((connection, command));
                }
            }
            _ => self.session_command(connection, session, target, command),
        }
    }

    fn browser_command(&mut self, connection: ConnectionId, command: &Command) {
        match command.method.as_str() {
            "Target.setDiscoverTargets" => self.on_discover(connection, command),
            "Target.setAutoAttach" => {
                self.on_browser_auto_attach(connection, AutoAttach::read(command));
                self.reply(connection, command, "{}");
            }
            "Browser.getVersion" => {
                let version = format!(
                    r#"{{"protocolVersion":"1.3","product":"{PRODUCT}","revision":"@mock","userAgent":"{USER_AGENT}","jsVersion":"15.6.75.63"}}"#
                );
                self.reply(connection, command, &version);
            }
            "Browser.close" => {
                self.reply(connection, command, "{}");
                self.put_everywhere(|| Outgoing::Close);
                self.close_door();
            }
            "Mock.flood" => self.on_flood(connection, command),
            method if method.starts_with("Target.") => self.target_command(connection, command),
            method if method.starts_with("Browser.") || method.starts_with("Storage.") => {
                self.reply(connection, command, "{}");
            }
            _ => self.unknown_command(connection, command),
        }
    }

    fn session_command(&mut self, connection: ConnectionId, id: &SessionId, target: &TargetId, command: Command) {
        match command.method.as_str() {
            "Page.enable" => self.switch(connection, id, &command, |session| session.page = true),
            "Page.disable" => self.switch(connection, id, &command, |session| session.page = false),
            "Runtime.enable" => self.on_runtime_enable(connection, id, target, &command),
            "Runtime.disable" => self.switch(connection, id, &command, |session| session.runtime = false),
            "Log.enable" => self.switch(connection, id, &command, |session| session.log = true),
            "Log.disable" => self.switch(connection, id, &command, |session| session.log = false),
            "Target.setAutoAttach" => {
                self.on_session_auto_attach(connection, id, target, AutoAttach::read(&command));
                self.reply(connection, &command, "{}");
            }
            "Runtime.runIfWaitingForDebugger" => {
                self.resume(id, target);
                self.reply(connection, &command, "{}");
            }
            "Runtime.evaluate" => self.evaluate(connection, target, command),
            "Runtime.terminateExecution" => {
                self.reply(connection, &command, "{}");
                self.terminate(target, "Execution was terminated");
            }
            "Page.getFrameTree" => {
                let tree = self.frame_tree(target);
                self.reply(connection, &command, &format!(r#"{{"frameTree":{tree}}}"#));
            }
            "Page.getNavigationHistory" => {
                let history = self.history(target);
                self.reply(connection, &command, &history);
            }
            "Page.navigate" | "Page.reload" | "Page.close" => self.leave(connection, target, command),
            "Page.crash" => self.crash(target),
            "Page.handleJavaScriptDialog" => self.on_dialog_answer(connection, target, &command),
            "Page.addScriptToEvaluateOnNewDocument" => {
                let number = self.number();
                self.reply(connection, &command, &format!(r#"{{"identifier":"{number}"}}"#));
            }
            "Page.createIsolatedWorld" => {
                let id = self.context(target).map_or(0, |context| context.id);
                self.reply(connection, &command, &format!(r#"{{"executionContextId":{id}}}"#));
            }
            "Debugger.enable" => self.reply(connection, &command, r#"{"debuggerId":"1.1"}"#),
            method if method.starts_with("Target.") => self.target_command(connection, &command),
            _ if PLAIN_DOMAINS.contains(&command.domain()) => self.reply(connection, &command, "{}"),
            _ => self.unknown_command(connection, &command),
        }
    }

    fn on_runtime_enable(&mut self, connection: ConnectionId, id: &SessionId, target: &TargetId, command: &Command) {
        let first = self.sessions.get(id).is_some_and(|session| !session.runtime);
        let frames = self.local_frames(target);
        let contexts = frames.iter().filter_map(|frame| self.context_info(frame));
        for context in contexts.filter(|_| first).collect::<Vec<_>>() {
            let method = "Runtime.executionContextCreated";
            self.event(connection, Some(id), method, &context);
        }
        self.switch(connection, id, command, |session| session.runtime = true);
    }

    fn switch(&mut self, connection: ConnectionId, id: &SessionId, command: &Command, change: fn(&mut Session)) {
        if let Some(session) = self.sessions.get_mut(id) {
            change(session);
        }
        self.reply(connection, command, "{}");
    }

    /// `Mock.flood {sessionId, count, text?, perSecond?}`: floods that session, and answers behind the last event.
    fn on_flood(&mut self, connection: ConnectionId, command: &Command) {
        let session = command.text("sessionId").map(SessionId::from);
        let known = session.filter(|id| self.sessions.contains_key(id));
        let outbox = self.connections.get(&connection).map(|connection| &connection.outbox);
        let (Some(session), Some(count), Some(outbox)) = (known, command.number("count"), outbox) else {
            let usage = "Mock.flood wants a live sessionId and a count";
            return self.fail(connection, command, -32602, usage);
        };
        let flood = Flood {
            count,
            text: command.text("text").unwrap_or_else(|| "flood".to_owned()),
            per_second: command.number("perSecond"),
        };
        let done = wire::reply(command.id, None, "{}");
        flood::start(outbox, &session, flood, Some(done));
    }

    fn unknown_command(&mut self, connection: ConnectionId, command: &Command) {
        match self.rules.unknown {
            Unknown::Refuse => self.not_found(connection, command),
            Unknown::Empty => self.reply(connection, command, "{}"),
        }
    }
}

/// Domains whose methods answer `{}` unless they are handled above or the script says otherwise.
const PLAIN_DOMAINS: &[&str] =
    &["Debugger", "DOM", "Emulation", "Fetch", "Input", "Log", "Network", "Overlay", "Page", "Runtime", "Security"];

/// Returns whether a command is answered although the renderer does not answer: by the browser process, or because it
/// is what frees the renderer.
fn answers_while(stall: Stall, command: &Command) -> bool {
    let method = command.method.as_str();
    let frees = matches!(method, "Page.navigate" | "Page.reload" | "Page.close");
    let auto_attach_waits = || command.flag("waitForDebuggerOnStart").unwrap_or(false);
    match stall {
        Stall::NotStarted => {
            frees
                || method == "Fetch.enable"
                || method == "Runtime.runIfWaitingForDebugger"
                || method.starts_with("Target.")
        }
        Stall::Crashed => frees || method == "Page.getNavigationHistory" || method.starts_with("Target."),
        Stall::Script if method == "Runtime.terminateExecution" => true,
        Stall::Dialog if method.starts_with("Input.dispatch") => {
            method != "Input.dispatchTouchEvent" && command.text("type").as_deref() != Some("mouseWheel")
        }
        Stall::Dialog | Stall::Script if method == "Target.setAutoAttach" => !auto_attach_waits(),
        Stall::Dialog | Stall::Script => {
            frees
                || ["Target.", "Browser.", "Storage."].iter().any(|domain| method.starts_with(domain))
                || ANSWERED_BY_THE_BROWSER.contains(&method)
        }
    }
}

const ANSWERED_BY_THE_BROWSER: &[&str] = &[
    "Emulation.setGeolocationOverride",
    "Fetch.enable",
    "IO.read",
    "Network.getCookies",
    "Network.setCookie",
    "Page.bringToFront",
    "Page.getNavigationHistory",
    "Page.handleJavaScriptDialog",
    "Page.navigateToHistoryEntry",
    "Page.removeScriptToEvaluateOnNewDocument",
    "Page.setDownloadBehavior",
    "Page.setWebLifecycleState",
    "Page.startScreencast",
    "Page.stopLoading",
    "Page.stopScreencast",
    "Security.enable",
    "Tracing.getCategories",
    "WebAuthn.enable",
];
