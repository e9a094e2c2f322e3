//! The pure core of ostler: what is known of a browser, and what to do next.
//!
//! It has no runtime, socket, clock or environment. A driver feeds it [`Input`]s with the time at which
//! they happened and carries out the [`Effect`]s that it gives back: see [`Supervisor`].

#![warn(missing_docs)]

pub mod cdp;
mod error;
mod ids;
mod shown;
pub mod supervisor;
mod time;
pub mod view;

pub use error::{CallError, TimeoutHint, Words};
pub use ids::{CallId, DialogId, FrameId, SessionId, TargetId, TaskId, Waiter};
pub use shown::{Shown, shown, shown_address, shown_up_to};
pub use supervisor::{Effect, Input, Supervisor};
pub use time::Timestamp;
