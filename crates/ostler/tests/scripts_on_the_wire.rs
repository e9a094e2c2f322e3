//! What a script's helpers send to the daemon, from the command line through `python3` to the socket.

mod sandbox;

use std::fs::File;
use std::process::{Command, Output};

use sandbox::{FakeDaemon, Ran, Sandbox};

/// Runs `ostler ARGS` with the script on standard input.
fn pipe(sandbox: &Sandbox, command: &mut Command, script: &str) -> Ran {
    let path = sandbox.path("piped.py");
    std::fs::write(&path, script).expect("a script");
    let output: Output = command.stdin(File::open(path).expect("a script")).output().expect("ostler runs");
    output.into()
}

#[test]
fn every_request_of_a_script_is_for_the_task_that_the_command_names() {
    let sandbox = Sandbox::new();
    let daemon = FakeDaemon::start(&sandbox, |_| r#"{"result":{},"events":[]}"#.to_owned());
    let script = "cdp('A.b')\ndrain_events()\n";
    let file = sandbox.path("script.py");
    std::fs::write(&file, script).expect("a script");
    let file = file.to_str().expect("UTF-8");

    pipe(&sandbox, &mut sandbox.ostler(&["--task", "flag"]), script).assert_done();
    pipe(&sandbox, sandbox.ostler(&[]).env("OSTLER_TASK", "env"), script).assert_done();
    Ran::of(sandbox.ostler(&["--task", "flag", "run", file]).env("OSTLER_TASK", "env")).assert_done();
    pipe(&sandbox, &mut sandbox.ostler(&[]), script).assert_done();

    let sent = |task: &str| {
        [format!(r#"{{"method":"A.b","params":{{}}{task}}}"#), format!(r#"{{"meta":"drain_events"{task}}}"#)]
    };
    let tasks = [r#","task":"flag""#, r#","task":"env""#, r#","task":"flag""#, ""];
    assert_eq!(daemon.asked(), tasks.map(sent).concat());
}
