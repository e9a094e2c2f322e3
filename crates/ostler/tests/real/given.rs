//! A browser behind a URL that somebody gave: with headers, and with a key that expires.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use super::browser::Chromium;
use super::line::Line;
use super::sandbox::{Ran, Sandbox, wait_until};

/// Stands before a browser as a service does: wants a header, and refuses everybody once its time is over.
#[derive(Clone)]
struct Gate {
    port: u16,
    /// The status that everybody gets; 0 lets them through.
    refusal: Arc<AtomicU16>,
    knocks: Arc<AtomicUsize>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Gate {
    fn before(browser: u16, header: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound address").port();
        let gate = Self { port, refusal: Arc::default(), knocks: Arc::default(), open: Arc::default() };
        let opened = gate.clone();
        // Ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let gate = opened.clone();
                std::thread::spawn(move || gate.serve(&stream, browser, header));
            }
        });
        gate
    }

    /// Cuts every connection, and refuses new ones from now on.
    fn close(&self, status: u16) {
        self.refusal.store(status, Ordering::SeqCst);
        for stream in self.open.lock().expect("no panic holds it").drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn knocks(&self) -> usize {
        self.knocks.load(Ordering::SeqCst)
    }

    fn serve(&self, client: &TcpStream, browser: u16, header: &str) {
        let mut reader = BufReader::new(client.try_clone().expect("a second handle"));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(reader.read_line(&mut head), Ok(1..)) {
                return;
            }
        }
        self.knocks.fetch_add(1, Ordering::SeqCst);
        let mut refusal = self.refusal.load(Ordering::SeqCst);
        if !head.to_ascii_lowercase().contains(&header.to_ascii_lowercase()) {
            refusal = 401;
        }
        let mut client = client;
        if refusal != 0 {
            let _ = client.write_all(
                format!("HTTP/1.1 {refusal} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes(),
            );
            return;
        }
        let Ok(mut upstream) = TcpStream::connect(("127.0.0.1", browser)) else { return };
        upstream.write_all(head.as_bytes()).expect("a browser that reads");
        let mut open = self.open.lock().expect("no panic holds it");
        open.extend([client.try_clone(), upstream.try_clone()].into_iter().flatten());
        drop(open);
        let mut down = (upstream.try_clone().expect("a second handle"), client.try_clone().expect("a second handle"));
        std::thread::spawn(move || pipe(&mut down.0, &mut down.1));
        pipe(&mut reader, &mut upstream);
    }
}

fn pipe(from: &mut impl std::io::Read, to: &mut TcpStream) {
    let mut chunk = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        if to.write_all(&chunk[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn headers_of_the_configuration_go_with_its_url_and_with_no_other() {
    let (sandbox, chromium) = (Sandbox::new(), Chromium::start());
    let gate = Gate::before(chromium.port(), "x-service-key: S3CRET-header");
    let url = format!("http://127.0.0.1:{}", gate.port);
    let config = format!("browser:\n  cdp_url: {url}\n  headers:\n    X-Service-Key: S3CRET-header\n");
    std::fs::write(sandbox.home().join("config.yaml"), config).expect("a file");
    let mut command = sandbox.ostler(&["js", "6 * 7"]);
    let ran = Ran::of(command.env_remove("BU_CDP_WS"));
    ran.assert_done();
    assert_eq!(ran.stdout, "42\n");

    // The same address, but named by somebody who did not say that the header may go there.
    let ran =
        Ran::of(sandbox.ostler(&["connect", "--task", "other", &format!("{url}/?other")]).env_remove("BU_CDP_WS"));
    ran.assert_failed(1, &["refused access with status 401", "ostler connect -"]);
    sandbox.run(&["stop"]).assert_done();
}

#[test]
fn what_takes_connections_and_answers_nothing_is_told_as_that_within_seconds() {
    let sandbox = Sandbox::new();
    // The system takes the connections, and nobody ever reads them.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    for (path, words) in [
        (format!("ws://127.0.0.1:{port}/"), "takes the connection and answers nothing"),
        (format!("ws://127.0.0.1:{port}/devtools/browser/x"), "takes the connection and answers nothing"),
        (format!("http://127.0.0.1:{port}"), "took the connection but did not answer"),
    ] {
        let began = Instant::now();
        let ran = Ran::of(sandbox.ostler(&["connect", &path]).env_remove("BU_CDP_WS"));
        ran.assert_failed(1, &[words, "host and port are right"]);
        assert!(!ran.stderr.contains("Allow"), "nobody is asked there: {ran:?}");
        assert!(began.elapsed() < Duration::from_secs(20), "{path}: {:?}", began.elapsed());
    }
}

#[test]
fn a_url_that_has_expired_is_not_dialled_again_until_a_fresh_one_is_given() {
    for refusal in [401, 403, 410] {
        let (sandbox, chromium) = (Sandbox::new(), Chromium::start());
        let gate = Gate::before(chromium.port(), "host:");
        let given = chromium.websocket_url().replace(&chromium.port().to_string(), &gate.port.to_string());
        let signed = format!("{given}?signature=S3CRET-1");
        Ran::of(sandbox.ostler(&["connect", &signed]).env_remove("BU_CDP_WS")).assert_done();
        let mut line = Line::connect(&sandbox.socket());
        assert_eq!(line.js("1 + 1"), 2);

        gate.close(refusal);
        let evaluate = json!({"method": "Runtime.evaluate", "params": {"expression": "1"}});
        let mut said = String::new();
        wait_until("it is refused", || {
            said = line.ask(evaluate.clone())["error"].as_str().unwrap_or_default().to_owned();
            said.contains(&refusal.to_string())
        });
        assert!(said.contains("ostler connect -") && !said.contains("S3CRET"), "{said}");
        let knocks = gate.knocks();
        for _ in 0..20 {
            assert_eq!(line.ask(evaluate.clone())["error_code"], "browser_gone");
        }
        assert_eq!(gate.knocks(), knocks, "whoever tries an expired key again and again is locked out");

        gate.refusal.store(0, Ordering::SeqCst);
        let fresh = format!("{given}?signature=S3CRET-2");
        Ran::of(sandbox.ostler(&["connect", &fresh]).env_remove("BU_CDP_WS")).assert_done();
        assert_eq!(line.js("1 + 1"), 2);
        let log = std::fs::read_to_string(sandbox.log()).expect("a log");
        assert!(!log.contains("S3CRET"), "{log}");
    }
}
