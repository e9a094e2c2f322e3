//! `browser_wait`: waits for a condition, told by the page or by events, never by asking again and again.

mod traffic;

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use ostler_core::view::TabState;
use ostler_core::{CallError, FrameId, SessionId, TimeoutHint};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout_at};

use self::traffic::Traffic;
use super::context::{Context, Evaluated, Route, Tab};
use super::outcome::Outcome;
use super::waiting::{News, Watch};
use crate::meta::TaskLayer;
use crate::meta::value::bad;

const DEFAULT: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);
/// How long a frame is left alone that could not be asked: it is being replaced.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// Waits until one condition holds in the current tab.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// This text can be seen.
    text: Option<String>,
    /// Something visible matches this CSS selector.
    selector: Option<String>,
    /// The address contains this, or matches it where it has a *.
    url: Option<String>,
    /// true: the page is loaded.
    load: Option<bool>,
    /// true: the network is quiet; streams do not count.
    idle: Option<bool>,
    /// Default 10.
    timeout_s: Option<f64>,
}

/// What is waited for.
#[derive(Debug)]
enum Condition {
    Text(String),
    Selector(String),
    Url(String),
    Load,
    Idle,
}

impl Condition {
    fn read(args: Args) -> Result<(Self, Duration), CallError> {
        let patience = match args.timeout_s {
            None => DEFAULT,
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|time| !time.is_zero() && *time <= LONGEST)
                .ok_or_else(|| bad("timeout_s", format!("must be above 0 and at most {}", LONGEST.as_secs())))?,
        };
        let named = [
            args.text.map(Self::Text),
            args.selector.map(Self::Selector),
            args.url.map(Self::Url),
            args.load.filter(|wanted| *wanted).map(|_| Self::Load),
            args.idle.filter(|wanted| *wanted).map(|_| Self::Idle),
        ];
        let mut named = named.into_iter().flatten();
        match (named.next(), named.next()) {
            (Some(Self::Text(text) | Self::Selector(text) | Self::Url(text)), None) if text.trim().is_empty() => {
                Err(bad("text", "must not be empty"))
            }
            (Some(condition), None) => Ok((condition, patience)),
            _ => Err(bad("text", "name one condition: text, selector, url, load or idle")),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Text(text) => format!("the text {text:?}"),
            Self::Selector(selector) => format!("the selector {selector:?}"),
            Self::Url(url) => format!("the address {url:?}"),
            Self::Load => "the load".to_owned(),
            Self::Idle => "a quiet network".to_owned(),
        }
    }
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let (condition, patience) = Condition::read(args)?;
    let tab = context.tab().await?;
    let began = Instant::now();
    let wait = Wait { tab: &tab, deadline: began + patience };
    let came = match &condition {
        Condition::Text(text) => wait.for_page("text", text, true).await?,
        Condition::Selector(selector) => wait.for_page("selector", selector, true).await?,
        Condition::Load => wait.for_page("load", "", false).await?,
        Condition::Url(url) => wait.for_url(url).await?,
        Condition::Idle => wait.for_quiet().await?,
    };
    let waited_s = (began.elapsed().as_secs_f64() * 100.0).round() / 100.0;
    if !came {
        let url = tab.view()?.url;
        return Err(CallError::Timeout {
            method: format!("browser_wait for {} at {url}", condition.words()),
            timeout_ms: u64::try_from(patience.as_millis()).unwrap_or(u64::MAX),
            hint: TimeoutHint::None,
        });
    }
    let url = tab.view()?.url;
    let text = format!("There it is after {waited_s} s: {} ({url}).", condition.words());
    Ok(Outcome::new(text, &json!({"waited_s": waited_s, "url": url})))
}

struct Wait<'a, T> {
    tab: &'a Tab<'a, T>,
    deadline: Instant,
}

const FOLLOW: &str = include_str!("follow.js");

impl<T: TaskLayer> Wait<'_, T> {
    /// Lets the documents of the tab tell when the condition holds; of a frame tree that changes, the new ones too.
    async fn for_page(&self, kind: &str, wanted: &str, in_frames: bool) -> Result<bool, CallError> {
        const REPLACED: &[&str] = &["Page.frameNavigated", "Page.frameAttached", "Page.frameDetached"];
        let mut watch = Watch::begin(self.tab, REPLACED, self.left())?;
        'frames: loop {
            let frames = if in_frames { self.frames()? } else { vec![None] };
            let mut asked: FuturesUnordered<_> =
                frames.into_iter().map(|frame| self.ask(frame, kind, wanted)).collect();
            loop {
                tokio::select! {
                    Some(told) = asked.next() => match told {
                        Ok(true) => return Ok(true),
                        Ok(false) => {}
                        Err(error) => {
                            refuse_for_good(error)?;
                            sleep(ASK_AGAIN).await;
                            continue 'frames;
                        }
                    },
                    news = watch.next() => match news? {
                        News::Events(events) => {
                            let replaced = |event: &crate::tasks::Event| REPLACED.iter().any(|name| event.method == name.as_bytes());
                            if events.iter().any(replaced) {
                                continue 'frames;
                            }
                        }
                        News::Dialog => return Err(self.held()?),
                        News::TimeIsUp => return Ok(false),
                    },
                }
            }
        }
    }

    /// Asks one document to tell; the top one when none is named.
    async fn ask(&self, frame: Option<FrameId>, kind: &str, wanted: &str) -> Result<bool, CallError> {
        let left = self.left();
        let expression = format!("({FOLLOW})({}, {}, {})", json!(kind), json!(wanted), left.as_millis());
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        // The page gives up by itself; a page that cannot is given a little longer.
        let timeout = Some(left + Duration::from_secs(1));
        let target = frame.is_none().then(|| self.tab.target.clone());
        let route = Route { target, frame, timeout, ..Route::default() };
        let evaluated: Evaluated = self.tab.context().call("Runtime.evaluate", &params, route).await?;
        evaluated.read()
    }

    /// Returns the frames below the top one, and nothing for that.
    fn frames(&self) -> Result<Vec<Option<FrameId>>, CallError> {
        let view = self.tab.context().view()?;
        let below = view.frame_tree.iter().filter(|tree| tree.top.frame_id.as_str() == self.tab.target.as_str());
        let below = below.flat_map(|tree| tree.children.iter().map(|frame| Some(frame.frame_id.clone())));
        Ok(std::iter::once(None).chain(below).collect())
    }

    async fn for_url(&self, wanted: &str) -> Result<bool, CallError> {
        let methods = ["Page.frameNavigated", "Page.navigatedWithinDocument"];
        let mut watch = Watch::begin(self.tab, &methods, self.left())?;
        loop {
            if matches(&self.tab.view()?.url, wanted) {
                return Ok(true);
            }
            match watch.next().await? {
                News::Events(_) => {}
                News::Dialog => return Err(self.held()?),
                News::TimeIsUp => return Ok(false),
            }
        }
    }

    async fn for_quiet(&self) -> Result<bool, CallError> {
        let context = self.tab.context();
        let events = context.tasks.events(context.task)?;
        let mut traffic = Traffic::new(self.tab.target.as_str(), Instant::now().into_std());
        let mut since = 0;
        loop {
            let batch = crate::meta::EventSource::page(&*events, since, 1024, &traffic::filter());
            since = batch.next;
            let view = context.view()?;
            let frames = view.frame_tree.iter().flat_map(|tree| &tree.children);
            let sessions: Vec<_> = frames.filter_map(|frame| frame.session_id.as_ref()).collect();
            let now = Instant::now();
            for event in &batch.events {
                let of_tab = |session: &SessionId| *session == self.tab.session || sessions.contains(&session);
                if event.session_id.as_ref().is_some_and(of_tab) {
                    traffic.take(&event.method, &event.params, now.into_std());
                }
            }
            let tab = self.tab.view()?;
            match tab.state {
                TabState::Dialog | TabState::Blocked => return Err(self.held()?),
                TabState::Crashed => return Err(CallError::TargetCrashed { what: format!("tab {}", tab.target_id) }),
                _ => {}
            }
            let quiet_at = Instant::from_std(traffic.quiet_at());
            if quiet_at <= now {
                return Ok(true);
            }
            let next = crate::meta::EventSource::wait_beyond(&*events, since);
            if timeout_at(quiet_at.min(self.deadline), next).await.is_err() && Instant::now() >= self.deadline {
                return Ok(false);
            }
        }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the error for a tab that a dialog holds.
    fn held(&self) -> Result<CallError, CallError> {
        let view = self.tab.context().view()?;
        let open = view.pending_dialogs.iter().find(|dialog| dialog.session_id == self.tab.session);
        Ok(match open.or(view.pending_dialogs.first()) {
            Some(dialog) => CallError::DialogOpen { dialog: dialog.clone(), sent: false },
            None => CallError::NoDialog { why: Some("the dialog that held the page is over already") },
        })
    }
}

/// Passes on what asking again cannot change.
fn refuse_for_good(error: CallError) -> Result<(), CallError> {
    match error {
        CallError::UnknownOutcome { .. }
        | CallError::SessionGone { .. }
        | CallError::UnknownFrame { .. }
        | CallError::FrameInProcess { .. } => Ok(()),
        // A document that is just being replaced (fact A19); what the page's script threw is an answer.
        CallError::Cdp { code, .. } if code != 0 => Ok(()),
        error => Err(error),
    }
}

/// Returns whether an address contains what is wanted, or, where that has a `*`, is all of it.
fn matches(url: &str, wanted: &str) -> bool {
    let Some((start, rest)) = wanted.split_once('*') else { return url.contains(wanted) };
    let Some(mut left) = url.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn an_address_is_found_by_a_part_or_by_a_pattern() {
        let url = "https://a.example/cart/12?x=1";
        for wanted in ["/cart", "https://a.example/*", "*x=1", "https://*/cart/*?x=1", "*", "https://a*"] {
            assert!(matches(url, wanted), "{wanted}");
        }
        for wanted in ["/Cart", "cart*", "*/cart", "https://*/order/*", "*x=1*2"] {
            assert!(!matches(url, wanted), "{wanted}");
        }
    }
}
