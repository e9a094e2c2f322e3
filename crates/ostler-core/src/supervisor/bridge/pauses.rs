//! Questions that come as pauses of our script (facts B3 to B7).
//!
//! ```text
//!   Debugger.paused ──read `question`──▶ pending ──set `answer`──▶ answered ──Debugger.resume──▶ the page goes on
//!        │                                 │
//!        ├─ not of our script, or without its key: resumed              └─ resumed by another client, frame gone: closed, and freed if it still waits
//!        └─ not readable, no tab to show it: `answer` = the native dialog, resumed
//! ```

use std::borrow::Cow;
use std::time::Duration;

use memchr::memmem;
use serde::Deserialize;

use super::super::dialogs::Dialog;
use super::super::publish::Dirty;
use super::super::timers::Timer;
use super::super::{End, Purpose, Scope, Supervisor, wire};
use super::asking::{Asking, Held};
use super::question::Question;
use super::{Via, script};
use crate::ids::{FrameId, SessionId};
use crate::view::ClosedBy;

/// Reads the question with the proof that our script asks it, and by that tells the script that somebody has it.
const READ: &str = "(seen = true, { proof, question })";
/// Tells the script that somebody has it, and nothing more: it then takes being let go on for Cancel.
const MARK: &str = "seen = true";
/// Makes a script that somebody has looked at ask by the native dialog all the same.
const ASK_NATIVELY: &str = "answer = { native: true }";
/// How long a pause that may be somebody else's waits for them in a browser that is not ours.
const STRAY: Duration = Duration::from_secs(10);

/// What a page that is paused in our script shows.
#[derive(Deserialize)]
struct Shown<'a> {
    #[serde(borrow)]
    proof: Cow<'a, str>,
    #[serde(borrow)]
    question: Question<'a>,
}

/// Whether clients are told of an event.
pub(in super::super) enum Told {
    Yes,
    No,
}

impl Supervisor {
    /// Blackboxes everything but our script, so that the page's own `debugger` statements do not pause (fact B4).
    pub(super) fn blackbox(&mut self, id: &SessionId) {
        let ours = self.script.name.replace('.', r"\.");
        let params = serde_json::json!({"patterns": [format!("^(?!{ours}$).*$")], "skipAnonymous": true}).to_string();
        self.send_own(Purpose::Ignored, Some(id), "Debugger.setBlackboxPatterns", &params);
    }

    /// The Debugger is dead in the document that follows a crash, unless it is switched off and on (fact B4).
    pub(in super::super) fn revive_bridge(&mut self, id: &SessionId) {
        let bridge = self.bridge_mut(id).filter(|bridge| bridge.transport == super::Transport::Pause);
        if bridge.is_some() {
            self.send_own(Purpose::Ignored, Some(id), "Debugger.disable", "{}");
            self.send_own(Purpose::Ignored, Some(id), "Debugger.enable", "{}");
            self.blackbox(id);
        }
    }

    /// Applies an event of the Debugger domain. On a session where only the bridge has the domain on, no client waits
    /// for its events, and of the one for each script there are thousands.
    pub(in super::super) fn on_debugger_event(&mut self, method: &str, params: &str, id: &SessionId) -> Told {
        if method == "Debugger.scriptParsed" && memmem::find(params.as_bytes(), self.script.name.as_bytes()).is_some() {
            self.on_our_script(params, id);
        }
        if self.bridge_mut(id).is_none() {
            return self.on_event_without_bridge(method, params, id);
        }
        let shared = if self.sessions.get(id).is_some_and(|session| session.debugged) { Told::Yes } else { Told::No };
        match method {
            "Debugger.paused" => self.on_paused(params, id, shared),
            "Debugger.resumed" => self.on_resumed(id, shared),
            _ => shared,
        }
    }

    /// A client has the Debugger on, and documents that were there when the bridge was taken off still have its script:
    /// that asks by the native dialog once it is let go on, unread.
    fn on_event_without_bridge(&mut self, method: &str, params: &str, id: &SessionId) -> Told {
        if method != "Debugger.paused" {
            return Told::Yes;
        }
        match asking(params) {
            Some(top) if self.frame_of_script(id, &top.location.script_id).is_some() => {
                self.go_on(id);
                Told::No
            }
            _ => Told::Yes,
        }
    }

    /// Remembers where our script is. It is the first of its name in its world: what a page calls by the same name, which
    /// it can read in a stack trace, comes after it, and has a higher number even where the scripts of a page that was
    /// there before are told in another order.
    fn on_our_script(&mut self, params: &str, id: &SessionId) {
        let Some(parsed) = wire::read::<wire::ScriptParsed<'_>>(params) else { return };
        let Some(number) = parsed.script_id.parse().ok().filter(|_| parsed.url == self.script.name) else { return };
        let worlds = self.sessions.get_mut(id).map(|session| &mut session.contexts);
        if let Some(world) = worlds.and_then(|worlds| worlds.get_mut(&parsed.execution_context_id)) {
            let first = world.bridge_script.map_or(number, |known: u64| known.min(number));
            world.bridge_script = Some(first);
        }
    }

    fn on_paused(&mut self, params: &str, id: &SessionId, shared: Told) -> Told {
        let Some(top) = asking(params) else {
            self.on_stray_pause(id, matches!(shared, Told::Yes));
            return shared;
        };
        // Whatever waited on this session before was let go on, or it could not ask now.
        self.close_before_question(id, |core| core.close_pauses_of(id));
        let call_frame: Box<str> = top.call_frame_id.into();
        let Some((frame, bridge)) = self.frame_of_script(id, &top.location.script_id).zip(self.bridge_mut(id)) else {
            // A page's copy of it, or a document whose world is not known: unread, it asks by the native dialog.
            self.go_on(id);
            return Told::No;
        };
        bridge.pauses += 1;
        let pause = bridge.pauses;
        self.ask_if_allowed(id, frame, Held::Pause { call_frame, pause });
        Told::No
    }

    /// Returns the frame whose document has this script of ours.
    fn frame_of_script(&self, id: &SessionId, script: &str) -> Option<FrameId> {
        let script = Some(script.parse::<u64>().ok()?);
        let worlds = self.sessions.get(id)?.contexts.values();
        worlds.into_iter().find(|world| world.bridge_script == script).map(|world| world.frame.clone())
    }

    pub(super) fn read_question(&mut self, asking: Asking) {
        let Held::Pause { call_frame, .. } = &asking.held else { return };
        let session = asking.session.clone();
        let params = format!(
            r#"{{"callFrameId":{},"expression":"{READ}","returnByValue":true}}"#,
            serde_json::Value::from(&**call_frame)
        );
        let purpose = Purpose::BridgeQuestion(asking);
        let read = self.send_own(purpose, Some(&session), "Debugger.evaluateOnCallFrame", &params);
        if let Some(bridge) = self.bridge_mut(&session) {
            bridge.reading = Some(read);
        }
    }

    pub(in super::super) fn on_question_read(&mut self, asking: Asking, end: &End) {
        let Asking { session: ref id, frame, held: Held::Pause { call_frame, .. }, .. } = asking else { return };
        let Some(read) = self.bridge_mut(id).and_then(|bridge| bridge.reading.take()) else { return };
        let result = match end {
            End::Answer(Ok(result)) => result,
            // Unread, it is asked by the native dialog. Its frame may be gone, which does not end the pause (fact F12).
            End::Answer(Err(_)) => return self.go_on(id),
            End::Failed(_) => return self.ask_natively(id, &call_frame),
        };
        let shown = str::from_utf8(result).ok().and_then(wire::read::<wire::Evaluated<Shown<'_>>>);
        let Some(Shown { proof, question }) = shown.and_then(|shown| shown.result.value) else {
            return self.ask_natively(id, &call_frame);
        };
        if proof != self.script.secret.proof() {
            // A page that was there before our script has a copy of one that it met earlier.
            return self.go_on(id);
        }
        if question.is_print() {
            self.on_print(id, &frame, &question);
            return self.go_on(id);
        }
        let via = Via::Pause { call_frame: call_frame.clone(), number: question.number, read };
        if !self.on_bridge_question(id, frame, &question, via) {
            self.ask_natively(id, &call_frame);
        }
    }

    /// Leaves a question that may have been looked at to the native dialog: just resumed, its page would take that for
    /// Cancel. Nobody waits for the first command, since the second takes effect behind it.
    fn ask_natively(&mut self, id: &SessionId, call_frame: &str) {
        let params = super::super::object(&[("callFrameId", call_frame), ("expression", ASK_NATIVELY)]);
        self.send_own(Purpose::Ignored, Some(id), "Debugger.evaluateOnCallFrame", &params);
        self.go_on(id);
    }

    /// Lets a page go on whose question was not asked, as if somebody had said no.
    pub(super) fn cancel_pause(&mut self, id: &SessionId, call_frame: &str) {
        let params = super::super::object(&[("callFrameId", call_frame), ("expression", MARK)]);
        self.send_own(Purpose::Ignored, Some(id), "Debugger.evaluateOnCallFrame", &params);
        self.go_on(id);
    }

    pub(in super::super) fn go_on(&mut self, id: &SessionId) {
        if self.sessions.contains_key(id) {
            self.stop_if_wanted(id);
            self.send_own(Purpose::Ignored, Some(id), "Debugger.resume", "{}");
        }
    }

    /// Sends the answer to a paused page. Only when it has it is the page resumed: in between, another client may have
    /// let it go on to its next question.
    pub(in super::super) fn answer_pause(
        &mut self,
        purpose: Purpose,
        id: &SessionId,
        (call_frame, number): (&str, u64),
        answer: &str,
    ) {
        let expression = format!("question.number === {number} && (answer = {answer}, true)");
        let params = format!(
            r#"{{"callFrameId":{},"expression":{},"returnByValue":true}}"#,
            serde_json::Value::from(call_frame),
            serde_json::Value::from(expression)
        );
        self.send(
            purpose,
            Some(id),
            "Debugger.evaluateOnCallFrame",
            Some(params.as_bytes()),
            super::super::answers::ANSWER,
        );
    }

    /// Returns whether the paused page has taken the answer, and lets it go on if it has and still `waits`.
    pub(in super::super) fn on_pause_answered(&mut self, id: &SessionId, end: &End, waits: bool) -> bool {
        let End::Answer(answer) = end else { return false };
        let result = answer.as_ref().ok().and_then(|result| str::from_utf8(result).ok());
        let evaluated = result.and_then(wire::read::<wire::Evaluated<bool>>);
        let taken = evaluated.and_then(|evaluated| evaluated.result.value) == Some(true);
        // The command that stops the page's script can end the evaluation of the answer instead (fact F46).
        if waits && (taken || self.is_to_stop(id)) {
            self.go_on(id);
        }
        taken
    }

    fn on_resumed(&mut self, id: &SessionId, shared: Told) -> Told {
        if let Some(timer) = self.bridge_mut(id).and_then(|bridge| bridge.stray.take()) {
            self.timers.stop(timer);
            return shared;
        }
        // One that nobody has read by now goes to the native dialog.
        self.end_reading(id);
        self.close_pauses_of(id);
        shared
    }

    /// The page goes on without our doing: its script has taken it for Cancel (fact B7), or has our answer. Of one whose
    /// answer is on its way, the reply will tell.
    pub(in super::super) fn close_pauses_of(&mut self, id: &SessionId) {
        let Some(target) = self.sessions.get(id).and_then(|session| session.tab.clone()) else { return };
        let Some(tab) = self.tabs.get_mut(&target) else { return };
        let paused = |dialog: &Dialog| matches!(dialog.via, Via::Pause { .. }) && dialog.owner == *id;
        let answered = tab.dialogs.extract_if(.., |dialog| paused(dialog) && dialog.answer.is_some());
        tab.closing.extend(answered.collect::<Vec<_>>());
        let over = tab.dialogs.iter().filter(|dialog| paused(dialog));
        for number in over.map(|dialog| dialog.view.id).collect::<Vec<_>>() {
            if let Some(dialog) = self.take_dialog(&target, number) {
                self.record_closed(&target, dialog, ClosedBy::Remote);
            }
        }
        self.touch(&target, Dirty::DIALOGS);
    }

    /// With everything blackboxed no script of the page pauses: it is a client's doing, through us or beside us.
    fn on_stray_pause(&mut self, id: &SessionId, shared: bool) {
        if shared {
            return;
        }
        if self.scope == Scope::Own {
            return self.go_on(id);
        }
        let timer = self.start_timer(STRAY, Timer::StrayPause(id.clone()));
        let before = self.bridge_mut(id).and_then(|bridge| bridge.stray.replace(timer));
        if let Some(before) = before {
            self.timers.stop(before);
        }
    }

    pub(in super::super) fn on_stray_pause_due(&mut self, id: &SessionId) {
        if self.bridge_mut(id).and_then(|bridge| bridge.stray.take()).is_some() {
            self.go_on(id);
        }
    }
}

/// Returns the topmost call of a pause if it is one of the name that our script asks by.
fn asking(params: &str) -> Option<wire::CallFrame<'_>> {
    let top = wire::read::<wire::Paused<'_>>(params)?.call_frames.into_iter().next()?;
    (top.function_name == script::ASK).then_some(top)
}
