//! What the mouse wheel moves, in the document that it turns over and in the page around it.

use std::time::Duration;

use futures_util::future::{join_all, try_join};
use ostler_core::CallError;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::document::{Argument, Document};
use super::geometry::Point;
use super::waits::fresh_name;
use super::{CALL, Page, Reached, Ref};
use crate::meta::TaskLayer;

/// How long the page may take until it stands still.
const STILL: Duration = Duration::from_secs(10);

/// How far what was scrolled went, and where it stands now.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Ride {
    pub(crate) moved_x: i64,
    pub(crate) moved_y: i64,
    /// What is left to scroll, in pixels.
    pub(crate) above: i64,
    pub(crate) below: i64,
}

impl<T: TaskLayer> Page<'_, T> {
    /// Follows what scrolls at a place of the tab's window while `turn` turns the wheel there, until it stands still.
    /// Of an element that was reached it is what scrolls around that, in whichever frame, or the page outside.
    pub(crate) async fn ride(
        &self,
        (x, y): (f64, f64),
        over: Option<(Ref, &Reached)>,
        turn: impl Future<Output = Result<(), CallError>>,
    ) -> Result<Ride, CallError> {
        let top = self.top(CALL).await?;
        let mut followed = Vec::with_capacity(2);
        if let Some((of, reached)) = over {
            let document = self.document_of(of)?;
            if document.frame != top.frame {
                followed.push((document, reached.within));
            }
        }
        followed.push((top, Point { x, y }));
        // One that nobody follows to its end any more may still be under way in the page.
        let name = fresh_name();
        let rides = join_all(followed.iter().map(|(document, at)| self.follow(document, *at, &name)));
        let turned = async {
            turn.await?;
            // In the order in which they hold each other: the inner one moves first.
            for (document, _) in &followed {
                document.ask::<_, _, bool>(self, "wheelTurned", &[Argument::Value(&name)], CALL).await?;
            }
            Ok(())
        };
        // Each document begins to follow before the wheel turns: commands are carried out in the order of sending. Where
        // the wheel does not turn nobody waits for what it would have moved, and the documents stop by themselves.
        let (rides, ()) = try_join(async { Ok(rides.await) }, turned).await?;
        let mut rides = rides.into_iter().collect::<Result<Vec<Ride>, _>>()?;
        let moved = rides.iter().position(|ride| ride.moved_x != 0 || ride.moved_y != 0).unwrap_or(0);
        Ok(rides.swap_remove(moved))
    }

    async fn follow(&self, document: &Document, at: Point, name: &str) -> Result<Ride, CallError> {
        document.ask_later(self, "ride", &[json!(at), json!(name)].map(Argument::Value), STILL).await
    }
}
