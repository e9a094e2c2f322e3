//! The parts of Chromium's events and results that the core acts on, and nothing more.
//!
//! Every field that may be missing has a default: a newer Chromium that drops or adds one changes
//! nothing. What a page chose (addresses, titles, messages) is read as lossy text.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::frames::FrameInfo;
use crate::cdp::text::LossyText;
use crate::ids::{FrameId, SessionId, TargetId};

pub(crate) use crate::cdp::objects::read;

/// `Target.TargetInfo`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetInfo {
    pub(crate) target_id: TargetId,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) title: LossyText,
    #[serde(default)]
    pub(crate) url: LossyText,
    #[serde(default)]
    pub(crate) opener_id: Option<TargetId>,
    /// The frame of the opener that opened it.
    #[serde(default)]
    pub(crate) opener_frame_id: Option<FrameId>,
    #[serde(default)]
    pub(crate) can_access_opener: bool,
    #[serde(default)]
    pub(crate) parent_frame_id: Option<FrameId>,
}

impl TargetInfo {
    /// Returns whether it looks like an opener popup that nobody has let run: it has neither an address nor a
    /// title yet. Only its looks tell, since a session that comes later is never said to wait (facts E2, E3).
    pub(crate) fn may_be_left_held(&self) -> bool {
        self.kind == "page" && self.can_access_opener && self.url.0.is_empty() && self.title.0.is_empty()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetEvent {
    pub(crate) target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttachedToTarget {
    pub(crate) session_id: SessionId,
    pub(crate) target_info: TargetInfo,
    #[serde(default)]
    pub(crate) waiting_for_debugger: bool,
}

/// Any event or result that names a session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamesSession {
    pub(crate) session_id: SessionId,
}

/// The parameters of `Target.setDiscoverTargets`.
#[derive(Deserialize)]
struct DiscoverTargets {
    discover: bool,
    #[serde(default)]
    filter: Option<serde::de::IgnoredAny>,
}

/// Returns whether `Target.setDiscoverTargets` with these parameters goes on telling of every target.
pub(crate) fn discovers_everything(params: &str) -> bool {
    read::<DiscoverTargets>(params).is_some_and(|wanted| wanted.discover && wanted.filter.is_none())
}

/// Any event, result or parameter object that names a target.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamesTarget {
    pub(crate) target_id: TargetId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameAttached {
    pub(crate) frame_id: FrameId,
    pub(crate) parent_frame_id: FrameId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameDetached<'a> {
    pub(crate) frame_id: FrameId,
    #[serde(default)]
    pub(crate) reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamesFrame {
    pub(crate) frame_id: FrameId,
    #[serde(default)]
    pub(crate) url: LossyText,
}

/// `Page.frameStartedNavigating`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedNavigating<'a> {
    pub(crate) frame_id: FrameId,
    #[serde(borrow, default)]
    navigation_type: Cow<'a, str>,
}

impl StartedNavigating<'_> {
    /// Returns whether the document stays, as when only the fragment changes.
    pub(crate) fn stays_in_document(&self) -> bool {
        matches!(&*self.navigation_type, "sameDocument" | "historySameDocument")
    }
}

/// `Network.requestWillBeSent`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Requested<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow)]
    loader_id: Cow<'a, str>,
    frame_id: Option<FrameId>,
}

impl Requested<'_> {
    /// Returns the frame whose document is requested; `None` of anything else.
    pub(crate) fn document_of(self) -> Option<FrameId> {
        self.frame_id.filter(|_| self.request_id == self.loader_id)
    }
}

/// Parameters that may name a frame.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MayNameFrame {
    #[serde(default)]
    pub(crate) frame_id: Option<FrameId>,
}

/// The parameters of `Page.navigate`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamesFrameAndUrl {
    #[serde(default)]
    pub(crate) frame_id: Option<FrameId>,
    #[serde(default)]
    pub(crate) url: LossyText,
}

/// The result of `Page.navigate`: a navigation within the document has no loader, a failed one says why.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Navigating {
    #[serde(default)]
    pub(crate) loader_id: Option<LossyText>,
    #[serde(default)]
    pub(crate) error_text: Option<LossyText>,
}

impl Navigating {
    /// Returns whether a document comes: a place in the one that is there, a download or a refused navigation brings none.
    pub(crate) fn brings_document(&self) -> bool {
        self.error_text.is_none() && self.loader_id.is_some()
    }
}

#[derive(Deserialize)]
pub(crate) struct RequestedNavigation<'a> {
    #[serde(default)]
    pub(crate) url: LossyText,
    #[serde(default)]
    pub(crate) disposition: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(crate) struct FrameNavigated<'a> {
    pub(crate) frame: Frame,
    #[serde(rename = "type", default)]
    pub(crate) kind: Option<Cow<'a, str>>,
}

/// `Page.Frame`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame {
    id: FrameId,
    #[serde(default)]
    parent_id: Option<FrameId>,
    #[serde(default)]
    url: LossyText,
    #[serde(default)]
    url_fragment: LossyText,
    #[serde(default)]
    security_origin: LossyText,
    #[serde(default)]
    loader_id: Option<Box<str>>,
}

impl From<Frame> for FrameInfo {
    fn from(frame: Frame) -> Self {
        Self {
            id: frame.id,
            parent: frame.parent_id,
            url: frame.url.0 + &frame.url_fragment.0,
            origin: frame.security_origin.0,
            loader: frame.loader_id,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameTreeResult {
    frame_tree: FrameTreeNode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTreeNode {
    frame: Frame,
    #[serde(default)]
    child_frames: Vec<FrameTreeNode>,
}

impl FrameTreeResult {
    /// Returns the frames, parents before children.
    pub(crate) fn flatten(self) -> Vec<FrameInfo> {
        let mut flat = Vec::new();
        let mut open = std::collections::VecDeque::from([self.frame_tree]);
        while let Some(node) = open.pop_front() {
            flat.push(node.frame.into());
            open.extend(node.child_frames);
        }
        flat
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DialogOpening<'a> {
    pub(crate) frame_id: FrameId,
    #[serde(default)]
    pub(crate) message: LossyText,
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default)]
    pub(crate) default_prompt: LossyText,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DialogClosed {
    pub(crate) frame_id: FrameId,
    #[serde(default)]
    pub(crate) result: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RawDefaultPrompt<'a> {
    #[serde(borrow, default)]
    pub(crate) default_prompt: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(crate) struct ContextCreated {
    pub(crate) context: Context,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Context {
    pub(crate) id: i64,
    #[serde(default)]
    pub(crate) unique_id: String,
    /// Missing in workers (fact C21).
    #[serde(default)]
    pub(crate) aux_data: Option<AuxData>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuxData {
    #[serde(default)]
    pub(crate) is_default: bool,
    #[serde(default)]
    pub(crate) frame_id: Option<FrameId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextDestroyed {
    #[serde(default)]
    pub(crate) execution_context_id: i64,
}

/// Any event that says when it happened, in milliseconds since the Unix epoch.
#[derive(Deserialize)]
pub(crate) struct HasTimestamp {
    #[serde(default)]
    pub(crate) timestamp: f64,
}

/// The result of `Page.createIsolatedWorld`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorldCreated {
    pub(crate) execution_context_id: i64,
}

/// The result of `Runtime.getIsolateId`.
#[derive(Deserialize)]
pub(crate) struct IsolateId {
    pub(crate) id: String,
}

/// The result of `Page.addScriptToEvaluateOnNewDocument`.
#[derive(Deserialize)]
pub(crate) struct AddedScript {
    pub(crate) identifier: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScriptParsed<'a> {
    #[serde(borrow)]
    pub(crate) script_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) url: Cow<'a, str>,
    #[serde(default)]
    pub(crate) execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Paused<'a> {
    #[serde(borrow)]
    pub(crate) call_frames: Vec<CallFrame<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallFrame<'a> {
    #[serde(borrow)]
    pub(crate) call_frame_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) function_name: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) location: Location<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Location<'a> {
    #[serde(borrow)]
    pub(crate) script_id: Cow<'a, str>,
}

/// The result of evaluating something whose value is asked for.
#[derive(Deserialize)]
pub(crate) struct Evaluated<T> {
    pub(crate) result: Value<T>,
}

#[derive(Deserialize)]
pub(crate) struct Value<T> {
    #[serde(default = "Option::default")]
    pub(crate) value: Option<T>,
}

/// The element that holds a frame.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameOwner {
    pub(crate) backend_node_id: i64,
}

#[derive(Deserialize)]
pub(crate) struct DescribedNode<'a> {
    #[serde(borrow)]
    pub(crate) node: Node<'a>,
}

#[derive(Deserialize)]
pub(crate) struct Node<'a> {
    /// A name, its value, the next name.
    #[serde(borrow, default)]
    pub(crate) attributes: Vec<Cow<'a, str>>,
}

/// `Network.responseReceived`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResponseReceived<'a> {
    #[serde(borrow)]
    pub(crate) loader_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) response: Response<'a>,
}

#[derive(Deserialize)]
pub(crate) struct Response<'a> {
    #[serde(borrow, default)]
    pub(crate) headers: HashMap<Cow<'a, str>, Cow<'a, str>>,
}

/// Any event about a request that says which one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AboutRequest<'a> {
    #[serde(borrow, default)]
    pub(crate) request_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    request: Option<NamesUrl<'a>>,
    #[serde(borrow, default)]
    response: Option<NamesUrl<'a>>,
}

#[derive(Deserialize)]
struct NamesUrl<'a> {
    #[serde(borrow, default)]
    url: Cow<'a, str>,
}

impl AboutRequest<'_> {
    pub(crate) fn url(&self) -> Option<&str> {
        self.request.as_ref().or(self.response.as_ref()).map(|named| &*named.url)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestPaused<'a> {
    pub(crate) frame_id: FrameId,
    #[serde(borrow)]
    pub(crate) request: HeldRequest<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldRequest<'a> {
    #[serde(borrow, default)]
    pub(crate) post_data: Option<Cow<'a, str>>,
}

/// The parameter of several methods that makes them wait for a promise.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AwaitsPromise {
    #[serde(default)]
    pub(crate) await_promise: bool,
}

/// The parameters of `Page.handleJavaScriptDialog`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RawAnswer<'a> {
    pub(crate) accept: bool,
    #[serde(borrow, default)]
    pub(crate) prompt_text: Option<&'a RawValue>,
}

/// The parameters of `Runtime.evaluate` that say where it runs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EvaluateWhere<'a> {
    #[serde(borrow, default)]
    pub(crate) context_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) unique_context_id: Option<&'a RawValue>,
}
