//! What holds a page up that the page itself knows nothing of: a process that does not answer.
//!
//! Pages that opened each other share a process, and frames of one site do so across tabs. A dialog in one tab, or a
//! script that spins there, so keeps other pages from being left or from loading to their end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use ostler_core::view::DialogView;
use ostler_core::{CallError, DialogId, SessionId, TimeoutHint, Words, shown_address};
use serde::Deserialize;
use serde_json::{Value, json};

use super::context::{Context, Route, Tab};
use crate::meta::TaskLayer;

/// How long a page is waited for before it is asked what holds it up, and again after that.
pub(super) const ASK_AFTER: Duration = Duration::from_secs(2);
/// How long the answer may take.
const ANSWER: Duration = Duration::from_secs(1);

/// What a page waits for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HeldUp {
    /// This dialog, which stops the page's own process.
    Dialog(DialogId),
    /// A script of the page's own process, which spins or asks on and on: what a call to it ended with.
    Script(CallError),
    /// A frame whose process does not answer: its address, and what a call to it ended with, which names the dialog that
    /// stops it where that is known.
    Frame { url: String, why: CallError },
}

/// How far a page is that has been silent for a while.
#[derive(Debug)]
pub(super) enum Look {
    /// Its document says that it is loaded.
    Complete,
    Loading,
    HeldUp(HeldUp),
}

/// Looks at a page again and again. One that gives no answer once may only be at work, as pages are that have just come.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    silent: bool,
}

impl Lookout {
    /// Returns whether the page gave no answer when it was looked at.
    pub(super) fn is_silent(&self) -> bool {
        self.silent
    }

    /// Asks the current tab how far it is, or what holds it up: the first thing that is found.
    pub(super) async fn look<T: TaskLayer>(&mut self, tab: &Tab<'_, T>) -> Look {
        let was_silent = std::mem::take(&mut self.silent);
        match ask(tab.context(), tab.session.clone(), ANSWER).await {
            Ok(state) if state == "complete" => Look::Complete,
            Err(CallError::DialogOpen { dialog, .. }) => Look::HeldUp(HeldUp::Dialog(dialog.id)),
            Err(error) if HeldUp::is_by_script(&error) => {
                self.silent = true;
                // That a script asks on and on is known only once it has done so for a while.
                let is_sure = was_silent || matches!(error, CallError::AsksOn { .. });
                if is_sure { Look::HeldUp(HeldUp::Script(error)) } else { Look::Loading }
            }
            // Nothing of it is there that could be held up.
            Err(CallError::Timeout { hint: TimeoutHint::Arriving, .. }) => Look::Loading,
            _ => match silent_frame(tab).await {
                Some((url, why)) => Look::HeldUp(HeldUp::Frame { url, why }),
                None => Look::Loading,
            },
        }
    }
}

impl HeldUp {
    /// Returns whether a call to a page ended so because of a script of it.
    pub(super) fn is_by_script(error: &CallError) -> bool {
        matches!(error, CallError::AsksOn { .. } | CallError::Timeout { hint: TimeoutHint::PageBusy { .. }, .. })
    }

    /// Says what the page waits for.
    pub(super) fn sentence(&self, words: Words) -> String {
        let (frame, why) = match self {
            Self::Dialog(dialog) => {
                return format!("It does not load any further before {dialog} is answered, which stops its process.");
            }
            Self::Script(error) => return format!("It does not load any further: {}.", why(error, words)),
            Self::Frame { url, why } => (frame_at(url), why),
        };
        let why = match why {
            CallError::DialogOpen { dialog, .. } => format!("{} stops it", dialog.id),
            _ => UNKNOWN_CAUSE.to_owned(),
        };
        format!("It does not load any further before {frame} answers: {why}.")
    }
}

/// What can keep the process of a frame of which nothing else is known.
pub(super) const UNKNOWN_CAUSE: &str = "a dialog in another tab that has frames of its site stops it, or a script";

/// Returns the words for a frame of the page. One that has no document yet has no address either.
pub(super) fn frame_at(url: &str) -> String {
    if url.is_empty() { "one of its frames".to_owned() } else { format!("its frame {}", shown_address(url)) }
}

/// Says what a script does for which a page does not answer, and what ends it.
pub(super) fn why(error: &CallError, words: Words) -> String {
    match (error, error.next_step(words)) {
        (CallError::AsksOn { dialog, .. }, Some(step)) => format!(
            "a script asks again and again without ending (at least {} dialogs in a row were answered by the dialog policy); {step}",
            dialog.in_a_row
        ),
        (_, Some(step)) => format!("a script keeps it busy; wait, {step}"),
        (_, None) => "a script keeps it busy".to_owned(),
    }
}

/// Returns why the page does not answer, or a frame of it; `None` if all do.
pub(super) async fn silence<T: TaskLayer>(tab: &Tab<'_, T>) -> Option<CallError> {
    match ask(tab.context(), tab.session.clone(), ANSWER).await {
        Err(error) if is_silence(&error) => Some(error),
        _ => silent_frame(tab).await.map(|(_, why)| why),
    }
}

/// Returns the address of a frame that does not answer, and why.
async fn silent_frame<T: TaskLayer>(tab: &Tab<'_, T>) -> Option<(String, CallError)> {
    let asked = tab.frames_apart().into_iter().map(async |(url, session)| {
        let why = ask(tab.context(), session, ANSWER).await.err().filter(is_silence)?;
        Some((url, why))
    });
    join_all(asked).await.into_iter().flatten().next()
}

fn is_silence(error: &CallError) -> bool {
    matches!(error, CallError::Timeout { .. } | CallError::AsksOn { .. } | CallError::DialogOpen { .. })
}

/// Returns the dialog that stops a tab's process, whichever tab it is of.
pub(super) async fn dialog_of_process<T: TaskLayer>(tab: &Tab<'_, T>) -> Option<Arc<DialogView>> {
    match ask(tab.context(), tab.session.clone(), ANSWER).await {
        Err(CallError::DialogOpen { dialog, .. }) => Some(dialog),
        _ => None,
    }
}

/// Asks a document how far it is, and so whether it answers at all. It is asked for what also a page that waits in a
/// question of the bridge does not answer: only a promise is held up there.
pub(super) async fn ask<T: TaskLayer>(
    context: &Context<'_, T>,
    session: SessionId,
    patience: Duration,
) -> Result<Value, CallError> {
    #[derive(Deserialize)]
    struct Evaluated {
        result: State,
    }
    #[derive(Deserialize)]
    struct State {
        #[serde(default)]
        value: Value,
    }
    let route = Route { session: Some(session), timeout: Some(patience), ..Route::default() };
    let params = json!({"expression": "document.readyState", "awaitPromise": true, "returnByValue": true});
    let answer: Evaluated = context.call("Runtime.evaluate", &params, route).await?;
    Ok(answer.result.value)
}
