//! A unified diff of two texts, for `ostler helpers diff`.

use std::fmt::Write;
use std::ops::Range;

use crate::line_diff::{Edit, edits};

/// Unchanged lines shown around each change.
const CONTEXT: usize = 3;

/// Returns the changes from `old` to `new` in the format of `diff -u`; empty when there are none.
pub(super) fn unified(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let edits = edits(&lines(old), &lines(new));
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    for hunk in hunks(&edits) {
        write_hunk(&mut text, &edits, hunk);
    }
    text
}

/// The lines with their newline, because a last line without one differs from the same line with it.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Groups changes whose context touches.
fn hunks(edits: &[Edit<'_>]) -> Vec<Range<usize>> {
    let mut hunks: Vec<Range<usize>> = Vec::new();
    for (at, _) in edits.iter().enumerate().filter(|(_, edit)| !matches!(edit, Edit::Keep(_))) {
        let around = at.saturating_sub(CONTEXT)..(at + 1 + CONTEXT).min(edits.len());
        match hunks.last_mut() {
            Some(last) if around.start <= last.end => last.end = around.end,
            _ => hunks.push(around),
        }
    }
    hunks
}

fn write_hunk(text: &mut String, edits: &[Edit<'_>], hunk: Range<usize>) {
    let in_old = |edits: &[Edit<'_>]| edits.iter().filter(|edit| !matches!(edit, Edit::Add(_))).count();
    let in_new = |edits: &[Edit<'_>]| edits.iter().filter(|edit| !matches!(edit, Edit::Remove(_))).count();
    let (before, inside) = (&edits[..hunk.start], &edits[hunk]);
    // An empty side is said to lie after the line before it; any other starts at its own first line.
    let start = |before: usize, length: usize| if length == 0 { before } else { before + 1 };
    let (old, new) = (in_old(inside), in_new(inside));
    let header = format!("@@ -{},{old} +{},{new} @@", start(in_old(before), old), start(in_new(before), new));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{header}");
    for edit in inside {
        let (sign, line) = match edit {
            Edit::Keep(line) => (' ', line),
            Edit::Remove(line) => ('-', line),
            Edit::Add(line) => ('+', line),
        };
        let _ = match line.strip_suffix('\n') {
            Some(line) => writeln!(text, "{sign}{line}"),
            None => writeln!(text, "{sign}{line}\n\\ No newline at end of file"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        unified("a", "b", old, new)
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(diff("x\n", "x\n"), "");
    }

    #[test]
    fn a_changed_line_stands_in_its_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        assert_eq!(diff(old, new), "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    }

    #[test]
    fn distant_changes_get_hunks_of_their_own() {
        let old: String = (0..40).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n5\n", "\n").replace("\n30\n", "\n30\n30.5\n");
        let diff = diff(&old, &new);
        assert!(diff.contains("@@ -3,7 +3,6 @@") && diff.contains("@@ -29,6 +28,7 @@"), "{diff}");
    }

    #[test]
    fn an_empty_side_and_a_missing_last_newline_are_said() {
        assert_eq!(diff("", "x"), "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n");
    }
}
