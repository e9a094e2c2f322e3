//! Headers of `browser.headers` go with the version page and the handshake, and are shown nowhere.

mod sandbox;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use sandbox::{Ran, Sandbox};

#[test]
fn both_requests_carry_the_headers_of_the_file_and_no_output_does() {
    let sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    let (asked, heads) = mpsc::channel();
    // Ends with the test's process.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a client");
            let mut head = vec![0; 4096];
            let length = stream.read(&mut head).expect("a request");
            let head = String::from_utf8_lossy(&head[..length]).to_lowercase();
            let version = r#"{"Browser": "Chrome/156", "webSocketDebuggerUrl": "ws://x/devtools/browser/1"}"#;
            let answer = match head.contains("/json/version") {
                true => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{version}", version.len()),
                false => "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".to_owned(),
            };
            stream.write_all(answer.as_bytes()).expect("a client that reads");
            // A mere probe of the port says nothing.
            if length > 0 {
                asked.send(head).expect("the test waits");
            }
        }
    });
    let config = format!("browser:\n  cdp_url: http://127.0.0.1:{port}\n  headers:\n    X-Key: S3CRET\n");
    fs::write(sandbox.home().join("config.yaml"), config).expect("a configuration");
    let ran = Ran::of(sandbox.ostler(&["js", "1"]).env_remove("BU_CDP_WS").env("OSTLER_LOG", "trace"));
    ran.assert_failed(1, &["401"]);
    let (page, handshake) = (heads.recv().expect("the version page"), heads.recv().expect("the handshake"));
    assert!(page.contains("/json/version") && page.contains("x-key: s3cret"), "{page}");
    assert!(handshake.contains("upgrade: websocket") && handshake.contains("x-key: s3cret"), "{handshake}");
    let log = fs::read_to_string(sandbox.log()).expect("a log");
    for text in [&ran.stderr, &ran.stdout, &log] {
        assert!(!text.contains("S3CRET"), "{text}");
    }
}
