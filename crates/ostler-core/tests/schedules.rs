//! Proof by random schedules: a model browser that sends what Chromium may send, in every order in
//! which it may, and after each step the invariants of the design.
//!
//! `OSTLER_SEED=n` replays one schedule (with `OSTLER_TRACE=1` told step by step); `OSTLER_STEPS=n` runs
//! for longer, for nights, and `OSTLER_FIRST=n` starts with another seed.

mod model;

use std::collections::BTreeMap;

use model::schedule::Schedule;

/// Steps of an ordinary run.
const STEPS: usize = 1_000_000;
/// Steps of one schedule.
const LENGTH: usize = 3_000;

/// How many facts the model counts.
const FACTS: usize = 33;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Names the seed when a check fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("replay with OSTLER_SEED={} (and OSTLER_TRACE=1)", self.0);
        }
    }
}

/// Runs one schedule; adds the facts that came up, and returns the steps that it took.
fn run(seed: u64, facts: &mut BTreeMap<&'static str, usize>) -> usize {
    let _seed = Seed(seed);
    let mut schedule = Schedule::new(seed, false);
    let steps = schedule.run(LENGTH);
    for (fact, times) in &schedule.browser.tally {
        *facts.entry(fact).or_default() += times;
    }
    steps
}

#[test]
fn random_schedules_keep_the_invariants() {
    let mut facts = BTreeMap::new();
    if let Some(seed) = setting("OSTLER_SEED") {
        run(seed, &mut facts);
        return;
    }
    let wanted = setting("OSTLER_STEPS").map_or(STEPS, |steps| usize::try_from(steps).expect("a number of steps"));
    let first = setting("OSTLER_FIRST").unwrap_or(1);
    let (mut steps, mut seed) = (0, first);
    while steps < wanted {
        steps += run(seed, &mut facts);
        seed += 1;
    }
    println!("{steps} steps in {} schedules: {facts:#?}", seed - first);
    assert_eq!(facts.len(), FACTS, "some fact never came up, and so nothing is proved of it: {facts:#?}");
}

#[test]
fn what_only_a_newer_chromium_says_changes_nothing() {
    for seed in 1..=20 {
        let _seed = Seed(seed);
        let traces = [false, true].map(|sprinkled| {
            let mut schedule = Schedule::new(seed, sprinkled);
            schedule.trace = 1;
            schedule.run(LENGTH / 2);
            schedule.trace
        });
        assert_eq!(traces[0], traces[1], "the views of one schedule with and without sprinkles");
    }
}
