//! Refs: the `e12` of an outline, and the way back from it to the element and to a place to click at.
//!
//! A ref is bound to one element of one document. Its document's walker holds the element, and is gone with the
//! document; so a ref of an earlier page, or of an element that was replaced, is refused and never means another one.

use std::fmt;
use std::sync::Arc;

use ostler_core::cdp::text::LossyText;
use ostler_core::{CallError, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::{Argument, Document, is_gone};
use super::geometry::{Point, Quad};
use super::{CALL, Page};
use crate::meta::TaskLayer;
use crate::meta::value::{bad, shown};

/// An element's number in an outline, written `e12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ref(pub(super) u64);

/// What is to be done with an element; it decides what may not be in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Use {
    /// It must be enabled, and a click must reach it.
    Click,
    /// The same, and it must not be read-only.
    Type,
    /// It must be there and drawn.
    Look,
}

/// An element that is in view, with nothing in the way.
#[derive(Debug)]
pub(crate) struct Reached {
    /// The session of its document's process.
    pub(crate) session: SessionId,
    /// A remote object's handle of it, in that session.
    pub(crate) object: String,
    /// Where to click, in the coordinates of the tab's own window, which its root session takes (fact C26).
    pub(crate) x: f64,
    /// The same, downwards.
    pub(crate) y: f64,
    /// The element in words, such as `button "Save"`.
    pub(crate) what: String,
    /// The place in the element's own document.
    pub(super) within: Point,
}

/// What a walker says of an element that it was to bring into view.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spot {
    fault: Option<Fault>,
    #[serde(default)]
    what: LossyText,
    /// What covers it.
    #[serde(default)]
    by: LossyText,
    /// The size of the document's window, in which the point is.
    #[serde(default)]
    width: f64,
    #[serde(default)]
    height: f64,
    #[serde(default)]
    x: f64,
    #[serde(default)]
    y: f64,
}

/// What is in the way.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Fault {
    Removed,
    Rest,
    Disabled,
    Readonly,
    Hidden,
    Empty,
    Outside,
    Covered,
    /// `pointer-events: none`, of its own or inherited.
    Through,
    /// It has a place, and nothing of it is drawn there.
    Clipped,
}

impl Ref {
    /// Reads a ref as an agent wrote it.
    pub(crate) fn parse(text: &str) -> Result<Self, CallError> {
        let bare = text.trim().trim_start_matches('[').trim_end_matches(']');
        let bare = bare.strip_prefix("ref=").unwrap_or(bare);
        let number = bare.strip_prefix('e').and_then(|digits| digits.parse().ok());
        number.map(Self).ok_or_else(|| {
            bad("ref", format!("{:?} is no ref: take one such as e12 from browser_snapshot", shown(text)))
        })
    }

    /// Returns its number.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

impl<T: TaskLayer> Page<'_, T> {
    /// Brings the element of a ref into view, in all frames that hold it, and returns where it is; or says what is in
    /// the way of what is to be done with it.
    pub(crate) async fn reach(&self, of: Ref, for_use: Use) -> Result<Reached, CallError> {
        let document = self.document_of(of)?;
        let outcome = self.reach_in(&document, of, for_use).await;
        outcome.map_err(|error| if is_gone(&error) { removed(of, None) } else { error })
    }

    async fn reach_in(&self, document: &Document, of: Ref, for_use: Use) -> Result<Reached, CallError> {
        let arguments = [Argument::Value(json!(of.0)), Argument::Value(json!(for_use))];
        let patience = self.patience(&document.session, CALL);
        let spot: Spot = document.ask(self, "reach", &arguments, patience).await?;
        spot.check(of)?;
        let what = spot.what.0.clone();
        let object = document.element(self, of.0).await?.ok_or_else(|| removed(of, Some(&what)))?;
        let within = Point { x: spot.x, y: spot.y };
        let Point { x, y } = self.through_frames(document, spot, of).await?;
        Ok(Reached { session: document.session.clone(), object, x, y, what, within })
    }

    /// Has the document of a ref take note of the mouse, until that has come into its window.
    pub(crate) async fn watch_mouse(&self, of: Ref, reached: &Reached) -> Result<(), CallError> {
        self.ask_of_mouse(of, reached, "watchMouse").await.map(drop)
    }

    /// Returns whether it has come since.
    pub(crate) async fn mouse_came(&self, of: Ref, reached: &Reached) -> Result<bool, CallError> {
        self.ask_of_mouse(of, reached, "mouseCame").await
    }

    async fn ask_of_mouse(&self, of: Ref, reached: &Reached, question: &str) -> Result<bool, CallError> {
        let outcome = self.document_of(of)?.ask::<_, Value, _>(self, question, &[], CALL).await;
        outcome.map_err(|error| if is_gone(&error) { removed(of, Some(&reached.what)) } else { error })
    }

    /// Returns whether a click at the place where the element of a ref was reached would still land on it.
    pub(crate) async fn is_still_there(&self, of: Ref, reached: &Reached) -> Result<bool, CallError> {
        let document = self.document_of(of)?;
        let arguments = [Argument::Value(json!(of.0)), Argument::Value(json!(reached.within))];
        let outcome = document.ask(self, "isAt", &arguments, CALL).await;
        outcome.map_err(|error| if is_gone(&error) { removed(of, Some(&reached.what)) } else { error })
    }

    /// Follows a point from its document outwards to the tab's own window. Each frame on the way is scrolled until the
    /// point shows, and must not be covered there.
    async fn through_frames(&self, inner: &Document, mut spot: Spot, of: Ref) -> Result<Point, CallError> {
        let frames = self.frames()?;
        let mut child = inner.frame.clone();
        while let Some(parent) = frames.parent(&child).cloned() {
            let document = self.document(&parent, frames.session(&parent), CALL).await?;
            let owner = document.owner(self, &child).await?;
            let quad = self.content_quad(&document, &owner).await?;
            let point = quad.at(spot.x / spot.width, spot.y / spot.height);
            let arguments = [Argument::ObjectId(&owner), Argument::Value(json!(point))];
            let outer: Spot = document.ask::<_, Value, _>(self, "passThrough", &arguments, CALL).await?;
            outer.check_frame(of, &spot.what.0)?;
            spot = Spot { what: spot.what, ..outer };
            child = parent;
        }
        Ok(Point { x: spot.x, y: spot.y })
    }

    /// Returns where the inside of a frame element is drawn, without its border and padding (fact C27).
    pub(super) async fn content_quad(&self, document: &Document, element: &str) -> Result<Quad, CallError> {
        #[derive(Deserialize)]
        struct BoxModel {
            model: Model,
        }
        #[derive(Deserialize)]
        struct Model {
            content: Quad,
        }
        let params = json!({"objectId": element});
        let model: BoxModel = self.call(&document.session, "DOM.getBoxModel", &params, CALL).await?;
        Ok(model.model.content)
    }

    /// Returns the document that gave out a ref.
    pub(super) fn document_of(&self, of: Ref) -> Result<Arc<Document>, CallError> {
        let Some(document) = self.memory.document_of(of.0) else {
            let why = match self.memory.newest_ref() {
                newest if of.0 <= newest => "is of a page that was left long ago",
                _ => "was never given out",
            };
            return Err(CallError::StaleRef { reference: of.to_string(), why: why.to_owned() });
        };
        if document.tab != self.target {
            let why = "is of another tab: switch to it with browser_tabs".to_owned();
            return Err(CallError::StaleRef { reference: of.to_string(), why });
        }
        Ok(document)
    }
}

impl Spot {
    /// Fails with what is in the way.
    fn check(&self, of: Ref) -> Result<(), CallError> {
        let Self { fault, what: LossyText(what), by: LossyText(by), .. } = self;
        let (why, next) = match fault {
            None => return Ok(()),
            Some(Fault::Removed) => return Err(removed(of, Some(what))),
            Some(Fault::Rest) => (
                "stands for a part of the page that was cut off".to_owned(),
                format!("read it with browser_snapshot and ref {of}"),
            ),
            Some(Fault::Disabled) => {
                ("is disabled".to_owned(), "look for what has to be filled in or chosen first".to_owned())
            }
            Some(Fault::Readonly) => ("is read-only".to_owned(), "change what it depends on instead".to_owned()),
            Some(Fault::Hidden) => (
                "is hidden now".to_owned(),
                "open the menu or section that holds it, or take a new browser_snapshot".to_owned(),
            ),
            Some(Fault::Empty) => (
                "has no size, so nothing of it can be clicked".to_owned(),
                "take the ref of something inside of it or beside it".to_owned(),
            ),
            Some(Fault::Outside) => {
                ("cannot be scrolled into view".to_owned(), "close or move what holds it out of the window".to_owned())
            }
            Some(Fault::Covered) => (format!("is covered by {by}"), "close that or move it away first".to_owned()),
            Some(Fault::Clipped) => (
                format!("is cut off or too small, so that a click at it goes to {by}"),
                "use what stands for it on the page: a label, or something larger beside it".to_owned(),
            ),
            Some(Fault::Through) => {
                let set_on = if by.is_empty() { String::new() } else { format!(", as {by} around it says") };
                (
                    format!("takes no clicks: they go through it (pointer-events: none{set_on})"),
                    "wait until the page has it take clicks again, or look for what has to be done first".to_owned(),
                )
            }
        };
        let what = if what.is_empty() { of.to_string() } else { format!("{of} ({what})") };
        Err(CallError::NotActionable { what, why, next })
    }

    /// The same for a frame that holds the element.
    fn check_frame(&self, of: Ref, element: &str) -> Result<(), CallError> {
        let Some(fault) = self.fault else { return Ok(()) };
        let frame = &self.what.0;
        let why = match fault {
            Fault::Covered => format!("is in {frame}, which is covered by {} there", self.by.0),
            Fault::Outside => format!("is in {frame}, which cannot be scrolled into view there"),
            Fault::Through => {
                format!("is in {frame}, which takes no clicks: they go through it (pointer-events: none)")
            }
            Fault::Clipped => format!("is in {frame}, which is cut off there"),
            _ => format!("is in {frame}, which is hidden now"),
        };
        let next = "close or move what is in the way, or take a new browser_snapshot".to_owned();
        Err(CallError::NotActionable { what: format!("{of} ({element})"), why, next })
    }
}

/// Returns the error for an element that is not in the page any more.
pub(super) fn removed(of: Ref, what: Option<&str>) -> CallError {
    let reference = match what.filter(|what| !what.is_empty()) {
        Some(what) => format!("{of} ({what})"),
        None => of.to_string(),
    };
    CallError::StaleRef {
        reference,
        why: "is not in the page any more: it was removed, replaced, or the page left".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::Ref;

    #[test]
    fn a_ref_is_read_as_agents_write_it() {
        for text in ["e12", " e12 ", "[e12]", "ref=e12"] {
            assert_eq!(Ref::parse(text), Ok(Ref(12)), "{text}");
        }
        for text in ["", "12", "e", "e-1", "button", "e1x"] {
            let error = Ref::parse(text).expect_err(text).to_string();
            assert!(error.contains("browser_snapshot"), "{error}");
        }
    }
}
