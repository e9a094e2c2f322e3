//! Looks at everything that ostler needs, says what is wrong, and how each thing is put right.
//!
//! ```text
//!  table of checks ──▶ all at once, each on a thread of its own with a time limit ──▶ findings ──▶ repairs, if asked for
//! ```
//!
//! A check only looks: it starts nothing, dials no browser, so nobody is ever asked for consent, and prints no secret.
//! One that gets no answer in time is a finding like any other, so the whole always ends.

mod browsers;
mod cloud;
mod daemon;
mod files;
mod finding;
mod held;
mod helpers;
mod home;
mod launch;
mod leftovers;
mod processes;
mod program;
mod proxy;
mod python;
mod room;
mod settings;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use finding::{Finding, Level};

use crate::config::Environment;

/// How long a check may take. The slowest waits ten seconds for a daemon that has stopped.
const LIMIT: Duration = Duration::from_secs(15);

/// One thing to look at.
#[derive(Clone, Copy, Debug)]
struct Check {
    /// The word in front of its findings.
    name: &'static str,
    /// Looks. What cannot be looked at because something more basic is wrong gives no finding: the basic thing has its
    /// own check.
    look: fn(&Environment) -> Vec<Finding>,
}

/// Every check, in the order in which people read them: from the program outwards.
const CHECKS: &[Check] = &[
    Check { name: "program", look: program::look },
    Check { name: "settings", look: settings::look },
    Check { name: "home", look: home::look },
    Check { name: "files", look: files::look },
    Check { name: "room", look: room::look },
    Check { name: "daemon", look: daemon::look },
    Check { name: "browsers", look: browsers::look },
    Check { name: "launch", look: launch::look },
    Check { name: "cloud", look: cloud::look },
    Check { name: "proxy", look: proxy::look },
    Check { name: "python", look: python::look },
    Check { name: "helpers", look: helpers::look },
    Check { name: "leftovers", look: leftovers::look },
];

/// What one check found.
#[derive(Debug)]
pub(crate) struct Report {
    /// The check's name.
    pub(crate) check: &'static str,
    /// Its findings.
    pub(crate) findings: Vec<Finding>,
}

/// Looks at everything.
pub(crate) fn examine(environment: &Environment) -> Vec<Report> {
    run(CHECKS, environment, LIMIT)
}

/// Runs all checks at once and returns their findings in the order of the table.
fn run(checks: &[Check], environment: &Environment, limit: Duration) -> Vec<Report> {
    let until = Instant::now() + limit;
    let running: Vec<_> = checks.iter().map(|check| (check, start(*check, environment.clone()))).collect();
    let collect = |(check, answer): (&Check, mpsc::Receiver<Vec<Finding>>)| {
        let findings = answer.recv_timeout(until.saturating_duration_since(Instant::now()));
        Report { check: check.name, findings: findings.unwrap_or_else(|_| vec![no_answer(limit)]) }
    };
    running.into_iter().map(collect).collect()
}

/// Starts a check. One that never comes to an end is left behind and ends with the process.
fn start(check: Check, environment: Environment) -> mpsc::Receiver<Vec<Finding>> {
    let (done, answer) = mpsc::channel();
    // A system that gives no thread drops the sender, and that reads like a check without an answer.
    let _ = thread::Builder::new().name(check.name.to_owned()).spawn(move || {
        // Whoever waited may have given up.
        let _ = done.send((check.look)(&environment));
    });
    answer
}

fn no_answer(limit: Duration) -> Finding {
    Finding::problem(format!("could not be looked at within {} s", limit.as_secs()))
        .fix("look whether a disk, a name server or the machine itself is stuck, and try again")
}

#[cfg(test)]
mod tests;
