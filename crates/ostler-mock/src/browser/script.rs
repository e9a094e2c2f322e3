//! The rules a test bends: what the browser refuses, never answers, delays, holds back or gets from another client.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Shared;
use super::dialog::Dialog;
use super::state::{ConnectionId, State};
use crate::wire::{self, Command};

/// What the test wants to be different from an ordinary Chromium. Each rule holds from now on, for every client.
///
/// Where a rule takes a method, the name of a whole domain (`Debugger`) does too; the method's own rule wins.
#[derive(Clone, Debug)]
pub struct Script {
    shared: Arc<Shared>,
}

/// What becomes of a method that the mock does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// Error -32601, as Chromium answers a method that does not exist.
    #[default]
    Refuse,
    /// `{}`.
    Empty,
}

impl Script {
    /// Answers with error -32601, as a backend does that lacks the method.
    pub fn refuse(self, method: &str) -> Self {
        self.rule(method, Rule::Refuse)
    }

    /// Never answers.
    pub fn mute(self, method: &str) -> Self {
        self.rule(method, Rule::Mute)
    }

    /// Carries the method out only after a while; later commands overtake it.
    pub fn delay(self, method: &str, by: Duration) -> Self {
        self.rule(method, Rule::Delay(by))
    }

    /// Answers with this result, and does nothing else.
    pub fn answer(self, method: &str, result: Value) -> Self {
        self.answer_raw(method, &result.to_string())
    }

    /// Answers with this raw JSON, such as no parsed value can hold.
    pub fn answer_raw(self, method: &str, result: &str) -> Self {
        self.rule(method, Rule::Answer(result.into()))
    }

    /// Answers with this error.
    pub fn fail(self, method: &str, code: i64, message: &str) -> Self {
        self.rule(method, Rule::Fail(code, message.into()))
    }

    /// The next such command on a page opens this dialog in its main frame, and is answered once the dialog is closed: a
    /// click on a button that asks.
    pub fn open_dialog_on(self, method: &str, dialog: Dialog) -> Self {
        self.rule(method, Rule::OpenDialog(dialog))
    }

    /// Takes back every rule about the method.
    pub fn behave(self, method: &str) -> Self {
        self.change(|rules| drop(rules.by_method.remove(method)))
    }

    /// Chooses what becomes of methods that the mock does not know.
    pub fn unknown_methods(self, unknown: Unknown) -> Self {
        self.change(|rules| rules.unknown = unknown)
    }

    /// Gives `Runtime.evaluate` of exactly this expression a value.
    pub fn evaluates(self, expression: &str, value: Value) -> Self {
        self.change(|rules| drop(rules.values.insert(expression.into(), value.to_string().into())))
    }

    /// Keeps back every event of this method, or every reply to it, until [`release`](Self::release): the way to have
    /// messages arrive in another order.
    pub fn hold(self, method: &str) -> Self {
        self.change(|rules| {
            rules.held.entry(method.to_owned()).or_default();
        })
    }

    /// Sends what was held back, and holds no more.
    pub fn release(self, method: &str) -> Self {
        let mut state = self.shared.state();
        for (connection, text) in state.rules.held.remove(method).unwrap_or_default() {
            state.transmit(connection, method, text);
        }
        drop(state);
        self
    }

    /// Puts a field that nobody knows yet into every message, its params and its result.
    pub fn add_unknown_fields(self) -> Self {
        self.change(|rules| rules.adds_unknown_fields = true)
    }

    /// Has another client dismiss every dialog after a while, as an auto-dismissing proxy does.
    pub fn dismiss_dialogs_after(self, delay: Duration) -> Self {
        self.change(|rules| rules.dismisses_after = Some(delay))
    }

    /// Has nobody but the clients under test answer dialogs again.
    pub fn leave_dialogs_open(self) -> Self {
        self.change(|rules| rules.dismisses_after = None)
    }

    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    fn rule(self, method: &str, rule: Rule) -> Self {
        self.change(|rules| drop(rules.by_method.insert(method.to_owned(), rule)))
    }

    fn change(self, change: impl FnOnce(&mut Rules)) -> Self {
        change(&mut self.shared.state().rules);
        self
    }
}

#[derive(Default)]
pub(super) struct Rules {
    by_method: HashMap<String, Rule>,
    /// Raw JSON values of expressions.
    pub(super) values: HashMap<String, Arc<str>>,
    /// Messages held back, by method, in the order they would have gone out.
    pub(super) held: HashMap<String, Vec<(ConnectionId, String)>>,
    pub(super) unknown: Unknown,
    pub(super) adds_unknown_fields: bool,
    pub(super) dismisses_after: Option<Duration>,
}

#[derive(Clone)]
enum Rule {
    Refuse,
    Mute,
    Delay(Duration),
    Answer(Arc<str>),
    Fail(i64, String),
    OpenDialog(Dialog),
}

impl State {
    /// Takes a command from the wire, and does with it what the script says or else what a browser does.
    pub(super) fn on_command(&mut self, connection: ConnectionId, command: Command) {
        self.log.push(&command);
        let rules = &mut self.rules;
        let rule = rules.by_method.get(&command.method).or_else(|| rules.by_method.get(command.domain())).cloned();
        match rule {
            None => self.carry_out(connection, command),
            Some(Rule::Mute) => {}
            Some(Rule::Refuse) => self.not_found(connection, &command),
            Some(Rule::Answer(result)) => self.reply(connection, &command, &result),
            Some(Rule::Fail(code, message)) => self.fail(connection, &command, code, &message),
            Some(Rule::Delay(by)) => {
                let shared = self.shared.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(by).await;
                    if let Some(shared) = shared.upgrade() {
                        shared.state().carry_out(connection, command);
                    }
                });
            }
            Some(Rule::OpenDialog(dialog)) => {
                self.rules.by_method.remove(&command.method);
                let session = command.session.as_ref().and_then(|id| self.sessions.get(id));
                match session.map(|session| session.target.root_frame()) {
                    Some(frame) => self.open_dialog(&frame, dialog, Some((connection, command)), None),
                    None => self.carry_out(connection, command),
                }
            }
        }
    }

    pub(super) fn not_found(&mut self, connection: ConnectionId, command: &Command) {
        let message = format!("'{}' wasn't found", command.method);
        let text = wire::failure(command.id, command.session.as_ref(), -32601, &message);
        self.transmit(connection, &command.method, text);
    }
}
