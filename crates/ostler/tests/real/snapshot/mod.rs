//! `browser_snapshot` on a real Chromium: what an agent reads of a page.

mod agreement;
mod blocked;
mod frames;
mod limits;
mod outline;
mod refs;

use serde_json::{Value, json};

use super::world::World;

impl World {
    /// Takes a snapshot of the current tab and returns its `{"text", "data"}`.
    #[track_caller]
    pub(crate) fn snapshot(&mut self, args: Value) -> Value {
        self.tool("browser_snapshot", args)
    }

    /// Returns the lines of a snapshot of the whole page, without the first, which names it.
    #[track_caller]
    pub(crate) fn outline(&mut self) -> String {
        lines(&self.snapshot(json!({})))
    }

    /// Returns the ref of the line that begins so, in a snapshot that is taken now.
    #[track_caller]
    pub(crate) fn ref_of(&mut self, beginning: &str) -> String {
        let outline = self.outline();
        let line = outline.lines().find(|line| line.trim_start_matches([' ', '-']).starts_with(beginning));
        let found = line.and_then(ref_in);
        assert!(found.is_some(), "no line with a ref begins with {beginning:?}:\n{outline}");
        found.unwrap()
    }
}

/// Returns the lines of a result's text but the first.
fn lines(snapshot: &Value) -> String {
    let text = snapshot["text"].as_str().unwrap();
    text.split_once('\n').map_or_else(String::new, |(_, lines)| format!("{lines}\n"))
}

/// Returns the first ref of a line.
pub(crate) fn ref_in(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("[e")?;
    Some(format!("e{}", rest.split_once(']')?.0))
}
