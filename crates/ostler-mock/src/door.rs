//! The HTTP side of the endpoint: `/json/version`, and the upgrade to the browser's WebSocket.
//!
//! It behaves as Chromium's does (a foreign Host or any Origin is turned away, only the browser's own path is a
//! WebSocket) until the test says otherwise, and it can stop listening and come back on the same port.

use std::io::Cursor;
use std::net::Ipv4Addr;
use std::panic::Location;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncReadExt, Chain, Join, join};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_websockets::{Config, Limits, ServerBuilder, WebSocketStream};

use crate::http::{Request, answer};
use crate::server::PATIENCE;

/// A client's socket: the head that was read to route it is put back in front.
pub(crate) type Socket = Join<Chain<Cursor<Vec<u8>>, OwnedReadHalf>, OwnedWriteHalf>;
pub(crate) type WebSocket = WebSocketStream<Socket>;

/// What `GET /json/version` gets.
#[derive(Clone, Debug)]
pub enum Version {
    /// What Chromium answers: status 200, and where the WebSocket is.
    Normal,
    /// This status and body: 404 is a browser without the HTTP endpoint, 403 one that waits for the user's consent.
    Answer(u16, String),
}

/// What a WebSocket handshake gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// The connection opens.
    Accept,
    /// This status, and the end of the connection.
    Refuse(u16),
    /// No answer until the test changes this, as while Chrome's consent prompt waits.
    Hold,
}

/// The endpoint's HTTP side, which a test can change at any time.
#[derive(Debug)]
pub struct Door {
    port: AtomicU16,
    policy: watch::Sender<Policy>,
    opened: mpsc::UnboundedSender<WebSocket>,
    listening: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Clone, Debug)]
struct Policy {
    browser_id: String,
    version: Version,
    upgrade: Upgrade,
    /// Handshakes that wait for the test to decide.
    held: usize,
}

impl Door {
    /// Listens on `port` (0 takes a free one) and sends every opened WebSocket to the receiver.
    ///
    /// # Panics
    ///
    /// When the port is taken.
    pub(crate) async fn open(port: u16, browser_id: String) -> (Self, mpsc::UnboundedReceiver<WebSocket>) {
        let (opened, arrivals) = mpsc::unbounded_channel();
        let policy =
            watch::Sender::new(Policy { browser_id, version: Version::Normal, upgrade: Upgrade::Accept, held: 0 });
        let door = Self { port: AtomicU16::new(port), policy, opened, listening: Mutex::new(None) };
        door.listen().await;
        (door, arrivals)
    }

    /// Returns the port at 127.0.0.1; it stays the same when the door closes and opens again.
    pub fn port(&self) -> u16 {
        self.port.load(Ordering::Relaxed)
    }

    /// Returns the browser's UUID, which is the last part of the WebSocket's path.
    pub fn browser_id(&self) -> String {
        self.policy.borrow().browser_id.clone()
    }

    /// Returns the browser's WebSocket URL.
    pub fn ws_url(&self) -> String {
        format!("ws://127.0.0.1:{}{}", self.port(), self.policy.borrow().path())
    }

    /// Returns the DevTools HTTP endpoint.
    pub fn http_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port())
    }

    /// Chooses what `GET /json/version` gets from now on.
    pub fn set_version(&self, version: Version) {
        self.policy.send_modify(|policy| policy.version = version);
    }

    /// Chooses what a WebSocket handshake gets from now on, those that are being held included.
    pub fn set_upgrade(&self, upgrade: Upgrade) {
        self.policy.send_modify(|policy| policy.upgrade = upgrade);
    }

    /// Waits until just so many handshakes are being held.
    ///
    /// # Panics
    ///
    /// When that is not so within five seconds.
    #[track_caller]
    pub fn expect_held(&self, count: usize) -> impl Future<Output = ()> {
        let caller = Location::caller();
        let mut policy = self.policy.subscribe();
        async move {
            let held = policy.wait_for(|policy| policy.held == count);
            if timeout(PATIENCE, held).await.is_err() {
                panic!("{caller}: expected {count} held handshakes, but 5 s later it is not so");
            }
        }
    }

    /// Makes it another browser: the old WebSocket path is unknown from now on.
    pub fn set_browser_id(&self, browser_id: &str) {
        self.policy.send_modify(|policy| browser_id.clone_into(&mut policy.browser_id));
    }

    /// Stops listening: new connections are refused by the system. Returns once the port is free.
    pub async fn close(&self) {
        let listening = self.take_listening();
        if let Some(listening) = listening {
            listening.abort();
            let _ = listening.await;
        }
    }

    /// Listens again on the same port after [`close`](Self::close).
    ///
    /// # Panics
    ///
    /// When another program has taken the port meanwhile.
    pub async fn listen(&self) {
        self.close().await;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port()))
            .await
            .unwrap_or_else(|error| panic!("cannot listen on 127.0.0.1:{}: {error}", self.port()));
        let address = listener.local_addr().expect("a bound socket has an address");
        self.port.store(address.port(), Ordering::Relaxed);
        let (policy, opened) = (self.policy.clone(), self.opened.clone());
        let listening = tokio::spawn(listen(listener, policy, opened));
        *self.listening.lock().unwrap_or_else(PoisonError::into_inner) = Some(listening);
    }

    /// Stops listening without waiting for it, as a browser does that dies.
    pub(crate) fn slam(&self) {
        if let Some(listening) = self.take_listening() {
            listening.abort();
        }
    }

    fn take_listening(&self) -> Option<JoinHandle<()>> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.slam();
    }
}

impl Policy {
    fn path(&self) -> String {
        format!("/devtools/browser/{}", self.browser_id)
    }

    /// What Chromium writes; it repeats the Host it was called by.
    fn version_body(&self, host: &str) -> String {
        format!(
            "{{\n   \"Browser\": \"{PRODUCT}\",\n   \"Protocol-Version\": \"1.3\",\n   \"User-Agent\": \"{USER_AGENT}\",\n   \
             \"V8-Version\": \"15.6.75.63\",\n   \"webSocketDebuggerUrl\": \"ws://{host}{}\"\n}}\n",
            self.path()
        )
    }
}

/// What the mock calls itself, over HTTP and over CDP.
pub(crate) const PRODUCT: &str = "Chrome/156.0.0.0";
pub(crate) const USER_AGENT: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";

async fn listen(listener: TcpListener, policy: watch::Sender<Policy>, opened: mpsc::UnboundedSender<WebSocket>) {
    // Handshakes under way end with the door: the set aborts them when it is dropped.
    let mut handshakes = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        handshakes.spawn(shake_hands(stream, policy.clone(), opened.clone()));
        while handshakes.try_join_next().is_some() {}
    }
}

async fn shake_hands(mut stream: TcpStream, policy: watch::Sender<Policy>, opened: mpsc::UnboundedSender<WebSocket>) {
    let Some(request) = Request::read(&mut stream).await else {
        return;
    };
    if !request.has_local_host() {
        let why = "Host header is specified and is not an IP address or localhost.";
        return answer(&mut stream, 500, why).await;
    }
    if !request.wants_websocket() {
        return answer_get(&mut stream, &request, policy).await;
    }
    if request.header("origin").is_some() {
        return answer(&mut stream, 403, "Rejected an incoming WebSocket connection").await;
    }
    let (upgrade, path) = tokio::select! {
        decided = decide(&policy) => decided,
        () = gone(&stream) => return,
    };
    if let Upgrade::Refuse(status) = upgrade {
        return answer(&mut stream, status, "").await;
    }
    if request.path != path {
        return answer(&mut stream, 404, "").await;
    }
    let _ = stream.set_nodelay(true);
    let (reader, writer) = stream.into_split();
    let socket = join(Cursor::new(request.bytes).chain(reader), writer);
    // One frame per message, as Chromium sends them, and as much as Chromium takes.
    let server = ServerBuilder::new()
        .config(Config::default().frame_size(usize::MAX).flush_threshold(64 * 1024))
        .limits(Limits::default().max_payload_len(Some(LARGEST_COMMAND)));
    if let Ok((_, websocket)) = server.accept(socket).await {
        let _ = opened.send(websocket);
    }
}

/// Returns what a handshake gets and the path it must ask for, as soon as the test lets that be known.
async fn decide(policy: &watch::Sender<Policy>) -> (Upgrade, String) {
    let decided = |policy: &Policy| (policy.upgrade, policy.path());
    let now = decided(&policy.borrow());
    if now.0 != Upgrade::Hold {
        return now;
    }
    let _held = Held::count(policy);
    let mut changes = policy.subscribe();
    let later = changes.wait_for(|policy| policy.upgrade != Upgrade::Hold).await;
    // The sender is ours to look at, so the channel is open and there is always an answer.
    later.map_or(now, |policy| decided(&policy))
}

/// Returns once the client has left, or never if it says anything more.
async fn gone(stream: &TcpStream) {
    if let Ok(1..) = stream.peek(&mut [0]).await {
        std::future::pending().await
    }
}

/// Counts one held handshake for as long as it is held, whichever way that ends.
struct Held<'a>(&'a watch::Sender<Policy>);

impl<'a> Held<'a> {
    fn count(policy: &'a watch::Sender<Policy>) -> Self {
        policy.send_modify(|policy| policy.held += 1);
        Self(policy)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|policy| policy.held -= 1);
    }
}

async fn answer_get(stream: &mut TcpStream, request: &Request, policy: watch::Sender<Policy>) {
    let policy = policy.borrow().clone();
    match (request.path.trim_end_matches('/'), &policy.version) {
        ("/json/version", Version::Normal) => {
            let body = policy.version_body(request.header("host").unwrap_or_default());
            answer(stream, 200, &body).await;
        }
        ("/json/version", Version::Answer(status, body)) => answer(stream, *status, body).await,
        _ => answer(stream, 404, "").await,
    }
}

/// Chromium takes 99 MiB and drops the connection at 100.
const LARGEST_COMMAND: usize = 100 * 1024 * 1024 - 1;
