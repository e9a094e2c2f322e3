//! Takes a DevTools URL apart and puts it together again in a form that Chromium accepts.

use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpStream;
use tokio::time::timeout;
use ureq::http::Uri;

use super::error::EndpointError;
use super::given::{Given, Headers};
use super::names;
use super::version_page::Limits;
use crate::secret::SecretUrl;

/// The two kinds of URL that lead to a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// `ws` or `wss`: the browser's own WebSocket.
    WebSocket,
    /// `http` or `https`: an endpoint that tells the WebSocket's URL.
    Http,
}

impl Protocol {
    /// What a URL must be that may be of either kind, as the end of a sentence.
    pub(crate) const EITHER: &str = "must be a ws://, wss://, http:// or https:// URL";

    /// Returns the kind of a URL by its scheme, if it is of one of them and something follows.
    pub(crate) fn of(url: &SecretUrl) -> Option<Self> {
        let (scheme, rest) = url.expose().split_once("://")?;
        let protocol = [Self::WebSocket, Self::Http].into_iter().find(|each| each.schemes().contains(&scheme))?;
        (!rest.is_empty()).then_some(protocol)
    }

    /// Says what is wrong with a URL of another scheme, and where one of the other kind belongs.
    fn refuse(self, scheme: &str, given_by: &'static str) -> EndpointError {
        let (problem, expected) = match self {
            Self::WebSocket if Self::Http.schemes().contains(&scheme) => (
                "is an http:// URL, and takes ws:// or wss:// alone",
                "the browser's WebSocket URL, such as ws://127.0.0.1:9222/devtools/browser/ID, or put this one into \
                 BU_CDP_URL, which takes http://",
            ),
            Self::Http if Self::WebSocket.schemes().contains(&scheme) => (
                "is a ws:// URL, and takes http:// or https:// alone",
                "the endpoint's URL, such as http://127.0.0.1:9222, or put this one into BU_CDP_WS, which takes ws://",
            ),
            Self::WebSocket => ("does not start with ws:// or wss://", self.example()),
            Self::Http => ("does not start with http:// or https://", self.example()),
        };
        EndpointError::BadUrl { given_by, problem, expected }
    }

    /// Returns what is expected, as the middle of a sentence.
    fn example(self) -> &'static str {
        match self {
            Self::WebSocket => "a URL such as ws://127.0.0.1:9222/devtools/browser/ID",
            Self::Http => "a URL such as http://127.0.0.1:9222",
        }
    }

    /// Returns the plain scheme and the one over TLS.
    fn schemes(self) -> [&'static str; 2] {
        match self {
            Self::WebSocket => ["ws", "wss"],
            Self::Http => ["http", "https"],
        }
    }
}

/// Where a DevTools server listens, and the path that was asked of it.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) tls: bool,
    /// A name or an IP literal, IPv6 in brackets.
    host: String,
    pub(super) port: u16,
    path: String,
    query: Option<String>,
    /// What goes with a request there.
    pub(super) headers: Headers,
}

impl Address {
    /// Reads a URL that someone gave. What is wrong is said without repeating any of it.
    pub(super) fn parse(given: &Given, protocol: Protocol) -> Result<Self, EndpointError> {
        let [plain, secure] = protocol.schemes();
        let expected = protocol.example();
        let bad = |problem| EndpointError::BadUrl { given_by: given.by, problem, expected };

        let uri: Uri = given.url.expose().trim().parse().map_err(|_| bad("is no valid URL"))?;
        let tls = match uri.scheme_str() {
            Some(scheme) if scheme == plain => false,
            Some(scheme) if scheme == secure => true,
            other => return Err(protocol.refuse(other.unwrap_or_default(), given.by)),
        };
        let authority = uri.authority().ok_or_else(|| bad("names no host"))?;
        if authority.as_str().contains('@') {
            // Neither the HTTP nor the WebSocket side would send it: better said now than refused later.
            return Err(bad("carries a user name or password, which ostler does not send"));
        }
        if authority.host().is_empty() {
            return Err(bad("names no host"));
        }
        let port = match (authority.port_u16(), tls) {
            (Some(port), _) => port,
            // The parser takes `host:99999` and then knows no port: never dial another than was written.
            (None, _) if authority.as_str() != authority.host() => {
                return Err(bad("has no valid port"));
            }
            (None, false) => 80,
            (None, true) => 443,
        };
        Ok(Self {
            tls,
            host: authority.host().to_owned(),
            port,
            path: uri.path().to_owned(),
            query: uri.query().map(str::to_owned),
            headers: Headers::clone(&given.headers),
        })
    }

    /// Returns the address of a port of this machine. Chromium listens on IPv4 loopback.
    pub(super) fn local(port: u16) -> Self {
        Self {
            tls: false,
            host: "127.0.0.1".to_owned(),
            port,
            path: "/".to_owned(),
            query: None,
            headers: Headers::default(),
        }
    }

    /// Returns the same address with a host that Chromium's Host check accepts, and that answers.
    ///
    /// Chromium takes only IP addresses and `localhost` as Host, so `http://chrome:9222` must be dialled by IP; and
    /// `localhost` may resolve to `::1` first while the browser listens on IPv4. Behind TLS stands a proxy that
    /// wants its name, for the certificate too.
    pub(super) async fn dialable(self, limits: Limits) -> Result<Self, EndpointError> {
        if self.tls || self.ip().is_some() {
            return Ok(self);
        }
        let unreachable = |cause: String| EndpointError::Unreachable { at: self.label(), cause };
        let candidates = timeout(limits.connect, names::addresses(&self.host, self.port))
            .await
            .map_err(|_| unreachable("looking up its name took too long".to_owned()))?
            .map_err(|_| unreachable("its name does not resolve".to_owned()))?;
        let mut cause = "its name has no address".to_owned();
        for candidate in candidates {
            match timeout(limits.connect, TcpStream::connect(candidate)).await {
                Ok(Ok(_)) => return Ok(self.at(candidate)),
                Ok(Err(error)) => cause = error.to_string(),
                Err(_) => cause = "connecting took too long".to_owned(),
            }
        }
        Err(unreachable(cause))
    }

    /// Says whether a connection to it is taken.
    pub(super) async fn listens(&self, limits: Limits) -> bool {
        let connecting = async {
            let addresses = names::addresses(&self.host, self.port).await?;
            TcpStream::connect(&addresses[..]).await
        };
        matches!(timeout(limits.connect, connecting).await, Ok(Ok(_)))
    }

    /// Says whether the address is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        self.ip().is_some_and(|ip| ip.is_loopback())
    }

    /// Says whether it leads to this machine, without a proxy for TLS in between.
    pub(super) fn is_plain_and_here(&self) -> bool {
        !self.tls && (self.is_loopback() || names::is_localhost(&self.host))
    }

    /// Says whether it is written as people write the address of a Chromium on this machine.
    pub(super) fn is_chromium_here(&self, protocol: Protocol) -> bool {
        let plain = match protocol {
            Protocol::Http => matches!(self.path.as_str(), "" | "/" | "/json/version" | "/json/version/"),
            Protocol::WebSocket => self.path == "/devtools/browser" || self.path.starts_with("/devtools/browser/"),
        };
        plain && self.is_plain_and_here() && self.query.is_none()
    }

    /// Returns the URL of the version page below the path that was given, query included: it may be the token.
    pub(super) fn version_url(&self) -> SecretUrl {
        let base = self.path.trim_end_matches('/');
        let base = base.strip_suffix("/json/version").unwrap_or(base);
        self.url("http", &format!("{base}/json/version"), self.query.as_deref())
    }

    /// Returns the URL at which backends without CDP say what they are.
    pub(super) fn health_url(&self) -> SecretUrl {
        self.url("http", &format!("{}/health", self.path.trim_end_matches('/')), self.query.as_deref())
    }

    /// Returns the URL of what stands at the top, where no key is needed to be told something.
    pub(super) fn root_url(&self) -> SecretUrl {
        self.url("http", "/", None)
    }

    /// Returns the WebSocket URL on this host for the path, with its query if any, that the browser told.
    ///
    /// Only the path is taken from the browser: its idea of its own host is our Host header echoed, or a name
    /// inside its container. A token that was needed to ask goes along unless the browser brought a query itself.
    pub(super) fn websocket_url(&self, told: &str) -> SecretUrl {
        match told.split_once('?') {
            Some((path, query)) => self.url("ws", path, Some(query)),
            None => self.url("ws", told, self.query.as_deref()),
        }
    }

    /// Returns the URL for the path that was given.
    pub(super) fn given_websocket_url(&self) -> SecretUrl {
        self.url("ws", &self.path, self.query.as_deref())
    }

    /// Returns what may be shown of it: `127.0.0.1:9222`.
    pub(super) fn label(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    fn url(&self, scheme: &str, path: &str, query: Option<&str>) -> SecretUrl {
        let secure = if self.tls { "s" } else { "" };
        let (mark, query) = query.map_or(("", ""), |query| ("?", query));
        SecretUrl::new(format!("{scheme}{secure}://{}:{}{path}{mark}{query}", self.host, self.port))
    }

    fn ip(&self) -> Option<IpAddr> {
        self.host.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    fn at(&self, socket: SocketAddr) -> Self {
        let host = match socket.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        Self { host, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str, protocol: Protocol) -> Result<Address, EndpointError> {
        Address::parse(&Given::new(SecretUrl::new(url), "BU_X"), protocol)
    }

    fn http(url: &str) -> Address {
        parse(url, Protocol::Http).expect("a valid URL")
    }

    #[test]
    fn a_wrong_url_is_refused_by_the_name_of_its_variable_and_never_echoed() {
        for (url, protocol) in [
            ("http://host/S3CRET", Protocol::WebSocket),
            ("ws://host/S3CRET", Protocol::Http),
            ("S3CRET", Protocol::WebSocket),
            ("", Protocol::Http),
            ("ws://", Protocol::WebSocket),
            ("ws:///S3CRET", Protocol::WebSocket),
            ("http://:9222/S3CRET", Protocol::Http),
            ("http://host:99999/S3CRET", Protocol::Http),
            ("http://user:S3CRET@host", Protocol::Http),
            ("ws://S3CRET with blanks", Protocol::WebSocket),
        ] {
            let error = parse(url, protocol).expect_err(url);
            let text = format!("{error} {error:?}");
            assert!(matches!(error, EndpointError::BadUrl { .. }), "{text}");
            assert!(!error.may_pass());
            assert!(text.contains("BU_X") && !text.contains("S3CRET"), "{text}");
        }
    }

    #[test]
    fn a_url_of_the_other_kind_is_told_which_variable_takes_it() {
        for (url, protocol, variable) in [
            ("http://127.0.0.1:9222", Protocol::WebSocket, "BU_CDP_URL, which takes http://"),
            ("https://host/S3CRET", Protocol::WebSocket, "BU_CDP_URL"),
            ("wss://host/S3CRET", Protocol::Http, "BU_CDP_WS, which takes ws://"),
        ] {
            let said = parse(url, protocol).expect_err(url).to_string();
            assert!(said.contains(variable) && said.starts_with("BU_X is a") && !said.contains("S3CRET"), "{said}");
        }
        let said = parse("ftp://host", Protocol::WebSocket).expect_err("another one").to_string();
        assert!(said.contains("does not start with ws://") && !said.contains("BU_CDP_URL"), "{said}");
    }

    #[test]
    fn version_page_is_below_the_given_path_and_keeps_the_query() {
        for (given, asked) in [
            ("http://127.0.0.1:9222", "http://127.0.0.1:9222/json/version"),
            ("http://127.0.0.1:9222/", "http://127.0.0.1:9222/json/version"),
            ("http://127.0.0.1:9222/json/version", "http://127.0.0.1:9222/json/version"),
            ("https://cloud.example/eu/?token=T", "https://cloud.example:443/eu/json/version?token=T"),
            ("http://[::1]:9222", "http://[::1]:9222/json/version"),
        ] {
            assert_eq!(http(given).version_url().expose(), asked);
        }
    }

    #[test]
    fn websocket_url_joins_the_told_path_to_the_given_host() {
        for (given, told, url) in [
            ("http://127.0.0.1:9222", "/devtools/browser/1", "ws://127.0.0.1:9222/devtools/browser/1"),
            ("https://cloud.example?t=1", "/x", "wss://cloud.example:443/x?t=1"),
            ("https://cloud.example?t=1", "/x?own=2", "wss://cloud.example:443/x?own=2"),
        ] {
            assert_eq!(http(given).websocket_url(told).expose(), url);
        }
    }

    #[tokio::test]
    async fn a_name_behind_tls_is_kept_and_an_ip_is_not_looked_up() {
        for given in ["https://no-such-host.invalid", "http://192.0.2.1:9222"] {
            let before = http(given);
            let label = before.label();
            let after = before.dialable(Limits::default()).await.expect("nothing is dialled");
            assert_eq!(after.label(), label);
        }
    }

    #[tokio::test]
    async fn localhost_is_dialled_by_the_address_that_answers() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let address = http(&format!("http://localhost:{port}"));
        let address = address.dialable(Limits::default()).await.expect("it answers");
        assert_eq!(address.label(), format!("127.0.0.1:{port}"));
        assert!(address.is_loopback());
    }
}
