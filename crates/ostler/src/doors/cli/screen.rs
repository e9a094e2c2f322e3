//! What may be written where a person looks, and how wide it is there.
//!
//! A page chooses its title, its URL and the words of its dialogs. On a terminal some characters are no text: they move the
//! cursor, set the window's title or the clipboard, or turn a line around. None of those comes from us.

use std::borrow::Cow;
use std::io::{self, IsTerminal};

use rustix::termios::tcgetwinsize;
use unicode_width::UnicodeWidthChar;

/// Returns the text with what a terminal would act on written out, in the way that JSON does: JSON stays the same JSON.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let written_out = text.chars().fold(String::with_capacity(text.len() + 16), |mut line, c| {
        if acts(c) {
            line.push_str(&format!("\\u{:04x}", u32::from(c)))
        } else {
            line.push(c)
        }
        line
    });
    Cow::Owned(written_out)
}

/// Says whether a terminal acts on the character instead of showing it. Line ends and tabs are part of any text.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || turns(c)
}

/// Says whether the character turns the direction of what follows, or ends a line without being a line end.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text on one line of at most so many columns: what acts is a blank, what is too long is cut.
pub(super) fn one_line(text: &str, columns: usize) -> String {
    let line: String = text.chars().map(|c| if c.is_control() || turns(c) { ' ' } else { c }).collect();
    cut(&line, columns)
}

/// Returns the line cut to so many columns.
pub(super) fn cut(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let kept = line.chars().take_while(|c| {
        let wide = c.width().unwrap_or(0);
        let fits = wide <= left;
        left = left.saturating_sub(wide);
        fits
    });
    let mut kept: String = kept.collect();
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// Returns the line with blanks behind it, up to so many columns.
pub(super) fn padded(line: &str, columns: usize) -> String {
    format!("{line}{}", " ".repeat(columns.saturating_sub(width(line))))
}

/// Returns how many columns a line takes: an ideograph takes two, an accent none.
pub(super) fn width(line: &str) -> usize {
    line.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Returns columns and rows of the terminal that standard output is, if it is one.
pub(super) fn size() -> Option<(usize, usize)> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(stdout).ok().filter(|size| size.ws_col > 0)?;
    Some((size.ws_col.into(), size.ws_row.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What page titles try: colours, the window's title, the clipboard, 8-bit codes, a line that is turned around.
    const HOSTILE: &str =
        "a\x1b[31m\x1b]0;owned\x07\x1b]52;c;eA==\x07\u{9b}2J\r\x08\u{202e}txt.exe\u{2069}\u{2028}z\x7f";

    #[test]
    fn nothing_that_a_terminal_acts_on_is_left() {
        for shown in [harmless(HOSTILE).into_owned(), one_line(HOSTILE, 200)] {
            assert!(!shown.contains(acts), "{shown:?}");
            assert!(shown.starts_with('a') && shown.contains("owned"), "{shown:?}");
        }
        assert_eq!(harmless("é 漢字 \n\t"), "é 漢字 \n\t");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({ "title": HOSTILE });
        let shown = harmless(&value.to_string()).into_owned();
        assert!(!shown.contains(acts));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }

    #[test]
    fn a_line_is_cut_by_columns_and_not_by_characters() {
        assert_eq!(one_line("a\nb\x1b[", 10), "a b [");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("äöüß", 4), "äöüß");
        assert_eq!(cut("漢字漢字", 6), "漢字…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 3), "e\u{301}e\u{301}e\u{301}");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(padded("漢", 4), "漢  ");
    }
}
