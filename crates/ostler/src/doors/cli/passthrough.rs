//! `ostler cdp`: any CDP method, straight through.

use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::value::RawValue;

use super::context::{Context, print_data};
use super::failure::Failure;
use super::{reply, text};
use crate::exit_code::Exit;
use crate::times::{CALL_DEFAULT, CALL_LONGEST};

/// Sends one CDP command and prints its result
///
///     ostler cdp Page.navigate '{"url": "https://example.com"}'
///     ostler cdp Target.getTargets
///     ostler cdp Runtime.evaluate @params.json --frame FRAME_ID
///
/// It goes to the task's current tab unless a session, frame or tab is named; `Target.*`
/// and `Browser.*` go to the browser itself.
#[derive(Args, Debug)]
#[command(name = "cdp", verbatim_doc_comment)]
pub(super) struct Cdp {
    /// The method, such as Page.navigate
    method: String,

    /// Its parameters as a JSON object: the text itself, @FILE, or - for standard input
    #[arg(value_name = "JSON")]
    params: Option<String>,

    /// Send it to this session
    #[arg(long, value_name = "ID", conflicts_with_all = ["frame", "target"])]
    session: Option<String>,

    #[command(flatten)]
    aim: Aim,

    /// What a dialog does that opens meanwhile: end the call, or let it wait for the answer
    #[arg(long, value_name = "HOW", value_enum)]
    on_dialog: Option<OnDialog>,
}

/// Where in the browser a call goes, and for how long.
#[derive(Args, Debug)]
pub(super) struct Aim {
    /// Send it to this frame
    #[arg(long, value_name = "ID")]
    frame: Option<String>,

    /// Send it to this tab
    #[arg(long, value_name = "ID")]
    target: Option<String>,

    /// Give up after this long [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = call_time)]
    timeout: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
enum OnDialog {
    Return,
    Wait,
}

/// A passthrough request of the line protocol.
#[derive(Serialize)]
struct Request<'a> {
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_dialog: Option<OnDialog>,
}

impl Cdp {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let params = self.params.as_deref().map(text::json_argument).transpose()?;
        let request = Request {
            session_id: self.session.as_deref(),
            on_dialog: self.on_dialog,
            ..self.aim.request(context, &self.method, params.as_deref())
        };
        let reply = context.ask(&mut context.connect()?, &request, self.aim.patience())?;
        print_data(reply::result(&reply)?.get().as_bytes())?;
        Ok(Exit::Success)
    }
}

impl Aim {
    /// Calls a method there and returns the reply's line.
    pub(super) fn call(&self, context: &Context, method: &str, params: &RawValue) -> Result<Vec<u8>, Failure> {
        let request = self.request(context, method, Some(params));
        context.ask(&mut context.connect()?, &request, self.patience())
    }

    fn request<'a>(&'a self, context: &'a Context, method: &'a str, params: Option<&'a RawValue>) -> Request<'a> {
        Request {
            method,
            params,
            task: context.task.as_deref(),
            session_id: None,
            frame_id: self.frame.as_deref(),
            target_id: self.target.as_deref(),
            // Whole milliseconds, and never zero of them: the daemon's unit.
            timeout_ms: self.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)),
            on_dialog: None,
        }
    }

    fn patience(&self) -> Duration {
        self.timeout.unwrap_or(CALL_DEFAULT)
    }
}

/// Reads a time that the daemon lets a call take.
fn call_time(given: &str) -> Result<Duration, String> {
    let time = text::seconds(given)?;
    if time <= CALL_LONGEST {
        Ok(time)
    } else {
        Err(format!("a call may take {} seconds at most", CALL_LONGEST.as_secs()))
    }
}
