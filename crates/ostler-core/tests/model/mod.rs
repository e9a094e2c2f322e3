//! A believable Chromium in memory, and random schedules of what can happen between it and a supervisor.
//!
//! ```text
//!   schedule.rs chooses, step by step:
//!
//!   actions.rs ───▶ the browser: browser, frames, tabs, crashes, dialogs, going, bridge, sessions, commands
//!                        ▲ commands                                     │ telling.rs, wire.rs: messages, in any
//!                        │                                              ▼ legal order
//!   requests.rs ──▶ the core, behind exchange.rs ──views and outcomes──▶ checks.rs, clients.rs compare
//! ```
//!
//! Everything follows from one seed, so a failing schedule is replayed by its number.

pub(crate) mod actions;
pub(crate) mod bridge;
pub(crate) mod browser;
pub(crate) mod checks;
pub(crate) mod clients;
pub(crate) mod commands;
pub(crate) mod crashes;
pub(crate) mod dialog_checks;
pub(crate) mod dialogs;
pub(crate) mod exchange;
pub(crate) mod frames;
pub(crate) mod going;
pub(crate) mod prng;
pub(crate) mod requests;
pub(crate) mod schedule;
pub(crate) mod sessions;
pub(crate) mod tabs;
pub(crate) mod telling;
pub(crate) mod tree_checks;
pub(crate) mod wire;

/// The number of a thing in the model: tabs, frames, sessions, processes and dialogs count together.
pub(crate) type No = u32;

/// The tasks that schedules use.
pub(crate) const TASKS: [&str; 3] = ["default", "t1", "t2"];
