//! The frames and addresses that the model browser has, compared with the tree that a task is shown (invariant 4).

use ostler_core::view::{MAX_OOPIF_DEPTH, TabState};

use super::No;
use super::browser::Hold;
use super::schedule::Schedule;

impl Schedule {
    /// The shown tree is the union of the trees of all sessions (invariant 4).
    pub(super) fn check_trees(&self) {
        for view in self.views.values() {
            for shown in view.tabs.iter() {
                let tab = self.browser.number_in(shown.target_id.as_str());
                assert!(self.browser.tabs.contains_key(&tab), "tab {tab} is shown and gone");
                let unlike = shown.url != self.browser.url_of(tab);
                assert!(!unlike, "tab {tab} is shown at {:?} and is at {:?}", shown.url, self.browser.url_of(tab));
            }
            let Some(tab) = view.current_tab() else { continue };
            let no = self.browser.number_in(tab.target_id.as_str());
            if tab.state != TabState::Ready || !self.tells_all(no) {
                continue;
            }
            let Some(tree) = &view.frame_tree else { unreachable!("tab {no} is ready and shows no tree") };
            assert_eq!(tree.top.url, self.browser.url_of(no), "top of tab {no}");
            let mut told: Vec<_> = tree
                .children
                .iter()
                .map(|frame| {
                    let session = frame.session_id.as_ref().map(|id| id.to_string());
                    (
                        frame.frame_id.to_string(),
                        frame.parent_frame_id.to_string(),
                        frame.url.clone(),
                        frame.is_oopif,
                        session,
                    )
                })
                .collect();
            let (mut real, truncated) = self.real_tree(no);
            told.sort();
            real.sort();
            assert_eq!(told, real, "the frames of tab {no}, told and real");
            assert_eq!(tree.truncated, truncated, "whether frames of tab {no} were left out");
        }
    }

    /// Returns whether all renderers of a tab have told what they have.
    fn tells_all(&self, tab: No) -> bool {
        let state = &self.browser.tabs[&tab];
        if state.crashed || state.armed.is_some() || state.hold != Hold::Free {
            return false;
        }
        self.browser.frames_of(tab).into_iter().all(|frame| {
            let known = &self.browser.frames[&frame];
            if known.pending.is_some() || known.crashed || !self.browser.is_free(known.proc) {
                return false;
            }
            let sessions = self.browser.sessions_on(frame);
            let ready = |session: &No| {
                let session = &self.browser.sessions[session];
                session.supervised && session.auto_attach && session.page && session.runtime
            };
            (!known.oopif && known.parent.is_some()) || sessions.iter().any(ready)
        })
    }

    /// Returns the frames below the top as the contract shows them, and whether some are left out.
    #[expect(clippy::type_complexity, reason = "the fields of one frame, made to be compared")]
    fn real_tree(&self, tab: No) -> (Vec<(String, String, String, bool, Option<String>)>, bool) {
        let browser = &self.browser;
        let mut found = Vec::new();
        let mut truncated = false;
        for frame in browser.below(tab) {
            let known = &browser.frames[&frame];
            let above = browser.above(frame).into_iter().filter(|above| browser.frames[above].oopif).count();
            if above + usize::from(known.oopif) > MAX_OOPIF_DEPTH {
                truncated = true;
                continue;
            }
            let supervised =
                browser.sessions_on(frame).into_iter().find(|session| browser.sessions[session].supervised);
            found.push((
                browser.frame_name(frame),
                browser.frame_name(known.parent.unwrap_or(0)),
                browser.url_of(frame),
                known.oopif,
                supervised.map(|session| browser.session_name(session)),
            ));
        }
        (found, truncated)
    }
}
