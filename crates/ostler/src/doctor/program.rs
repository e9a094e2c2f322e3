//! Which ostler this is, and whether a shell would run the same.

use std::env;
use std::path::{Path, PathBuf};

use super::Finding;
use crate::config::Environment;

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let version = env!("CARGO_PKG_VERSION");
    let Ok(ours) = env::current_exe() else {
        return vec![Finding::note(format!("ostler {version}, whose file cannot be found any more"))];
    };
    let mut findings = vec![Finding::ok(format!("ostler {version}, {}", ours.display()))];
    findings.extend(on_path(&ours, environment));
    findings
}

/// Says that the shell would run another one.
fn on_path(ours: &Path, environment: &Environment) -> Option<Finding> {
    let found = first_on_path(environment)?;
    let is_ours = matches!((found.canonicalize(), ours.canonicalize()), (Ok(found), Ok(ours)) if found == ours);
    (!is_ours).then(|| {
        Finding::note(format!("the `ostler` that comes first on PATH is another one, {}", found.display()))
            .fix("remove one of them, or change the order of PATH")
    })
}

fn first_on_path(environment: &Environment) -> Option<PathBuf> {
    let path = &environment.machine().search_path;
    env::split_paths(path).map(|folder| folder.join("ostler")).find(|file| file.is_file())
}
