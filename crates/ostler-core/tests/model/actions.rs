//! What happens in the browser without the supervisor: pages, people and crashes, chosen at random.

use super::No;
use super::browser::{Browser, Hold};
use super::tabs::Popup;

const MAX_TABS: usize = 6;
const MAX_FRAMES: usize = 9;
const SITES: usize = 4;

impl Browser {
    /// Something happens in the browser; now and then nothing can.
    pub(crate) fn act(&mut self) {
        let tabs: Vec<No> = self.tabs.keys().copied().collect();
        let Some(tab) = self.rng.pick(&tabs) else {
            let site = self.site();
            self.open_tab(Popup::Stranger, None, Some(site));
            return;
        };
        if self.tabs[&tab].asleep {
            // Its person may look at it, or close it.
            return match self.rng.below(20) {
                0 => {
                    self.wake_tab(tab);
                    self.reload(tab);
                }
                1 => self.close(tab),
                _ => {}
            };
        }
        if self.tabs[&tab].crashed && self.rng.percent(30) {
            return self.reload(tab);
        }
        match self.rng.below(100) {
            0..=2 => self.new_tab(),
            3 => self.close(tab),
            4 => self.crash_some(tab),
            5..=6 => self.free_some_script(tab),
            7 => self.foreign_answer(tab),
            8 if self.rng.percent(50) => self.discard(tab),
            8 => self.resume_by_another(),
            9..=12 => self.pull_away(tab),
            _ => self.script(tab),
        }
    }

    fn site(&mut self) -> u8 {
        self.rng.below(SITES) as u8
    }

    fn new_tab(&mut self) {
        if self.tabs.len() < MAX_TABS {
            let site = self.site();
            self.open_tab(Popup::Stranger, None, Some(site));
        }
    }

    fn close(&mut self, tab: No) {
        let state = &self.tabs[&tab];
        // Closing a held popup leaves its opener frozen for good (E3), and an armed one ends the browser (A25).
        if state.hold == Hold::Free && state.armed.is_none() && self.tabs.len() > 1 {
            self.close_tab(tab);
        }
    }

    /// Only pages that nothing is open in, and that nobody has just opened.
    fn discard(&mut self, tab: No) {
        let state = &self.tabs[&tab];
        let open = [state.dialog, state.lost, state.armed].into_iter().any(|open| open.is_some());
        let asks = self.questions.keys().any(|question| self.dialogs[question].tab == tab);
        let whole = self.frames_of(tab).iter().all(|frame| self.frames[frame].pending.is_none());
        let proc = self.frames[&tab].proc;
        let opens = self.tabs.values().any(|popup| popup.opener_proc == Some(proc));
        let at_rest = state.hold == Hold::Free && !state.crashed && !state.ghost && state.leaving.is_none();
        if at_rest && !open && !asks && whole && !opens && self.frames[&tab].page != 0 {
            self.discard_tab(tab);
        }
    }

    fn crash_some(&mut self, tab: No) {
        // A frame with a dialog rather than another one.
        let mut frames = self.asking(tab);
        if frames.is_empty() || self.rng.percent(50) {
            frames = self.frames_of(tab);
        }
        let proc = self.rng.pick(&frames).map_or(0, |frame| self.frames[&frame].proc);
        if self.can_crash(proc) {
            self.crash(proc);
        }
    }

    fn free_some_script(&mut self, tab: No) {
        for frame in self.frames_of(tab) {
            let proc = self.frames[&frame].proc;
            if let Some(proc) = self.procs.get_mut(&proc) {
                proc.busy = false;
            }
        }
    }

    fn foreign_answer(&mut self, tab: No) {
        if self.tabs[&tab].dialog.is_some() && self.tabs[&tab].armed.is_none() {
            self.answer_foreign(tab);
        }
    }

    /// A script takes away the frame that has a dialog open, or one that holds it (fact A25).
    fn pull_away(&mut self, tab: No) {
        let state = &self.tabs[&tab];
        let asking = state.dialog.filter(|open| state.lost.is_none() && self.is_answerable(*open));
        let Some(mut frame) = asking.map(|open| self.dialogs[&open].frame) else { return };
        while let Some(parent) = self.frames[&frame].parent {
            let holder = &self.frames[&parent];
            if holder.pending.is_none() && !holder.crashed && self.runs_scripts(holder.proc) && self.rng.percent(60) {
                return self.remove_frame(frame);
            }
            frame = parent;
        }
    }

    /// A script does something, in a frame whose process is free.
    fn script(&mut self, tab: No) {
        let state = &self.tabs[&tab];
        if state.hold != Hold::Free || state.crashed {
            return;
        }
        let frames = self.frames_of(tab);
        let oopifs: Vec<No> = frames.iter().copied().filter(|frame| self.frames[frame].oopif).collect();
        let from = if self.rng.percent(50) && !oopifs.is_empty() { &oopifs } else { &frames };
        let Some(frame) = self.rng.pick(from) else { return };
        let known = self.frames[&frame].clone();
        if known.pending.is_some() || known.crashed || !self.runs_scripts(known.proc) {
            return;
        }
        let site = self.site();
        match self.rng.below(100) {
            0..=21 => {
                if frames.len() < MAX_FRAMES && self.above(frame).len() < 5 && known.page != 0 {
                    self.add_frame(frame, site);
                }
            }
            22..=36 => self.navigate_child(tab, frame, site),
            37..=44 => self.remove_child(tab, frame),
            45..=47 => {
                // The page's own navigation is one of the things that end the browser (fact A25).
                let state = &self.tabs[&tab];
                if (state.armed.is_none() || !self.watched(tab)) && state.going.is_none() {
                    // A page leaves itself for another one of its own more often than not.
                    let site = if self.rng.percent(50) { self.frames[&tab].site } else { site };
                    if self.rng.percent(50) || !self.go_and_ask(frame, site) {
                        self.navigate_tab(tab, site);
                    }
                }
            }
            48..=51 => {
                if self.tabs[&tab].armed.is_none() && self.tabs[&tab].going.is_none() && self.can_go_back(tab) {
                    self.restore(tab);
                }
            }
            52..=56 => {
                if known.page != 0 && self.tabs[&tab].armed.is_none() {
                    self.navigate_within(frame);
                }
            }
            57..=62 => {
                if self.tabs.len() < MAX_TABS {
                    let kinds = [Popup::Opener, Popup::Opener, Popup::Opener, Popup::Noopener, Popup::Requested];
                    let kind = self.rng.pick(&kinds).unwrap_or(Popup::Opener);
                    let to = Some(site).filter(|_| kind == Popup::Requested || self.rng.percent(80));
                    let popup = self.open_tab(kind, Some(frame), to);
                    if self.rng.percent(20) {
                        self.first_script(popup);
                    }
                }
            }
            63..=64 => self.add_worker(tab),
            65..=71 => self.console(frame),
            72..=74 => {
                if self.can_open_dialog(frame) {
                    self.proc_mut(known.proc).busy = true;
                }
            }
            _ => self.dialog(frame),
        }
    }

    fn dialog(&mut self, frame: No) {
        if self.can_open_dialog(frame) {
            let kind = self.rng.pick(&["alert", "confirm", "prompt", "beforeunload"]).unwrap_or("alert");
            let kind = if kind == "beforeunload" { "confirm" } else { kind };
            self.open_dialog(frame, kind, None);
        }
    }

    fn first_script(&mut self, popup: No) {
        if self.tabs.get(&popup).is_some_and(|tab| tab.hold == Hold::Free) {
            self.dialog(popup);
        }
    }

    /// Returns the frames of a tab in which a dialog is open.
    fn asking(&self, tab: No) -> Vec<No> {
        let state = &self.tabs[&tab];
        [state.dialog, state.lost].into_iter().flatten().map(|open| self.dialogs[&open].frame).collect()
    }

    fn navigate_child(&mut self, tab: No, frame: No, site: u8) {
        let below = self.below(frame);
        let busy = self.asking(tab).iter().any(|asking| *asking == frame || below.contains(asking));
        let whole = below.iter().all(|no| self.frames[no].pending.is_none());
        if frame != tab && !busy && whole {
            self.navigate_frame(frame, site);
            if self.rng.percent(10) {
                self.dialog(frame);
            }
        }
    }

    /// A script removes a frame that it holds, whatever goes on in there.
    fn remove_child(&mut self, tab: No, holder: No) {
        let children = self.children(holder);
        let Some(child) = self.rng.pick(&children) else { return };
        let mut gone = self.below(child);
        gone.push(child);
        let state = &self.tabs[&tab];
        // What becomes of a lost or an unseen dialog then is not known.
        let clear = [state.lost, state.dialog.filter(|open| !self.is_answerable(*open))];
        let unclear = clear.into_iter().flatten().any(|open| gone.contains(&self.dialogs[&open].frame));
        // A dialog in a frame of the document's own process blocks the script that would remove it.
        if !unclear {
            self.remove_frame(child);
        }
    }

    fn is_answerable(&self, dialog: No) -> bool {
        self.dialogs[&dialog].state == super::dialogs::State::Open
    }

    fn can_go_back(&self, tab: No) -> bool {
        let pending = |frame: &No| self.frames[frame].pending.is_some();
        !self.frames_of(tab).iter().any(pending)
    }
}
