//! ostler: one daemon that holds one CDP connection per browser, and the commands that talk to it.
//!
//! Arguments → settings → one door → exit code.

mod client;
mod config;
mod connection;
mod daemon;
mod doctor;
mod doors;
mod ending;
mod endpoint;
mod evaluated;
mod exit_code;
mod line_diff;
mod meta;
mod page;
mod paths;
mod plain_file;
mod random;
mod room;
mod scripts;
mod secret;
mod tasks;
mod this_program;
mod times;
mod tools;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    // The daemon runs us again, to watch over a browser that ends with it.
    match words.next() {
        Some(word) if word == endpoint::GUARD_SUBCOMMAND => {
            return endpoint::guard_main(words.skip_while(|word| word == "--"));
        }
        Some(word) if word == endpoint::cloud::CLOUD_GUARD_SUBCOMMAND => return endpoint::cloud::cloud_guard_main(),
        _ => {}
    }
    doors::cli::run().into()
}
