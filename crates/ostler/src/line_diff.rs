//! Which lines two texts have in common, by their longest common subsequence.
//!
//! The textbook table: helper files and outlines have hundreds of lines, so its square cost is a few milliseconds and
//! not worth a dependency.

/// One line of the difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Edit<'a> {
    Keep(&'a str),
    Remove(&'a str),
    Add(&'a str),
}

/// Returns how `old` becomes `new`.
pub(crate) fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Edit<'a>> {
    // What is the same at both ends, mostly nearly all, needs no table.
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let same_end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - same_end, new.len() - same_end);
    let before = old[..start].iter().map(|line| Edit::Keep(line));
    let after = old[old_end..].iter().map(|line| Edit::Keep(line));
    before.chain(middle(&old[start..old_end], &new[start..new_end])).chain(after).collect()
}

fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Edit<'a>> {
    let common = common_lengths(old, new);
    let (mut i, mut j) = (0, 0);
    let mut edits = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            edits.push(Edit::Keep(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            edits.push(Edit::Remove(old[i]));
            i += 1;
        } else {
            edits.push(Edit::Add(new[j]));
            j += 1;
        }
    }
    edits
}

/// `table[i][j]` is how many lines `old[i..]` and `new[j..]` have in common, in order.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            table[i][j] = if old[i] == new[j] { table[i + 1][j + 1] + 1 } else { table[i + 1][j].max(table[i][j + 1]) };
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::Edit::{Add, Keep, Remove};
    use super::*;

    #[test]
    fn a_changed_line_is_removed_and_added_between_what_is_kept() {
        let edits = edits(&["a", "b", "c", "d"], &["a", "x", "c", "y", "d"]);
        assert_eq!(edits, [Keep("a"), Remove("b"), Add("x"), Keep("c"), Add("y"), Keep("d")]);
    }

    #[test]
    fn repeated_lines_at_both_ends_are_not_counted_twice() {
        assert_eq!(edits(&["a"], &["a", "a"]), [Keep("a"), Add("a")]);
        assert_eq!(edits(&["a", "a"], &["a"]), [Keep("a"), Remove("a")]);
        assert_eq!(edits(&[], &[]), []);
    }
}
