//! The one that owns the socket and the supervisor: reads without ever waiting for a consumer (fact D7), applies
//! inputs in wire order, carries out effects, publishes.
//!
//! ```text
//!   live ──▶ idle ──▶ dial ──▶ hold ──▶ let_go
//!             ▲ unconnected.rs  │ connected.rs
//!             └───── lost ──────┘
//! ```

mod connected;
mod unconnected;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ostler_core::supervisor::{BridgeSecret, Effect, Input, Outcome, Supervisor};
use ostler_core::{CallError, CallId, TaskId, Waiter};
use tokio::sync::{mpsc, oneshot};

use super::clock::Clock;
use super::handle::{Shared, TaskFeed};
use super::websocket::MUTE;
use crate::endpoint::{Machine, Owned, Source};

/// How many messages and how many commands are taken in before effects are carried out: enough to share the cost of
/// publishing in a storm of events, few enough that no client waits for long.
const BATCH: usize = 128;
/// The wait before the second attempt to dial; it doubles up to [`MAX_BACK_OFF`].
const FIRST_BACK_OFF: Duration = Duration::from_millis(100);
const MAX_BACK_OFF: Duration = Duration::from_secs(10);

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
    Leave(oneshot::Sender<Option<String>>),
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
        near: source.is_near(),
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
        heard: false,
    };
    driver.live().await;
    // Whoever still waits hears it, and hears whether what they asked for had been sent.
    driver.gone("the daemon is ending".to_owned(), Some(Duration::from_secs(1)));
    let still_runs = match driver.owned.take() {
        Some(owned) => owned.stop().await,
        None => None,
    };
    if let Some(left) = driver.left.take() {
        let _ = left.send(still_runs);
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
    /// Looking for it takes next to no time.
    near: bool,
    machine: Arc<Machine>,
    /// Our hold on a browser that ends with us.
    owned: Option<Owned>,
    /// Who waits for the end, once it was asked for.
    left: Option<oneshot::Sender<Option<String>>>,
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
    /// The browser has said something on this connection.
    heard: bool,
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

/// Why a phase of the driver's life ended.
enum Over {
    /// The connection was lost, for this reason.
    Lost(String),
    /// What is there took the connection and has said nothing.
    Mute(String),
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
                    let (why, is_mute) = match self.hold(socket, endpoint).await {
                        Over::Lost(why) => (why, false),
                        Over::Mute(label) => (format!("{label} takes the connection and speaks no CDP: {MUTE}"), true),
                        Over::Ended => return,
                    };
                    tracing::info!("connection lost: {why}");
                    // Whoever named it while it was there asked for that one, not for another in its place.
                    self.named = false;
                    if is_mute {
                        (why, true, false)
                    } else if matches!(self.owned, Some(Owned::Launched(_))) {
                        let why =
                            "the browser that ostler launched has ended; start another with `ostler connect --launch`";
                        (why.to_owned(), false, false)
                    } else {
                        back_off = FIRST_BACK_OFF;
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
                // Nobody waits for a dial that they do not bring about: they are told why there is none. After a loss
                // whoever asks has a browser of this machine looked for at once, however long it was away: what was
                // known a moment ago is no answer, and looking takes no time.
                if (!self.ever_connected || self.near) && !self.asking && !self.rests {
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
