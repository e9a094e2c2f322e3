//! Asks a port whether it is a DevTools server: one bounded `GET /json/version`.

use std::io;
use std::time::Duration;

use serde::Deserialize;
use ureq::http::Uri;

use super::address::Address;
use super::error::EndpointError;
use super::http;

/// The longest reply that is read. Chromium's is about 450 bytes.
const MAX_REPLY: u64 = 64 * 1024;

/// How long the other side may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// To take the connection.
    pub(super) connect: Duration,
    /// For everything, connecting included.
    pub(super) total: Duration,
}

impl Limits {
    /// For a port of this machine: who is there answers at once.
    pub(super) const NEAR: Self = Self { connect: Duration::from_secs(1), total: Duration::from_secs(3) };
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(3), total: Duration::from_secs(6) }
    }
}

/// What the port answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum VersionPage {
    /// A browser, and the path (with a query, if any) of its WebSocket.
    Browser { path: String },
    /// 404 from what is a DevTools server all the same: Chrome 144 and later, where the person allowed debugging in its
    /// settings, tells its address in its profile folder alone (fact F9).
    Missing,
    /// 403 from what is a DevTools server all the same: a person has yet to allow it.
    Asks,
    /// 401, 403 or 410: a service that wants another key or has ended the browser.
    Refused { status: u16 },
    /// Something else speaks HTTP there.
    Other { status: u16, what: String },
}

impl VersionPage {
    /// Asks `address`. An error means that nobody spoke HTTP there.
    pub(super) async fn fetch(address: &Address, limits: Limits) -> Result<Self, EndpointError> {
        let at = address.label();
        let address = address.clone();
        // ureq blocks; its own time-outs bound how long the thread is kept, even if our caller gives up.
        tokio::task::spawn_blocking(move || fetch_blocking(&address, limits))
            .await
            .map_err(|error| EndpointError::Unreachable { at, cause: error.to_string() })?
    }

    /// Returns what stands at `/health`, in lower case: where a server that is no browser says what it is.
    pub(super) async fn health(address: &Address, limits: Limits) -> Option<String> {
        let address = address.clone();
        let ask = move || {
            let reply = http::agent(address.tls, limits).ok()?.get(address.health_url().expose()).call();
            let mut reply = reply.ok().filter(|reply| reply.status() == 200)?;
            let body = reply.body_mut().with_config().limit(MAX_REPLY).read_to_vec().ok()?;
            Some(String::from_utf8_lossy(&body).to_ascii_lowercase())
        };
        tokio::task::spawn_blocking(ask).await.ok().flatten()
    }
}

/// Says whether somebody takes connections at an address and answers nothing, not even that there is no such page.
///
/// What stands behind a path or a key is not asked for: a service may start a browser for each caller.
pub(super) async fn is_mute(address: &Address, limits: Limits) -> bool {
    let (tls, url) = (address.tls, address.root_url());
    let ask = move || {
        let Ok(agent) = http::agent(tls, limits) else { return false };
        let timed_out = |error| match error {
            ureq::Error::Timeout(at) => !matches!(at, ureq::Timeout::Resolve | ureq::Timeout::Connect),
            _ => false,
        };
        agent.get(url.expose()).call().is_err_and(timed_out)
    };
    tokio::task::spawn_blocking(ask).await.unwrap_or(false)
}

#[derive(Deserialize)]
struct Reply {
    #[serde(rename = "Browser")]
    browser: String,
    #[serde(rename = "webSocketDebuggerUrl")]
    websocket: String,
}

fn fetch_blocking(address: &Address, limits: Limits) -> Result<VersionPage, EndpointError> {
    let agent = http::agent(address.tls, limits)?;
    let failed = |error| failure(address, error);
    let mut request = agent.get(address.version_url().expose());
    for (name, value) in address.headers.iter() {
        request = request.header(name, value);
    }
    let mut reply = request.call().map_err(failed)?;
    let status = reply.status().as_u16();
    if status != 200 {
        return Ok(match status {
            404 if is_devtools(&agent, address) => VersionPage::Missing,
            // Only a browser on this machine has a person before it who can be asked; and much else answers 403.
            403 if !address.tls && address.is_loopback() && is_devtools(&agent, address) => VersionPage::Asks,
            401 | 403 | 410 => VersionPage::Refused { status },
            300..=399 => {
                let what = format!("it leads elsewhere ({status}), and a key must not go along");
                VersionPage::Other { status, what }
            }
            _ => VersionPage::Other { status, what: format!("it answered with status {status}") },
        });
    }
    let body = match reply.body_mut().with_config().limit(MAX_REPLY).read_to_vec() {
        Ok(body) => body,
        Err(ureq::Error::BodyExceedsLimit(_)) => {
            return Ok(VersionPage::Other { status, what: "its version page is far too long".to_owned() });
        }
        Err(error) => return Err(failed(error)),
    };
    Ok(read_reply(&body).unwrap_or_else(|what| VersionPage::Other { status, what: what.to_owned() }))
}

/// What Chromium says to a caller that names it otherwise than by address (fact D2). Nobody else says that.
const REFUSES_NAMES: &[u8] = b"Host header is specified and is not an IP address or localhost.";

/// Says whether a port that shows no version page is a DevTools server, in a way that never raises its consent prompt.
fn is_devtools(agent: &ureq::Agent, address: &Address) -> bool {
    let asked = agent.get(address.version_url().expose()).header("Host", "ostler.invalid").call();
    let said = asked.and_then(|mut reply| reply.body_mut().with_config().limit(MAX_REPLY).read_to_vec());
    said.is_ok_and(|said| said.starts_with(REFUSES_NAMES))
}

fn read_reply(body: &[u8]) -> Result<VersionPage, &'static str> {
    let reply: Reply =
        serde_json::from_slice(body).map_err(|_| "its version page names no Browser and webSocketDebuggerUrl")?;
    let url: Uri = reply.websocket.parse().map_err(|_| "its webSocketDebuggerUrl is no URL")?;
    match url.path_and_query() {
        Some(path) if !reply.browser.is_empty() => Ok(VersionPage::Browser { path: path.to_string() }),
        _ => Err("its webSocketDebuggerUrl has no path"),
    }
}

/// Says what went wrong in words of our own: ureq's may repeat the URL.
fn failure(address: &Address, error: ureq::Error) -> EndpointError {
    let at = address.label();
    let unreachable = |cause: String| EndpointError::Unreachable { at: at.clone(), cause };
    let untrusted = |cause: String| EndpointError::Untrusted { at: at.clone(), cause };
    match error {
        ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => {
            unreachable("connecting took too long".to_owned())
        }
        ureq::Error::Timeout(_) => EndpointError::Silent { at },
        ureq::Error::HostNotFound => unreachable("its name does not resolve".to_owned()),
        ureq::Error::ConnectionFailed => unreachable("the connection failed".to_owned()),
        ureq::Error::Rustls(error) => untrusted(error.to_string()),
        ureq::Error::Tls(error) => untrusted(error.to_owned()),
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            unreachable("connection refused".to_owned())
        }
        ureq::Error::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            // A failed handshake comes wrapped in the error of the socket below it.
            Some(tls) => untrusted(rustls::Error::to_string(tls)),
            None => EndpointError::NotDevTools {
                at,
                answer: format!("the connection broke off ({})", error.kind()),
                passing: true,
            },
        },
        _ => EndpointError::NotDevTools { at, answer: "it does not speak HTTP".to_owned(), passing: false },
    }
}

#[cfg(test)]
pub(super) mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Starts a server that answers every request with these bytes and returns its port; `None` never answers.
    pub(in crate::endpoint) async fn serve(answer: Option<String>) -> u16 {
        serve_by(move |_| answer.clone()).await
    }

    /// Starts a server that is Chrome 144 and later with debugging allowed in its settings.
    pub(in crate::endpoint) async fn serve_unlisted() -> u16 {
        serve_devtools("404 Not Found").await
    }

    /// Starts a DevTools server that refuses its version page until its person allows it.
    pub(in crate::endpoint) async fn serve_asking() -> u16 {
        serve_devtools("403 Forbidden").await
    }

    async fn serve_devtools(status: &'static str) -> u16 {
        serve_by(move |request| {
            let by_name = request.to_ascii_lowercase().contains("host: ostler.invalid");
            let refusal = String::from_utf8_lossy(REFUSES_NAMES);
            if by_name { reply("500 Internal Server Error", &refusal) } else { reply(status, "") }
        })
        .await
    }

    /// Starts a server that answers each request as it says.
    pub(in crate::endpoint) async fn serve_by(answer: impl Fn(&str) -> Option<String> + Send + 'static) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        tokio::spawn(async move {
            let mut silent = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 2048];
                // An empty read is a mere probe of the port.
                let Ok(length @ 1..) = stream.read(&mut request).await else { continue };
                match answer(&String::from_utf8_lossy(&request[..length])) {
                    Some(answer) => drop(stream.write_all(answer.as_bytes()).await),
                    None => silent.push(stream),
                }
            }
        });
        port
    }

    pub(in crate::endpoint) fn reply(status: &str, body: &str) -> Option<String> {
        Some(format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
    }

    pub(in crate::endpoint) fn version(websocket: &str) -> Option<String> {
        reply("200 OK", &format!(r#"{{"Browser": "Chrome/156", "webSocketDebuggerUrl": "{websocket}"}}"#))
    }

    async fn ask(answer: Option<String>) -> Result<VersionPage, EndpointError> {
        let port = serve(answer).await;
        VersionPage::fetch(&Address::local(port), Limits::default()).await
    }

    #[tokio::test]
    async fn a_browser_is_known_by_its_version_page() {
        let page = ask(version("ws://inside-a-container/devtools/browser/1?a=b")).await.expect("an answer");
        assert_eq!(page, VersionPage::Browser { path: "/devtools/browser/1?a=b".to_owned() });
    }

    #[tokio::test]
    async fn statuses_tell_missing_page_and_refusal_apart() {
        let port = serve_unlisted().await;
        let page = VersionPage::fetch(&Address::local(port), Limits::default()).await.expect("an answer");
        assert_eq!(page, VersionPage::Missing);
        let port = serve_asking().await;
        let page = VersionPage::fetch(&Address::local(port), Limits::default()).await.expect("an answer");
        assert_eq!(page, VersionPage::Asks);
        let refused = ask(reply("403 Forbidden", "")).await.expect("an answer");
        assert_eq!(refused, VersionPage::Refused { status: 403 });
    }

    #[tokio::test]
    async fn other_http_servers_are_no_browser() {
        let redirect = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
        for answer in [
            reply("200 OK", "<html>"),
            reply("200 OK", r#"{"Browser": "Chrome"}"#),
            reply("200 OK", r#"{"webSocketDebuggerUrl": "ws://x/y"}"#),
            reply("200 OK", &" ".repeat(70 * 1024)),
            reply("500 Internal Server Error", ""),
            reply("404 Not Found", "no such page"),
            Some(redirect.to_owned()),
        ] {
            let page = ask(answer).await.expect("an answer");
            assert!(matches!(page, VersionPage::Other { .. }), "{page:?}");
        }
    }

    #[tokio::test]
    async fn what_speaks_no_http_is_an_error_that_says_so() {
        for answer in ["SSH-2.0-OpenSSH_9.2\r\n", ""] {
            let error = ask(Some(answer.to_owned())).await.expect_err("no HTTP");
            assert!(matches!(error, EndpointError::NotDevTools { .. }), "{error}");
        }
    }

    #[tokio::test]
    async fn a_silent_port_is_given_up() {
        let port = serve(None).await;
        let limits = Limits { total: Duration::from_millis(200), ..Limits::default() };
        let error = VersionPage::fetch(&Address::local(port), limits).await.expect_err("silence");
        assert!(matches!(error, EndpointError::Silent { .. }) && error.may_pass(), "{error}");
    }

    #[tokio::test]
    async fn a_closed_port_is_unreachable() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        drop(listener);
        let error = VersionPage::fetch(&Address::local(port), Limits::default()).await.expect_err("closed");
        assert!(matches!(error, EndpointError::Unreachable { .. }) && error.may_pass(), "{error}");
    }

    #[test]
    fn a_bad_certificate_is_told_from_a_broken_connection() {
        let tls = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let wrapped = ureq::Error::Io(io::Error::new(io::ErrorKind::InvalidData, tls));
        let error = failure(&Address::local(1), wrapped);
        assert!(matches!(error, EndpointError::Untrusted { .. }), "{error}");
        assert!(!error.may_pass() && error.to_string().contains("UnknownIssuer"), "{error}");

        let broken = ureq::Error::Io(io::ErrorKind::ConnectionReset.into());
        assert!(failure(&Address::local(1), broken).may_pass());
    }
}
