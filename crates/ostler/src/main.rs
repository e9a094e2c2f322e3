//! Entry point.
pub(crate) mod connection;
pub(crate) mod endpoint;
pub(crate) mod secret;
pub(crate) mod tasks;

fn main() {}
