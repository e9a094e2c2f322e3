//! The outline of a page: the lines of each document, those of its frames in their place, within one limit.
//!
//! A walker stops at each frame that stands apart; the frame's own walker goes on, and then the first one behind it.
//! So the lines come in the order of the page, and nothing is read that has no room.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use ostler_core::cdp::text::LossyText;
use ostler_core::{CallError, FrameId};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::closed::MOST_ROUNDS;
use super::document::{Argument, Document, is_gone};
use super::frames::Frames;
use super::refs::{Ref, removed};
use super::{CALL, Page, Scope};
use crate::meta::TaskLayer;

/// How long a frame of another process may take to say that it is there.
pub(super) const FRAME_PATIENCE: Duration = Duration::from_millis(1500);
/// What is said where more elements may have a closed tree than one reading asks about.
const UNASKED: &str =
    "(there are more boxes than one snapshot looks into for closed trees; the next one looks into more)";
/// The room for the line that says how to go on, and for that one.
const TAIL: usize = 240;
/// How many places that line names, one for each frame that was cut.
const MAX_RESTS: usize = 4;
/// How deep frames are followed.
const MAX_DEPTH: usize = 20;
/// How many frames of one document are looked for in it.
const MAX_FRAMES_OF_ONE: usize = 200;
/// No line with a ref is shorter.
const SHORTEST_LINE: usize = 8;

/// What a page, or a part of it, looks like.
#[derive(Debug)]
pub(crate) struct Outlined {
    /// The lines, with one at the end that says how to go on if they were cut.
    pub(crate) lines: String,
    /// The title of the document that it begins in.
    pub(crate) title: String,
    /// The address of that document.
    pub(crate) url: String,
    /// The refs to go on at, where there was no more room.
    pub(crate) rest: Vec<String>,
}

/// What the walker is told.
#[derive(Serialize)]
struct How {
    max: usize,
    indent: usize,
    root: Option<u64>,
    after: Option<usize>,
    begun: bool,
    first: u64,
    count: u64,
    oldest: u64,
}

/// What it returns.
#[derive(Deserialize)]
struct Walked {
    page: About,
    #[serde(default)]
    removed: bool,
    #[serde(default)]
    text: String,
    #[serde(default)]
    length: usize,
    frame: Option<usize>,
    #[serde(default)]
    indent: usize,
    #[serde(default)]
    cut: bool,
    rest: Option<u64>,
    #[serde(default)]
    next: u64,
    /// How many elements may have a closed shadow tree.
    #[serde(default)]
    unsure: usize,
}

#[derive(Deserialize)]
struct About {
    title: LossyText,
    url: LossyText,
}

/// What it returns of a place behind a frame.
#[derive(Deserialize)]
struct Behind {
    rest: Option<u64>,
    next: u64,
}

/// A document that is being read, or that waits for a frame of its own to be read.
struct Level {
    document: Arc<Document>,
    /// The frames right inside of it, with handles of the elements that hold them.
    owners: Vec<(FrameId, String)>,
    root: Option<u64>,
    indent: usize,
    after: Option<usize>,
}

impl<T: TaskLayer> Page<'_, T> {
    /// Returns the outline of a part of the page, of at most `max` characters. The page gets `patience` to say that it
    /// is there at all.
    pub(crate) async fn outline(&self, scope: &Scope, max: usize, patience: Duration) -> Result<Outlined, CallError> {
        match self.read(scope, max, patience).await {
            // The page went somewhere else meanwhile: the one that is there now is what is asked for.
            Err(error) if is_gone(&error) => self.read(scope, max, patience).await,
            outcome => outcome,
        }
    }

    async fn read(&self, scope: &Scope, max: usize, patience: Duration) -> Result<Outlined, CallError> {
        let frames = self.frames()?;
        let (document, root) = match scope {
            Scope::Page => (self.document(frames.top(), frames.session(frames.top()), patience).await?, None),
            Scope::Frame(frame) => {
                let session = frames.session(frame);
                (self.document(frame, session, self.patience(session, patience)).await?, None)
            }
            Scope::Element(number) => {
                let document = self.document_of(Ref(*number))?;
                if !document.answers(self, self.patience(&document.session, patience)).await? {
                    return Err(removed(Ref(*number), None));
                }
                (document, Some(*number))
            }
        };
        let writer = Writer { page: self, frames, max, lines: String::new(), length: 0, unasked: false };
        let first = writer.level(document, root, 0).await;
        writer.write(first).await
    }
}

struct Writer<'p, 'a, T> {
    page: &'p Page<'a, T>,
    frames: Frames,
    max: usize,
    lines: String,
    /// In the walker's characters, of which there are never fewer than in the text.
    length: usize,
    /// Whether more elements may have a closed tree than were asked about.
    unasked: bool,
}

impl<T: TaskLayer> Writer<'_, '_, T> {
    async fn write(mut self, first: Level) -> Result<Outlined, CallError> {
        let mut about = None;
        let mut rest = Vec::new();
        let mut levels = vec![first];
        while let Some(level) = levels.last_mut() {
            let is_first = about.is_none();
            let walked = match self.walk(level).await {
                Ok(walked) if walked.removed => match level.root {
                    Some(number) => return Err(removed(Ref(number), None)),
                    None => break,
                },
                Ok(walked) => walked,
                Err(error) if levels.len() == 1 => return Err(error),
                Err(error) => {
                    self.note(levels.last().map_or(0, |level| level.indent), &unreadable(&error));
                    levels.pop();
                    continue;
                }
            };
            if is_first {
                about = Some(walked.page);
            }
            if walked.cut {
                rest.extend(walked.rest);
                levels.pop();
                for level in levels.iter().rev() {
                    rest.extend(self.behind(level).await);
                }
                break;
            }
            let Some(at) = walked.frame.filter(|at| *at < level.owners.len()) else {
                levels.pop();
                continue;
            };
            level.after = Some(at);
            let frame = level.owners[at].0.clone();
            if levels.len() == MAX_DEPTH {
                self.note(walked.indent, "(frames as deep as this are not shown: name one with frame_id)");
                continue;
            }
            let session = self.frames.session(&frame).clone();
            match self.page.document(&frame, &session, self.page.patience(&session, FRAME_PATIENCE)).await {
                Ok(document) => levels.push(self.level(document, None, walked.indent).await),
                Err(error) => self.note(walked.indent, &unreadable(&error)),
            }
        }
        if self.unasked {
            self.note(0, UNASKED);
        }
        let rest: Vec<_> = rest.into_iter().take(MAX_RESTS).map(|number| Ref(number).to_string()).collect();
        if let Some((next, others)) = rest.split_first() {
            // Writing to a String cannot fail.
            let _ = write!(self.lines, "… cut here; browser_snapshot with ref {next} shows what follows");
            if !others.is_empty() {
                let _ = write!(self.lines, ", then {}", others.join(", "));
            }
            self.lines.push('\n');
        }
        let About { title, url } =
            about.unwrap_or_else(|| About { title: LossyText::default(), url: LossyText::default() });
        Ok(Outlined { lines: self.lines, title: title.0, url: url.0, rest })
    }

    /// Begins with a document: finds the elements that hold its frames.
    async fn level(&self, document: Arc<Document>, root: Option<u64>, indent: usize) -> Level {
        let children = self.frames.children(&document.frame);
        let handles = children.iter().take(MAX_FRAMES_OF_ONE).map(|child| document.owner(self.page, child));
        // A frame that was just removed has no owner.
        let owners = children.iter().cloned().zip(join_all(handles).await);
        let owners = owners.filter_map(|(child, handle)| Some((child, handle.ok()?))).collect();
        Level { document, owners, root, indent, after: None }
    }

    /// Goes on in a document up to the next stop.
    async fn walk(&mut self, level: &Level) -> Result<Walked, CallError> {
        let mut walked = self.walk_once(level).await?;
        let mut rounds = 1;
        while walked.unsure > 0 && rounds < MOST_ROUNDS && self.page.open_closed_trees(&level.document).await? {
            walked = self.walk_once(level).await?;
            rounds += 1;
        }
        self.unasked |= rounds == MOST_ROUNDS && walked.unsure > 0;
        if !walked.text.is_empty() {
            self.lines.push_str(&walked.text);
            self.lines.push('\n');
        }
        self.length += walked.length;
        Ok(walked)
    }

    async fn walk_once(&self, level: &Level) -> Result<Walked, CallError> {
        let room = self.max.saturating_sub(self.length + TAIL);
        let count = u64::try_from(room / SHORTEST_LINE + 2).unwrap_or(u64::MAX);
        let lent = self.page.memory.lend_refs(&level.document, count);
        let how = How {
            max: room,
            indent: level.indent,
            root: level.root,
            after: level.after,
            begun: self.length > 0,
            first: lent.first,
            count: lent.count,
            oldest: lent.oldest,
        };
        let owners = level.owners.iter().map(|(_, handle)| Argument::ObjectId(handle));
        let arguments: Vec<_> = std::iter::once(Argument::Value(how)).chain(owners).collect();
        let walked: Walked = level.document.ask(self.page, "outline", &arguments, walk_time(room)).await?;
        self.page.memory.settle_refs(lent, walked.next);
        Ok(walked)
    }

    /// Returns a ref for what comes behind the frame at which a document waits.
    async fn behind(&self, level: &Level) -> Option<u64> {
        let (_, owner) = level.owners.get(level.after?)?;
        let lent = self.page.memory.lend_refs(&level.document, 1);
        let how = json!({"root": level.root, "first": lent.first, "count": 1, "oldest": lent.oldest});
        let arguments = [Argument::Value(how), Argument::ObjectId(owner)];
        let behind: Behind = level.document.ask(self.page, "behind", &arguments, CALL).await.ok()?;
        self.page.memory.settle_refs(lent, behind.next);
        behind.rest
    }

    /// Adds a line of our own, if there is room.
    fn note(&mut self, indent: usize, text: &str) {
        let length = indent + text.chars().count() + 1;
        if self.length + length + TAIL <= self.max {
            let _ = writeln!(self.lines, "{:indent$}{text}", "");
            self.length += length;
        }
    }
}

/// Returns how long it may take to write so many characters: 100,000 of them take less than 0.2 s on a page at rest.
fn walk_time(room: usize) -> Duration {
    CALL + Duration::from_secs(u64::try_from(room / 100_000).unwrap_or(u64::MAX).min(55))
}

/// Says why a frame has no lines.
fn unreadable(error: &CallError) -> String {
    match error {
        CallError::DialogOpen { dialog, .. } => format!("(cannot be read while {} is open)", dialog.id),
        CallError::AsksOn { .. } => "(cannot be read: a script of it asks again and again)".to_owned(),
        CallError::Timeout { .. } => {
            "(does not answer: a script of it, or a dialog in another tab of its site, keeps it busy)".to_owned()
        }
        CallError::TargetCrashed { .. } => "(crashed)".to_owned(),
        error if is_gone(error) => "(is being replaced)".to_owned(),
        error => format!("(cannot be read: {})", error.happened().chars().take(100).collect::<String>()),
    }
}
