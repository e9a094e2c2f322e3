//! The tables behind the registry: which task is in which browser, and how far the numbers of ended ones went.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ostler_core::supervisor::Input;
use ostler_core::view::{DialogBridge, DialogPolicy};
use ostler_core::{CallError, TaskId};

use super::TaskEvents;
use super::browsers::Browsers;
use crate::connection::Handle;
use crate::page::Memory;

/// How many names of ended tasks are remembered.
const MAX_REMEMBERED: usize = 10_000;

/// All that changes while the daemon lives.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) browsers: Browsers,
    pub(super) tasks: BTreeMap<TaskId, Entry>,
    /// How far the numbers of tasks went that are over: a name that comes back counts on.
    pub(super) ended: BTreeMap<TaskId, Counts>,
    /// Tasks that were to be put into a browser before they were in any, and why that failed. Whichever browser happens
    /// to run is none that was asked for, and often a person's own.
    pub(super) astray: BTreeMap<TaskId, String>,
}

/// The newest numbers that a task's events and dialogs had.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) events: u64,
    pub(super) dialogs: u64,
}

/// A browser that a task is, or is to be, bound to.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) entry: Entry,
    /// Whether the task was not there before.
    pub(super) is_new: bool,
}

/// A task: its browser, and what is known of it there.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) handle: Handle,
    pub(super) feed: Arc<TaskEvents>,
    pub(super) memory: Arc<Memory>,
    pub(super) terms: Terms,
}

/// What a task was started with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) policy: DialogPolicy,
    pub(super) dialog_timeout: Duration,
    pub(super) quiet: bool,
    pub(super) dialog_bridge: DialogBridge,
}

impl State {
    pub(super) fn entry(&self, task: &TaskId) -> Result<Entry, CallError> {
        self.tasks.get(task).cloned().ok_or_else(|| CallError::UnknownTask {
            task: task.clone(),
            known: self.tasks.keys().map(ToString::to_string).collect(),
        })
    }

    /// Starts the task in the browser of the entry, or tells it there on which terms it goes on.
    pub(super) fn start(&self, task: &TaskId, entry: &Entry) {
        let Terms { policy, dialog_timeout, quiet, dialog_bridge } = entry.terms;
        let dialogs_before = self.counts(task).dialogs;
        let input =
            Input::StartTask { task: task.clone(), policy, dialog_timeout, quiet, dialog_bridge, dialogs_before };
        entry.handle.start_task(input, task.clone(), Arc::clone(&entry.feed));
    }

    /// Makes a binding the task's, and ends the one before. Returns a browser that nobody uses any more.
    pub(super) fn settle(&mut self, task: &TaskId, binding: Binding) -> Option<Handle> {
        self.unbind(&binding.entry.handle);
        self.astray.remove(task);
        let before = self.tasks.insert(task.clone(), binding.entry).filter(|_| binding.is_new)?;
        self.end(task, &before)
    }

    /// Ends a task in the browser that it was in, and remembers how far its numbers went. Returns the browser if
    /// nobody uses it any more.
    pub(super) fn end(&mut self, task: &TaskId, entry: &Entry) -> Option<Handle> {
        let counts = Counts { events: entry.feed.newest(), dialogs: entry.feed.view().dialogs_so_far };
        if self.ended.len() < MAX_REMEMBERED || self.ended.contains_key(task) {
            self.ended.insert(task.clone(), counts);
        }
        entry.handle.end_task(task.clone());
        self.take_unused()
    }

    /// Notes that a task did not get the browser that it was to be in. One that has a browser keeps that.
    pub(super) fn note_astray(&mut self, task: &TaskId, why: String) {
        let has_none = |entry: &Entry| self.browsers.unknown_yet(&entry.handle).is_some();
        if self.tasks.get(task).is_some_and(has_none) {
            self.astray.insert(task.clone(), why);
        }
    }

    /// Returns what whoever needs the browser of a task is told that is to be in another one than would be found.
    pub(super) fn astray(&self, task: &TaskId) -> Option<String> {
        let why = self.astray.get(task)?;
        Some(format!(
            "task {task} is in no browser, since the last `ostler connect` did not give it one ({why}); connect it again, or \
             have it in one that runs by a plain `ostler connect`"
        ))
    }

    pub(super) fn counts(&self, task: &TaskId) -> Counts {
        let of_entry =
            |entry: &Entry| Counts { events: entry.feed.newest(), dialogs: entry.feed.view().dialogs_so_far };
        self.tasks.get(task).map(of_entry).or_else(|| self.ended.get(task).copied()).unwrap_or_default()
    }

    pub(super) fn take_unused(&mut self) -> Option<Handle> {
        let tasks = &self.tasks;
        self.browsers.take_unused(|handle| tasks.values().any(|entry| entry.handle.is(handle)))
    }

    /// Makes what a task will have in a browser. Until that is settled or given up nobody takes the browser away.
    pub(super) fn bind(&mut self, task: &TaskId, handle: Handle, terms: Terms) -> Binding {
        if let Some(browser) = self.browsers.of_mut(&handle) {
            browser.bindings += 1;
        }
        if let Some(entry) = self.tasks.get(task).filter(|entry| entry.handle.is(&handle)) {
            return Binding { entry: Entry { terms, ..entry.clone() }, is_new: false };
        }
        let feed = Arc::new(TaskEvents::new(task.clone(), self.counts(task).events));
        Binding { entry: Entry { handle, feed, memory: Arc::default(), terms }, is_new: true }
    }

    pub(super) fn unbind(&mut self, handle: &Handle) {
        if let Some(browser) = self.browsers.of_mut(handle) {
            browser.bindings -= 1;
        }
    }
}
