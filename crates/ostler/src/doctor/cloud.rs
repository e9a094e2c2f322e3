//! Cloud services: which keys are there, never what they are, and browsers that killed daemons left running.

use super::Finding;
use crate::config::Environment;
use crate::endpoint::cloud::leftovers::{self, Leftover};
use crate::endpoint::cloud::{Keys, Provider};

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let keys = match environment.cloud_keys() {
        Ok(keys) => keys,
        Err(error) => return vec![Finding::of_error(&error)],
    };
    let mut findings = vec![present(&keys)];
    let Ok(folder) = environment.cloud_folder() else { return findings };
    match leftovers::count(&folder) {
        Ok(0) => {}
        Ok(count) => {
            let browsers = if count == 1 { "a cloud browser".to_owned() } else { format!("{count} cloud browsers") };
            let problem =
                Finding::problem(format!("{browsers} that a killed daemon started may still run, and cost money"));
            findings.push(problem.fix("`ostler doctor --fix` or `ostler stop --all` stops what it left").repair(
                move || {
                    let (stopped, left): (Vec<_>, Vec<_>) =
                        leftovers::end_all(&folder, &keys).into_iter().partition(Leftover::is_stopped);
                    let words = |all: Vec<Leftover>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                    if left.is_empty() { Ok(words(stopped)) } else { Err(words(left)) }
                },
            ));
        }
        Err(error) => {
            let problem = format!("{} cannot be read ({error}), so cloud browsers may run unseen", folder.display());
            findings.push(Finding::problem(problem).fix("make it readable for this user"));
        }
    }
    findings
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
