//! P9, P13: what MCP costs: the list of tools in a model's context, a host's wait for the greeting, and a call.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::Result;
use crate::chromium::Chromium;
use crate::daemon::Daemon;
use crate::raw::Raw;
use crate::report::{Figure, Goal};
use crate::samples::{Blocks, Samples, in_turns};
use crate::setup::Setup;

const STARTS: u32 = 40;
const CALLS: Blocks = Blocks { count: 80, length: 50 };
const EVALUATE: &str = r#"{"expression":"1+1"}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_cdp","arguments":{"method":"Runtime.evaluate","params":{"expression":"1+1"}}}}"#;

/// A host with a server of its own, gone when dropped.
struct Host {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Host {
    /// Starts the server; returns once it has greeted.
    fn start(mut command: Command) -> Result<Self> {
        let mut child = command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("its input is a pipe of ours")?;
        let output = BufReader::new(child.stdout.take().ok_or("its output is a pipe of ours")?);
        let mut host = Self { child, input, output };
        host.ask(INITIALIZE)?;
        Ok(host)
    }

    /// Sends a line without waiting for an answer.
    fn tell(&mut self, line: &str) -> Result<()> {
        // In one piece, as hosts do it.
        Ok(self.input.write_all(format!("{line}\n").as_bytes())?)
    }

    fn ask(&mut self, line: &str) -> Result<String> {
        self.tell(line)?;
        let mut reply = String::new();
        self.output.read_line(&mut reply)?;
        if reply.contains(r#""result""#) { Ok(reply) } else { Err(format!("{line} got {reply:?}").into()) }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn tool_list(setup: &Setup) -> Result<Vec<Figure>> {
    let chromium = Chromium::start()?;
    let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
    let mut host = Host::start(daemon.ostler())?;
    host.tell(INITIALIZED)?;
    let reply = host.ask(LIST)?;
    let listed: Value = serde_json::from_str(&reply)?;
    let tools = listed["result"]["tools"].as_array().ok_or("tools/list names no tools")?;
    Ok(vec![Figure {
        what: "all core tools in `tools/list`",
        value: reply.len() as f64 / 1000.0,
        unit: "kB",
        goal: Goal::AtMost(6.0),
        from: format!("{} tools, the whole reply", tools.len()),
    }])
}

pub(super) fn over_stdio(setup: &Setup) -> Result<Vec<Figure>> {
    let chromium = Chromium::start()?;
    let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
    let mut greeting = Samples::default();
    for _ in 0..STARTS {
        let began = Instant::now();
        let host = Host::start(daemon.ostler())?;
        greeting.push(began.elapsed());
        drop(host);
    }
    setup.block_on(async {
        let mut raw = Raw::connect(&chromium.url).await?;
        raw.attach(&daemon.connect().await?.current_tab().await?).await?;
        let mut host = Host::start(daemon.ostler())?;
        host.tell(INITIALIZED)?;
        let pair = in_turns(
            CALLS,
            async || raw.call("Runtime.evaluate", EVALUATE).await.map(drop),
            async || host.ask(CALL).map(drop),
        )
        .await?;
        Ok(vec![
            Figure {
                what: "from the start of `ostler mcp` to its greeting",
                value: greeting.median().as_secs_f64() * 1000.0,
                unit: "ms",
                goal: Goal::AtMost(25.0),
                from: greeting.to_string(),
            },
            Figure::ratio("`browser_cdp` evaluate over stdio", 1.6, &pair, "raw"),
        ])
    })
}
