//! Measures ostler against a raw client on the same browser, in the same run, and prints the rows of docs/design.md.
//!
//! ```text
//!   rows ──▶ chromium   a fresh browser for each row
//!     │ ───▶ daemon     the release binary, as a user runs it ◀── line     a client of its socket
//!     │ ───▶ raw        what the same work costs without ostler
//!     │ ───▶ relay      what any process in between costs
//!     └────▶ samples ──▶ report
//! ```
//!
//! Speed is no test: a figure over its goal is said to be over, and the exit status is 0 all the same.

mod chromium;
mod daemon;
mod line;
mod raw;
mod relay;
mod report;
mod rows;
mod samples;
mod setup;

use std::error::Error;
use std::process::ExitCode;

use self::rows::{ROWS, Row};
use self::setup::Setup;

/// Whatever breaks a measurement; it is for a person to read.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match &arguments[..] {
        [] => run(ROWS.iter()),
        ["--row", name] => match ROWS.iter().find(|row| row.name.eq_ignore_ascii_case(name)) {
            Some(row) => run(std::iter::once(row)),
            None => return wrong_call(&format!("there is no row {name}")),
        },
        [raw::AS_A_PROCESS, url, target] => raw::as_a_process(url, target),
        [relay::AS_A_PROCESS, address] => relay::as_a_process(address),
        _ => return wrong_call("these arguments mean nothing here"),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(rows: impl Iterator<Item = &'static Row>) -> Result<()> {
    let setup = Setup::new()?;
    println!("{}", report::header(&setup));
    let mut broken = Vec::new();
    for row in rows {
        match (row.measure)(&setup) {
            Ok(figures) => figures.iter().for_each(|figure| println!("{}", report::line(row.name, figure))),
            // The other rows are worth having all the same.
            Err(error) => broken.push(format!("row {} could not be measured: {error}", row.name)),
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\nbench: ").into()) }
}

fn wrong_call(why: &str) -> ExitCode {
    let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    eprintln!("bench: {why}\nusage: scripts/bench [--row {}]", names.join("|"));
    ExitCode::from(2)
}
