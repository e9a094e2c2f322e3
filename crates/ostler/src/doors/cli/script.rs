//! A bare `ostler`, and `ostler run`: Python scripts with every helper in scope.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory};

use super::context::Context;
use super::failure::Failure;
use super::text;
use crate::exit_code::Exit;
use crate::scripts::{Script, ScriptHome, ScriptRun};

/// Runs a Python script from a file, with every helper in scope.
///
/// Its exit status and traceback are the command's own.
#[derive(Args, Debug)]
#[command(name = "run")]
pub(super) struct Run {
    /// End the script after this long
    #[arg(long, value_name = "SECONDS", value_parser = text::seconds)]
    timeout: Option<Duration>,

    /// The script
    file: PathBuf,

    /// What the script finds in sys.argv[1:]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl Run {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        match become_script(context, Script::File(self.file, self.args), self.timeout)? {}
    }
}

/// Runs what is piped in. Somebody who only typed `ostler` at a terminal wants to know what it is.
pub(super) fn from_stdin(context: &Context) -> Result<Exit, Failure> {
    if io::stdin().is_terminal() {
        if context.json {
            return Err(Failure::WrongCall("there is no command, and no script on standard input".to_owned()));
        }
        eprint!("{}", super::Arguments::command().render_help());
        return Ok(Exit::WrongCall);
    }
    match become_script(context, Script::Stdin, None)? {}
}

/// Turns this process into the script, with a connection to the daemon in hand.
fn become_script(context: &Context, script: Script, time_limit: Option<Duration>) -> Result<Infallible, Failure> {
    let home = ScriptHome::new(context.environment.home()?);
    let socket_path = context.settings()?.paths.socket;
    let mut client = context.connect()?;
    client.greet()?;
    Context::mention_version(&client);
    let new_daemon = client.is_first;
    let run = ScriptRun {
        home: &home,
        script,
        task: context.task.as_deref(),
        python: context.environment.python(),
        time_limit,
        new_daemon,
        socket: client.into_stream()?,
        socket_path: &socket_path,
    };
    Ok(run.exec()?)
}
