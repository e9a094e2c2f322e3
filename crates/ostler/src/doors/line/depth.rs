//! How deep a piece of JSON is nested.
//!
//! Chromium refuses a message of more than 301 levels, our envelope included, with an error that has
//! no `id`: nobody would learn whose call it was, and the caller would wait until its time is up.

use memchr::memchr2;

/// The most levels of `params`.
pub(super) const MAX_DEPTH: usize = 300;

/// Returns whether valid JSON stays within [`MAX_DEPTH`] levels of objects and arrays.
pub(super) fn is_within_limit(json: &[u8]) -> bool {
    // Each level takes an opening and a closing byte, so most params need no look at all.
    json.len() <= 2 * MAX_DEPTH || deepest(json) <= MAX_DEPTH
}

fn deepest(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while let Some(&byte) = json.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = string_end(json, at + 1),
            _ => {}
        }
        deepest = deepest.max(depth);
        at += 1;
    }
    deepest
}

/// Returns where the string's closing quote stands.
fn string_end(json: &[u8], mut at: usize) -> usize {
    while let Some(found) = json.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if json[at] == b'"' {
            return at;
        }
        at += 2;
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize, inside: &str) -> String {
        format!("{}{inside}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn the_last_level_that_chromium_takes_is_within_the_limit() {
        assert!(is_within_limit(nested(MAX_DEPTH, "").as_bytes()));
        assert!(!is_within_limit(nested(MAX_DEPTH + 1, "").as_bytes()));
    }

    #[test]
    fn brackets_in_strings_and_beside_each_other_are_no_depth() {
        let text = format!(r#"{{"a":"\"{}\\","b":[{}[]]}}"#, "[".repeat(1000), "[],".repeat(1000));
        assert_eq!(deepest(text.as_bytes()), 3);
    }
}
