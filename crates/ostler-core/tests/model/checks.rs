//! The design's invariants, one function for each; this table says where and when each is checked.
//!
//! | | after each step | as it happens | at rest |
//! | --- | --- | --- | --- |
//! | 1 every call ends | nothing is open past its deadline | one outcome, in time: `clients.rs` | nothing waits for a dialog, a session that has gone, or page work |
//! | 2 no dialog is missed | no hold is too long; an open dialog has a session | it is shown when told; an answer is somebody's: `dialog_checks.rs`; a popup runs when it is set up | shown is what is open, and who ended the rest |
//! | 3 nothing is repeated | | sent once, where it was meant to go: `clients.rs`, `sent_where_it_was_meant` | |
//! | 4 the tree is true | each frame once, below its parent | | it is the union of all trees: `tree_checks.rs` |
//! | 5 state belongs to one endpoint | all that is shown is of this browser | | its sessions are there |
//! | 6 memory is bounded | nothing is longer than its cap, and what is left out is counted | | all that is kept has a bound |
//! | 7 no harm is left | | nothing is sent to a tab that is nobody's, or another one's; no task has what is a person's | nothing is held, all is resumed when we leave |
//! | 8 the wire stays raw | what is unknown changes nothing | results and events as they came | |

use std::collections::BTreeSet;

use ostler_core::cdp::envelope::WireEvent;
use ostler_core::supervisor::{LEAVE, Scope};
use ostler_core::view::{MAX_CONSOLE, MAX_FRAMES, MAX_RECENT_DIALOGS, TaskView};

use super::No;
use super::browser::Hold;
use super::clients::{Aim, What};
use super::dialogs::State;
use super::schedule::Schedule;
use super::wire::Command;

/// How long a held target may wait, at most (design consequence 4).
const HOLD: u64 = 2_000_000;
/// How much the supervisor may keep, written out: about twice what it does in the busiest moment of a schedule.
const MEMORY: usize = 100_000;

impl Schedule {
    /// What holds after every input, and whenever time has passed.
    pub(crate) fn check_step(&self) {
        self.every_call_ends();
        self.no_dialog_is_missed();
        for view in self.views.values() {
            self.the_tree_is_true(view);
            self.state_belongs_to_one_endpoint(view);
            self.memory_is_bounded(view);
        }
    }

    /// What holds once nothing is on its way: what is known is what is so. `long` says that time has passed, too.
    pub(crate) fn check_at_rest(&mut self, long: bool) {
        self.check_step();
        if !self.online {
            return;
        }
        self.every_call_that_cannot_go_on_has_ended();
        self.check_blocked_calls();
        self.check_dialogs();
        self.check_trees();
        self.every_session_shown_is_there();
        self.all_that_is_kept_has_a_bound();
        if long {
            self.check_policies();
            self.check_nothing_unread();
            self.nothing_is_held();
            self.every_tab_of_our_own_is_somebodys();
        }
        self.browser.dialogs.retain(|_, dialog| !matches!(dialog.state, State::Answered | State::Ended));
    }

    // --- 1. Every call ends: with its result, its error or its deadline ... ---

    fn every_call_ends(&self) {
        self.clients.assert_none_late(self.now);
    }

    /// ... and at once when its session cannot answer any more. Browser-level calls never queue behind page work.
    fn every_call_that_cannot_go_on_has_ended(&self) {
        for (waiter, asked) in &self.clients.open {
            let What::Call { method, .. } = &asked.what else { continue };
            let for_browser = matches!(*method, "Target.getTargets" | "Browser.getVersion");
            assert!(!for_browser, "call {waiter} {asked:?} is the browser's own, and still open");
            let session = asked.sent.filter(|session| *session != 0);
            let there = session.is_none_or(|session| self.browser.sessions.contains_key(&session));
            assert!(there, "call {waiter} {asked:?} waits for a session that has gone");
        }
    }

    // --- 2. No dialog is missed, none is answered by accident. ---

    /// A new target waits until supervision is in place and is always resumed. Answers go to the root session.
    fn no_dialog_is_missed(&self) {
        for (session, since) in &self.held_since {
            let there = self.browser.sessions.get(session).is_some_and(|session| session.held);
            assert!(
                !there || !self.online || self.now <= since + HOLD,
                "session {session} has been held since {since}"
            );
        }
        for view in self.views.values() {
            for pending in view.pending_dialogs.iter().filter(|pending| pending.answerable) {
                let there = view.sessions.iter().any(|session| session.session_id == pending.session_id);
                assert!(there, "{pending:?} is to be answered on a session that the task has not");
            }
        }
    }

    /// A popup that a task will have was set up before anything let it run; and nothing that needs no resume gets one,
    /// since that would let popups run which nobody has heard of yet (fact F3).
    pub(crate) fn popups_are_set_up_before_they_run(&mut self) {
        for freed in std::mem::take(&mut self.browser.freed) {
            self.say(|| format!("  let go: {freed:?}"));
            let Some(tab) = self.browser.tabs.get(&freed.tab).filter(|_| !freed.set_up && !self.leaving) else {
                continue;
            };
            let known = tab.told.is_some_and(|told| told <= freed.heard);
            assert!(!known || !tab.awaited, "{freed:?}: a popup was let go, and its set-up was not sent");
            let ours = tab.opener.is_some_and(|opener| self.is_owned(opener));
            assert!(known || !ours || !freed.needless, "{freed:?}: a resume that nobody needed let a popup go");
        }
    }

    // --- 3. Nothing is repeated, nothing is redirected. ---

    /// Only a call that named no session follows the current tab.
    pub(crate) fn sent_where_it_was_meant(&self, mark: u64) {
        let Some(asked) = self.clients.open.get(&mark) else { return };
        let What::Call { aim, method, .. } = &asked.what else { return };
        let Some(sent) = asked.sent.and_then(|session| self.browser.tab_of_session(session)) else { return };
        let meant = match aim {
            // Seen by `clients.rs`: the session itself is the same.
            Aim::Session(_) => return,
            Aim::Frame(frame) => self.browser.frames.get(&self.browser.now(*frame)).map(|frame| frame.tab),
            // It may have been put to sleep since, and goes by another number now.
            Aim::Target(tab) => Some(self.browser.now(*tab)),
            // What waited for the connection is done in one batch, and a tab may be chosen behind this in it.
            Aim::Current if self.clients.chooses_a_tab(asked.task) => return,
            // A task that found its first tab in this batch may have gone on to another one in it.
            // It may have waited in the tab that was the current one, until its page asked no more.
            Aim::Current if matches!(*method, "Page.navigate" | "Page.reload") => return,
            Aim::Current if self.tab_before(asked.task).is_none_or(|before| before == sent) => return,
            Aim::Current => self.current_tab(asked.task),
        };
        assert!(meant.is_none_or(|meant| meant == sent), "call {mark} ({method}), {aim:?}, was sent to tab {sent}");
    }

    // --- 4. The tree is true. ---

    /// One map of frames by frame id across all sessions.
    fn the_tree_is_true(&self, view: &TaskView) {
        let Some(tree) = &view.all_frames else { return };
        let mut known = BTreeSet::from([&tree.top.frame_id]);
        for frame in &tree.children {
            assert!(known.contains(&frame.parent_frame_id), "{frame:?} stands before its parent, or without it");
            assert!(known.insert(&frame.frame_id), "{} is in the tree twice", frame.frame_id);
        }
    }

    // --- 5. State belongs to one endpoint. ---

    /// Another browser behind the same port has another UUID and starts from nothing.
    fn state_belongs_to_one_endpoint(&self, view: &TaskView) {
        let ours = |name: &str| self.browser.number_in(name) != 0;
        for tab in view.tabs.iter() {
            assert!(ours(tab.target_id.as_str()), "{} is of an earlier browser", tab.target_id);
            assert!(tab.session_id.as_ref().is_none_or(|id| ours(id.as_str())), "{tab:?}");
        }
        for dialog in view.pending_dialogs.iter() {
            assert!(ours(dialog.frame_id.as_str()), "{dialog:?} is of an earlier browser");
        }
        for session in view.sessions.iter() {
            assert!(self.online, "{session:?} is shown without a connection");
            assert!(ours(session.session_id.as_str()), "{session:?} is of an earlier browser");
        }
    }

    fn every_session_shown_is_there(&self) {
        for session in self.views.values().flat_map(|view| view.sessions.iter()) {
            let session = self.browser.number_in(session.session_id.as_str());
            assert!(self.browser.sessions.contains_key(&session), "session {session} is shown and gone");
        }
    }

    // --- 6. Memory is bounded, loss is counted. ---

    #[expect(clippy::unused_self, reason = "one of eight, called alike")]
    fn memory_is_bounded(&self, view: &TaskView) {
        assert!(view.recent_dialogs.len() <= MAX_RECENT_DIALOGS, "{} closed dialogs", view.recent_dialogs.len());
        assert!(view.console.len() <= MAX_CONSOLE, "{} console entries", view.console.len());
        let counts_on = view.console.windows(2).all(|two| two[0].seq + 1 == two[1].seq);
        assert!(counts_on, "an entry of the console was lost and its number with it: {:?}", view.console);
        if let (Some(tree), Some(all)) = (&view.frame_tree, &view.all_frames) {
            assert!(tree.children.len() < MAX_FRAMES, "{} frames", tree.children.len());
            let left_out = tree.children.len() < all.children.len();
            assert_eq!(tree.truncated, left_out, "whether frames were left out");
        }
    }

    fn all_that_is_kept_has_a_bound(&self) {
        let kept = self.kept();
        assert!(kept <= MEMORY, "the supervisor keeps {kept} characters");
    }

    // --- 7. ostler leaves no harm. ---

    /// What belongs to the user is left as found: nothing but a resume goes to a tab that no task has.
    pub(crate) fn own_command_harms_nobody(&mut self, command: &Command) {
        let Some(session) = command.session else { return self.attaches_to_nobody_elses(command) };
        let Some(tab) = self.browser.tab_of_session(session) else { return };
        if &*command.method == "Runtime.runIfWaitingForDebugger" {
            let state = &self.browser.tabs[&tab];
            let may_be_held = self.browser.sessions[&session].held || state.came_wide || state.access;
            let was_ours = self.is_owned(tab) || self.had.contains(&tab) || self.named.contains(&tab);
            let fine = self.scope == Scope::Own || may_be_held || was_ours;
            assert!(fine, "tab {tab}, which no task has had, was resumed and never held");
            return;
        }
        if self.is_last_word(command, tab) {
            return;
        }
        assert!(self.is_owned(tab), "{} was sent to tab {tab}, which no task has", command.method);
        if &*command.method == "Page.handleJavaScriptDialog" {
            assert_eq!(self.browser.sessions[&session].target, tab, "only a tab's root may answer (fact A3)");
            self.check_answer(command.params.accept.expect("an answer says which"), tab, false);
        }
        if let Some(accept) = command.params.gives()
            && self.browser.question_of(command, session).is_some()
        {
            self.check_answer(accept, tab, true);
        }
    }

    /// Returns whether it is the dismissal of what was open in a tab when its task ended, tried again (fact A19), or how a
    /// tab of ours is closed in which a frame asked (facts F40 and F48).
    fn is_last_word(&self, command: &Command, tab: No) -> bool {
        let dismisses = &*command.method == "Page.handleJavaScriptDialog" && command.params.accept == Some(false);
        let just = |left: &u64| self.now <= left + LEAVE.as_micros() as u64;
        let listens = &*command.method == "Runtime.getIsolateId";
        let closes =
            matches!(&*command.method, "Page.getNavigationHistory" | "Page.disable") && self.scope == Scope::Guest;
        (dismisses || listens || closes) && !self.is_owned(tab) && self.left_at.get(&tab).is_some_and(just)
    }

    fn attaches_to_nobody_elses(&self, command: &Command) {
        if &*command.method == "Target.attachToTarget" && self.scope == Scope::Guest {
            let named = command.params.target_id.as_deref().map_or(0, |name| self.browser.number_in(name));
            let popup = self.browser.tabs.get(&named).is_none_or(|tab| tab.access);
            assert!(popup || self.is_owned(named), "attached to tab {named}, which no task has");
        }
    }

    /// A client's call goes to nobody else's tab, and what a page says to nobody else's task.
    pub(crate) fn client_command_harms_nobody(&self, command: &Command, task: usize) {
        let tab = command.session.and_then(|session| self.browser.tab_of_session(session));
        // A tab that was just left may have sessions that are nobody's yet.
        let left = |tab: &No| self.left_at.get(tab).is_some_and(|left| self.now <= left + LEAVE.as_micros() as u64);
        if let Some(owner) = tab.filter(|tab| !left(tab)).and_then(|tab| self.owners.get(&tab)) {
            assert_eq!(*owner, task, "{} of one task went to another one's tab {tab:?}", command.method);
        }
    }

    /// In a browser that is not ours a task gets what it opened, what clients named, and what the pages of its tabs
    /// opened, by ctrl+click too. The default task takes a tab to work in when it is asked for one and has none.
    pub(crate) fn no_tab_is_taken_from_its_person(&mut self) {
        for (task, view) in &self.views {
            for tab in view.tabs.iter().map(|tab| self.browser.number_in(tab.target_id.as_str())) {
                // One that has gone meanwhile may have opened others before.
                let new = self.had.insert(tab);
                let Some(state) = self.browser.tabs.get(&tab).filter(|_| new) else { continue };
                let by_ours = state.asked_by.is_some_and(|opener| self.had.contains(&opener));
                let first = view.tabs.first().map(|first| self.browser.number_in(first.target_id.as_str()));
                let to_work_in = *task == 0 && first == Some(tab);
                let fine = self.scope == Scope::Own || state.ordered || by_ours || to_work_in;
                let known = |tab: &No| self.had.contains(tab) || self.named.contains(tab);
                let before = self.browser.moved.keys().any(|before| self.browser.now(*before) == tab && known(before));
                assert!(
                    fine || before || self.named.contains(&tab),
                    "tab {tab} is somebody else's, and task {task} has it"
                );
            }
        }
    }

    /// A tab that was put to sleep goes by another id and has the place that it had, from the moment in which that is
    /// told. What happens without a connection nobody can tell from a tab that was closed.
    pub(crate) fn each_tab_keeps_its_place(&mut self, before: &TaskView, now: &TaskView) {
        if !str::from_utf8(&self.heard).is_ok_and(|heard| heard.contains(r#""type":"other""#)) {
            return;
        }
        let shown = |view: &TaskView, tab: No| {
            let name = self.browser.frame_name(tab);
            view.tabs.iter().find(|tab| tab.target_id.as_str() == name).map(|tab| tab.number)
        };
        let mut kept = 0;
        for (old, new) in &self.browser.moved {
            if let (Some(old), None, Some(place)) = (shown(before, *old), shown(now, *old), shown(now, *new)) {
                assert_eq!(old, place, "the place of tab {new}, which was put to sleep");
                kept += 1;
            }
        }
        for _ in 0..kept {
            self.browser.seen("E12: a discarded tab keeps its place");
        }
    }

    /// No two tasks show one tab.
    pub(crate) fn each_tab_is_one_tasks(&mut self) {
        let mut owners = std::collections::BTreeMap::new();
        for (task, view) in &self.views {
            for tab in view.tabs.iter() {
                let tab = self.browser.number_in(tab.target_id.as_str());
                let before = owners.insert(tab, *task);
                assert!(before.is_none() || tab == 0, "tab {tab} is shown by two tasks");
            }
        }
        self.owners = owners;
    }

    pub(crate) fn nothing_is_held(&self) {
        for (tab, state) in &self.browser.tabs {
            assert_eq!(state.hold, Hold::Free, "tab {tab} is still held");
        }
        for (frame, state) in &self.browser.frames {
            assert!(state.pending.is_none(), "frame {frame} is still held");
        }
    }

    /// In a browser of our own, every tab that came since is some task's.
    fn every_tab_of_our_own_is_somebodys(&self) {
        if self.scope == Scope::Guest || self.policies.is_empty() {
            return;
        }
        for tab in self.browser.tabs.keys() {
            let attached = !self.browser.sessions_on(*tab).is_empty();
            assert!(!attached || self.owners.contains_key(tab), "tab {tab} is attached and nobody's");
        }
    }

    /// Before it lets go: dialogs answered, paused scripts resumed.
    pub(crate) fn nothing_waits_for_us(&self) {
        for (number, dialog) in &self.browser.dialogs {
            // What waits to be looked at goes on when the connection ends (fact B6).
            let looked_at = !self.may_be_looked_at(dialog);
            let ours = dialog.told.is_some() && looked_at && self.owners.contains_key(&dialog.tab);
            // What a browser refused before it fell silent nobody hears, and so nobody tries again.
            let unheard = self.browser.silent && dialog.refused;
            assert!(!ours || unheard || dialog.state != State::Open, "dialog {number} is left open");
        }
        for (number, question) in &self.browser.questions {
            let tab = self.browser.tab_of_session(question.session);
            let dialog = &self.browser.dialogs[number];
            let told = dialog.told.is_some() && !self.may_be_looked_at(dialog);
            assert!(
                !told || tab.is_none_or(|tab| !self.owners.contains_key(&tab)),
                "a script is left waiting in {number}"
            );
        }
    }

    /// The end of the connection ends no browser.
    pub(crate) fn nothing_ends_with_us(&self) {
        for (tab, state) in self.browser.tabs.iter().filter(|(_, state)| state.stuck) {
            let known = state.dialog.is_some_and(|dialog| self.browser.dialogs[&dialog].stuck_heard != u64::MAX);
            assert!(!known, "tab {tab} would take the browser along (fact F48)");
        }
    }

    // --- 8. The wire stays raw. ---

    /// A result is handed on as it came.
    pub(crate) fn result_is_raw(&self, result: &[u8]) {
        let result = str::from_utf8(result).expect("results are text");
        let heard = str::from_utf8(&self.heard).expect("the model speaks text");
        assert!(heard.contains(&format!(r#""result":{result}"#)), "the result {result} of {heard}");
    }

    /// An event is told as it came, and to the task whose page said it. The bridge has words of its own for dialogs.
    pub(crate) fn event_is_raw(&self, task: usize, event: &WireEvent) {
        let heard = str::from_utf8(&self.heard).expect("the model speaks text");
        let by_bridge = event.method.starts_with("Page.javascriptDialog") || event.method.starts_with("Ostler.");
        let raw = heard.contains(&*event.method) && (heard.contains(&*event.params) || &*event.params == "{}");
        assert!(raw || by_bridge, "{event:?} was told for {heard}");
        let Some(session) = event.session.as_ref().map(|name| self.browser.number_in(name.as_str())) else { return };
        if let Some(owner) = self.browser.tab_of_session(session).and_then(|tab| self.owners.get(&tab)) {
            assert_eq!(*owner, task, "{} was recorded for another task", event.method);
        }
    }

    /// An unknown method, type or field changes nothing. `done` counts the commands, outcomes and views that followed.
    pub(crate) fn unknown_changes_nothing(message: &str, done: usize) {
        assert_eq!(done, 0, "what is not known changed something: {message}");
    }
}
