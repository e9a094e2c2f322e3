//! What is known of sessions and tabs, as data; what happens to them is in `attach.rs`, `set_up.rs` and `detach.rs`.

use std::collections::HashMap;

use super::bridge::Bridge;
use super::choosers::Choosers;
use super::console::FrameOfContext;
use super::dialogs::Dialog;
use super::focus::{Focus, Leaving};
use super::frames::Frames;
use super::hold::Hold;
use super::leave_page::LeadOut;
use super::quiet::Told;
use super::requests::Request;
use super::sleep::Sleep;
use super::timers::TimerId;
use crate::ids::{CallId, FrameId, SessionId, TargetId, TaskId};
use crate::time::Timestamp;
use crate::view::{Arrival, TabState};

/// What a session is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Page,
    Iframe,
    /// A worker, a `browser_ui`, or whatever a newer Chromium has.
    Other(Box<str>),
}

impl Kind {
    pub(crate) fn new(kind: &str) -> Self {
        match kind {
            "page" => Self::Page,
            "iframe" => Self::Iframe,
            other => Self::Other(other.into()),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Page => "page",
            Self::Iframe => "iframe",
            Self::Other(other) => other,
        }
    }
}

/// One flattened session.
///
/// ```text
///   attached ──set-up sent──▶ awaiting replies ──all there, or too late──▶ resumed
/// ```
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) target: TargetId,
    pub(crate) kind: Kind,
    /// The tab that it belongs to, when that is one of ours.
    pub(crate) tab: Option<TargetId>,
    /// Whether it is the one that we watch its target through; a client may attach more.
    pub(crate) supervised: bool,
    /// Set-up commands that must be answered before the target may run.
    pub(crate) awaiting: usize,
    /// How far its focus emulation is, if it is a page's.
    pub(super) focus: Focus,
    /// Whether a navigation was sent whose document has not come.
    pub(super) leaving: Leaving,
    /// Whether its renderer has taken the set-up in.
    pub(crate) set_up: bool,
    /// Whether the target is held until we resume it.
    pub(crate) held: bool,
    /// Whether it attaches the frames below it. That is not told twice: a frame which is just coming would be lost.
    pub(crate) auto_attaches: bool,
    /// When it is resumed, or asked why it is silent, at the latest.
    pub(crate) deadline: Option<TimerId>,
    /// The V8 isolate of its renderer's main thread: sessions with the same one share a process.
    pub(crate) isolate: Option<Box<str>>,
    pub(crate) crashed: bool,
    /// Since when a script keeps the frame busy that it is of, as a tab's `hung`.
    pub(crate) hung: Option<Timestamp>,
    /// Whether its console and its script contexts are told as they come; in a quiet task they are not.
    pub(super) runtime: bool,
    /// How far the console of a quiet session was told.
    pub(super) console: Told,
    /// When its renderer last answered anything.
    pub(crate) heard: Timestamp,
    /// The main worlds by their number in this session. Kept here and not with the frames: after a restore from the
    /// back-forward cache they are told before their frames are.
    pub(crate) contexts: HashMap<i64, MainWorld>,
    /// The dialog bridge, where it is on.
    pub(crate) bridge: Option<Bridge>,
    /// Whether its file choosers are held back.
    pub(super) choosers: Choosers,
    /// Whether a client has the Debugger on here.
    pub(crate) debugged: bool,
    /// Whether its next document waits for us.
    pub(super) hold: Hold,
}

/// The main world of a frame: where its own scripts run.
#[derive(Debug)]
pub(crate) struct MainWorld {
    pub(crate) frame: FrameId,
    /// Chromium's `uniqueId`, which no other context ever has (fact C25).
    pub(crate) unique_id: Box<str>,
    /// The bridge's script in it, by the number that the Debugger gives scripts in the order in which they come.
    pub(super) bridge_script: Option<u64>,
}

impl Session {
    pub(crate) fn new(target: TargetId, kind: Kind) -> Self {
        Self {
            target,
            kind,
            tab: None,
            supervised: false,
            awaiting: 0,
            focus: Focus::default(),
            leaving: Leaving::default(),
            set_up: false,
            held: false,
            auto_attaches: false,
            deadline: None,
            isolate: None,
            crashed: false,
            hung: None,
            runtime: false,
            console: Told::default(),
            heard: Timestamp::default(),
            contexts: HashMap::new(),
            bridge: None,
            choosers: Choosers::default(),
            debugged: false,
            hold: Hold::default(),
        }
    }
}

impl FrameOfContext for Session {
    fn frame_of(&self, context: i64) -> Option<FrameId> {
        self.contexts.get(&context).map(|world| world.frame.clone())
    }
}

/// How far a tab is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It has no session yet, or lost the one it had.
    Attaching,
    /// Its set-up is not answered yet, and its document may be held until it is.
    SettingUp,
    /// Calls go through.
    Ready,
    /// A frame went away under its open dialog: nothing may reach the tab until it was reloaded (fact A25).
    Recovering,
}

/// One tab of a task.
#[derive(Debug)]
pub(crate) struct Tab {
    pub(crate) task: TaskId,
    /// Its number within the task.
    pub(crate) number: u64,
    pub(crate) session: Option<SessionId>,
    pub(crate) phase: Phase,
    pub(crate) frames: Option<Frames>,
    /// Open dialogs, the oldest first. Two at once is the case of fact A26.
    pub(crate) dialogs: Vec<Dialog>,
    /// Closed ones whose answer is still on its way, so that it is not known yet who closed them.
    pub(crate) closing: Vec<Dialog>,
    pub(crate) title: String,
    pub(crate) url: String,
    /// The first call that is younger than its document.
    pub(crate) calls_since: CallId,
    pub(crate) crashed: bool,
    /// Since when a script keeps it busy: a call found that out, and nothing has been heard from it since.
    pub(crate) hung: Option<Timestamp>,
    /// It did not answer, and was being left: its script keeps the next document from coming (fact F33).
    pub(crate) held_up: bool,
    /// How far it is on its way to another document.
    pub(crate) arrival: Arrival,
    /// A frame went away under its open dialog, and the document has not been replaced since (fact A25).
    /// It outlives the session and the connection, as the danger does.
    pub(crate) armed: bool,
    /// Runs while its document is being replaced: by then it is set up again all the same.
    pub(super) rearm: Option<TimerId>,
    /// Whether its page is there.
    pub(crate) sleep: Sleep,
    /// Runs while it may be silent, and while it is being woken.
    pub(crate) sleep_timer: Option<TimerId>,
    /// Whether its page has answered anything: what has just come in a discarded tab's place has not (fact F8).
    pub(crate) met: bool,
    pub(crate) opener: Option<TargetId>,
    /// The frame in there that opened it.
    pub(super) opener_frame: Option<FrameId>,
    /// Opened by ostler itself, because the task had no tab.
    pub(crate) ours: bool,
    /// When its root's process last asked anything natively.
    pub(super) asked_at: Option<Timestamp>,
    /// A navigation waits until it asks no more.
    pub(super) lead_out: Option<LeadOut>,
    /// How many tools act in it.
    pub(crate) actions: usize,
    /// Requests that wait until calls go through.
    pub(crate) queue: Vec<Request>,
}

impl Tab {
    pub(crate) fn new(task: TaskId, number: u64) -> Self {
        Self {
            task,
            number,
            session: None,
            phase: Phase::Attaching,
            frames: None,
            dialogs: Vec::new(),
            closing: Vec::new(),
            title: String::new(),
            url: String::new(),
            calls_since: CallId(0),
            crashed: false,
            hung: None,
            held_up: false,
            arrival: Arrival::None,
            armed: false,
            rearm: None,
            sleep: Sleep::Awake,
            sleep_timer: None,
            met: false,
            opener: None,
            opener_frame: None,
            ours: false,
            asked_at: None,
            lead_out: None,
            actions: 0,
            queue: Vec::new(),
        }
    }

    pub(crate) fn state(&self) -> TabState {
        use crate::view::DialogKind;
        if self.sleep != Sleep::Awake && self.dialogs.is_empty() {
            TabState::Asleep
        } else if self.crashed {
            TabState::Crashed
        } else if self.hung.is_some() && !self.dialogs.iter().any(|dialog| self.session.as_ref() == Some(&dialog.owner))
        {
            // What frames of other processes ask does not stop its script.
            TabState::Hung
        } else if self.dialogs.iter().any(|dialog| dialog.view.kind != DialogKind::Unknown) {
            TabState::Dialog
        } else if !self.dialogs.is_empty() {
            TabState::Blocked
        } else if self.hung.is_some() {
            TabState::Hung
        } else if self.phase == Phase::Ready {
            TabState::Ready
        } else {
            TabState::Attaching
        }
    }
}
