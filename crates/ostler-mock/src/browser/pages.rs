//! What a page does when it is asked to run a script or to leave.

use serde_json::value::RawValue;

use super::dialog::{Dialog, DialogKind};
use super::state::{ConnectionId, Stall, State};
use crate::ids::{FrameId, TargetId};
use crate::wire::{Command, quoted};

/// Scripts.
impl State {
    /// Evaluates what the test gave a value, literals, the call of a dialog function, and `while(true){}`.
    ///
    /// Anything else is `undefined`: this is no JavaScript engine.
    pub(super) fn evaluate(&mut self, connection: ConnectionId, target: &TargetId, command: Command) {
        let expression = command.text("expression").unwrap_or_default();
        let Some(frame) = self.frame_of_context(target, &command) else {
            let why = "Cannot find default execution context";
            return self.fail(connection, &command, -32000, why);
        };
        if let Some(value) = self.rules.values.get(&expression).cloned() {
            let result = remote_object(&value);
            return self.reply(connection, &command, &result);
        }
        if let Some(dialog) = Dialog::from_expression(&expression) {
            return self.open_dialog(&frame, dialog, Some((connection, command)), None);
        }
        match expression.as_str() {
            "while(true){}" => {
                if let Some(target) = self.targets.get_mut(target) {
                    target.stall = Some(Stall::Script);
                    target.looping = Some((connection, command));
                }
            }
            "1+1" => self.reply(connection, &command, &remote_object("2")),
            literal => match serde_json::from_str::<&RawValue>(literal) {
                Ok(literal) => self.reply(connection, &command, &remote_object(literal.get())),
                Err(_) => self.reply(connection, &command, r#"{"result":{"type":"undefined"}}"#),
            },
        }
    }

    /// Stops the script that keeps the renderer busy.
    pub(super) fn terminate(&mut self, target: &TargetId, why: &str) {
        let looping = self.targets.get_mut(target).and_then(|target| target.looping.take());
        if let Some((connection, command)) = looping {
            self.fail(connection, &command, -32000, why);
        }
        self.free(target, Stall::Script);
    }

    /// Returns the frame in whose main world a script is to run; none when that has no context yet.
    fn frame_of_context(&self, target: &TargetId, command: &Command) -> Option<FrameId> {
        let frames = self.local_frames(target);
        let Some(unique) = command.text("uniqueContextId") else {
            let root = frames.into_iter().next()?;
            return self.frames.get(&root)?.context.is_some().then_some(root);
        };
        frames.into_iter().find(|frame| {
            let context = self.frames.get(frame).and_then(|frame| frame.context.as_ref());
            context.is_some_and(|context| context.unique == unique)
        })
    }
}

/// Leaving a page.
impl State {
    /// `Page.navigate`, `Page.reload` or `Page.close`: asks `beforeunload` first where the page wants that.
    pub(super) fn leave(&mut self, connection: ConnectionId, target: &TargetId, command: Command) {
        if self.trips_over_lost_dialog(target) {
            return;
        }
        let asks = self.targets.get(target).is_some_and(|target| target.guards_unload && target.dialog.is_none());
        if !asks {
            return self.leave_now(connection, target, command, true);
        }
        // Only a navigation waits for the answer with its reply.
        if command.method != "Page.navigate" {
            self.reply(connection, &command, "{}");
        }
        let dialog = Dialog { kind: DialogKind::BeforeUnload, message: String::new(), default_prompt: String::new() };
        self.open_dialog(&target.root_frame(), dialog, Some((connection, command)), None);
    }

    pub(super) fn after_beforeunload(
        &mut self,
        connection: ConnectionId,
        target: &TargetId,
        command: Command,
        accepted: bool,
    ) {
        let waits = command.method == "Page.navigate";
        if accepted {
            self.leave_now(connection, target, command, waits);
        } else if waits {
            let stays =
                format!(r#"{{"frameId":"{}","errorText":"net::ERR_ABORTED","isDownload":false}}"#, target.root_frame());
            self.reply(connection, &command, &stays);
        }
    }

    fn leave_now(&mut self, connection: ConnectionId, target: &TargetId, command: Command, replies: bool) {
        if let Some(target) = self.targets.get_mut(target) {
            target.guards_unload = false;
        }
        if command.method == "Page.close" {
            if replies {
                self.reply(connection, &command, "{}");
            }
            self.close_dialog_with_page(target);
            return self.remove_target(target);
        }
        let named = command.text("frameId").map(FrameId::from);
        let frame = named.filter(|id| self.frames.get(id).is_some_and(|frame| frame.target == *target));
        let frame = frame.unwrap_or_else(|| target.root_frame());
        let here = self.frames.get(&frame).map_or_else(String::new, |frame| frame.url.clone());
        let url = command.text("url").unwrap_or(here);
        let asked = replies.then_some((connection, command));
        self.navigate(&frame, &url, asked);
    }
}

/// Returns a raw JSON value as `Runtime.evaluate` returns it, by value.
fn remote_object(value: &str) -> String {
    let kind = match value.as_bytes().first() {
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => {
            return r#"{"result":{"type":"object","subtype":"null","value":null}}"#.to_owned();
        }
        Some(b'{' | b'[') => "object",
        _ => {
            let description = quoted(value);
            return format!(r#"{{"result":{{"type":"number","value":{value},"description":{description}}}}}"#);
        }
    };
    format!(r#"{{"result":{{"type":"{kind}","value":{value}}}}}"#)
}
