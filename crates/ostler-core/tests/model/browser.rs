//! The model browser's state: tabs, frames with processes, sessions, dialogs.
//!
//! What happens to them is in `frames.rs`, `tabs.rs`, `crashes.rs` (what pages and people do), `commands.rs` (what
//! the supervisor asks for) and `dialogs.rs`; what is said of it in `telling.rs` and `sessions.rs`.

use std::collections::{BTreeMap, VecDeque};

use super::No;
use super::bridge::{Bridge, Question};
use super::dialogs::{Dialog, Leaving};
use super::prng::Rng;
use super::wire::{Command, Outbox};

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
    /// Tabs that went on under another number when their page was thrown away, by the number that they had.
    pub(crate) moved: BTreeMap<No, No>,
    /// Tabs that a command let go since they were last looked at.
    pub(crate) freed: Vec<Freed>,
    /// Nobody hears it any more, so that no command it refuses can be sent again: it refuses none that may pass.
    pub(crate) silent: bool,
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
    /// The tab whose page opened it, whether or not the browser says so.
    pub(crate) asked_by: Option<No>,
    /// It came while auto-attach took the pages of everybody.
    pub(crate) came_wide: bool,
    /// A client or the supervisor had the browser open it.
    pub(crate) ordered: bool,
    /// Its opener was a task's when the supervisor was told of it, and of its first session, and how much it
    /// had heard by then.
    pub(crate) awaited: bool,
    pub(crate) told: Option<u64>,
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
    /// Its page was thrown away to save memory, until somebody needs it (fact E12).
    pub(crate) asleep: bool,
    /// What goes on if the page lets itself be left.
    pub(crate) leaving: Option<Leaving>,
    /// The site that its page is on its way to, for as long as its dialog is open.
    pub(crate) going: Option<u8>,
    /// That dialog and the next document wait for each other (fact F48).
    pub(crate) stuck: bool,
    pub(crate) saved: Vec<Saved>,
}

/// A tab that a resume let go, on whichever session it came.
#[derive(Debug)]
pub(crate) struct Freed {
    pub(crate) tab: No,
    /// The supervisor had sent the tab's set-up before.
    pub(crate) set_up: bool,
    /// The session that was resumed neither waited nor was being set up.
    pub(crate) needless: bool,
    /// What the supervisor had heard when it sent the resume.
    pub(crate) heard: u64,
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
    /// A client attached it for itself.
    pub(crate) by_client: bool,
    /// A client has asked for the Debugger on it.
    pub(crate) debugged: bool,
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
            moved: BTreeMap::new(),
            freed: Vec::new(),
            silent: false,
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

    /// Returns the number that a tab goes by now.
    pub(crate) fn now(&self, mut tab: No) -> No {
        while let Some(next) = self.moved.get(&tab) {
            tab = *next;
        }
        tab
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

    // --- to be changed ---

    pub(crate) fn frame_mut(&mut self, frame: No) -> &mut Frame {
        self.frames.get_mut(&frame).expect("the model acts on frames that there are")
    }

    pub(crate) fn tab_mut(&mut self, tab: No) -> &mut Tab {
        self.tabs.get_mut(&tab).expect("the model acts on tabs that there are")
    }

    pub(crate) fn session_mut(&mut self, session: No) -> &mut Session {
        self.sessions.get_mut(&session).expect("the model acts on sessions that there are")
    }

    pub(crate) fn proc_mut(&mut self, proc: No) -> &mut Proc {
        self.procs.entry(proc).or_default()
    }

    pub(crate) fn unblock(&mut self, proc: No) {
        if let Some(proc) = self.procs.get_mut(&proc) {
            proc.blocks = proc.blocks.saturating_sub(1);
        }
    }
}
