//! Text that a page chose, which need not be text at all.
//!
//! JavaScript strings may hold lone surrogates; Chromium writes them as `\ud800`, which is correct
//! JSON but no Unicode. Where bytes pass through they stay as they are; where ostler itself writes
//! the text (messages, titles, addresses) each becomes U+FFFD, as the contract says.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A JSON string, with lone surrogates replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossyText(pub String);

impl<'de> Deserialize<'de> for LossyText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        decode(raw.get()).map(Self).ok_or_else(|| serde::de::Error::custom("not a string"))
    }
}

/// Decodes one JSON string literal, quotes included; `None` if it is none.
pub fn decode(literal: &str) -> Option<String> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1)?;
        rest = &rest[at + 2..];
        match escape {
            b'n' => out.push('\n'),
            b't' => out.push('\t'),
            b'r' => out.push('\r'),
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'u' => {
                let unit = code_unit(rest)?;
                rest = &rest[4..];
                let (character, used) = join_surrogates(unit, rest);
                out.push(character);
                rest = &rest[used..];
            }
            other => out.push(char::from(*other)),
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Reads the four hex digits that `text` starts with.
fn code_unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.get(..4)?, 16).ok()
}

/// Returns the character that `unit` begins, and how many bytes of `rest` belong to it.
fn join_surrogates(unit: u16, rest: &str) -> (char, usize) {
    if let Some(character) = char::from_u32(u32::from(unit)) {
        return (character, 0);
    }
    let low = rest.strip_prefix("\\u").and_then(code_unit);
    match low.and_then(|low| char::decode_utf16([unit, low]).next()?.ok()) {
        Some(character) => (character, 6),
        None => (char::REPLACEMENT_CHARACTER, 0),
    }
}

/// Returns JSON that every reader takes: each lone surrogate is spelt in it, as the six characters of its escape.
pub fn with_lone_surrogates_spelt(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        // Backslashes stand in strings alone, each before what it escapes.
        let end = rest.ceil_char_boundary(at + 2);
        let (before, after) = rest.split_at(end);
        match before.ends_with("\\u").then(|| code_unit(after)).flatten() {
            Some(unit) => {
                let (_, used) = join_surrogates(unit, &after[4..]);
                out.push_str(before);
                if used == 0 && char::from_u32(u32::from(unit)).is_none() {
                    out.insert(out.len() - 1, '\\');
                }
                out.push_str(&after[..4 + used]);
                rest = &after[4 + used..];
            }
            None => {
                out.push_str(before);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Returns `text` cut to at most `max` bytes at a character's border.
pub fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_and_escapes_are_decoded() {
        assert_eq!(decode(r#""plain \u00e4""#).as_deref(), Some("plain ä"));
        assert_eq!(decode(r#""a\"b\\c\/d\n\t\r\b\f""#).as_deref(), Some("a\"b\\c/d\n\t\r\u{8}\u{c}"));
        assert_eq!(decode(r#""\ud83d\udc34!""#).as_deref(), Some("🐴!"));
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        assert_eq!(decode(r#""a\ud800b""#).as_deref(), Some("a\u{fffd}b"));
        assert_eq!(decode(r#""\ud800\ud800""#).as_deref(), Some("\u{fffd}\u{fffd}"));
        assert_eq!(decode(r#""\udc00\ud83d\udc34""#).as_deref(), Some("\u{fffd}🐴"));
    }

    #[test]
    fn json_with_lone_surrogates_spelt_says_the_rest_as_before() {
        for (json, expected) in [
            (r#"{"a":"\ud800","b":["\udc00x"]}"#, r#"{"a":"\\ud800","b":["\\udc00x"]}"#),
            (r#""\ud83d\udc34 \ud83d""#, r#""\ud83d\udc34 \\ud83d""#),
            (r#""\\ud800 \"\u00e4\n\ufffd""#, r#""\\ud800 \"\u00e4\n\ufffd""#),
            ("{}", "{}"),
        ] {
            assert_eq!(with_lone_surrogates_spelt(json), expected);
        }
    }

    #[test]
    fn what_is_no_string_is_refused() {
        for literal in ["12", "null", "\"", "", r#""\u12""#] {
            assert_eq!(decode(literal), None, "{literal}");
        }
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(cut("aä", 2), "a");
        assert_eq!(cut("aä", 3), "aä");
    }
}
