//! What a message repeats of a text that somebody else wrote: enough to know it by, and its length where that is not all.
//!
//! A client can name a frame by a megabyte, and a page can have an address of that length. A model that reads the error
//! should find its next step, and not have its context filled.

use std::fmt;

/// How many characters of a name are repeated, and how many of an address or a path.
const NAME: usize = 100;
const ADDRESS: usize = 300;

/// A text that is written cut where it is long, with a note of its length; with `{:?}` in quotes.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    text: &'a str,
    most: usize,
}

/// Returns a name, or what was given as one, as a message repeats it.
pub fn shown(text: &str) -> Shown<'_> {
    shown_up_to(text, NAME)
}

/// The same of an address or a path.
pub fn shown_address(address: &str) -> Shown<'_> {
    shown_up_to(address, ADDRESS)
}

/// The same of what may take `most` characters.
pub fn shown_up_to(text: &str, most: usize) -> Shown<'_> {
    Shown { text, most }
}

impl Shown<'_> {
    /// Returns what is repeated, and how many characters there are if that is not all.
    fn parts(&self) -> (&str, Option<usize>) {
        match self.text.char_indices().nth(self.most) {
            Some((end, _)) => (&self.text[..end], Some(self.text.chars().count())),
            None => (self.text, None),
        }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (all, None) => f.write_str(all),
            (begin, Some(length)) => write!(f, "{begin}… ({length} characters)"),
        }
    }
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (all, None) => write!(f, "{all:?}"),
            (begin, Some(length)) => write!(f, "{begin:?}… ({length} characters)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character_and_its_length_is_said() {
        let long = "ä".repeat(300);
        assert_eq!(shown("e12").to_string(), "e12");
        assert_eq!(format!("{:?}", shown("a\"b")), r#""a\"b""#);
        assert_eq!(shown_up_to(&long, 2).to_string(), "ää… (300 characters)");
        assert_eq!(format!("{:?}", shown_up_to(&long, 2)), "\"ää\"… (300 characters)");
        assert_eq!(shown(&long).to_string().chars().count(), 100 + "… (300 characters)".chars().count());
    }
}
