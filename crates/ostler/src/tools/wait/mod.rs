//! `browser_wait`: waits for a condition, told by the page or by events; the page itself looks twice a second for what
//! tells nothing, such as a style that changes.

mod traffic;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use ostler_core::view::{Arrival, DialogView, TabState, TabView, TaskView};
use ostler_core::{CallError, FrameId, SessionId, TargetId, TimeoutHint, shown_address};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout_at};

use self::traffic::Traffic;
use super::context::{Context, Tab};
use super::outcome::Outcome;
use super::waiting::{News, Watch};
use crate::meta::TaskLayer;
use crate::meta::value::{bad, shown};
use crate::page::{Asked, Page, Question};
use crate::tasks::Event;
use crate::times;

const DEFAULT: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);
/// How long a frame is left alone that could not be asked: it is being replaced.
const ASK_AGAIN: Duration = Duration::from_millis(50);
/// How long a document is asked for what holds now, while a dialog is open.
const LOOK: Duration = Duration::from_secs(1);

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
        let patience = times::tool_timeout(args.timeout_s, DEFAULT, LONGEST).map_err(|why| bad("timeout_s", why))?;
        let named = [
            args.text.map(Self::Text),
            args.selector.map(Self::Selector),
            args.url.map(Self::Url),
            args.load.filter(|wanted| *wanted).map(|_| Self::Load),
            args.idle.filter(|wanted| *wanted).map(|_| Self::Idle),
        ];
        let mut named = named.into_iter().flatten();
        match (named.next(), named.next()) {
            (Some(condition), None) => match condition.empty() {
                Some(field) => Err(bad(field, "must not be empty: say what to wait for")),
                None => Ok((condition, patience)),
            },
            (Some(one), Some(other)) => {
                let (one, other) = (one.name(), other.name());
                Err(bad(one, format!("cannot stand beside `{other}`: wait for one condition, and then for the next")))
            }
            (None, _) => Err(bad("text", "is missing: name one condition: text, selector, url, load or idle")),
        }
    }

    /// Returns the argument that names it.
    fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Selector(_) => "selector",
            Self::Url(_) => "url",
            Self::Load => "load",
            Self::Idle => "idle",
        }
    }

    /// Returns the argument at fault where it says nothing.
    fn empty(&self) -> Option<&'static str> {
        match self {
            Self::Text(given) | Self::Selector(given) | Self::Url(given) => {
                given.trim().is_empty().then(|| self.name())
            }
            Self::Load | Self::Idle => None,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Text(text) => format!("the text {:?}", shown(text)),
            Self::Selector(selector) => format!("the selector {:?}", shown(selector)),
            Self::Url(url) => format!("the address {:?}", shown(url)),
            Self::Load => "the load".to_owned(),
            Self::Idle => "a quiet network".to_owned(),
        }
    }

    /// Says that it did not come, up to the time that it was given.
    fn not_come(&self) -> String {
        match self {
            Self::Text(text) => format!("the text {:?} was not seen", shown(text)),
            Self::Selector(selector) => format!("nothing that can be seen matched the selector {:?}", shown(selector)),
            Self::Url(url) => format!("the address did not come to match {:?}", shown(url)),
            Self::Load => "the page was not loaded".to_owned(),
            Self::Idle => "the network was not quiet".to_owned(),
        }
    }
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let (condition, patience) = Condition::read(args)?;
    let tab = context.tab().await?;
    let began = Instant::now();
    let wait = Wait { tab: &tab, deadline: began + patience };
    let came = match &condition {
        Condition::Text(text) => wait.for_page("text", text).await?,
        Condition::Selector(selector) => wait.for_page("selector", selector).await?,
        Condition::Load => wait.for_page("load", "").await?,
        Condition::Url(url) => wait.for_url(url).await?,
        Condition::Idle => wait.for_quiet().await?,
    };
    let waited_s = (began.elapsed().as_secs_f64() * 100.0).round() / 100.0;
    if !came {
        let TabView { url, title, number, state, arrival, .. } = tab.view()?;
        let instead = match state {
            TabState::Ready if arrival == Arrival::Requested => {
                format!("t{number} goes to another page, whose server has not answered yet")
            }
            TabState::Hung => format!("a script keeps t{number} busy, at {}", shown_address(&url)),
            _ => format!("t{number} shows {:?} at {}", shown(&title), shown_address(&url)),
        };
        return Err(CallError::NotCome {
            what: condition.not_come(),
            timeout_ms: u64::try_from(patience.as_millis()).unwrap_or(u64::MAX),
            instead,
        });
    }
    let url = tab.view()?.url;
    let text = format!("There it is after {waited_s} s: {} ({}).", condition.words(), shown_address(&url));
    Ok(Outcome::new(text, &json!({"waited_s": waited_s, "url": url})))
}

struct Wait<'a, T> {
    tab: &'a Tab<'a, T>,
    deadline: Instant,
}

/// A frame below the top one; none for that.
type Place = Option<FrameId>;

const NEW_DOCUMENTS: &[&str] = &["Page.frameNavigated", "Page.frameAttached"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewDocument {
    frame: Option<Navigated>,
    frame_id: Option<FrameId>,
}

#[derive(Deserialize)]
struct Navigated {
    id: FrameId,
}

/// How a stretch of waiting for the documents ended.
enum Ended {
    Came,
    TimeIsUp,
    /// A dialog is open on the tab, so that a document may not tell any more.
    Held,
}

impl<T: TaskLayer> Wait<'_, T> {
    /// Lets the documents of the tab tell when the condition holds; of a frame tree that changes, the new ones too.
    async fn for_page(&self, kind: &'static str, wanted: &str) -> Result<bool, CallError> {
        let question = Question::new(kind, wanted);
        let page = self.tab.page()?;
        loop {
            let mut unanswered = HashMap::new();
            let ended = self.until_one_tells(&page, &question, &mut unanswered).await;
            let came = match ended {
                Ok(Ended::Came) => Ok(true),
                Ok(Ended::TimeIsUp) => return Ok(false),
                Ok(Ended::Held) | Err(CallError::DialogOpen { .. }) => {
                    // Over the bridge a page can still be looked at; and a dialog need not stop every frame.
                    if self.holds_somewhere(&page, &question).await {
                        Ok(true)
                    } else {
                        match ended.and_then(|_| self.still_held()) {
                            Ok(()) => continue,
                            Err(error) => Err(error),
                        }
                    }
                }
                Err(error) => Err(error),
            };
            // What was asked would look on for a while. Under a native dialog it cannot be told, and stops by itself.
            let asked = unanswered.values().filter_map(|(_, asked)| asked.get());
            join_all(asked.map(|asked| page.give_up(asked, &question))).await;
            return came;
        }
    }

    /// Returns whether the condition holds now in a document that answers.
    async fn holds_somewhere(&self, page: &Page<'_, T>, question: &Question<'_>) -> bool {
        let Ok(places) = self.places(question) else { return false };
        let looks = places.iter().map(async |place| {
            let asked = page.to_ask(place.as_ref(), LOOK).await?;
            page.holds(&asked, question).await
        });
        join_all(looks).await.into_iter().flatten().any(|told| told.holds)
    }

    /// `unanswered` has the newest question to each frame. Only a document that is new is asked: that an older question
    /// failed or ended is nothing to us any more.
    async fn until_one_tells(
        &self,
        page: &Page<'_, T>,
        question: &Question<'_>,
        unanswered: &mut HashMap<Place, (usize, Arc<OnceLock<Asked>>)>,
    ) -> Result<Ended, CallError> {
        let mut watch = Watch::begin(self.tab, NEW_DOCUMENTS, self.left())?;
        let mut asked = FuturesUnordered::new();
        let (mut to_ask, mut pause) = (self.places(question)?, Duration::ZERO);
        for number in 0.. {
            for place in to_ask.drain(..) {
                let document = Arc::default();
                unanswered.insert(place.clone(), (number, Arc::clone(&document)));
                asked.push(self.ask(page, place, number, pause, question, document));
            }
            pause = Duration::ZERO;
            tokio::select! {
                Some((place, of, told)) = asked.next() => {
                    let newest = unanswered.get(&place).is_some_and(|(newest, _)| *newest == of);
                    if newest {
                        unanswered.remove(&place);
                    }
                    match told {
                        // Also of an older question: one that waited may have come after a newer one, and ended that.
                        Ok(true) => return Ok(Ended::Came),
                        _ if !newest => {}
                        Ok(false) => {}
                        Err(error) => {
                            if !(matches!(error, CallError::DialogOpen { .. }) && watch.policy_answers()) {
                                refuse_for_good(error)?;
                            }
                            pause = ASK_AGAIN;
                            to_ask.extend(self.places(question)?.into_iter().filter(|there| *there == place));
                        }
                    }
                }
                news = watch.next() => match news? {
                    News::Events(events) => {
                        let new: HashSet<_> = events.iter().filter_map(|event| self.place_of(event)).collect();
                        to_ask.extend(self.places(question)?.into_iter().filter(|there| new.contains(there)));
                    }
                    News::Dialog => return Ok(Ended::Held),
                    News::TimeIsUp => return Ok(Ended::TimeIsUp),
                },
            }
        }
        Ok(Ended::TimeIsUp)
    }

    /// Asks one document to tell, after a pause. It gives up an earlier question of the same wait.
    async fn ask(
        &self,
        page: &Page<'_, T>,
        place: Place,
        number: usize,
        pause: Duration,
        question: &Question<'_>,
        document: Arc<OnceLock<Asked>>,
    ) -> (Place, usize, Result<bool, CallError>) {
        sleep(pause).await;
        let told = async {
            let asked = page.to_ask(place.as_ref(), self.left() + Duration::from_secs(1)).await?;
            // Whoever gives the question up finds the document that has it.
            let asked = document.get_or_init(|| asked);
            let now = page.holds(asked, question).await?;
            if now.wrong {
                let what = shown(question.wanted);
                return Err(bad(
                    "selector",
                    format!("{what:?} is no CSS selector; to wait for words, give text instead"),
                ));
            }
            Ok(now.holds || page.comes_to_hold(asked, question, self.left()).await?)
        };
        let told = told.await;
        (place, number, told)
    }

    /// Returns where the question goes now.
    fn places(&self, question: &Question<'_>) -> Result<Vec<Place>, CallError> {
        let view = self.tab.context().view()?;
        let below = view.frame_tree.iter().filter(|tree| tree.top.frame_id.as_str() == self.tab.target.as_str());
        let below = below.flat_map(|tree| tree.children.iter().map(|frame| Some(frame.frame_id.clone())));
        // The load of the page counts, not that of each frame.
        Ok(std::iter::once(None).chain(below.filter(|_| question.kind != "load")).collect())
    }

    /// Returns the frame that has a new document, or is new, if that is what an event tells.
    fn place_of(&self, event: &Event) -> Option<Place> {
        let told: NewDocument = serde_json::from_slice(&event.params).ok()?;
        let frame = told.frame.map(|frame| frame.id).or(told.frame_id)?;
        Some(Some(frame).filter(|frame| frame.as_str() != self.tab.target.as_str()))
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
                News::Dialog => self.still_held()?,
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
            if tab.state == TabState::Crashed {
                return Err(CallError::TargetCrashed { what: format!("tab {}", tab.target_id) });
            }
            // A page that asks sends nothing, and is not done for all that.
            self.still_held()?;
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

    /// Fails with the dialog that holds the tab; one that is over already does not.
    fn still_held(&self) -> Result<(), CallError> {
        let view = self.tab.context().view()?;
        if !matches!(self.tab.view()?.state, TabState::Dialog | TabState::Blocked) {
            return Ok(());
        }
        Err(match dialog_of(&view, &self.tab.target, &self.tab.session) {
            Some(dialog) => CallError::DialogOpen { dialog: dialog.clone(), sent: false },
            // A popup's, which shares this tab's process.
            None => match view.pending_dialogs.first() {
                Some(dialog) => CallError::DialogOpen { dialog: Arc::clone(dialog), sent: false },
                None => CallError::NotActionable {
                    what: "the page".to_owned(),
                    why: "does not answer: an unseen dialog or a busy script blocks it".to_owned(),
                    next: "open its address again with browser_navigate, or close its tab with browser_tabs".to_owned(),
                },
            },
        })
    }
}

/// Returns the dialog that is open in a tab. One that came over the bridge is answered on the session of its frame.
fn dialog_of<'a>(view: &'a TaskView, target: &TargetId, session: &SessionId) -> Option<&'a Arc<DialogView>> {
    let tree = view.all_frames.iter().find(|tree| tree.top.frame_id.as_str() == target.as_str());
    let within = |dialog: &DialogView| {
        dialog.frame_id.as_str() == target.as_str()
            || tree.is_some_and(|tree| tree.children.iter().any(|frame| frame.frame_id == dialog.frame_id))
    };
    view.pending_dialogs.iter().find(|dialog| dialog.session_id == *session || within(dialog))
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
        // What is waited for may be in the document that is to come.
        CallError::Timeout { hint: TimeoutHint::Arriving, .. } => Ok(()),
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
    use ostler_core::view::{DialogKind, DialogView, TaskView};
    use ostler_core::{DialogId, FrameId, SessionId, TargetId, TaskId};

    use super::{dialog_of, matches};

    #[test]
    fn a_tab_that_waits_is_not_told_of_another_tabs_dialog() {
        let dialog = |number, session: &str, frame: &str| DialogView {
            id: DialogId(number),
            kind: DialogKind::Confirm,
            message: "Sure?".to_owned(),
            default_prompt: String::new(),
            opened_at: 1.5,
            session_id: SessionId::from(session),
            frame_id: FrameId::from(frame),
            answerable: true,
            in_a_row: 1,
        };
        let of = |dialogs: Vec<DialogView>| {
            let mut view = TaskView::empty(TaskId::default_task());
            view.pending_dialogs = dialogs.into_iter().map(Into::into).collect();
            dialog_of(&view, &TargetId::from("T"), &SessionId::from("S")).map(|dialog| dialog.id)
        };
        assert_eq!(of(vec![dialog(1, "OTHER", "U")]), None);
        assert_eq!(of(vec![dialog(1, "OTHER", "U"), dialog(2, "S", "F")]), Some(DialogId(2)));
    }

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
