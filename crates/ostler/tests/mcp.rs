//! `ostler mcp` at the wire, without a browser: what is offered when, what is cancelled, and who is turned away.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod host;
mod sandbox;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};
use std::sync::mpsc;

use host::Host;
use sandbox::{NO_BROWSER, Sandbox};
use serde_json::json;

const GATED: [&str; 2] = ["browser_cdp", "browser_dialog"];

#[test]
fn a_host_is_told_who_we_are_and_how_dialogs_go() {
    let sandbox = Sandbox::new();
    let host = Host::start(&mut sandbox.ostler(&["mcp"]));
    assert_eq!(host.greeting["serverInfo"]["name"], "ostler");
    assert_eq!(host.greeting["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(host.greeting["capabilities"]["tools"]["listChanged"], true);
    let instructions = host.greeting["instructions"].as_str().unwrap();
    for word in ["browser_dialog", "dialog_open", "prompt_text", "browser_snapshot"] {
        assert!(instructions.contains(word), "{instructions}");
    }
    assert_eq!(host.end(), "");
}

#[test]
fn tools_that_need_a_browser_come_and_go_with_it() {
    let sandbox = Sandbox::new();
    let place = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("ws://{place}/devtools/browser/x");
    let mut host = Host::start(sandbox.ostler(&["mcp"]).env("BU_CDP_WS", url));
    let has_gated = |tools: &[String]| GATED.map(|gated| tools.iter().any(|tool| tool == gated));

    let without = host.tools();
    assert_eq!(has_gated(&without), [false; 2]);
    assert!(without.iter().any(|tool| tool == "browser_navigate"), "{without:?}");

    let browser = TcpListener::bind(place).unwrap();
    host.notified("notifications/tools/list_changed");
    assert_eq!(has_gated(&host.tools()), [true; 2]);

    drop(browser);
    host.notified("notifications/tools/list_changed");
    assert_eq!(has_gated(&host.tools()), [false; 2]);
    assert_eq!(host.end(), "");
}

#[test]
fn code_is_run_for_those_hosts_alone_whose_user_asked_for_it() {
    let sandbox = Sandbox::new();
    let script = json!({"script": "print(6 * 7)"});
    let mut host = Host::start(&mut sandbox.ostler(&["mcp"]));
    assert!(!host.tools().iter().any(|tool| tool == "browser_run"));
    let refused = host.call("browser_run", script.clone());
    assert_eq!(refused["structuredContent"]["error_code"], "bad_request", "{refused}");
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("--toolset scripts"), "{refused}");
    host.end();

    let mut host = Host::start(&mut sandbox.ostler(&["mcp", "--toolset", "scripts"]));
    assert!(host.tools().iter().any(|tool| tool == "browser_run"));
    assert_eq!(host.data("browser_run", script)["stdout"], "42\n");
    host.end();
}

#[test]
fn what_cannot_be_done_is_the_tools_own_error() {
    let sandbox = Sandbox::new();
    let mut host = Host::start(&mut sandbox.ostler(&["mcp"]));
    for (tool, args, code, words) in [
        ("browser_nothing", json!({}), "bad_request", "the tools are: browser_navigate"),
        ("browser_navigate", json!({"uri": "x"}), "bad_request", "has no argument `uri`; it takes new_tab, url"),
        ("browser_cdp", json!({"method": "Page.reload"}), "browser_gone", "127.0.0.1:1"),
    ] {
        let result = host.call(tool, args);
        assert_eq!([&result["isError"], &result["structuredContent"]["error_code"]], [&json!(true), &json!(code)]);
        let sentence = result["content"][0]["text"].as_str().unwrap();
        assert!(sentence.contains(words), "{sentence}");
        assert_eq!(result["structuredContent"]["error"], sentence);
    }
    host.end();
}

#[test]
fn a_stopped_daemon_stays_stopped_until_there_is_work() {
    let sandbox = Sandbox::new();
    let mut host = Host::start(&mut sandbox.ostler(&["mcp"]));
    host.call("browser_tabs", json!({"action": "list"}));
    sandbox.run(&["stop"]).assert_done();
    host.tools();
    assert_eq!(sandbox.daemons_that_listened(), 1, "looking starts none");
    let result = host.call("browser_tabs", json!({"action": "list"}));
    assert_eq!((&result["isError"], sandbox.daemons_that_listened()), (&json!(false), 2), "{result}");
    host.end();
}

#[test]
fn a_cancelled_call_ends_in_the_daemon_and_the_next_one_is_answered() {
    let sandbox = Sandbox::new();
    let ended = daemon_that_hangs(&sandbox);
    let mut host = Host::start(sandbox.ostler(&["mcp"]).env_remove("BU_CDP_WS"));
    let id = host.begin("tools/call", json!({"name": "browser_hang", "arguments": {}}));
    assert_eq!(ended.recv().unwrap(), "asked");
    let cancel = json!({"requestId": id, "reason": "enough"});
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel}));
    assert_eq!(ended.recv().unwrap(), "gone");
    assert_eq!(host.call("browser_tabs", json!({}))["content"][0]["text"], "answered");
}

/// Plays a daemon: `browser_hang` gets no answer, all else does. Tells when that was asked, and when its asker left.
fn daemon_that_hangs(sandbox: &Sandbox) -> mpsc::Receiver<&'static str> {
    let listener = UnixListener::bind(sandbox.socket()).unwrap();
    let (tell, told) = mpsc::channel();
    // Ends with the test's process.
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, tell) = (client.unwrap(), tell.clone());
            std::thread::spawn(move || {
                let mut hangs = false;
                for line in BufReader::new(client.try_clone().unwrap()).lines().map_while(Result::ok) {
                    let reply = match line {
                        line if line.contains("browser_hang") => {
                            hangs = true;
                            tell.send("asked").unwrap();
                            continue;
                        }
                        line if line.contains("\"unlike\"") => continue,
                        line if line.contains("\"tool\"") => r#"{"result":{"text":"answered","data":{}}}"#,
                        _ => r#"{"pong":true,"pid":7,"reachable":true}"#,
                    };
                    writeln!(client, "{reply}").unwrap();
                }
                if hangs {
                    tell.send("gone").unwrap();
                }
            });
        }
    });
    told
}

#[test]
fn over_http_only_those_get_in_who_have_the_token_and_come_from_here() {
    let sandbox = Sandbox::new();
    let server = Http::start(&sandbox);
    let (place, token) = (&server.place, &server.token);
    let bearer = format!("Authorization: Bearer {token}");
    let here = format!("Host: {place}");
    let port = place.split_once(':').unwrap().1;
    for (headers, status) in [
        (vec![&*here], 401),
        (vec![&here, "Authorization: Bearer 0123456789abcdef0123456789abcdef"], 401),
        (vec![&format!("Host: evil.example:{port}"), &bearer], 403),
        (vec![&here, &bearer, "Origin: https://evil.example"], 403),
        (vec![&here, &bearer, "Origin: null"], 403),
        (vec![&here, &bearer, &format!("Origin: http://{place}")], 200),
        (vec![&here, &bearer], 200),
        (vec![&format!("Host: localhost:{port}"), &bearer], 200),
    ] {
        let answer = server.post("/mcp", &headers);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{headers:?}: {answer}");
        assert!(!answer.contains(token.as_str()), "{answer}");
    }
    assert!(server.post("/other", &[&here, &bearer]).starts_with("HTTP/1.1 404 "));
}

#[test]
fn only_a_loopback_address_is_listened_on() {
    let sandbox = Sandbox::new();
    for address in ["0.0.0.0:0", "192.168.0.1:80", "[::]:0", "8931"] {
        let ran = sandbox.run(&["mcp", "--http", address]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("127.0.0.1:8931"), "{ran:?}");
    }
}

/// `ostler mcp --http` on a free port.
struct Http {
    child: Child,
    place: String,
    token: String,
}

impl Http {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.ostler(&["mcp", "--http", "127.0.0.1:0"]);
        command.env("BU_CDP_WS", NO_BROWSER).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        let place = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();
        let token = std::fs::read_to_string(sandbox.home().join("mcp-token")).unwrap().trim().to_owned();
        assert!(said.contains("mcp-token") && !said.contains(&token), "{said}");
        Self { child, place, token }
    }

    /// Sends a greeting and returns the answer.
    fn post(&self, path: &str, headers: &[&str]) -> String {
        let who = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
        self.send(path, headers, &body)
    }

    fn send(&self, path: &str, headers: &[&str], body: &str) -> String {
        let headers = headers.join("\r\n");
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let mut stream = TcpStream::connect(&self.place).unwrap();
        // What is too long is not read to its end.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_line_that_cannot_be_read_is_answered_and_the_next_one_works() {
    let sandbox = Sandbox::new();
    let mut host = Host::start(&mut sandbox.ostler(&["mcp"]));
    host.send_line("not json");
    let refused = host.receive();
    assert_eq!([&refused["id"], &refused["error"]["code"]], [&json!(null), &json!(-32700)], "{refused}");
    host.send_line(
        r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"x","arguments":{"a":"\ud800"}}}"#,
    );
    let refused = host.receive();
    assert_eq!([&refused["id"], &refused["error"]["code"]], [&json!(77), &json!(-32700)], "{refused}");
    for (line, code) in [
        (r#"{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":5}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":78,"method":"prompts/get","params":{"name":"x"}}"#, -32601),
    ] {
        host.send_line(line);
        let refused = host.receive();
        assert_eq!([&refused["id"], &refused["error"]["code"]], [&json!(78), &json!(code)], "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(' '), "a sentence: {refused}");
    }
    host.send_line(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#);
    let refused = host.receive();
    assert_eq!(refused["error"]["code"], -32600);
    assert_eq!(refused.get("id"), Some(&json!(null)), "it is there, and null: {refused}");
    assert!(!host.tools().is_empty());
    assert_eq!(host.end(), "");
}

#[test]
fn over_http_a_message_that_cannot_be_read_is_answered_as_over_standard_input() {
    let sandbox = Sandbox::new();
    let server = Http::start(&sandbox);
    let headers = [format!("Host: {}", server.place), format!("Authorization: Bearer {}", server.token)];
    for (body, status, answer) in [
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"\ud800"}}"#, 400, r#""id":5"#),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"\ud800"}}"#, 400, r#""code":-32700"#),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, r#""id":null"#),
        (r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}}"#, 200, r#""code":-32602"#),
        (r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#, 400, r#"tools/list came before \"initialize\""#),
    ] {
        let answered = server.send("/mcp", &headers.each_ref().map(String::as_str), body);
        assert!(answered.starts_with(&format!("HTTP/1.1 {status} ")), "{body}: {answered}");
        assert!(answered.contains(answer), "{body}: {answered}");
    }
    let huge = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{"a":"{}"}}}}"#, "x".repeat(5 << 20));
    let answered = server.send("/mcp", &headers.each_ref().map(String::as_str), &huge);
    assert!(answered.starts_with("HTTP/1.1 413 "), "{answered}");
}
