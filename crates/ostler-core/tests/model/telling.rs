//! What the model browser says of its frames and targets: the events, on every session that hears them.

use super::No;
use super::browser::Browser;
use super::wire::{BROWSER, Note, Stamp};

impl Browser {
    /// Says something on one session. `~` stands where an object may have more fields.
    pub(crate) fn say(&mut self, session: No, method: &str, params: &str, after: Option<Stamp>, note: Note) -> Stamp {
        let text = if session == BROWSER {
            format!(r#"{{"method":"{method}","params":{{{params}~}}~}}"#)
        } else {
            let name = self.session_name(session);
            format!(r#"{{"method":"{method}","params":{{{params}~}},"sessionId":"{name}"~}}"#)
        };
        self.out.push(session, text, after, note)
    }

    /// Says something on every session of a target that has `Page` on; returns the last message.
    pub(crate) fn page_event(&mut self, target: No, method: &str, params: &str, note: Note) -> Option<Stamp> {
        let mut last = None;
        for session in self.sessions_on(target) {
            if self.sessions[&session].page {
                let note = match note {
                    Note::Opening(dialog, _) => Note::Opening(dialog, session),
                    Note::Orphaned(tab, dialog, _) if self.sessions[&session].supervised => {
                        Note::Orphaned(tab, dialog, session)
                    }
                    Note::Orphaned(..) => Note::Nothing,
                    note => note,
                };
                last = Some(self.say(session, method, params, None, note));
            }
        }
        last
    }

    pub(crate) fn runtime_event(&mut self, target: No, method: &str, params: &str) {
        for session in self.sessions_on(target) {
            if self.sessions[&session].runtime {
                self.say(session, method, params, None, Note::Nothing);
            }
        }
    }

    pub(crate) fn context_created(&mut self, frame: No) {
        let unique = self.number();
        let name = self.frame_name(frame);
        let params = format!(
            r#""context":{{"id":{},"origin":"","name":"","uniqueId":"{unique}.1","auxData":{{"isDefault":true,"type":"default","frameId":"{name}"~}}~}}"#,
            unique % 7
        );
        self.runtime_event(self.local_root(frame), "Runtime.executionContextCreated", &params);
    }

    pub(crate) fn frame_json(&self, frame: No) -> String {
        let known = &self.frames[&frame];
        let parent = known.parent.map(|parent| format!(r#","parentId":"{}""#, self.frame_name(parent)));
        let origin = if known.page == 0 { "://".to_owned() } else { format!("http://s{}.test", known.site) };
        format!(
            r#"{{"id":"{}"{},"loaderId":"L","url":"{}","domainAndRegistry":"","securityOrigin":"{origin}","mimeType":"text/html"~}}"#,
            self.frame_name(frame),
            parent.unwrap_or_default(),
            self.url_of(frame),
        )
    }

    pub(crate) fn frame_navigated(&mut self, frame: No, kind: &str) -> Option<Stamp> {
        let params = format!(r#""frame":{},"type":"{kind}""#, self.frame_json(frame));
        self.page_event(self.local_root(frame), "Page.frameNavigated", &params, Note::Nothing)
    }

    pub(crate) fn target_json(&self, target: No, kind: &str, url: &str) -> String {
        let name = self.frame_name(target);
        let mut more = String::new();
        if kind == "page" {
            let tab = &self.tabs[&target];
            more = format!(r#","canAccessOpener":{}"#, tab.access);
            if let Some(opener) = tab.opener.filter(|opener| self.tabs.contains_key(opener)) {
                more += &format!(r#","openerId":"{}""#, self.frame_name(opener));
            }
        } else if let Some(parent) = self.frames.get(&target).and_then(|frame| frame.parent) {
            more = format!(r#","canAccessOpener":false,"parentFrameId":"{}""#, self.frame_name(parent));
        }
        let title = if url.is_empty() { "" } else { "A page" };
        format!(
            r#"{{"targetId":"{name}","type":"{kind}","title":"{title}","url":"{url}","attached":true{more},"browserContextId":"C"~}}"#
        )
    }

    /// Tells of a target at browser level, if anybody wants to know.
    pub(crate) fn target_created(&mut self, target: No, kind: &str, url: &str) {
        if self.discover {
            let params = format!(r#""targetInfo":{}"#, self.target_json(target, kind, url));
            self.say(BROWSER, "Target.targetCreated", &params, None, Note::Created(target));
        }
    }

    pub(crate) fn target_changed(&mut self, tab: No) {
        if self.discover {
            let params = format!(r#""targetInfo":{}"#, self.target_json(tab, "page", &self.url_of(tab)));
            self.say(BROWSER, "Target.targetInfoChanged", &params, None, Note::Nothing);
        }
    }

    /// A tab's target is told to be something else, right before it goes (fact F8).
    pub(crate) fn target_is_no_page(&mut self, target: No, url: &str) {
        if self.discover {
            let title = if url.is_empty() { "" } else { "A page" };
            let params = format!(
                r#""targetInfo":{{"targetId":"{}","type":"other","title":"{title}","url":"{url}","attached":true~}}"#,
                self.frame_name(target)
            );
            self.say(BROWSER, "Target.targetInfoChanged", &params, None, Note::Nothing);
        }
    }

    pub(crate) fn target_destroyed(&mut self, target: No, after: Option<Stamp>) {
        if self.discover {
            let params = format!(r#""targetId":"{}""#, self.frame_name(target));
            self.say(BROWSER, "Target.targetDestroyed", &params, after, Note::Nothing);
        }
    }
}
