//! Entry point.

#[cfg_attr(not(test), expect(dead_code, reason = "the command line that runs scripts is not there yet"))]
mod scripts;

fn main() {}
