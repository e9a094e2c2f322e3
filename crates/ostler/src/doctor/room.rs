//! Whether there is room where ostler writes: the daemon's files, the helpers, a launched browser's profile.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::config::Environment;
use crate::room;

/// With less than this nothing works for long.
const FULL: u64 = 4 << 20;
/// With less than this a larger profile does not fit.
const LITTLE: u64 = 64 << 20;

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let runtime = environment.paths().ok().and_then(|paths| paths.socket.parent().map(PathBuf::from));
    let temp = environment.machine().temp.clone();
    let places = [
        ("the daemon's files", "BH_RUNTIME_DIR", runtime),
        ("settings and helpers", "OSTLER_HOME", environment.home().ok()),
        ("the profiles of launched browsers", "TMPDIR", Some(temp)),
    ];
    let found = places.into_iter().filter_map(|(what, variable, place)| {
        let place = place?;
        judge(what, variable, &place, room::left(&place)?)
    });
    let mut findings: Vec<_> = found.collect();
    if findings.is_empty() {
        findings.push(Finding::ok("there is enough on every disk that is written to"));
    }
    findings
}

fn judge(what: &str, variable: &str, place: &Path, left: u64) -> Option<Finding> {
    let shown = place.display();
    let fix = format!("free some space, or set {variable} to a folder on another disk");
    match left {
        ..FULL => {
            Some(Finding::problem(format!("the disk of {shown} is full, so there is no room for {what}")).fix(fix))
        }
        FULL..LITTLE => {
            let note = format!("the disk of {shown} has {} MB left, little for {what}", left >> 20);
            Some(Finding::note(note).fix(fix))
        }
        LITTLE.. => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_full_disk_is_a_problem_and_one_that_will_be_full_soon_a_note() {
        let judged = |left| judge("a thing", "SOME_DIR", Path::new("/some/where"), left);
        for (left, level) in [(0, Level::Problem), (5 << 20, Level::Note)] {
            let finding = judged(left).expect("there is little");
            assert_eq!(finding.level, level, "{finding:?}");
            assert!(finding.what.contains("/some/where") && finding.fix.is_some_and(|fix| fix.contains("SOME_DIR")));
        }
        assert!(judged(1 << 30).is_none());
    }
}
