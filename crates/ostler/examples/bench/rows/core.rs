//! P12: the core alone, without socket and runtime: how many events one core applies in a second.

use std::fs;
use std::time::Duration;

use bytes::Bytes;
use ostler_core::cdp::events::EventLog;
use ostler_core::supervisor::{BridgeSecret, Effect, Input, Scope};
use ostler_core::view::{DialogBridge, DialogPolicy};
use ostler_core::{Supervisor, TaskId, Timestamp};
use serde_json::Value;

use crate::Result;
use crate::report::{Figure, Goal};
use crate::setup::Setup;

/// How many messages the driver takes in before it carries out effects.
const BATCH: usize = 128;
const BATCHES: usize = 4000;

pub(super) fn events_per_second(_: &Setup) -> Result<Vec<Figure>> {
    let network = Bytes::from_static(
        br#"{"method":"Network.dataReceived","params":{"requestId":"1000.7","timestamp":5211.377206,"dataLength":16384,"encodedDataLength":4096},"sessionId":"S"}"#,
    );
    let console = Bytes::from_static(
        br#"{"method":"Runtime.consoleAPICalled","params":{"type":"log","args":[{"type":"string","value":"line 17"}],"executionContextId":1,"timestamp":1700000000000.5,"stackTrace":{"callFrames":[{"functionName":"","scriptId":"6","url":"https://example.com/","lineNumber":0,"columnNumber":8}]}},"sessionId":"S"}"#,
    );
    Ok(vec![
        figure("core alone, network events applied in a second", &network)?,
        figure("core alone, console calls applied in a second", &console)?,
    ])
}

fn figure(what: &'static str, event: &Bytes) -> Result<Figure> {
    let mut core = Core::with_a_tab()?;
    core.apply(event, BATCHES / 10);
    let started = time_on_a_core()?;
    core.apply(event, BATCHES);
    let took = time_on_a_core()? - started;
    let millions = (BATCH * BATCHES) as f64 / took.as_secs_f64() / 1e6;
    let from = format!("events of {} bytes, recorded", event.len());
    Ok(Figure { what, value: millions, unit: "million", goal: Goal::AtLeast(1.0), from })
}

/// Returns how long this thread has run on a core: what other programs take of it is no fault of the core's.
fn time_on_a_core() -> Result<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().ok_or("the system does not tell how long a thread ran")?;
    Ok(Duration::from_nanos(nanoseconds.parse()?))
}

/// A supervisor with one attached tab, and the log that its events go to.
struct Core {
    supervisor: Supervisor,
    log: EventLog,
    sent: Vec<Bytes>,
}

impl Core {
    fn with_a_tab() -> Result<Self> {
        let mut core = Self {
            supervisor: Supervisor::new(BridgeSecret::new([1, 2, 3])),
            log: EventLog::default(),
            sent: Vec::new(),
        };
        let task = TaskId::default_task();
        let dialog_timeout = Duration::from_secs(300);
        core.input(Input::StartTask {
            task,
            policy: DialogPolicy::MustRespond,
            dialog_timeout,
            quiet: false,
            dialog_bridge: DialogBridge::Auto,
            dialogs_before: 0,
        });
        core.input(Input::Connected { browser_id: Some("B".to_owned()), scope: Scope::Own, answers_dialogs: false });
        core.answer_all()?;
        let info = r#"{"targetId":"T","type":"page","title":"","url":"https://example.com/","attached":true,"canAccessOpener":false}"#;
        core.message(format!(r#"{{"method":"Target.targetCreated","params":{{"targetInfo":{info}}}}}"#));
        core.message(format!(
            r#"{{"method":"Target.attachedToTarget","params":{{"sessionId":"S","targetInfo":{info},"waitingForDebugger":false}}}}"#
        ));
        core.answer_all()?;
        Ok(core)
    }

    /// Answers every command, as a page without frames does.
    fn answer_all(&mut self) -> Result<()> {
        while let Some(command) = self.sent.pop() {
            let command: Value = serde_json::from_slice(&command)?;
            let result = match command["method"].as_str() {
                Some("Runtime.getIsolateId") => r#"{"id":"P"}"#,
                Some("Page.getFrameTree") => r#"{"frameTree":{"frame":{"id":"T","url":"https://example.com/"}}}"#,
                _ => "{}",
            };
            self.message(format!(r#"{{"id":{},"result":{result}}}"#, command["id"]));
        }
        Ok(())
    }

    fn message(&mut self, text: String) {
        self.input(Input::Message(text.into()));
    }

    fn input(&mut self, input: Input) {
        self.supervisor.handle_input(Timestamp::default(), input);
        self.carry_out();
    }

    /// Applies an event over and over, as the driver does.
    fn apply(&mut self, event: &Bytes, batches: usize) {
        for _ in 0..batches {
            for _ in 0..BATCH {
                // A copy of its own for each, because each comes in a frame of its own.
                let message = Bytes::copy_from_slice(event);
                self.supervisor.handle_input(Timestamp::default(), Input::Message(message));
            }
            self.carry_out();
        }
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.supervisor.poll_effect() {
            match effect {
                Effect::Send(_, message) => self.sent.push(message),
                Effect::Record(_, event) => drop(self.log.push(&event)),
                _ => {}
            }
        }
    }
}
