//! From a frame's own coordinates to those of the page that holds it.

use serde::{Deserialize, Serialize};

/// A place in a document's window, in CSS pixels from its top left corner.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// An upright rectangle in a document's window, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The four corners of a box as it is drawn, clockwise from the one that is its top left by itself.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) struct Quad([f64; 8]);

impl Quad {
    /// Returns where a place inside of the box is drawn; `across` and `down` are shares of its width and height.
    ///
    /// Scaled, rotated and skewed boxes are parallelograms, for which this is exact; one in perspective is not, and is
    /// met within a pixel or so unless it is steep.
    pub(super) fn at(&self, across: f64, down: f64) -> Point {
        let [x1, y1, x2, y2, x3, y3, x4, y4] = self.0;
        let between = |top_left: f64, top_right: f64, bottom_right: f64, bottom_left: f64| {
            let top = top_left + (top_right - top_left) * across;
            let bottom = bottom_left + (bottom_right - bottom_left) * across;
            top + (bottom - top) * down
        };
        Point { x: between(x1, x2, x3, x4), y: between(y1, y2, y3, y4) }
    }

    /// Returns the smallest upright rectangle around where a rectangle inside of the box is drawn; the box itself is
    /// `width` by `height` to those inside of it.
    pub(super) fn around(&self, inner: Rect, width: f64, height: f64) -> Rect {
        let Rect { x, y, width: across, height: down } = inner;
        let corners = [(x, y), (x + across, y), (x, y + down), (x + across, y + down)];
        let corners = corners.map(|(x, y)| self.at(x / width, y / height));
        let least = |side: fn(&Point) -> f64| corners.iter().map(side).fold(f64::INFINITY, f64::min);
        let most = |side: fn(&Point) -> f64| corners.iter().map(side).fold(f64::NEG_INFINITY, f64::max);
        let (x, y) = (least(|at| at.x), least(|at| at.y));
        Rect { x, y, width: most(|at| at.x) - x, height: most(|at| at.y) - y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_mapped_through_moved_scaled_and_turned_boxes() {
        let moved = Quad([10.0, 20.0, 110.0, 20.0, 110.0, 70.0, 10.0, 70.0]);
        assert_eq!(moved.at(0.5, 0.5), Point { x: 60.0, y: 45.0 });
        assert_eq!(moved.at(0.0, 1.0), Point { x: 10.0, y: 70.0 });
        // A quarter turn to the right: what was the top is the right side.
        let turned = Quad([100.0, 0.0, 100.0, 200.0, 0.0, 200.0, 0.0, 0.0]);
        assert_eq!(turned.at(0.25, 0.0), Point { x: 100.0, y: 50.0 });
        assert_eq!(turned.at(0.25, 1.0), Point { x: 0.0, y: 50.0 });
        let strip = Rect { x: 25.0, y: 0.0, width: 50.0, height: 10.0 };
        assert_eq!(moved.around(strip, 100.0, 50.0), Rect { x: 35.0, y: 20.0, width: 50.0, height: 10.0 });
        assert_eq!(turned.around(strip, 100.0, 50.0), Rect { x: 80.0, y: 50.0, width: 20.0, height: 100.0 });
    }
}
