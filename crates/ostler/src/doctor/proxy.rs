//! Proxy variables: ostler goes by none, which surprises where they are the only way out.

use super::Finding;
use crate::config::Environment;

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    vec![judge(environment.proxies())]
}

/// Names the variables only: a proxy's URL may hold a password.
fn judge(set: &[&str]) -> Finding {
    if set.is_empty() {
        return Finding::ok("no proxy variable is set");
    }
    let (verb, them) = if set.len() == 1 { ("is", "it") } else { ("are", "them") };
    let names = set.join(", ");
    Finding::note(format!(
        "{names} {verb} set: ostler reaches browsers and services directly, a launched browser may use {them}"
    ))
    .fix("add --no-proxy-server or --proxy-server=HOST:PORT to browser.flags in config.yaml to decide it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_proxy_is_worth_a_note() {
        assert_eq!(judge(&[]).level, Level::Ok);
        let note = judge(&["HTTPS_PROXY", "NO_PROXY"]);
        assert!(note.level == Level::Note && note.what.starts_with("HTTPS_PROXY, NO_PROXY are set"), "{note:?}");
    }
}
