//! What a test holds in its hands: a page, a frame, an open dialog.

use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Shared;
use super::dialog::{Answer, Dialog};
use super::flood::Flood;
use super::frames::RemovalOrder;
use super::state::{Stall, State};
use crate::ids::{FrameId, SessionId, TargetId};
use crate::server::PATIENCE;

/// A tab. Handles are cheap to clone; on a page that is gone they do nothing.
#[derive(Clone, Debug)]
pub struct Page {
    shared: Arc<Shared>,
    id: TargetId,
}

/// How a popup is tied to the page that opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// `window.open()`: it runs as soon as one client resumes it.
    Kept,
    /// `noopener`, and every plain `target=_blank` link: it has no renderer before all clients resumed it.
    Cut,
}

impl Page {
    /// Returns the page's target id.
    pub fn id(&self) -> &TargetId {
        &self.id
    }

    /// Returns the document at the top of the page.
    pub fn main_frame(&self) -> Frame {
        Frame { shared: Arc::clone(&self.shared), id: self.id.root_frame() }
    }

    /// Returns whether the page is still there.
    pub fn exists(&self) -> bool {
        self.shared.state().targets.contains_key(&self.id)
    }

    /// Returns the URL of its document; empty once the page is gone.
    pub fn url(&self) -> String {
        self.shared.state().targets.get(&self.id).map_or_else(String::new, |target| target.url.clone())
    }

    /// Returns the sessions that clients hold on it, oldest first.
    pub fn sessions(&self) -> Vec<SessionId> {
        self.shared.state().targets.get(&self.id).map_or_else(Vec::new, |target| target.sessions.clone())
    }

    /// Goes to another document, as the user does or a script.
    pub fn navigate(&self, url: &str) {
        self.shared.state().navigate(&self.id.root_frame(), url, None);
    }

    /// Opens a popup from the main frame; none when this page is gone.
    pub fn open_popup(&self, url: &str, opener: Opener) -> Option<Page> {
        let accessible = opener == Opener::Kept;
        let popup = self.shared.state().add_popup(&self.id.root_frame(), url, accessible)?;
        Some(Page::new(Arc::clone(&self.shared), popup))
    }

    /// From now on leaving the page by navigation, reload or `Page.close` asks `beforeunload` first.
    pub fn guard_unload(&self) {
        self.with_target(|target| target.guards_unload = true);
    }

    /// Runs a script without end: the renderer answers nothing until it is terminated or the page navigates.
    pub fn spin(&self) {
        self.with_target(|target| target.stall = Some(Stall::Script));
    }

    /// Floods every session that has Runtime enabled with console errors.
    pub fn flood_console(&self, flood: &Flood) {
        self.shared.state().flood(&self.id, flood);
    }

    /// Crashes the renderer.
    pub fn crash(&self) {
        self.shared.state().crash(&self.id);
    }

    /// Closes the tab, as the user does.
    pub fn close(&self) {
        let mut state = self.shared.state();
        state.close_dialog_with_page(&self.id);
        state.remove_target(&self.id);
    }

    pub(super) fn new(shared: Arc<Shared>, id: TargetId) -> Self {
        Self { shared, id }
    }

    fn with_target(&self, change: impl FnOnce(&mut super::state::Target)) {
        if let Some(target) = self.shared.state().targets.get_mut(&self.id) {
            change(target);
        }
    }
}

/// A frame of a page. On a frame that is gone its methods do nothing.
#[derive(Clone, Debug)]
pub struct Frame {
    shared: Arc<Shared>,
    id: FrameId,
}

impl Frame {
    /// Returns the frame's id; for an OOPIF it is the id of its target too.
    pub fn id(&self) -> &FrameId {
        &self.id
    }

    /// Returns whether the frame is still there.
    pub fn exists(&self) -> bool {
        self.shared.state().frames.contains_key(&self.id)
    }

    /// Returns whether the frame has a target of its own.
    pub fn is_oopif(&self) -> bool {
        let state = self.shared.state();
        state.targets.get(&self.id.own_target()).is_some_and(|target| target.kind == "iframe")
    }

    /// Returns the sessions that clients hold on the process the frame lives in, oldest first.
    pub fn sessions(&self) -> Vec<SessionId> {
        let state = self.shared.state();
        let target = state.frames.get(&self.id).and_then(|frame| state.targets.get(&frame.target));
        target.map_or_else(Vec::new, |target| target.sessions.clone())
    }

    /// Puts a frame into this one's document, in the same process.
    pub fn add_frame(&self, url: &str) -> Frame {
        self.child(|state| state.add_frame(&self.id, url))
    }

    /// Puts a frame of another site into this one's document: an OOPIF, which waits to be resumed where a client asked
    /// for that.
    pub fn add_oopif(&self, url: &str) -> Frame {
        self.child(|state| state.add_oopif(&self.id, url))
    }

    /// Goes to another document without changing process.
    pub fn navigate(&self, url: &str) {
        self.shared.state().navigate(&self.id, url, None);
    }

    /// Goes to another site, and becomes an OOPIF.
    pub fn move_out(&self, url: &str) {
        self.shared.state().move_out(&self.id, url);
    }

    /// Goes back to the site of the parent frame, and is an OOPIF no more.
    pub fn move_in(&self, url: &str) {
        self.shared.state().move_in(&self.id, url);
    }

    /// Is taken out of its parent's document, with all below it.
    pub fn remove(&self, order: RemovalOrder) {
        self.shared.state().remove_frame(&self.id, order);
    }

    /// Crashes the renderer of an OOPIF.
    pub fn crash(&self) {
        if self.is_oopif() {
            self.shared.state().crash(&self.id.own_target());
        }
    }

    /// Has a script in this frame open a dialog.
    pub fn open_dialog(&self, dialog: Dialog) -> OpenDialog {
        let (answered, answer) = oneshot::channel();
        let mut state = self.shared.state();
        state.open_dialog(&self.id, dialog, None, Some(answered));
        let page = state.frames.get(&self.id).map(|frame| state.page_of(&frame.target));
        OpenDialog { shared: Arc::clone(&self.shared), page, answer }
    }

    fn child(&self, add: impl FnOnce(&mut State) -> FrameId) -> Frame {
        Frame { id: add(&mut self.shared.state()), shared: Arc::clone(&self.shared) }
    }
}

/// A dialog that a frame's script waits for. Dropping it leaves the dialog open.
#[derive(Debug)]
pub struct OpenDialog {
    shared: Arc<Shared>,
    page: Option<TargetId>,
    answer: oneshot::Receiver<Answer>,
}

impl OpenDialog {
    /// Waits for what the script gets.
    ///
    /// # Panics
    ///
    /// When it gets nothing within five seconds, or never will because its frame is gone.
    #[track_caller]
    pub fn answer(self) -> impl Future<Output = Answer> {
        let caller = Location::caller();
        async move {
            match timeout(PATIENCE, self.answer).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => panic!("{caller}: the dialog went away unanswered"),
                Err(_) => panic!("{caller}: nobody answered the dialog within 5 s"),
            }
        }
    }

    /// Has another client answer now.
    pub fn answer_as_other_client(&self, accepted: bool) {
        if let Some(page) = &self.page {
            self.shared.state().answer_as_other_client(page, None, accepted);
        }
    }
}
