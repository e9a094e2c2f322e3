//! What is printed: the circumstances, then a line for each figure with its goal beside it.

use std::fs;

use crate::chromium;
use crate::samples::Pair;
use crate::setup::Setup;

/// One number of a row.
pub(crate) struct Figure {
    /// What was measured.
    pub(crate) what: &'static str,
    /// What the goal is set for.
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) goal: Goal,
    /// What the number was made of.
    pub(crate) from: String,
}

/// The design's number.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Figure {
    /// The ratio of a pair of medians.
    pub(crate) fn ratio(what: &'static str, goal: f64, pair: &Pair, other: &str) -> Self {
        let from = format!("ostler {}; {other} {}", pair.ostler, pair.raw);
        Self { what, value: pair.ratio(), unit: "x", goal: Goal::AtMost(goal), from }
    }
}

impl Goal {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }
}

/// Returns what the figures depend on besides ostler, and the columns' names.
pub(crate) fn header(setup: &Setup) -> String {
    let browser = chromium::version().unwrap_or_else(|error| error.to_string());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    let profile = setup.profile();
    let caution = if profile == "release" { "" } else { ", whose figures mean nothing" };
    format!(
        "{browser}; {cores} cores, load {load} at the start; profile {profile}{caution}\n\n\
         {:<4} {:<52} {:>13} {:>14}       made of medians",
        "row", "what", "measured", "goal"
    )
}

/// Returns a figure's line.
pub(crate) fn line(row: &str, figure: &Figure) -> String {
    let Figure { what, value, unit, goal, from } = figure;
    let (sign, bound) = match goal {
        Goal::AtMost(most) => ('≤', most),
        Goal::AtLeast(least) => ('≥', least),
    };
    let measured = format!("{} {unit}", number(*value));
    let bound = format!("{sign} {} {unit}", number(*bound));
    let verdict = if goal.is_met(*value) { "ok" } else { "over" };
    let line = format!("{row:<4} {what:<52} {measured:>13} {bound:>14}  {verdict:<4} {from}");
    line.trim_end().to_owned()
}

/// Returns as many digits as tell two figures apart.
fn number(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
