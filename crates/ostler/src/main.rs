//! Entry point.
pub(crate) mod connection;
pub(crate) mod endpoint;
pub(crate) mod scripts;
pub(crate) mod secret;
pub(crate) mod tasks;

fn main() {}
