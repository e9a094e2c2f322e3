//! Keys and chords: from what an agent writes, such as `Control+a`, to what the browser is sent.

use ostler_core::CallError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meta::value::{bad, shown};

/// A key that is held while another one, or the mouse, is used.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
pub(in crate::tools) enum Modifier {
    Alt,
    Control,
    Meta,
    Shift,
}

/// The keyboard that the browser's system has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::tools) enum Platform {
    /// Shortcuts are pressed with Meta, and the system turns some of them into editing commands.
    Mac,
    /// Shortcuts are pressed with Control.
    Other,
}

/// One key going down, in the spelling of `Input.dispatchKeyEvent`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Stroke {
    pub(in crate::tools) key: String,
    pub(in crate::tools) code: &'static str,
    pub(in crate::tools) windows_virtual_key_code: u32,
    pub(in crate::tools) modifiers: u8,
    /// What it types; empty for a key that types nothing, or not now.
    pub(in crate::tools) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::tools) commands: Option<[&'static str; 1]>,
}

impl Modifier {
    fn bit(self) -> u8 {
        match self {
            Self::Alt => 1,
            Self::Control => 2,
            Self::Meta => 4,
            Self::Shift => 8,
        }
    }

    /// Returns CDP's number for these keys together.
    pub(in crate::tools) fn bits(held: &[Self]) -> u8 {
        held.iter().fold(0, |bits, modifier| bits | modifier.bit())
    }
}

const ALT: u8 = 1;
const CONTROL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;

/// The shortcuts that every system has, each with its own key: what a Control or Meta with one of these letters means
/// does not depend on which system the agent had in mind. With them the name of the editing command, which nobody but
/// us gives a page on macOS.
const SHORTCUTS: &[(&str, &str)] =
    &[("a", "selectAll"), ("c", "copy"), ("v", "paste"), ("x", "cut"), ("y", "redo"), ("z", "undo")];

/// Reads a key or a chord.
pub(in crate::tools) fn chord(given: &str, platform: Platform) -> Result<Stroke, CallError> {
    // The last character is never a separator: `Control++` presses +.
    let last = given.char_indices().next_back().map_or(0, |(at, _)| at);
    let (held, key) = match given[..last].rfind('+') {
        Some(at) => (&given[..at], &given[at + 1..]),
        None => ("", given),
    };
    let mut modifiers = 0;
    for name in held.split('+').filter(|_| !held.is_empty()) {
        modifiers |= modifier(name, platform)
            .ok_or_else(|| bad("key", format!("{:?} in {:?} is no modifier; {KNOWN}", shown(name), shown(given))))?;
    }
    let key = key_name(key);
    if let Some(stroke) = beyond_the_keyboard(key, modifiers) {
        return Ok(stroke);
    }
    if platform == Platform::Mac && modifiers & CONTROL != 0 && is_shortcut(key)
        || platform == Platform::Other && modifiers & META != 0 && is_shortcut(key)
    {
        modifiers = modifiers & !(CONTROL | META) | shortcut_key(platform);
    }
    stroke(key, modifiers, platform).ok_or_else(|| bad("key", format!("there is no key {:?}; {KNOWN}", shown(given))))
}

const KNOWN: &str = "write one character or a name such as Enter, Tab, Escape, Backspace, Delete, ArrowDown, Home, \
                     PageUp or F5, after Control+, Shift+, Alt+, Meta+ or ControlOrMeta+ where they are held; \
                     browser_type puts in text";

/// Returns the stroke of a character that no key of a US keyboard has, as é or 中: pages get it as they would from a
/// keyboard that has it, without a code that would be another key's.
fn beyond_the_keyboard(key: &str, modifiers: u8) -> Option<Stroke> {
    let mut characters = key.chars();
    let (character, None) = (characters.next()?, characters.next()) else { return None };
    if character.is_ascii() || character.is_control() {
        return None;
    }
    let text = if modifiers & (ALT | CONTROL | META) == 0 { key } else { "" };
    Some(Stroke {
        key: key.to_owned(),
        code: "",
        windows_virtual_key_code: 0,
        modifiers,
        text: text.to_owned(),
        commands: None,
    })
}

/// Returns the key that types a character; `None` if there is none, as for é or 中 on a US keyboard.
pub(in crate::tools) fn typing(character: char) -> Option<Stroke> {
    stroke(character.encode_utf8(&mut [0; 4]), 0, Platform::Other)
}

fn modifier(name: &str, platform: Platform) -> Option<u8> {
    Some(match name.to_ascii_lowercase().as_str() {
        "alt" | "option" => ALT,
        "control" | "ctrl" => CONTROL,
        "meta" | "cmd" | "command" | "super" | "win" => META,
        "shift" => SHIFT,
        "controlormeta" | "cmdorctrl" | "mod" => shortcut_key(platform),
        _ => return None,
    })
}

fn shortcut_key(platform: Platform) -> u8 {
    match platform {
        Platform::Mac => META,
        Platform::Other => CONTROL,
    }
}

fn is_shortcut(key: &str) -> bool {
    SHORTCUTS.iter().any(|(letter, _)| letter.eq_ignore_ascii_case(key))
}

/// Returns the name that pages know a key by.
fn key_name(given: &str) -> &str {
    match given {
        "Esc" => "Escape",
        "Return" | "\r" | "\n" => "Enter",
        "\t" => "Tab",
        "Space" | "Spacebar" => " ",
        "Del" => "Delete",
        "Ins" => "Insert",
        "Left" => "ArrowLeft",
        "Up" => "ArrowUp",
        "Right" => "ArrowRight",
        "Down" => "ArrowDown",
        "PgUp" => "PageUp",
        "PgDn" => "PageDown",
        "Plus" => "+",
        "Ctrl" => "Control",
        "Cmd" | "Command" => "Meta",
        other => other,
    }
}

/// Returns what pressing a key sends.
fn stroke(key: &str, mut modifiers: u8, platform: Platform) -> Option<Stroke> {
    let Physical { code, number, plain, shifted } = physical(key)?;
    let by_shortcut = modifiers & (ALT | CONTROL | META) != 0;
    let is_character = plain.chars().count() == 1;
    if is_character && key == shifted && key != plain && !by_shortcut {
        modifiers |= SHIFT;
    }
    let shown = if is_character && modifiers & SHIFT != 0 { shifted } else { plain };
    let text = match shown {
        _ if by_shortcut => "",
        "Enter" => "\r",
        shown if is_character => shown,
        _ => "",
    };
    let mac = platform == Platform::Mac && modifiers & META != 0;
    let command = SHORTCUTS.iter().find(|(letter, _)| mac && *letter == plain).map(|(_, command)| [*command]);
    Some(Stroke {
        key: shown.to_owned(),
        code,
        windows_virtual_key_code: number,
        modifiers,
        text: text.to_owned(),
        commands: command,
    })
}

/// A key of a US keyboard: its code, its Windows number, and what it is called, or types, without and with Shift.
struct Physical {
    code: &'static str,
    number: u32,
    plain: &'static str,
    shifted: &'static str,
}

fn physical(key: &str) -> Option<Physical> {
    let named = NAMED.iter().find(|(name, ..)| name.eq_ignore_ascii_case(key));
    if let Some((name, code, number)) = named {
        return Some(Physical { code, number: *number, plain: name, shifted: name });
    }
    let typing = TYPING.iter().find(|(plain, shifted, ..)| *plain == key || *shifted == key);
    typing.map(|(plain, shifted, code, number)| Physical { code, number: *number, plain, shifted })
}

/// Keys that have a name.
const NAMED: &[(&str, &str, u32)] = &[
    ("Enter", "Enter", 13),
    ("Tab", "Tab", 9),
    ("Backspace", "Backspace", 8),
    ("Escape", "Escape", 27),
    ("Delete", "Delete", 46),
    ("Insert", "Insert", 45),
    ("Home", "Home", 36),
    ("End", "End", 35),
    ("PageUp", "PageUp", 33),
    ("PageDown", "PageDown", 34),
    ("ArrowLeft", "ArrowLeft", 37),
    ("ArrowUp", "ArrowUp", 38),
    ("ArrowRight", "ArrowRight", 39),
    ("ArrowDown", "ArrowDown", 40),
    ("Shift", "ShiftLeft", 16),
    ("Control", "ControlLeft", 17),
    ("Alt", "AltLeft", 18),
    ("Meta", "MetaLeft", 91),
    ("ContextMenu", "ContextMenu", 93),
    ("F1", "F1", 112),
    ("F2", "F2", 113),
    ("F3", "F3", 114),
    ("F4", "F4", 115),
    ("F5", "F5", 116),
    ("F6", "F6", 117),
    ("F7", "F7", 118),
    ("F8", "F8", 119),
    ("F9", "F9", 120),
    ("F10", "F10", 121),
    ("F11", "F11", 122),
    ("F12", "F12", 123),
];

/// Keys that type: without Shift, with it, code, number.
const TYPING: &[(&str, &str, &str, u32)] = &[
    (" ", " ", "Space", 32),
    ("a", "A", "KeyA", 65),
    ("b", "B", "KeyB", 66),
    ("c", "C", "KeyC", 67),
    ("d", "D", "KeyD", 68),
    ("e", "E", "KeyE", 69),
    ("f", "F", "KeyF", 70),
    ("g", "G", "KeyG", 71),
    ("h", "H", "KeyH", 72),
    ("i", "I", "KeyI", 73),
    ("j", "J", "KeyJ", 74),
    ("k", "K", "KeyK", 75),
    ("l", "L", "KeyL", 76),
    ("m", "M", "KeyM", 77),
    ("n", "N", "KeyN", 78),
    ("o", "O", "KeyO", 79),
    ("p", "P", "KeyP", 80),
    ("q", "Q", "KeyQ", 81),
    ("r", "R", "KeyR", 82),
    ("s", "S", "KeyS", 83),
    ("t", "T", "KeyT", 84),
    ("u", "U", "KeyU", 85),
    ("v", "V", "KeyV", 86),
    ("w", "W", "KeyW", 87),
    ("x", "X", "KeyX", 88),
    ("y", "Y", "KeyY", 89),
    ("z", "Z", "KeyZ", 90),
    ("0", ")", "Digit0", 48),
    ("1", "!", "Digit1", 49),
    ("2", "@", "Digit2", 50),
    ("3", "#", "Digit3", 51),
    ("4", "$", "Digit4", 52),
    ("5", "%", "Digit5", 53),
    ("6", "^", "Digit6", 54),
    ("7", "&", "Digit7", 55),
    ("8", "*", "Digit8", 56),
    ("9", "(", "Digit9", 57),
    ("`", "~", "Backquote", 192),
    ("-", "_", "Minus", 189),
    ("=", "+", "Equal", 187),
    ("[", "{", "BracketLeft", 219),
    ("]", "}", "BracketRight", 221),
    ("\\", "|", "Backslash", 220),
    (";", ":", "Semicolon", 186),
    ("'", "\"", "Quote", 222),
    (",", "<", "Comma", 188),
    (".", ">", "Period", 190),
    ("/", "?", "Slash", 191),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(given: &str, platform: Platform) -> (String, &'static str, u8, String) {
        let stroke = chord(given, platform).expect("a key");
        (stroke.key, stroke.code, stroke.modifiers, stroke.text)
    }

    fn key(key: &str, code: &'static str, modifiers: u8, text: &str) -> (String, &'static str, u8, String) {
        (key.to_owned(), code, modifiers, text.to_owned())
    }

    #[test]
    fn keys_type_what_they_say() {
        for (given, expected) in [
            ("a", key("a", "KeyA", 0, "a")),
            ("A", key("A", "KeyA", SHIFT, "A")),
            ("Shift+a", key("A", "KeyA", SHIFT, "A")),
            ("+", key("+", "Equal", SHIFT, "+")),
            ("?", key("?", "Slash", SHIFT, "?")),
            ("Space", key(" ", "Space", 0, " ")),
            ("Enter", key("Enter", "Enter", 0, "\r")),
            ("Esc", key("Escape", "Escape", 0, "")),
            ("Shift+Tab", key("Tab", "Tab", SHIFT, "")),
            ("Control+Shift+ArrowLeft", key("ArrowLeft", "ArrowLeft", CONTROL | SHIFT, "")),
            ("Control++", key("=", "Equal", CONTROL, "")),
            ("é", key("é", "", 0, "é")),
            ("Control+é", key("é", "", CONTROL, "")),
            ("中", key("中", "", 0, "中")),
        ] {
            assert_eq!(pressed(given, Platform::Other), expected, "{given}");
        }
    }

    #[test]
    fn a_shortcut_is_pressed_with_the_key_that_the_browsers_system_has_for_it() {
        for given in ["Control+a", "Meta+a", "Cmd+A", "ControlOrMeta+a", "ctrl+a"] {
            assert_eq!(pressed(given, Platform::Other), key("a", "KeyA", CONTROL, ""), "{given}");
            let stroke = chord(given, Platform::Mac).expect("a key");
            assert_eq!((stroke.modifiers, stroke.commands), (META, Some(["selectAll"])), "{given}");
        }
        let kept = chord("Control+e", Platform::Mac).expect("a key");
        assert_eq!((kept.modifiers, kept.commands), (CONTROL, None), "what is no common shortcut stays as written");
        assert_eq!(chord("Meta+Shift+z", Platform::Other).expect("a key").modifiers, CONTROL | SHIFT);
    }

    #[test]
    fn what_is_no_key_is_refused_with_what_is_one() {
        for given in ["", "Retrun", "Hyper+a", "naïve"] {
            let error = chord(given, Platform::Other).expect_err(given).to_string();
            assert!(error.contains("Enter, Tab, Escape"), "{error}");
        }
        assert!(typing('é').is_none());
    }
}
