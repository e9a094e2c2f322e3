//! Inputs in orders that nobody thought of, legal ones and others: whatever comes, every request ends
//! once, nothing is sent into a lost connection, and no dialog is shown as answerable without a session.

use super::*;

const SEEDS: u64 = 300;
const STEPS: usize = 300;

/// A small generator of pseudo-random numbers: the same seed gives the same run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = self.roll(from.len() as u64);
        from[usize::try_from(at).expect("an index")]
    }
}

const TABS: &[&str] = &["T0", "T1", "T2"];
const FRAMES: &[&str] = &["T0", "T1", "T2", "F0", "F1", "F2"];
const SESSIONS: &[&str] = &["S0", "S1", "S2", "S3", "S4", "S5"];
const METHODS: &[&str] =
    &["Runtime.evaluate", "Page.navigate", "Input.dispatchMouseEvent", "Page.handleJavaScriptDialog", "Page.disable"];
const TASKS: &[&str] = &["default", "default", "b"];

/// One run: the bench, its dice, and which requests were made.
struct Run {
    bench: Bench,
    dice: Dice,
    connected: bool,
    cancelled: Vec<Waiter>,
}

impl Run {
    fn step(&mut self) {
        match self.dice.roll(20) {
            0..=5 => self.browser_event(),
            6..=10 => self.browser_answer(),
            11..=15 => self.client_request(),
            16 => {
                let time = ms(self.dice.roll(4000));
                self.bench.pass(time);
            }
            17 if self.dice.roll(8) == 0 => self.connection(),
            18 if self.dice.roll(4) == 0 => self.task(),
            _ => self.browser_event(),
        }
        self.check();
    }

    fn browser_event(&mut self) {
        let dice = &mut self.dice;
        let (tab, frame, session) = (dice.pick(TABS), dice.pick(FRAMES), dice.pick(SESSIONS));
        let (other, parent) = (dice.pick(SESSIONS), dice.pick(FRAMES));
        let opener = match dice.roll(3) {
            0 => format!(r#","openerId":"{}","canAccessOpener":{}"#, dice.pick(TABS), dice.roll(2) == 0),
            _ => String::new(),
        };
        let waiting = dice.roll(2) == 0;
        let bench = &mut self.bench;
        if !self.connected {
            return;
        }
        match dice.roll(15) {
            0 => bench.target_created(tab, "page", &opener),
            1 | 2 => bench.attached("", tab, session, "page", waiting, &opener),
            3 | 4 => {
                bench.attached(other, frame, session, "iframe", waiting, &format!(r#","parentFrameId":"{parent}""#))
            }
            5 => bench.detached(other, frame, session),
            6 => bench.target_destroyed(tab),
            7 => bench.frame_attached(session, frame, parent),
            8 => bench.frame_detached(session, frame, if waiting { "swap" } else { "remove" }),
            9 => bench.navigated(session, frame, Some(parent).filter(|_| !TABS.contains(&frame)), "https://a/"),
            10 | 11 => bench.opening(session, frame, "confirm", ""),
            12 => bench.closed(session, frame),
            13 => bench.event(
                session,
                dice.pick(&["Inspector.targetCrashed", "Inspector.targetReloadedAfterCrash"]),
                "{}",
            ),
            _ => bench.event(session, "Runtime.executionContextsCleared", "{}"),
        }
    }

    fn browser_answer(&mut self) {
        if self.bench.sent.is_empty() {
            return;
        }
        let at = usize::try_from(self.dice.roll(self.bench.sent.len() as u64)).expect("an index");
        let sent = self.bench.sent.remove(at);
        match self.dice.roll(8) {
            0 => self.bench.refuse(&sent, -32000, "Not attached to an active page"),
            1 => self.bench.refuse(&sent, -32602, "No dialog is showing"),
            2 => self.bench.refuse(&sent, -32001, "Session with given id not found."),
            _ => {
                let (session, tab) = (self.dice.pick(SESSIONS), self.dice.pick(TABS));
                let process = self.dice.roll(2);
                let result = match sent.method.as_str() {
                    "Target.attachToTarget" => format!(r#"{{"sessionId":"{session}"}}"#),
                    "Target.createTarget" => format!(r#"{{"targetId":"{tab}"}}"#),
                    "Runtime.getIsolateId" => format!(r#"{{"id":"P{process}"}}"#),
                    _ => "{}".to_owned(),
                };
                self.bench.reply(&sent, &result);
            }
        }
    }

    fn client_request(&mut self) {
        let task = TaskId::from(self.dice.pick(TASKS));
        let bench = &mut self.bench;
        match self.dice.roll(10) {
            0..=5 => {
                let browser = self.dice.roll(6) == 0;
                let method = if browser { "Target.createTarget" } else { self.dice.pick(METHODS) };
                let mut call = ClientCall { task, ..bench.client_call(method) };
                match self.dice.roll(5) {
                    0 => call.session = Some(SessionId::from(self.dice.pick(SESSIONS))),
                    1 => call.frame = Some(FrameId::from(self.dice.pick(FRAMES))),
                    2 => call.target = Some(TargetId::from(self.dice.pick(FRAMES))),
                    _ => {}
                }
                if self.dice.roll(4) == 0 {
                    call.on_dialog = OnDialog::Wait;
                }
                bench.make(call);
            }
            6 | 7 => {
                let answer = DialogAnswer { task, ..bench.dialog_answer(true) };
                bench.answer(answer);
            }
            8 => {
                let waiter = bench.waiter();
                let target = Some(TargetId::from(self.dice.pick(TABS)));
                match self.dice.roll(3) {
                    0 => bench.input(Input::Interrupt { waiter, task }),
                    1 => bench.input(Input::SelectTab { waiter, task, session: None, target }),
                    _ => bench.input(Input::CurrentTab { waiter, task, timeout: Duration::from_secs(30) }),
                }
            }
            _ => {
                let waiter = Waiter(self.dice.roll(bench.last_waiter + 1));
                bench.input(Input::Cancel(waiter));
                self.cancelled.push(waiter);
            }
        }
    }

    fn connection(&mut self) {
        if self.connected {
            self.bench.sent.clear();
            self.bench.lose_connection();
        } else {
            let scope = if self.dice.roll(2) == 0 { Scope::Own } else { Scope::Guest };
            let browser_id = Some(self.dice.pick(&["ONE", "ONE", "TWO"]).to_owned());
            self.bench.input(Input::Dialling);
            self.bench.input(Input::Connected { browser_id, scope, answers_dialogs: false });
        }
        self.connected = !self.connected;
    }

    fn task(&mut self) {
        let task = self.dice.pick(TASKS);
        if self.dice.roll(3) == 0 {
            self.bench.input(Input::EndTask(TaskId::from(task)));
            self.bench.views.remove(task);
        } else {
            let policies = [DialogPolicy::MustRespond, DialogPolicy::AutoAccept, DialogPolicy::AutoDismiss];
            self.bench.start_task(task, policies[usize::try_from(self.dice.roll(3)).expect("an index")]);
        }
    }

    /// What must hold after every single step.
    fn check(&self) {
        let bench = &self.bench;
        assert!(self.connected || bench.sent.is_empty(), "sent into a lost connection: {:?}", bench.methods());
        assert!(bench.outcomes.values().all(|outcomes| outcomes.len() == 1), "a request ended twice");
        for view in bench.views.values() {
            for dialog in view.pending_dialogs.iter().filter(|dialog| dialog.answerable) {
                let live = view.sessions.iter().any(|session| session.session_id == dialog.session_id);
                assert!(live, "{} has no session to be answered on", dialog.id);
            }
        }
    }

    /// What must hold when nothing comes any more.
    fn finish(mut self, lose: bool) {
        if lose && self.connected {
            self.bench.sent.clear();
            self.bench.lose_connection();
            self.connected = false;
        }
        self.bench.pass(Duration::from_secs(3600));
        self.check();
        for waiter in (1..=self.bench.last_waiter).map(Waiter) {
            let ended = self.bench.outcomes.contains_key(&waiter) || self.cancelled.contains(&waiter);
            assert!(ended, "request {waiter:?} never ended");
        }
        if !self.connected {
            let left = (self.bench.core.in_flight(), self.bench.core.poll_timeout());
            assert_eq!(left, (0, None), "a lost connection leaves no command and no timer");
        }
    }
}

#[test]
fn whatever_comes_every_request_ends_once_and_nothing_is_sent_into_a_lost_connection() {
    for seed in 1..=SEEDS {
        // Shown only when the run fails.
        println!("seed {seed}");
        let scope = if seed % 2 == 0 { Scope::Own } else { Scope::Guest };
        let dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut run = Run { bench: Bench::connected(scope), dice, connected: true, cancelled: Vec::new() };
        for _ in 0..STEPS {
            run.step();
        }
        run.finish(seed % 3 != 0);
    }
}

#[test]
fn an_event_with_an_array_where_an_object_is_due_changes_nothing() {
    let mut bench = Bench::with_tab();
    bench.sent.clear();
    for (session, method, params) in [
        ("", "Target.targetDestroyed", r#"["T"]"#),
        ("", "Target.detachedFromTarget", r#"["S"]"#),
        ("", "Target.attachedToTarget", r#"{"sessionId":"S9","targetInfo":["T9","page"],"waitingForDebugger":true}"#),
        ("S", "Page.javascriptDialogOpening", r#"["T","message","alert",""]"#),
        ("S", "Page.frameAttached", r#"["F","T"]"#),
        ("S", "Page.frameNavigated", r#"{"frame":["T"],"type":"Navigation"}"#),
    ] {
        bench.event(session, method, params);
        assert_eq!((bench.tab_state("T"), bench.pending().len()), (TabState::Ready, 0), "{method}");
        assert_eq!((bench.frames(), bench.view().sessions.len()), (Vec::new(), 1), "{method}");
        bench.expect_nothing_sent();
    }
}
