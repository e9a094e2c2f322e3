//! Whose turn it is to act in a tab: what two do at once with its mouse and keys comes in any order, and a button goes
//! down where the other one was.

use std::time::Duration;

use ostler_core::CallError;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::Page;
use crate::meta::TaskLayer;

/// How long to wait for it. Every action has a deadline of its own, so that a turn comes, if late.
const PATIENCE: Duration = Duration::from_secs(5);

impl<T: TaskLayer> Page<'_, T> {
    /// Takes the tab's mouse and keys. They are to be held from before a place is looked for until all is done there.
    pub(crate) async fn take_turn(&self) -> Result<OwnedMutexGuard<()>, CallError> {
        let turn = self.memory.turn(&self.target).lock_owned();
        timeout(PATIENCE, turn).await.map_err(|_| CallError::NotActionable {
            what: "the tab".to_owned(),
            why: format!("is in the hands of another call, which has not ended for {} s", PATIENCE.as_secs()),
            next: "try again once that one has ended, or work in a tab of your own".to_owned(),
        })
    }
}
