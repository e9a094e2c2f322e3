//! The settings of `config.yaml`: each is declared here and in the list at the end, and nowhere else.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use ostler_core::view::{DialogBridge, DialogPolicy};
use serde_json::{Map, Value};
use ureq::http::{HeaderName, HeaderValue};

use super::NamedBrowser;
use super::document::{Document, Node};
use super::fault::Fault;
use super::key::{AnyKey, Key, Kind};
use crate::endpoint::{Given, Protocol, cloud};
use crate::secret::{HIDDEN, SecretUrl};
use crate::times;

/// All of them, in the order in which people read about them.
pub(crate) const ALL: &[&dyn AnyKey] = &[
    &CDP_URL,
    &HEADERS,
    &EXECUTABLE,
    &FLAGS,
    &DIALOG_POLICY,
    &DIALOG_TIMEOUT,
    &DIALOG_BRIDGE,
    &QUIET,
    &BROWSER_USE_API_BASE,
    &BROWSER_USE_OPTIONS,
    &BROWSERBASE_API_BASE,
    &BROWSERBASE_PROJECT,
    &BROWSERBASE_OPTIONS,
    &IDLE_TIMEOUT,
];

pub(crate) static CDP_URL: Key<NamedBrowser> = Key {
    name: "browser.cdp_url",
    about: "The browser: the URL of its WebSocket or of its DevTools endpoint. Without one a running browser is looked for.",
    kind: Kind::Url(&["ws", "wss", "http", "https"]),
    default: None,
    read: |node| {
        node.read(|url| {
            let given = Given::new(SecretUrl::new(url), "browser.cdp_url in config.yaml");
            let protocol = Protocol::of(&given.url).ok_or_else(|| Protocol::EITHER.to_owned())?;
            given.check(protocol).map_err(|problem| format!("{problem}; give a URL such as http://127.0.0.1:9222"))?;
            Ok(match protocol {
                Protocol::WebSocket => NamedBrowser::WebSocket(given),
                Protocol::Http => NamedBrowser::Http(given),
            })
        })
    },
};

pub(crate) static HEADERS: Key<Vec<(HeaderName, HeaderValue)>> = Key {
    name: "browser.headers",
    about: "HTTP headers that go with every connection to `browser.cdp_url`, such as a service's key.",
    kind: Kind::Headers,
    default: None,
    read: |node| node.entries().map(header).collect(),
};

pub(crate) static EXECUTABLE: Key<PathBuf> = Key {
    name: "browser.executable",
    about: "The program that `ostler connect --launch` starts, unless it is told another. Without one it is looked for.",
    kind: Kind::Path,
    default: None,
    read: |node| {
        node.read(|path| {
            let absolute = Some(PathBuf::from(path)).filter(|path| path.is_absolute());
            absolute.ok_or_else(|| format!("{path:?} is no absolute path; begin it with /"))
        })
    },
};

pub(crate) static FLAGS: Key<Vec<String>> = Key {
    name: "browser.flags",
    about: "Flags for every browser that `ostler connect --launch` starts, before those of its `--flag`.",
    kind: Kind::Flags,
    default: None,
    read: |node| node.parts().map(|part| part.read(flag)).collect(),
};

pub(crate) static DIALOG_POLICY: Key<DialogPolicy> = Key {
    name: "browser.dialog_policy",
    about: "What happens when a page opens a dialog: it waits for an answer, or is dismissed or accepted at once.",
    kind: Kind::Word(&["must_respond", "auto_dismiss", "auto_accept"]),
    default: Some("must_respond"),
    read: |node| {
        node.read(|word| match word {
            "must_respond" => Ok(DialogPolicy::MustRespond),
            "auto_dismiss" => Ok(DialogPolicy::AutoDismiss),
            "auto_accept" => Ok(DialogPolicy::AutoAccept),
            other => Err(format!("{other:?} is no policy; use must_respond, auto_dismiss or auto_accept")),
        })
    },
};

pub(crate) static DIALOG_TIMEOUT: Key<Duration> = Key {
    name: "browser.dialog_timeout_s",
    about: "After how many seconds a dialog that nobody answered is dismissed.",
    kind: Kind::Seconds { at_most: times::DIALOG_LONGEST },
    default: Some("300"),
    read: |node| seconds(node, times::dialog_timeout),
};

pub(crate) static DIALOG_BRIDGE: Key<DialogBridge> = Key {
    name: "browser.dialog_bridge",
    about: "Whether dialogs are taken over before the browser shows them: where its host would answer them by itself, \
            always, or never.",
    kind: Kind::Word(&["auto", "always", "never"]),
    default: Some("auto"),
    read: |node| {
        node.read(|word| match word {
            "auto" => Ok(DialogBridge::Auto),
            "always" => Ok(DialogBridge::Always),
            "never" => Ok(DialogBridge::Never),
            other => Err(format!("{other:?} is no choice; use auto, always or never")),
        })
    },
};

pub(crate) static QUIET: Key<bool> = Key {
    name: "browser.quiet",
    about: "Leaves off what a page's script could notice; the console is then fetched only when somebody asks for it.",
    kind: Kind::Flag,
    default: Some("false"),
    read: |node| node.read(|word| Ok(word.eq_ignore_ascii_case("true"))),
};

pub(crate) static BROWSER_USE_API_BASE: Key<SecretUrl> = Key {
    name: "cloud.browser_use.api_base",
    about: "Where the API of Browser Use is, if not at its usual place.",
    kind: Kind::ApiBase,
    default: None,
    read: |node| node.read(api_base),
};

pub(crate) static BROWSER_USE_OPTIONS: Key<CloudOptions> = Key {
    name: "cloud.browser_use.options",
    about: "What goes along with every request for a browser, in the service's own words, such as `timeout` or \
            `proxyCountryCode`.",
    kind: Kind::Options,
    default: None,
    read: cloud_options,
};

pub(crate) static BROWSERBASE_API_BASE: Key<SecretUrl> = Key {
    name: "cloud.browserbase.api_base",
    about: "Where the API of Browserbase is, if not at its usual place.",
    kind: Kind::ApiBase,
    default: None,
    read: |node| node.read(api_base),
};

pub(crate) static BROWSERBASE_PROJECT: Key<String> = Key {
    name: "cloud.browserbase.project_id",
    about: "The project that browsers are started in, if not that of the key.",
    kind: Kind::Id,
    default: None,
    read: |node| {
        node.read(|id| {
            let is_id = cloud::is_id(id);
            is_id
                .then(|| id.to_owned())
                .ok_or_else(|| format!("{id:?} is no id; use 1 to 128 letters, digits, - and _"))
        })
    },
};

pub(crate) static BROWSERBASE_OPTIONS: Key<CloudOptions> = Key {
    name: "cloud.browserbase.options",
    about: "What goes along with every request for a browser, in the service's own words, such as `timeout` or `region`.",
    kind: Kind::Options,
    default: None,
    read: cloud_options,
};

pub(crate) static IDLE_TIMEOUT: Key<Duration> = Key {
    name: "daemon.idle_timeout",
    about: "After how many seconds without a client the daemon ends. A browser that ostler did not start lives on. \
            Without it the daemon stays.",
    kind: Kind::Seconds { at_most: times::IDLE_LONGEST },
    default: None,
    read: |node| seconds(node, times::idle_timeout),
};

/// Says what is wrong in a file, if anything is.
pub(super) fn check_all(file: &Document) -> Result<(), Fault> {
    ALL.iter().filter_map(|key| file.node(key.name()).map(|node| key.check(node))).collect::<Result<(), _>>()?;
    match (file.node(HEADERS.name), file.node(CDP_URL.name)) {
        // A URL of the environment or of a command is another one, and must not get the key of this file's.
        (Some(headers), None) => Err(headers.fault(
            "go with `browser.cdp_url` alone, and that is not set, so they would go nowhere; set it, or leave them out",
        )),
        _ => Ok(()),
    }
}

fn seconds(node: &Node, rule: fn(f64) -> Result<Duration, String>) -> Result<Duration, Fault> {
    // What is no number is no time either; no such node gets here.
    let seconds = node.number().unwrap_or(f64::NAN);
    node.read(|text| rule(seconds).map_err(|why| format!("{text} is no time to wait; it {why}")))
}

/// Never repeats the value: it may carry a token.
fn api_base(text: &str) -> Result<SecretUrl, String> {
    let url = SecretUrl::new(text);
    match cloud::check_api_base(&url) {
        Ok(_) => Ok(url),
        Err(problem) => Err(format!("{problem}; give {}", Kind::ApiBase.allowed())),
    }
}

/// Flags that would part the browser from ostler, each because ostler sets it itself.
pub(super) const OURS: [&str; 3] = ["--remote-debugging-port", "--remote-debugging-pipe", "--user-data-dir"];

/// Takes a flag for a browser that ostler launches. What is none, or is ostler's own to set, is refused by name.
pub(crate) fn flag(text: &str) -> Result<String, String> {
    let name = text.split('=').next().unwrap_or_default();
    if OURS.contains(&name) {
        return Err(format!("{name} is ostler's own to set; leave it out"));
    }
    if !name.starts_with("--") || name.len() == 2 {
        return Err(format!("{text:?} is no flag; a flag begins with --"));
    }
    Ok(text.to_owned())
}

/// What is passed on to a cloud service. It cannot print itself: a proxy's password may be among it.
#[derive(Default)]
pub(crate) struct CloudOptions(pub(crate) Map<String, Value>);

impl fmt::Debug for CloudOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// A value that is JSON is passed on as such, all else as text.
fn cloud_options(node: &Node) -> Result<CloudOptions, Fault> {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    Ok(CloudOptions(node.entries().map(|(name, entry)| (name.to_owned(), value(entry.text()))).collect()))
}

/// Headers that make the connection what it is, and one that Chromium refuses (fact D3).
pub(super) const NOT_TO_SET: [&str; 6] =
    ["host", "connection", "upgrade", "content-length", "transfer-encoding", "origin"];

/// How the names of more such headers begin.
pub(super) const NOT_TO_SET_PREFIX: &str = "sec-websocket-";

/// Never repeats the value: it may be a key.
fn header((name, node): (&str, &Node)) -> Result<(HeaderName, HeaderValue), Fault> {
    let name: HeaderName =
        name.parse().map_err(|_| node.fault("is no name that an HTTP header can have; use letters, digits and -"))?;
    if NOT_TO_SET.contains(&name.as_str()) || name.as_str().starts_with(NOT_TO_SET_PREFIX) {
        return Err(node.fault("is part of how a connection is made and cannot be set; leave it out"));
    }
    let mut value = node.read(|text| {
        // The type takes bytes beyond ASCII too, and every server reads others out of them.
        let value = HeaderValue::from_str(text).ok().filter(|_| text.is_ascii());
        value.ok_or_else(|| "has a character that no HTTP header can carry; use plain ASCII on one line".to_owned())
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(text: &str) -> Document {
        Document::parse(text, ALL).expect("a good file")
    }

    #[test]
    fn values_become_what_the_program_works_with() {
        let file = document(
            "browser:\n  dialog_policy: auto_accept\n  dialog_timeout_s: 12.5\n  cdp_url: https://host.example/?token=T\n  \
             executable: /opt/chrome\n  flags: [--mute-audio]\n  headers: {X-Key: secret}\n",
        );
        assert_eq!(DIALOG_POLICY.of(&file), Ok(Some(DialogPolicy::AutoAccept)));
        assert_eq!(DIALOG_TIMEOUT.of(&file), Ok(Some(Duration::from_millis(12_500))));
        let given = Given::new(SecretUrl::new("https://host.example/?token=T"), "browser.cdp_url in config.yaml");
        assert_eq!(CDP_URL.of(&file), Ok(Some(NamedBrowser::Http(given))));
        assert_eq!(EXECUTABLE.of(&file), Ok(Some(PathBuf::from("/opt/chrome"))));
        assert_eq!(FLAGS.of(&file), Ok(Some(vec!["--mute-audio".to_owned()])));
        assert_eq!(QUIET.of(&file), Ok(None));
        let headers = HEADERS.of(&file).expect("a good value").expect("a value");
        assert_eq!(headers[0].1.to_str().expect("text"), "secret");
        assert!(!format!("{headers:?}").contains("secret"), "{headers:?}");
    }

    #[test]
    fn what_a_cloud_service_is_told_keeps_its_shape() {
        let file = document(
            "cloud:\n  browserbase:\n    options:\n      proxies: [{type: browserbase, port: 8080, on: true, of: ~}]\n      \
             keepAlive: true\n      region: '{\"a\": [1]}'\n      note: 0x1f\n",
        );
        let options = BROWSERBASE_OPTIONS.of(&file).expect("good values").expect("a value").0;
        let proxies = json!([{"type": "browserbase", "port": 8080, "on": true, "of": null}]);
        let all = json!({"proxies": proxies, "keepAlive": true, "region": {"a": [1]}, "note": "0x1f"});
        assert_eq!(Value::Object(options), all);
    }

    #[test]
    fn headers_that_make_the_connection_are_not_to_be_set() {
        for name in ["Host", "Sec-WebSocket-Key", "Origin", "UPGRADE", "a b"] {
            let file = document(&format!("browser: {{headers: {{'{name}': x}}}}"));
            let fault = HEADERS.of(&file).expect_err(name).to_string();
            assert!(fault.contains(&format!("`browser.headers.{name}`")), "{fault}");
        }
    }

    #[test]
    fn every_key_has_a_section_and_sorts_with_it() {
        let sections: Vec<_> = ALL.iter().map(|key| key.name().split('.').next()).collect();
        let mut grouped = sections.clone();
        grouped.sort();
        assert_eq!(sections, grouped, "keys of a section stand together");
        assert!(ALL.iter().all(|key| key.name().contains('.')));
    }
}
