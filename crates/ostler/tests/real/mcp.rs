//! MCP on a real Chromium: one browser for hosts and scripts alike.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::host::Host;
use super::sandbox::wait_until;
use super::world::World;

impl World {
    /// Starts an MCP host in this world.
    fn host(&self, arguments: &[&str]) -> Host {
        Host::start(&mut self.command(&[&["mcp"], arguments].concat()))
    }

    /// Runs a script on standard input and returns what it printed.
    fn script(&self, script: &str) -> String {
        let mut command = self.command(&[]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("ostler starts");
        child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("a script that is read");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.ostler(arguments);
        command.env_remove("BU_CDP_WS").env("BU_CDP_URL", self.chromium.url());
        command
    }
}

fn evaluate(expression: &str) -> Value {
    json!({"method": "Runtime.evaluate", "params": {"expression": expression, "returnByValue": true}})
}

#[test]
fn a_script_and_a_host_act_on_one_tab_in_turns_and_each_sees_the_others_effect() {
    let world = World::with(&[("/", "<title>0</title>"), ("/next", "<title>next</title>")]);
    let mut host = world.host(&[]);
    host.data("browser_navigate", json!({"url": world.site.here("/")}));
    for turn in 1..=3 {
        let seen = world.script(&format!("print(js('document.title'))\njs('document.title = {turn}')"));
        assert_eq!(seen, (turn * 10 - 10).to_string());
        let seen = host.data("browser_cdp", evaluate("document.title"));
        assert_eq!(seen["result"]["result"]["value"], turn.to_string());
        host.data("browser_cdp", evaluate(&format!("document.title = '{}'", turn * 10)));
    }
    world.script(&format!("goto_url({:?})\nwait_for_load()", world.site.here("/next")));
    let tabs = host.data("browser_tabs", json!({"action": "list"}));
    assert_eq!(tabs["tabs"][0]["url"], world.site.here("/next"), "{tabs}");
    host.end();
}

#[test]
fn a_dialog_that_a_host_opens_stands_in_its_results_and_a_script_sees_it_too() {
    let world = World::with(&[("/", "<title>asks</title>")]);
    let mut host = world.host(&[]);
    host.data("browser_navigate", json!({"url": world.site.here("/")}));
    let met = host.call("browser_cdp", evaluate("document.title = confirm('Sure?')"));
    assert_eq!(met["structuredContent"]["error_code"], "dialog_open", "{met}");
    let tabs = host.call("browser_tabs", json!({"action": "list"}));
    assert_eq!(tabs["structuredContent"]["pending_dialogs"][0]["message"], "Sure?", "{tabs}");
    assert!(tabs["content"][0]["text"].as_str().unwrap().contains("Sure?"), "{tabs}");
    assert_eq!(world.script("print(page_info()['dialog']['message'])"), "Sure?");
    host.data("browser_dialog", json!({"action": "accept"}));
    assert_eq!(world.script("print(js('document.title'))"), "true");
    host.end();
}

#[test]
fn hosts_with_tasks_of_their_own_do_not_meet_and_leave_nothing_behind() {
    let mut world = World::with(&[("/a", "<title>a</title>"), ("/b", "<title>b</title>")]);
    let (mut one, mut other) = (world.host(&["--own-task"]), world.host(&["--own-task"]));
    let mut named = world.host(&["--task", "shared"]);
    one.data("browser_navigate", json!({"url": world.site.here("/a")}));
    other.data("browser_navigate", json!({"url": world.site.here("/b")}));
    named.data("browser_navigate", json!({"url": world.site.here("/b")}));
    for (host, path) in [(&mut one, "/a"), (&mut other, "/b")] {
        let tabs = host.data("browser_tabs", json!({"action": "list"}));
        let urls: Vec<_> = tabs["tabs"].as_array().unwrap().iter().map(|tab| tab["url"].clone()).collect();
        assert_eq!(urls, [world.site.here(path)]);
    }
    let tasks = |world: &mut World| world.line.ask(json!({"meta": "tasks"}))["tasks"].as_array().unwrap().len();
    assert_eq!(tasks(&mut world), 4);
    one.end();
    other.end();
    named.end();
    wait_until("the tasks of hosts that left are over", || tasks(&mut world) == 2);
}

#[test]
fn a_result_too_large_for_a_model_is_in_a_file_that_the_host_can_read() {
    let world = World::with(&[("/", "<title>large</title>")]);
    let mut host = world.host(&[]);
    host.data("browser_navigate", json!({"url": world.site.here("/")}));
    let result = host.call("browser_cdp", evaluate("'x'.repeat(300000)"));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.len() < 4_000, "{} characters", text.len());
    let path = result["structuredContent"]["path"].as_str().unwrap();
    assert!(text.contains(path) && std::fs::metadata(path).unwrap().len() > 300_000, "{text}");
    let uri = &result["content"][1]["uri"];
    let read = host.ask("resources/read", json!({"uri": uri}));
    assert!(read["contents"][0]["text"].as_str().unwrap().len() > 300_000);
    assert_eq!(host.ask("resources/list", json!({}))["resources"][0]["uri"], *uri);
    host.end();
}
