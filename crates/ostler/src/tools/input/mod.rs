//! Mouse and keyboard, as the tools use them: real input events, dispatched at the tab's root (facts C26, C30).

pub(super) mod aftermath;
pub(super) mod file_chooser;
pub(super) mod keyboard;
pub(super) mod keys;
pub(super) mod mouse;

use std::time::Duration;

/// How long the page may take to answer one input event.
const ANSWER: Duration = Duration::from_secs(10);
