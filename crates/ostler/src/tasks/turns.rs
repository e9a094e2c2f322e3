//! Whoever changes which browser a task is in does so alone: two at once would each undo half of what the other did.
//!
//! The second one waits, and then starts from what the first one left: what each of them reports is true at that
//! moment, and the task stays where the last one put it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ostler_core::TaskId;
use tokio::sync::{Mutex as Waiting, OwnedMutexGuard};

/// Who may change a task's browser now, for each task.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<TaskId, Arc<Waiting<()>>>>);

/// Nobody else changes the task's browser as long as this is there.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "held for its end")] OwnedMutexGuard<()>);

impl Turns {
    /// Waits until nobody else changes the task's browser. Those who wait come in the order in which they asked.
    pub(super) async fn take(&self, task: &TaskId) -> Turn {
        Turn(self.of(task).lock_owned().await)
    }

    fn of(&self, task: &TaskId) -> Arc<Waiting<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Of those that nobody has or waits for, only the table knows.
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(task.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_has_one_turn_at_a_time_and_another_task_its_own() {
        let turns = Turns::default();
        let (one, other) = (TaskId::from("one"), TaskId::from("other"));
        let first = turns.take(&one).await;
        drop(turns.take(&other).await);
        assert!(turns.of(&one).try_lock().is_err(), "it is taken");
        drop(first);
        drop(turns.take(&one).await);
    }

    #[tokio::test]
    async fn nothing_is_kept_of_tasks_that_nobody_changes() {
        let turns = Turns::default();
        for task in 0..100 {
            drop(turns.take(&TaskId::from(format!("t{task}").as_str())).await);
        }
        assert_eq!(turns.0.lock().expect("no panic").len(), 1);
    }
}
