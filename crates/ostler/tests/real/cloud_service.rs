//! A cloud service on this machine: it keeps every request, refuses what the real ones would, and has a real browser.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use serde_json::{Value, json};

/// The keys that it knows. Nothing else of a request is secret unless a test makes it so.
pub(crate) const BROWSER_USE_KEY: &str = "bu_S3CRET-key-of-browser-use";
pub(crate) const BROWSERBASE_KEY: &str = "bb_S3CRET-key-of-browserbase";
/// The part of the live URL that must not be seen by anybody but who asked for the browser.
pub(crate) const LIVE: &str = "S3CRET-live";

/// Both services in one server: `/bu` speaks as Browser Use, `/bb` as Browserbase.
#[derive(Clone)]
pub(crate) struct CloudService {
    port: u16,
    shared: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    /// Where the browser behind it is.
    address: String,
    seen: Vec<Request>,
    /// How often each browser was told to stop.
    stops: BTreeMap<String, usize>,
    /// Answers for requests of a kind, before those that it would give by itself.
    prepared: Vec<(String, u16, String)>,
    /// Requests for a browser are answered later.
    holding: bool,
    /// The address of a new browser is told only to whoever asks again.
    address_later: bool,
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str, body: Value) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), body }
    }
}

impl CloudService {
    /// Starts with the address that its browsers are to have.
    pub(crate) fn with_browser_at(address: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound address").port();
        let state = State { address: address.to_owned(), ..State::default() };
        let service = Self { port, shared: Arc::new((Mutex::new(state), Condvar::new())) };
        let served = service.clone();
        // Ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let service = served.clone();
                std::thread::spawn(move || service.serve(stream));
            }
        });
        service
    }

    /// Returns `config.yaml` for ostler, with `more` under each service's key.
    pub(crate) fn config(&self, browser_use: &str, browserbase: &str) -> String {
        let base = format!("http://127.0.0.1:{}", self.port);
        format!(
            "cloud:\n  browser_use:\n    api_base: {base}/bu\n{browser_use}  browserbase:\n    api_base: {base}/bb\n{browserbase}"
        )
    }

    /// Answers the next request of this method and path beginning in another way.
    pub(crate) fn prepare(&self, request: &str, status: u16, body: &str) {
        self.state().prepared.push((request.to_owned(), status, body.to_owned()));
    }

    /// Leaves requests for a browser without an answer from now on, or lets them through.
    pub(crate) fn hold(&self, holding: bool) {
        self.state().holding = holding;
        self.shared.1.notify_all();
    }

    pub(crate) fn tell_address_later(&self) {
        self.state().address_later = true;
    }

    pub(crate) fn set_address(&self, address: &str) {
        self.state().address = address.to_owned();
    }

    /// Returns every request so far.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.state().seen.clone()
    }

    /// Returns how many browsers were asked for and how often each of those that there are was stopped.
    pub(crate) fn created_and_stops(&self) -> (usize, Vec<usize>) {
        let state = self.state();
        (state.stops.len(), state.stops.values().copied().collect())
    }

    /// Adds a browser and returns the answer that tells of it.
    pub(crate) fn new_browser(&self) -> String {
        let id = self.add_browser();
        let address = self.state().address.clone();
        Self::describe("bu", &id, &json!(address))
    }

    /// Adds a browser that somebody else asked for.
    pub(crate) fn add_browser(&self) -> String {
        let mut state = self.state();
        let id = format!("3c90c3cc-{:04}", state.stops.len());
        state.stops.insert(id.clone(), 0);
        id
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().expect("no test thread panics with the lock")
    }

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(&stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if !matches!(reader.read_line(&mut line), Ok(1..)) {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let header = |name: &str| {
            let found = lines[1..].iter().filter_map(|line| line.split_once(": "));
            found.filter(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).next()
        };
        let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let mut words = lines[0].split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (status, answer) = self.answer(method, path, &body, &header);
        let mut stream = &stream;
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            answer.len()
        );
        let _ = stream.write_all((head + &answer).as_bytes());
    }

    /// Does what the services do: refuses a wrong key, a wrong body and a wrong path, and keeps what was right.
    fn answer(&self, method: &str, path: &str, body: &[u8], header: &dyn Fn(&str) -> Option<String>) -> (u16, String) {
        let (key, expected) = match path.get(..3) {
            Some("/bu") => (header("x-browser-use-api-key"), BROWSER_USE_KEY),
            Some("/bb") => (header("x-bb-api-key"), BROWSERBASE_KEY),
            _ => return (404, json!({"detail": "no such path"}).to_string()),
        };
        let has_body = method != "GET";
        let body = if has_body {
            if header("content-type").as_deref() != Some("application/json") {
                return (415, json!({"detail": "no JSON"}).to_string());
            }
            match serde_json::from_slice(body) {
                Ok(body) => body,
                Err(_) => return (422, json!({"detail": "no JSON"}).to_string()),
            }
        } else {
            Value::Null
        };
        let mut state = self.state();
        state.seen.push(Request { method: method.to_owned(), path: path.to_owned(), body: body.clone() });
        if key.as_deref() != Some(expected) {
            return (401, json!({"detail": "Invalid API key"}).to_string());
        }
        let request = format!("{method} {path}");
        if let Some(at) = state.prepared.iter().position(|(begin, ..)| request.starts_with(begin.as_str())) {
            let (_, status, body) = state.prepared.remove(at);
            return (status, body);
        }
        let parts: Vec<_> = path.trim_matches('/').split('/').collect();
        match (method, &parts[..]) {
            ("POST", ["bu", "browsers"] | ["bb", "sessions"]) => {
                while state.holding {
                    state = self.shared.1.wait(state).expect("no test thread panics with the lock");
                }
                let id = format!("3c90c3cc-{:04}", state.stops.len());
                state.stops.insert(id.clone(), 0);
                let told = if state.address_later { json!(null) } else { json!(state.address) };
                (201, Self::describe(parts[0], &id, &told))
            }
            ("GET", ["bu", "browsers", id]) if state.stops.contains_key(*id) => {
                (200, Self::describe("bu", id, &json!(state.address)))
            }
            ("GET", ["bb", "sessions", id, "debug"]) if state.stops.contains_key(*id) => {
                (200, json!({"debuggerFullscreenUrl": format!("https://live.example/{LIVE}")}).to_string())
            }
            ("PATCH", ["bu", "browsers", id]) if body == json!({"action": "stop"}) => Self::stop(&mut state, id),
            ("POST", ["bb", "sessions", id]) if body["status"] == "REQUEST_RELEASE" => Self::stop(&mut state, id),
            _ => (404, json!({"detail": "Session not found"}).to_string()),
        }
    }

    fn describe(service: &str, id: &str, address: &Value) -> String {
        match service {
            "bu" => json!({"id": id, "status": "active", "cdpUrl": address, "timeoutAt": "2030-01-01T00:00:00Z",
                "liveUrl": format!("https://live.example/?wss={LIVE}")}),
            _ => json!({"id": id, "status": "RUNNING", "connectUrl": address, "projectId": "p"}),
        }
        .to_string()
    }

    fn stop(state: &mut State, id: &str) -> (u16, String) {
        *state.stops.entry(id.to_owned()).or_default() += 1;
        (200, json!({"id": id, "status": "stopped"}).to_string())
    }
}

/// Stands where a browser was, and says that it knows no such browser.
pub(crate) struct Gone;

impl Gone {
    /// Ends with the test's process.
    pub(crate) fn at(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("a port that was just left");
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = [0; 4096];
                if matches!(stream.read(&mut request), Ok(1..)) {
                    let _ = stream.write_all(b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                }
            }
        });
        Self
    }
}
