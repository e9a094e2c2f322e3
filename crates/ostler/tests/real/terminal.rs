//! What a person sees on a terminal: no page can act on it, no line is wrapped, and it is as it was when we are gone.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use super::line::Line;
use super::sandbox::{Ran, Sandbox, kill, wait_until};

/// Colours, the window's title, the clipboard, an 8-bit code, a line that is turned around, wide letters.
const HOSTILE: &str =
    r"a\x1b[31m\x1b]0;owned\x07\x1b]52;c;eA==\x07\x9b2J\u202etxt\u2069 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字";

/// A terminal that somebody looks at.
struct Terminal {
    ours: OwnedFd,
    theirs: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn new(columns: u16) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("ours");
        let name = ptsname(&ours, Vec::new()).expect("a name").into_string().expect("text");
        let theirs = File::options().read(true).write(true).open(name).expect("the other end");
        let terminal = Self { ours, theirs, seen: Arc::default() };
        terminal.resize(columns);
        let mut reader = File::from(terminal.ours.try_clone().expect("ours"));
        let seen = Arc::clone(&terminal.seen);
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut part) {
                seen.lock().expect("no reader panics").extend_from_slice(&part[..length]);
            }
        });
        terminal
    }

    fn resize(&self, columns: u16) {
        let size = Winsize { ws_row: 20, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.ours, size).expect("ours");
    }

    fn run(&self, command: &mut Command) -> Child {
        let end = || Stdio::from(self.theirs.try_clone().expect("ours"));
        command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("ostler runs")
    }

    /// Runs a command to its end and returns what it wrote.
    fn show(&self, command: &mut Command) -> String {
        self.seen.lock().expect("no reader panics").clear();
        self.run(command).wait().expect("it ends");
        // Whatever comes through one terminal comes in order.
        self.run(Command::new("echo").arg("that was all")).wait().expect("it ends");
        wait_until("all is read", || self.seen().contains("that was all"));
        self.seen().replace("that was all\r\n", "")
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().expect("no reader panics")).into_owned()
    }
}

/// A task with one tab that has the title above.
fn sandbox() -> (Sandbox, Line) {
    let sandbox = Sandbox::new();
    let mut command = sandbox.ostler(&["connect", "--launch", "--flag=--disable-gpu"]);
    Ran::of(command.env_remove("BU_CDP_WS").env("TMPDIR", sandbox.path(""))).assert_done();
    let mut line = Line::connect(&sandbox.socket());
    let page = format!("<meta charset=utf-8><script>document.title = '{HOSTILE}'</script>hello");
    let site = super::site::Site::with(&[("/", &page)]);
    line.cdp("Page.navigate", serde_json::json!({"url": site.here("/")}));
    wait_until("the page is there", || line.js("document.readyState") == "complete" && line.js("document.title") != "");
    // The browser tells a title together with the next change of the URL, and makes blanks of the simplest of its tricks.
    line.js("location.hash = 'here'; self.said = '{HOSTILE}'".replace("{HOSTILE}", HOSTILE).as_str());
    wait_until("the title is known", || {
        line.ask(serde_json::json!({"meta": "overview"})).to_string().contains("owned")
    });
    (sandbox, line)
}

fn ostler(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.ostler(args);
    command.env_remove("BU_CDP_WS");
    command
}

/// Asserts that nothing in a text acts on a terminal but line ends.
#[track_caller]
fn assert_harmless(what: &str, text: &str) {
    let acts = |c: char| {
        (c.is_control() && !"\r\n\t".contains(c)) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(acts), "{what}: {text:?}");
}

#[test]
fn no_title_or_question_of_a_page_acts_on_a_terminal() {
    let (sandbox, mut line) = sandbox();
    let terminal = Terminal::new(200);
    for args in [
        &["status"][..],
        &["js", "self.said"],
        &["cdp", "Target.getTargets"],
        &["snapshot"],
        &["tool", "tabs", r#"{"action":"list"}"#],
        &["js", "throw new Error(self.said)"],
        &["--json", "status"],
        &["--json", "js", "throw new Error(self.said)"],
    ] {
        let shown = terminal.show(&mut ostler(&sandbox, args));
        assert_harmless(&args.join(" "), &shown);
        assert!(shown.contains("owned"), "{args:?}: {shown}");
    }
    // What was asked for comes as it is where a program reads it; words about it are harmless there too.
    let raw = Ran::of(&mut ostler(&sandbox, &["js", "self.said"]));
    assert!(raw.stdout.contains("\x1b[31m\x1b]0;owned\x07"), "{raw:?}");
    assert_harmless("status in a file", &Ran::of(&mut ostler(&sandbox, &["status"])).stdout);
    line.js("setTimeout(() => confirm(self.said), 0)");
    wait_until("it asks", || !line.state()["pending_dialogs"].as_array().is_none_or(Vec::is_empty));
    for args in [&["dialog", "list"][..], &["status"], &["js", "1"], &["--json", "dialog", "list"]] {
        let shown = terminal.show(&mut ostler(&sandbox, args));
        assert_harmless(&args.join(" "), &shown);
        assert!(shown.contains("owned"), "{args:?}: {shown}");
    }
    let shown = Terminal::new(40).show(&mut ostler(&sandbox, &["status"]));
    let table = shown.lines().skip_while(|line| !line.starts_with("TASK"));
    for line in table {
        // A wide letter takes two columns.
        let width: usize = line.chars().map(|c| if c >= '\u{2e80}' { 2 } else { 1 }).sum();
        assert!(width <= 40, "{line}");
    }
    sandbox.run(&["stop"]).assert_done();
}

#[test]
fn watch_draws_in_place_follows_the_size_and_leaves_the_terminal_as_it_was() {
    let (sandbox, _line) = sandbox();
    let terminal = Terminal::new(100);
    let settings = |terminal: &Terminal| format!("{:?}", tcgetattr(&terminal.theirs).expect("a terminal"));
    let before = settings(&terminal);
    let mut watch = terminal.run(&mut ostler(&sandbox, &["watch"]));
    wait_until("it is drawn twice", || terminal.seen().contains("A\r"));
    terminal.resize(30);
    wait_until("it is drawn anew", || terminal.seen().contains("\x1b[2J"));
    kill(watch.id(), Signal::INT);
    watch.wait().expect("it ends");
    assert_eq!(settings(&terminal), before);
    let seen = terminal.seen();
    let mut words = seen.clone();
    // Upwards, to the beginning, and clearing: nothing that stays.
    for order in ["\x1b[H", "\x1b[2J", "\x1b[J", "\x1b[K"] {
        words = words.replace(order, "");
    }
    for height in 1..20 {
        words = words.replace(&format!("\x1b[{height}A"), "");
    }
    assert_harmless("watch", &words);
    let narrow = seen.rsplit("\x1b[2J").next().expect("a drawing").replace("\x1b[K", "").replace("\x1b[J", "");
    for line in narrow.lines().filter(|line| !line.contains('\x1b')) {
        assert!(line.chars().count() <= 30, "{line:?}");
    }
    // In a file there are lines, and nothing for a terminal.
    let mut piped = ostler(&sandbox, &["watch"]).stdout(Stdio::piped()).spawn().expect("ostler runs");
    sandbox.run(&["stop"]).assert_done();
    let mut text = String::new();
    piped.stdout.take().expect("piped").read_to_string(&mut text).expect("text");
    piped.wait().expect("it ends");
    assert_harmless("watch in a file", &text);
}
