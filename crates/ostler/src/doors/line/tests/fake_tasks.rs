//! Tasks without a browser: a test sees each call that arrives and gives its answer.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use ostler_core::view::{ClosedBy, ClosedDialogView, DialogKind, TaskView};
use ostler_core::{CallError, DialogId, SessionId, TargetId, TaskId};
use tokio::sync::{mpsc, oneshot, watch};

use super::within;
use crate::endpoint::BrowserKind;
use crate::meta::{EventSource, TaskLayer};
use crate::page::Memory;
use crate::secret::SecretUrl;
use crate::tasks::{
    CallRequest, ConnectRequest, ConnectTarget, DialogAnswer, Event, EventFilter, EventPage, TaskSummary,
};

/// A call that has arrived and waits for the test's answer.
pub(super) struct ArrivedCall {
    pub(super) request: CallRequest,
    reply: oneshot::Sender<Result<Bytes, CallError>>,
}

impl ArrivedCall {
    pub(super) fn params(&self) -> &str {
        std::str::from_utf8(self.request.params.as_deref().unwrap_or_default()).expect("params are UTF-8")
    }

    pub(super) fn succeed(self, result: impl Into<Bytes>) {
        self.end(Ok(result.into()));
    }

    pub(super) fn end(self, outcome: Result<Bytes, CallError>) {
        self.reply.send(outcome).expect("the call is still waited for");
    }

    /// Waits until nobody waits for this call any more.
    pub(super) async fn dropped(mut self) {
        within(self.reply.closed()).await;
    }
}

/// The test's side.
pub(super) struct Script {
    pub(super) tasks: Arc<FakeTasks>,
    calls: mpsc::UnboundedReceiver<ArrivedCall>,
}

impl Script {
    pub(super) async fn call(&mut self) -> ArrivedCall {
        within(self.calls.recv()).await.expect("the tasks are alive")
    }

    /// Returns a call that has arrived already.
    pub(super) fn call_now(&mut self) -> Option<ArrivedCall> {
        self.calls.try_recv().ok()
    }

    /// Publishes another view of the default task.
    pub(super) fn publish(&self, change: impl FnOnce(&mut TaskView)) {
        let mut view = unattached();
        change(&mut view);
        *self.tasks.view.lock().expect("no panic holds it") = Arc::new(view);
    }

    /// Returns what has been asked for besides calls, the oldest first.
    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.tasks.asked.lock().expect("no panic holds it"))
    }

    pub(super) fn events(&self) -> &FakeEvents {
        &self.tasks.events
    }

    pub(super) async fn shutdown_requested(&self) {
        within(self.tasks.shutdown.subscribe().wait_for(|asked| *asked)).await.expect("the sender is here");
    }

    pub(super) fn is_shutdown_requested(&self) -> bool {
        *self.tasks.shutdown.borrow()
    }
}

pub(super) struct FakeTasks {
    calls: mpsc::UnboundedSender<ArrivedCall>,
    view: Mutex<Arc<TaskView>>,
    asked: Mutex<Vec<String>>,
    events: Arc<FakeEvents>,
    shutdown: watch::Sender<bool>,
}

fn unattached() -> TaskView {
    TaskView::empty(TaskId::default_task())
}

impl FakeTasks {
    pub(super) fn new() -> (Arc<Self>, Script) {
        let (sender, calls) = mpsc::unbounded_channel();
        let tasks = Arc::new(Self {
            calls: sender,
            view: Mutex::new(Arc::new(unattached())),
            asked: Mutex::default(),
            events: Arc::default(),
            shutdown: watch::Sender::new(false),
        });
        (Arc::clone(&tasks), Script { tasks, calls })
    }

    fn note(&self, what: String) {
        self.asked.lock().expect("no panic holds it").push(what);
    }

    fn known(task: &TaskId) -> Result<(), CallError> {
        if *task == TaskId::default_task() {
            return Ok(());
        }
        Err(CallError::UnknownTask { task: task.clone(), known: vec!["default".to_owned()] })
    }

    fn summary(task: TaskId) -> TaskSummary {
        TaskSummary {
            task,
            browser_kind: BrowserKind::Local,
            browser: "found".to_owned(),
            active: true,
            tabs: 2,
            pending_dialogs: 1,
            cloud: None,
            left_behind: None,
        }
    }
}

impl TaskLayer for FakeTasks {
    type Events = FakeEvents;
    type ChooserHold = ();

    async fn call(&self, request: CallRequest) -> Result<Bytes, CallError> {
        let (reply, outcome) = oneshot::channel();
        let _ = self.calls.send(ArrivedCall { request, reply });
        // A test that lets a call fall wants it to hang.
        match outcome.await {
            Ok(outcome) => outcome,
            Err(_) => std::future::pending().await,
        }
    }

    fn view(&self, task: &TaskId) -> Result<Arc<TaskView>, CallError> {
        Self::known(task)?;
        Ok(Arc::clone(&self.view.lock().expect("no panic holds it")))
    }

    async fn current_session(&self, _: &TaskId) -> Result<(TargetId, SessionId), CallError> {
        self.note("current_session".to_owned());
        Ok((TargetId::from("T1"), SessionId::from("attached")))
    }

    async fn set_session(
        &self,
        task: &TaskId,
        session: Option<SessionId>,
        target: Option<TargetId>,
    ) -> Result<SessionId, CallError> {
        self.note(format!("set_session {task} {session:?} {target:?}"));
        Ok(SessionId::from("S9"))
    }

    async fn answer_dialog(&self, task: &TaskId, answer: DialogAnswer) -> Result<ClosedDialogView, CallError> {
        let DialogAnswer { accept, prompt_text, dialog_id } = answer;
        self.note(format!("answer_dialog {task} {accept} {prompt_text:?} {dialog_id:?}"));
        Ok(ClosedDialogView {
            id: DialogId(3),
            kind: DialogKind::Confirm,
            message: "Sure?".to_owned(),
            opened_at: 1.5,
            closed_at: 2.5,
            closed_by: ClosedBy::Agent,
        })
    }

    async fn fetch_console(&self, task: &TaskId) -> Result<(), CallError> {
        self.note(format!("fetch_console {task}"));
        Self::known(task)
    }

    fn hold_choosers(&self, task: &TaskId, _: TargetId) -> Result<(), CallError> {
        Self::known(task)
    }

    async fn interrupt(&self, task: &TaskId) -> Result<(), CallError> {
        self.note(format!("interrupt {task}"));
        Ok(())
    }

    async fn connect(&self, request: ConnectRequest) -> Result<TaskSummary, CallError> {
        let target = match &request.target {
            ConnectTarget::Default => "default".to_owned(),
            ConnectTarget::Url(url) => url.expose().to_owned(),
            ConnectTarget::Running(wanted) => format!("{wanted:?}"),
            ConnectTarget::Launch(options) => {
                format!("launch {:?} {:?} {:?}", options.headed, options.extra_flags, options.executable)
            }
            ConnectTarget::Cloud(options) => {
                let (provider, key) = (options.provider, options.key.as_ref().map(|key| key.expose()));
                format!("cloud {} {key:?} {:?} {:?}", provider.name(), options.project, options.options)
            }
        };
        let (policy, timeout) = (request.dialog_policy, request.dialog_timeout_s);
        let quiet = request.quiet.map(|quiet| format!(" quiet {quiet}")).unwrap_or_default();
        let bridge = request.dialog_bridge.map(|bridge| format!(" {bridge:?}")).unwrap_or_default();
        self.note(format!("connect {} {target} {policy:?} {timeout:?}{quiet}{bridge}", request.task));
        Ok(Self::summary(request.task))
    }

    async fn disconnect(&self, task: &TaskId) -> Result<TaskSummary, CallError> {
        self.note(format!("disconnect {task}"));
        Self::known(task)?;
        Ok(Self::summary(task.clone()))
    }

    fn tasks(&self) -> Vec<TaskSummary> {
        vec![Self::summary(TaskId::default_task())]
    }

    fn browser_kind(&self) -> BrowserKind {
        BrowserKind::Local
    }

    fn drives(&self, _: &SecretUrl) -> bool {
        true
    }

    async fn browser_answers(&self, task: &TaskId, limit: std::time::Duration) -> Option<bool> {
        self.note(format!("answers {task} {limit:?}"));
        (task.as_str() != "default").then_some(false)
    }

    async fn reachable(&self, task: &TaskId, unlike: Option<bool>) -> bool {
        self.note(format!("reachable {task} {unlike:?}"));
        unlike.is_none_or(|known| !known)
    }

    fn events(&self, task: &TaskId) -> Result<Arc<FakeEvents>, CallError> {
        Self::known(task)?;
        Ok(Arc::clone(&self.events))
    }

    fn page_memory(&self, task: &TaskId) -> Result<Arc<Memory>, CallError> {
        Self::known(task)?;
        Ok(Arc::default())
    }

    fn request_shutdown(&self) {
        self.shutdown.send_replace(true);
    }
}

/// An event buffer that a test fills, and empties to lose events.
#[derive(Debug)]
pub(super) struct FakeEvents {
    kept: Mutex<Vec<Event>>,
    newest: watch::Sender<u64>,
}

impl Default for FakeEvents {
    fn default() -> Self {
        Self { kept: Mutex::default(), newest: watch::Sender::new(0) }
    }
}

impl FakeEvents {
    pub(super) fn happen(&self, method: &str, params: &str, session_id: Option<&str>) {
        let seq = *self.newest.borrow() + 1;
        self.kept.lock().expect("no panic holds it").push(Event {
            seq,
            method: Bytes::copy_from_slice(method.as_bytes()),
            params: Bytes::copy_from_slice(params.as_bytes()),
            session_id: session_id.map(SessionId::from),
        });
        self.newest.send_replace(seq);
    }

    /// Drops all events that are there, as a full buffer would.
    pub(super) fn overflow(&self) {
        self.kept.lock().expect("no panic holds it").clear();
    }

    /// Waits until somebody waits for the next event.
    pub(super) async fn waited_for(&self) {
        within(async {
            while self.newest.receiver_count() == 0 {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

impl EventSource for FakeEvents {
    fn page(&self, since: u64, limit: usize, filter: &EventFilter) -> EventPage {
        let kept = self.kept.lock().expect("no panic holds it");
        let newest = *self.newest.borrow();
        let oldest = kept.first().map_or(newest + 1, |event| event.seq);
        let matching = kept.iter().filter(|event| event.seq > since).filter(|event| {
            let named = |name: &String| event.method == name.as_bytes();
            let session = filter.session_id.is_none() || filter.session_id == event.session_id;
            session && (filter.methods.is_empty() || filter.methods.iter().any(named))
        });
        let events: Vec<Event> = matching.take(limit).cloned().collect();
        let next = if events.len() == limit { events[limit - 1].seq } else { newest };
        EventPage { events, next, lost: (oldest - 1).saturating_sub(since) }
    }

    fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    fn drain(&self) -> Vec<Event> {
        std::mem::take(&mut self.kept.lock().expect("no panic holds it"))
    }

    async fn wait_beyond(&self, seq: u64) {
        self.newest.subscribe().wait_for(|newest| *newest > seq).await.expect("the sender is here");
    }
}
