//! Ends processes that are not our children: they are asked first and killed then, and watched until they are gone.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::guard::{CLEAR_LIMIT, GRACE};

/// How often to look whether processes have ended.
const STEP: Duration = Duration::from_millis(20);

/// Ends whatever `found` returns, those too that are started meanwhile by one that is gone then. Returns whether nothing
/// is left. Blocks for some seconds where one does not end in good order.
pub(super) fn end(found: impl Fn() -> Vec<Pid>) -> bool {
    signal(&found(), Signal::TERM);
    passes(GRACE, || found().is_empty())
        || passes(CLEAR_LIMIT, || {
            let left = found();
            signal(&left, Signal::KILL);
            left.is_empty()
        })
}

fn signal(processes: &[Pid], signal: Signal) {
    for process in processes {
        // The browser leads a group; of the others each is on its own.
        if kill_process_group(*process, signal).is_err() {
            let _ = kill_process(*process, signal);
        }
    }
}

/// Waits until something is so, for at most so long; returns whether it is.
fn passes(limit: Duration, is_so: impl Fn() -> bool) -> bool {
    let until = Instant::now() + limit;
    while !is_so() {
        if Instant::now() > until {
            return false;
        }
        sleep(STEP);
    }
    true
}
