//! `browser_navigate`: opens an address and waits until it is loaded.

mod leaving;
mod loading;

use std::time::Duration;

use ostler_core::view::{DialogKind, TabView};
use ostler_core::{CallError, TimeoutHint, shown_address};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::leaving::{Sent, make_way, send};
use self::loading::{Loading, dialogs_of, wait_for_load};
use super::context::{Context, Tab};
use super::held_up::{self, HeldUp};
use super::outcome::Outcome;
use super::tab_names;
use super::tabs;
use super::waiting::Watch;
use crate::meta::TaskLayer;
use crate::meta::value::{bad, shown};

/// How long a document may take to load before the tool returns with what there is.
const LOAD: Duration = Duration::from_secs(15);
/// How long a document may take to come and load at least, once its server has answered.
const COME: Duration = Duration::from_secs(5);
/// How long a page may take to say why it is not there.
const ASK: Duration = Duration::from_millis(500);
/// How long a page may take to crash once it was told to.
const CRASH: Duration = Duration::from_millis(500);

/// How long a document that has come may take to say what it is.
const ABOUT: Duration = Duration::from_secs(2);

/// Opens a URL and waits for it to load.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    url: String,
    /// In a new tab, which becomes the current one.
    new_tab: Option<bool>,
}

#[derive(Debug, Serialize)]
struct Data {
    tab: String,
    target_id: String,
    url: String,
    title: String,
    /// HTTP's, where there was an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    loaded: bool,
}

impl Data {
    /// What is known of a tab without asking it.
    fn of(view: TabView, loaded: bool) -> Self {
        Self {
            tab: tab_names::name(&view),
            target_id: view.target_id.to_string(),
            url: view.url,
            title: view.title,
            status: None,
            loaded,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    /// Absent when only the fragment changed: nothing is loaded then.
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

impl Args {
    /// Returns the arguments that open an address in a new tab.
    pub(super) fn in_new_tab(url: String) -> Self {
        Self { url, new_tab: Some(true) }
    }
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let url = with_scheme(args.url.trim())?;
    if args.new_tab != Some(true) {
        return open(&context.tab().await?, &url).await;
    }
    in_new_tab(context, &url).await
}

/// Opens an address in a new tab, which is closed again if it shows nothing of it: an agent that is told of an error
/// takes it that nothing happened.
async fn in_new_tab<T: TaskLayer>(context: &Context<'_, T>, url: &str) -> Result<Outcome, CallError> {
    let before = context.view()?.current.clone();
    tabs::open(context).await?;
    let tab = context.tab().await?;
    let opened = open(&tab, url).await;
    if matches!(opened, Err(CallError::Cdp { .. })) {
        tabs::take_back(context, &tab.target, before).await;
    }
    opened
}

/// Opens an address in a tab and waits until it is loaded, or as long as that may take.
async fn open<T: TaskLayer>(tab: &Tab<'_, T>, url: &str) -> Result<Outcome, CallError> {
    make_way(tab).await?;
    let mut watch = Watch::begin(tab, &["Page.loadEventFired", "Page.frameNavigated"], LOAD)?;
    let open_before: Vec<_> = dialogs_of(tab)?.iter().map(|dialog| dialog.id).collect();
    let Sent { answer, stopped } = send(tab, url).await?;
    let ended = match answer {
        Ok(navigated) if navigated.is_download => {
            let text = format!("{} is a download; the page stays as it was.", shown_address(url));
            return Ok(Outcome::new(text, &json!({"url": url, "download": true})));
        }
        Ok(Navigated { error_text: Some(error), .. }) => {
            // An address that exists to crash what opens it is answered as if it had been refused.
            if is_of_the_browser(url) {
                watch.next_events(CRASH).await?;
            }
            return Err(CallError::Cdp { code: 0, message: failed(url, &error) });
        }
        Ok(Navigated { loader_id: None, .. }) => Loading::Done,
        Ok(Navigated { loader_id, .. }) => {
            // It is answered once the server has answered, however long that took.
            watch.extend(COME);
            wait_for_load(tab, &mut watch, &open_before, loader_id.as_deref()).await?
        }
        Err(timeout @ CallError::Timeout { .. }) => match tab.ask(ASK).await {
            Err(CallError::Timeout { hint: TimeoutHint::Arriving, .. }) => return unanswered(tab, url),
            _ => return Err(timeout),
        },
        // It is on its way all the same: only a `beforeunload` is asked whether it may.
        Err(CallError::DialogOpen { dialog, sent: true }) if dialog.kind != DialogKind::Beforeunload => {
            wait_for_load(tab, &mut watch, &open_before, None).await?
        }
        Err(CallError::Cdp { code, message }) if message.contains("invalid URL") => {
            let message = format!("{:?} is no URL, such as https://example.com/path ({message})", shown(url));
            return Err(CallError::Cdp { code, message });
        }
        Err(error) => return Err(error),
    };
    report(tab, ended, stopped).await
}

/// Says that the server takes its time, which is no failure: the tab goes on waiting for it.
fn unanswered<T: TaskLayer>(tab: &Tab<'_, T>, url: &str) -> Result<Outcome, CallError> {
    let data = Data::of(tab.view()?, false);
    let text = format!(
        "{} is not there yet: its server has not answered within {} s, and {} goes on waiting for it. browser_wait waits \
         longer; browser_cdp with Page.stopLoading gives it up.",
        shown_address(url),
        LOAD.as_secs(),
        data.tab,
    );
    Ok(Outcome::new(text, &data))
}

/// Returns whether an address is one of the browser's own.
fn is_of_the_browser(url: &str) -> bool {
    url.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("chrome:"))
}

async fn report<T: TaskLayer>(tab: &Tab<'_, T>, loading: Loading, stopped: bool) -> Result<Outcome, CallError> {
    let words = tab.context().words;
    let mut data = Data::of(tab.view()?, loading == Loading::Done);
    let mut still = match &loading {
        Loading::Done => String::new(),
        Loading::Held => " It does not load any further before its dialog is answered.".to_owned(),
        Loading::HeldUp(held) => format!(" {}", held.sentence(words)),
        Loading::Goes => " It is still loading.".to_owned(),
    };
    // What is known of title and address lags behind the page a little; a page that is held up cannot be asked.
    if !matches!(loading, Loading::Held | Loading::HeldUp(HeldUp::Dialog(_) | HeldUp::Script(_))) {
        match tab.page()?.about(ABOUT).await {
            Ok(page) => {
                (data.url, data.title) = (page.url.0, page.title.0);
                data.status = Some(page.status).filter(|code| *code > 0);
            }
            Err(error) if HeldUp::is_by_script(&error) => still += &format!(" Now {}.", held_up::why(&error, words)),
            Err(_) => {}
        }
    }
    if stopped {
        still += " The page before it did not let go: its beforeunload handler never ended, and was stopped.";
    }
    let title = if data.title.is_empty() { String::new() } else { format!(" {:?}", shown(&data.title)) };
    let status = data.status.filter(|code| *code >= 400).map_or_else(String::new, |code| format!(" (HTTP {code})"));
    Ok(Outcome::new(format!("Opened {}{title}{status} in {}.{still}", shown_address(&data.url), data.tab), &data))
}

/// Returns HTTP's status of the document that a tab shows, of its error page too; 0 if there was none.
pub(super) async fn status<T: TaskLayer>(tab: &Tab<'_, T>) -> Result<u16, CallError> {
    Ok(tab.page()?.about(ABOUT).await?.status)
}

/// What to do about HTTP 401 and 407: Chromium shows the question to nobody, and its own error page instead (fact A32).
pub(super) const WANTS_LOGIN: &str = "the server wants a user name and a password (HTTP 401); if you were given them, \
                                      open https://USER:PASSWORD@HOST/";

/// Says in words what Chromium's error means, where there is something to do about it.
fn failed(url: &str, error: &str) -> String {
    let meaning = match error {
        "net::ERR_INVALID_AUTH_CREDENTIALS" | "net::ERR_UNEXPECTED_PROXY_AUTH" => WANTS_LOGIN,
        "net::ERR_NAME_NOT_RESOLVED" => "no such host; check the spelling",
        "net::ERR_CONNECTION_REFUSED" => "nothing listens there; check host and port",
        "net::ERR_INTERNET_DISCONNECTED" => "this machine is offline",
        "net::ERR_ABORTED" => {
            "the page refused to be left, or the server sent nothing to show; the page stays as it was"
        }
        "net::ERR_HTTP_RESPONSE_CODE_FAILURE" => "the server answered with an error status and an empty page",
        _ => "the page could not be opened",
    };
    format!("{}: {meaning} ({error})", shown_address(url))
}

/// Returns the address with `https://` before it where it has no scheme, as a browser's address bar does.
fn with_scheme(url: &str) -> Result<String, CallError> {
    const WITHOUT_SLASHES: &[&str] = &["about:", "data:", "blob:", "view-source:", "mailto:"];
    if url.is_empty() {
        return Err(bad("url", "must not be empty"));
    }
    if url.get(..11).is_some_and(|scheme| scheme.eq_ignore_ascii_case("javascript:")) {
        return Err(bad("url", "is a script and no address: run it with browser_cdp and Runtime.evaluate"));
    }
    if url.contains("://") || WITHOUT_SLASHES.iter().any(|scheme| url.starts_with(scheme)) {
        return Ok(url.to_owned());
    }
    let host = url.split(['/', ':', '?', '#']).next().unwrap_or_default();
    let local = host == "localhost" || host.ends_with(".localhost") || host.parse::<std::net::Ipv4Addr>().is_ok();
    Ok(format!("{}://{url}", if local { "http" } else { "https" }))
}

#[cfg(test)]
mod tests {
    use super::with_scheme;

    #[test]
    fn an_address_without_a_scheme_gets_the_one_that_its_host_wants() {
        for (given, opened) in [
            ("example.com", "https://example.com"),
            ("localhost:3000/a", "http://localhost:3000/a"),
            ("127.0.0.1:80", "http://127.0.0.1:80"),
            ("about:blank", "about:blank"),
            ("https://a/?u=http://b", "https://a/?u=http://b"),
            ("data:text/html,x", "data:text/html,x"),
        ] {
            assert_eq!(with_scheme(given).as_deref(), Ok(opened));
        }
        for wrong in ["", "javascript:alert(1)", "JavaScript:void 0"] {
            assert!(with_scheme(wrong).is_err(), "{wrong}");
        }
    }
}
