//! Moves, clicks and turns the wheel of the mouse.

use ostler_core::CallError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::context::Tab;
use super::ANSWER;
use crate::meta::TaskLayer;

/// A place in the tab's viewport, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(in crate::tools) struct Point {
    pub(in crate::tools) x: f64,
    pub(in crate::tools) y: f64,
}

/// A button of the mouse.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::tools) enum Button {
    #[default]
    Left,
    Right,
    Middle,
}

impl Button {
    fn bit(self) -> u8 {
        match self {
            Self::Left => 1,
            Self::Right => 2,
            Self::Middle => 4,
        }
    }
}

/// Moves the mouse.
pub(in crate::tools) async fn move_to<T: TaskLayer>(
    tab: &Tab<'_, T>,
    at: Point,
    modifiers: u8,
) -> Result<(), CallError> {
    dispatch(tab, "mouseMoved", at, json!({"modifiers": modifiers})).await
}

/// Clicks where the mouse is, as often as asked, each click counted as the next of one multiple click.
pub(in crate::tools) async fn click<T: TaskLayer>(
    tab: &Tab<'_, T>,
    at: Point,
    button: Button,
    clicks: u32,
    modifiers: u8,
) -> Result<(), CallError> {
    for count in 1..=clicks {
        let held = json!({"button": button, "buttons": button.bit(), "clickCount": count, "modifiers": modifiers});
        dispatch(tab, "mousePressed", at, held).await?;
        let released = json!({"button": button, "buttons": 0, "clickCount": count, "modifiers": modifiers});
        dispatch(tab, "mouseReleased", at, released).await?;
    }
    Ok(())
}

/// Turns the wheel.
pub(in crate::tools) async fn wheel<T: TaskLayer>(
    tab: &Tab<'_, T>,
    at: Point,
    dx: f64,
    dy: f64,
) -> Result<(), CallError> {
    dispatch(tab, "mouseWheel", at, json!({"deltaX": dx, "deltaY": dy})).await
}

async fn dispatch<T: TaskLayer>(tab: &Tab<'_, T>, kind: &str, at: Point, mut event: Value) -> Result<(), CallError> {
    event["type"] = kind.into();
    (event["x"], event["y"]) = (at.x.into(), at.y.into());
    let _: Value = tab.call_within("Input.dispatchMouseEvent", &event, ANSWER).await?;
    Ok(())
}
