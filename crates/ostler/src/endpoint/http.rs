//! The HTTP client behind every request of ours: bounded, direct, and never sent elsewhere.

use std::sync::Arc;

use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;

use super::error::EndpointError;
use super::names::Names;
use super::version_page::Limits;

/// Returns a client that blocks, for at most as long as `limits` say.
///
/// The system's root certificates are read only where `tls` says that they are needed.
pub(super) fn agent(tls: bool, limits: Limits) -> Result<ureq::Agent, EndpointError> {
    let roots = if tls { system_roots()? } else { RootCerts::from([]) };
    let tls = TlsConfig::builder()
        .root_certs(roots)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    let config = ureq::Agent::config_builder()
        .tls_config(tls)
        // The WebSocket dials directly, so this must too: a proxy would see another network than it does.
        .proxy(None)
        // A redirect could carry the token in the query to another host.
        .max_redirects(0)
        .http_status_as_error(false)
        // Rare requests, each on a connection of its own: the other side may have closed the one before.
        .max_idle_connections(0)
        .timeout_connect(Some(limits.connect))
        .timeout_global(Some(limits.total))
        .build();
    Ok(ureq::Agent::with_parts(config, DefaultConnector::default(), Names::default()))
}

fn system_roots() -> Result<RootCerts, EndpointError> {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "some of the system's root certificates cannot be read");
    }
    if found.certs.is_empty() {
        return Err(EndpointError::NoRootCertificates);
    }
    Ok(found.certs.iter().map(|der| Certificate::from_der(der).to_owned()).into())
}
