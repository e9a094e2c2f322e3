//! What a page asks, as our script tells it, and the native dialog that it looks like.

use bytes::Bytes;
use bytestring::ByteString;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::dialogs::Asked;
use super::super::{Effect, Supervisor, wire};
use super::Via;
use crate::cdp::envelope::WireEvent;
use crate::ids::{FrameId, SessionId, TaskId};
use crate::view::DialogKind;

/// A question. Its texts stay raw JSON: they may hold what no text holds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Question<'a> {
    pub(super) number: u64,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    message: &'a RawValue,
    #[serde(borrow)]
    default_prompt: &'a RawValue,
    #[serde(borrow)]
    url: &'a RawValue,
}

impl Question<'_> {
    /// Returns whether it only tells that the page wants to be printed, which needs no answer.
    pub(super) fn is_print(&self) -> bool {
        self.kind == "print"
    }

    /// Returns the parameters that `Page.javascriptDialogOpening` has for a native dialog.
    fn as_opening(&self, frame: &FrameId) -> String {
        let Self { kind, message, default_prompt, url, .. } = self;
        let (kind, frame) = (serde_json::Value::from(*kind), serde_json::Value::from(frame.as_str()));
        format!(
            r#"{{"url":{url},"frameId":{frame},"message":{message},"type":{kind},"hasBrowserHandler":true,"defaultPrompt":{default_prompt}}}"#
        )
    }
}

impl Supervisor {
    /// A page asks over the bridge, on this session: from here on it is a dialog like any other.
    pub(super) fn on_bridge_question(&mut self, id: &SessionId, frame: FrameId, question: &Question<'_>, via: Via) {
        let Some(target) = self.sessions.get(id).and_then(|session| session.tab.clone()) else { return };
        let Some(tab) = self.tabs.get(&target) else { return };
        let (Some(root), task) = (tab.session.clone(), tab.task.clone()) else { return };
        let raw = question.as_opening(&frame);
        let Some(opening) = wire::read::<wire::DialogOpening<'_>>(&raw) else { return };
        let asked = Asked {
            kind: DialogKind::of_cdp(&opening.kind),
            message: opening.message.0,
            default_prompt: opening.default_prompt.0,
            frame,
            root: root.clone(),
            owner: id.clone(),
            answerable: true,
            raw: Bytes::from(raw.clone()),
            via,
        };
        self.tell_clients(task, root, "Page.javascriptDialogOpening", raw);
        self.on_asked(&target, asked);
    }

    /// A page wants to be printed. A preview in a window would block it (fact A28), so that nothing is shown; clients
    /// that watch the events are told.
    pub(super) fn on_print(&mut self, id: &SessionId, frame: &FrameId, question: &Question<'_>) {
        let tab = self.sessions.get(id).and_then(|session| session.tab.as_ref()).and_then(|tab| self.tabs.get(tab));
        let Some((task, root)) = tab.and_then(|tab| Some((tab.task.clone(), tab.session.clone()?))) else { return };
        let params = format!(r#"{{"frameId":{},"url":{}}}"#, serde_json::Value::from(frame.as_str()), question.url);
        self.tell_clients(task, root, "Ostler.printRequested", params);
    }

    /// Puts an event of our own among those of the browser.
    pub(in super::super) fn tell_clients(
        &mut self,
        task: TaskId,
        root: SessionId,
        method: &'static str,
        params: String,
    ) {
        let (method, params) = (ByteString::from_static(method), ByteString::from(params));
        let event = WireEvent { method, params, session: Some(root) };
        self.effects.push_back(Effect::Record(task, event));
    }
}
