//! A URL that someone gave: a WebSocket to dial, or an HTTP endpoint to ask for one.

use std::sync::Arc;

use ureq::http::{HeaderName, HeaderValue};

use super::address::{Address, Protocol};
use super::devtools_port;
use super::error::EndpointError;
use super::version_page::{Limits, VersionPage};
use super::{BrowserKind, Endpoint, Machine};
use crate::secret::SecretUrl;

/// A URL and the place it was written, which errors name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// The URL as it was written.
    pub(crate) url: SecretUrl,
    /// `BU_CDP_WS`, `BU_CDP_URL`, `browser.cdp_url in config.yaml`, ...
    pub(crate) by: &'static str,
    /// What goes with every request and connection there.
    pub(crate) headers: Headers,
}

/// HTTP headers by name. Their values are marked as sensitive, so they print as that.
pub(crate) type Headers = Arc<[(HeaderName, HeaderValue)]>;

impl Given {
    /// Where a URL was written that came with a command.
    pub(crate) const BY_COMMAND: &str = "cdp_url";

    /// Takes a URL that needs no headers.
    pub(crate) fn new(url: SecretUrl, by: &'static str) -> Self {
        Self { url, by, headers: Headers::default() }
    }

    /// Says what is wrong with the URL itself, if anything is, without repeating any of it. Nobody is asked.
    pub(crate) fn check(&self, protocol: Protocol) -> Result<(), &'static str> {
        match self.refuse(protocol) {
            Err(EndpointError::BadUrl { problem, .. }) => Err(problem),
            _ => Ok(()),
        }
    }

    /// The same as an error, which names the place it was written and what is expected there.
    pub(crate) fn refuse(&self, protocol: Protocol) -> Result<(), EndpointError> {
        Address::parse(self, protocol).map(drop)
    }
}

/// Checks a WebSocket URL and makes it one that Chromium accepts.
pub(super) async fn websocket(given: &Given) -> Result<Endpoint, EndpointError> {
    let address = Address::parse(given, Protocol::WebSocket)?.dialable(Limits::default()).await?;
    // On this machine it may be the one of a person. What has another path is a service, and slow for another reason.
    Ok(Endpoint {
        may_ask: address.is_chromium_here(Protocol::WebSocket),
        ..endpoint(address.given_websocket_url(), given, given.by.to_owned())
    })
}

/// Says whether a browser answers at an HTTP endpoint; one that speaks no CDP does not.
///
/// On another machine it is enough that somebody listens: a service that starts a browser for each caller must not start
/// one for a look.
pub(super) async fn answers(given: &Given, machine: &Machine) -> bool {
    let limits = Limits::default();
    let Ok(address) = Address::parse(given, Protocol::Http) else { return false };
    match address.dialable(limits).await {
        Ok(local) if local.is_loopback() => {
            matches!(http(given, machine).await, Ok(_) | Err(EndpointError::ConsentPending { .. }))
        }
        Ok(remote) => remote.listens(limits).await,
        Err(_) => false,
    }
}

/// Says whether somebody listens where a WebSocket URL leads. Nothing is said to them, for the same reason.
pub(super) async fn listens(given: &Given) -> bool {
    match Address::parse(given, Protocol::WebSocket) {
        Ok(address) => address.listens(Limits::default()).await,
        Err(_) => false,
    }
}

/// Asks an HTTP endpoint for its browser's WebSocket URL.
pub(super) async fn http(given: &Given, machine: &Machine) -> Result<Endpoint, EndpointError> {
    let limits = Limits::default();
    let address = Address::parse(given, Protocol::Http)?.dialable(limits).await?;
    let at = address.label();
    match VersionPage::fetch(&address, limits).await? {
        VersionPage::Browser { path } => Ok(endpoint(address.websocket_url(&path), given, given.by.to_owned())),
        VersionPage::Missing => from_profile(given, &address, machine),
        VersionPage::Asks => Err(EndpointError::ConsentPending { at }),
        VersionPage::Refused { status } => Err(EndpointError::Denied { at, status }),
        VersionPage::Other { status, what } => Err(match rest_only(&address, limits).await {
            Some(backend) => EndpointError::RestOnly { at, backend },
            None => EndpointError::NotDevTools { at, answer: what, passing: status >= 500 },
        }),
    }
}

/// Takes the WebSocket path from the profile that records this port.
///
/// Chrome 144 and later serves no version page where the person switched debugging on in its settings; its profile
/// folder then tells what the page would have told. Another machine's profiles are out of reach.
fn from_profile(given: &Given, address: &Address, machine: &Machine) -> Result<Endpoint, EndpointError> {
    let recorded = address
        .is_loopback()
        .then(|| devtools_port::recorded(machine).into_iter().find(|recorded| recorded.port == address.port))
        .flatten()
        .ok_or_else(|| EndpointError::NoVersionPage { at: address.label() })?;
    Ok(Endpoint {
        profile: Some(recorded.profile.folder),
        // A browser that has no version page asks before it takes a connection.
        may_ask: true,
        ..endpoint(
            address.websocket_url(&recorded.path),
            given,
            format!("{} and the DevToolsActivePort of {}", given.by, recorded.profile.browser),
        )
    })
}

fn endpoint(url: SecretUrl, given: &Given, found_by: String) -> Endpoint {
    Endpoint {
        url,
        headers: Arc::clone(&given.headers),
        kind: BrowserKind::Cdp,
        found_by,
        profile: None,
        found: None,
        may_ask: false,
        owned: None,
        cloud: None,
    }
}

/// Asks whether a server without a version page is a backend that is driven over REST and knows no CDP.
async fn rest_only(address: &Address, limits: Limits) -> Option<&'static str> {
    let page = VersionPage::health(address, limits).await?;
    // Camofox, whose Firefox is called camoufox, says one or the other depending on its version.
    ["camofox", "camoufox"].iter().any(|name| page.contains(name)).then_some("Camofox")
}

#[cfg(test)]
mod tests {
    use super::super::devtools_port::tests::{machine, record};
    use super::super::version_page::tests::{reply, serve, serve_asking, serve_by, serve_unlisted, version};
    use super::*;

    fn given(url: String) -> Given {
        Given::new(SecretUrl::new(url), "BU_CDP_URL")
    }

    async fn ask(port: u16, machine: &Machine) -> Result<Endpoint, EndpointError> {
        http(&given(format!("http://localhost:{port}")), machine).await
    }

    #[tokio::test]
    async fn only_a_browser_that_speaks_cdp_answers() {
        let home = tempfile::tempdir().expect("a folder");
        for (reply, expected) in [
            (version("ws://127.0.0.1/devtools/browser/1"), true),
            (reply("403 Forbidden", ""), false),
            (reply("200 OK", "{}"), false),
            (None, false),
        ] {
            let port = serve(reply).await;
            let given = given(format!("http://127.0.0.1:{port}"));
            assert_eq!(answers(&given, &machine(home.path())).await, expected, "port {port}");
        }
    }

    #[tokio::test]
    async fn the_browsers_own_idea_of_its_host_is_not_dialled() {
        let home = tempfile::tempdir().expect("a folder");
        let port = serve(version("ws://10.0.0.1/devtools/browser/1")).await;
        let endpoint = ask(port, &machine(home.path())).await.expect("a browser");
        assert_eq!(endpoint.url.expose(), format!("ws://127.0.0.1:{port}/devtools/browser/1"));
        assert_eq!((endpoint.kind, endpoint.found_by.as_str()), (BrowserKind::Cdp, "BU_CDP_URL"));
    }

    #[tokio::test]
    async fn a_missing_version_page_falls_back_to_the_profile_of_that_port() {
        let home = tempfile::tempdir().expect("a folder");
        let port = serve_unlisted().await;
        let error = ask(port, &machine(home.path())).await.expect_err("no profile yet");
        assert!(matches!(error, EndpointError::NoVersionPage { .. }), "{error}");

        record(home.path(), ".config/chromium", "1\n/devtools/browser/other");
        let profile = record(home.path(), ".config/google-chrome", &format!("{port}\n/devtools/browser/right"));
        let endpoint = ask(port, &machine(home.path())).await.expect("a browser");
        assert_eq!(endpoint.url.expose(), format!("ws://127.0.0.1:{port}/devtools/browser/right"));
        assert_eq!(endpoint.profile, Some(profile));
    }

    #[tokio::test]
    async fn a_server_that_refuses_and_is_no_browser_is_not_taken_for_one_that_asks() {
        let home = tempfile::tempdir().expect("a folder");
        let port = serve(reply("403 Forbidden", "")).await;
        let error = ask(port, &machine(home.path())).await.expect_err("no browser");
        assert!(matches!(error, EndpointError::Denied { status: 403, .. }), "{error:?}");
        assert!(!error.to_string().contains("Allow"), "{error}");
    }

    #[tokio::test]
    async fn a_browser_that_refuses_on_this_machine_is_the_consent_prompt() {
        let home = tempfile::tempdir().expect("a folder");
        let port = serve_asking().await;
        assert!(answers(&given(format!("http://127.0.0.1:{port}")), &machine(home.path())).await);
        let error = ask(port, &machine(home.path())).await.expect_err("not yet");
        assert!(matches!(error, EndpointError::ConsentPending { .. }) && error.may_pass(), "{error:?}");
        assert!(error.to_string().contains("click Allow"), "{error}");
    }

    #[tokio::test]
    async fn a_backend_that_speaks_rest_alone_is_told_by_its_name() {
        let home = tempfile::tempdir().expect("a folder");
        let port = serve_by(|request| match request.split(' ').nth(1) {
            Some("/health") => reply("200 OK", r#"{"ok": true, "engine": "camoufox", "browserConnected": true}"#),
            _ => reply("404 Not Found", r#"{"error": "not found"}"#),
        })
        .await;
        let error = ask(port, &machine(home.path())).await.expect_err("no CDP");
        assert!(matches!(error, EndpointError::RestOnly { backend: "Camofox", .. }) && !error.may_pass(), "{error}");
        assert!(error.to_string().contains("no CDP"), "{error}");
    }

    #[tokio::test]
    async fn a_gateways_error_may_pass_and_a_web_page_does_not() {
        let home = tempfile::tempdir().expect("a folder");
        for (status, may_pass) in [("502 Bad Gateway", true), ("200 OK", false)] {
            let port = serve(reply(status, "<html>")).await;
            let error = ask(port, &machine(home.path())).await.expect_err("no browser");
            assert_eq!(error.may_pass(), may_pass, "{error}");
        }
    }

    #[tokio::test]
    async fn a_service_on_this_machine_that_takes_its_time_is_not_taken_for_a_browser_that_asks() {
        let port = serve(None).await;
        for (rest, may_ask) in [
            ("devtools/browser/1", true),
            ("devtools/browser", true),
            ("", false),
            ("chromium?token=1", false),
            ("devtools/browser/1?token=1", false),
        ] {
            let endpoint = websocket(&given(format!("ws://127.0.0.1:{port}/{rest}"))).await.expect("it listens");
            assert_eq!(endpoint.may_ask, may_ask, "{rest}");
        }
    }

    #[tokio::test]
    async fn a_websocket_url_keeps_its_path_and_query_and_gets_an_address() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let endpoint = websocket(&given(format!("ws://localhost:{port}/x?token=1"))).await.expect("it answers");
        assert_eq!(endpoint.url.expose(), format!("ws://127.0.0.1:{port}/x?token=1"));
    }
}
