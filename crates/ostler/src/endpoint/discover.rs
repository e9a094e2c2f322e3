//! Looks for a browser that already runs on this machine with remote debugging on.

use super::address::Address;
use super::devtools_port::{self, Recorded};
use super::error::EndpointError;
use super::version_page::{Limits, VersionPage};
use super::{BrowserKind, Endpoint, Machine};
use crate::secret::SecretUrl;

/// Where people start Chrome with debugging on. A fixed port leaves no note in the profile, so it has to be tried.
const USUAL_PORTS: [u16; 2] = [9222, 9223];

/// Finds a running browser: what profile folders record, the newest first, then the usual ports.
pub(super) async fn discover(machine: &Machine) -> Result<Endpoint, EndpointError> {
    discover_on(machine, &USUAL_PORTS, Limits::default()).await
}

async fn discover_on(machine: &Machine, ports: &[u16], limits: Limits) -> Result<Endpoint, EndpointError> {
    let mut stale = Vec::new();
    let mut consent = None;

    for recorded in devtools_port::recorded(machine) {
        match VersionPage::fetch(&Address::local(recorded.port), limits).await {
            Ok(VersionPage::Browser { path }) => return Ok(from_profile(recorded, path)),
            // Chrome 144 and later serves no version page; its note alone says where the WebSocket is.
            Ok(VersionPage::Missing) => {
                let path = recorded.path.clone();
                return Ok(from_profile(recorded, path));
            }
            Ok(VersionPage::Refused { .. }) => {
                consent.get_or_insert(recorded.port);
            }
            Ok(VersionPage::Other { .. }) | Err(_) => {
                stale.push(format!("{} (port {})", recorded.browser, recorded.port));
            }
        }
    }
    for &port in ports {
        match VersionPage::fetch(&Address::local(port), limits).await {
            Ok(VersionPage::Browser { path }) => return Ok(on_port(port, &path)),
            Ok(VersionPage::Refused { .. }) => {
                consent.get_or_insert(port);
            }
            Ok(VersionPage::Missing | VersionPage::Other { .. }) | Err(_) => {}
        }
    }

    // A browser whose person has yet to say yes is worth waiting for, but no reason to pass over one that is open.
    Err(match consent {
        Some(port) => EndpointError::ConsentPending { at: Address::local(port).label() },
        None => EndpointError::NothingFound { looked_at: looked_at(&stale, ports) },
    })
}

fn from_profile(recorded: Recorded, path: String) -> Endpoint {
    if path != recorded.path {
        // The note is stale, and another browser has got the same port since.
        return on_port(recorded.port, &path);
    }
    Endpoint {
        url: websocket_url(recorded.port, &path),
        kind: BrowserKind::Local,
        found_by: format!("the DevToolsActivePort of {}", recorded.browser),
        profile: Some(recorded.profile),
        owned: None,
        cloud: None,
    }
}

fn on_port(port: u16, path: &str) -> Endpoint {
    Endpoint {
        url: websocket_url(port, path),
        kind: BrowserKind::Local,
        found_by: format!("port {port}"),
        profile: None,
        owned: None,
        cloud: None,
    }
}

fn websocket_url(port: u16, path: &str) -> SecretUrl {
    Address::local(port).websocket_url(path)
}

fn looked_at(stale: &[String], ports: &[u16]) -> String {
    let notes = match stale {
        [] => "the known profile folders (none holds a DevToolsActivePort)".to_owned(),
        stale => format!("the DevToolsActivePort of {} (left over: no browser answers there)", stale.join(", ")),
    };
    let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
    format!("{notes} and at the ports {}", ports.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::super::devtools_port::tests::{machine, record};
    use super::super::version_page::tests::{reply, serve, version};
    use super::*;

    async fn search(home: &Path, ports: &[u16]) -> Result<Endpoint, EndpointError> {
        let limits = Limits { total: Duration::from_secs(1), ..Limits::default() };
        discover_on(&machine(home), ports, limits).await
    }

    fn note(port: u16) -> String {
        format!("{port}\n/devtools/browser/noted")
    }

    #[tokio::test]
    async fn a_live_note_is_believed() {
        for answer in [version("ws://127.0.0.1/devtools/browser/noted"), reply("404 Not Found", "")] {
            let home = tempfile::tempdir().expect("a folder");
            let port = serve(answer).await;
            let profile = record(home.path(), ".config/google-chrome", &note(port));
            let endpoint = search(home.path(), &[]).await.expect("a browser");
            assert_eq!(endpoint.url.expose(), format!("ws://127.0.0.1:{port}/devtools/browser/noted"));
            assert_eq!(endpoint.found_by, "the DevToolsActivePort of Google Chrome");
            assert_eq!((endpoint.kind, endpoint.profile), (BrowserKind::Local, Some(profile)));
        }
    }

    #[tokio::test]
    async fn a_port_that_answers_something_else_is_left_over() {
        let home = tempfile::tempdir().expect("a folder");
        record(home.path(), ".config/google-chrome", &note(serve(reply("200 OK", "a web page")).await));
        record(home.path(), ".config/chromium", &note(serve(Some("SSH-2.0\r\n".to_owned())).await));
        record(home.path(), ".config/vivaldi", &note(serve(None).await));
        let error = search(home.path(), &[]).await.expect_err("nothing lives");
        let text = error.to_string();
        assert!(matches!(error, EndpointError::NothingFound { .. }) && error.may_pass());
        for named in ["Google Chrome", "Chromium", "Vivaldi", "ostler connect --launch", "BU_CDP_URL"] {
            assert!(text.contains(named), "{text}");
        }
    }

    #[tokio::test]
    async fn another_browser_on_a_noted_port_is_not_called_by_that_profile() {
        let home = tempfile::tempdir().expect("a folder");
        let port = serve(version("ws://127.0.0.1/devtools/browser/other")).await;
        record(home.path(), ".config/google-chrome", &note(port));
        let endpoint = search(home.path(), &[]).await.expect("a browser");
        assert_eq!(endpoint.url.expose(), format!("ws://127.0.0.1:{port}/devtools/browser/other"));
        assert_eq!((endpoint.found_by, endpoint.profile), (format!("port {port}"), None));
    }

    #[tokio::test]
    async fn the_usual_ports_need_a_version_page() {
        let home = tempfile::tempdir().expect("a folder");
        let missing = serve(reply("404 Not Found", "")).await;
        let live = serve(version("ws://127.0.0.1/devtools/browser/1")).await;
        let endpoint = search(home.path(), &[missing, live]).await.expect("a browser");
        assert_eq!(endpoint.found_by, format!("port {live}"));
    }

    #[tokio::test]
    async fn a_consent_prompt_is_reported_only_when_no_other_browser_is_open() {
        let home = tempfile::tempdir().expect("a folder");
        let asking = serve(reply("403 Forbidden", "")).await;
        record(home.path(), ".config/google-chrome", &note(asking));
        let error = search(home.path(), &[]).await.expect_err("not yet");
        assert!(matches!(error, EndpointError::ConsentPending { .. }), "{error}");

        let live = serve(version("ws://127.0.0.1/devtools/browser/1")).await;
        let endpoint = search(home.path(), &[live]).await.expect("a browser");
        assert_eq!(endpoint.found_by, format!("port {live}"));
    }
}
