//! Short names of tabs: `t1`, `t2`, ... They count up per task and are never used again.

use ostler_core::view::{TabView, TaskView};
use ostler_core::{CallError, TargetId};

use crate::meta::value::{bad, shown};

/// Returns the name under which an agent knows the tab.
pub(super) fn name(tab: &TabView) -> String {
    format!("t{}", tab.number)
}

/// Returns the target that an agent means: by a tab's short name, or by a target's own id, which may be a frame's.
pub(super) fn target(view: &TaskView, given: &str) -> Result<TargetId, CallError> {
    let number = given.strip_prefix('t').and_then(|digits| digits.parse::<u64>().ok());
    let Some(number) = number else { return Ok(TargetId::from(given)) };
    let tab = view.tabs.iter().find(|tab| tab.number == number);
    tab.map(|tab| tab.target_id.clone()).ok_or_else(|| no_tab(view, given))
}

/// Returns the error for a tab that is not, or not any more, there.
pub(super) fn no_tab(view: &TaskView, given: &str) -> CallError {
    bad("target_id", format!("{:?} is no tab of this task; {}", shown(given), known(view)))
}

/// Returns the words for the tabs that there are.
pub(super) fn known(view: &TaskView) -> String {
    let known: Vec<_> = view.tabs.iter().map(name).collect();
    if known.is_empty() { "there are none".to_owned() } else { format!("there are {}", known.join(", ")) }
}
