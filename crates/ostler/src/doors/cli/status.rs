//! `ostler status`: who is there, at a glance. It asks nothing that a page can hold up.

use clap::Args;
use serde_json::json;

use super::context::{Context, print_line};
use super::dialog;
use super::failure::Failure;
use super::overview::{self, Overview};
use super::screen;
use crate::exit_code::Exit;

/// Shows the daemon, and each task with its browser, tabs, dialogs and counts.
///
/// Never starts a daemon, and waits for no page; a browser that does not answer at all within two seconds is told.
/// `ostler watch` shows the same live.
#[derive(Args, Debug)]
#[command(name = "status")]
pub(super) struct Status {}

impl Status {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let paths = context.settings()?.paths;
        let name = &paths.name;
        let Some(mut client) = context.connect_if_running()? else {
            if context.json {
                print_line(&json!({"name": name, "daemon": null, "tasks": []}).to_string())?;
            } else {
                print_line(&format!("no daemon runs (name {name}); the next command starts one"))?;
            }
            return Ok(Exit::Success);
        };
        let daemon = client.greet()?.clone();
        let overview = Overview::ask(&mut client)?;
        if context.json {
            let daemon = json!({"pid": daemon.pid, "version": daemon.version, "browser_kind": daemon.browser_kind});
            print_line(&json!({"name": name, "daemon": daemon, "tasks": overview.raw}).to_string())?;
        } else {
            print_line(&overview::daemon_line(name, &daemon, &paths.socket))?;
            print_line("")?;
            // On a terminal each line stays one: a table that wraps is none.
            let columns = screen::size().map_or(usize::MAX, |(columns, _)| columns);
            overview.lines(dialog::now()).iter().try_for_each(|line| print_line(&screen::cut(line, columns)))?;
        }
        Ok(Exit::Success)
    }
}
