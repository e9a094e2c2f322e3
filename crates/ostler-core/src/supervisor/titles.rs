//! Titles of tabs: Chromium tells of a tab when it commits a document, before the title has been read, and never tells
//! of the title itself (fact F31). So it is asked when a document has been read, and when it has been loaded.
//!
//! The browser answers that by itself, however busy the page is. A title that script changes later is learnt with the
//! tab's next news.

use super::sessions::Kind;
use super::{End, Purpose, Supervisor, object, wire};
use crate::ids::{SessionId, TargetId};

impl Supervisor {
    /// A document has been read or loaded. A frame's says nothing of the tab.
    pub(super) fn ask_title(&mut self, id: &SessionId) {
        let page = self.sessions.get(id).filter(|session| session.kind == Kind::Page && session.supervised);
        let Some(target) = page.and_then(|session| session.tab.clone()) else { return };
        let params = object(&[("targetId", target.as_str())]);
        self.send_own(Purpose::Title(target), None, "Target.getTargetInfo", &params);
    }

    /// Only the title is taken: the address may have been told anew while the answer was on its way.
    pub(super) fn on_title(&mut self, target: &TargetId, end: End) {
        let End::Answer(Ok(result)) = end else { return };
        let Some(told) = str::from_utf8(&result).ok().and_then(wire::read::<wire::TargetEvent>) else { return };
        let now = self.targets.iter().find(|known| known.target_id == *target);
        let Some(mut info) = now.filter(|known| known.url.0 == told.target_info.url.0).cloned() else { return };
        info.title = told.target_info.title;
        self.remember_target(&info);
        self.show_address(&info);
    }
}
