//! Entry point.
#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "the connection, which dials such URLs, is not wired in yet"
    )
)]
pub(crate) mod secret;

fn main() {}
