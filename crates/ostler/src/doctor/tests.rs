//! How the checks are run; what each of them finds is tested beside it.

use super::*;

fn environment() -> Environment {
    Environment::of_this_process()
}

#[test]
fn a_check_that_hangs_or_fails_holds_up_nobody_and_is_a_finding() {
    const CHECKS: &[Check] = &[
        Check {
            name: "stuck",
            look: |_| loop {
                thread::park()
            },
        },
        Check { name: "gone", look: |_| std::panic::resume_unwind(Box::new("a check that ends without a word")) },
        Check { name: "quick", look: |_| vec![Finding::ok("done")] },
    ];
    let reports = run(CHECKS, &environment(), Duration::from_millis(100));
    let seen: Vec<_> = reports.iter().map(|report| (report.check, report.findings[0].level)).collect();
    assert_eq!(seen, [("stuck", Level::Problem), ("gone", Level::Problem), ("quick", Level::Ok)]);
    assert!(reports[0].findings[0].fix.is_some());
}

#[test]
fn a_repair_that_fails_leaves_the_problem_and_says_why() {
    let finding = Finding::problem("it is broken").fix("mend it").repair(|| Err("no tools".to_owned())).repaired();
    assert_eq!(finding.level, Level::Problem);
    assert_eq!(finding.what, "it is broken, and --fix could not change that: no tools");
    assert_eq!(finding.fix.as_deref(), Some("mend it"));
    assert_eq!(Finding::note("worth knowing").repaired().level, Level::Note);
}

#[test]
fn every_check_has_a_name_of_its_own() {
    let names: std::collections::HashSet<_> = CHECKS.iter().map(|check| check.name).collect();
    assert_eq!(names.len(), CHECKS.len());
}
