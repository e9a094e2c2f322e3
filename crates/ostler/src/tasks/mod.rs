//! ③ Who works where: which browser each task is in, and what a door may ask of it.

mod browsers;
mod connecting;
mod registry;
mod request;
mod table;
mod turns;

pub(crate) use ostler_core::cdp::events::{Event, EventFilter, EventPage};
pub(crate) use ostler_core::supervisor::OnDialog;
pub(crate) use registry::{Defaults, Registry};
pub(crate) use request::{CallRequest, ConnectRequest, ConnectTarget, DialogAnswer, TaskSummary};

/// A task's events, read by number.
pub(crate) type TaskEvents = crate::connection::TaskFeed;
