//! The pure core of ostler: what is known of a browser, and what to do next.
//!
//! It has no runtime, socket, clock or environment. A driver feeds it inputs with the time at which
//! they happened and carries out the effects that it gives back.

#![warn(missing_docs)]

mod error;
mod ids;
mod time;
pub mod view;

pub use error::{CallError, TimeoutHint};
pub use ids::{CallId, DialogId, FrameId, SessionId, TargetId, TaskId, Waiter};
pub use time::Timestamp;
