//! A frame that may show no dialogs is not asked for one over the bridge either (fact B10).
//!
//! Where a frame is sandboxed without `allow-modals`, the native functions return at once and show nothing. A script in
//! the frame cannot tell, but the elements that hold it and its ancestors do, so that we look at them first:
//!
//! ```text
//!   paused ──▶ DOM.getFrameOwner ──▶ DOM.describeNode ──┬─ no modals: resumed unread, the native function says no
//!                      ▲                                ├─ the top is reached, or nobody answers: the question is read
//!                      └───────── its parent's ─────────┘
//! ```

use std::time::Duration;

use super::super::{End, Purpose, Supervisor, wire};
use crate::ids::{FrameId, SessionId};

/// How long a page may be silent about its frames before the question is read regardless.
const LOOK: Duration = Duration::from_secs(1);

/// A page that is paused in our script.
#[derive(Debug)]
pub(in super::super) struct Asking {
    pub(super) session: SessionId,
    pub(super) frame: FrameId,
    pub(super) call_frame: Box<str>,
    /// Which of the session's pauses it is.
    pub(super) pause: u64,
    /// The frame whose element is looked at: the one that asks, or an ancestor.
    pub(super) at: FrameId,
}

impl Supervisor {
    /// Reads the question, unless the frame may show no dialogs.
    pub(super) fn look_at_owner(&mut self, asking: Asking) {
        let Some((_, session)) = self.holder_of(&asking) else { return self.read_question(asking) };
        let params = super::object(&[("frameId", asking.at.as_str())]);
        self.look(&session, "DOM.getFrameOwner", &params, asking, Purpose::BridgeOwner);
    }

    pub(in super::super) fn on_owner(&mut self, asking: Asking, end: &End) {
        if !self.still_asks(&asking) {
            return;
        }
        let owner = answer::<wire::FrameOwner>(end);
        match (owner, self.holder_of(&asking)) {
            (Some(owner), Some((_, session))) => {
                let params = format!(r#"{{"backendNodeId":{}}}"#, owner.backend_node_id);
                self.look(&session, "DOM.describeNode", &params, asking, Purpose::BridgeOwnerNode);
            }
            _ => self.read_question(asking),
        }
    }

    pub(in super::super) fn on_owner_node(&mut self, asking: Asking, end: &End) {
        if !self.still_asks(&asking) {
            return;
        }
        let Some(node) = answer::<wire::DescribedNode<'_>>(end).map(|described| described.node) else {
            return self.read_question(asking);
        };
        if forbids_modals(&node.attributes) {
            if let Some(bridge) = self.bridge_mut(&asking.session) {
                bridge.reading = None;
            }
            return self.go_on(&asking.session);
        }
        match self.holder_of(&asking) {
            Some((parent, _)) => self.look_at_owner(Asking { at: parent, ..asking }),
            None => self.read_question(asking),
        }
    }

    fn look(&mut self, holder: &SessionId, method: &str, params: &str, asking: Asking, purpose: fn(Asking) -> Purpose) {
        let session = asking.session.clone();
        let call = self.send(purpose(asking), Some(holder), method, Some(params.as_bytes()), LOOK);
        if let Some(bridge) = self.bridge_mut(&session) {
            bridge.reading = Some(call);
        }
    }

    /// Returns the parent of the frame that is looked at, and the session that knows the element in between.
    fn holder_of(&self, asking: &Asking) -> Option<(FrameId, SessionId)> {
        let tab = self.sessions.get(&asking.session)?.tab.as_ref()?;
        let frames = self.tabs.get(tab)?.frames.as_ref()?;
        let parent = frames.get(&asking.at)?.parent.clone()?;
        let session = frames.session_of(&parent)?.clone();
        Some((parent, session))
    }

    /// Returns whether the session's page has neither gone on nor paused again since.
    pub(super) fn still_asks(&mut self, asking: &Asking) -> bool {
        let bridge = self.bridge_mut(&asking.session);
        bridge.is_some_and(|bridge| bridge.pauses == asking.pause && bridge.reading.is_some()) && self.is_connected()
    }
}

fn answer<'a, T: serde::Deserialize<'a>>(end: &'a End) -> Option<T> {
    let End::Answer(Ok(result)) = end else { return None };
    wire::read::<T>(str::from_utf8(result).ok()?)
}

/// Returns whether an element with these attributes, each a name and then its value, lets its frame show no dialogs.
fn forbids_modals(attributes: &[impl AsRef<str>]) -> bool {
    let sandbox = attributes.chunks_exact(2).find(|pair| pair[0].as_ref() == "sandbox");
    sandbox.is_some_and(|pair| {
        !pair[1].as_ref().split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case("allow-modals"))
    })
}

#[cfg(test)]
mod tests {
    use super::forbids_modals;

    #[test]
    fn a_sandbox_forbids_dialogs_unless_it_allows_them() {
        for (attributes, forbids) in [
            (&["src", "sandbox"][..], false),
            (&["src", "/", "sandbox", ""], true),
            (&["sandbox", "allow-scripts allow-modals-not"], true),
            (&["sandbox", "allow-scripts\nAllow-Modals"], false),
            (&["sandbox"], false),
            (&[], false),
        ] {
            assert_eq!(forbids_modals(attributes), forbids, "{attributes:?}");
        }
    }
}
