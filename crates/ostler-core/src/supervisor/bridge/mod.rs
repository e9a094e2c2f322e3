//! The dialog bridge: a page's questions reach us through a script of ours in place of the native dialogs.
//!
//! It is for backends that answer native dialogs by themselves, faster than anybody can think (fact A14), and for
//! agents that want to look at a page while it asks (fact B5). A script in every document replaces `alert`, `confirm`,
//! `prompt` and `print`, and brings each question to us in one of two ways:
//!
//! ```text
//!   Transport::Pause      a `debugger` statement; the page's own ones are blackboxed (B3, B4)      pauses.rs
//!   Transport::Request    a synchronous request that `Fetch` holds (B2), where Debugger is refused  requests.rs
//!                         or is to stay off because the task is quiet (B15)
//!        │
//!        └── question ──▶ the same pending dialog as a native one ── answer ──▶ back the same way
//! ```
//!
//! Whatever neither carries goes on to the native dialog: a page never gets an answer that nobody gave. And a page never
//! asks by way of the bridge but through our script, which proves with a secret that it is ours: secret.rs.

mod asking;
mod pauses;
mod question;
mod requests;
mod sandbox;
mod script;
mod secret;

pub(super) use self::asking::{Ahead, Asking};
pub(super) use self::pauses::Told;
pub(super) use self::sandbox::Sandbox;
pub(super) use self::script::Script;
pub use self::secret::BridgeSecret;
use super::answers::AnsweredBy;
use super::dialogs::Dialog;
use super::publish::Dirty;
use super::sessions::{Kind, Session};
use super::timers::TimerId;
use super::{End, Flight, Purpose, Supervisor, object, wire};
use crate::ids::{CallId, DialogId, SessionId, TargetId, TaskId};
use crate::view::DialogBridge;

/// How soon after its opening a native dialog is closed by a backend that answers by itself (fact A14), in seconds.
const BY_ITSELF: f64 = 0.1;

/// What a page gets whose question nobody answered.
const CANCEL: &str = r#"{"accept":false}"#;

/// How a page's question gets to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// The page pauses in our script.
    Pause,
    /// The page waits for a request of our script.
    Request,
}

/// Where a dialog's answer goes.
#[derive(Clone, Debug)]
pub(super) enum Via {
    /// To the browser, which shows the dialog.
    Native,
    /// To the script that is paused in this call frame. What was sent before `read` and has no answer now waits for it.
    Pause { call_frame: Box<str>, number: u64, read: CallId },
    /// To this request of the script.
    Request { id: Box<str> },
}

/// The bridge on one session.
#[derive(Debug)]
pub(crate) struct Bridge {
    transport: Transport,
    /// What Chromium calls our script, to take it out again.
    script: Option<String>,
    /// How often its page has paused in our script.
    pauses: u64,
    /// The command that reads the question of a page that is paused, or that finds out whether it may ask. A page that
    /// waits for a request needs none: there is nothing to read.
    reading: Option<CallId>,
    /// Its page asks at this moment, and what it asked before is being closed.
    asked_anew: bool,
    /// Runs while a pause that is somebody else's waits to be resumed by them.
    stray: Option<TimerId>,
}

impl Bridge {
    fn new(transport: Transport) -> Self {
        Self { transport, script: None, pauses: 0, reading: None, asked_anew: false, stray: None }
    }

    /// Returns why a client may not send the method on a session with the bridge (fact B4); `None` for all else.
    pub(super) fn is_broken_by(&self, method: &str) -> Option<&'static str> {
        let refused = match self.transport {
            Transport::Pause => matches!(
                method,
                "Debugger.disable"
                    | "Debugger.setSkipAllPauses"
                    | "Debugger.setBreakpointsActive"
                    | "Debugger.setBlackboxPatterns"
                    | "Debugger.setBlackboxExecutionContexts"
            ),
            Transport::Request => matches!(method, "Fetch.enable" | "Fetch.disable" | "Page.setBypassCSP"),
        };
        refused.then_some("the dialog bridge stands on it")
    }
}

impl Supervisor {
    /// Returns whether the task's dialogs are to come over the bridge.
    pub(super) fn is_bridged(&self, task: &TaskId) -> bool {
        let Some(task) = self.tasks.get(task) else { return false };
        match task.dialog_bridge {
            DialogBridge::Always => true,
            DialogBridge::Never => false,
            DialogBridge::Auto => self.answers_dialogs || task.answered_by_others,
        }
    }

    /// Sends what puts the bridge on a session that is being set up, where its task wants it. The target is held until
    /// all of it is answered, so that no script of the page runs before.
    pub(super) fn arm_bridge(&mut self, id: &SessionId) {
        let tab = self.sessions.get(id).and_then(|session| session.tab.as_ref()).and_then(|tab| self.tabs.get(tab));
        let Some(task) = tab.map(|tab| tab.task.clone()) else { return };
        if !self.is_bridged(&task) {
            return;
        }
        match self.transport_of(id) {
            Some(transport) => self.install(id, transport),
            // The first session of a connection tells whether the backend lets us have the Debugger domain.
            None => {
                self.begin(id, Transport::Pause);
                self.send_awaited(Purpose::BridgeProbe(id.clone()), id, "Debugger.enable", "{}");
            }
        }
    }

    /// Returns how the session's questions are to come to us; `None` until a first session has told. In a quiet task they
    /// never pause their page, which could tell that `Debugger` is on (fact B15).
    fn transport_of(&self, id: &SessionId) -> Option<Transport> {
        if self.is_quiet(id) { Some(Transport::Request) } else { self.transport }
    }

    pub(super) fn on_bridge_probed(&mut self, id: &SessionId, end: End) {
        // It may have been taken off meanwhile, or have another transport by now.
        let still_pauses = self.bridge_mut(id).is_some_and(|bridge| bridge.transport == Transport::Pause);
        match end {
            End::Answer(Ok(_)) => {
                self.transport = Some(Transport::Pause);
                if still_pauses {
                    self.blackbox(id);
                    self.add_script(id, Transport::Pause);
                }
            }
            End::Answer(Err(error)) => {
                if self.transport.replace(Transport::Request).is_none() {
                    self.note(format!(
                        "the browser refuses the Debugger domain ({}); dialogs come over requests",
                        error.message
                    ));
                }
                if still_pauses {
                    self.install(id, Transport::Request);
                }
            }
            End::Failed(_) => {}
        }
        self.on_set_up_answered(id);
    }

    fn install(&mut self, id: &SessionId, transport: Transport) {
        self.begin(id, transport);
        match transport {
            Transport::Pause => {
                self.send_awaited(Purpose::SetUp(id.clone()), id, "Debugger.enable", "{}");
                self.blackbox(id);
            }
            Transport::Request => {
                let patterns = self.held_requests();
                self.send_awaited(Purpose::SetUp(id.clone()), id, "Fetch.enable", &patterns);
                self.send_awaited(Purpose::SetUp(id.clone()), id, "Page.setBypassCSP", r#"{"enabled":true}"#);
                self.look_at_frames_ahead(id);
            }
        }
        self.add_script(id, transport);
    }

    fn begin(&mut self, id: &SessionId, transport: Transport) {
        if let Some(session) = self.sessions.get_mut(id) {
            // Set up a second time it keeps what it knows of the page's pauses.
            match &mut session.bridge {
                Some(bridge) => bridge.transport = transport,
                None => session.bridge = Some(Bridge::new(transport)),
            }
        }
    }

    fn add_script(&mut self, id: &SessionId, transport: Transport) {
        let params = format!(r#"{{"source":{},"runImmediately":true}}"#, self.script.as_json(transport));
        let purpose = Purpose::BridgeScript(id.clone());
        self.send_awaited(purpose, id, "Page.addScriptToEvaluateOnNewDocument", &params);
    }

    /// Sends a command that a held target waits for.
    fn send_awaited(&mut self, purpose: Purpose, id: &SessionId, method: &str, params: &str) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.awaiting += 1;
        }
        self.send_own(purpose, Some(id), method, params);
    }

    pub(super) fn on_bridge_script(&mut self, id: &SessionId, end: End) {
        if let End::Answer(Ok(result)) = end
            && let Some(added) = str::from_utf8(&result).ok().and_then(wire::read::<wire::AddedScript>)
        {
            match self.bridge_mut(id) {
                Some(bridge) => bridge.script = Some(added.identifier),
                // The bridge was taken off before that was known.
                None => self.remove_script(id, &added.identifier),
            }
        }
        self.on_set_up_answered(id);
    }

    /// Returns the dialog of the bridge that a client means who answers with `Page.handleJavaScriptDialog`: the newest one,
    /// unless a native dialog is open.
    pub(super) fn bridged_dialog_to_answer(&self, target: &TargetId) -> Option<DialogId> {
        let dialogs = &self.tabs.get(target)?.dialogs;
        let newest = dialogs.last().filter(|_| dialogs.iter().all(Dialog::is_bridged))?;
        newest.answer.is_none().then_some(newest.view.id)
    }

    /// A dialog of the bridge is over, but not by an answer. A page that still waits is let go on; one that has left is
    /// not there to hear it, and whatever asks by now does not take the answer for its own.
    pub(super) fn free_bridged(&mut self, dialog: &Dialog) {
        let owner = &dialog.owner;
        if !self.is_connected() || self.sessions.get(owner).is_none_or(|session| session.crashed) {
            return;
        }
        match &dialog.via {
            Via::Native => {}
            Via::Pause { call_frame, number, .. } => {
                let purpose = Purpose::BridgeFree(owner.clone());
                self.answer_pause(purpose, owner, (call_frame, *number), CANCEL);
            }
            Via::Request { id } => self.answer_request(Purpose::Ignored, owner, id, CANCEL),
        }
    }

    /// Frames are gone whose script has paused a page that is still there: no answer reaches the script any more, and the
    /// page stands still until it is resumed. Nothing else can have paused it meanwhile.
    pub(super) fn let_survivors_go_on(&mut self, target: &TargetId, gone: impl Fn(&Dialog) -> bool) {
        let Some(tab) = self.tabs.get(target) else { return };
        let survives = |dialog: &&Dialog| {
            let own = |session: &Session| session.target.as_frame() == dialog.view.frame_id;
            let paused = matches!(dialog.via, Via::Pause { .. });
            paused && gone(dialog) && self.sessions.get(&dialog.owner).is_some_and(|session| !own(session))
        };
        for owner in tab.dialogs.iter().filter(survives).map(|dialog| dialog.owner.clone()).collect::<Vec<_>>() {
            self.send_own(Purpose::Ignored, Some(&owner), "Debugger.resume", "{}");
        }
    }

    /// We leave a tab: whatever waits in our script there goes on as cancelled, what nobody has looked at yet as well.
    /// Nobody waits for the answers, since our sessions end behind these commands.
    pub(super) fn let_scripts_go_on(&mut self, target: &TargetId) {
        for (_, number) in self.open_and_unanswered().into_iter().filter(|(tab, _)| tab == target) {
            if self.dialog(target, number).is_some_and(Dialog::is_bridged) {
                self.answer(target, number, false, None, AnsweredBy::Leaving);
            }
        }
        let dialogs = self.tabs.get(target).into_iter().flat_map(|tab| &tab.dialogs);
        let paused = dialogs.filter(|dialog| matches!(dialog.via, Via::Pause { .. }));
        for owner in paused.map(|dialog| dialog.owner.clone()).collect::<Vec<_>>() {
            self.go_on(&owner);
        }
        self.cancel_unasked(target);
    }

    /// A dialog of the bridge is closed: clients that watch the events are told, as of a native one.
    pub(super) fn on_bridged_closed(&mut self, target: &TargetId, dialog: &Dialog) {
        let Some(task) = self.tabs.get(target).map(|tab| tab.task.clone()) else { return };
        let accepted = dialog.answer.as_ref().filter(|answer| answer.accept);
        let text = accepted.and_then(|answer| answer.text.as_deref()).unwrap_or("\"\"");
        let params = format!(
            r#"{{"frameId":{},"result":{},"userInput":{text}}}"#,
            serde_json::Value::from(dialog.view.frame_id.as_str()),
            accepted.is_some()
        );
        let root = dialog.view.session_id.clone();
        self.tell_clients(task.clone(), root, "Page.javascriptDialogClosed", params);
        // It may have been switched off while this was open, or its task have become quiet.
        self.adjust_bridge(&task);
    }

    /// A page asks anew, so that what it asked before is over. Closing that must not take the bridge off under the new
    /// question, even if it stayed on for the old one only.
    fn close_before_question(&mut self, id: &SessionId, close: impl FnOnce(&mut Self)) {
        self.set_asked_anew(id, true);
        close(self);
        self.set_asked_anew(id, false);
    }

    fn set_asked_anew(&mut self, id: &SessionId, asked_anew: bool) {
        if let Some(bridge) = self.bridge_mut(id) {
            bridge.asked_anew = asked_anew;
        }
    }

    fn bridge_mut(&mut self, id: &SessionId) -> Option<&mut Bridge> {
        self.sessions.get_mut(id)?.bridge.as_mut()
    }

    /// Puts the bridge on, or takes it off, all sessions of a task, as it is wanted now.
    pub(super) fn adjust_bridge(&mut self, task: &TaskId) {
        let wanted = self.is_bridged(task);
        let of_task = |tab: &TargetId| self.tabs.get(tab).is_some_and(|tab| tab.task == *task);
        let differing = self.sessions.iter().filter(|(id, session)| {
            let document = session.supervised && matches!(session.kind, Kind::Page | Kind::Iframe);
            let fits = match &session.bridge {
                Some(bridge) => wanted && self.transport_of(id).is_none_or(|transport| transport == bridge.transport),
                None => !wanted,
            };
            document && !fits && session.tab.as_ref().is_some_and(of_task)
        });
        for id in differing.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            if self.take_off_bridge(&id) && wanted {
                self.arm_bridge(&id);
            }
        }
        if let Some(task) = self.tasks.get_mut(task) {
            task.dirty |= Dirty::POLICY;
        }
    }

    /// The same on whatever task the session belongs to.
    pub(super) fn adjust_bridge_of(&mut self, id: &SessionId) {
        let tab = self.sessions.get(id).and_then(|session| session.tab.as_ref()).and_then(|tab| self.tabs.get(tab));
        if let Some(task) = tab.map(|tab| tab.task.clone()) {
            self.adjust_bridge(&task);
        }
    }

    /// Documents that are there keep their script, which finds no transport any more and leaves all to the native
    /// dialogs. A session whose page waits for an answer keeps the bridge: switching it off would answer. One whose page
    /// has crashed keeps it until there is a page to hear of it. Returns whether the session has none now.
    fn take_off_bridge(&mut self, id: &SessionId) -> bool {
        let waits = |dialog: &Dialog| dialog.is_bridged() && dialog.owner == *id;
        let session = self.sessions.get(id);
        let crashed = session.is_some_and(|session| session.crashed);
        let bridge = session.and_then(|session| session.bridge.as_ref());
        let asks = bridge.is_some_and(|bridge| bridge.reading.is_some() || bridge.asked_anew);
        let looking = |flight: &Flight<Purpose>| flight.purpose.asking().is_some_and(|asking| asking.session == *id);
        let waits = self.calls.any(looking) || self.tabs.values().flat_map(|tab| &tab.dialogs).any(waits);
        if crashed || asks || waits {
            return false;
        }
        let Some(session) = self.sessions.get_mut(id) else { return true };
        let (debugged, Some(bridge)) = (session.debugged, session.bridge.take()) else { return true };
        if let Some(timer) = bridge.stray {
            self.timers.stop(timer);
        }
        if let Some(script) = bridge.script {
            self.remove_script(id, &script);
        }
        match bridge.transport {
            // It is a client's too.
            Transport::Pause if debugged => {}
            Transport::Pause => drop(self.send_own(Purpose::Ignored, Some(id), "Debugger.disable", "{}")),
            Transport::Request => {
                self.send_own(Purpose::Ignored, Some(id), "Fetch.disable", "{}");
                self.send_own(Purpose::Ignored, Some(id), "Page.setBypassCSP", r#"{"enabled":false}"#);
            }
        }
        true
    }

    fn remove_script(&mut self, id: &SessionId, script: &str) {
        let params = object(&[("identifier", script)]);
        self.send_own(Purpose::Ignored, Some(id), "Page.removeScriptToEvaluateOnNewDocument", &params);
    }

    /// A native dialog was closed by nobody that we know. So soon after it opened it was the backend, or a client that
    /// answers whatever comes: from now on the task's dialogs come over the bridge (fact A14).
    pub(super) fn on_closed_by_others(&mut self, target: &TargetId, open_for: f64) {
        let Some(task) = self.tabs.get(target).map(|tab| tab.task.clone()) else { return };
        let Some(state) = self.tasks.get_mut(&task) else { return };
        if open_for > BY_ITSELF || state.dialog_bridge != DialogBridge::Auto || state.answered_by_others {
            return;
        }
        state.answered_by_others = true;
        self.note(format!("task {task}: somebody else answers its dialogs; from now on they come over the bridge"));
        self.adjust_bridge(&task);
    }
}
