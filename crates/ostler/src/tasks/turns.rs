//! Whoever changes which browser a task is in does so alone: two at once would each undo half of what the other did.
//!
//! The second one waits, and then starts from what the first one left: what each of them reports is true at that
//! moment, and the task stays where the last one put it. A turn ends as soon as the task is where it is to be: a browser
//! that it left is let go of after that. Nobody waits longer for one than the request has time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ostler_core::{CallError, TaskId};
use tokio::sync::{Mutex as Waiting, OwnedMutexGuard};
use tokio::time::timeout;

/// Who may change a task's browser now, for each task.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<TaskId, Arc<Waiting<()>>>>);

/// Nobody else changes the task's browser as long as this is there.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "held for its end")] OwnedMutexGuard<()>);

impl Turns {
    /// Waits until nobody else changes the task's browser, but no longer than `limit`. Those who wait come in the order
    /// in which they asked.
    pub(super) async fn take(&self, task: &TaskId, limit: Duration) -> Result<Turn, CallError> {
        let turn = timeout(limit, self.of(task).lock_owned()).await;
        turn.map(Turn).map_err(|_| CallError::NotCome {
            what: format!("task {task} was not put into its browser"),
            timeout_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            instead:
                "another request still connects or disconnects it, and `ostler status` shows how far that is; ask \
                      again once it is done"
                    .to_owned(),
        })
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

    /// Far more than any test takes.
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_task_has_one_turn_at_a_time_and_another_task_its_own() {
        let turns = Turns::default();
        let (one, other) = (TaskId::from("one"), TaskId::from("other"));
        let first = turns.take(&one, LONG).await.expect("a turn");
        turns.take(&other, LONG).await.expect("a turn");
        assert!(turns.of(&one).try_lock().is_err(), "it is taken");
        drop(first);
        turns.take(&one, LONG).await.expect("a turn");
    }

    #[tokio::test]
    async fn who_waits_for_a_turn_past_its_time_is_told_what_it_waited_for() {
        let (turns, task) = (Turns::default(), TaskId::from("one"));
        let _held = turns.take(&task, LONG).await.expect("a turn");
        let error = turns.take(&task, Duration::from_millis(5)).await.expect_err("it is held");
        assert_eq!(error.code(), "timeout");
        assert!(error.to_string().contains("another request still connects or disconnects it"), "{error}");
    }

    #[tokio::test]
    async fn nothing_is_kept_of_tasks_that_nobody_changes() {
        let turns = Turns::default();
        for task in 0..100 {
            turns.take(&TaskId::from(format!("t{task}").as_str()), LONG).await.expect("a turn");
        }
        assert_eq!(turns.0.lock().expect("no panic").len(), 1);
    }
}
