//! What changed between two outlines: the lines that went and came, each group under the lines that hold it.

use crate::line_diff::{Edit, edits};

/// More lines are not compared: the table grows with their square.
const MOST_COMPARED: usize = 1500;
/// How much of a line above a change is repeated.
const SHOWN_OF_PARENT: usize = 60;

/// Returns the changes, empty if there are none; `None` if they are so many that the new outline says it shorter, or
/// that they would take too long to find.
///
/// ```text
/// main [e2] › form "Sign up" [e3]
/// - textbox "Email" [e4]
/// + textbox "Email" [e4] = "ada@example.com"
/// ```
pub(crate) fn changes(old: &str, new: &str) -> Option<String> {
    let (old_lines, new_lines): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    if old_lines.len() > MOST_COMPARED || new_lines.len() > MOST_COMPARED {
        return None;
    }
    let mut text = String::new();
    // The lines that hold the one that we are at, of the new outline.
    let mut above: Vec<&str> = Vec::new();
    let mut in_group = false;
    for edit in edits(&old_lines, &new_lines) {
        let (sign, line) = match edit {
            Edit::Keep(line) => {
                in_group = false;
                follow(&mut above, line);
                continue;
            }
            Edit::Remove(line) => ('-', line),
            Edit::Add(line) => ('+', line),
        };
        let depth = indent(line);
        if !in_group {
            let parents: Vec<_> =
                above.iter().filter(|parent| indent(parent) < depth).map(|parent| short(parent)).collect();
            if !parents.is_empty() {
                text.push_str(&parents.join(" › "));
                text.push('\n');
            }
            in_group = true;
        }
        text.push(sign);
        text.push(' ');
        text.push_str(line.trim_start_matches(' '));
        text.push('\n');
        if sign == '+' {
            follow(&mut above, line);
        }
    }
    (text.len() <= new.len() || text.is_empty()).then_some(text)
}

/// Brings the lines that hold the current one up to date with it.
fn follow<'a>(above: &mut Vec<&'a str>, line: &'a str) {
    above.retain(|parent| indent(parent) < indent(line));
    above.push(line);
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn short(line: &str) -> String {
    let line = line.trim_start_matches(' ');
    match line.char_indices().nth(SHOWN_OF_PARENT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "heading 1 \"Shop\"\nmain [e1]\n form [e2]\n  textbox \"Email\" [e3]\n  button \"Buy\" [e4]\nlink \"Help\" [e5]\n";

    #[test]
    fn equal_outlines_have_no_changes() {
        assert_eq!(changes(OLD, OLD).as_deref(), Some(""));
    }

    #[test]
    fn a_change_stands_under_the_lines_that_hold_it() {
        let new = OLD.replace("\"Email\" [e3]", "\"Email\" [e3] = \"a@b.c\"").replace("link", "\"Thanks\"\nlink");
        let expected =
            "main [e1] › form [e2]\n- textbox \"Email\" [e3]\n+ textbox \"Email\" [e3] = \"a@b.c\"\n+ \"Thanks\"\n";
        assert_eq!(changes(OLD, &new).as_deref(), Some(expected));
    }

    #[test]
    fn an_outline_that_is_another_one_is_not_told_as_changes() {
        assert_eq!(changes(OLD, "heading 1 \"Thanks\"\n"), None);
    }
}
