//! What the model browser does with the supervisor's commands.
//!
//! The browser process reads them in wire order and does some itself; the rest go to the renderer of
//! the session's target, which does them in its own time, or never: blocked by a dialog, busy, crashed.

use super::No;
use super::browser::{AutoAttach, Browser, Frame, Freed, Hold};
use super::dialogs::{Leaving, State};
use super::going::NOT_ACTIVE;
use super::tabs::Popup;
use super::wire::{BROWSER, Command, Note};

/// The site of `about:blank`.
const BLANK: u8 = 99;

impl Browser {
    /// The browser process reads the next command.
    pub(crate) fn read_command(&mut self) {
        let Some(command) = self.inbox.pop_front() else { return };
        match command.session {
            None => self.on_browser_command(&command),
            Some(session) if self.sessions.contains_key(&session) => self.on_session_command(command, session),
            Some(_) => {
                let text = r#""error":{"code":-32001,"message":"Session with given id not found."~}"#;
                self.out.push(BROWSER, format!(r#"{{"id":{},{text}~}}"#, command.id), None, Note::Nothing);
            }
        }
    }

    fn on_browser_command(&mut self, command: &Command) {
        let named = command.params.target_id.as_deref().map_or(0, |name| self.number_in(name));
        match &*command.method {
            "Target.setDiscoverTargets" => {
                self.discover = true;
                for tab in self.tabs.keys().copied().collect::<Vec<_>>() {
                    self.target_created(tab, "page", &self.url_of(tab));
                }
                let own = |(_, frame): &(&No, &Frame)| frame.oopif || frame.pending.is_some();
                for frame in self.frames.iter().filter(own).map(|(no, _)| *no).collect::<Vec<_>>() {
                    self.target_created(frame, "iframe", &self.url_of(frame));
                }
                self.reply_ok(command);
            }
            "Target.setAutoAttach" => {
                let narrow = command.params.filter.as_ref().is_some_and(Vec::is_empty);
                self.auto_attach = if narrow { AutoAttach::Narrow } else { AutoAttach::Wide };
                if !narrow {
                    for tab in self.tabs.keys().copied().collect::<Vec<_>>() {
                        self.attach(tab, "page", BROWSER, false);
                    }
                }
                self.reply_ok(command);
            }
            "Target.createTarget" => {
                let tab = self.open_tab(Popup::Stranger, None, None);
                self.tab_mut(tab).ordered = true;
                let mark = command.mark.map_or_else(String::new, |mark| format!(r#","mark":{mark}"#));
                let name = self.frame_name(tab);
                self.reply(command, &format!(r#""result":{{"targetId":"{name}"{mark}~}}"#));
            }
            "Target.attachToTarget" if self.tabs.contains_key(&named) => {
                let session = self.attach(named, "page", BROWSER, false);
                self.session_mut(session).by_client = command.mark.is_some();
                let mark = command.mark.map_or_else(String::new, |mark| format!(r#","mark":{mark}"#));
                let name = self.session_name(session);
                self.reply(command, &format!(r#""result":{{"sessionId":"{name}"{mark}~}}"#));
            }
            "Target.attachToTarget" | "Target.closeTarget" if !self.tabs.contains_key(&named) => {
                self.reply_error(command, -32602, "No target with given id found");
            }
            "Target.closeTarget" => {
                if !self.ends_the_browser(named, command) && !self.ends_the_browser_by_closing(named, command) {
                    self.close_tab(named);
                    self.reply_ok(command);
                }
            }
            "Target.detachFromTarget" => {
                let session = command.params.session_id.as_deref().map_or(0, |name| self.number_in(name));
                if self.sessions.contains_key(&session) {
                    if self.ends_the_browser_by_letting_go(session, command) {
                        return;
                    }
                    self.detach_client(session);
                    self.reply_ok(command);
                } else {
                    self.reply_error(command, -32602, "No session with given id");
                }
            }
            _ => self.reply_ok(command),
        }
    }

    /// A session is ended by its client: what it saw open it cannot answer any more (facts A9, A11).
    fn detach_client(&mut self, session: No) {
        let super::browser::Session { target, supervised, .. } = self.sessions[&session];
        self.detach(session);
        if supervised && self.tabs.contains_key(&target) {
            self.orphan_dialog(target);
        }
        // The frames that it held below are let go, as by a disconnect (fact C12).
        for frame in self.below(target) {
            if self.frames.contains_key(&frame) && self.sessions_on(frame).is_empty() {
                self.swap_in(frame);
            }
        }
    }

    /// The tab's dialog cannot be answered any more, unless another session of the supervisor's saw it open (fact F35).
    pub(crate) fn orphan_dialog(&mut self, tab: No) {
        let Some(open) = self.tabs[&tab].dialog else { return };
        let left = |no: &No| self.sessions.get(no).is_some_and(|session| session.supervised && session.page);
        if !self.dialogs[&open].saw.iter().any(left) {
            self.dialogs.get_mut(&open).expect("it is open").state = State::Unseen;
        }
    }

    fn on_session_command(&mut self, command: Command, session: No) {
        let target = self.sessions[&session].target;
        if self.sessions[&session].worker {
            return match command.method.strip_prefix("Page.") {
                Some(_) => self.reply_error(&command, -32601, &format!("'{}' wasn't found", command.method)),
                None => self.reply_ok(&command),
            };
        }
        let top = self.tabs.contains_key(&target);
        let tab = self.frames[&target].tab;
        if command.mark.is_some() && &*command.method == "Debugger.enable" && !self.refuses_debugger {
            self.session_mut(session).debugged = true;
        }
        if self.on_bridge_command(&command, session) {
            return;
        }
        match &*command.method {
            "Page.getNavigationHistory" if self.tabs[&tab].stuck => self.reply_stuck(&command, tab),
            "Page.getNavigationHistory" | "Network.getCookies" | "Page.bringToFront" => self.reply_ok(&command),
            "Page.handleJavaScriptDialog" => {
                if !self.ends_the_browser(tab, &command) {
                    self.answer(&command, session);
                }
            }
            "Page.navigate" | "Page.reload" | "Page.close" | "Page.crash" if !top => {
                self.reply_error(&command, -32000, "Command can only be executed on top-level targets");
            }
            "Page.navigate" | "Page.reload" | "Page.close" | "Page.crash" => {
                if !self.ends_the_browser(tab, &command) {
                    self.on_page_command(command, tab);
                }
            }
            "Runtime.runIfWaitingForDebugger" => {
                let known = self.session_mut(session);
                let needless = !known.held && !known.supervised;
                known.held = false;
                let mut freed = Vec::new();
                if top && self.tabs[&tab].hold != Hold::Free {
                    freed.push(tab);
                    self.release_tab(tab);
                } else if !top {
                    self.swap_in(target);
                }
                freed.extend(self.free_popups_of_process(target));
                for tab in freed {
                    let set_up = self.sessions_on(tab).iter().any(|session| self.sessions[session].supervised);
                    self.freed.push(Freed { tab, set_up, needless, heard: command.heard });
                }
                self.hand_on(command, session);
            }
            "Page.enable" => {
                let known = self.session_mut(session);
                known.page = true;
                known.supervised |= command.mark.is_none();
                self.hand_on(command, session);
            }
            "Page.disable" => {
                if self.ends_the_browser_by_letting_go(session, &command) {
                    return;
                }
                let known = self.session_mut(session);
                known.page = false;
                if known.supervised && top {
                    // What it saw open it cannot answer any more (fact A11).
                    self.orphan_dialog(tab);
                }
                self.hand_on(command, session);
            }
            "Runtime.terminateExecution" => {
                let proc = self.frames[&target].proc;
                if let Some(proc) = self.procs.get_mut(&proc) {
                    proc.busy = false;
                }
                self.hand_on(command, session);
            }
            "Target.setAutoAttach" => {
                self.attach_below(session, target);
                // The browser does it at once (fact F44); only the answer waits for the renderer, if there is one.
                if self.tabs[&tab].hold == Hold::Bare || self.tabs[&tab].asleep || self.frames[&target].crashed {
                    self.reply_ok(&command);
                } else {
                    self.hand_on(command, session);
                }
            }
            _ => self.hand_on(command, session),
        }
    }

    /// A session attaches the frames below its target from now on, and those that are there.
    fn attach_below(&mut self, session: No, target: No) {
        self.session_mut(session).auto_attach = true;
        let oopif = |frame: &No| {
            let attached = self.sessions_on(*frame).iter().any(|other| self.sessions[other].parent == session);
            self.frames[frame].oopif && self.local_root_above(*frame) == target && !attached
        };
        for frame in self.below(target).into_iter().filter(oopif).collect::<Vec<_>>() {
            self.attach(frame, "iframe", session, false);
        }
    }

    /// Navigation and the like on a tab's root.
    fn on_page_command(&mut self, command: Command, tab: No) {
        if self.tabs[&tab].hold != Hold::Free {
            return self.reply_error(&command, -32000, NOT_ACTIVE);
        }
        let leaving = match &*command.method {
            "Page.navigate" => Leaving::To(site_in(command.params.url.as_deref().unwrap_or_default())),
            "Page.reload" => Leaving::Reload,
            "Page.close" => Leaving::Close,
            // `Page.crash` never replies.
            _ => {
                let proc = self.frames[&tab].proc;
                if self.can_crash(proc) {
                    self.crash(proc);
                }
                return;
            }
        };
        if self.tabs[&tab].stuck {
            return self.on_stuck_page(&command, tab, leaving);
        }
        if self.asks_once_more(&command, tab, leaving) {
            return;
        }
        let asks = command.mark.is_some()
            && !self.tabs[&tab].asleep
            && self.rng.percent(15)
            && self.tabs[&tab].dialog.is_none();
        if asks && self.can_open_dialog(tab) {
            let cause = if leaving == Leaving::Reload || leaving == Leaving::Close {
                self.reply_ok(&command);
                None
            } else {
                Some(command)
            };
            self.open_dialog(tab, "beforeunload", cause);
            self.tab_mut(tab).leaving = Some(leaving);
            return;
        }
        self.leave_after_reply(&command, tab, leaving);
    }

    fn leave_after_reply(&mut self, command: &Command, tab: No, leaving: Leaving) {
        self.wake_tab(tab);
        match leaving {
            Leaving::To(_) => self.reply_navigated(command),
            Leaving::Reload | Leaving::Close => self.reply_ok(command),
        }
        self.leave(tab, leaving);
    }

    /// Returns whether fact A25 makes the command end the whole browser; it then has.
    fn ends_the_browser(&mut self, tab: No, command: &Command) -> bool {
        if self.tabs.get(&tab).is_none_or(|tab| tab.armed.is_none()) || !self.watched(tab) {
            return false;
        }
        self.dead = true;
        let told = self.tabs[&tab].armed_heard.is_some_and(|heard| heard <= command.heard);
        if told || self.leaves_known_dialog(tab, command) {
            self.blame = Some(format!("{} on tab {tab} ended the browser (fact A25)", command.method));
        }
        true
    }

    /// Returns whether a navigation was sent in a tab in which a frame was known to ask: that frame may be gone by the
    /// time that the command arrives, which is why `Page` is to be off by then (fact F38). Where clients have sessions or
    /// the Debugger of their own it is sent as it is.
    fn leaves_known_dialog(&self, tab: No, command: &Command) -> bool {
        let leaves = matches!(&*command.method, "Page.navigate" | "Page.reload");
        let asked = self.tabs[&tab].armed.and_then(|dialog| self.dialogs.get(&dialog));
        let known = asked.is_some_and(|dialog| dialog.told.is_some() && dialog.heard <= command.heard);
        let in_tab = |session: &&super::browser::Session| {
            !session.worker && self.frames.get(&session.target).is_some_and(|frame| frame.tab == tab)
        };
        leaves && known && self.sessions.values().filter(in_tab).all(|session| session.supervised && !session.debugged)
    }

    /// Hands a command on to the renderer of its session's target.
    fn hand_on(&mut self, command: Command, session: No) {
        let target = self.sessions[&session].target;
        let frame = &self.frames[&target];
        let tab = self.tabs.get_mut(&frame.tab).expect("a frame's tab");
        if tab.hold == Hold::Bare || tab.asleep {
            return tab.waiting.push(command);
        }
        let proc = frame.pending.map_or(frame.proc, |(_, proc)| proc);
        if !frame.crashed
            && let Some(proc) = self.procs.get_mut(&proc)
        {
            proc.inbox.push_back(command);
        }
    }

    /// Processes that have something to do and can do it.
    pub(crate) fn runnable(&self) -> Vec<No> {
        let can = |proc: &super::browser::Proc| proc.is_free() && !proc.inbox.is_empty();
        self.procs.iter().filter(|(_, proc)| can(proc)).map(|(no, _)| *no).collect()
    }

    /// A renderer does its next command.
    pub(crate) fn run_process(&mut self, proc: No) {
        let Some(command) = self.proc_mut(proc).inbox.pop_front() else { return };
        let Some(session) = command.session.filter(|session| self.sessions.contains_key(session)) else { return };
        self.in_renderer(&command, session);
    }

    fn in_renderer(&mut self, command: &Command, session: No) {
        let target = self.sessions[&session].target;
        if self.on_bridge_command_in_renderer(command, session) {
            return;
        }
        match &*command.method {
            "Runtime.enable" => {
                self.session_mut(session).runtime = true;
                self.reply_ok(command);
            }
            "Page.getFrameTree" => {
                let tree = self.tree_json(target, target);
                self.reply(command, &format!(r#""result":{{"frameTree":{tree}~}}"#));
            }
            "Runtime.getIsolateId" => {
                let frame = &self.frames[&target];
                let proc = frame.pending.map_or(frame.proc, |(_, proc)| proc);
                self.reply(command, &format!(r#""result":{{"id":"i{proc}"~}}"#));
            }
            "Runtime.evaluate" if self.frames[&target].pending.is_some() => {
                self.reply_error(command, -32000, "Cannot find default execution context");
            }
            "Runtime.evaluate" | "Input.dispatchMouseEvent" | "Input.dispatchKeyEvent"
                if command.mark.is_some() && self.rng.percent(15) =>
            {
                self.trigger(command, target);
            }
            // Some never answer (fact C29).
            _ if command.mark.is_some() && self.rng.percent(3) => {}
            _ => self.reply_ok(command),
        }
    }

    fn local_root_above(&self, frame: No) -> No {
        self.frames[&frame].parent.map_or(0, |parent| self.local_root(parent))
    }

    /// A client's command makes the page do something.
    fn trigger(&mut self, command: &Command, target: No) {
        let tab = self.frames[&target].tab;
        // Input on the root reaches any frame (fact C26).
        let frames = if command.method.starts_with("Input.") { self.frames_of(tab) } else { vec![target] };
        let frame = self.rng.pick(&frames).unwrap_or(target);
        if self.can_open_dialog(frame) {
            let kind = self.rng.pick(&["alert", "confirm", "prompt"]).unwrap_or("alert");
            self.open_dialog(frame, kind, Some(command.clone()));
        } else {
            self.reply_ok(command);
        }
    }

    fn tree_json(&self, frame: No, target: No) -> String {
        if self.frames[&frame].pending.is_some() && frame == target {
            return format!(r#"{{"frame":{}~}}"#, self.frame_json(frame));
        }
        let here = |child: &No| !self.frames[child].oopif;
        let children: Vec<String> =
            self.children(frame).into_iter().filter(here).map(|child| self.tree_json(child, target)).collect();
        let below =
            if children.is_empty() { String::new() } else { format!(r#","childFrames":[{}]"#, children.join(",")) };
        format!(r#"{{"frame":{}{below}~}}"#, self.frame_json(frame))
    }

    pub(crate) fn above(&self, mut frame: No) -> Vec<No> {
        let mut found = Vec::new();
        while let Some(parent) = self.frames[&frame].parent {
            found.push(parent);
            frame = parent;
        }
        found
    }
}

/// Returns the site that an address names; `about:blank` is another one than all of these, in a process of its own.
fn site_in(url: &str) -> u8 {
    let number = url.strip_prefix("http://s").and_then(|rest| rest.split_once('.'));
    number.and_then(|(number, _)| number.parse().ok()).unwrap_or(BLANK)
}
