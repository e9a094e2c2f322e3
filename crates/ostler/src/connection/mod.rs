//! ② Holds the browser: one WebSocket, one driver that owns it and the supervisor, and handles for all others.
//!
//! ```text
//!   Handle ──Command──▶ Driver ──Input──▶ Supervisor
//!     ▲                   │ ▲                 │
//!     └──── outcome ──────┘ └──── Effect ─────┘
//!   readers ◀── TaskView, EventLog (published, never waited for)
//! ```

mod clock;
mod dial;
mod driver;
mod handle;
mod websocket;

pub(crate) use handle::{ChooserHold, Handle, TaskFeed};
