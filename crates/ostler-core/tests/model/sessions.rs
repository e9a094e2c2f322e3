//! Sessions of the model browser: how they come and go, what they reply, and what a lost connection leaves.

use super::No;
use super::bridge::Bridge;
use super::browser::{AutoAttach, Browser, Session};
use super::wire::{BROWSER, Command, Note, Stamp};

impl Browser {
    /// Attaches a session and announces it on its parent.
    pub(crate) fn attach(&mut self, target: No, kind: &str, parent: No, held: bool) -> No {
        let session = self.number();
        let url = if kind == "iframe" && held { String::new() } else { self.url_of(target) };
        let target_json = if kind == "worker" {
            format!(
                r#"{{"targetId":"W{}.{session}","type":"worker","title":"","url":"w.js","attached":true~}}"#,
                self.life
            )
        } else {
            self.target_json(target, kind, &url)
        };
        let params = format!(
            r#""sessionId":"{}","targetInfo":{target_json},"waitingForDebugger":{held}"#,
            self.session_name(session)
        );
        let after = if parent == BROWSER { None } else { self.out.tail(BROWSER) };
        let stamp = self.say(parent, "Target.attachedToTarget", &params, after, Note::Attached(session));
        self.out.gate(session, stamp);
        self.sessions.insert(
            session,
            Session {
                target,
                worker: kind == "worker",
                parent,
                page: false,
                runtime: false,
                auto_attach: false,
                held,
                supervised: false,
                by_client: false,
                debugged: false,
                bridge: Bridge::default(),
            },
        );
        session
    }

    /// Ends a session and those below it; what it has said arrives before the news of its end.
    pub(crate) fn detach(&mut self, session: No) -> Option<Stamp> {
        let below: Vec<No> =
            self.sessions.iter().filter(|(_, other)| other.parent == session).map(|(no, _)| *no).collect();
        for child in below {
            self.detach(child);
        }
        let Session { parent, target, .. } = self.sessions.remove(&session)?;
        let params =
            format!(r#""sessionId":"{}","targetId":"{}""#, self.session_name(session), self.frame_name(target));
        let after = self.out.tail(session);
        Some(self.say(parent, "Target.detachedFromTarget", &params, after, Note::Nothing))
    }

    /// Ends every session on a target.
    pub(crate) fn detach_target(&mut self, target: No) -> Option<Stamp> {
        let mut last = None;
        for session in self.sessions_on(target) {
            last = self.detach(session).or(last);
        }
        last
    }

    /// Answers a command; nobody hears the answer if the session is gone.
    pub(crate) fn reply(&mut self, command: &Command, body: &str) {
        self.reply_with(command, body, Note::Nothing);
    }

    pub(crate) fn reply_with(&mut self, command: &Command, body: &str, note: Note) {
        match command.session {
            Some(session) if self.sessions.contains_key(&session) => {
                let name = self.session_name(session);
                let text = format!(r#"{{"id":{},{body},"sessionId":"{name}"~}}"#, command.id);
                self.out.push(session, text, None, note);
            }
            Some(_) => {}
            None => {
                self.out.push(BROWSER, format!(r#"{{"id":{},{body}~}}"#, command.id), None, Note::Nothing);
            }
        }
    }

    pub(crate) fn reply_ok(&mut self, command: &Command) {
        let body = match command.mark {
            Some(mark) => format!(r#""result":{{"mark":{mark}~}}"#),
            None => r#""result":{~}"#.replace("{~}", "{}"),
        };
        self.reply(command, &body);
    }

    /// Answers `Page.navigate`: another document comes.
    pub(crate) fn reply_navigated(&mut self, command: &Command) {
        self.reply_navigation(command, "");
    }

    /// Answers `Page.navigate`: none comes.
    pub(crate) fn reply_aborted(&mut self, command: &Command) {
        self.reply_navigation(command, r#","errorText":"net::ERR_ABORTED""#);
    }

    fn reply_navigation(&mut self, command: &Command, more: &str) {
        let mark = command.mark.map_or_else(String::new, |mark| format!(r#","mark":{mark}"#));
        self.reply(command, &format!(r#""result":{{"loaderId":"L"{more}{mark}~}}"#));
    }

    pub(crate) fn reply_error(&mut self, command: &Command, code: i64, message: &str) {
        self.reply(command, &format!(r#""error":{{"code":{code},"message":"{message}"~}}"#));
    }

    // --- the connection ---

    /// The connection is lost: its sessions end, and with them most holds, but not that of a popup
    /// which can reach its opener (facts C12, E3).
    pub(crate) fn disconnect(&mut self) {
        if self.tabs.values().any(|tab| tab.opener_proc.is_some()) {
            self.seen("E3: a popup with an opener is left held");
        }
        self.dead |= self.ends_with_the_connection();
        self.out.lose();
        self.freed.clear();
        for tab in self.tabs.values_mut() {
            (tab.awaited, tab.told) = (false, None);
        }
        self.inbox.clear();
        self.sessions.clear();
        (self.discover, self.auto_attach) = (false, AutoAttach::Off);
        for proc in self.procs.values_mut() {
            proc.inbox.clear();
        }
        // What is paused or held goes on by itself (fact B6).
        self.sweep_questions();
        for dialog in self.dialogs.values_mut() {
            dialog.lose_client();
        }
        for tab in self.tabs.keys().copied().collect::<Vec<_>>() {
            self.tab_mut(tab).waiting.clear();
            if !self.tabs[&tab].access {
                self.release_tab(tab);
            }
        }
        for frame in self.frames.keys().copied().collect::<Vec<_>>() {
            if self.frames.contains_key(&frame) {
                self.swap_in(frame);
            }
        }
    }
}
