//! Why a call did not give a result.
//!
//! Each variant keeps what happened and what to do next apart; a door joins them into the one
//! sentence of the contract's `error`, beside `error_code` and its data. Code decides on the
//! variant, never on the words.

use std::fmt;
use std::sync::Arc;

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
    /// No answer within the call's time.
    Timeout {
        /// The method that did not answer.
        method: String,
        /// The time it was given, in milliseconds.
        timeout_ms: u64,
        /// What the supervisor knows of the page meanwhile.
        hint: TimeoutHint,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutHint {
    /// The page has not answered anything for the whole time: a script keeps it busy.
    PageBusy,
    /// It was asked to stop the script that keeps the page busy, and the page does not answer all the same.
    StillBusy,
    /// Nothing in particular.
    None,
}

impl CallError {
    /// Returns the contract's `error_code`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cdp { .. } => "cdp",
            Self::DialogOpen { .. } => "dialog_open",
            Self::Timeout { .. } => "timeout",
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

    /// Returns what happened, without a full stop.
    pub fn happened(&self) -> String {
        match self {
            Self::Cdp { message, .. } => message.clone(),
            Self::DialogOpen { dialog, sent } => {
                let verb = if *sent { "blocks this call" } else { "is open on the page, so the call was not sent" };
                format!("{} {verb}", dialog.describe())
            }
            Self::Timeout { timeout_ms, hint: TimeoutHint::StillBusy, .. } => {
                format!("the script that keeps the page busy could not be stopped within {timeout_ms} ms")
            }
            Self::Timeout { method, timeout_ms, hint } => {
                let busy = match hint {
                    TimeoutHint::PageBusy => "; a script keeps the page busy",
                    TimeoutHint::StillBusy | TimeoutHint::None => "",
                };
                format!("{method} gave no answer within {timeout_ms} ms{busy}")
            }
            Self::SessionGone { what } => format!("{what} does not exist any more"),
            Self::TargetCrashed { what } => format!("the renderer of {what} crashed"),
            Self::FrameInProcess { frame_id, method } => {
                format!(
                    "frame {frame_id} shares its parent's process and has no session, so {method} cannot be sent to it"
                )
            }
            Self::UnknownOutcome { method, why } => {
                format!("{why} after {method} was sent, so whether it took effect is not known")
            }
            Self::UnknownFrame { frame_id, .. } => format!("no frame {frame_id} in this task"),
            Self::UnknownTask { task, .. } => format!("no task {task}"),
            Self::UnknownDialog { dialog_id, .. } => format!("no open dialog {dialog_id}"),
            Self::NoDialog { why } => why.unwrap_or("no dialog is open").to_owned(),
            Self::AmbiguousDialog { known } => format!("{} dialogs are open", known.len()),
            Self::BrowserGone { why, .. } => why.clone(),
            Self::StaleRef { reference, why } => format!("{reference} {why}"),
            Self::NotActionable { what, why, .. } => format!("{what} {why}"),
            Self::BadRequest { field, why } => format!("`{field}`: {why}"),
        }
    }

    /// Returns what the caller can do next, if there is anything beyond reading what happened.
    pub fn next_step(&self) -> Option<String> {
        match self {
            Self::Cdp { .. } | Self::BadRequest { .. } => None,
            Self::DialogOpen { dialog, .. } => Some(dialog.way_out()),
            Self::Timeout { hint: TimeoutHint::PageBusy, .. } => Some(
                r#"stop the script with {"meta":"interrupt"} (`ostler interrupt`), or reload the page"#.to_owned(),
            ),
            Self::Timeout { hint: TimeoutHint::StillBusy, .. } => {
                Some("reload the page with Page.reload, or close the tab with Target.closeTarget".to_owned())
            }
            Self::Timeout { .. } => Some("raise `timeout_ms`, or look at the page before trying again".to_owned()),
            Self::SessionGone { .. } => {
                Some("leave `session_id` out to use the task's current tab, or list the tabs with Target.getTargets".to_owned())
            }
            Self::TargetCrashed { .. } => Some("send Page.reload to start it again".to_owned()),
            Self::FrameInProcess { .. } => Some(
                "use Runtime.evaluate with this frame_id, or reach it from the top-level page through the iframe element's contentWindow / contentDocument"
                    .to_owned(),
            ),
            Self::UnknownOutcome { .. } => Some("look at the page before doing it again".to_owned()),
            Self::UnknownFrame { known, .. } => Some(known_ones("frames", known)),
            Self::UnknownTask { known, .. } => Some(known_ones("tasks", known)),
            Self::UnknownDialog { known, .. } => Some(known_ones("open dialogs", known)),
            Self::NoDialog { .. } => Some("go on without answering".to_owned()),
            Self::AmbiguousDialog { known } => Some(format!("name one with dialog_id: {}", known.join(", "))),
            Self::StaleRef { .. } => Some("take a new browser_snapshot and use a ref from it".to_owned()),
            Self::NotActionable { next, .. } => Some(next.clone()),
            Self::BrowserGone { retry_after_ms, .. } => retry_after_ms.map(|ms| format!("try again in {ms} ms")),
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

/// Lists what there is instead of what was asked for.
fn known_ones(what: &str, known: &[String]) -> String {
    match known {
        [] => format!("there are no {what}"),
        known => format!("the {what} are: {}", known.join(", ")),
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.happened())?;
        match self.next_step() {
            Some(step) => write!(f, "; {step}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CallError {}
