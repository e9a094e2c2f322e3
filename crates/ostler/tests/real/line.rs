//! A client of the line protocol.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) struct Line {
    stream: BufReader<UnixStream>,
}

impl Line {
    pub(crate) fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("a daemon that listens");
        // Longer than any request may take: a hang fails the test instead of holding it for ever.
        stream.set_read_timeout(Some(Duration::from_secs(180))).expect("a socket option");
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn send(&mut self, request: &Value) {
        self.send_raw(request.to_string().as_bytes());
    }

    pub(crate) fn send_raw(&mut self, line: &[u8]) {
        let stream = self.stream.get_mut();
        stream.write_all(line).and_then(|()| stream.write_all(b"\n")).expect("a daemon that reads");
    }

    pub(crate) fn receive_raw(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("an answer within three minutes");
        line
    }

    pub(crate) fn receive(&mut self) -> Value {
        serde_json::from_str(&self.receive_raw()).expect("one JSON object")
    }

    /// Sends one request and returns its answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, request: Value) -> Value {
        self.send(&request);
        self.receive()
    }

    /// Makes a CDP call on the current tab and returns its result.
    #[track_caller]
    pub(crate) fn cdp(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(json!({"method": method, "params": params}));
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Evaluates an expression in the current tab and returns its value.
    #[track_caller]
    pub(crate) fn js(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        self.cdp("Runtime.evaluate", params)["result"]["value"].clone()
    }

    pub(crate) fn state(&mut self) -> Value {
        self.ask(json!({"meta": "state"}))["state"].clone()
    }
}
