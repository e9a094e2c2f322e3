//! Cloud services: which keys are there, never what they are, and browsers that killed daemons left running.

use std::path::PathBuf;

use super::Finding;
use crate::config::Environment;
use crate::endpoint::cloud::leftovers::{self, Leftover};
use crate::endpoint::cloud::{Keys, Provider, Record};

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let keys = match environment.cloud_keys() {
        Ok(keys) => keys,
        Err(error) => return vec![Finding::of_error(&error)],
    };
    let mut findings = vec![present(&keys)];
    let Ok(folder) = environment.cloud_folder() else { return findings };
    match leftovers::left(&folder) {
        Ok(left) => {
            let (named, nameless): (Vec<_>, Vec<_>) = left.into_iter().partition(|record| record.id.is_some());
            findings.extend(nameless.iter().map(never_named));
            findings.extend(left_running(&named, folder, keys));
        }
        Err(error) => {
            let problem = format!("{} cannot be read ({error}), so cloud browsers may run unseen", folder.display());
            findings.push(Finding::problem(problem).fix("make it readable for this user"));
        }
    }
    findings
}

/// Says that browsers may run whose daemon has ended.
fn left_running(named: &[Record], folder: PathBuf, keys: Keys) -> Option<Finding> {
    let last = named.last()?;
    let browsers = match named.len() {
        1 => "a cloud browser".to_owned(),
        count => format!("{count} cloud browsers"),
    };
    let why = last.not_stopped.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
    let problem = Finding::problem(format!(
        "{browsers} of a daemon that has ended was not stopped{why}, and may still run and cost money"
    ));
    Some(problem.fix("`ostler doctor --fix` or `ostler stop --all` stops what it left").repair(move || {
        let (stopped, left): (Vec<_>, Vec<_>) =
            leftovers::end_named(&folder, &keys).into_iter().partition(Leftover::is_stopped);
        let words = |all: Vec<Leftover>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        if left.is_empty() { Ok(words(stopped)) } else { Err(words(left)) }
    }))
}

/// Says that a browser may run whose name nobody knows, so that nothing of ours can stop it.
fn never_named(record: &Record) -> Finding {
    let provider = record.provider.name();
    let problem = Finding::problem(format!(
        "{provider} was asked for a browser by daemon {} and never named one; it may run, and cost money",
        record.daemon
    ));
    problem.fix(format!(
        "look in the dashboard of {provider} whether one runs, and stop it there; `ostler stop --all` then forgets it"
    ))
}

fn present(keys: &Keys) -> Finding {
    let set: Vec<_> = [Provider::BrowserUse, Provider::Browserbase]
        .into_iter()
        .filter(|provider| keys.of(*provider).is_some())
        .map(Provider::key_variable)
        .collect();
    match &set[..] {
        [] => Finding::ok("no key is set; only `ostler connect --cloud` needs one"),
        [one] => Finding::ok(format!("{one} is set")),
        all => Finding::ok(format!("{} are set", all.join(" and "))),
    }
}
