//! `ostler disconnect`: ends a task.

use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use super::context::{Context, Meta, print_line};
use super::failure::Failure;
use super::reply;
use crate::exit_code::Exit;
use crate::times::CALL_DEFAULT;

/// Ends the task and lets go of its tabs.
///
/// The browser stays, unless ostler launched it for this task.
#[derive(Args, Debug)]
#[command(name = "disconnect")]
pub(super) struct Disconnect {}

/// Its reply.
#[derive(Deserialize)]
struct Reply {
    left_behind: Option<String>,
}

/// How long it may take: for another request that connects the task to be done, and for the browser to end.
const PATIENCE: Duration = CALL_DEFAULT.saturating_mul(2);

impl Disconnect {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let Some(mut client) = context.connect_if_running()? else {
            // A daemon started now would know no task to end.
            let sentence = "no daemon runs, so there is nothing to disconnect";
            if context.json {
                print_line(r#"{"ok":true,"task":null}"#)?
            } else {
                print_line(sentence)?
            }
            return Ok(Exit::Success);
        };
        let request = Meta { meta: "disconnect", task: context.task.as_deref() };
        let reply = context.ask(&mut client, &request, PATIENCE)?;
        let Reply { left_behind } = reply::read(&reply)?;
        context.print(&reply, &format!("task {} has ended", context.task_name()))?;
        Ok(context.mind_what_is_left(left_behind.as_deref()))
    }
}
