//! One deadline for all the steps of what a tool does in a page, and what it says of a page that lets it pass.
//!
//! Each step has a limit of its own as well, by which it is known sooner what became of it. They do not add up.

use std::time::Duration;

use ostler_core::{CallError, TimeoutHint};
use tokio::time::{Instant, sleep, timeout_at};

use super::context::Tab;
use super::held_up::{self, ASK_AFTER, HeldUp, Look, Lookout};
use crate::meta::TaskLayer;

/// How long acting in a page may take: an input that it is slow to take in would be made twice by one who gave up early.
const ACT: Duration = Duration::from_secs(10);
/// How long drawing it may take, as a whole page does that is large.
const DRAW: Duration = Duration::from_secs(20);
/// How often a page is looked at that waits for a dialog over the bridge, until it is known not to be drawn.
const LOOKS_IN_DIALOG: u32 = 2;

/// The time that a tool has for its work in a page.
#[derive(Debug)]
pub(super) struct Patience<'a, T> {
    tab: &'a Tab<'a, T>,
    began: Instant,
    deadline: Instant,
}

/// What ends a step before its time, besides its own failure. Giving up early what only looks does no harm.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    /// That a script keeps the page busy.
    Script,
    /// And whatever else keeps it from being drawn.
    Undrawn,
}

impl<'a, T: TaskLayer> Patience<'a, T> {
    /// Begins to act in a page.
    pub(super) fn to_act(tab: &'a Tab<'a, T>) -> Self {
        Self::new(tab, ACT)
    }

    /// Begins to take a picture of a page.
    pub(super) fn to_draw(tab: &'a Tab<'a, T>) -> Self {
        Self::new(tab, DRAW)
    }

    fn new(tab: &'a Tab<'a, T>, most: Duration) -> Self {
        let began = Instant::now();
        Self { tab, began, deadline: began + most }
    }

    /// Gives the work so much longer.
    pub(super) fn extend(&mut self, by: Duration) {
        self.deadline += by;
    }

    /// Takes a step. It is given up when the time for all of them is over.
    pub(super) async fn step<R>(&self, step: impl Future<Output = Result<R, CallError>>) -> Result<R, CallError> {
        match timeout_at(self.deadline, step).await {
            Ok(done) => done,
            Err(_) => Err(self.is_over().await),
        }
    }

    /// Takes the step that is the input itself. What the page has of it when the time is over nobody knows: a dialog that
    /// is open by then is not what kept it from being sent.
    pub(super) async fn act<R>(&self, input: impl Future<Output = Result<R, CallError>>) -> Result<R, CallError> {
        match timeout_at(self.deadline, input).await {
            Ok(done) => done,
            Err(_) => Err(match self.is_over().await {
                CallError::DialogOpen { .. } | CallError::AsksOn { .. } => self.timeout(TimeoutHint::None),
                error => error,
            }),
        }
    }

    /// Takes a step that only reads: it is also given up once it is known that a script keeps the page busy.
    pub(super) async fn read<R>(&self, step: impl Future<Output = Result<R, CallError>>) -> Result<R, CallError> {
        self.watched(Ends::Script, step).await
    }

    /// Takes a step in which the page is drawn: it is also given up once it is known that the page is not.
    pub(super) async fn draw<R>(&self, step: impl Future<Output = Result<R, CallError>>) -> Result<R, CallError> {
        self.watched(Ends::Undrawn, step).await
    }

    async fn watched<R>(&self, ends: Ends, step: impl Future<Output = Result<R, CallError>>) -> Result<R, CallError> {
        self.step(async {
            tokio::select! {
                done = step => done,
                kept = self.is_kept(ends) => Err(kept),
            }
        })
        .await
    }

    /// Looks again and again, and returns what keeps the page once that is known.
    async fn is_kept(&self, ends: Ends) -> CallError {
        let (mut lookout, mut looks_in_dialog) = (Lookout::default(), 0);
        loop {
            sleep(ASK_AFTER).await;
            let Look::HeldUp(held) = lookout.look(self.tab).await else { continue };
            match held {
                HeldUp::Script(error) => return self.since_it_began(error),
                _ if ends == Ends::Script => {}
                // A native one has ended the step already, and over the bridge most pages are drawn (fact F23).
                HeldUp::Dialog(_) => {
                    looks_in_dialog += 1;
                    if looks_in_dialog >= LOOKS_IN_DIALOG {
                        return self.timeout(TimeoutHint::MidFrame);
                    }
                }
                HeldUp::Frame { why: error @ CallError::DialogOpen { .. }, .. } => return error,
                HeldUp::Frame { url, .. } => {
                    return CallError::NotActionable {
                        what: "the page".to_owned(),
                        why: format!(
                            "is not drawn before {} answers: {}",
                            held_up::frame_at(&url),
                            held_up::UNKNOWN_CAUSE
                        ),
                        next: "answer what other tabs ask, or close the tab with browser_tabs".to_owned(),
                    };
                }
            }
        }
    }

    /// Says at the end of the time what the page, or a frame of it, does not answer for.
    async fn is_over(&self) -> CallError {
        match held_up::silence(self.tab).await {
            Some(error) => self.since_it_began(error),
            None => self.timeout(TimeoutHint::None),
        }
    }

    /// Returns an error that was found out by asking shortly as one of the whole work.
    fn since_it_began(&self, error: CallError) -> CallError {
        match error {
            CallError::Timeout { hint, .. } => self.timeout(hint),
            error => error,
        }
    }

    fn timeout(&self, hint: TimeoutHint) -> CallError {
        let timeout_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        CallError::Timeout { method: "the tool".to_owned(), timeout_ms, hint }
    }
}
