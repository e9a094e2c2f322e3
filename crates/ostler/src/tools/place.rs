//! Where a tool acts: at an element that the agent names by its ref, or at a place in the viewport.

use std::time::Duration;

use ostler_core::CallError;
use tokio::time::sleep;

use super::context::Tab;
use super::element::Element;
use super::input::mouse::{self, Point};
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::page::{Reached, Ref, There, Use};

/// What the agent named.
#[derive(Debug, PartialEq)]
pub(super) enum Place {
    /// An element, by its ref.
    Ref(Ref),
    /// A place in the viewport.
    At(Point),
}

/// What is there.
#[derive(Debug)]
pub(super) struct Found {
    /// Where to act.
    pub(super) at: Point,
    /// What a model is told that it was, such as `button "Pay" at (20, 30)`.
    pub(super) what: String,
}

impl Place {
    /// Reads a place from a tool's arguments; `None` if none is named.
    pub(super) fn read(reference: Option<String>, x: Option<f64>, y: Option<f64>) -> Result<Option<Self>, CallError> {
        match (reference, x, y) {
            (None, None, None) => Ok(None),
            (Some(reference), None, None) => Ref::parse(&reference).map(|reference| Some(Self::Ref(reference))),
            (None, Some(x), Some(y)) => Ok(Some(Self::At(Point { x, y }))),
            (Some(_), ..) => Err(bad("ref", "cannot stand beside x and y: name an element or a place")),
            (None, ..) => Err(bad("x", "and y go together: name both")),
        }
    }
}

/// How often an element is looked for that moves while the mouse comes to it.
const MAX_MOVES: usize = 3;
/// How often the mouse is moved to where a frame is that does not see it.
const MAX_TRIES: usize = 20;
/// How long between two of those.
const NEXT_TRY: Duration = Duration::from_millis(50);

/// Brings the mouse to the place, and finds out what is there once it is: what a page shows or moves because of the
/// mouse is there by then.
pub(super) async fn move_to<T: TaskLayer>(tab: &Tab<'_, T>, place: &Place, modifiers: u8) -> Result<Found, CallError> {
    let reference = match place {
        Place::Ref(reference) => *reference,
        Place::At(point) => {
            // Nothing is moved outside of the viewport.
            at(tab, *point).await?;
            mouse::move_to(tab, *point, modifiers).await?;
            return at(tab, *point).await;
        }
    };
    let page = tab.page()?;
    let mut what = String::new();
    for _ in 0..MAX_MOVES {
        let reached = page.reach(reference, Use::Click).await?;
        let at = Point { x: reached.x, y: reached.y };
        bring_mouse(tab, reference, &reached, modifiers).await?;
        if page.is_still_there(reference, &reached).await? {
            return Ok(Found { at, what: reached.what });
        }
        what = reached.what;
    }
    Err(CallError::NotActionable {
        what: format!("{reference} ({what})"),
        why: "moves away from the mouse, or something comes over it".to_owned(),
        next: "wait until the page stands still, or take a new browser_snapshot".to_owned(),
    })
}

/// Moves the mouse to an element. What happens at a frame of another process is sent there by how the page was drawn last,
/// which a scroll is ahead of for a moment (fact F51): the mouse is moved until the frame has seen it, so that the click
/// that follows is not lost in the page around it.
async fn bring_mouse<T: TaskLayer>(
    tab: &Tab<'_, T>,
    reference: Ref,
    reached: &Reached,
    modifiers: u8,
) -> Result<(), CallError> {
    let at = Point { x: reached.x, y: reached.y };
    if reached.session == tab.session {
        return mouse::move_to(tab, at, modifiers).await;
    }
    let page = tab.page()?;
    page.watch_mouse(reference, reached).await?;
    for _ in 0..MAX_TRIES {
        mouse::move_to(tab, at, modifiers).await?;
        if page.mouse_came(reference, reached).await? {
            return Ok(());
        }
        sleep(NEXT_TRY).await;
    }
    // The page may keep the mouse from everybody who listens after it.
    Ok(())
}

/// Returns the element of a ref, for what is not done with the mouse, and what a model is told that it is.
pub(super) async fn element<T: TaskLayer>(tab: &Tab<'_, T>, reference: &str) -> Result<(Element, String), CallError> {
    let reached = reach(tab, reference, Use::Type).await?;
    Ok((Element { session: reached.session, object: reached.object }, reached.what))
}

async fn reach<T: TaskLayer>(tab: &Tab<'_, T>, reference: &str, for_use: Use) -> Result<Reached, CallError> {
    let reference = Ref::parse(reference)?;
    tab.page()?.reach(reference, for_use).await
}

/// Returns a number as one reads it: out of all measure it would have hundreds of digits.
fn spelt(number: f64) -> String {
    if number.abs() < 1e9 { number.to_string() } else { format!("{number:e}") }
}

async fn at<T: TaskLayer>(tab: &Tab<'_, T>, point: Point) -> Result<Found, CallError> {
    let Point { x, y } = point;
    let There { what, width, height } = tab.page()?.what_is_at(x, y).await?;
    let Some(what) = what else {
        let at = format!("({}, {})", spelt(x), spelt(y));
        let why = format!("{at} is outside of the viewport, which is {width} x {height}; scroll there first");
        return Err(bad("x", why));
    };
    Ok(Found { at: point, what: format!("{} at ({x}, {y})", what.0) })
}

#[cfg(test)]
mod tests {
    use super::spelt;

    #[test]
    fn a_number_out_of_all_measure_is_told_in_a_few_characters() {
        for (number, told) in [(12.5, "12.5"), (-3.0, "-3"), (1e308, "1e308"), (-1.5e300, "-1.5e300")] {
            assert_eq!(spelt(number), told);
        }
    }
}
