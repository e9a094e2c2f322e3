//! Everything that can be asked for.

use std::sync::Arc;

use bytes::Bytes;

use crate::cdp::envelope::WireEvent;
use crate::error::CallError;
use crate::ids::{CallId, SessionId, TargetId, TaskId, Waiter};
use crate::view::{ClosedDialogView, TaskView};

/// One thing for the driver to do.
#[derive(Debug)]
pub enum Effect {
    /// Send this command to the browser. A client's call has a number: it is not sent any more if it has ended by
    /// the time that there is room for it ([`super::Supervisor::awaits`]).
    Send(Option<CallId>, Bytes),
    /// Tell whoever waits how it ended.
    Finish(Waiter, Result<Outcome, CallError>),
    /// Put this event in the task's log.
    Record(TaskId, WireEvent),
    /// This is what the outside sees of the task now.
    Publish(Arc<TaskView>),
    /// Something worth a line in the daemon's log.
    Note(String),
    /// The task is over: nothing of it is published any more.
    Retire(TaskId),
}

/// What a client gets.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The raw result of a call.
    Result(Bytes),
    /// The dialog that was answered.
    Dialog(ClosedDialogView),
    /// The task's current tab.
    Tab(TargetId, SessionId),
    /// It is done.
    Done,
}
