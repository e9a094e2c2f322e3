//! The browsers that can be driven now: those that the daemon holds, and the one that the settings name or those that run
//! on this machine.
//!
//! Only their HTTP side is asked, and profile folders are read. No WebSocket is dialled, so no browser asks its person
//! for consent, and none is rented.

use std::thread;

use super::{Finding, held};
use crate::config::{Environment, NamedBrowser};
use crate::endpoint::{self, EndpointError, Sighting, Source, Standing};

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    thread::scope(|scope| {
        // A daemon that is stuck takes its time, and looking around takes some too.
        let asking = scope.spawn(|| held::findings(&held::ask(environment)));
        let around = look_around(environment);
        let mut findings = asking.join().unwrap_or_default();
        // Whoever has one does not miss another.
        let has_one = !findings.is_empty();
        findings.extend(around.into_iter().filter(|finding| !has_one || finding.what != NONE_RUNS));
        findings
    })
}

/// What is said where no browser runs.
const NONE_RUNS: &str = "none runs on this machine with remote debugging on";

fn look_around(environment: &Environment) -> Vec<Finding> {
    let Ok(settings) = environment.daemon_settings() else { return Vec::new() };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return vec![Finding::problem(format!("browsers cannot be looked for: {error}"))],
    };
    let machine = &settings.machine;
    match &settings.browser {
        Some(NamedBrowser::WebSocket(given)) => {
            let source = Source::WebSocket(given.clone());
            let (by, label) = (given.by, given.url.label());
            match source.renewed() {
                Some(http) => vec![named(by, &label, runtime.block_on(endpoint::find(&http, machine, &[])).map(drop))],
                // Elsewhere only dialling tells, and that may cost money or use up a URL that is good for once.
                None => vec![Finding::ok(format!("{by} names {label}; it is dialled when a command needs it"))],
            }
        }
        Some(NamedBrowser::Http(given)) => {
            let found = runtime.block_on(endpoint::find(&Source::Http(given.clone()), machine, &[]));
            vec![named(given.by, &given.url.label(), found.map(drop))]
        }
        None => running(runtime.block_on(endpoint::survey(machine))),
    }
}

fn named(by: &str, label: &str, found: Result<(), EndpointError>) -> Finding {
    match found {
        Ok(()) => Finding::ok(format!("the browser that {by} names answers ({label})")),
        // It answers: that it has no such page concerns those who do not know its WebSocket yet.
        Err(EndpointError::NoVersionPage { .. }) => Finding::ok(format!("a browser answers where {by} says ({label})")),
        Err(error) => Finding::problem(error.happened()).fix(error.next_step()),
    }
}

fn running(seen: Vec<Sighting>) -> Vec<Finding> {
    if seen.is_empty() {
        let note = Finding::note(NONE_RUNS);
        return vec![note.fix("`ostler connect --launch` starts one, or see docs/discovery.md for your own")];
    }
    seen.into_iter().map(finding).collect()
}

fn finding(sighting: Sighting) -> Finding {
    let Sighting { browser, standing } = sighting;
    match standing {
        Standing::Ready { port } => Finding::ok(format!("{browser} answers on port {port}")),
        Standing::Asks { port } => {
            Finding::note(format!("{browser} answers on port {port} and asks its person before it is connected to"))
                .fix("click Allow in its window when the first command asks; once is enough while the daemon runs")
        }
        // One that cannot be driven is no fault as such: people run browsers that are none of an agent's business.
        Standing::Closed(error) => Finding::note(error.happened()).fix(error.next_step()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn each_standing_has_its_level_and_a_fix_unless_all_is_well() {
        let sighting = |standing| Sighting { browser: "Chromium".to_owned(), standing };
        for (standing, level) in [
            (Standing::Ready { port: 9222 }, Level::Ok),
            (Standing::Asks { port: 9222 }, Level::Note),
            (Standing::Closed(EndpointError::DebuggingOff { browser: "Chromium", pid: 7 }), Level::Note),
        ] {
            let finding = finding(sighting(standing));
            assert_eq!((finding.level, finding.fix.is_some()), (level, level != Level::Ok), "{finding:?}");
            assert!(finding.what.contains("Chromium"), "{finding:?}");
        }
    }

    #[test]
    fn no_browser_is_worth_a_note_and_a_named_one_that_is_gone_is_a_problem() {
        let none = running(Vec::new()).pop().expect("a note");
        assert_eq!(none.level, Level::Note);
        let gone = EndpointError::Unreachable { at: "ws://127.0.0.1:1".to_owned(), cause: "refused".to_owned() };
        let gone = named("BU_CDP_WS", "ws://127.0.0.1:1", Err(gone));
        assert!(gone.level == Level::Problem && gone.fix.is_some(), "{gone:?}");
        assert_eq!(named("BU_CDP_URL", "http://h", Ok(())).level, Level::Ok);
    }
}
