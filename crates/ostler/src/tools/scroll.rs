//! `browser_scroll`: turns the mouse wheel, and tells how far that went.

use std::time::Duration;

use ostler_core::CallError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::{Context, Tab};
use super::input::mouse::{self, Point};
use super::outcome::Outcome;
use super::patience::Patience;
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::page::{Ref, Ride, Use};

/// How long the page may take to say how large its window is.
const STILL: Duration = Duration::from_secs(5);

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

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let (dx, dy) = (args.dx.unwrap_or(0.0), args.dy);
    check(dx, dy)?;
    let tab = context.answering_tab().await?;
    let (ride, over) = Patience::to_act(&tab).step(turn(&tab, args.reference.as_deref(), dx, dy)).await?;
    let Ride { moved_x, moved_y, above, below } = ride;
    let text = match (moved_x, moved_y) {
        (0, 0) => format!(
            "Turned the wheel{over}, and nothing that can be seen from here scrolled: it may be at its end ({above} px above, {below} px below)."
        ),
        _ => format!("Scrolled{over} by {moved_y} px; {above} px are above and {below} px below."),
    };
    Ok(Outcome::new(text, &ride))
}

/// Turns the wheel; returns what that moved, and the words for what it turned over.
async fn turn<T: TaskLayer>(
    tab: &Tab<'_, T>,
    reference: Option<&str>,
    dx: f64,
    dy: f64,
) -> Result<(Ride, String), CallError> {
    let page = tab.page()?;
    let _turn = page.take_turn().await?;
    let reached = match reference {
        Some(reference) => {
            let reference = Ref::parse(reference)?;
            Some((reference, page.reach(reference, Use::Look).await?))
        }
        None => None,
    };
    let (at, over) = match &reached {
        Some((_, reached)) => (Point { x: reached.x, y: reached.y }, format!(" over {}", reached.what)),
        None => {
            let window = page.about(STILL).await?;
            (Point { x: window.width / 2.0, y: window.height / 2.0 }, String::new())
        }
    };
    let over_element = reached.as_ref().map(|(reference, reached)| (*reference, reached));
    let ride = page.ride((at.x, at.y), over_element, mouse::wheel(tab, at, dx, dy)).await?;
    Ok((ride, over))
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
