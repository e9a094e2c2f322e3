//! ostler: one daemon that holds one CDP connection per browser, and the commands that talk to it.
//!
//! Arguments → settings → one door → exit code.

mod client;
mod config;
mod connection;
mod daemon;
mod doors;
mod endpoint;
mod exit_code;
mod paths;
mod scripts;
mod secret;
mod tasks;

fn main() -> std::process::ExitCode {
    doors::cli::run().into()
}
