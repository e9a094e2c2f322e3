//! File choosers: held back while an action runs, reported, and answered with files.
//!
//! A native chooser that nobody sees would stop an agent for good (fact A29). It is held back around our own actions
//! only: in between, a person who uses the same browser gets theirs.

use std::path::Path;
use std::time::Duration;

use futures_util::future::{join, join_all};
use ostler_core::{CallError, FrameId, SessionId, shown_address};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::context::{Route, Tab};
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::tasks::Event;

/// How long a frame's process may take to hear of it; a busy one holds up no click on the rest of the page.
const FRAME: Duration = Duration::from_secs(1);

/// How long the page itself may take. Nothing has been done in it by then, so that giving up does no harm.
const PAGE: Duration = Duration::from_secs(5);

/// A chooser that the page asked for.
#[derive(Debug, Serialize)]
pub(in crate::tools) struct FileChooser {
    /// Whether it takes several files.
    pub(in crate::tools) multiple: bool,
    /// The frame that asked.
    frame_id: FrameId,
    /// The file input; none for `showOpenFilePicker`, which cannot be answered over CDP.
    #[serde(skip)]
    input: Option<i64>,
    #[serde(skip)]
    session: Option<SessionId>,
    /// How many files it got.
    pub(in crate::tools) files: usize,
}

impl FileChooser {
    /// Reads `Page.fileChooserOpened`.
    pub(in crate::tools) fn read(event: &Event) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Opened {
            frame_id: FrameId,
            mode: String,
            backend_node_id: Option<i64>,
        }
        let opened: Opened = serde_json::from_slice(&event.params).ok()?;
        Some(Self {
            multiple: opened.mode == "selectMultiple",
            frame_id: opened.frame_id,
            input: opened.backend_node_id,
            session: event.session_id.clone(),
            files: 0,
        })
    }

    /// Answers it with files.
    pub(in crate::tools) async fn answer<T: TaskLayer>(
        &mut self,
        tab: &Tab<'_, T>,
        files: &[String],
    ) -> Result<(), CallError> {
        let Some(input) = self.input else {
            let why = "the page opened a picker that CDP cannot answer (showOpenFilePicker); it was cancelled";
            return Err(bad("files", why));
        };
        if files.len() > 1 && !self.multiple {
            return Err(bad("files", "the page takes one file here; click again with one"));
        }
        let params = json!({"files": files, "backendNodeId": input});
        let route = Route { session: self.session.clone(), ..Route::default() };
        let _: Value = tab.call_on(route, "DOM.setFileInputFiles", &params).await?;
        self.files = files.len();
        Ok(())
    }

    /// Returns the sentence that tells of it.
    pub(in crate::tools) fn sentence(&self) -> String {
        match (self.files, self.input) {
            (0, Some(_)) => {
                let which = if self.multiple { "paths" } else { "one path" };
                format!("The page asks for a file; the chooser was cancelled: click again with files=[{which}].")
            }
            (0, None) => "The page opened a file picker that cannot be answered over CDP; it was cancelled.".to_owned(),
            (1, _) => "The page got the file.".to_owned(),
            (count, _) => format!("The page got the {count} files."),
        }
    }
}

/// Holds choosers back on the tab, until what is returned is dropped, and returns when all its documents know. A frame
/// that goes away meanwhile opens no chooser.
pub(in crate::tools) async fn hold<T: TaskLayer>(tab: &Tab<'_, T>) -> Result<T::ChooserHold, CallError> {
    let context = tab.context();
    let hold = context.tasks.hold_choosers(context.task, tab.target.clone())?;
    let (root, ()) = join(tab.call_within::<Value>(AFTER_IT, &json!({}), PAGE), after_frames(tab)).await;
    root.map(|_| hold)
}

/// A session's commands end in their order, and its events come in the same: an answer to this one comes behind what
/// was sent, or told, before it.
const AFTER_IT: &str = "Runtime.getIsolateId";

/// Returns once each frame with a process of its own has told what it had to tell until now: a chooser that a click
/// opened there is told on its session, which the answer to the click does not wait for.
pub(in crate::tools) async fn after_frames<T: TaskLayer>(tab: &Tab<'_, T>) {
    let (context, nothing) = (tab.context(), json!({}));
    let Ok(page) = tab.page() else { return };
    join_all(tab.frames_apart().into_iter().map(|(_, session)| {
        let patience = page.patience(&session, FRAME);
        let route = Route { session: Some(session), timeout: Some(patience), ..Route::default() };
        context.call::<Value>(AFTER_IT, &nothing, route)
    }))
    .await;
}

/// Checks that files are there before anything is clicked.
pub(in crate::tools) fn check(files: &[String]) -> Result<(), CallError> {
    if files.is_empty() {
        return Err(bad("files", "must not be empty; leave it out to see whether a click opens a chooser"));
    }
    for file in files {
        let (path, given) = (Path::new(file), shown_address(file));
        if !path.is_absolute() {
            return Err(bad("files", format!("{given:?} must be an absolute path")));
        }
        if !path.is_file() {
            return Err(bad("files", format!("there is no file {given:?}; check the path")));
        }
    }
    Ok(())
}
