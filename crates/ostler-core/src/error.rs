//! Why a call did not give a result. Code decides on the variant, never on the words, which are in `sentence`.

mod sentence;

use std::sync::Arc;

pub use self::sentence::Words;
use crate::ids::{FrameId, TaskId};
use crate::view::DialogView;

/// The error of one call, as the contract's section 2 lists them.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// The browser answered with an error: its own code and words.
    Cdp {
        /// Chromium's number, such as -32602.
        code: i64,
        /// Chromium's text, with its `data` appended where it sent any.
        message: String,
    },
    /// A dialog is open on the page and this call cannot finish before it is answered.
    DialogOpen {
        /// The dialog that blocks the call.
        dialog: Arc<DialogView>,
        /// Whether the call had been sent: it may then still take effect after the answer.
        sent: bool,
    },
    /// The page's script asks on and on; a policy answers each dialog, and this call waits for the script's end.
    AsksOn {
        /// The newest dialog.
        dialog: Arc<DialogView>,
        /// Whether the call had been sent: it may take effect once the script has ended.
        sent: bool,
        /// The frame whose script it is, where that has a process of its own.
        frame: Option<FrameId>,
    },
    /// No answer within the call's time.
    Timeout {
        /// The method that did not answer.
        method: String,
        /// The time it was given, in milliseconds.
        timeout_ms: u64,
        /// What the supervisor knows of the page meanwhile.
        hint: TimeoutHint,
    },
    /// What was waited for did not come in time; nothing failed to answer.
    NotCome {
        /// What, such as `the text "Paid" was not seen`.
        what: String,
        /// The time it was given, in milliseconds.
        timeout_ms: u64,
        /// What there is instead.
        instead: String,
    },
    /// The session, tab or frame does not exist any more; nothing was sent.
    SessionGone {
        /// What was named, such as `session 5C1F…`.
        what: String,
    },
    /// The page's renderer crashed.
    TargetCrashed {
        /// The tab or frame, as `what` above.
        what: String,
    },
    /// `frame_id` names a frame without a session of its own, and the method cannot be routed into it.
    FrameInProcess {
        /// The frame.
        frame_id: FrameId,
        /// The method that was asked for.
        method: String,
    },
    /// The page or the connection went away after the call was sent.
    UnknownOutcome {
        /// The method whose effect is not known.
        method: String,
        /// What took the answer away.
        why: &'static str,
    },
    /// No frame of that id in the task.
    UnknownFrame {
        /// What was asked for.
        frame_id: String,
        /// The frames that there are.
        known: Vec<String>,
    },
    /// No task of that name.
    UnknownTask {
        /// What was asked for.
        task: TaskId,
        /// The tasks that there are.
        known: Vec<String>,
    },
    /// No open dialog of that id.
    UnknownDialog {
        /// What was asked for.
        dialog_id: String,
        /// The dialogs that are open.
        known: Vec<String>,
    },
    /// No dialog is open, or it was closed by someone else while our answer was on its way.
    NoDialog {
        /// What happened to the one that was meant, when there was one.
        why: Option<&'static str>,
    },
    /// Several dialogs are open and none was named.
    AmbiguousDialog {
        /// The dialogs that are open.
        known: Vec<String>,
    },
    /// The connection to the browser is lost, or was never made; nothing was sent.
    BrowserGone {
        /// What is known of the reason, with its way out.
        why: String,
        /// When asking again may help, in milliseconds; none where that takes somebody to do something first, which `why` says.
        retry_after_ms: Option<u64>,
    },
    /// A ref names no element that is there now.
    StaleRef {
        /// The ref, with the element in words where it is known.
        reference: String,
        /// What became of it.
        why: String,
    },
    /// An element is there, and cannot be used as it was to be.
    NotActionable {
        /// The ref and the element in words.
        what: String,
        /// What is in the way.
        why: String,
        /// What to do about it.
        next: String,
    },
    /// The request is not one that ostler can carry out.
    BadRequest {
        /// The field at fault.
        field: &'static str,
        /// What is wrong with it and what it should be.
        why: String,
    },
}

/// What is worth saying beside a time-out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeoutHint {
    /// The page has not answered anything for the whole time: a script keeps it busy, for this long at least.
    PageBusy {
        /// In milliseconds.
        for_ms: u64,
        /// The frame whose script it is, where that has a process of its own: only there it can be stopped.
        frame: Option<FrameId>,
    },
    /// Nothing was heard from the browser for the whole time, and it does not say its version either.
    BrowserSilent,
    /// It was asked to stop the script that keeps the page busy, and the page does not answer all the same.
    StillBusy,
    /// The page is being left, and its script keeps the next document from coming: it cannot be stopped any more (fact
    /// F33).
    Leaving,
    /// The page goes to another document, and nothing of it has come: its server takes its time.
    Arriving,
    /// The page waits for a dialog's answer in the middle of drawing, so that there is nothing to see of it (fact F23).
    MidFrame,
    /// Nothing in particular.
    None,
}

impl CallError {
    /// Returns the contract's `error_code`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cdp { .. } => "cdp",
            Self::DialogOpen { .. } | Self::AsksOn { .. } => "dialog_open",
            Self::Timeout { .. } | Self::NotCome { .. } => "timeout",
            Self::SessionGone { .. } => "session_gone",
            Self::TargetCrashed { .. } => "target_crashed",
            Self::FrameInProcess { .. } => "frame_in_process",
            Self::UnknownOutcome { .. } => "unknown_outcome",
            Self::UnknownFrame { .. } => "unknown_frame",
            Self::UnknownTask { .. } => "unknown_task",
            Self::UnknownDialog { .. } => "unknown_dialog",
            Self::NoDialog { .. } => "no_dialog",
            Self::AmbiguousDialog { .. } => "ambiguous_dialog",
            Self::BrowserGone { .. } => "browser_gone",
            Self::StaleRef { .. } => "stale_ref",
            Self::NotActionable { .. } => "not_actionable",
            Self::BadRequest { .. } => "bad_request",
        }
    }

    /// Returns the ids of the contract's `known`, for the errors that list them.
    pub fn known(&self) -> Option<&[String]> {
        match self {
            Self::UnknownFrame { known, .. }
            | Self::UnknownTask { known, .. }
            | Self::UnknownDialog { known, .. }
            | Self::AmbiguousDialog { known } => Some(known),
            Self::NoDialog { .. } => Some(&[]),
            _ => None,
        }
    }
}

impl std::error::Error for CallError {}
