//! What is kept of a task's pages between two requests: walkers, whose ref is whose, and what was shown.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ostler_core::{FrameId, TargetId};
use tokio::time::Instant;

use super::document::Document;

/// How many stretches of refs are remembered; a page of one frame needs one.
const MAX_STRETCHES: usize = 4096;
/// How many frames' walkers are remembered.
const MAX_DOCUMENTS: usize = 1024;
/// How many outlines are kept to compare with, and how much of each.
const MAX_SHOWN: usize = 8;
const MAX_SHOWN_TEXT: usize = 64 * 1024;

/// What is kept of a task's pages. It ends with the task, and is another one in another browser.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The next ref; no number is ever given twice.
    next_ref: AtomicU64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    documents: HashMap<FrameId, Arc<Document>>,
    /// Which document gave out which refs, the oldest first.
    stretches: VecDeque<Stretch>,
    shown: VecDeque<Arc<Shown>>,
    /// The number of the newest outline.
    count: u64,
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

impl Default for Memory {
    fn default() -> Self {
        Self { next_ref: AtomicU64::new(1), kept: Mutex::default() }
    }
}

impl Memory {
    /// Sets refs aside and returns the first. Those that are not needed come back with [`Memory::note_refs`].
    pub(super) fn reserve_refs(&self, count: u64) -> u64 {
        self.next_ref.fetch_add(count, Ordering::Relaxed)
    }

    /// Notes that of the refs from `first` on those before `end` are a document's, and gives back the others, unless
    /// somebody else was given refs behind them meanwhile.
    pub(super) fn note_refs(&self, document: &Arc<Document>, first: u64, end: u64, count: u64) {
        let _ = self.next_ref.compare_exchange(first + count, end, Ordering::Relaxed, Ordering::Relaxed);
        if first == end {
            return;
        }
        let mut kept = self.kept();
        if let Some(last) = kept.stretches.back_mut()
            && last.end == first
            && Arc::ptr_eq(&last.document, document)
        {
            last.end = end;
            return;
        }
        kept.stretches.push_back(Stretch { first, end, document: Arc::clone(document) });
        if kept.stretches.len() > MAX_STRETCHES {
            kept.stretches.pop_front();
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

    /// Returns the newest outline of a tab, of the whole page if there is one.
    pub(crate) fn last_shown(&self, target: &TargetId) -> Option<Arc<Shown>> {
        let kept = self.kept();
        let of_tab = || kept.shown.iter().rev().filter(|shown| shown.target == *target);
        of_tab().find(|shown| shown.scope == Scope::Page).or_else(|| of_tab().next()).cloned()
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
