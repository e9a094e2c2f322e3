//! What a page asks, as our script tells it, and the native dialog that it looks like.

use bytes::Bytes;
use bytestring::ByteString;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::dialogs::Asked;
use super::super::{Effect, Supervisor, wire};
use super::Via;
use crate::cdp::envelope::WireEvent;
use crate::ids::{FrameId, SessionId, TargetId, TaskId};
use crate::view::DialogKind;

/// How many questions may be open in one tab, whose frames ask beside each other if they are of different processes.
const MOST_IN_TAB: usize = 32;
/// How long a message or an address and what a prompt offers are at most, as `overrides.js` cuts them.
const MOST_OF_TEXT: usize = 10_240;
const MOST_OF_DEFAULT: usize = 50_000;

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
        self.kind == "print" && fits(self.url, MOST_OF_TEXT)
    }

    /// Returns whether our script can have put it: nothing is kept that is of another kind or longer.
    fn is_of_our_script(&self) -> bool {
        matches!(self.kind, "alert" | "confirm" | "prompt")
            && fits(self.message, MOST_OF_TEXT)
            && fits(self.default_prompt, MOST_OF_DEFAULT)
            && fits(self.url, MOST_OF_TEXT)
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

/// Returns whether a text has at most so many characters. In JSON each takes six bytes at most, and the quotes two.
fn fits(text: &RawValue, most: usize) -> bool {
    text.get().len() <= 6 * most + 2
}

impl Supervisor {
    /// A page asks over the bridge, on this session: from here on it is a dialog like any other. Returns whether it is:
    /// if not, nobody can answer it, and the native dialog has to ask.
    #[must_use]
    pub(super) fn on_bridge_question(
        &mut self,
        id: &SessionId,
        frame: FrameId,
        question: &Question<'_>,
        via: Via,
    ) -> bool {
        let Some((target, task, root)) = self.tab_that_shows(id) else { return false };
        if !question.is_of_our_script() || self.asks_too_much(&target) {
            return false;
        }
        let raw = question.as_opening(&frame);
        let Some(opening) = wire::read::<wire::DialogOpening<'_>>(&raw) else { return false };
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
        true
    }

    /// Returns the tab of a session, its task, and the root session on which clients are told of its dialogs.
    fn tab_that_shows(&self, id: &SessionId) -> Option<(TargetId, TaskId, SessionId)> {
        let target = self.sessions.get(id)?.tab.clone()?;
        let tab = self.tabs.get(&target)?;
        self.tasks.get(&tab.task)?;
        Some((target, tab.task.clone(), tab.session.clone()?))
    }

    /// Returns whether so many questions wait that one more is a page's attempt to fill our memory.
    fn asks_too_much(&self, target: &TargetId) -> bool {
        let open = self.tabs.get(target).into_iter().flat_map(|tab| &tab.dialogs);
        open.filter(|dialog| dialog.is_bridged()).count() >= MOST_IN_TAB
    }

    /// A page wants to be printed. A preview in a window would block it (fact A28), so that nothing is shown; clients
    /// that watch the events are told.
    pub(super) fn on_print(&mut self, id: &SessionId, frame: &FrameId, question: &Question<'_>) {
        let Some((_, task, root)) = self.tab_that_shows(id) else { return };
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
