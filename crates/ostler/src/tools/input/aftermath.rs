//! What an action led to: a page that opened, a tab, a download, a file chooser, a dialog.
//!
//! ```text
//!   begin ──▶ the action ──▶ the page's own turn is over ──▶ a page that began to load is there ──▶ told
//! ```
//!
//! A dialog ends each of these steps: what the page does is then known to be waiting for it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use ostler_core::cdp::text::LossyText;
use ostler_core::view::{Arrival, TabState};
use ostler_core::{CallError, TimeoutHint, Words, shown_address};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout, timeout_at};

use super::super::context::Tab;
use super::super::held_up::{ASK_AFTER, HeldUp, Look, Lookout};
use super::super::{navigate, tab_names};
use super::file_chooser::{self, FileChooser};
use crate::meta::{EventSource, TaskLayer};
use crate::tasks::{Event, EventFilter};

/// How long the page's own turn may take: what a click does at once is done by then, or the page is busy.
const TURN: Duration = Duration::from_secs(2);
/// How long an action may take in all, with what comes of it. Where the input alone took long the first of it is waited for
/// all the same.
const MOST: Duration = Duration::from_secs(15);
/// How long a page that began to load is waited for.
const LOAD: Duration = Duration::from_secs(10);
/// How long the first of it is: a page that waits for its server answers nothing meanwhile (fact F41).
const COME: Duration = Duration::from_secs(5);
/// How long the error page may take to say what the server said.
const STATUS: Duration = Duration::from_secs(2);
/// How long a tab is waited for that the page has asked for.
const NEW_TAB: Duration = Duration::from_secs(2);

/// Everything that an action is looked at for.
const METHODS: &[&str] = &[
    "Page.fileChooserOpened",
    "Page.downloadWillBegin",
    "Page.downloadProgress",
    "Page.frameNavigated",
    "Page.frameRequestedNavigation",
    "Page.frameStartedNavigating",
    "Page.frameStoppedLoading",
    "Page.loadEventFired",
    "Page.navigatedWithinDocument",
    "Page.windowOpen",
    "Page.javascriptDialogOpening",
    "Inspector.*",
    "Target.*",
];

/// An action under way.
#[derive(Debug)]
pub(in crate::tools) struct Action<'a, T: TaskLayer> {
    tab: &'a Tab<'a, T>,
    began: Instant,
    events: Arc<T::Events>,
    since: u64,
    newest_tab: u64,
    filter: EventFilter,
    /// Others act in the tab once the input is over, and not before.
    turn: Option<OwnedMutexGuard<()>>,
    /// Choosers are held back until the action is over, or given up by whoever waits for it.
    _choosers: T::ChooserHold,
}

/// What came of it. Dialogs stand in every outcome and so not in here.
#[derive(Debug, Default, Serialize)]
pub(in crate::tools) struct Aftermath {
    /// Where the tab is now, if the action led it elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<Page>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new_tabs: Vec<NewTab>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::tools) file_chooser: Option<FileChooser>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    downloads: Vec<Download>,
    /// What keeps the page that it led to from being there, where that is known.
    #[serde(skip)]
    held_up: Option<HeldUp>,
    /// Whether it leads to a page of which nothing has come.
    #[serde(skip)]
    unanswered: bool,
}

#[derive(Debug, Serialize)]
struct Page {
    url: String,
    /// Whether it is there.
    loaded: bool,
    /// What the browser could not open, where it shows its own error page instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
    /// HTTP's, where that is why.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
}

#[derive(Debug, Serialize)]
struct NewTab {
    tab: String,
    url: String,
}

#[derive(Debug, Serialize)]
struct Download {
    url: String,
    file: String,
    state: String,
    #[serde(skip)]
    guid: String,
}

impl<'a, T: TaskLayer> Action<'a, T> {
    /// Begins an action on a tab. Its file choosers are held back as long as the action is there.
    pub(in crate::tools) async fn begin(tab: &'a Tab<'a, T>) -> Result<Self, CallError> {
        let turn = Some(tab.page()?.take_turn().await?);
        let began = Instant::now();
        let _choosers = file_chooser::hold(tab).await?;
        let events = tab.context().tasks.events(tab.context().task)?;
        let newest_tab = tab.context().view()?.tabs.iter().map(|tab| tab.number).max().unwrap_or(0);
        let methods = METHODS.iter().map(|method| (*method).to_owned()).collect();
        let since = events.newest();
        let filter = EventFilter { methods, session_id: None };
        Ok(Self { tab, began, events, since, newest_tab, filter, turn, _choosers })
    }

    /// Ends the action, `done` being what the input itself came to, and returns what it led to. A dialog that the
    /// input opened is no failure of it, and neither is a page that went away under it, or goes: it answered before.
    pub(in crate::tools) async fn end(mut self, done: Result<(), CallError>) -> Result<Aftermath, CallError> {
        self.turn = None;
        match done {
            Ok(())
            | Err(
                CallError::DialogOpen { sent: true, .. }
                | CallError::UnknownOutcome { .. }
                | CallError::Timeout { hint: TimeoutHint::Arriving, .. },
            ) => self.follow().await,
            Err(error) => Err(error),
        }
    }

    async fn follow(&self) -> Result<Aftermath, CallError> {
        let ended = Instant::now();
        // Whatever the page does at once comes before the answer to this; what it does not answer is found in the events.
        let page = self.tab.page()?;
        let _turn = timeout(TURN, join(page.turn(TURN), file_chooser::after_frames(self.tab))).await;
        let (mut told, mut lookout) = (Told::default(), Lookout::default());
        let (mut since, over) = (self.since, Instant::now());
        loop {
            let page = self.events.page(since, 512, &self.filter);
            since = page.next;
            for event in &page.events {
                told.take(event, self.tab);
            }
            let Ok(view) = self.tab.view() else { break };
            told.held = matches!(view.state, TabState::Dialog | TabState::Blocked);
            if told.held || view.state == TabState::Crashed {
                break;
            }
            // The page may be asked whether it may be left: by itself, or by the browser.
            let leaving = told.requested || view.arrival == Arrival::Begun;
            told.kept_by_script = leaving && lookout.is_silent();
            let Some(deadline) = told.waits_until(self.new_tabs_so_far()?, ended, over) else { break };
            let (now, most) = (Instant::now(), (self.began + MOST).max(ended + COME));
            let deadline = deadline.min(most);
            // Where events never cease, their next one is always there before the time is.
            if now >= deadline {
                break;
            }
            let until = now + ASK_AFTER;
            if timeout_at(until.min(deadline), self.events.wait_beyond(since)).await.is_err()
                && until < deadline
                && let Look::HeldUp(held) = lookout.look(self.tab).await
            {
                told.held_up = Some(held);
                break;
            }
        }
        if told.failed.is_some() && !told.held {
            // The error page knows what the server said; the events do not.
            let status = timeout(STATUS, navigate::status(self.tab)).await.ok().and_then(Result::ok);
            told.status = status.filter(|status| *status > 0);
        }
        self.tell(told)
    }

    fn new_tabs_so_far(&self) -> Result<usize, CallError> {
        Ok(self.tab.context().view()?.tabs.iter().filter(|tab| tab.number > self.newest_tab).count())
    }

    fn tell(&self, told: Told) -> Result<Aftermath, CallError> {
        let view = self.tab.context().view()?;
        let page = told.url.map(|url| Page { url, loaded: !told.loading, failed: told.failed, status: told.status });
        let mut asked = told.tabs.into_iter();
        let new_tabs = view.tabs.iter().filter(|tab| tab.number > self.newest_tab).map(|tab| NewTab {
            tab: tab_names::name(tab),
            // A tab that has just been opened does not know yet where it is going.
            url: asked
                .next()
                .filter(|_| tab.url.is_empty() || tab.url == "about:blank")
                .unwrap_or_else(|| tab.url.clone()),
        });
        // Whether the page may be left is asked first, before anything is asked of a server.
        let asks = self.tab.view()?.state == TabState::Dialog;
        Ok(Aftermath {
            page,
            new_tabs: new_tabs.collect(),
            file_chooser: told.file_chooser,
            downloads: told.downloads,
            unanswered: told.loading && !asks && !told.kept_by_script && told.held_up.is_none(),
            held_up: told.held_up,
        })
    }
}

/// What the events have told so far.
#[derive(Debug, Default)]
struct Told {
    /// A new document was asked for, and neither is it there nor was it given up.
    loading: bool,
    /// It has not begun to come: until then what stops is a load from before.
    requested: bool,
    /// Its commit has been seen: the next load is its.
    committed: bool,
    /// The page that is to be left has not let go yet, and does not answer: no server is waited for.
    kept_by_script: bool,
    url: Option<String>,
    failed: Option<String>,
    status: Option<u16>,
    /// Where tabs were opened that are still to come.
    tabs: Vec<String>,
    file_chooser: Option<FileChooser>,
    downloads: Vec<Download>,
    held: bool,
    held_up: Option<HeldUp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnyEvent {
    frame_id: Option<String>,
    url: Option<LossyText>,
    disposition: Option<String>,
    frame: Option<Frame>,
    guid: Option<String>,
    suggested_filename: Option<LossyText>,
    state: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    url: LossyText,
    #[serde(default)]
    url_fragment: LossyText,
    unreachable_url: Option<LossyText>,
}

impl Told {
    fn take<T: TaskLayer>(&mut self, event: &Event, tab: &Tab<'_, T>) {
        let Ok(params) = serde_json::from_slice::<AnyEvent>(&event.params) else { return };
        let top = params.frame_id.as_deref() == Some(tab.target.as_str());
        let own = event.session_id.as_ref() == Some(&tab.session);
        match std::str::from_utf8(&event.method).unwrap_or_default() {
            "Page.fileChooserOpened" => self.file_chooser = FileChooser::read(event),
            "Page.downloadWillBegin" => {
                // The document stays as it was.
                self.loading = false;
                let known = |download: &Download| Some(&download.guid) == params.guid.as_ref();
                if !self.downloads.iter().any(known) {
                    self.downloads.push(Download {
                        url: params.url.unwrap_or_default().0,
                        file: params.suggested_filename.unwrap_or_default().0,
                        state: "inProgress".to_owned(),
                        guid: params.guid.unwrap_or_default(),
                    });
                }
            }
            "Page.downloadProgress" => {
                let download = self.downloads.iter_mut().find(|known| Some(&known.guid) == params.guid.as_ref());
                if let (Some(download), Some(state)) = (download, params.state) {
                    download.state = state;
                }
            }
            "Page.frameRequestedNavigation" if own => match params.disposition.as_deref() {
                Some("currentTab") if top => (self.loading, self.requested, self.committed) = (true, true, false),
                Some("newTab" | "newWindow") => self.tabs.push(params.url.unwrap_or_default().0),
                _ => {}
            },
            "Page.frameStartedNavigating" if own && top => {
                (self.loading, self.requested, self.committed) = (true, false, false);
            }
            "Page.windowOpen" if own => {
                let url = params.url.unwrap_or_default().0;
                if !self.tabs.contains(&url) {
                    self.tabs.push(url);
                }
            }
            "Page.frameNavigated" if own => {
                if let Some(frame) = params.frame.filter(|frame| frame.id == tab.target.as_str()) {
                    (self.requested, self.committed) = (false, true);
                    self.failed = frame.unreachable_url.map(|url| url.0);
                    self.url = Some(frame.url.0 + &frame.url_fragment.0);
                }
            }
            "Page.navigatedWithinDocument" if own && top => {
                self.url = params.url.map(|url| url.0);
                self.loading &= self.committed;
            }
            "Page.loadEventFired" if own && self.committed => self.loading = false,
            // Given up, or never shown: an answer without a document, or a page that stopped it.
            "Page.frameStoppedLoading" if own && top => self.loading &= self.requested,
            _ => {}
        }
    }

    /// Returns until when what is still to come is waited for, if anything is: the input had `ended` by then, and the
    /// page's turn was `over`.
    fn waits_until(&self, new_tabs: usize, ended: Instant, over: Instant) -> Option<Instant> {
        match (self.loading, self.committed) {
            (true, true) => Some(ended + LOAD),
            // It is told once it is known for sure.
            (true, false) if self.kept_by_script => Some(ended + LOAD),
            (true, false) => Some(ended + COME),
            _ => (self.tabs.len() > new_tabs).then_some(over + NEW_TAB),
        }
    }
}

impl Aftermath {
    /// Returns what was done with what came of it, each on a line of its own.
    pub(in crate::tools) fn told_after(&self, done: String, words: Words) -> String {
        let lines: Vec<_> = std::iter::once(done).chain(self.sentences(words)).collect();
        lines.join("\n")
    }

    /// Returns what a model should know, a sentence each.
    fn sentences(&self, words: Words) -> Vec<String> {
        let mut told = Vec::new();
        if let Some(chooser) = &self.file_chooser {
            told.push(chooser.sentence());
        }
        for download in &self.downloads {
            told.push(match download.state.as_str() {
                "completed" => format!("Downloaded {:?}.", download.file),
                "canceled" => format!("The download of {:?} was cancelled by the browser.", download.file),
                _ => format!("The download of {:?} began.", download.file),
            });
        }
        match &self.page {
            Some(Page { failed: Some(url), status: Some(401 | 407), .. }) => {
                told.push(format!("{}: {}.", shown_address(url), navigate::WANTS_LOGIN));
            }
            Some(Page { failed: Some(url), .. }) => told.push(format!(
                "{} could not be opened and the browser shows its own error page; browser_navigate there says why.",
                shown_address(url)
            )),
            Some(Page { url, loaded: true, .. }) => told.push(format!("The page is now {}.", shown_address(url))),
            Some(Page { url, .. }) if self.held_up.is_some() => told.push(format!("The page is now {}.", shown_address(url))),
            Some(Page { url, .. }) => told.push(format!("The page is now {} and still loading.", shown_address(url))),
            None if self.unanswered => told.push(
                "The page goes to another one, whose server has not answered yet: browser_wait waits for it, browser_cdp \
                 with Page.stopLoading gives it up."
                    .to_owned(),
            ),
            None => {}
        }
        told.extend(self.held_up.as_ref().map(|held| held.sentence(words)));
        for tab in &self.new_tabs {
            let NewTab { tab, url } = tab;
            told.push(format!("It opened tab {tab} ({}): browser_tabs switches to it.", shown_address(url)));
        }
        told
    }
}
