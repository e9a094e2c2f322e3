//! The one that owns the socket and the supervisor: reads without ever waiting for a consumer (fact D7), applies
//! inputs in wire order, carries out effects, publishes.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use ostler_core::supervisor::{BridgeSecret, Effect, Input, Outcome, Scope, Supervisor};
use ostler_core::{CallError, CallId, TaskId, Waiter};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Sleep;

use super::clock::Clock;
use super::dial::{DialFailure, Prompt, dial};
use super::handle::{Shared, Status, TaskFeed};
use super::websocket::Socket;
use crate::endpoint::{self, BrowserKind, Endpoint, Machine, Owned, Source};

/// How many messages and how many commands are taken in before effects are carried out: enough to share the cost of
/// publishing in a storm of events, few enough that no client waits for long.
const BATCH: usize = 128;
/// The wait before the second attempt to dial; it doubles up to [`MAX_BACK_OFF`].
const FIRST_BACK_OFF: Duration = Duration::from_millis(100);
const MAX_BACK_OFF: Duration = Duration::from_secs(10);
/// When it is worth asking again while a person is asked for consent.
const CONSENT_POLL: Duration = Duration::from_secs(2);
/// How much of a message the log of the wire shows, in bytes.
const SHOWN: usize = 300;
/// How long a socket may take to write what is left when the browser has been let go.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What a handle asks of the driver.
#[derive(Debug)]
pub(super) enum Command {
    /// Takes part in the supervisor's inputs, in the order of arrival.
    Input(Input),
    /// A task begins; what is known of it is shown in `feed` from now on.
    StartTask { input: Input, task: TaskId, feed: Arc<TaskFeed> },
    /// Somebody asked for this browser by name: dial it, and launch it if it is one of our own.
    Dial,
    /// The same, with somebody waiting for the outcome.
    Ask { waiter: Waiter, input: Input, reply: oneshot::Sender<Result<Outcome, CallError>> },
    /// Let go of the browser and end.
    Leave(oneshot::Sender<()>),
}

/// Runs until it is told to leave or until nobody holds a handle any more.
pub(super) async fn run(
    source: Source,
    machine: Arc<Machine>,
    bridge_secret: BridgeSecret,
    inbox: mpsc::UnboundedReceiver<Command>,
    shared: Arc<Shared>,
) {
    let mut driver = Driver {
        supervisor: Supervisor::new(bridge_secret),
        bridge_secret,
        clock: Clock::start(),
        inbox,
        shared,
        waiting: HashMap::new(),
        outgoing: VecDeque::new(),
        feeds: HashMap::new(),
        source,
        machine,
        owned: None,
        left: None,
        needed: false,
        named: false,
        widen: false,
        asking: false,
        rests: false,
        ever_connected: false,
    };
    driver.live().await;
    // Whoever still waits hears it, and hears whether what they asked for had been sent.
    driver.gone("the daemon is ending".to_owned(), Some(Duration::from_secs(1)));
    if let Some(owned) = driver.owned.take() {
        owned.stop().await;
    }
    if let Some(left) = driver.left.take() {
        let _ = left.send(());
    }
}

struct Driver {
    supervisor: Supervisor,
    /// What no log may hold.
    bridge_secret: BridgeSecret,
    clock: Clock,
    inbox: mpsc::UnboundedReceiver<Command>,
    shared: Arc<Shared>,
    waiting: HashMap<Waiter, oneshot::Sender<Result<Outcome, CallError>>>,
    /// Commands that the socket had no room for yet.
    outgoing: VecDeque<(Option<CallId>, Bytes)>,
    feeds: HashMap<TaskId, Arc<TaskFeed>>,
    source: Source,
    machine: Arc<Machine>,
    /// Our hold on a browser that ends with us.
    owned: Option<Owned>,
    /// Who waits for the end, once it was asked for.
    left: Option<oneshot::Sender<()>>,
    /// Somebody needs the browser now.
    needed: bool,
    /// Somebody asked for this very browser.
    named: bool,
    /// If the browser that was discovered is not there any more, another one will do.
    widen: bool,
    /// The person at the browser is asked for consent now.
    asking: bool,
    /// Only somebody who asks for this very browser changes anything.
    rests: bool,
    ever_connected: bool,
}

/// What ends the time without a connection.
#[derive(Clone, Copy)]
enum Pause {
    /// Somebody asks for something that needs the browser.
    UntilNeeded,
    /// Somebody asks for this very browser: one of our own is never launched again by itself.
    UntilNamed,
    /// This time is over, or somebody needs the browser.
    For(Duration),
}

/// Whether clients are heard.
#[derive(Clone, Copy)]
enum Takes {
    Commands,
    /// The browser is being let go.
    NoCommands,
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
        // Nothing is dialled before somebody needs it: looking at the status touches no browser.
        let mut pause = Pause::UntilNeeded;
        let mut back_off = FIRST_BACK_OFF;
        loop {
            if self.idle(pause).await.is_break() {
                return;
            }
            let mut only_named = false;
            let (why, may_pass, passes) = match self.dial().await {
                Ok(Some((socket, endpoint))) => {
                    back_off = FIRST_BACK_OFF;
                    let Over::Lost(why) = self.hold(socket, endpoint).await else { return };
                    tracing::info!("connection lost: {why}");
                    // Whoever named it while it was there asked for that one, not for another in its place.
                    self.named = false;
                    if matches!(self.owned, Some(Owned::Launched(_))) {
                        let why =
                            "the browser that ostler launched has ended; start another with `ostler connect --launch`";
                        (why.to_owned(), false, false)
                    } else {
                        (format!("the connection to the browser was lost ({why}) and is being restored"), true, true)
                    }
                }
                Ok(None) => return,
                Err(failure) => {
                    if failure.turned_down {
                        // Whoever asked meanwhile was told of the prompt, and has not seen this answer to it.
                        (self.needed, self.named) = (false, false);
                    }
                    // A key that was good and is not any more: whoever sends it again and again is locked out.
                    let expired = failure.key_refused && self.ever_connected;
                    only_named = expired || failure.turned_down;
                    // A browser that was there may be on its way back; where none ever was, somebody has to bring it.
                    let passes = failure.may_pass && (failure.passes || self.ever_connected);
                    (failure.why(), failure.may_pass, passes)
                }
            };
            self.set_status(why.clone());
            self.gone(why, passes.then_some(back_off));
            // What only a person can change is not tried again before somebody asks for it.
            pause = match may_pass {
                true => Pause::For(back_off),
                false if only_named || self.owned.is_some() || self.source.is_cloud() => Pause::UntilNamed,
                false => Pause::UntilNeeded,
            };
            back_off = (back_off * 2).min(MAX_BACK_OFF);
        }
    }

    fn set_status(&self, text: String) {
        self.shared.say(text);
    }

    fn gone(&mut self, why: String, retry_after: Option<Duration>) {
        self.outgoing.clear();
        self.apply(Input::Gone { why, retry_after });
        self.carry_out();
    }

    /// Answers commands while there is no connection, for as long as `pause` says.
    async fn idle(&mut self, pause: Pause) -> ControlFlow<()> {
        let started = Instant::now();
        self.rests = matches!(pause, Pause::UntilNamed);
        loop {
            let left = match pause {
                _ if self.named => Some(Duration::ZERO),
                Pause::UntilNamed => None,
                Pause::UntilNeeded => self.needed.then_some(Duration::ZERO),
                // Whoever needs the browser does not wait out the back-off, but a failing dial is not repeated at once.
                Pause::For(wait) => {
                    let wait = if self.needed { wait.min(FIRST_BACK_OFF) } else { wait };
                    Some(wait.saturating_sub(started.elapsed()))
                }
            };
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            let wake = [left, self.until_timer()].into_iter().flatten().min().unwrap_or(Duration::from_secs(3600));
            tokio::select! {
                command = self.inbox.recv() => {
                    if self.on_command(command) {
                        return ControlFlow::Break(());
                    }
                }
                () = tokio::time::sleep(wake) => self.apply(Input::Tick),
            }
            self.carry_out();
        }
        self.rests = false;
        self.widen = self.named;
        (self.needed, self.named) = (false, false);
        if !self.ever_connected {
            // The first time, calls wait for how it ends; after a loss they fail at once (contract: `browser_gone`).
            self.apply(Input::Dialling);
            self.carry_out();
        }
        ControlFlow::Continue(())
    }

    /// Finds the browser and dials it, answering commands meanwhile. `None` when the driver is to end.
    async fn dial(&mut self) -> Result<Option<(Socket, Endpoint)>, DialFailure> {
        if !self.ever_connected {
            self.set_status("being looked for".to_owned());
        }
        let sources = self.sources();
        let before = if sources.iter().any(Source::is_running) { None } else { self.owned.take() };
        let (machine, shared) = (Arc::clone(&self.machine), Arc::clone(&self.shared));
        let (asks, mut asked) = mpsc::unbounded_channel();
        let attempt = async move {
            if let Some(before) = before {
                // The one that we had is gone or does not answer: another one takes its place.
                before.stop().await;
            }
            dial(&sources, &machine, &shared, &asks).await
        };
        let mut attempt = std::pin::pin!(attempt);
        loop {
            let wake = self.until_timer().unwrap_or(Duration::from_secs(3600));
            tokio::select! {
                outcome = &mut attempt => {
                    self.asking = false;
                    return outcome.map(Some).map_err(|failure| self.judge(failure));
                }
                Some(Prompt { why, found }) = asked.recv() => {
                    // A person may take minutes: everybody is told at once, and the handshake stays open.
                    self.asking = true;
                    self.shared.say_that_it_asks(why.clone(), found);
                    self.gone(why, Some(CONSENT_POLL));
                }
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

    /// A cloud browser that is refused for good is over: it says so, and is not dialled again.
    fn judge(&mut self, failure: DialFailure) -> DialFailure {
        match &mut self.owned {
            Some(Owned::Cloud(lease)) if !failure.may_pass => {
                let over = lease.spend(failure.happened);
                DialFailure { happened: over.happened(), next_step: Some(over.next_step()), ..failure }
            }
            _ => failure,
        }
    }

    /// Returns where to look, in this order. A browser that was discovered is looked for where it was found: no task
    /// is moved to another one that happens to run, unless somebody asks for a browser by name.
    fn sources(&self) -> Vec<Source> {
        if let Some(Owned::Cloud(lease)) = &self.owned
            && !lease.is_spent()
        {
            // A cloud browser outlives a lost connection: only a new order costs money again.
            return vec![Source::CloudRunning(lease.facts.clone())];
        }
        let found = self.shared.status.load().found.as_ref().map(|found| Source::Discover(found.again()));
        match found {
            Some(found) if self.widen => vec![found, self.source.clone()],
            Some(found) => vec![found],
            None => vec![self.source.clone()],
        }
    }

    /// Holds the connection until it is lost or not needed any more.
    async fn hold(&mut self, mut socket: Socket, endpoint: Endpoint) -> Over {
        tracing::info!(profile = ?endpoint.profile, "connected to {} ({})", endpoint.url.label(), endpoint.found_by);
        self.ever_connected = true;
        let answers_dialogs = endpoint.answers_dialogs();
        if let Some(owned) = endpoint.owned {
            self.owned = Some(owned);
        }
        let (scope, reach) = if self.owned.is_some() || endpoint.kind == BrowserKind::Cloud {
            (Scope::Own, "every tab of it is supervised")
        } else {
            (Scope::Guest, "only the tasks' own tabs are touched")
        };
        let text = format!("{} ({}; {reach})", endpoint.url.label(), endpoint.found_by);
        let Endpoint { url, kind, found, cloud, .. } = endpoint;
        let launched_port = matches!(self.owned, Some(Owned::Launched(_))).then(|| endpoint::port_here(&url)).flatten();
        self.shared.status.store(Arc::new(Status { kind, text, cloud, found, launched_port, asking: false }));
        self.shared.connected.send_replace(true);
        self.apply(Input::Connected { browser_id: browser_id(url.expose()), scope, answers_dialogs });
        self.carry_out();
        let mut sleep = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
        let over = poll_fn(|cx| self.poll_browser(&mut socket, sleep.as_mut(), Takes::Commands, cx)).await;
        self.shared.connected.send_replace(false);
        if matches!(over, Over::Ended) {
            self.let_go(&mut socket).await;
            if let Some(Owned::Launched(launched)) = &mut self.owned
                && launched.keeps_profile()
                && close_browser(&mut socket).await
            {
                launched.note_closing();
            }
        }
        over
    }

    /// One turn: takes in what is there, carries out what it asks for, sends.
    fn poll_browser(
        &mut self,
        socket: &mut Socket,
        mut sleep: Pin<&mut Sleep>,
        takes: Takes,
        cx: &mut Context<'_>,
    ) -> Poll<Over> {
        let commands = match takes {
            Takes::Commands => BATCH,
            Takes::NoCommands => 0,
        };
        loop {
            let mut busy = false;
            for _ in 0..BATCH {
                match socket.poll_receive(cx) {
                    Poll::Ready(Ok(message)) => {
                        trace("received", &message, &self.bridge_secret);
                        self.apply(Input::Message(message));
                        busy = true;
                    }
                    Poll::Ready(Err(why)) => return Poll::Ready(Over::Lost(why)),
                    Poll::Pending => break,
                }
            }
            for _ in 0..commands {
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
            if let Poll::Ready(Err(why)) = self.send_outgoing(socket, cx) {
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

    /// Queues what the socket has room for, and writes; ready once all is written. A socket that takes nothing does not
    /// stop the reading.
    fn send_outgoing(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        while !self.outgoing.is_empty() {
            match socket.poll_ready(cx)? {
                Poll::Ready(()) => {}
                Poll::Pending => return Poll::Pending,
            }
            let Some((id, message)) = self.outgoing.pop_front() else { break };
            // One that has ended meanwhile, by its deadline or because nobody waits, must not act any more.
            if id.is_none_or(|id| self.supervisor.awaits(id)) {
                trace("sent", &message, &self.bridge_secret);
                socket.queue(message)?;
            }
        }
        socket.poll_flush(cx)
    }

    /// Answers what is open and resumes what waits. The supervisor sees to it that this ends.
    async fn let_go(&mut self, socket: &mut Socket) {
        let waiter = Waiter(u64::MAX);
        let (reply, mut done) = oneshot::channel();
        self.waiting.insert(waiter, reply);
        self.apply(Input::Leave(waiter));
        let mut sleep = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
        poll_fn(|cx| match self.poll_browser(socket, sleep.as_mut(), Takes::NoCommands, cx) {
            Poll::Ready(_lost) => Poll::Ready(()),
            Poll::Pending => Pin::new(&mut done).poll(cx).map(|_| ()),
        })
        .await;
        // Its last words may still wait for room in a socket that takes nothing.
        let written = poll_fn(|cx| self.send_outgoing(socket, cx));
        if tokio::time::timeout(LAST_WORDS, written).await.is_err() {
            tracing::warn!("the browser took nothing any more while it was let go");
        }
    }

    /// Takes in a command; returns whether the driver is to end.
    fn on_command(&mut self, command: Option<Command>) -> bool {
        match command {
            Some(Command::Input(input)) => self.apply(input),
            Some(Command::StartTask { input, task, feed }) => {
                self.feeds.insert(task, feed);
                self.apply(input);
            }
            Some(Command::Dial) => {
                (self.needed, self.named) = (true, true);
                if !self.asking {
                    // Whoever named it waits for how the dialling ends, also after a loss.
                    self.apply(Input::Dialling);
                }
            }
            Some(Command::Ask { waiter, input, reply }) => {
                self.needed = true;
                // Nobody waits for a dial that they do not bring about: they are told why there is none.
                if !self.ever_connected && !self.asking && !self.rests {
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
                Effect::Send(id, message) => self.outgoing.push_back((id, message)),
                Effect::Finish(waiter, outcome) => {
                    if let Some(reply) = self.waiting.remove(&waiter) {
                        // Whoever waited may have gone.
                        let _ = reply.send(outcome);
                    }
                }
                Effect::Record(task, event) => {
                    if let Some(feed) = self.feeds.get(&task) {
                        let seq = feed.log().push(&event);
                        feed.last_seq.send_replace(seq);
                    }
                }
                Effect::Publish(view) => {
                    if let Some(feed) = self.feeds.get(&view.task) {
                        feed.view.store(view);
                    }
                }
                Effect::Note(text) => tracing::warn!("{text}"),
                Effect::Retire(task) => {
                    self.feeds.remove(&task);
                }
            }
        }
        if self.outgoing.len() > BATCH {
            // The socket takes nothing: what has ended meanwhile need not be kept for it.
            let supervisor = &self.supervisor;
            self.outgoing.retain(|(id, _)| id.is_none_or(|id| supervisor.awaits(id)));
        }
    }

    fn until_timer(&self) -> Option<Duration> {
        self.supervisor.poll_timeout().map(|at| at.since(self.clock.now()))
    }
}

/// Asks the browser to close, as the last word on the connection; returns whether that was sent.
///
/// A signal ends it at once, and the cookies of the last half minute with it.
async fn close_browser(socket: &mut Socket) -> bool {
    let mut message = Some(Bytes::from_static(br#"{"id":2147483647,"method":"Browser.close"}"#));
    let sent = poll_fn(|cx| {
        if message.is_some() {
            match socket.poll_ready(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(false),
                Poll::Pending => return Poll::Pending,
            }
            if message.take().is_some_and(|message| socket.queue(message).is_err()) {
                return Poll::Ready(false);
            }
        }
        socket.poll_flush(cx).map(|flushed| flushed.is_ok())
    });
    tokio::time::timeout(LAST_WORDS, sent).await.unwrap_or(false)
}

/// Returns the browser's UUID from `ws://host:port/devtools/browser/<uuid>`; another path has none.
fn browser_id(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("/devtools/browser/")?;
    rest.split(['?', '#']).next().filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Logs the beginning of a message, only where somebody asked for the wire (`OSTLER_LOG=ostler::wire=trace`).
fn trace(way: &'static str, message: &Bytes, secret: &BridgeSecret) {
    if tracing::enabled!(target: "ostler::wire", tracing::Level::TRACE) {
        // The bridge's script and what it shows come by this way, and pages must not be able to read its secret anywhere.
        let beginning = &message[..message.len().min(SHOWN + BridgeSecret::LONGEST)];
        let text = secret.hide_in(&String::from_utf8_lossy(beginning));
        let end = text.floor_char_boundary(SHOWN);
        tracing::trace!(target: "ostler::wire", "{way} {}", &text[..end]);
    }
}
