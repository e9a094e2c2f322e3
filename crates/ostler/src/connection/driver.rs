//! The one that owns the socket and the supervisor: reads without ever waiting for a consumer (fact D7), applies
//! inputs in wire order, carries out effects, publishes.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use ostler_core::supervisor::{Effect, Input, Outcome, Scope, Supervisor};
use ostler_core::{CallError, TaskId, Timestamp, Waiter};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Sleep;

use super::handle::{Shared, Status, TaskFeed};
use super::websocket::{DialError, Socket};
use crate::endpoint::{self, Endpoint, EndpointError, Launched, Machine, Source};

/// How many messages and how many commands are taken in before effects are carried out: enough to share the cost of
/// publishing in a storm of events, few enough that no client waits for long.
const BATCH: usize = 128;
/// The wait before the second attempt to dial; it doubles up to [`MAX_BACK_OFF`].
const FIRST_BACK_OFF: Duration = Duration::from_millis(100);
const MAX_BACK_OFF: Duration = Duration::from_secs(10);
/// How long the handshake may take. A browser that asks its person for consent holds it meanwhile.
const HANDSHAKE: Duration = Duration::from_secs(60);
/// How long letting go may take.
const LEAVE: Duration = Duration::from_secs(2);

/// What a handle asks of the driver.
#[derive(Debug)]
pub(super) enum Command {
    /// Takes part in the supervisor's inputs, in the order of arrival.
    Input(Input),
    /// The same, with somebody waiting for the outcome.
    Ask { waiter: Waiter, input: Input, reply: oneshot::Sender<Result<Outcome, CallError>> },
    /// Let go of the browser and end.
    Leave(oneshot::Sender<()>),
}

/// Runs until it is told to leave or until nobody holds a handle any more.
pub(super) async fn run(
    source: Source,
    machine: Arc<Machine>,
    inbox: mpsc::UnboundedReceiver<Command>,
    shared: Arc<Shared>,
) {
    let mut driver = Driver {
        supervisor: Supervisor::new(),
        clock: Clock::start(),
        inbox,
        shared,
        waiting: HashMap::new(),
        outgoing: VecDeque::new(),
        feeds: HashMap::new(),
        source,
        machine,
        launched: None,
        left: None,
        nudged: false,
        ever_connected: false,
    };
    driver.live().await;
    // Whoever still waits hears it, and hears whether what they asked for had been sent.
    driver.gone("the daemon is ending".to_owned(), Duration::from_secs(1));
    if let Some(launched) = driver.launched.take() {
        launched.stop().await;
    }
    if let Some(left) = driver.left.take() {
        let _ = left.send(());
    }
}

struct Driver {
    supervisor: Supervisor,
    clock: Clock,
    inbox: mpsc::UnboundedReceiver<Command>,
    shared: Arc<Shared>,
    waiting: HashMap<Waiter, oneshot::Sender<Result<Outcome, CallError>>>,
    /// Messages that the socket had no room for yet.
    outgoing: VecDeque<Bytes>,
    /// The shared map's feeds, looked up once.
    feeds: HashMap<TaskId, Arc<TaskFeed>>,
    source: Source,
    machine: Arc<Machine>,
    launched: Option<Launched>,
    /// Who waits for the end, once it was asked for.
    left: Option<oneshot::Sender<()>>,
    /// Somebody needs the browser now.
    nudged: bool,
    ever_connected: bool,
}

/// Why there is no connection, in words for the person who can help.
struct DialFailure {
    why: String,
    /// Whether trying again may help without anybody doing anything.
    may_pass: bool,
}

impl From<EndpointError> for DialFailure {
    fn from(error: EndpointError) -> Self {
        Self { may_pass: error.may_pass(), why: error.to_string() }
    }
}

/// Why a phase of the driver's life ended.
enum Over {
    /// The connection was lost, for this reason.
    Lost(String),
    /// Nobody needs the driver any more.
    Ended,
}

impl Driver {
    async fn live(&mut self) {
        let mut back_off = FIRST_BACK_OFF;
        // Nothing is dialled before somebody needs it: looking at the status touches no browser.
        if self.idle_until(None).await.is_break() {
            return;
        }
        loop {
            match self.dial().await {
                Ok(Some((socket, endpoint))) => {
                    back_off = FIRST_BACK_OFF;
                    let over = self.hold(socket, endpoint).await;
                    let Over::Lost(why) = over else { return };
                    tracing::info!("connection lost: {why}");
                    self.set_status(format!("the connection to the browser was lost ({why})"));
                    self.gone(
                        format!("the connection to the browser was lost ({why}) and is being restored"),
                        back_off,
                    );
                }
                Ok(None) => return,
                Err(failure) => {
                    if !failure.may_pass {
                        // Only a change on the person's side helps; a call still tries at once.
                        back_off = MAX_BACK_OFF;
                    }
                    self.set_status(failure.why.clone());
                    self.gone(failure.why, back_off);
                }
            }
            if self.idle_until(Some(back_off)).await.is_break() {
                return;
            }
            back_off = (back_off * 2).min(MAX_BACK_OFF);
        }
    }

    fn set_status(&self, text: String) {
        self.shared.say(text);
    }

    fn gone(&mut self, why: String, retry_after: Duration) {
        self.outgoing.clear();
        self.apply(Input::Gone { why, retry_after });
        self.carry_out();
    }

    /// Answers commands while there is no connection: until somebody needs one, or until `wait` is over.
    async fn idle_until(&mut self, wait: Option<Duration>) -> std::ops::ControlFlow<()> {
        let started = Instant::now();
        loop {
            // Whoever needs the browser does not wait out the back-off, but a failing dial is not repeated at once.
            let wait = wait.map(|wait| if self.nudged { wait.min(FIRST_BACK_OFF) } else { wait });
            if wait.map_or(self.nudged, |wait| started.elapsed() >= wait) {
                break;
            }
            let wake = [wait.map(|wait| wait.saturating_sub(started.elapsed())), self.until_timer()];
            let wake = wake.into_iter().flatten().min().unwrap_or(Duration::from_secs(3600));
            tokio::select! {
                command = self.inbox.recv() => {
                    if self.on_command(command) {
                        return std::ops::ControlFlow::Break(());
                    }
                }
                () = tokio::time::sleep(wake) => self.apply(Input::Tick),
            }
            self.carry_out();
        }
        self.nudged = false;
        if !self.ever_connected {
            // The first time, calls wait for how it ends; after a loss they fail at once (contract: `browser_gone`).
            self.apply(Input::Dialling);
            self.carry_out();
        }
        std::ops::ControlFlow::Continue(())
    }

    /// Finds the browser and dials it, answering commands meanwhile. `None` when the driver is to end.
    async fn dial(&mut self) -> Result<Option<(Socket, Endpoint)>, DialFailure> {
        if let Some(launched) = self.launched.take() {
            // The browser that we launched is gone or does not answer: another one takes its place.
            launched.stop().await;
        }
        let (source, machine) = (self.source.clone(), Arc::clone(&self.machine));
        if !self.ever_connected {
            self.set_status("being looked for".to_owned());
        }
        let shared = Arc::clone(&self.shared);
        let attempt = async move {
            let mut endpoint = endpoint::find(&source, &machine).await?;
            let dialled = match dial_endpoint(&endpoint, &shared).await {
                Err(DialError::NotFound) if let Some(renewed) = source.renewed() => {
                    // The address names a browser that was there before; another one may answer at the same port.
                    endpoint = endpoint::find(&renewed, &machine).await?;
                    dial_endpoint(&endpoint, &shared).await
                }
                dialled => dialled,
            };
            match dialled {
                Ok(socket) => Ok((socket, endpoint)),
                Err(error) => Err(DialFailure { why: format!("{} {error}", endpoint.url.label()), may_pass: true }),
            }
        };
        let mut attempt = std::pin::pin!(attempt);
        loop {
            let wake = self.until_timer().unwrap_or(Duration::from_secs(3600));
            tokio::select! {
                outcome = &mut attempt => return outcome.map(Some),
                command = self.inbox.recv() => {
                    if self.on_command(command) {
                        return Ok(None);
                    }
                }
                () = tokio::time::sleep(wake) => self.apply(Input::Tick),
            }
            self.carry_out();
        }
    }

    /// Holds the connection until it is lost or not needed any more.
    async fn hold(&mut self, mut socket: Socket, endpoint: Endpoint) -> Over {
        let ours = endpoint.launched.is_some();
        tracing::info!(profile = ?endpoint.profile, "connected to {} ({})", endpoint.url.label(), endpoint.found_by);
        self.ever_connected = true;
        self.launched = endpoint.launched;
        let (scope, reach) = if ours {
            (Scope::Own, "every tab of it is supervised")
        } else {
            (Scope::Guest, "only the tasks' own tabs are touched")
        };
        let text = format!("{} ({}; {reach})", endpoint.url.label(), endpoint.found_by);
        self.shared.status.store(Arc::new(Status { kind: endpoint.kind, text }));
        self.apply(Input::Connected { browser_id: browser_id(endpoint.url.expose()), scope });
        self.carry_out();
        let mut sleep = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
        let over = poll_fn(|cx| self.poll_hold(&mut socket, sleep.as_mut(), cx)).await;
        if self.left.is_some() {
            self.let_go(&mut socket).await;
        }
        over
    }

    /// One turn: takes in what is there, carries out what it asks for, sends.
    fn poll_hold(&mut self, socket: &mut Socket, mut sleep: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<Over> {
        loop {
            let mut busy = false;
            for _ in 0..BATCH {
                match socket.poll_receive(cx) {
                    Poll::Ready(Ok(message)) => {
                        trace("received", &message);
                        self.apply(Input::Message(message));
                        busy = true;
                    }
                    Poll::Ready(Err(why)) => return Poll::Ready(Over::Lost(why)),
                    Poll::Pending => break,
                }
            }
            for _ in 0..BATCH {
                match self.inbox.poll_recv(cx) {
                    Poll::Ready(command) => {
                        if self.on_command(command) {
                            return Poll::Ready(Over::Ended);
                        }
                        busy = true;
                    }
                    Poll::Pending => break,
                }
            }
            self.carry_out();
            if let Err(why) = self.send_outgoing(socket, cx) {
                return Poll::Ready(Over::Lost(why));
            }
            if busy {
                continue;
            }
            let Some(wait) = self.until_timer() else { return Poll::Pending };
            // Due is due: a sleep set again to "now" would only be due at the next tick of the runtime's clock.
            if !wait.is_zero() {
                sleep.as_mut().reset(tokio::time::Instant::now() + wait);
                if sleep.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
            }
            self.apply(Input::Tick);
        }
    }

    /// Queues what the socket has room for, and writes. A socket that takes nothing does not stop the reading.
    fn send_outgoing(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Result<(), String> {
        while !self.outgoing.is_empty() {
            match socket.poll_ready(cx)? {
                Poll::Ready(()) => {}
                Poll::Pending => return Ok(()),
            }
            if let Some(message) = self.outgoing.pop_front() {
                trace("sent", &message);
                socket.queue(message)?;
            }
        }
        match socket.poll_flush(cx) {
            Poll::Ready(flushed) => flushed,
            Poll::Pending => Ok(()),
        }
    }

    /// Answers what is open and resumes what waits, then closes.
    async fn let_go(&mut self, socket: &mut Socket) {
        let waiter = Waiter(u64::MAX);
        let (reply, mut done) = oneshot::channel();
        self.waiting.insert(waiter, reply);
        self.apply(Input::Leave(waiter));
        self.carry_out();
        let leaving = poll_fn(|cx| {
            if let Err(_lost) = self.send_outgoing(socket, cx) {
                return Poll::Ready(());
            }
            loop {
                match socket.poll_receive(cx) {
                    Poll::Ready(Ok(message)) => self.apply(Input::Message(message)),
                    Poll::Ready(Err(_)) => return Poll::Ready(()),
                    Poll::Pending => break,
                }
                self.carry_out();
            }
            Pin::new(&mut done).poll(cx).map(|_| ())
        });
        if tokio::time::timeout(LEAVE, leaving).await.is_err() {
            tracing::warn!("the browser did not answer while it was let go");
        }
    }

    /// Takes in a command; returns whether the driver is to end.
    fn on_command(&mut self, command: Option<Command>) -> bool {
        match command {
            Some(Command::Input(input)) => self.apply(input),
            Some(Command::Ask { waiter, input, reply }) => {
                self.nudged = true;
                if !self.ever_connected {
                    self.apply(Input::Dialling);
                }
                self.waiting.insert(waiter, reply);
                self.apply(input);
            }
            Some(Command::Leave(left)) => {
                self.left = Some(left);
                return true;
            }
            None => return true,
        }
        false
    }

    fn apply(&mut self, input: Input) {
        if let Input::Cancel(waiter) = &input {
            self.waiting.remove(waiter);
        }
        self.supervisor.handle_input(self.clock.now(), input);
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.supervisor.poll_effect() {
            match effect {
                Effect::Send(message) => self.outgoing.push_back(message),
                Effect::Finish(waiter, outcome) => {
                    if let Some(reply) = self.waiting.remove(&waiter) {
                        // Whoever waited may have gone.
                        let _ = reply.send(outcome);
                    }
                }
                Effect::Record(task, event) => {
                    if let Some(feed) = self.feed(&task) {
                        let seq = feed.log().push(&event);
                        feed.last_seq.send_replace(seq);
                    }
                }
                Effect::Publish(view) => {
                    if let Some(feed) = self.feed(&view.task) {
                        feed.view.store(view);
                    }
                }
                Effect::Note(text) => tracing::warn!("{text}"),
                Effect::Retire(task) => {
                    self.feeds.remove(&task);
                    self.shared.feeds.write().unwrap_or_else(PoisonError::into_inner).remove(&task);
                }
            }
        }
    }

    fn feed(&mut self, task: &TaskId) -> Option<&Arc<TaskFeed>> {
        if !self.feeds.contains_key(task) {
            let feeds = self.shared.feeds.read().unwrap_or_else(PoisonError::into_inner);
            self.feeds.insert(task.clone(), Arc::clone(feeds.get(task)?));
        }
        self.feeds.get(task)
    }

    fn until_timer(&self) -> Option<Duration> {
        self.supervisor.poll_timeout().map(|at| at.since(self.clock.now()))
    }
}

async fn dial_endpoint(endpoint: &Endpoint, shared: &Shared) -> Result<Socket, DialError> {
    let text = format!("{}: waiting for the browser to accept; if it asks, click Allow", endpoint.url.label());
    shared.say(text);
    match tokio::time::timeout(HANDSHAKE, Socket::dial(&endpoint.url)).await {
        Ok(dialled) => dialled,
        Err(_) => Err(DialError::Failed(format!("no handshake within {} s", HANDSHAKE.as_secs()))),
    }
}

/// Returns the browser's UUID from `ws://host:port/devtools/browser/<uuid>`; another path has none.
fn browser_id(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("/devtools/browser/")?;
    rest.split(['?', '#']).next().filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Logs the beginning of a message, only where somebody asked for the wire (`OSTLER_LOG=ostler::wire=trace`).
fn trace(way: &'static str, message: &Bytes) {
    tracing::trace!(target: "ostler::wire", "{way} {}", String::from_utf8_lossy(&message[..message.len().min(300)]));
}

/// Wall-clock time that never goes back.
struct Clock {
    started: Instant,
    started_at: Duration,
}

impl Clock {
    fn start() -> Self {
        Self {
            started: Instant::now(),
            // A clock before 1970 is wrong anyway.
            started_at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::default() + self.started_at + self.started.elapsed()
    }
}
