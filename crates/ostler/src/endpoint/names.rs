//! Looks host names up, for every connection that leads to a browser or a service.
//!
//! `localhost` is this machine, whatever the system says (RFC 6761): a container without a line for it in `/etc/hosts` asks
//! a name server, which knows no such name. And of several addresses that a name has, the first one need not be the one
//! that answers.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_websockets::resolver;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// How long an address may take to show that it answers, where a name has others.
const CONNECT: Duration = Duration::from_secs(3);

/// The way in which the clients of HTTP and of WebSockets look names up.
#[derive(Debug, Default)]
pub(crate) struct Names(DefaultResolver);

/// Says whether a name means this machine.
pub(super) fn is_localhost(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// Returns every address of a host.
pub(super) async fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if is_localhost(host) {
        return Ok(this_machine(port).to_vec());
    }
    Ok(lookup_host((host.trim_start_matches('[').trim_end_matches(']'), port)).await?.collect())
}

/// Chromium listens on IPv4, and hardly anybody on IPv6 alone.
fn this_machine(port: u16) -> [SocketAddr; 2] {
    [(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()]
}

impl resolver::Resolver for Names {
    /// Returns the address that takes a connection; the first one where none does, for its error.
    async fn resolve(&self, host: &str, port: u16) -> Result<SocketAddr, tokio_websockets::Error> {
        let all = addresses(host, port).await.unwrap_or_default();
        let found = match all[..] {
            [_, _, ..] => first_to_answer(&all).await,
            _ => None,
        };
        found.or(all.first().copied()).ok_or(tokio_websockets::Error::CannotResolveHost)
    }
}

async fn first_to_answer(all: &[SocketAddr]) -> Option<SocketAddr> {
    for address in all {
        if let Ok(Ok(_)) = timeout(CONNECT, TcpStream::connect(address)).await {
            return Some(*address);
        }
    }
    None
}

impl Resolver for Names {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let here = uri.host().is_some_and(is_localhost);
        let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        if !here {
            return self.0.resolve(uri, config, timeout);
        }
        let mut found = self.empty();
        for address in this_machine(uri.port_u16().unwrap_or(usual)) {
            found.push(address);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::http;
    use super::super::version_page::Limits;
    use super::super::version_page::tests::{reply, serve};
    use super::*;

    #[test]
    fn only_whole_labels_mean_this_machine() {
        for (host, here) in [
            ("localhost", true),
            ("LocalHost.", true),
            ("chrome.localhost", true),
            ("mylocalhost", false),
            ("localhost.example", false),
            ("", false),
        ] {
            assert_eq!(is_localhost(host), here, "{host:?}");
        }
    }

    // No system's list of hosts has such a name, so it stands for a `localhost` that is missing there.
    const UNLISTED: &str = "no-entry.localhost";

    #[tokio::test]
    async fn a_localhost_that_the_system_does_not_know_is_this_machine_for_every_client() {
        let port = serve(reply("204 No Content", "")).await;
        let resolved = resolver::Resolver::resolve(&Names::default(), UNLISTED, port).await;
        assert_eq!(resolved.expect("it answers"), (Ipv4Addr::LOCALHOST, port).into());
        let url = format!("http://{UNLISTED}:{port}/");
        let asking = tokio::task::spawn_blocking(move || {
            let agent = http::agent(false, Limits::default()).expect("no TLS, no certificates");
            agent.get(&url).call().map(|reply| reply.status().as_u16())
        });
        assert_eq!(asking.await.expect("no panic").expect("an answer"), 204);
    }

    #[tokio::test]
    async fn of_several_addresses_the_one_that_answers_is_taken() {
        let port = serve(None).await;
        let nobody = (Ipv4Addr::LOCALHOST, 1).into();
        let somebody = (Ipv4Addr::LOCALHOST, port).into();
        assert_eq!(first_to_answer(&[nobody, somebody]).await, Some(somebody));
        assert_eq!(first_to_answer(&[nobody]).await, None);
    }
}
