//! What the outside sees of a task: immutable, published after each batch of inputs.
//!
//! Whoever reads state holds an `Arc<TaskView>`; nobody waits for the browser or for a lock. Parts
//! that did not change are shared with the view before, so publishing costs what changed.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::Serialize;

use crate::error::Words;
use crate::ids::{DialogId, FrameId, SessionId, TargetId, TaskId};

/// The most entries of `frame_tree`, the top frame included.
pub const MAX_FRAMES: usize = 30;
/// The deepest OOPIF nesting that `frame_tree` shows.
pub const MAX_OOPIF_DEPTH: usize = 2;
/// How many closed dialogs `recent_dialogs` keeps.
pub const MAX_RECENT_DIALOGS: usize = 20;
/// How many dialogs one script opens in a row before whoever answers is told that it may never end.
const LONG_ROW: u32 = 4;
/// How many errors and exceptions the console ring keeps.
pub const MAX_CONSOLE: usize = 50;

/// All that is published of one task.
#[derive(Debug)]
pub struct TaskView {
    /// The task's name.
    pub task: TaskId,
    /// Whether a supervisor is attached to a tab of it at this moment.
    pub active: bool,
    /// The tab that calls without a session go to.
    pub current: Option<TargetId>,
    /// The session of that tab.
    pub current_session: Option<SessionId>,
    /// The tabs, in the order in which the task got them.
    pub tabs: Arc<[TabView]>,
    /// Open dialogs, the oldest first.
    pub pending_dialogs: Arc<[Arc<DialogView>]>,
    /// Those of them that a policy is answering: they are over in a moment, and nobody else has to act.
    pub answered_by_policy: Arc<[DialogId]>,
    /// The newest [`MAX_RECENT_DIALOGS`] closed ones, the oldest first.
    pub recent_dialogs: Arc<[ClosedDialogView]>,
    /// The frames of the current tab.
    pub frame_tree: Option<Arc<FrameTreeView>>,
    /// The same with nothing left out: for whoever has to reach each frame. It is printed nowhere.
    pub all_frames: Option<Arc<FrameTreeView>>,
    /// The newest [`MAX_CONSOLE`] errors and exceptions, the oldest first.
    pub console: Arc<[ConsoleEntry]>,
    /// The raw parameters of the `Page.javascriptDialogOpening` of the current tab's oldest open dialog.
    pub current_dialog_params: Option<Bytes>,
    /// How dialogs are answered.
    pub policy: PolicyView,
    /// How many dialogs the task has had: the number of the newest one.
    pub dialogs_so_far: u64,
    /// The sessions that belong to the task.
    pub sessions: Arc<[SessionView]>,
    /// The JSON of `state`, made when first asked for, so that two reads are the same bytes.
    pub(crate) state_json: OnceLock<Arc<str>>,
}

/// The contract's section 3, with what `state` adds, in the order in which it is printed.
#[derive(Serialize)]
struct StateJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_dialogs: Option<&'a [Arc<DialogView>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recent_dialogs: Option<&'a [ClosedDialogView]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_tree: Option<&'a FrameTreeView>,
    console: &'a [ConsoleEntry],
    policy: &'a PolicyView,
    sessions: &'a [SessionView],
    active: bool,
}

impl TaskView {
    /// Returns the view of a task of which nothing is known yet.
    pub fn empty(task: TaskId) -> Self {
        Self {
            task,
            active: false,
            current: None,
            current_session: None,
            tabs: Arc::default(),
            pending_dialogs: Arc::default(),
            answered_by_policy: Arc::default(),
            recent_dialogs: Arc::default(),
            frame_tree: None,
            all_frames: None,
            console: Arc::default(),
            current_dialog_params: None,
            policy: PolicyView {
                dialog_policy: DialogPolicy::default(),
                dialog_timeout_s: 300.0,
                dialog_bridge: DialogBridge::default(),
                bridged: false,
            },
            dialogs_so_far: 0,
            sessions: Arc::default(),
            state_json: OnceLock::new(),
        }
    }

    /// Returns the contract's `state` object as JSON. The supervisor's own keys are absent while
    /// none is attached.
    pub fn state_json(&self) -> Arc<str> {
        let json = self.state_json.get_or_init(|| {
            let state = StateJson {
                pending_dialogs: self.active.then_some(&self.pending_dialogs),
                recent_dialogs: self.active.then_some(&self.recent_dialogs),
                frame_tree: if self.active { self.frame_tree.as_deref() } else { None },
                console: &self.console,
                policy: &self.policy,
                sessions: &self.sessions,
                active: self.active,
            };
            let json = serde_json::to_string(&state).expect("plain data with text keys serializes");
            json.into()
        });
        Arc::clone(json)
    }

    /// Returns the tab that calls without a session go to.
    pub fn current_tab(&self) -> Option<&TabView> {
        let current = self.current.as_ref()?;
        self.tabs.iter().find(|tab| tab.target_id == *current)
    }
}

/// One tab of a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TabView {
    /// Its number within the task: it counts up and is never used again.
    pub number: u64,
    /// The tab's `page` target.
    pub target_id: TargetId,
    /// The supervisor's session on it.
    pub session_id: Option<SessionId>,
    /// The address of its document.
    pub url: String,
    /// The document's title.
    pub title: String,
    /// What stops it from answering, if anything.
    pub state: TabState,
    /// Whether it goes to another document: until something of it comes the tab may not answer.
    #[serde(skip)]
    pub arrival: Arrival,
}

/// How far a tab is that goes to another document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// It goes nowhere, or what it went to is there.
    #[default]
    None,
    /// Nothing is requested yet: a script of the page may still keep it, `beforeunload` first of all (fact F47).
    Begun,
    /// The document is requested, and nothing of it has come: its server may take its time (fact F41).
    Requested,
}

/// Whether a tab can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TabState {
    /// It is being attached.
    Attaching,
    /// Nothing stops it.
    Ready,
    /// A dialog is open on it.
    Dialog,
    /// It has not answered since it was attached, as with an unseen dialog, a print preview or a busy script.
    Blocked,
    /// A script has kept it busy for the whole time that a call was given, and nothing has been heard from it since.
    Hung,
    /// The browser has thrown its page away to save memory; it is loaded again when somebody needs it.
    Asleep,
    /// Its renderer crashed.
    Crashed,
}

/// An open dialog, as the contract prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DialogView {
    /// Its number in the task.
    pub id: DialogId,
    /// Which kind of dialog it is.
    #[serde(rename = "type")]
    pub kind: DialogKind,
    /// The page's text; Chromium cuts it at 10,240 characters (fact A4).
    pub message: String,
    /// What a prompt offers as its answer.
    pub default_prompt: String,
    /// When it opened, in seconds since the Unix epoch.
    pub opened_at: f64,
    /// The session on which it is answered.
    pub session_id: SessionId,
    /// The frame that opened it.
    pub frame_id: FrameId,
    /// Whether it can be answered over CDP; printed only when it cannot.
    #[serde(skip_serializing_if = "is_true")]
    pub answerable: bool,
    /// How many dialogs in a row its script has opened without ending in between, this one included; as far as is known.
    #[serde(skip)]
    pub in_a_row: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde asks for")]
fn is_true(value: &bool) -> bool {
    *value
}

impl DialogView {
    /// Returns the words for it in an error, such as `a confirm dialog (d-3: "Delete it?")`.
    pub fn describe(&self) -> String {
        let shown: String = self.message.chars().take(200).collect();
        match self.kind {
            DialogKind::Unknown if self.answerable || !self.message.is_empty() => {
                format!("a dialog of a type that ostler does not know ({}: {shown:?})", self.id)
            }
            DialogKind::Unknown => {
                format!(
                    "something unseen ({}: the page has not answered since ostler attached, as with a dialog from \
                     before, a print preview or a busy script)",
                    self.id
                )
            }
            DialogKind::Alert => format!("an alert dialog ({}: {shown:?})", self.id),
            kind => format!("a {} dialog ({}: {shown:?})", kind.as_str(), self.id),
        }
    }

    /// Returns what ends it, and what ends a script that asks again after each answer.
    pub fn way_out(&self, words: Words) -> String {
        let id = self.id;
        let out = match (words, self.answerable) {
            (Words::Protocol, true) => {
                format!(r#"answer it with {{"meta": "dialog", "action": "accept"}} or "dismiss" (dialog_id {id})"#)
            }
            (Words::Tools, true) => format!("answer it with browser_dialog (dialog_id {id})"),
            (Words::CommandLine, true) => format!("answer it with `ostler dialog accept|dismiss` (--id {id})"),
            (Words::Helpers, true) => format!(r#"answer it with dialog("accept") or dialog("dismiss") (id="{id}")"#),
            (Words::Tools, false) => "it cannot be answered over CDP: open another address with browser_navigate, or \
                                      close the tab with browser_tabs, or let the person who sees it click"
                .to_owned(),
            (_, false) => {
                "it cannot be answered over CDP: navigate, reload or close the tab, or let the person who sees it click"
                    .to_owned()
            }
        };
        if self.in_a_row < LONG_ROW || !self.answerable {
            return out;
        }
        let close = match words {
            Words::Protocol => "Target.closeTarget",
            Words::Tools => "browser_tabs",
            Words::CommandLine => r#"`ostler tool tabs '{"action": "close"}'`"#,
            Words::Helpers => "close_tab()",
        };
        let row = self.in_a_row;
        format!(
            "{out}, or close the tab with {close}: one script has asked at least {row} times in a row and may never end"
        )
    }
}

/// The kinds of dialog that the contract names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DialogKind {
    /// `alert()`.
    Alert,
    /// `confirm()`.
    Confirm,
    /// `prompt()`.
    Prompt,
    /// The question before leaving a page with unsaved work.
    Beforeunload,
    /// Something opened before we attached: a dialog, a print preview or a busy script (fact A10).
    Unknown,
}

impl DialogKind {
    /// Returns the kind that CDP calls so.
    pub(crate) fn of_cdp(kind: &str) -> Self {
        match kind {
            "alert" => Self::Alert,
            "confirm" => Self::Confirm,
            "prompt" => Self::Prompt,
            "beforeunload" => Self::Beforeunload,
            _ => Self::Unknown,
        }
    }

    /// Returns the contract's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Confirm => "confirm",
            Self::Prompt => "prompt",
            Self::Beforeunload => "beforeunload",
            Self::Unknown => "unknown",
        }
    }
}

/// A dialog that is over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClosedDialogView {
    /// Its number in the task.
    pub id: DialogId,
    /// Which kind of dialog it was.
    #[serde(rename = "type")]
    pub kind: DialogKind,
    /// The page's text.
    pub message: String,
    /// When it opened, in seconds since the Unix epoch.
    pub opened_at: f64,
    /// When it closed, in seconds since the Unix epoch.
    pub closed_at: f64,
    /// Who closed it.
    pub closed_by: ClosedBy,
}

/// Who closed a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClosedBy {
    /// An answer that a client gave.
    Agent,
    /// `auto_dismiss` or `auto_accept`.
    AutoPolicy,
    /// Nobody answered in time.
    Watchdog,
    /// Anything else: another client, the backend, a navigation, a crash.
    Remote,
}

/// The frames of a tab, cut to what the contract shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameTreeView {
    /// The tab's own document.
    pub top: TopFrameView,
    /// All other frames, parents before children.
    pub children: Vec<FrameView>,
    /// Whether anything was left out.
    pub truncated: bool,
}

/// The document at the top of a tab.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopFrameView {
    /// Its frame id.
    pub frame_id: FrameId,
    /// Its address.
    pub url: String,
    /// Its security origin, as Chromium writes it.
    pub origin: String,
}

/// A frame below the top.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameView {
    /// Its frame id.
    pub frame_id: FrameId,
    /// Its address.
    pub url: String,
    /// Whether it has a target and a session of its own.
    pub is_oopif: bool,
    /// That session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The frame that holds it.
    pub parent_frame_id: FrameId,
}

/// One error or exception of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConsoleEntry {
    /// Its number within the task: it counts up and is never used again.
    #[serde(skip)]
    pub seq: u64,
    /// When it happened, in seconds since the Unix epoch.
    pub ts: f64,
    /// `error` or `exception`.
    pub level: &'static str,
    /// What was printed or thrown, cut to a bounded length.
    pub text: String,
    /// The script or resource.
    pub url: String,
    /// The line in it, counted from 1; 0 when not known.
    pub line: u64,
    /// The frame, when it is known.
    pub frame_id: Option<FrameId>,
}

/// How a task's dialogs are answered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PolicyView {
    /// What happens when a dialog opens.
    pub dialog_policy: DialogPolicy,
    /// After how many seconds an unanswered dialog is dismissed.
    pub dialog_timeout_s: f64,
    /// Whether they come over the bridge.
    pub dialog_bridge: DialogBridge,
    /// Whether they do at this moment.
    pub bridged: bool,
}

/// Whether a task's dialogs come over the bridge: a script in place of the native dialogs, so that nobody but us answers
/// and a page can be looked at while it asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialogBridge {
    /// Where the backend is known, or was seen, to answer native dialogs by itself.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What happens when a dialog opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialogPolicy {
    /// It waits for an answer, at most until the watchdog.
    #[default]
    MustRespond,
    /// It is dismissed at once.
    AutoDismiss,
    /// It is accepted at once, a prompt with its default text.
    AutoAccept,
}

/// A session of a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionView {
    /// The session.
    pub session_id: SessionId,
    /// What it is attached to.
    pub target_id: TargetId,
    /// CDP's type of that target: `page`, `iframe`, `worker`, ...
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether a script is known to keep it busy; of a tab its state tells.
    #[serde(skip)]
    pub hung: bool,
}
