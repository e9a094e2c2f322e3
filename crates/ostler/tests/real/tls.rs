//! Browsers behind TLS: an `https` endpoint, `wss`, and what can be in the way of either.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConnection, StreamOwned};
use serde_json::Value;

use super::browser::Chromium;
use super::cloud_service::{BROWSER_USE_KEY, CloudService};
use super::sandbox::{Ran, Sandbox};
use super::site::tls_config;

/// What the server does with a request.
#[derive(Clone)]
enum Answer {
    /// Passes everything on to a port of this machine and back.
    Pass(u16),
    /// Says this and closes.
    Say(String),
    /// Takes the request and says nothing.
    Wait,
}

/// A server that proves itself with a certificate of `authority.pem`. It ends with the test's process.
struct Secure {
    port: u16,
}

impl Secure {
    fn start(answer: Answer) -> Self {
        let config = tls_config(include_bytes!("../tls/signed.pem"), include_bytes!("../tls/signed-key.pem"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound address").port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, answer) = (Arc::clone(&config), answer.clone());
                std::thread::spawn(move || {
                    let connection = ServerConnection::new(config).expect("a configuration without faults");
                    serve(StreamOwned::new(connection, stream), &answer);
                });
            }
        });
        Self { port }
    }

    /// Returns how errors name it.
    fn label(&self) -> String {
        format!("localhost:{}", self.port)
    }

    fn url(&self, scheme: &str, rest: &str) -> String {
        format!("{scheme}://localhost:{}{rest}", self.port)
    }
}

fn serve(mut client: StreamOwned<ServerConnection, TcpStream>, answer: &Answer) {
    match answer {
        Answer::Pass(port) => pass(client, *port),
        Answer::Say(text) => {
            // A client that went away in the middle is no failure of the test.
            let _ = client.read(&mut [0; 4096]).and_then(|_| client.write_all(text.as_bytes()));
            client.conn.send_close_notify();
            let _ = client.flush();
        }
        Answer::Wait => while matches!(client.read(&mut [0; 4096]), Ok(1..)) {},
    }
}

/// One thread for both ways, since they share one TLS session: each is read for a moment in turn.
fn pass(mut client: StreamOwned<ServerConnection, TcpStream>, port: u16) {
    let Ok(mut browser) = TcpStream::connect(("127.0.0.1", port)) else { return };
    let moment = Some(Duration::from_millis(2));
    client.sock.set_read_timeout(moment).and_then(|()| browser.set_read_timeout(moment)).expect("sockets");
    while copy(&mut client, &mut browser) && copy(&mut browser, &mut client) {}
    let _ = browser.shutdown(Shutdown::Both);
    client.conn.send_close_notify();
    let _ = client.flush();
}

/// Copies what is there; returns whether more may come.
fn copy(from: &mut impl Read, to: &mut impl Write) -> bool {
    let mut part = [0; 65_536];
    match from.read(&mut part) {
        Ok(0) => false,
        Ok(length) => to.write_all(&part[..length]).and_then(|()| to.flush()).is_ok(),
        Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

/// Runs a command in a daemon that trusts the authority, or only what the system trusts.
fn run(sandbox: &Sandbox, trusting: bool, args: &[&str]) -> Ran {
    let mut command = sandbox.ostler(args);
    command.env_remove("BU_CDP_WS").env("BROWSER_USE_API_KEY", BROWSER_USE_KEY);
    if trusting {
        let authority = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls/authority.pem");
        command.env("SSL_CERT_FILE", authority);
    }
    Ran::of(&mut command)
}

#[test]
fn a_browser_behind_https_and_wss_is_driven() {
    let chromium = Chromium::start();
    let server = Secure::start(Answer::Pass(chromium.port()));
    let path = chromium.websocket_url();
    let path = &path[path.find("/devtools").expect("a path")..];
    for url in [server.url("https", ""), server.url("wss", path)] {
        let sandbox = Sandbox::new();
        run(&sandbox, true, &["connect", &url]).assert_done();
        let ran = run(&sandbox, true, &["js", "'x'.repeat(300000).length"]);
        ran.assert_done();
        assert_eq!(ran.stdout, "300000\n");
        sandbox.run(&["stop"]).assert_done();
    }
}

#[test]
fn a_cloud_browser_whose_address_is_https_is_driven_and_stopped() {
    let chromium = Chromium::start();
    let server = Secure::start(Answer::Pass(chromium.port()));
    let service = CloudService::with_browser_at(&server.url("https", ""));
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.home().join("config.yaml"), service.config("", "")).expect("a file");
    let ran = run(&sandbox, true, &["connect", "--json", "--cloud", "browser-use"]);
    ran.assert_done();
    let reply: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(reply["task"]["browser_kind"], "cloud");
    let ran = run(&sandbox, true, &["js", "6*7"]);
    assert_eq!(ran.stdout, "42\n", "{ran:?}");
    run(&sandbox, true, &["stop"]).assert_done();
    assert_eq!(service.created_and_stops(), (1, vec![1]));
}

#[test]
fn what_is_in_the_way_of_a_browser_behind_tls_is_said_in_its_own_sentence() {
    let say = |status: &str, more: &str| Answer::Say(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n{more}\r\n"));
    // Whoever followed it would send the token to another host.
    let elsewhere = "Location: https://127.0.0.1:1/json/version?token=S3CRET\r\n";
    for (answer, scheme, rest, said) in [
        (
            say("302 Found", elsewhere),
            "https",
            "/?token=S3CRET",
            "is no DevTools endpoint: it leads elsewhere (302), and a key must not go along",
        ),
        (
            say("401 Unauthorized", ""),
            "https",
            "/?token=S3CRET",
            "refused access with status 401: check the token or key",
        ),
        (say("404 Not Found", ""), "https", "/?token=S3CRET", "is no DevTools endpoint: it answered with status 404"),
        (Answer::Wait, "https", "/?token=S3CRET", "took the connection but did not answer in time"),
        (say("302 Found", elsewhere), "wss", "/x?token=S3CRET", "the WebSocket handshake failed"),
        (say("401 Unauthorized", ""), "wss", "/x?token=S3CRET", "refused the connection (401): "),
        (
            say("404 Not Found", ""),
            "wss",
            "/x?token=S3CRET",
            "is not the address of a browser that runs now (404): give its new one",
        ),
    ] {
        let server = Secure::start(answer);
        let sandbox = Sandbox::new();
        let ran = run(&sandbox, true, &["connect", &server.url(scheme, rest)]);
        ran.assert_failed(1, &[&server.label(), said]);
        assert!(!ran.stderr.contains("S3CRET"), "{}", ran.stderr);
        if !said.contains("in time") {
            assert!(!ran.stderr.contains("try again in"), "it does not pass: {}", ran.stderr);
        }
        sandbox.run(&["stop"]).assert_done();
    }
}

#[test]
fn a_certificate_of_an_unknown_authority_is_not_believed_and_not_asked_again_and_again() {
    let server = Secure::start(Answer::Wait);
    for (scheme, rest) in [("https", ""), ("wss", "/devtools/browser/x")] {
        let sandbox = Sandbox::new();
        let ran = run(&sandbox, false, &["connect", &server.url(scheme, rest)]);
        ran.assert_failed(1, &[&server.label(), "UnknownIssuer", "SSL_CERT_FILE"]);
        assert!(!ran.stderr.contains("try again in"), "{}", ran.stderr);
        sandbox.run(&["stop"]).assert_done();
    }
}
