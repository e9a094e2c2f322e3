//! `browser_scroll`: turns the mouse wheel, and tells how far that went.

use std::time::Duration;

use futures_util::future::join;
use ostler_core::CallError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::{Context, Tab};
use super::input::mouse::{self, Point};
use super::outcome::Outcome;
use super::place::{self, Place};
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::page::Use;

/// How long the page may take until it stands still.
const STILL: Duration = Duration::from_secs(10);

/// The farthest in one go: a wheel turned by numbers out of all measure turns nothing in its tab any more.
const FARTHEST: f64 = 1_000_000.0;

/// Scrolls with the mouse wheel.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// CSS pixels down; negative is up.
    dy: f64,
    /// To the right.
    dx: Option<f64>,
    /// Over this element instead of the middle of the page.
    #[serde(rename = "ref")]
    reference: Option<String>,
}

/// Where what was scrolled stands now.
#[derive(Debug, Deserialize, Serialize)]
struct Data {
    /// How far it went.
    moved_x: i64,
    moved_y: i64,
    /// What is left to scroll, in pixels.
    above: i64,
    below: i64,
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let (dx, dy) = (args.dx.unwrap_or(0.0), args.dy);
    check(dx, dy)?;
    let tab = context.tab().await?;
    let (at, over) = match args.reference {
        Some(reference) => {
            let found = place::find(&tab, &Place::Ref(reference), Use::Look).await?;
            (found.at, format!(" over {}", found.what))
        }
        None => (middle(&tab).await?, String::new()),
    };
    let script = format!("({FOLLOW})({}, {})", at.x, at.y);
    // The page begins to follow before the wheel turns: its commands are carried out in the order of sending.
    let (followed, turned) = join(tab.evaluate::<Data>(&script, STILL), mouse::wheel(&tab, at, dx, dy)).await;
    turned?;
    let data = followed?;
    let text = match data {
        Data { moved_x: 0, moved_y: 0, .. } => format!(
            "Turned the wheel{over}, and nothing that can be seen from here scrolled: it may be at its end ({} px above, {} px below).",
            data.above, data.below
        ),
        _ => format!("Scrolled{over} by {} px; {} px are above and {} px below.", data.moved_y, data.above, data.below),
    };
    Ok(Outcome::new(text, &data))
}

/// Refuses a way that is none, or that a browser's wheel does not survive.
fn check(dx: f64, dy: f64) -> Result<(), CallError> {
    if let Some((field, _)) = [("dx", dx), ("dy", dy)].into_iter().find(|(_, by)| !(-FARTHEST..=FARTHEST).contains(by))
    {
        return Err(bad(field, format!("must be a number of pixels from -{FARTHEST} to {FARTHEST}")));
    }
    if dx == 0.0 && dy == 0.0 {
        return Err(bad("dy", "must be a number of pixels other than 0"));
    }
    Ok(())
}

async fn middle<T: TaskLayer>(tab: &Tab<'_, T>) -> Result<Point, CallError> {
    let (x, y) = tab.evaluate("[innerWidth / 2, innerHeight / 2]", STILL).await?;
    Ok(Point { x, y })
}

const FOLLOW: &str = include_str!("scroll.js");

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_way_out_of_all_measure_is_refused_before_the_wheel_turns() {
        for (dx, dy) in [(0.0, 1e300), (-1e7, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (0.0, 0.0)] {
            assert!(check(dx, dy).is_err(), "{dx} {dy}");
        }
        for (dx, dy) in [(0.0, 1e6), (-20.5, 0.0)] {
            assert_eq!(check(dx, dy), Ok(()), "{dx} {dy}");
        }
    }
}
