//! What the doors ask of the tasks behind them.
//!
//! The registry is the one implementation in the program. The trait exists so that the line protocol
//! can be tested down to its bytes without a browser; dispatch stays static.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ostler_core::view::{ClosedDialogView, TaskView};
use ostler_core::{CallError, SessionId, TargetId, TaskId};

use crate::connection::ChooserHold;
use crate::endpoint::BrowserKind;
use crate::page::Memory;
use crate::secret::SecretUrl;
use crate::tasks::{
    CallRequest, ConnectRequest, DialogAnswer, Event, EventFilter, EventPage, Registry, TaskEvents, TaskSummary,
};

/// The tasks, as a door sees them. Dropping a returned future cancels what it was waiting for.
pub(crate) trait TaskLayer: Send + Sync + 'static {
    /// The events of one task.
    type Events: EventSource;
    /// Holds a tab's file choosers back until it is dropped.
    type ChooserHold: std::fmt::Debug + Send + Sync;

    /// Sends one CDP call and returns its raw JSON result.
    fn call(&self, request: CallRequest) -> impl Future<Output = Result<Bytes, CallError>> + Send;

    /// Returns what is known of a task; never waits.
    fn view(&self, task: &TaskId) -> Result<Arc<TaskView>, CallError>;

    /// Returns the task's current tab, which is attached first when it has to be.
    fn current_session(&self, task: &TaskId) -> impl Future<Output = Result<(TargetId, SessionId), CallError>> + Send;

    /// Makes a tab the task's current one, and returns its session.
    fn set_session(
        &self,
        task: &TaskId,
        session: Option<SessionId>,
        target: Option<TargetId>,
    ) -> impl Future<Output = Result<SessionId, CallError>> + Send;

    /// Answers an open dialog and returns it as closed.
    fn answer_dialog(
        &self,
        task: &TaskId,
        answer: DialogAnswer,
    ) -> impl Future<Output = Result<ClosedDialogView, CallError>> + Send;

    /// Brings the console in the task's view up to date, where it is not told as it comes.
    fn fetch_console(&self, task: &TaskId) -> impl Future<Output = Result<(), CallError>> + Send;

    /// Holds the file choosers of a tab back: reported from then on, and not shown to anybody.
    fn hold_choosers(&self, task: &TaskId, target: TargetId) -> Result<Self::ChooserHold, CallError>;

    /// Stops the script that keeps the current tab busy; returns once the page answers again.
    fn interrupt(&self, task: &TaskId) -> impl Future<Output = Result<(), CallError>> + Send;

    /// Starts a task, or binds it to another browser.
    fn connect(&self, request: ConnectRequest) -> impl Future<Output = Result<TaskSummary, CallError>> + Send;

    /// Ends a task.
    fn disconnect(&self, task: &TaskId) -> impl Future<Output = Result<TaskSummary, CallError>> + Send;

    /// Returns the tasks that there are.
    fn tasks(&self) -> Vec<TaskSummary>;

    /// Returns what kind of browser the default task has.
    fn browser_kind(&self) -> BrowserKind;

    /// Returns whether the default task's browser is the one at this URL.
    fn drives(&self, url: &SecretUrl) -> bool;

    /// Returns whether the browser of a task can be reached; with `unlike`, once the answer is another.
    fn reachable(&self, task: &TaskId, unlike: Option<bool>) -> impl Future<Output = bool> + Send;

    /// Returns whether the browser of a task answers within `limit`; none if there is no connection to it.
    fn browser_answers(&self, task: &TaskId, limit: Duration) -> impl Future<Output = Option<bool>> + Send;

    /// Returns the events of a task.
    fn events(&self, task: &TaskId) -> Result<Arc<Self::Events>, CallError>;

    /// Returns what is kept of the pages that the task was shown.
    fn page_memory(&self, task: &TaskId) -> Result<Arc<Memory>, CallError>;

    /// Begins the daemon's orderly end.
    fn request_shutdown(&self);
}

/// A task's event buffer.
pub(crate) trait EventSource: Send + Sync + 'static {
    /// Returns at most `limit` matching events after number `since`. The page's `next` is the number
    /// up to which everything has been looked at, also where nothing matched.
    fn page(&self, since: u64, limit: usize, filter: &EventFilter) -> EventPage;

    /// Returns the number of the newest event.
    fn newest(&self) -> u64;

    /// Takes the events that came since the last call, the newest 500 at most.
    fn drain(&self) -> Vec<Event>;

    /// Waits until there is an event after number `seq`, matching or not.
    fn wait_beyond(&self, seq: u64) -> impl Future<Output = ()> + Send;
}

impl TaskLayer for Registry {
    type Events = TaskEvents;
    type ChooserHold = ChooserHold;

    async fn call(&self, request: CallRequest) -> Result<Bytes, CallError> {
        self.call(request).await
    }

    fn view(&self, task: &TaskId) -> Result<Arc<TaskView>, CallError> {
        self.view(task)
    }

    async fn current_session(&self, task: &TaskId) -> Result<(TargetId, SessionId), CallError> {
        self.current_session(task).await
    }

    async fn set_session(
        &self,
        task: &TaskId,
        session: Option<SessionId>,
        target: Option<TargetId>,
    ) -> Result<SessionId, CallError> {
        self.set_session(task, session, target).await
    }

    async fn answer_dialog(&self, task: &TaskId, answer: DialogAnswer) -> Result<ClosedDialogView, CallError> {
        self.answer_dialog(task, answer).await
    }

    async fn fetch_console(&self, task: &TaskId) -> Result<(), CallError> {
        self.fetch_console(task).await
    }

    fn hold_choosers(&self, task: &TaskId, target: TargetId) -> Result<ChooserHold, CallError> {
        self.hold_choosers(task, target)
    }

    async fn interrupt(&self, task: &TaskId) -> Result<(), CallError> {
        self.interrupt(task).await
    }

    async fn connect(&self, request: ConnectRequest) -> Result<TaskSummary, CallError> {
        self.connect(request).await
    }

    async fn disconnect(&self, task: &TaskId) -> Result<TaskSummary, CallError> {
        self.disconnect(task).await
    }

    fn tasks(&self) -> Vec<TaskSummary> {
        self.tasks()
    }

    fn browser_kind(&self) -> BrowserKind {
        self.browser_kind()
    }

    fn drives(&self, url: &SecretUrl) -> bool {
        self.drives(url)
    }

    async fn reachable(&self, task: &TaskId, unlike: Option<bool>) -> bool {
        self.reachable(task, unlike).await
    }

    async fn browser_answers(&self, task: &TaskId, limit: Duration) -> Option<bool> {
        self.browser_answers(task, limit).await
    }

    fn events(&self, task: &TaskId) -> Result<Arc<TaskEvents>, CallError> {
        self.events(task)
    }

    fn page_memory(&self, task: &TaskId) -> Result<Arc<Memory>, CallError> {
        self.page_memory(task)
    }

    fn request_shutdown(&self) {
        self.request_shutdown();
    }
}

impl EventSource for TaskEvents {
    fn page(&self, since: u64, limit: usize, filter: &EventFilter) -> EventPage {
        self.page(since, limit, filter)
    }

    fn newest(&self) -> u64 {
        self.newest()
    }

    fn drain(&self) -> Vec<Event> {
        self.drain()
    }

    async fn wait_beyond(&self, seq: u64) {
        self.wait_beyond(seq).await;
    }
}
