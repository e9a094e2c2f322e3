//! The model browser's state: tabs, frames with processes, sessions, dialogs; and how it tells of them.
//!
//! What happens to them is in `pages.rs` (what pages and people do), `commands.rs` (what the
//! supervisor asks for) and `dialogs.rs`.

use std::collections::{BTreeMap, VecDeque};

use super::No;
use super::bridge::{Bridge, Question};
use super::dialogs::{Dialog, Leaving};
use super::prng::Rng;
use super::wire::{BROWSER, Command, Note, Outbox, Stamp};

#[derive(Debug)]
pub(crate) struct Browser {
    /// Which browser process this is: part of every id, so that nothing of another one goes unseen.
    pub(crate) life: No,
    pub(crate) rng: Rng,
    pub(crate) tabs: BTreeMap<No, Tab>,
    pub(crate) frames: BTreeMap<No, Frame>,
    pub(crate) sessions: BTreeMap<No, Session>,
    pub(crate) procs: BTreeMap<No, Proc>,
    /// Which process renders a site for a group of tabs.
    pub(crate) homes: BTreeMap<(No, u8), No>,
    pub(crate) dialogs: BTreeMap<No, Dialog>,
    /// Those of them that a script of the bridge waits in.
    pub(crate) questions: BTreeMap<No, Question>,
    /// A proxy in between refuses the Debugger domain.
    pub(crate) refuses_debugger: bool,
    pub(crate) next: No,
    /// Commands on their way in, in wire order.
    pub(crate) inbox: VecDeque<Command>,
    pub(crate) out: Outbox,
    pub(crate) discover: bool,
    /// Browser-level auto-attach: off, narrow (its filter takes nothing) or wide.
    pub(crate) auto_attach: AutoAttach,
    /// Which facts have come up, and how often: what never comes up is not proved.
    pub(crate) tally: BTreeMap<&'static str, usize>,
    /// The whole browser has gone down (fact A25).
    pub(crate) dead: bool,
    /// The command that brought it down, if the supervisor could know that it would.
    pub(crate) blame: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AutoAttach {
    Off,
    Narrow,
    Wide,
}

/// A tab; its number is that of its top frame too.
#[derive(Debug)]
pub(crate) struct Tab {
    pub(crate) group: No,
    pub(crate) opener: Option<No>,
    pub(crate) access: bool,
    pub(crate) hold: Hold,
    /// The site that it goes to when it is let go, and the process that is frozen in `window.open` until then.
    pub(crate) bound_for: Option<u8>,
    pub(crate) opener_proc: Option<No>,
    /// Commands that wait for the tab to get a renderer (fact C8a).
    pub(crate) waiting: Vec<Command>,
    pub(crate) crashed: bool,
    pub(crate) dialog: Option<No>,
    /// The dialog of another process that can be answered no more (fact A26).
    pub(crate) lost: Option<No>,
    /// A dialog's process crashed: an answer is still accepted (fact A24).
    pub(crate) ghost: bool,
    /// The dialog under which its frame went away (fact A25).
    pub(crate) armed: Option<No>,
    /// When that arrived at the supervisor, counted in messages.
    pub(crate) armed_heard: Option<u64>,
    /// What goes on if the page lets itself be left.
    pub(crate) leaving: Option<Leaving>,
    pub(crate) saved: Vec<Saved>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    Free,
    /// Held before its first script; its renderer answers.
    Held,
    /// Held before it has a renderer (fact C8a).
    Bare,
}

/// A document kept in the back/forward cache.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) top: Frame,
    pub(crate) below: Vec<(No, Frame)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) tab: No,
    pub(crate) parent: Option<No>,
    pub(crate) site: u8,
    pub(crate) page: No,
    pub(crate) proc: No,
    /// Whether it has a target of its own; its sessions are those with this target.
    pub(crate) oopif: bool,
    /// On its way into another process, and held there.
    pub(crate) pending: Option<(u8, No)>,
    pub(crate) crashed: bool,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) target: No,
    pub(crate) worker: bool,
    /// Where it was announced.
    pub(crate) parent: No,
    pub(crate) page: bool,
    pub(crate) runtime: bool,
    pub(crate) auto_attach: bool,
    /// Waits for `runIfWaitingForDebugger`.
    pub(crate) held: bool,
    /// The supervisor set it up: it is not one that a client attached for itself.
    pub(crate) supervised: bool,
    pub(crate) bridge: Bridge,
}

/// A renderer process.
#[derive(Debug, Default)]
pub(crate) struct Proc {
    /// How many dialogs and `window.open`s it waits in.
    pub(crate) blocks: usize,
    /// A script of it does not end.
    pub(crate) busy: bool,
    /// A script of it is paused: it runs none, and answers what it is asked.
    pub(crate) paused: bool,
    pub(crate) inbox: VecDeque<Command>,
}

impl Proc {
    pub(crate) fn is_free(&self) -> bool {
        self.blocks == 0 && !self.busy
    }
}

impl Browser {
    pub(crate) fn new(life: No, next: No, mut rng: Rng) -> Self {
        let refuses_debugger = rng.percent(40);
        Self {
            life,
            rng,
            tabs: BTreeMap::new(),
            frames: BTreeMap::new(),
            sessions: BTreeMap::new(),
            procs: BTreeMap::new(),
            homes: BTreeMap::new(),
            dialogs: BTreeMap::new(),
            questions: BTreeMap::new(),
            refuses_debugger,
            next,
            inbox: VecDeque::new(),
            out: Outbox::default(),
            discover: false,
            auto_attach: AutoAttach::Off,
            tally: BTreeMap::new(),
            dead: false,
            blame: None,
        }
    }

    pub(crate) fn number(&mut self) -> No {
        self.next += 1;
        self.next
    }

    /// Notes that a fact has come up.
    pub(crate) fn seen(&mut self, fact: &'static str) {
        *self.tally.entry(fact).or_default() += 1;
    }

    // --- names ---

    pub(crate) fn frame_name(&self, frame: No) -> String {
        format!("F{}.{frame}", self.life)
    }

    pub(crate) fn session_name(&self, session: No) -> String {
        format!("S{}.{session}", self.life)
    }

    /// Returns the number in a frame's, target's or session's name; 0 if it is of another browser.
    pub(crate) fn number_in(&self, name: &str) -> No {
        let number = name.get(1..).and_then(|rest| rest.split_once('.'));
        let ours = number.filter(|(life, _)| life.parse() == Ok(self.life));
        ours.and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn url(site: u8, page: No) -> String {
        if page == 0 { String::new() } else { format!("http://s{site}.test/{page}") }
    }

    pub(crate) fn url_of(&self, frame: No) -> String {
        self.frames.get(&frame).map_or_else(String::new, |frame| Self::url(frame.site, frame.page))
    }

    // --- the tree ---

    /// Returns the frame at the top of this frame's target.
    pub(crate) fn local_root(&self, mut frame: No) -> No {
        while let Some(Frame { parent: Some(parent), oopif: false, .. }) = self.frames.get(&frame) {
            frame = *parent;
        }
        frame
    }

    pub(crate) fn children(&self, frame: No) -> Vec<No> {
        self.frames.iter().filter(|(_, child)| child.parent == Some(frame)).map(|(no, _)| *no).collect()
    }

    /// Returns the frames below `frame`, parents first.
    pub(crate) fn below(&self, frame: No) -> Vec<No> {
        let mut found = self.children(frame);
        let mut next = 0;
        while next < found.len() {
            found.extend(self.children(found[next]));
            next += 1;
        }
        found
    }

    pub(crate) fn frames_of(&self, tab: No) -> Vec<No> {
        self.frames.iter().filter(|(_, frame)| frame.tab == tab).map(|(no, _)| *no).collect()
    }

    pub(crate) fn sessions_on(&self, target: No) -> Vec<No> {
        let on = |session: &Session| session.target == target && !session.worker;
        self.sessions.iter().filter(|(_, session)| on(session)).map(|(no, _)| *no).collect()
    }

    pub(crate) fn tab_of_session(&self, session: No) -> Option<No> {
        let session = self.sessions.get(&session)?;
        self.frames.get(&session.target).map(|frame| frame.tab)
    }

    /// Returns whether any session of this tab, its frames' included, has `Page` on.
    pub(crate) fn watched(&self, tab: No) -> bool {
        self.sessions
            .values()
            .any(|session| session.page && self.frames.get(&session.target).is_some_and(|frame| frame.tab == tab))
    }

    pub(crate) fn is_free(&self, proc: No) -> bool {
        self.procs.get(&proc).is_some_and(Proc::is_free)
    }

    /// Returns the process that renders `site` in a group of tabs: a new one if there is none, or if a
    /// document could not commit in it now.
    pub(crate) fn home(&mut self, group: No, site: u8) -> No {
        if let Some(proc) = self.homes.get(&(group, site)).filter(|proc| self.runs_scripts(**proc)) {
            return *proc;
        }
        let proc = self.number();
        self.homes.insert((group, site), proc);
        self.procs.insert(proc, Proc::default());
        proc
    }

    // --- telling ---

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

    pub(crate) fn target_destroyed(&mut self, target: No, after: Option<Stamp>) {
        if self.discover {
            let params = format!(r#""targetId":"{}""#, self.frame_name(target));
            self.say(BROWSER, "Target.targetDestroyed", &params, after, Note::Nothing);
        }
    }

    // --- sessions ---

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
        self.out.lose();
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
