//! What is kept of a task's pages between two requests: walkers, whose ref is whose, and what was shown.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ostler_core::{FrameId, TargetId};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

use super::document::Document;

/// How many stretches of refs are remembered; a page of one frame needs one.
const MAX_STRETCHES: usize = 4096;
/// How many of them are forgotten before those are whose refs are still shown.
const SPARE_STRETCHES: usize = 1024;
/// How many frames' walkers are remembered.
const MAX_DOCUMENTS: usize = 1024;
/// How many outlines are kept to compare with, and how much of each.
const MAX_SHOWN: usize = 8;
const MAX_SHOWN_TEXT: usize = 64 * 1024;

/// What is kept of a task's pages. It ends with the task, and is another one in another browser.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    documents: HashMap<FrameId, Arc<Document>>,
    /// Which document gave out which refs, the oldest first.
    stretches: VecDeque<Stretch>,
    /// The newest ref that was lent; no number is given twice.
    newest: u64,
    shown: VecDeque<Arc<Shown>>,
    /// Whose turn it is to act in a tab.
    turns: HashMap<TargetId, Weak<AsyncMutex<()>>>,
    /// The number of the newest outline.
    count: u64,
}

/// Refs that a document may give out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lent {
    pub(super) first: u64,
    pub(super) count: u64,
    /// An element whose number is below this one gets a new one: the old one will be forgotten soon.
    pub(super) oldest: u64,
}

#[derive(Debug)]
struct Stretch {
    first: u64,
    end: u64,
    document: Arc<Document>,
}

/// An outline that somebody was shown.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Its number in the task.
    pub(crate) number: u64,
    /// The tab that it is of.
    pub(crate) target: TargetId,
    /// Which part of the page it is of.
    pub(crate) scope: Scope,
    /// The address of the page.
    pub(crate) url: String,
    /// When the page was so.
    pub(crate) at: Instant,
    /// The lines.
    pub(crate) lines: String,
    /// Whether these are all the lines that were shown; of a long outline only the beginning is kept.
    pub(crate) whole: bool,
}

/// Which part of a page an outline shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Page,
    Frame(FrameId),
    Element(u64),
}

impl Memory {
    /// Returns what stands for a tab's mouse and keys.
    pub(super) fn turn(&self, tab: &TargetId) -> Arc<AsyncMutex<()>> {
        let mut kept = self.kept();
        let known = kept.turns.get(tab).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let turn = Arc::default();
            kept.turns.retain(|_, turn| turn.strong_count() > 0);
            kept.turns.insert(tab.clone(), Arc::downgrade(&turn));
            turn
        })
    }

    /// Lends refs to a document. They are its own from here on, whatever becomes of the call that gives them out: what
    /// it did not give out comes back with [`Memory::settle_refs`].
    pub(super) fn lend_refs(&self, document: &Arc<Document>, count: u64) -> Lent {
        let mut kept = self.kept();
        let first = kept.newest + 1;
        kept.newest += count;
        kept.stretches.push_back(Stretch { first, end: first + count, document: Arc::clone(document) });
        if kept.stretches.len() > MAX_STRETCHES {
            kept.stretches.pop_front();
        }
        let fading = kept.stretches.len().saturating_sub(MAX_STRETCHES - SPARE_STRETCHES);
        Lent { first, count, oldest: kept.stretches[fading].first }
    }

    /// Takes back what a document did not give out: the refs from `end` on.
    pub(super) fn settle_refs(&self, lent: Lent, end: u64) {
        let kept = &mut *self.kept();
        let Ok(at) = kept.stretches.binary_search_by_key(&lent.first, |stretch| stretch.first) else { return };
        let end = end.clamp(lent.first, lent.first + lent.count);
        kept.stretches[at].end = end;
        // Unless somebody else was lent refs behind them meanwhile.
        if kept.newest + 1 == lent.first + lent.count {
            kept.newest = end - 1;
        }
        if end == lent.first {
            kept.stretches.remove(at);
        } else if at > 0
            && kept.stretches[at - 1].end == lent.first
            && Arc::ptr_eq(&kept.stretches[at - 1].document, &kept.stretches[at].document)
        {
            kept.stretches[at - 1].end = end;
            kept.stretches.remove(at);
        }
    }

    /// Returns the document that gave out a ref.
    pub(super) fn document_of(&self, number: u64) -> Option<Arc<Document>> {
        let kept = self.kept();
        let stretch = kept.stretches.iter().rev().find(|stretch| (stretch.first..stretch.end).contains(&number))?;
        Some(Arc::clone(&stretch.document))
    }

    /// Returns the newest ref that was given out; 0 if none was.
    pub(super) fn newest_ref(&self) -> u64 {
        self.kept().stretches.back().map_or(0, |stretch| stretch.end - 1)
    }

    /// Returns the walker that a frame had last.
    pub(super) fn document(&self, frame: &FrameId) -> Option<Arc<Document>> {
        self.kept().documents.get(frame).cloned()
    }

    /// Remembers a frame's walker in the place of the one before.
    pub(super) fn keep_document(&self, document: Arc<Document>) {
        let mut kept = self.kept();
        if kept.documents.len() >= MAX_DOCUMENTS {
            // They are made again when they are needed.
            kept.documents.clear();
        }
        kept.documents.insert(document.frame.clone(), document);
    }

    /// Keeps an outline under the next number.
    pub(crate) fn keep_shown(&self, make: impl FnOnce(u64) -> Shown) -> Arc<Shown> {
        let mut kept = self.kept();
        kept.count += 1;
        let shown = Arc::new(make(kept.count));
        kept.shown.push_back(Arc::clone(&shown));
        if kept.shown.len() > MAX_SHOWN {
            kept.shown.pop_front();
        }
        shown
    }

    /// Returns the outline of a number, if it is still kept.
    pub(crate) fn shown(&self, number: u64) -> Option<Arc<Shown>> {
        self.kept().shown.iter().find(|shown| shown.number == number).cloned()
    }

    /// Returns the newest outline of a tab, of that part if there is one, else of the whole page.
    pub(crate) fn last_shown(&self, target: &TargetId, scope: &Scope) -> Option<Arc<Shown>> {
        let kept = self.kept();
        let of_tab = || kept.shown.iter().rev().filter(|shown| shown.target == *target);
        let of = |scope: &Scope| of_tab().find(|shown| shown.scope == *scope);
        of(scope).or_else(|| of(&Scope::Page)).or_else(|| of_tab().next()).cloned()
    }

    /// Returns as much of an outline as is kept.
    pub(crate) fn kept_lines(lines: &str) -> (String, bool) {
        if lines.len() <= MAX_SHOWN_TEXT {
            return (lines.to_owned(), true);
        }
        let beginning = &lines[..lines.floor_char_boundary(MAX_SHOWN_TEXT)];
        (beginning[..beginning.rfind('\n').unwrap_or(0)].to_owned(), false)
    }

    /// Held only while something is looked up or noted, never across a wait.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_of(memory: &Memory, number: u64, document: &Arc<Document>) -> bool {
        memory.document_of(number).is_some_and(|of| Arc::ptr_eq(&of, document))
    }

    #[test]
    fn refs_of_a_walk_that_ended_in_an_error_belong_to_their_document() {
        let memory = Memory::default();
        let (page, other) = (Document::named("page"), Document::named("other"));
        let failed = memory.lend_refs(&page, 10);
        assert_eq!((failed.first, failed.count), (1, 10));
        // Nothing comes back: the walker may have given them out before the walk ended.
        let lent = memory.lend_refs(&other, 10);
        memory.settle_refs(lent, 13);
        assert!(is_of(&memory, 4, &page));
        assert!(is_of(&memory, 12, &other));
        assert!(memory.document_of(13).is_none());
        assert_eq!(memory.newest_ref(), 12);
        assert_eq!(memory.lend_refs(&page, 1).first, 13, "what was not given out is lent again");
    }

    #[test]
    fn refs_that_are_lent_to_two_at_once_are_never_the_same() {
        let memory = Memory::default();
        let (page, other) = (Document::named("page"), Document::named("other"));
        let (first, second) = (memory.lend_refs(&page, 10), memory.lend_refs(&other, 10));
        memory.settle_refs(first, 3);
        assert_eq!(memory.lend_refs(&page, 10).first, 21);
        memory.settle_refs(second, 999);
        assert!(memory.document_of(5).is_none());
        assert!(is_of(&memory, 20, &other), "no document gets more than it was lent");
    }

    #[test]
    fn refs_are_told_to_be_shown_no_more_before_they_are_forgotten() {
        let memory = Memory::default();
        let documents = [Document::named("page"), Document::named("other")];
        let mut oldest = 0;
        for turn in 0..2 * MAX_STRETCHES {
            let lent = memory.lend_refs(&documents[turn % 2], 2);
            memory.settle_refs(lent, lent.first + 1);
            assert!(
                memory.document_of(oldest.max(1)).is_some(),
                "what the walk before could show is known in turn {turn}"
            );
            oldest = lent.oldest;
        }
        assert!(oldest > 1);
        assert!(memory.document_of(1).is_none());
    }

    #[test]
    fn refs_that_one_document_gives_out_one_after_the_other_are_one_stretch() {
        let memory = Memory::default();
        let page = Document::named("page");
        for _ in 0..10 {
            let lent = memory.lend_refs(&page, 5);
            memory.settle_refs(lent, lent.first + 2);
        }
        assert_eq!(memory.newest_ref(), 20);
        assert_eq!(memory.kept().stretches.len(), 1);
    }
}
