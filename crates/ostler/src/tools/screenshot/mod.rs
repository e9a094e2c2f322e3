//! `browser_screenshot`: a picture of the page, as a file.
//!
//! One pixel of it is one CSS pixel, whatever the screen, unless `max_dim` makes it smaller: so what is seen in it can
//! be clicked at with the same numbers, or with those times one stated factor.

mod annotate;
mod temporary;

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use ostler_core::{CallError, shown_address};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::sleep;

use self::annotate::Labelled;
use super::context::{Context, Tab};
use super::outcome::{Image, Outcome};
use super::patience::Patience;
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::page::{MOST_MARKS, Mark, Marked, Rect};
use crate::times::CALL_DEFAULT;

/// A hidden tab draws nothing, and answers the first request only once a second one comes (fact C29).
const ASK_AGAIN: Duration = Duration::from_millis(250);
/// That second one, of which nothing is used.
const NUDGE: &[u8] = br#"{"format":"jpeg","quality":1}"#;
/// How many of those are out at most.
const MOST_NUDGES: usize = 3;
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
    /// Draw the refs over what can be acted on.
    annotate: Option<bool>,
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
    /// What is marked, where `annotate` was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    marks: Option<Vec<MarkData>>,
}

#[derive(Serialize)]
struct MarkData {
    r#ref: String,
    /// Left, top, width and height, in pixels of the picture.
    r#box: [f64; 4],
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
    let tab = context.answering_tab().await?;
    let patience = Patience::to_draw(&tab);
    let part = patience.read(Part::of(&tab, full, args.max_dim)).await?;
    let page = tab.page()?;
    let marked = match args.annotate {
        Some(true) => Some(patience.read(page.marks(full)).await?),
        _ => None,
    };
    let reply = patience.draw(capture(&tab, &part, full)).await?;
    let boxes: Option<Vec<_>> = marked.as_ref().map(|marked| part.boxes(&marked.marks));
    let drawn = boxes.as_ref().map(Vec::len);
    let marks = boxes.as_ref().map(|boxes| boxes.iter().map(MarkData::of).collect());
    let saved = tokio::task::spawn_blocking(move || save(&reply, boxes.as_deref(), args.path)).await;
    let Saved { path, width, height } = saved.map_err(|_| bad("path", "the picture could not be written"))??;
    let what = if full { "the whole page" } else { "the viewport" };
    let numbers = match (full, part.scale) {
        (true, scale) => format!("scale {scale}: its coordinates count from the top of the page, not of the viewport"),
        (false, 1.0) => "scale 1: browser_click takes its coordinates as they are".to_owned(),
        (false, scale) => format!("scale {scale}: multiply its coordinates by {:.4} for browser_click", 1.0 / scale),
    };
    let mut text = format!("Saved {what} to {} ({width} x {height} px, {numbers}).", path.display());
    if let Some((marked, drawn)) = marked.as_ref().zip(drawn) {
        text = format!("{text}\n{}", told_of(marked, drawn));
    }
    let outcome = Outcome::new(text, &Data { path: &path, width, height, scale: part.scale, marks });
    Ok(outcome.with_image(Image { path, mime: "image/png" }))
}

/// Says what the numbers on a picture are, and what has none.
fn told_of(marked: &Marked, drawn: usize) -> String {
    let outside = marked.marks.len() - drawn;
    let unmarked = [
        (
            marked.more,
            "shows and has",
            "show and have",
            format!(" beyond the first {MOST_MARKS}: scroll, or take refs from browser_snapshot"),
        ),
        (outside, "is outside of the picture and has", "are outside of the picture and have", String::new()),
    ];
    let mut told = match drawn {
        0 => "Nothing that shows can be acted on, so nothing is marked.".to_owned(),
        1 => "1 element is marked with its ref, which browser_click and browser_type take.".to_owned(),
        count => format!("{count} elements are marked with their refs, which browser_click and browser_type take."),
    };
    for (count, one, several, why) in unmarked {
        told += &match count {
            0 => String::new(),
            1 => format!(" 1 element more {one} no mark{why}."),
            count => format!(" {count} elements more {several} no marks{why}."),
        };
    }
    told += &match marked.unread {
        0 => String::new(),
        1 => " 1 frame could not be asked and has no marks.".to_owned(),
        frames => format!(" {frames} frames could not be asked and have no marks."),
    };
    told
}

impl MarkData {
    fn of(labelled: &Labelled) -> Self {
        let Rect { x, y, width, height } = labelled.at;
        Self {
            r#ref: labelled.label.clone(),
            r#box: [x, y, width, height].map(|number| (number * 10.0).round() / 10.0),
        }
    }
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
        let metrics: Metrics = tab.call_on(tab.route(), "Page.getLayoutMetrics", &json!({})).await?;
        let device_pixel_ratio = tab.page()?.about(CALL_DEFAULT).await?.ratio;
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

    /// Returns where marks are in the picture; those that are not in it are left out.
    fn boxes(&self, marks: &[Mark]) -> Vec<Labelled> {
        let scaled = |Rect { x, y, width, height }: Rect| Rect {
            x: (x - self.x) * self.scale,
            y: (y - self.y) * self.scale,
            width: width * self.scale,
            height: height * self.scale,
        };
        let all = marks.iter().map(|mark| Labelled { label: mark.of.to_string(), at: scaled(mark.at) });
        all.filter(|labelled| self.shows(labelled.at)).collect()
    }

    /// Returns whether any of a rectangle of the picture's pixels is in the picture.
    fn shows(&self, Rect { x, y, width, height }: Rect) -> bool {
        let (across, down) = (self.width * self.scale, self.height * self.scale);
        x < across && y < down && x + width > 0.0 && y + height > 0.0
    }
}

/// Takes the picture; returns the browser's raw answer. One that does not come is the caller's to give up.
async fn capture<T: TaskLayer>(tab: &Tab<'_, T>, part: &Part, full: bool) -> Result<Bytes, CallError> {
    let Part { x, y, width, height, scale, device_pixel_ratio } = part;
    let clip = json!({"x": x, "y": y, "width": width, "height": height, "scale": scale / device_pixel_ratio});
    let params = Bytes::from(json!({"format": "png", "captureBeyondViewport": full, "clip": clip}).to_string());
    let mut picture = pin!(tab.call_raw("Page.captureScreenshot", params, tab.route()));
    // What is small and shows the viewport as it is: two who change it for a picture take the other one's change for how
    // it was (fact F52).
    let nudge = || tab.call_raw("Page.captureScreenshot", Bytes::from_static(NUDGE), tab.route());
    let mut nudges = FuturesUnordered::new();
    loop {
        tokio::select! {
            answer = &mut picture => return answer,
            Some(_) = nudges.next() => {}
            () = sleep(ASK_AGAIN), if nudges.len() < MOST_NUDGES => nudges.push(nudge()),
        }
    }
}

/// Refuses a path at which no picture can be, before one is taken.
fn check(path: &Path) -> Result<(), CallError> {
    let given = path.to_string_lossy();
    let given = shown_address(&given);
    if !path.is_absolute() {
        return Err(bad("path", format!("{given:?} must be absolute")));
    }
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
        return Err(bad("path", format!("{given:?} must end in .png, since that is what is written")));
    }
    match path.parent() {
        Some(folder) if folder.is_dir() => Ok(()),
        _ => Err(bad("path", format!("the folder of {given:?} does not exist; make it first"))),
    }
}

/// A picture on disk.
struct Saved {
    path: PathBuf,
    width: u32,
    height: u32,
}

/// Decodes the browser's answer, draws boxes on it, and writes the picture.
fn save(reply: &[u8], boxes: Option<&[Labelled]>, path: Option<PathBuf>) -> Result<Saved, CallError> {
    #[derive(Deserialize)]
    struct Captured<'a> {
        data: &'a str,
    }
    let unreadable = || CallError::Cdp { code: 0, message: "the browser's picture cannot be read".to_owned() };
    let captured: Captured<'_> = serde_json::from_slice(reply).map_err(|_| unreadable())?;
    let mut png = STANDARD.decode(captured.data).map_err(|_| unreadable())?;
    if let Some(boxes) = boxes {
        png = annotate::draw(&png, boxes).ok_or_else(unreadable)?;
    }
    let (width, height) = size(&png).ok_or_else(unreadable)?;
    let path = write(&png, path).map_err(|error| bad("path", format!("the picture cannot be written: {error}")))?;
    Ok(Saved { path, width, height })
}

fn write(png: &[u8], path: Option<PathBuf>) -> std::io::Result<PathBuf> {
    match path {
        Some(path) => std::fs::write(&path, png).map(|()| path),
        None => temporary::keep(png),
    }
}

/// Returns width and height, from the header of a PNG.
fn size(png: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?));
    png.starts_with(b"\x89PNG").then(|| Some((number(16)?, number(20)?)))?
}
