//! An MCP host, down to its lines: what the official clients do not let a test see or send.

#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(crate) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
    notifications: VecDeque<Value>,
    /// What the server said of itself.
    pub(crate) greeting: Value,
}

impl Host {
    /// Starts the server and greets it.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ostler starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let output = BufReader::new(output);
        let mut host = Self { child, input, output, last_id: 0, notifications: VecDeque::new(), greeting: Value::Null };
        let who = json!({"name": "test", "version": "1"});
        let greeting = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who});
        host.greeting = host.ask("initialize", greeting);
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        host
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends a line, whatever it is.
    pub(crate) fn send_line(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("not closed yet"), "{line}").expect("a server that reads");
    }

    /// Sends a request without waiting for its result; returns its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    /// Sends a request and returns its result.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let mut message = self.receive();
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
            self.notifications.push_back(message);
        }
    }

    /// Calls a tool and returns its whole result.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": args}))
    }

    /// Calls a tool that succeeds and returns its data.
    #[track_caller]
    pub(crate) fn data(&mut self, tool: &str, args: Value) -> Value {
        let mut result = self.call(tool, args);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].take()
    }

    pub(crate) fn tools(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("a list");
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// Waits for a notification.
    pub(crate) fn notified(&mut self, method: &str) {
        loop {
            let message = self.notifications.pop_front().unwrap_or_else(|| self.receive());
            if message["method"] == method {
                return;
            }
        }
    }

    /// Closes the server's input, as a host does that ends, and returns what it said on standard error.
    pub(crate) fn end(mut self) -> String {
        drop(self.input.take());
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
        let (mut rest, mut said) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).expect("text");
        for line in rest.lines() {
            serde_json::from_str::<Value>(line).expect("nothing but the protocol");
        }
        self.child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        said
    }

    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a server that writes");
        let message: Value = serde_json::from_str(&line).expect("nothing but the protocol on standard output");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
