//! What a door asks for, and what it gets.

use std::time::Duration;

use bytes::Bytes;
use ostler_core::supervisor::OnDialog;
use ostler_core::view::{DialogBridge, DialogPolicy};
use ostler_core::{FrameId, SessionId, TargetId, TaskId};
use serde::Serialize;

use crate::endpoint::cloud::{CloudFacts, CloudOptions};
use crate::endpoint::{BrowserKind, LaunchOptions, Wanted};
use crate::secret::SecretUrl;

/// A CDP call.
#[derive(Clone, Debug)]
pub(crate) struct CallRequest {
    /// The task it is made for.
    pub(crate) task: TaskId,
    /// The session that it names, if any.
    pub(crate) session_id: Option<SessionId>,
    /// The frame that it names, if any.
    pub(crate) frame_id: Option<FrameId>,
    /// The tab or frame target that it names, if any.
    pub(crate) target_id: Option<TargetId>,
    /// The method.
    pub(crate) method: String,
    /// The raw parameters, a JSON object.
    pub(crate) params: Option<Bytes>,
    /// How long it may take in all.
    pub(crate) timeout: Duration,
    /// What happens when a dialog is in its way.
    pub(crate) on_dialog: OnDialog,
}

/// An answer to a dialog.
#[derive(Clone, Debug)]
pub(crate) struct DialogAnswer {
    /// OK or Cancel.
    pub(crate) accept: bool,
    /// The raw JSON string for a prompt; none means its default text.
    pub(crate) prompt_text: Option<Bytes>,
    /// Which one, as the client wrote it.
    pub(crate) dialog_id: Option<String>,
}

/// A task to start, or to bind to another browser.
#[derive(Debug)]
pub(crate) struct ConnectRequest {
    /// The task.
    pub(crate) task: TaskId,
    /// The browser.
    pub(crate) target: ConnectTarget,
    /// How its dialogs are answered; the daemon's setting when not given.
    pub(crate) dialog_policy: Option<DialogPolicy>,
    /// How long a dialog waits; the daemon's setting when not given.
    pub(crate) dialog_timeout_s: Option<f64>,
    /// Whether its pages are kept from telling that they are watched; the daemon's setting when not given.
    pub(crate) quiet: Option<bool>,
    /// Whether they come over the bridge; the daemon's setting when not given.
    pub(crate) dialog_bridge: Option<DialogBridge>,
}

/// Which browser a task is to work in.
#[derive(Debug)]
pub(crate) enum ConnectTarget {
    /// The one it is in, or the daemon's own choice.
    Default,
    /// The one at this URL: `ws`, `wss`, `http` or `https`.
    Url(SecretUrl),
    /// One that runs on this machine.
    Running(Wanted),
    /// A new one of our own.
    Launch(LaunchOptions),
    /// A new one of a cloud service's.
    Cloud(CloudOptions),
}

/// A task, as `tasks` lists it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TaskSummary {
    /// Its name.
    pub(crate) task: TaskId,
    /// `local`, `cdp` or `cloud`.
    pub(crate) browser_kind: BrowserKind,
    /// How the browser was found, or why there is none now.
    pub(crate) browser: String,
    /// Whether a supervisor is attached to a tab of it.
    pub(crate) active: bool,
    /// How many tabs it has.
    pub(crate) tabs: usize,
    /// How many dialogs are open in them.
    pub(crate) pending_dialogs: usize,
    /// What whoever connects is told of a cloud browser. Not for the list, since its live URL is a key.
    #[serde(skip)]
    pub(crate) cloud: Option<CloudFacts>,
    /// What is to be said of the browser that the task had before and that was to end, if it was not ended.
    #[serde(skip)]
    pub(crate) left_behind: Option<String>,
}
