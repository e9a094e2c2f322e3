//! `browser_press`: presses a key or a chord.

use ostler_core::CallError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::input::aftermath::Action;
use super::input::{keyboard, keys};
use super::outcome::Outcome;
use super::patience::Patience;
use crate::meta::TaskLayer;

/// Presses a key where the focus is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Such as Enter, ArrowDown, a, Shift+Tab or Control+a.
    key: String,
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let tab = context.answering_tab().await?;
    let patience = Patience::to_act(&tab);
    let stroke = keys::chord(&args.key, patience.step(keyboard::platform(context)).await?)?;
    let action = patience.step(Action::begin(&tab)).await?;
    let done = patience.act(keyboard::press(&tab, &stroke)).await;
    let aftermath = action.end(done).await?;
    let text = aftermath.told_after(format!("Pressed {}.", args.key), context.words);
    Ok(Outcome::new(text, &aftermath))
}
