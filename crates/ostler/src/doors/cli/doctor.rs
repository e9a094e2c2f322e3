//! `ostler doctor`: what is wrong, and what to do about it.

use clap::Args;
use serde_json::{Value, json};

use super::context::{Context, print_line};
use super::failure::Failure;
use crate::doctor::{self, Finding, Level, Report};
use crate::exit_code::Exit;

/// Looks at everything that ostler needs, and says how to put right what is wrong.
///
/// It starts nothing, and no browser asks for consent because of it. Exits with 1 while there is a problem.
#[derive(Args, Debug)]
#[command(name = "doctor")]
pub(super) struct Doctor {
    /// Put right what can be safely: permissions, leftovers, cloud browsers left running, a daemon of another version
    #[arg(long)]
    fix: bool,
}

impl Doctor {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut reports = doctor::examine(&context.environment);
        if self.fix {
            for report in &mut reports {
                let findings = std::mem::take(&mut report.findings);
                report.findings = findings.into_iter().map(Finding::repaired).collect();
            }
        }
        let problems = all(&reports).filter(|(_, finding)| finding.level == Level::Problem).count();
        if context.json {
            print_line(&as_json(&reports, problems == 0).to_string())?;
        } else {
            print_table(&reports)?;
            print_line(&summary(&reports, problems))?;
        }
        Ok(if problems == 0 { Exit::Success } else { Exit::WorkFailed })
    }
}

fn all(reports: &[Report]) -> impl Iterator<Item = (&'static str, &Finding)> {
    reports.iter().flat_map(|report| report.findings.iter().map(|finding| (report.check, finding)))
}

fn as_json(reports: &[Report], ok: bool) -> Value {
    let findings: Vec<_> = all(reports)
        .map(|(check, finding)| {
            let Finding { level, what, fix, .. } = finding;
            json!({"check": check, "level": level, "what": what, "fix": fix, "repairable": finding.is_repairable()})
        })
        .collect();
    json!({"ok": ok, "version": env!("CARGO_PKG_VERSION"), "findings": findings})
}

fn print_table(reports: &[Report]) -> Result<(), Failure> {
    for (check, finding) in all(reports) {
        print_line(&format!("{:<8} {check:<10} {}", word(finding.level), finding.what))?;
        if let Some(fix) = &finding.fix {
            print_line(&format!("{:<19} → {fix}", ""))?;
        }
    }
    Ok(())
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Ok => "ok",
        Level::Note => "note",
        Level::Problem => "problem",
        Level::Fixed => "fixed",
    }
}

fn summary(reports: &[Report], problems: usize) -> String {
    let mut words = match problems {
        0 => "no problem".to_owned(),
        1 => "1 problem".to_owned(),
        many => format!("{many} problems"),
    };
    let repairable = all(reports).filter(|(_, finding)| finding.is_repairable()).count();
    if repairable > 0 {
        words.push_str(&format!("; `ostler doctor --fix` can put {repairable} of the above right"));
    }
    words
}
