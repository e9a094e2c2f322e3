//! `browser_screenshot`: a picture of the page, as a file.
//!
//! One pixel of it is one CSS pixel, whatever the screen, unless `max_dim` makes it smaller: so what is seen in it can
//! be clicked at with the same numbers, or with those times one stated factor.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use ostler_core::{CallError, TimeoutHint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::context::{Context, Route, Tab};
use super::outcome::{Image, Outcome};
use crate::meta::TaskLayer;
use crate::meta::value::bad;

/// How long the browser may take in all.
const PATIENCE: Duration = Duration::from_secs(20);
/// A hidden tab draws nothing, and answers the first request only once a second one comes (fact C29).
const ASK_AGAIN: Duration = Duration::from_millis(250);
/// How many requests are out at most.
const MOST_ASKED: usize = 4;
/// The longest side that Chromium draws as one piece.
const LONGEST_SIDE: f64 = 16_000.0;
/// The smallest `max_dim` in which anything can be made out.
const SMALLEST: u32 = 16;

/// Takes a picture of the page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Where to save it (absolute, .png); default: a temporary file.
    path: Option<PathBuf>,
    /// The whole page, not the viewport.
    full: Option<bool>,
    /// The most pixels of its longer side.
    max_dim: Option<u32>,
}

#[derive(Serialize)]
struct Data<'a> {
    path: &'a Path,
    width: u32,
    height: u32,
    /// Pixels of the picture for each CSS pixel.
    scale: f64,
}

/// The part of the page that is taken, and how large.
struct Part {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    /// Pixels of the picture for each CSS pixel.
    scale: f64,
    device_pixel_ratio: f64,
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    if args.max_dim.is_some_and(|most| most < SMALLEST) {
        return Err(bad("max_dim", format!("must be at least {SMALLEST}")));
    }
    if let Some(path) = &args.path {
        check(path)?;
    }
    let full = args.full == Some(true);
    let tab = context.tab().await?;
    let part = Part::of(&tab, full, args.max_dim).await?;
    let reply = capture(&tab, &part, full).await?;
    let saved = tokio::task::spawn_blocking(move || save(&reply, args.path)).await;
    let Saved { path, width, height } = saved.map_err(|_| bad("path", "the picture could not be written"))??;
    let what = if full { "the whole page" } else { "the viewport" };
    let numbers = match (full, part.scale) {
        (true, scale) => format!("scale {scale}: its coordinates count from the top of the page, not of the viewport"),
        (false, 1.0) => "scale 1: browser_click takes its coordinates as they are".to_owned(),
        (false, scale) => format!("scale {scale}: multiply its coordinates by {:.4} for browser_click", 1.0 / scale),
    };
    let text = format!("Saved {what} to {} ({width} x {height} px, {numbers}).", path.display());
    let outcome = Outcome::new(text, &Data { path: &path, width, height, scale: part.scale });
    Ok(outcome.with_image(Image { path, mime: "image/png" }))
}

impl Part {
    async fn of<T: TaskLayer>(tab: &Tab<'_, T>, full: bool, max_dim: Option<u32>) -> Result<Self, CallError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metrics {
            css_visual_viewport: Viewport,
            css_content_size: Size,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Viewport {
            page_x: f64,
            page_y: f64,
            client_width: f64,
            client_height: f64,
        }
        #[derive(Deserialize)]
        struct Size {
            width: f64,
            height: f64,
        }
        let metrics: Metrics = tab.call_within("Page.getLayoutMetrics", &json!({}), PATIENCE).await?;
        let device_pixel_ratio: f64 = tab.evaluate("devicePixelRatio", PATIENCE).await?;
        let Metrics { css_visual_viewport: viewport, css_content_size: page } = metrics;
        let (x, y, width, height) = match full {
            true => (0.0, 0.0, page.width, page.height),
            false => (viewport.page_x, viewport.page_y, viewport.client_width, viewport.client_height),
        };
        if width < 1.0 || height < 1.0 {
            return Err(bad("full", "the page has no size; wait for its load"));
        }
        let most = max_dim.map_or(LONGEST_SIDE, |most| f64::from(most).min(LONGEST_SIDE));
        // Rounded down to four digits, so that what is stated is what was done.
        let scale = (most / width.max(height) * 10_000.0).floor() / 10_000.0;
        Ok(Self { x, y, width, height, scale: scale.clamp(0.0001, 1.0), device_pixel_ratio })
    }
}

/// Takes the picture; returns the browser's raw answer.
async fn capture<T: TaskLayer>(tab: &Tab<'_, T>, part: &Part, full: bool) -> Result<Bytes, CallError> {
    let Part { x, y, width, height, scale, device_pixel_ratio } = part;
    let clip = json!({"x": x, "y": y, "width": width, "height": height, "scale": scale / device_pixel_ratio});
    let params = Bytes::from(json!({"format": "png", "captureBeyondViewport": full, "clip": clip}).to_string());
    let ask = || {
        let route = Route { timeout: Some(PATIENCE), ..tab.route() };
        tab.context().call_raw("Page.captureScreenshot", Some(params.clone()), route)
    };
    let began = Instant::now();
    let mut asked = FuturesUnordered::new();
    asked.push(ask());
    while began.elapsed() < PATIENCE {
        tokio::select! {
            Some(answer) = asked.next() => return answer,
            () = sleep(ASK_AGAIN) => {
                if asked.len() < MOST_ASKED {
                    asked.push(ask());
                }
            }
        }
    }
    let timeout_ms = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
    Err(CallError::Timeout { method: "Page.captureScreenshot".to_owned(), timeout_ms, hint: TimeoutHint::None })
}

/// Refuses a path at which no picture can be, before one is taken.
fn check(path: &Path) -> Result<(), CallError> {
    if !path.is_absolute() {
        return Err(bad("path", format!("{path:?} must be absolute")));
    }
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
        return Err(bad("path", format!("{path:?} must end in .png, since that is what is written")));
    }
    match path.parent() {
        Some(folder) if folder.is_dir() => Ok(()),
        _ => Err(bad("path", format!("the folder of {path:?} does not exist; make it first"))),
    }
}

/// A picture on disk.
struct Saved {
    path: PathBuf,
    width: u32,
    height: u32,
}

/// Decodes the browser's answer and writes the picture.
fn save(reply: &[u8], path: Option<PathBuf>) -> Result<Saved, CallError> {
    #[derive(Deserialize)]
    struct Captured<'a> {
        data: &'a str,
    }
    let unreadable = || CallError::Cdp { code: 0, message: "the browser's picture cannot be read".to_owned() };
    let captured: Captured<'_> = serde_json::from_slice(reply).map_err(|_| unreadable())?;
    let png = STANDARD.decode(captured.data).map_err(|_| unreadable())?;
    let (width, height) = size(&png).ok_or_else(unreadable)?;
    let path = write(&png, path).map_err(|error| bad("path", format!("the picture cannot be written: {error}")))?;
    Ok(Saved { path, width, height })
}

fn write(png: &[u8], path: Option<PathBuf>) -> std::io::Result<PathBuf> {
    match path {
        Some(path) => std::fs::write(&path, png).map(|()| path),
        None => {
            use std::io::Write as _;
            let mut file = tempfile::Builder::new().prefix("ostler-shot-").suffix(".png").tempfile()?;
            file.write_all(png)?;
            // It is the agent's from here on.
            let (_, path) = file.keep().map_err(|error| error.error)?;
            Ok(path)
        }
    }
}

/// Returns width and height, from the header of a PNG.
fn size(png: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?));
    png.starts_with(b"\x89PNG").then(|| Some((number(16)?, number(20)?)))?
}
