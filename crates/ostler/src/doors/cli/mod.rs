//! The command line: every verb is one file, and all but a few are one request to the daemon.

mod completions;
mod config;
mod connect;
mod context;
mod daemon;
mod dialog;
mod disconnect;
mod doctor;
mod failure;
mod helpers;
mod interrupt;
mod js;
mod man;
mod mcp;
mod overview;
mod passthrough;
mod reply;
mod screen;
mod script;
mod skill;
mod snapshot;
mod status;
mod stop;
mod text;
mod tool;
mod usage;
mod watch;

use clap::{Parser, Subcommand};

use self::context::Context;
use self::failure::Failure;
use crate::exit_code::Exit;

/// Drives a real Chromium from scripts and the shell, and never lets a dialog hang you.
#[derive(Debug, Parser)]
#[command(name = "ostler", version, after_help = AFTER_HELP)]
struct Arguments {
    /// The task to work in: one agent's tabs and dialogs [default: $OSTLER_TASK, else `default`]
    #[arg(long, global = true, value_name = "NAME")]
    task: Option<String>,

    /// Print JSON, errors included
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(script::Run),
    Cdp(passthrough::Cdp),
    Js(js::Js),
    Snapshot(snapshot::Snapshot),
    Tool(tool::Tool),
    Dialog(dialog::Dialog),
    Connect(connect::Connect),
    Disconnect(disconnect::Disconnect),
    Status(status::Status),
    Watch(watch::Watch),
    Doctor(doctor::Doctor),
    Interrupt(interrupt::Interrupt),
    Mcp(mcp::Mcp),
    Daemon(daemon::Daemon),
    Stop(stop::Stop),
    Helpers(helpers::Helpers),
    Config(config::Config),
    Skill(skill::Skill),
    Completions(completions::Completions),
    Man(man::Man),
}

const AFTER_HELP: &str = "\
Without a command, ostler runs the Python script on its standard input, with every helper in scope:

    ostler <<'PY'
    new_tab(\"https://example.com\")
    wait_for_load()
    print(page_info())
    PY

A daemon per name (BU_NAME) holds the browser; the first command starts it. It uses the browser that
BU_CDP_WS or BU_CDP_URL names, or finds a running one; `ostler connect --launch` starts one.

Exit status: 0 done, 1 the work failed, 2 wrong call. A script's own status is passed on.";

/// Runs the command that the process was started with.
pub(crate) fn run() -> Exit {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage::tell(&error),
    };
    if let Some(Verb::Daemon(daemon)) = &arguments.verb
        && daemon.in_background()
    {
        return daemon.run_in_background();
    }
    let json = arguments.json;
    match dispatch(arguments) {
        Ok(exit) => exit,
        Err(failure) => failure.show(json),
    }
}

fn dispatch(arguments: Arguments) -> Result<Exit, Failure> {
    let context = Context::new(arguments.task, arguments.json)?;
    match arguments.verb {
        None => script::from_stdin(&context),
        Some(Verb::Run(verb)) => verb.run(&context),
        Some(Verb::Cdp(verb)) => verb.run(&context),
        Some(Verb::Js(verb)) => verb.run(&context),
        Some(Verb::Snapshot(verb)) => verb.run(&context),
        Some(Verb::Tool(verb)) => verb.run(&context),
        Some(Verb::Dialog(verb)) => verb.run(&context),
        Some(Verb::Connect(verb)) => verb.run(&context),
        Some(Verb::Disconnect(verb)) => verb.run(&context),
        Some(Verb::Status(verb)) => verb.run(&context),
        Some(Verb::Watch(verb)) => verb.run(&context),
        Some(Verb::Doctor(verb)) => verb.run(&context),
        Some(Verb::Interrupt(verb)) => verb.run(&context),
        Some(Verb::Mcp(verb)) => verb.run(&context),
        Some(Verb::Daemon(verb)) => verb.run(&context),
        Some(Verb::Stop(verb)) => verb.run(&context),
        Some(Verb::Helpers(verb)) => verb.run(&context),
        Some(Verb::Config(verb)) => verb.run(&context),
        Some(Verb::Skill(verb)) => verb.run(&context),
        Some(Verb::Completions(verb)) => verb.run(&context),
        Some(Verb::Man(verb)) => verb.run(&context),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
