//! How a document comes that a tab was told to open, and what can keep it from coming or from loading to its end.

use std::sync::Arc;
use std::time::Duration;

use ostler_core::view::DialogView;
use ostler_core::{CallError, DialogId, SessionId, TargetId};
use serde::Deserialize;
use serde_json::json;

use super::super::context::Tab;
use super::super::held_up::{self, ASK_AFTER, HeldUp, Look, Lookout};
use super::super::waiting::{News, Watch};
use super::ASK;
use crate::meta::TaskLayer;
use crate::tasks::Event;

/// How long a document that is ready may take to come while the one before it asks something. One that never stops asking
/// is led out of it first, which takes some seconds.
const COMMIT: Duration = Duration::from_secs(8);

/// How far a document is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Loading {
    Done,
    /// A dialog holds it up.
    Held,
    /// So does a process that does not answer.
    HeldUp(HeldUp),
    Goes,
}

/// Waits until the document of this loader is there and loaded, or it is known why not.
pub(super) async fn wait_for_load<T: TaskLayer>(
    tab: &Tab<'_, T>,
    watch: &mut Watch<'_, T>,
    open_before: &[DialogId],
    loader: Option<&str>,
) -> Result<Loading, CallError> {
    let (mut arrival, mut lookout) = (Arrival::default(), Lookout::default());
    loop {
        let news = if arrival.committed {
            match watch.next_within(ASK_AFTER).await? {
                Some(news) => news,
                None => match lookout.look(tab).await {
                    Look::Complete => return Ok(Loading::Done),
                    Look::HeldUp(held) => return Ok(Loading::HeldUp(held)),
                    Look::Loading => continue,
                },
            }
        } else if asks_again(tab, open_before)? {
            // One of another site comes all the same.
            match watch.next_events(COMMIT).await? {
                News::TimeIsUp => return Err(stays()),
                news => news,
            }
        } else {
            // What was open when the page was told to go ends with it.
            match watch.next_events(ASK_AFTER).await? {
                News::TimeIsUp if !watch.is_over() => match held_up::dialog_of_process(tab).await {
                    // That of another tab does not.
                    Some(dialog) if dialog.session_id != tab.session => {
                        return Err(CallError::DialogOpen { dialog, sent: true });
                    }
                    // Some are left with `Page` off, so that nothing tells of the commit (fact F38).
                    _ if has_come(tab, loader).await => {
                        arrival.committed = true;
                        continue;
                    }
                    _ => continue,
                },
                news => news,
            }
        };
        match news {
            News::Events(events) => {
                for event in &events {
                    arrival.take(event, &tab.target, &tab.session);
                }
                if arrival.loaded {
                    return Ok(Loading::Done);
                }
            }
            News::Dialog => return Ok(Loading::Held),
            News::TimeIsUp if arrival.committed => return Ok(Loading::Goes),
            News::TimeIsUp => return Err(keeps()),
        }
    }
}

/// Returns whether the tab shows the document of this loader.
async fn has_come<T: TaskLayer>(tab: &Tab<'_, T>, loader: Option<&str>) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shown {
        frame_tree: Tree,
    }
    #[derive(Deserialize)]
    struct Tree {
        frame: Document,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Document {
        loader_id: String,
    }
    let shown = tab.call_within::<Shown>("Page.getFrameTree", &json!({}), ASK).await;
    shown.is_ok_and(|shown| Some(shown.frame_tree.frame.loader_id.as_str()) == loader)
}

/// Returns the error for a page that does not make way for the one that was asked for, since its script never ends. While
/// it is being left that script cannot be stopped any more.
fn keeps() -> CallError {
    CallError::NotActionable {
        what: "the page".to_owned(),
        why: "does not go away: a script keeps it busy".to_owned(),
        next: "close its tab with browser_tabs and open the address in a new one".to_owned(),
    }
}

/// Returns the error for a page that asks again instead of going. While it is being left its questions can often not be
/// answered, and not every further navigation takes one along (fact F18).
fn stays() -> CallError {
    CallError::NotActionable {
        what: "the page".to_owned(),
        why: "asks again instead of going away".to_owned(),
        next: "close its tab with browser_tabs and open the address in a new one".to_owned(),
    }
}

/// Returns whether the tab asks something that it did not ask before.
fn asks_again<T: TaskLayer>(tab: &Tab<'_, T>, open_before: &[DialogId]) -> Result<bool, CallError> {
    Ok(dialogs_of(tab)?.iter().any(|dialog| !open_before.contains(&dialog.id)))
}

pub(super) fn dialogs_of<T: TaskLayer>(tab: &Tab<'_, T>) -> Result<Vec<Arc<DialogView>>, CallError> {
    let view = tab.context().view()?;
    Ok(view.pending_dialogs.iter().filter(|dialog| dialog.session_id == tab.session).cloned().collect())
}

/// How far the newest document is. One that was there before may still end its loading: the new one's comes after its
/// commit, in whichever batch of events that was.
#[derive(Debug, Default)]
struct Arrival {
    committed: bool,
    loaded: bool,
}

impl Arrival {
    fn take(&mut self, event: &Event, top: &TargetId, session: &SessionId) {
        match &event.method[..] {
            b"Page.frameNavigated" if is_commit_of(top, event) => (self.committed, self.loaded) = (true, false),
            b"Page.loadEventFired" if event.session_id.as_ref() == Some(session) => self.loaded = self.committed,
            _ => {}
        }
    }
}

fn is_commit_of(top: &TargetId, event: &Event) -> bool {
    #[derive(Deserialize)]
    struct Navigated {
        frame: Frame,
    }
    #[derive(Deserialize)]
    struct Frame {
        id: String,
    }
    serde_json::from_slice::<Navigated>(&event.params).is_ok_and(|event| event.frame.id == top.as_str())
}
