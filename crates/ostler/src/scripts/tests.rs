//! What a script sees of the runner, with the real `python3` and a daemon that is the other end of a socket pair.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use super::{Script, ScriptError, ScriptHome, ScriptRun};

/// A prepared home, a folder for scripts, and a way to run them.
struct Bench {
    folder: tempfile::TempDir,
    home: ScriptHome,
    limit: Option<Duration>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = ScriptHome::new(folder.path().join("home"));
        home.prepare().expect("a prepared home");
        Self { folder, home, limit: None }
    }

    /// Writes a script file and returns its path.
    fn file(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("script.py");
        fs::write(&path, text).expect("the script is written");
        path
    }

    /// The command that `exec` would become, and the daemon's end of its connection.
    fn command(&self, script: Script) -> (Command, UnixStream, UnixStream) {
        let (daemon, socket) = UnixStream::pair().expect("a socket pair");
        let run = ScriptRun {
            home: &self.home,
            script,
            task: None,
            python: None,
            time_limit: self.limit,
            new_daemon: false,
            socket,
            socket_path: Path::new("/nowhere.sock"),
        };
        let mut command = run.command().expect("a command line");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        (command, daemon, run.socket)
    }

    fn run_file(&self, text: &str) -> Output {
        let (mut command, _daemon, _socket) =
            self.command(Script::File(self.file(text), vec!["one".into(), "-2".into()]));
        command.output().expect("python3 starts")
    }

    fn run_stdin(&self, text: &str) -> Output {
        let (mut command, _daemon, _socket) = self.command(Script::Stdin);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("python3 starts");
        child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("the script is sent");
        child.wait_with_output().expect("python3 ends")
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn helpers_reach_the_daemon_over_the_socket_they_are_handed() {
    let bench = Bench::new();
    let (mut command, daemon, _socket) =
        bench.command(Script::File(bench.file("print(cdp('Browser.getVersion')['product'])"), vec![]));
    let child = command.spawn().expect("python3 starts");
    let mut request = String::new();
    BufReader::new(&daemon).read_line(&mut request).expect("a request");
    assert_eq!(request, "{\"method\":\"Browser.getVersion\",\"params\":{},\"words\":\"helpers\"}\n");
    (&daemon).write_all(b"{\"result\":{\"product\":\"Chrome/1\"}}\n").expect("an answer");
    let output = child.wait_with_output().expect("python3 ends");
    assert_eq!((out(&output).as_str(), err(&output).as_str()), ("Chrome/1\n", ""));
}

#[test]
fn a_file_finds_what_python3_would_give_it() {
    let bench = Bench::new();
    fs::write(bench.folder.path().join("sibling.py"), "value = 7").expect("a module beside the script");
    let output =
        bench.run_file("import sys, sibling\nprint(__name__, __file__ == sys.argv[0], sys.argv[1:], sibling.value)");
    assert_eq!(out(&output), "__main__ True ['one', '-2'] 7\n", "{}", err(&output));
}

#[test]
fn standard_input_finds_what_python3_would_give_it() {
    let output = Bench::new().run_stdin("import sys\nprint(__name__, sys.argv, sys.path[0] == '', callable(new_tab))");
    assert_eq!(out(&output), "__main__ [''] True True\n", "{}", err(&output));
}

#[test]
fn the_exit_status_is_the_scripts() {
    let bench = Bench::new();
    assert_eq!(bench.run_file("pass").status.code(), Some(0));
    assert_eq!(bench.run_file("import sys; sys.exit(3)").status.code(), Some(3));
    assert_eq!(bench.run_file("1 / 0").status.code(), Some(1));
    let output = bench.run_file("import sys; sys.exit('enough')");
    assert_eq!((output.status.code(), err(&output).as_str()), (Some(1), "enough\n"));
}

#[test]
fn a_signal_ends_the_command_as_it_would_end_python3() {
    let bench = Bench::new();
    let terminated = bench.run_file("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)");
    assert_eq!(terminated.status.signal(), Some(15));
    let interrupted = bench.run_file("raise KeyboardInterrupt");
    assert_eq!(interrupted.status.signal(), Some(2));
    assert!(err(&interrupted).ends_with("KeyboardInterrupt\n"), "{}", err(&interrupted));
}

#[test]
fn a_traceback_is_byte_for_byte_that_of_python3() {
    let bench = Bench::new();
    for text in [
        "def f():\n    return 1 / 0\n\ntry:\n    f()\nexcept Exception as e:\n    raise KeyError('x') from e\n",
        "x = 1\nif x\n    pass\n",
    ] {
        let ours = bench.run_file(text);
        let plain = Command::new("python3").arg(bench.file(text)).output().expect("python3 starts");
        assert_eq!(err(&ours), err(&plain));
    }
}

#[test]
fn endless_recursion_has_a_traceback_too() {
    let text = err(&Bench::new().run_file("def f():\n    f()\nf()\n"));
    assert!(text.contains("line 3, in <module>") && text.contains("more times]\nRecursionError: "), "{text}");
    assert!(!text.contains("boot.py"), "{text}");
}

#[test]
fn a_traceback_from_standard_input_shows_the_scripts_lines() {
    let output = Bench::new().run_stdin("def f():\n    raise ValueError('no')\nf()\n");
    let text = err(&output);
    let start = "Traceback (most recent call last):\n  File \"<stdin>\", line 3, in <module>\n    f()\n";
    assert!(text.starts_with(start) && text.ends_with("raise ValueError('no')\nValueError: no\n"), "{text}");
}

#[test]
fn an_error_of_the_daemon_is_raised_with_its_sentence() {
    let bench = Bench::new();
    let (mut command, daemon, _socket) = bench.command(Script::File(bench.file("click_at_xy(1, 2)"), vec![]));
    let child = command.spawn().expect("python3 starts");
    BufReader::new(&daemon).read_line(&mut String::new()).expect("a request");
    let answer = b"{\"error\":\"a confirm is open\",\"error_code\":\"dialog_open\",\"dialog\":{}}\n";
    (&daemon).write_all(answer).expect("an answer");
    let output = child.wait_with_output().expect("python3 ends");
    assert!(err(&output).ends_with("\nostler.DialogOpen: a confirm is open\n"), "{}", err(&output));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn output_is_seen_while_the_script_still_runs() {
    let bench = Bench::new();
    let (mut command, _daemon, _socket) =
        bench.command(Script::File(bench.file("print('before')\ncdp('Page.enable')"), vec![]));
    let mut child = command.spawn().expect("python3 starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    child.kill().expect("the script was waiting for the daemon");
    child.wait().expect("it ends");
    assert_eq!(line, "before\n");
}

#[test]
fn the_time_limit_shows_where_the_script_was() {
    let mut bench = Bench::new();
    bench.limit = Some(Duration::from_millis(300));
    let output = bench.run_file("import threading\nthreading.Event().wait()\n");
    let text = err(&output);
    assert!(text.contains("line 2, in <module>") && text.ends_with("longer than its limit of 0.3 s\n"), "{text}");
    assert!(!text.contains("boot.py"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_edit_works_from_the_next_script_on_even_with_size_and_time_unchanged() {
    let bench = Bench::new();
    let path = bench.home.helpers_path();
    for value in ["1", "2", "3"] {
        fs::write(&path, format!("def mine(): return {value}\n")).expect("edited");
        let file = fs::File::options().write(true).open(&path).expect("opened");
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000)).expect("its time set back");
        assert_eq!(out(&bench.run_file("print(mine())")), format!("{value}\n"));
    }
}

#[test]
fn a_damaged_cache_is_replaced() {
    let bench = Bench::new();
    bench.run_file("pass");
    let cache = bench.home.boot_path().with_file_name("cache");
    for entry in fs::read_dir(cache).expect("code was kept") {
        fs::write(entry.expect("an entry").path(), b"\xe3\x00").expect("damaged");
    }
    assert_eq!(out(&bench.run_file("print(callable(js))")), "True\n");
}

#[test]
fn helpers_that_do_not_load_say_how_to_get_ours_back() {
    let bench = Bench::new();
    fs::write(bench.home.helpers_path(), "def broken(:\n").expect("edited");
    let output = bench.run_file("print('never')");
    let text = err(&output);
    assert!(text.contains("line 1") && text.contains("`ostler helpers reset`") && !text.contains("boot.py"), "{text}");
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(1), ""));
}

#[test]
fn a_script_that_cannot_be_read_is_named() {
    let bench = Bench::new();
    for path in [bench.folder.path().to_owned(), bench.folder.path().join("missing.py")] {
        let (_daemon, socket) = UnixStream::pair().expect("a socket pair");
        let run = ScriptRun {
            home: &bench.home,
            script: Script::File(path.clone(), vec![]),
            task: None,
            python: None,
            time_limit: None,
            new_daemon: false,
            socket,
            socket_path: Path::new("/nowhere.sock"),
        };
        let error = run.exec().expect_err("there is no script to run");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}

#[test]
fn without_an_interpreter_the_error_says_what_still_works() {
    let bench = Bench::new();
    let (_daemon, socket) = UnixStream::pair().expect("a socket pair");
    let run = |python, socket| ScriptRun {
        home: &bench.home,
        script: Script::Stdin,
        task: None,
        python,
        time_limit: None,
        new_daemon: false,
        socket,
        socket_path: Path::new("/nowhere.sock"),
    };
    let nowhere = Some(PathBuf::from("/nowhere/python3"));
    let error = run(nowhere, socket.try_clone().expect("a second end")).exec().expect_err("no such interpreter");
    assert!(error.to_string().contains("/nowhere/python3") && error.to_string().contains("`ostler js`"), "{error}");

    let error = run(None, socket).start_error(std::io::ErrorKind::NotFound.into());
    assert!(matches!(error, ScriptError::NoPython));
    assert!(error.to_string().contains("OSTLER_PYTHON"), "{error}");
}
