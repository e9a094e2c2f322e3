//! One random schedule: steps and time, chosen at random; the connection comes, is lost, and ends in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ostler_core::supervisor::{LEAVE, Scope};
use ostler_core::view::{DialogPolicy, TaskView};
use ostler_core::{Input, Supervisor};

use super::bridge::SECRET;
use super::browser::Browser;
use super::clients::{Clients, What};
use super::prng::Rng;
use super::{No, TASKS};

/// The longest that an answer to a dialog may take: each try has its time, and there are ten.
pub(crate) const ANSWER_LIMIT: u64 = 34_000_000;

#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) now: u64,
    pub(crate) scope: Scope,
    pub(crate) online: bool,
    pub(crate) browser: Browser,
    pub(crate) clients: Clients,
    pub(crate) views: BTreeMap<usize, Arc<TaskView>>,
    /// Which task shows a tab.
    pub(crate) owners: BTreeMap<No, usize>,
    /// Tabs that left their task in this batch: what was sent to them before still may be.
    pub(crate) just_left: Vec<No>,
    /// The current tabs that tasks had before this batch, of those that have a new view.
    pub(crate) just_current: BTreeMap<usize, Option<No>>,
    /// The message that the supervisor has now, empty if what it has is none.
    pub(crate) heard: Bytes,
    /// The commands that begin the connection and are not answered yet: until then nothing new is taken on.
    pub(crate) starting: BTreeSet<u64>,
    /// Tabs that some task has had, and those that clients have named: what else is there is somebody else's.
    pub(crate) had: BTreeSet<No>,
    pub(crate) named: BTreeSet<No>,
    /// When tabs were left because their task ended.
    pub(crate) left_at: BTreeMap<No, u64>,
    pub(crate) policies: BTreeMap<usize, (DialogPolicy, Duration)>,
    /// Tasks of which some dialog may be answered by a policy that they had.
    pub(crate) answers_itself: [bool; TASKS.len()],
    /// Held sessions that have been announced, and when.
    pub(crate) held_since: BTreeMap<No, u64>,
    /// When the browser was last so slow that the supervisor may have given up waiting for it.
    pub(crate) slow_until: u64,
    pub(crate) leaving: bool,
    pub(crate) ending: bool,
    /// Everything published and told, in one number.
    pub(crate) trace: u64,
    pub(crate) supervisor: Supervisor,
    pub(crate) rng: Rng,
    pub(crate) sprinkles: Option<Rng>,
    loud: bool,
}

impl Schedule {
    pub(crate) fn new(seed: u64, sprinkled: bool) -> Self {
        let mut rng = Rng::new(seed);
        let scope = if rng.percent(50) { Scope::Own } else { Scope::Guest };
        let mut browser = Browser::new(1, 0, Rng::new(rng.next()));
        for _ in 0..rng.below(3) {
            browser.act();
        }
        Self {
            now: 1_000_000_000,
            scope,
            online: false,
            browser,
            clients: Clients::default(),
            views: BTreeMap::new(),
            owners: BTreeMap::new(),
            just_left: Vec::new(),
            just_current: BTreeMap::new(),
            heard: Bytes::new(),
            starting: BTreeSet::new(),
            had: BTreeSet::new(),
            named: BTreeSet::new(),
            left_at: BTreeMap::new(),
            policies: BTreeMap::new(),
            answers_itself: [false; TASKS.len()],
            held_since: BTreeMap::new(),
            slow_until: 0,
            leaving: false,
            ending: false,
            trace: 0,
            supervisor: Supervisor::new(SECRET),
            rng,
            sprinkles: sprinkled.then(|| Rng::new(!seed)),
            loud: std::env::var_os("OSTLER_TRACE").is_some(),
        }
    }

    /// Runs the whole schedule; returns how many steps it took.
    pub(crate) fn run(&mut self, steps: usize) -> usize {
        self.start_task(0);
        let mut taken = 0;
        while taken < steps {
            for _ in 0..150 {
                self.step();
            }
            taken += 150 + self.settle();
            self.check_at_rest(false);
            if self.rng.percent(30) {
                taken += self.pass(11_000_000);
                self.check_at_rest(true);
            }
        }
        // It leaves in the midst of it all.
        for _ in 0..40 {
            self.step();
        }
        if self.online {
            taken += self.leave();
        }
        taken
    }

    fn step(&mut self) {
        let pause = self.rng.below(400) as u64;
        self.advance(pause);
        if !self.online {
            return self.step_offline();
        }
        match self.rng.below(1000) {
            0..=379 if !self.browser.out.is_empty() => self.deliver(),
            380..=549 if !self.browser.inbox.is_empty() => self.browser.read_command(),
            550..=699 if !self.browser.runnable().is_empty() => self.run_some_process(),
            0..=699 => self.browser.act(),
            700..=879 => self.browser.act(),
            880..=979 => self.client_acts(),
            980..=992 => {
                let longer = [10_000, 300_000, 2_100_000, 31_000_000];
                let wait = self.rng.pick(&longer).unwrap_or(0);
                self.wait(wait);
            }
            993..=997 => self.task_changes(),
            _ => self.lose_connection(),
        }
        self.survive();
    }

    /// Passes time while the browser answers, but for what is blocked; or now and then does not.
    fn wait(&mut self, micros: u64) {
        if self.rng.percent(15) {
            self.slow_until = self.now + micros;
            return self.advance(micros);
        }
        self.pass(micros);
    }

    /// Passes time with nothing on its way; returns the steps that took.
    fn pass(&mut self, micros: u64) -> usize {
        let end = self.now + micros;
        let mut steps = self.settle();
        while let Some(due) = self.supervisor.poll_timeout().filter(|due| due.0 <= end) {
            self.advance(due.0.saturating_sub(self.now));
            steps += self.settle();
        }
        self.advance(end - self.now);
        steps
    }

    fn step_offline(&mut self) {
        match self.rng.below(10) {
            0..=3 => self.browser.act(),
            4..=6 => self.client_acts(),
            7 => self.task_changes(),
            8 => {
                self.say(|| "dialling".to_owned());
                self.input(Input::Dialling);
                if self.rng.percent(30) {
                    self.input(Input::Gone { why: "refused".to_owned(), retry_after: Some(Duration::from_secs(1)) });
                }
            }
            _ => self.connect(),
        }
    }

    /// Lets everything that is on its way arrive and be done; returns the steps that took.
    pub(crate) fn settle(&mut self) -> usize {
        let mut steps = 0;
        while self.online {
            let runnable = !self.browser.runnable().is_empty();
            if self.browser.out.is_empty() && self.browser.inbox.is_empty() && !runnable {
                break;
            }
            match self.rng.below(3) {
                0 => self.deliver(),
                1 => self.browser.read_command(),
                _ => self.run_some_process(),
            }
            self.survive();
            steps += 1;
            assert!(steps < 20_000, "the two never come to rest");
        }
        steps
    }

    fn run_some_process(&mut self) {
        let runnable = self.browser.runnable();
        if let Some(proc) = self.rng.pick(&runnable) {
            self.browser.run_process(proc);
        }
    }

    /// Passes time, waking the supervisor when it asked to be.
    pub(crate) fn advance(&mut self, micros: u64) {
        let end = self.now + micros;
        while let Some(due) = self.supervisor.poll_timeout().filter(|due| due.0 <= end) {
            self.now = self.now.max(due.0);
            self.input(Input::Tick);
        }
        self.now = end;
        self.check_step();
    }

    // --- the connection ---

    fn connect(&mut self) {
        let another = self.browser.dead || self.rng.percent(20);
        if another {
            let mut next = Browser::new(self.browser.life + 1, self.browser.next, Rng::new(self.rng.next()));
            for _ in 0..self.rng.below(3) {
                next.act();
            }
            next.tally = std::mem::take(&mut self.browser.tally);
            self.browser = next;
            self.owners.clear();
            self.had.clear();
            self.named.clear();
        }
        self.say(|| format!("connected, {}", if another { "to another browser" } else { "to the same browser" }));
        self.online = true;
        let browser_id = Some(format!("uuid-{}", self.browser.life));
        self.input(Input::Connected { browser_id, scope: self.scope, answers_dialogs: false });
        self.starting = self.browser.inbox.iter().map(|command| command.id).collect();
    }

    fn lose_connection(&mut self) {
        if !self.rng.percent(40) {
            return;
        }
        self.say(|| "lost".to_owned());
        self.online = false;
        self.browser.disconnect();
        self.held_since.clear();
        self.input(Input::Gone { why: "lost".to_owned(), retry_after: Some(Duration::from_secs(1)) });
    }

    /// If the browser went down, it must not have been a command that could be known to do that.
    fn survive(&mut self) {
        self.browser.sweep_questions();
        self.popups_are_set_up_before_they_run();
        if self.browser.dead && self.online {
            assert!(self.browser.blame.is_none(), "{}", self.browser.blame.as_deref().unwrap_or_default());
            self.online = false;
            self.browser.disconnect();
            self.held_since.clear();
            self.input(Input::Gone { why: "the browser ended".to_owned(), retry_after: Some(Duration::from_secs(1)) });
        }
    }

    /// The daemon ends in order: nothing stays blocked behind it (invariant 7), and it does end.
    fn leave(&mut self) -> usize {
        self.leaving = true;
        let limit = LEAVE.as_micros() as u64;
        let waiter = self.clients.ask(What::Leave, 0, self.now + limit);
        self.say(|| "leaving".to_owned());
        self.input(Input::Leave(waiter));
        if self.rng.percent(30) {
            return self.leave_unanswered(limit);
        }
        // Not so long that time alone lets go of what is held.
        let steps = self.pass(1_000_000);
        // A browser that goes down meanwhile takes all of that along.
        if self.online {
            self.nothing_is_held();
            self.nothing_waits_for_us();
        }
        self.pass(limit);
        if self.online {
            self.nothing_ends_with_us();
        }
        self.pass(60_000_000);
        self.clients.assert_none_late(self.now);
        steps
    }

    /// From some moment on the browser answers nothing: what it was told before the end has to be enough.
    fn leave_unanswered(&mut self, limit: u64) -> usize {
        self.say(|| "the browser falls silent".to_owned());
        for _ in 0..self.rng.below(20) {
            if self.online && !self.browser.out.is_empty() {
                self.deliver();
                self.survive();
            }
        }
        self.browser.silent = true;
        self.advance(limit);
        self.clients.assert_none_late(self.now);
        self.browser.seen("a daemon leaves a browser that is silent");
        let mut steps = 0;
        while self.online && !(self.browser.inbox.is_empty() && self.browser.runnable().is_empty()) {
            self.browser.read_command();
            self.run_some_process();
            steps += 1;
        }
        self.survive();
        if self.online {
            self.nothing_waits_for_us();
        }
        steps
    }

    pub(crate) fn say(&self, what: impl FnOnce() -> String) {
        if self.loud {
            println!("{:>12} {}", self.now, what());
        }
    }
}
