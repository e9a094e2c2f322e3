//! A believable Chromium in memory, and random schedules of what can happen between it and a supervisor.
//!
//! ```text
//!   actions.rs ──▶ browser (browser, pages, dialogs, commands) ──messages, in any legal order──▶ core
//!                        ▲                                                                      │
//!   clients.rs ──calls──▶│◀──────────────────────────── commands ──────────────────────────────┤
//!                        └───────────── checks.rs compares the two ◀── views and outcomes ──────┘
//! ```
//!
//! Everything follows from one seed, so a failing schedule is replayed by its number.

pub(crate) mod actions;
pub(crate) mod bridge;
pub(crate) mod browser;
pub(crate) mod checks;
pub(crate) mod clients;
pub(crate) mod commands;
pub(crate) mod dialogs;
pub(crate) mod pages;
pub(crate) mod prng;
pub(crate) mod schedule;
pub(crate) mod wire;

/// The number of a thing in the model: tabs, frames, sessions, processes and dialogs count together.
pub(crate) type No = u32;

/// The tasks that schedules use.
pub(crate) const TASKS: [&str; 3] = ["default", "t1", "t2"];
