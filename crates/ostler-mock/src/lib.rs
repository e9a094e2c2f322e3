//! A CDP server that does what a test says, and what a real browser will not do on demand.
//!
//! [`MockServer`] hands the test one [`Peer`] per connection, and the test plays the browser by hand, as a script of expect
//! and send. For the wire itself: dead handshakes, garbage, silence, half-closed sockets. The answers of its HTTP side are
//! the test's to choose too ([`Door`]).

// A broken expectation fails the test that holds it, and a panic is how a test is failed.
#![allow(clippy::panic)]

mod door;
mod http;
mod ids;
mod peer;
mod server;
mod wire;

pub use door::{Door, Upgrade, Version};
pub use ids::{FrameId, SessionId, TargetId};
pub use peer::Peer;
pub use server::MockServer;
pub use wire::Command;
