//! Speaks to a cloud service's API: starts a browser, looks one up, stops one. Blocking, and bounded.

use std::time::Duration;

use serde_json::{Map, Value};
use ureq::http::{HeaderValue, Uri};

use super::super::error::EndpointError;
use super::super::http;
use super::super::version_page::Limits;
use super::error::{CloudError, Doing};
use super::provider::{Provider, Verb};
use crate::secret::{Secret, SecretUrl};

/// A browser may take its time to start.
const CREATE: Limits = Limits { connect: Duration::from_secs(10), total: Duration::from_secs(60) };
/// All else is a look into a table.
const ORDINARY: Limits = Limits { connect: Duration::from_secs(4), total: Duration::from_secs(8) };
/// How often a browser is told to stop before that is left to whoever comes next.
const STOP_TRIES: u32 = 3;
/// The wait between two of them.
const STOP_PAUSE: Duration = Duration::from_millis(500);
/// How often a new browser is asked for its address, and how long to wait in between.
const ADDRESS_TRIES: u32 = 20;
const ADDRESS_PAUSE: Duration = Duration::from_millis(500);
/// The longest answer that is read.
const MAX_REPLY: u64 = 1 << 20;
/// How much of a service's own words an error repeats.
const SAID: usize = 200;

/// The way to one account at one service.
pub(crate) struct Api {
    provider: Provider,
    base: String,
    /// The base as far as it may be shown.
    label: String,
    tls: bool,
    key: HeaderValue,
    project: Option<String>,
}

/// A browser as the service describes it.
pub(super) struct Described {
    pub(super) id: String,
    pub(super) address: Option<SecretUrl>,
    pub(super) live_url: Option<SecretUrl>,
}

impl Api {
    /// Checks the base and the key. What is wrong is said without repeating either.
    pub(crate) fn new(
        provider: Provider,
        base: &SecretUrl,
        key: &Secret,
        project: Option<&str>,
    ) -> Result<Self, CloudError> {
        let tls =
            check_api_base(base).map_err(|problem| CloudError::BadApiBase { provider, problem: problem.to_owned() })?;
        let mut key = HeaderValue::from_str(key.expose()).map_err(|_| CloudError::BadKey { provider })?;
        key.set_sensitive(true);
        let base = base.expose().trim_end_matches('/').to_owned();
        Ok(Self {
            provider,
            label: SecretUrl::new(base.as_str()).label(),
            base,
            tls,
            key,
            project: project.map(str::to_owned),
        })
    }

    /// Asks for a browser. `options` are passed on as they are.
    pub(super) fn create(&self, options: &Map<String, Value>) -> Result<Described, CloudError> {
        let body = self.provider.create_body(options, self.project.as_deref());
        let path = self.provider.collection();
        let answer = self.ask(Doing::Create, Verb::Post, path, Some(&body), CREATE)?;
        self.describe(Doing::Create, &answer)
    }

    /// Completes what is known of a browser: some get their address, or a page to watch them, only a moment later.
    pub(super) fn complete(&self, mut browser: Described) -> Result<Described, CloudError> {
        for _ in 0..ADDRESS_TRIES {
            if browser.address.is_some() {
                break;
            }
            std::thread::sleep(ADDRESS_PAUSE);
            browser = self.look_up(&browser.id)?;
        }
        if self.provider == Provider::Browserbase && browser.live_url.is_none() {
            // Nice to have: a service that does not tell is no reason to fail.
            let path = format!("{}/{}/debug", self.provider.collection(), browser.id);
            if let Ok(answer) = self.ask(Doing::LookUp, Verb::Get, &path, None, ORDINARY) {
                browser.live_url = url(&answer, "debuggerFullscreenUrl");
            }
        }
        Ok(browser)
    }

    /// Returns what the service knows of a browser.
    pub(super) fn look_up(&self, id: &str) -> Result<Described, CloudError> {
        let answer = self.ask(Doing::LookUp, Verb::Get, &self.path(id)?, None, ORDINARY)?;
        self.describe(Doing::LookUp, &answer)
    }

    /// Stops a browser. One that is over already counts as stopped.
    pub(crate) fn stop(&self, id: &str) -> Result<(), CloudError> {
        let path = self.path(id)?;
        let (verb, body) = self.provider.stop_request(self.project.as_deref());
        let mut tries = 1;
        loop {
            match self.ask(Doing::Stop, verb, &path, Some(&body), ORDINARY) {
                Ok(_) | Err(CloudError::Refused { status: 404 | 409 | 410, .. }) => return Ok(()),
                Err(CloudError::Unreachable { .. } | CloudError::Refused { status: 429 | 500.., .. })
                    if tries < STOP_TRIES =>
                {
                    std::thread::sleep(STOP_PAUSE);
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the path of one browser. The id comes from outside, and must not lead to another path.
    fn path(&self, id: &str) -> Result<String, CloudError> {
        if !is_id(id) {
            return Err(CloudError::BadId { provider: self.provider });
        }
        Ok(format!("{}/{id}", self.provider.collection()))
    }

    fn ask(
        &self,
        doing: Doing,
        verb: Verb,
        path: &str,
        body: Option<&Value>,
        limits: Limits,
    ) -> Result<Value, CloudError> {
        let unreachable =
            |cause: String| CloudError::Unreachable { provider: self.provider, at: self.label.clone(), cause };
        let agent = http::agent(self.tls, limits).map_err(|error: EndpointError| unreachable(error.happened()))?;
        let url = format!("{}/{path}", self.base);
        let (name, key) = (self.provider.key_header(), self.key.clone());
        let text = body.map(Value::to_string).unwrap_or_default();
        let sent = match verb {
            Verb::Get => agent.get(&url).header(name, key).header("Accept", "application/json").call(),
            Verb::Post => agent.post(&url).header(name, key).header("Content-Type", "application/json").send(&text),
            Verb::Patch => agent.patch(&url).header(name, key).header("Content-Type", "application/json").send(&text),
        };
        let broke = |error: ureq::Error| match doing {
            // The service may have got the request, and a browser that somebody pays for may run.
            Doing::Create if !is_before_the_request(&error) => {
                self.nonsense(doing, &format!("its answer did not arrive ({})", plain(&error)))
            }
            _ => unreachable(plain(&error)),
        };
        let mut reply = sent.map_err(broke)?;
        let status = reply.status().as_u16();
        let read = reply.body_mut().with_config().limit(MAX_REPLY).read_to_vec();
        if !(200..300).contains(&status) {
            let said = read.map(|body| self.without_secrets(&reason(&body), body_texts(&text))).unwrap_or_default();
            return Err(CloudError::Refused { provider: self.provider, doing, status, said });
        }
        let read = read.map_err(broke)?;
        // What a stop is answered with says nothing that is needed.
        if doing == Doing::Stop {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&read).map_err(|_| self.nonsense(doing, "its answer is no JSON"))
    }

    fn describe(&self, doing: Doing, answer: &Value) -> Result<Described, CloudError> {
        let id = answer["id"].as_str().filter(|id| is_id(id));
        let id = id.ok_or_else(|| self.nonsense(doing, "its answer names no browser"))?;
        Ok(Described {
            id: id.to_owned(),
            address: url(answer, self.provider.address_field()),
            live_url: url(answer, "liveUrl"),
        })
    }

    fn nonsense(&self, doing: Doing, what: &str) -> CloudError {
        CloudError::Nonsense { provider: self.provider, doing, what: what.to_owned() }
    }

    /// Takes the key, and whatever the user passed on, out of a service's own words.
    fn without_secrets(&self, said: &str, passed_on: Vec<String>) -> String {
        let mut said = said.to_owned();
        for secret in self.key.to_str().ok().map(str::to_owned).into_iter().chain(passed_on) {
            said = said.replace(&secret, "‹hidden›");
        }
        said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SAID).collect()
    }
}

/// Says what is wrong with the URL of an API, without repeating any of it; returns whether it is over TLS.
pub(crate) fn check_api_base(base: &SecretUrl) -> Result<bool, &'static str> {
    let tls = match base.expose().split_once("://") {
        Some(("https", _)) => true,
        Some(("http", _)) => false,
        _ => return Err("does not start with https://"),
    };
    let uri: Uri = base.expose().parse().map_err(|_| "is no valid URL")?;
    let authority = uri.authority().filter(|authority| !authority.host().is_empty()).ok_or("names no host")?;
    if authority.as_str().contains('@') || uri.query().is_some() || base.expose().contains('#') {
        return Err("carries a user name, a password, a query or a fragment, which ostler does not send");
    }
    if authority.port_u16().is_none() && authority.as_str() != authority.host() {
        return Err("has no valid port");
    }
    if !tls && !is_this_machine(authority.host()) {
        // The key would be on the wire for all to read.
        return Err("is http:// to another machine, which would show the API key to the network");
    }
    Ok(tls)
}

/// Says whether a text can be the id of a browser, and nothing else.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn url(answer: &Value, field: &str) -> Option<SecretUrl> {
    answer[field].as_str().filter(|url| !url.is_empty()).map(SecretUrl::new)
}

/// Returns the sentence in a refusal: services put it under one of these names.
fn reason(body: &[u8]) -> String {
    let Ok(answer) = serde_json::from_slice::<Value>(body) else { return String::new() };
    let said = ["detail", "message", "error"].into_iter().map(|name| &answer[name]).find(|said| !said.is_null());
    match said {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(inner)) => inner.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// Returns every text in what was sent that is long enough to be somebody's secret.
fn body_texts(body: &str) -> Vec<String> {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) if text.len() >= 6 => texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(fields) => fields.values().for_each(|field| collect(field, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    if let Ok(value) = serde_json::from_str(body) {
        collect(&value, &mut texts);
    }
    // The longest first: one may hold another.
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    texts
}

/// Returns whether nothing was sent: no connection came about.
fn is_before_the_request(error: &ureq::Error) -> bool {
    use std::io::ErrorKind;
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::Rustls(_) => true,
        ureq::Error::Timeout(limit) => matches!(limit, ureq::Timeout::Resolve | ureq::Timeout::Connect),
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable
        ),
        _ => false,
    }
}

/// Says what went wrong in words of our own: ureq's may repeat the URL.
fn plain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "it took too long".to_owned(),
        ureq::Error::HostNotFound => "its name does not resolve".to_owned(),
        ureq::Error::ConnectionFailed => "the connection failed".to_owned(),
        ureq::Error::Rustls(error) => format!("TLS: {error}"),
        ureq::Error::Io(error) => error.kind().to_string(),
        _ => "it does not speak HTTP".to_owned(),
    }
}
