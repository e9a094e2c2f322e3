//! Keeps what must not be printed from being printed.
//!
//! A CDP URL is a key: whoever has its path, query or password drives the browser. Such a text travels as
//! [`SecretUrl`], which no log line, error or `{:?}` can spill; reading it takes a call named [`expose`], easy to find.
//!
//! [`expose`]: SecretUrl::expose

use std::fmt;

use ureq::http::Uri;

/// Stands where the secret part would.
pub(crate) const HIDDEN: &str = "‹hidden›";

/// A URL that cannot print itself, because it may carry a token.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretUrl(String);

impl SecretUrl {
    /// Takes the text as it is, but for the scheme, which becomes lower case: `WS://host` and `ws://host` are one
    /// browser. Whether it is a URL at all is for its user to judge.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let mut text = text.into();
        if let Some(end) = text.find("://") {
            text[..end].make_ascii_lowercase();
        }
        Self(text)
    }

    /// Returns the whole text, for dialling only.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns what may be shown: scheme, host and port, as in `ws://127.0.0.1:9222`.
    ///
    /// A text that is no URL gives nothing away, since nobody knows which part of it is the secret.
    pub(crate) fn label(&self) -> String {
        let Ok(uri) = self.0.parse::<Uri>() else {
            return HIDDEN.to_owned();
        };
        match (uri.scheme_str(), uri.host(), uri.port_u16()) {
            (Some(scheme), Some(host), Some(port)) => format!("{scheme}://{host}:{port}"),
            (Some(scheme), Some(host), None) => format!("{scheme}://{host}"),
            _ => HIDDEN.to_owned(),
        }
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// A text that cannot print itself: an API key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Takes the text as it is.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for sending it to whom it is meant for only.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_shows_scheme_host_and_port_only() {
        for (url, label) in [
            ("ws://127.0.0.1:9222/devtools/browser/S3CRET", "ws://127.0.0.1:9222"),
            ("wss://user:S3CRET@cloud.example?token=S3CRET", "wss://cloud.example"),
            ("https://u@S3CRET@host.example", "https://host.example"),
            ("http://[::1]:9222/S3CRET", "http://[::1]:9222"),
            ("S3CRET", HIDDEN),
            ("/S3CRET/path", HIDDEN),
            ("ws://host with S3CRET", HIDDEN),
            ("", HIDDEN),
        ] {
            assert_eq!(SecretUrl::new(url).label(), label, "{url}");
        }
    }

    #[test]
    fn the_case_of_the_scheme_alone_makes_no_difference() {
        assert_eq!(SecretUrl::new("WSS://Host/Path"), SecretUrl::new("wss://Host/Path"));
        assert_ne!(SecretUrl::new("wss://Host/Path"), SecretUrl::new("wss://Host/path"));
        assert_eq!(SecretUrl::new("NO URL").expose(), "NO URL");
    }

    #[test]
    fn printing_never_shows_the_text() {
        let url = SecretUrl::new("wss://cloud.example/S3CRET");
        assert_eq!(format!("{url} {url:?}"), "‹hidden› ‹hidden›");
        assert_eq!(url.expose(), "wss://cloud.example/S3CRET");
    }
}
