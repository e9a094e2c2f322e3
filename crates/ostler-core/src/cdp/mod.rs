//! The Chrome DevTools Protocol as bytes: one message's envelope, the calls in flight, the events
//! that were seen. What lies inside `params` and `result` is passed on unread.

pub(crate) mod calls;
pub mod envelope;
pub mod events;
pub(crate) mod objects;
pub mod text;
