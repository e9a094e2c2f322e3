//! Entry point.
#[expect(
    dead_code,
    unused_imports,
    reason = "the connection, which dials what is found, is not wired in yet"
)]
pub(crate) mod endpoint;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "labels are for the connection's log lines")
)]
pub(crate) mod secret;

fn main() {}
