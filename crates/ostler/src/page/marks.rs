//! Where the elements that can be acted on are drawn, in all frames: for numbers over a picture of the page.
//!
//! Each document tells its own, which are then carried outwards, frame by frame: moved to where the frame is drawn, and
//! cut off where that ends or where something covers it. Nothing is scrolled and nothing is added to the page.

use std::sync::Arc;
use std::time::Duration;

use ostler_core::{CallError, FrameId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::closed::MOST_ROUNDS;
use super::document::{Argument, Document, is_gone};
use super::frames::Frames;
use super::geometry::{Quad, Rect};
use super::outline::FRAME_PATIENCE;
use super::refs::Ref;
use super::{CALL, Page};
use crate::meta::TaskLayer;

/// How many elements are marked at most: more numbers would hide the picture.
pub(crate) const MOST_MARKS: usize = 200;
/// How long a frame may take to answer once another one did not.
const NEXT_FRAME_PATIENCE: Duration = Duration::from_millis(300);
/// How many documents are looked at.
const MOST_DOCUMENTS: usize = 60;

/// One element that shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) of: Ref,
    /// The part of it that shows, in CSS pixels from the top left of the page.
    pub(crate) at: Rect,
}

/// The elements that show.
#[derive(Debug)]
pub(crate) struct Marked {
    pub(crate) marks: Vec<Mark>,
    /// How many more there are, which have no mark.
    pub(crate) more: usize,
    /// How many frames show that could not be asked.
    pub(crate) unread: usize,
}

/// What all documents have told so far.
struct Gathering {
    /// How many more can be marked.
    room: usize,
    more: usize,
    unread: usize,
}

/// What one document tells.
struct Sheet {
    document: Arc<Document>,
    /// Their boxes in the document's own window.
    marks: Vec<Mark>,
    window: Rect,
    holder: Option<Holder>,
}

/// Where a frame's document is drawn.
struct Holder {
    /// The sheet of the document that holds the frame.
    outer: usize,
    element: String,
    content: Quad,
}

/// The walker's answer.
#[derive(Deserialize)]
struct Told {
    marks: Vec<(u64, f64, f64, f64, f64)>,
    more: usize,
    next: u64,
    unsure: usize,
    width: f64,
    height: f64,
    left: f64,
    top: f64,
}

impl<T: TaskLayer> Page<'_, T> {
    /// Returns the elements that can be acted on and show: in the viewport, or on the `whole` page.
    pub(crate) async fn marks(&self, whole: bool) -> Result<Marked, CallError> {
        match self.gather_marks(whole).await {
            // The page went somewhere else meanwhile: the one that is there now is what is asked for.
            Err(error) if is_gone(&error) => self.gather_marks(whole).await,
            outcome => outcome,
        }
    }

    async fn gather_marks(&self, whole: bool) -> Result<Marked, CallError> {
        let frames = self.frames()?;
        let mut gathering = Gathering { room: MOST_MARKS, more: 0, unread: 0 };
        let top = self.document(frames.top(), frames.session(frames.top()), CALL).await?;
        let mut sheets = vec![self.sheet(top, None, whole, &mut gathering).await?];
        let mut at = 0;
        while at < sheets.len() {
            let inner = frames.children(&sheets[at].document.frame);
            for child in inner.into_iter().take(MOST_DOCUMENTS.saturating_sub(sheets.len())) {
                let Some(holder) = self.holder(&sheets[at], at, &child, whole && at == 0).await else { continue };
                match self.inner_sheet(&frames, &child, holder, &mut gathering).await {
                    Ok(sheet) => sheets.push(sheet),
                    // A frame that was just removed shows no more.
                    Err(error) if is_gone(&error) => {}
                    Err(_) => gathering.unread += 1,
                }
            }
            at += 1;
        }
        let mut marks = self.carry_out(sheets, whole).await?;
        marks.sort_by_key(|mark| mark.of.number());
        Ok(Marked { marks, more: gathering.more, unread: gathering.unread })
    }

    async fn inner_sheet(
        &self,
        frames: &Frames,
        frame: &FrameId,
        holder: Holder,
        gathering: &mut Gathering,
    ) -> Result<Sheet, CallError> {
        let session = frames.session(frame);
        // What keeps one frame from answering often keeps others of its site as well.
        let usual = if gathering.unread == 0 { FRAME_PATIENCE } else { NEXT_FRAME_PATIENCE };
        let document = self.document(frame, session, self.patience(session, usual)).await?;
        self.sheet(document, Some(holder), false, gathering).await
    }

    /// Asks one document.
    async fn sheet(
        &self,
        document: Arc<Document>,
        holder: Option<Holder>,
        whole: bool,
        gathering: &mut Gathering,
    ) -> Result<Sheet, CallError> {
        let count = u64::try_from(gathering.room).unwrap_or(u64::MAX);
        let mut told = self.ask_for_marks(&document, count, whole).await?;
        for _ in 1..MOST_ROUNDS {
            if told.unsure == 0 || !self.open_closed_trees(&document).await? {
                break;
            }
            told = self.ask_for_marks(&document, count, whole).await?;
        }
        let marks: Vec<_> = told
            .marks
            .into_iter()
            .map(|(number, x, y, width, height)| Mark { of: Ref(number), at: Rect { x, y, width, height } })
            .collect();
        gathering.more += told.more;
        gathering.room = gathering.room.saturating_sub(marks.len());
        let window = Rect { x: told.left, y: told.top, width: told.width, height: told.height };
        Ok(Sheet { document, marks, window, holder })
    }

    async fn ask_for_marks(&self, document: &Arc<Document>, count: u64, whole: bool) -> Result<Told, CallError> {
        let lent = self.memory.lend_refs(document, count);
        let how =
            json!({"first": lent.first, "count": lent.count, "oldest": lent.oldest, "most": count, "whole": whole});
        let told: Told = document.ask(self, "marks", &[Argument::Value(how)], CALL).await?;
        self.memory.settle_refs(lent, told.next);
        Ok(told)
    }

    /// Returns where a frame is drawn in the document that holds it; `None` if nothing of it can show.
    async fn holder(&self, outer: &Sheet, number: usize, frame: &FrameId, whole: bool) -> Option<Holder> {
        let element = outer.document.owner(self, frame).await.ok()?;
        // One that is not drawn has no box.
        let content = self.content_quad(&outer.document, &element).await.ok()?;
        let Rect { x, y, width, height } = content.around(Rect { x: 0.0, y: 0.0, width: 1.0, height: 1.0 }, 1.0, 1.0);
        let Rect { width: across, height: down, .. } = outer.window;
        let inside = x < across && y < down && x + width > 0.0 && y + height > 0.0;
        (width >= 1.0 && height >= 1.0 && (inside || whole)).then_some(Holder { outer: number, element, content })
    }

    /// Brings the marks of all documents to the page's own coordinates; an inner document comes behind its outer one.
    async fn carry_out(&self, mut sheets: Vec<Sheet>, whole: bool) -> Result<Vec<Mark>, CallError> {
        while let Some(Sheet { marks, window, holder, .. }) = sheets.pop() {
            let Some(Holder { outer, element, content }) = holder else {
                let place = |Rect { x, y, width, height }| Rect { x: x + window.x, y: y + window.y, width, height };
                return Ok(marks.into_iter().map(|mark| Mark { at: place(mark.at), ..mark }).collect());
            };
            if marks.is_empty() {
                continue;
            }
            let boxes = marks.iter().map(|mark| content.around(mark.at, window.width, window.height));
            let boxes: Vec<_> = boxes.map(|Rect { x, y, width, height }| [x, y, width, height]).collect();
            let how = json!({"whole": whole && outer == 0});
            let arguments = [Argument::ObjectId(&element), Argument::Value(how), Argument::Value(json!(boxes))];
            let document = Arc::clone(&sheets[outer].document);
            let shown: Vec<Option<[f64; 4]>> =
                document.ask::<_, Value, _>(self, "marksThrough", &arguments, FRAME_PATIENCE).await?;
            let shown = marks.into_iter().zip(shown).filter_map(|(mark, shown)| {
                shown.map(|[x, y, width, height]| Mark { at: Rect { x, y, width, height }, ..mark })
            });
            sheets[outer].marks.extend(shown);
        }
        Ok(Vec::new())
    }
}
