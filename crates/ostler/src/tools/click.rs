//! `browser_click`: clicks, and tells what came of it.

use ostler_core::CallError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::input::aftermath::{Action, Aftermath};
use super::input::file_chooser;
use super::input::keys::Modifier;
use super::input::mouse::{self, Button, Point};
use super::outcome::Outcome;
use super::patience::Patience;
use super::place::{self, Place};
use crate::meta::TaskLayer;
use crate::meta::value::bad;

/// The most clicks of one multiple click that pages know.
const MAX_CLICKS: u32 = 3;

/// Clicks an element or a place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// From browser_snapshot.
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// Instead of ref: CSS pixels in the viewport.
    x: Option<f64>,
    /// With x.
    y: Option<f64>,
    /// Default left.
    button: Option<Button>,
    /// 2 is a double click.
    clicks: Option<u32>,
    /// Held meanwhile.
    modifiers: Option<Vec<Modifier>>,
    /// Absolute paths for the file chooser that the click opens.
    files: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Data {
    #[serde(flatten)]
    at: Option<Point>,
    #[serde(flatten)]
    aftermath: Aftermath,
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let clicks = args.clicks.unwrap_or(1);
    if !(1..=MAX_CLICKS).contains(&clicks) {
        return Err(bad("clicks", format!("must be 1 to {MAX_CLICKS}")));
    }
    if let Some(files) = &args.files {
        file_chooser::check(files)?;
    }
    let place = Place::read(args.reference, args.x, args.y)?.ok_or_else(|| {
        bad("ref", "is missing: name an element by its ref from browser_snapshot, or a place by x and y")
    })?;
    let tab = context.answering_tab().await?;
    let patience = Patience::to_act(&tab);
    let action = patience.step(Action::begin(&tab)).await?;
    let modifiers = Modifier::bits(&args.modifiers.unwrap_or_default());
    let (found, done) = match patience.step(place::move_to(&tab, &place, modifiers)).await {
        Ok(found) => {
            let click = mouse::click(&tab, found.at, args.button.unwrap_or_default(), clicks, modifiers);
            let done = patience.act(click).await;
            (Some(found), done)
        }
        Err(error) => (None, Err(error)),
    };
    let mut aftermath = action.end(done).await?;
    if let Some(files) = &args.files {
        let chooser = aftermath.file_chooser.as_mut();
        let chooser = chooser.ok_or_else(|| bad("files", "the click opened no file chooser, so they went nowhere"))?;
        chooser.answer(&tab, files).await?;
    }
    let done = match &found {
        Some(found) => format!("Clicked {}.", found.what),
        None => "Nothing was clicked: this came first.".to_owned(),
    };
    let text = aftermath.told_after(done, context.words);
    Ok(Outcome::new(text, &Data { at: found.map(|found| found.at), aftermath }))
}
