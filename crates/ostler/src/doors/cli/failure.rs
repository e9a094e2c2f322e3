//! How a command fails, and how it says so: one sentence on standard error, or JSON on standard output.

use std::fmt;
use std::io;

use serde_json::json;

use super::context::{print_data, print_line};
use super::{reply, screen};
use crate::client::{BAD_CONFIG, ClientError, NO_DAEMON};
use crate::config::ConfigError;
use crate::daemon::DaemonError;
use crate::ending::EndingError;
use crate::exit_code::Exit;
use crate::scripts::ScriptError;

/// What is outside the daemon failed.
pub(super) const FAILED: &str = "failed";

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub(super) enum Failure {
    /// The settings cannot be used.
    Config(ConfigError),
    /// The daemon cannot be reached.
    Client(ClientError),
    /// The daemon cannot run.
    Daemon(DaemonError),
    /// The daemon answered with an error.
    Answer {
        /// Its sentence.
        sentence: String,
        /// Its whole object, as it came.
        reply: Vec<u8>,
        /// Whether the request was at fault.
        wrong_call: bool,
    },
    /// The page's script threw.
    Thrown {
        /// The exception with its stack, as the page would print it.
        text: String,
        /// The whole answer of `Runtime.evaluate`.
        answer: Vec<u8>,
    },
    /// The daemon answered something that cannot be made sense of.
    Nonsense(String),
    /// The command itself cannot be carried out.
    WrongCall(String),
    /// The command is right, and something outside the daemon failed.
    Work(String),
    /// Whoever read our output has gone.
    Stdout(io::Error),
}

impl Failure {
    /// Tells the user and returns what the command exits with.
    pub(super) fn show(&self, json: bool) -> Exit {
        match self {
            // Nobody reads; more words would be as lost as the first ones.
            Self::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Self::Thrown { text, answer } if json => drop(print_data(&thrown_json(text, answer))),
            Self::Answer { reply, .. } if json => drop(print_data(reply)),
            other if json => {
                drop(print_line(&json!({"error": other.to_string(), "error_code": other.code()}).to_string()));
            }
            other => eprintln!("ostler: {}", screen::harmless(&other.to_string())),
        }
        self.exit()
    }

    /// Returns the `error_code` of what the daemon had no part in; its own answers carry theirs.
    fn code(&self) -> &str {
        match self {
            Self::Config(_) => BAD_CONFIG,
            Self::WrongCall(_) => "bad_request",
            Self::Client(error) => error.code(),
            Self::Daemon(error) if error.exit() == Exit::WrongCall => BAD_CONFIG,
            Self::Daemon(_) | Self::Nonsense(_) => NO_DAEMON,
            Self::Work(_) | Self::Stdout(_) | Self::Answer { .. } | Self::Thrown { .. } => FAILED,
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Config(_) | Self::WrongCall(_) | Self::Answer { wrong_call: true, .. } => Exit::WrongCall,
            Self::Client(error) => error.exit(),
            Self::Daemon(error) => error.exit(),
            Self::Answer { .. } | Self::Thrown { .. } | Self::Nonsense(_) | Self::Work(_) | Self::Stdout(_) => {
                Exit::WorkFailed
            }
        }
    }
}

/// Returns the answer of `Runtime.evaluate`, which is an object, with the fields that every error has before its own.
fn thrown_json(text: &str, answer: &[u8]) -> Vec<u8> {
    let error = json!({"error": text, "error_code": "exception"}).to_string();
    let fields = answer.strip_prefix(b"{").unwrap_or(b"}");
    let comma = if fields.trim_ascii_start().starts_with(b"}") { "" } else { "," };
    [error.trim_end_matches('}').as_bytes(), comma.as_bytes(), fields].concat()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Client(error) => error.fmt(f),
            Self::Daemon(error) => error.fmt(f),
            Self::Answer { sentence: text, .. }
            | Self::Thrown { text, .. }
            | Self::WrongCall(text)
            | Self::Work(text) => f.write_str(text),
            Self::Nonsense(why) => {
                write!(f, "the daemon's answer makes no sense ({why}); is another program listening on its socket?")
            }
            Self::Stdout(error) => write!(f, "the output could not be written: {error}"),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl From<DaemonError> for Failure {
    fn from(error: DaemonError) -> Self {
        Self::Daemon(error)
    }
}

impl From<EndingError> for Failure {
    fn from(error: EndingError) -> Self {
        match error {
            EndingError::Client(error) => Self::Client(error),
            EndingError::Refused { sentence, reply } => {
                reply::not_an_error(reply).err().unwrap_or(Self::Work(sentence))
            }
            other => Self::Work(other.to_string()),
        }
    }
}

impl From<ScriptError> for Failure {
    fn from(error: ScriptError) -> Self {
        Self::Work(error.to_string())
    }
}
