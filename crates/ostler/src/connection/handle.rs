//! What everybody but the driver holds of a browser: a way to ask, and a way to look.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use ostler_core::cdp::events::{Event, EventFilter, EventLog, EventPage};
use ostler_core::supervisor::{BridgeSecret, ClientCall, Input, Outcome};
use ostler_core::view::TaskView;
use ostler_core::{CallError, TargetId, TaskId, Waiter};
use tokio::sync::{mpsc, oneshot, watch};

use super::driver::{self, Command};
use crate::endpoint::cloud::CloudFacts;
use crate::endpoint::{self, BrowserKind, Found, Machine, Source};

/// What clients read of one task: its view and its events. It outlives the browser that it shows.
#[derive(Debug)]
pub(crate) struct TaskFeed {
    pub(super) view: ArcSwap<TaskView>,
    pub(super) log: Mutex<EventLog>,
    pub(super) last_seq: watch::Sender<u64>,
}

impl TaskFeed {
    /// Starts with nothing known. Its events count on from `events`, the number of the newest one before.
    pub(crate) fn new(task: TaskId, events: u64) -> Self {
        let log = EventLog::counting_on_from(events);
        Self {
            view: ArcSwap::from_pointee(TaskView::empty(task)),
            log: Mutex::new(log),
            last_seq: watch::Sender::new(events),
        }
    }

    /// Returns what is known of the task now.
    pub(crate) fn view(&self) -> Arc<TaskView> {
        self.view.load_full()
    }

    /// Returns events after `since`; nothing is taken from anybody.
    pub(crate) fn page(&self, since: u64, limit: usize, filter: &EventFilter) -> EventPage {
        self.log().page(since, limit, filter)
    }

    /// Returns the newest 500 events since the last drain.
    pub(crate) fn drain(&self) -> Vec<Event> {
        self.log().drain()
    }

    /// Returns the number of the newest event.
    pub(crate) fn newest(&self) -> u64 {
        *self.last_seq.borrow()
    }

    /// Waits until there is an event after number `seq`.
    pub(crate) async fn wait_beyond(&self, seq: u64) {
        let mut newest = self.last_seq.subscribe();
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = newest.wait_for(|newest| *newest > seq).await;
    }

    /// Held for as long as copying a page of events takes, never across a wait.
    pub(super) fn log(&self) -> std::sync::MutexGuard<'_, EventLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which browser a connection holds, or how it fares in finding it.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    /// The contract's word.
    pub(crate) kind: BrowserKind,
    /// One sentence: how it was found, what is being waited for, or why it is gone.
    pub(crate) text: String,
    /// What is known of it beyond that, if it is a cloud browser that was reached.
    pub(crate) cloud: Option<CloudFacts>,
    /// What it is, once a running browser was discovered.
    pub(crate) found: Option<Found>,
    /// Where it listens, once it was launched. Another one may, when the connection is lost.
    pub(crate) launched_port: Option<u16>,
    /// Whether the person in front of it is asked for consent now.
    pub(crate) asking: bool,
}

/// What the handles and the driver share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) status: ArcSwap<Status>,
    /// Whether the connection stands at this moment.
    pub(super) connected: watch::Sender<bool>,
}

impl Shared {
    /// Changes the status's sentence.
    pub(super) fn say(&self, text: String) {
        self.status.store(Arc::new(Status { text, asking: false, ..self.status.load().as_ref().clone() }));
    }

    /// Says that a prompt is open, and in which browser: nobody is to raise another one there.
    pub(super) fn say_that_it_asks(&self, text: String, found: Option<Found>) {
        self.status.store(Arc::new(Status { text, found, asking: true, ..self.status.load().as_ref().clone() }));
    }
}

/// A cloneable hold on one browser. Dropping the last one ends the driver.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    commands: mpsc::UnboundedSender<Command>,
    shared: Arc<Shared>,
    waiters: Arc<AtomicU64>,
    /// Where the browser is looked for, and the machine that it is looked for on.
    place: Arc<(Source, Arc<Machine>)>,
}

impl Handle {
    /// Starts a driver for the browser that `source` describes. It dials when it is first needed.
    pub(crate) fn start(source: Source, machine: Arc<Machine>, bridge_secret: BridgeSecret) -> Self {
        let kind = match source {
            Source::Discover(_) | Source::Launch(_) => BrowserKind::Local,
            Source::WebSocket(_) | Source::Http(_) => BrowserKind::Cdp,
            Source::Cloud(_) | Source::CloudRunning(_) => BrowserKind::Cloud,
        };
        let text = "not looked for yet".to_owned();
        let status = Status { kind, text, cloud: None, found: None, launched_port: None, asking: false };
        let shared = Arc::new(Shared { status: ArcSwap::from_pointee(status), connected: watch::Sender::new(false) });
        let place = Arc::new((source.clone(), Arc::clone(&machine)));
        let (commands, inbox) = mpsc::unbounded_channel();
        tokio::spawn(driver::run(source, machine, bridge_secret, inbox, Arc::clone(&shared)));
        Self { commands, shared, waiters: Arc::default(), place }
    }

    /// Returns whether both hold the same browser.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns how the connection stands.
    pub(crate) fn status(&self) -> Arc<Status> {
        self.shared.status.load_full()
    }

    /// Returns whether the connection stands at this moment.
    pub(crate) fn is_connected(&self) -> bool {
        *self.shared.connected.borrow()
    }

    /// Returns whether the browser can be reached: the connection stands, or something answers where it would be
    /// dialled. Nothing is dialled for that, so no person is asked for consent and no browser is launched.
    pub(crate) async fn is_reachable(&self) -> bool {
        if self.is_connected() {
            return true;
        }
        let (source, machine) = &*self.place;
        endpoint::answers(source, machine).await
    }

    /// Waits until the connection is made or lost.
    pub(crate) async fn connection_changed(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.shared.connected.subscribe().changed().await;
    }

    /// Publishes a task's state in `feed` from now on.
    pub(crate) fn start_task(&self, input: Input, task: TaskId, feed: Arc<TaskFeed>) {
        self.send(Command::StartTask { input, task, feed });
    }

    /// Ends a task; its feed stays with whoever holds it.
    pub(crate) fn end_task(&self, task: TaskId) {
        self.send(Command::Input(Input::EndTask(task)));
    }

    /// Makes a CDP call. Dropping the future gives up waiting for it.
    pub(crate) async fn call(&self, make: impl FnOnce(Waiter) -> ClientCall) -> Result<Outcome, CallError> {
        self.ask(|waiter| Input::Call(make(waiter))).await
    }

    /// Sends an input that has an outcome, and waits for it.
    pub(crate) async fn ask(&self, make: impl FnOnce(Waiter) -> Input) -> Result<Outcome, CallError> {
        let waiter = Waiter(self.waiters.fetch_add(1, Ordering::Relaxed));
        let (reply, outcome) = oneshot::channel();
        self.send(Command::Ask { waiter, input: make(waiter), reply });
        let mut cancel = CancelOnDrop { waiter: Some(waiter), handle: self };
        let outcome = outcome.await;
        cancel.waiter = None;
        outcome.unwrap_or_else(|_| {
            Err(CallError::BrowserGone { why: "the daemon is ending".to_owned(), retry_after_ms: Some(1000) })
        })
    }

    /// Holds the file choosers of a tab back until what is returned is dropped.
    pub(crate) fn hold_choosers(&self, target: TargetId) -> ChooserHold {
        self.send(Command::Input(Input::HoldChoosers(target.clone())));
        ChooserHold { handle: self.clone(), target }
    }

    /// Dials now, and launches the browser if it is one of our own.
    pub(crate) fn dial(&self) {
        self.send(Command::Dial);
    }

    /// Lets go of the browser: dialogs answered, waiting targets resumed, a launched or rented browser ended. Returns what
    /// is to be said of one that was not.
    pub(crate) async fn leave(&self) -> Option<String> {
        let (done, left) = oneshot::channel();
        self.send(Command::Leave(done));
        left.await.ok().flatten()
    }

    /// A driver that is gone drops what it is sent, and with it the reply: the waiting side sees that.
    fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }
}

/// A tab's file choosers are held back as long as this is there: whoever acts in the tab may go away at any moment.
#[derive(Debug)]
pub(crate) struct ChooserHold {
    handle: Handle,
    target: TargetId,
}

impl Drop for ChooserHold {
    fn drop(&mut self) {
        self.handle.send(Command::Input(Input::ReleaseChoosers(self.target.clone())));
    }
}

/// Tells the driver when nobody waits any more.
struct CancelOnDrop<'a> {
    waiter: Option<Waiter>,
    handle: &'a Handle,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter {
            self.handle.send(Command::Input(Input::Cancel(waiter)));
        }
    }
}
