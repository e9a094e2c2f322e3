//! The connections that there are: one for each browser, however many tasks share it and however each of them named it.
//!
//! ```text
//!   by name     the same profile, launch or URL                  known before anything is dialled
//!   by address  a browser that was found where another task's    known as soon as one has looked, which raises no
//!               connection is, or where its URL leads            prompt; so a second connection is never dialled
//! ```

use crate::connection::Handle;
use crate::endpoint::cloud::CloudOptions;
use crate::endpoint::{Found, LaunchOptions, Source, Wanted, any_port_here, port_here};
use crate::secret::SecretUrl;
use ostler_core::TaskId;

/// What tells one browser from another before it is dialled.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    Running(Wanted),
    /// A cloud browser that somebody else started, before its address is known.
    Adopted,
    Url(SecretUrl),
    /// Launched for this task alone.
    Launched(TaskId),
    /// Rented for this task alone.
    Cloud(TaskId),
}

/// One connection, made or to be made.
#[derive(Debug)]
pub(super) struct Browser {
    pub(super) key: Key,
    pub(super) handle: Handle,
    /// Where it is from.
    source: Source,
    /// What it will be, by the last look around, until the connection itself tells.
    expected: Option<Found>,
    /// How many are binding a task to it at the moment.
    pub(super) bindings: usize,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Browsers(Vec<Browser>);

impl Browser {
    pub(super) fn new(key: Key, source: Source, handle: Handle) -> Self {
        Self { key, handle, source, expected: None, bindings: 0 }
    }

    fn found(&self) -> Option<Found> {
        self.handle.status().found.clone().or_else(|| self.expected.clone())
    }

    /// Where a Chromium of ours or one that was discovered listens, nothing else does, whatever more a URL says.
    fn is_at_url(&self, url: &SecretUrl) -> bool {
        matches!(&self.key, Key::Url(own) if own == url)
            || port_here(url).is_some_and(|port| self.named_port() == Some(port))
            || any_port_here(url).is_some_and(|port| self.is_at(port))
    }

    fn is(&self, found: &Found) -> bool {
        let ports = [self.named_port(), self.launched_port()];
        ports.into_iter().flatten().any(|port| found.is_at(port)) || self.found().is_some_and(|own| own == *found)
    }

    fn is_at(&self, port: u16) -> bool {
        self.launched_port() == Some(port) || self.found().is_some_and(|found| found.is_at(port))
    }

    fn named_port(&self) -> Option<u16> {
        match &self.key {
            Key::Url(url) => port_here(url),
            _ => None,
        }
    }

    fn launched_port(&self) -> Option<u16> {
        self.handle.status().launched_port.filter(|_| self.handle.is_connected())
    }
}

impl Browsers {
    pub(super) fn of(&self, handle: &Handle) -> Option<&Browser> {
        self.0.iter().find(|browser| browser.handle.is(handle))
    }

    pub(super) fn of_mut(&mut self, handle: &Handle) -> Option<&mut Browser> {
        self.0.iter_mut().find(|browser| browser.handle.is(handle))
    }

    pub(super) fn keyed(&self, key: &Key) -> Option<&Browser> {
        self.0.iter().find(|browser| browser.key == *key)
    }

    /// Returns the connection to the browser at this URL, by whatever name it was made.
    pub(super) fn at_url(&self, url: &SecretUrl) -> Option<&Browser> {
        self.0.iter().find(|browser| browser.is_at_url(url))
    }

    /// Returns a connection to a browser of the kind that is wanted, if one was found.
    pub(super) fn wanted(&self, wanted: &Wanted) -> Option<&Browser> {
        self.0.iter().find(|browser| browser.handle.status().found.as_ref().is_some_and(|found| found.is(wanted)))
    }

    /// Returns the browser that was launched for this task, if it is what was asked for: one that runs may be more than
    /// that, and one that has to be started is to be started just so.
    pub(super) fn launched(&self, task: &TaskId, suits: impl Fn(&LaunchOptions, bool) -> bool) -> Option<&Browser> {
        self.0.iter().find(|browser| match (&browser.key, &browser.source) {
            (Key::Launched(theirs), Source::Launch(options)) => {
                theirs == task && suits(options, browser.handle.is_connected())
            }
            _ => false,
        })
    }

    /// Returns the browser that was rented for this task, if it is what was asked for.
    pub(super) fn rented(&self, task: &TaskId, asked: &CloudOptions) -> Option<&Browser> {
        self.0.iter().find(|browser| match (&browser.key, &browser.source) {
            (Key::Cloud(theirs), Source::Cloud(order)) => theirs == task && order.satisfies(asked),
            _ => false,
        })
    }

    /// Returns what has to be looked for before the connection is dialled: somebody else may hold it already.
    pub(super) fn unknown_yet(&self, handle: &Handle) -> Option<Wanted> {
        match &self.of(handle).filter(|_| handle.status().found.is_none())?.source {
            Source::Discover(wanted) => Some(wanted.clone()),
            _ => None,
        }
    }

    /// Returns the other connection that holds the browser which was found for `handle`. If there is none, it is
    /// `handle` from now on, so that of two who look at the same time the second one shares.
    pub(super) fn holder(&mut self, found: Found, handle: &Handle) -> Option<Handle> {
        let other = self.0.iter().find(|browser| !browser.handle.is(handle) && browser.is(&found));
        if let Some(other) = other {
            return Some(other.handle.clone());
        }
        if let Some(own) = self.of_mut(handle) {
            own.expected = Some(found);
        }
        None
    }

    pub(super) fn add(&mut self, browser: Browser) {
        self.0.push(browser);
    }

    /// Takes out a browser that no task is in, nor about to be.
    pub(super) fn take_unused(&mut self, used: impl Fn(&Handle) -> bool) -> Option<Handle> {
        let at = self.0.iter().position(|browser| browser.bindings == 0 && !used(&browser.handle))?;
        Some(self.0.remove(at).handle)
    }

    pub(super) fn into_handles(self) -> impl Iterator<Item = Handle> {
        self.0.into_iter().map(|browser| browser.handle)
    }
}
