//! Everything that can come in.

use std::time::Duration;

use bytes::Bytes;

use crate::ids::{FrameId, SessionId, TargetId, TaskId, Waiter};
use crate::view::{DialogBridge, DialogPolicy};

/// One thing that happened outside the core.
#[derive(Debug)]
pub enum Input {
    /// The driver has begun to look for the browser; calls wait for how that ends.
    Dialling,
    /// The WebSocket is up.
    Connected {
        /// The browser's UUID, where the endpoint has one: another one is another browser.
        browser_id: Option<String>,
        /// Whose tabs these are.
        scope: Scope,
        /// Whether the backend is known to answer native dialogs by itself.
        answers_dialogs: bool,
    },
    /// The connection was lost, or could not be made.
    Gone {
        /// What is known of the reason, with its way out.
        why: String,
        /// When asking again may help; none where that takes somebody to do something first.
        retry_after: Option<Duration>,
    },
    /// One message from the browser.
    Message(Bytes),
    /// A task begins, or changes how its dialogs are answered.
    StartTask {
        /// The task.
        task: TaskId,
        /// What happens when a dialog opens.
        policy: DialogPolicy,
        /// How long a dialog waits for an answer.
        dialog_timeout: Duration,
        /// Whether its pages are kept from telling that they are watched (fact B15).
        quiet: bool,
        /// Whether they come over the bridge.
        dialog_bridge: DialogBridge,
        /// How many dialogs a task of this name has had before: numbers are never used again.
        dialogs_before: u64,
    },
    /// A task ends: its sessions are left as if they had never been.
    EndTask(TaskId),
    /// A client's CDP call.
    Call(ClientCall),
    /// A client does not wait for its outcome any more.
    Cancel(Waiter),
    /// A client answers a dialog.
    AnswerDialog(DialogAnswer),
    /// A client chooses the task's current tab.
    SelectTab {
        /// Who waits; the outcome is [`super::Outcome::Tab`].
        waiter: Waiter,
        /// The task.
        task: TaskId,
        /// A session that the client attached itself.
        session: Option<SessionId>,
        /// The tab.
        target: Option<TargetId>,
    },
    /// A client asks for the current tab, attached; the outcome is [`super::Outcome::Tab`].
    CurrentTab {
        /// Who waits.
        waiter: Waiter,
        /// The task.
        task: TaskId,
        /// How long it may take: a browser may have to be launched, or its person asked.
        timeout: Duration,
    },
    /// A client wants the script stopped that keeps the current tab busy.
    Interrupt {
        /// Who waits.
        waiter: Waiter,
        /// The task.
        task: TaskId,
    },
    /// A client is about to look at the task's console: a quiet task's pages are asked for theirs.
    FetchConsole {
        /// Who waits; the outcome is [`super::Outcome::Done`], with the console in the view.
        waiter: Waiter,
        /// The task.
        task: TaskId,
    },
    /// A tool begins to act in a tab: what choosers its page opens from here on are reported and not shown.
    HoldChoosers(TargetId),
    /// That tool has ended, or nobody waits for it any more.
    ReleaseChoosers(TargetId),
    /// The daemon is about to end: open dialogs are dismissed and waiting targets resumed (fact A11).
    Leave(Waiter),
    /// Nothing but time passed.
    Tick,
}

/// Whose tabs a browser's tabs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All are ours: a browser that we launched, or a cloud browser. Every new tab is held until it is supervised.
    Own,
    /// Only those that a task chose or opened; all others stay untouched (consequence 24).
    Guest,
}

/// A client's call.
#[derive(Debug)]
pub struct ClientCall {
    /// Who waits; the outcome is [`super::Outcome::Result`].
    pub waiter: Waiter,
    /// The task it is made for.
    pub task: TaskId,
    /// The session that it names.
    pub session: Option<SessionId>,
    /// The frame that it names.
    pub frame: Option<FrameId>,
    /// The tab or frame target that it names.
    pub target: Option<TargetId>,
    /// The CDP method.
    pub method: String,
    /// The raw parameters, a JSON object.
    pub params: Option<Bytes>,
    /// How long it may take in all.
    pub timeout: Duration,
    /// What happens when a dialog is in its way.
    pub on_dialog: OnDialog,
}

/// What happens to a call when a dialog is in its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDialog {
    /// It ends at once with `dialog_open`.
    #[default]
    Return,
    /// It waits for the dialog's end.
    Wait,
}

/// A client's answer to a dialog.
#[derive(Debug)]
pub struct DialogAnswer {
    /// Who waits; the outcome is [`super::Outcome::Dialog`].
    pub waiter: Waiter,
    /// The task.
    pub task: TaskId,
    /// OK or Cancel.
    pub accept: bool,
    /// The raw JSON string for a prompt; none means its default text.
    pub prompt_text: Option<Bytes>,
    /// Which one, as the client wrote it; needed when several are open.
    pub dialog_id: Option<String>,
}
