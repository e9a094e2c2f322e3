//! Hosts that answer native dialogs by themselves, before anybody could.

use super::Endpoint;
use super::cloud::Provider;
use crate::secret::SecretUrl;

impl Endpoint {
    /// Returns whether it is known that the browser's host answers native dialogs: Browserbase does.
    pub(crate) fn answers_dialogs(&self) -> bool {
        let rented = self.cloud.as_ref().is_some_and(|cloud| cloud.provider == Provider::Browserbase);
        // Whoever rents the browser themselves hands us its address alone.
        rented || is_browserbase(&self.url)
    }
}

fn is_browserbase(url: &SecretUrl) -> bool {
    let label = url.label();
    let host = label.split_once("://").map_or("", |(_, host)| host.split(':').next().unwrap_or(host));
    host == "browserbase.com" || host.ends_with(".browserbase.com")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_known_by_its_name_alone() {
        for (url, is) in [
            ("wss://connect.browserbase.com?apiKey=K", true),
            ("wss://connect.usw2.browserbase.com:443/x", true),
            ("ws://127.0.0.1:9222/devtools/browser/browserbase.com", false),
            ("wss://notbrowserbase.com", false),
        ] {
            assert_eq!(is_browserbase(&SecretUrl::new(url)), is, "{}", SecretUrl::new(url).label());
        }
    }
}
