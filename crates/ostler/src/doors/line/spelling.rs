//! Tells a field that is misspelt from one that is none of ours.
//!
//! A request says where it goes, and how, in its fields: a `sessionId` or a `task_id` that is passed over lets a call land
//! in the current tab of the default task, and nobody learns of it. Other unknown fields are ignored all the same: the
//! published clients send some, and the command of a newer version speaks to the daemon of an older one.

/// Every field of a request, those of `meta` requests too: one that is the other's name by a letter is no misspelling.
const FIELDS: &[&str] = &[
    "id",
    "method",
    "meta",
    "params",
    "session_id",
    "frame_id",
    "target_id",
    "task",
    "timeout_ms",
    "on_dialog",
    "words",
    "since",
    "limit",
    "methods",
    "action",
    "prompt_text",
    "dialog_id",
    "cdp_url",
    "browser",
    "profile",
    "launch",
    "cloud",
    "dialog_policy",
    "dialog_timeout_s",
    "dialog_bridge",
    "quiet",
    "name",
    "args",
    "unlike",
    "seen",
    "wait_ms",
    "ask_browser_ms",
    "fresh",
];

/// What people write who have another protocol in mind, without case and separators.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("taskid", "task"),
    ("taskname", "task"),
    ("session", "session_id"),
    ("frame", "frame_id"),
    ("target", "target_id"),
    ("tabid", "target_id"),
    ("timeout", "timeout_ms"),
    ("timeouts", "timeout_ms"),
    ("parameters", "params"),
    ("arguments", "args"),
];

/// The shortest name of which one letter more or less is a misspelling rather than another word.
const LONG: usize = 5;

/// Returns how a field is spelt here, if it is one of ours in another spelling.
pub(super) fn ours(field: &str) -> Option<&'static str> {
    if FIELDS.contains(&field) {
        return None;
    }
    let plain = plain(field);
    let named = OTHER_NAMES.iter().find(|(name, _)| *name == plain).map(|(_, ours)| *ours);
    let same = || FIELDS.iter().find(|ours| self::plain(ours) == plain).copied();
    let near = || FIELDS.iter().find(|ours| ours.len() >= LONG && is_near(ours.as_bytes(), field.as_bytes())).copied();
    named.or_else(same).or_else(near)
}

fn plain(field: &str) -> String {
    field.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Says whether one letter more, less or other makes one of the other, or two that changed places.
fn is_near(one: &[u8], other: &[u8]) -> bool {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[same..], &other[same..]);
    match (one, other) {
        ([_, one @ ..], [_, other @ ..]) if one == other => true,
        ([a, b, one @ ..], [c, d, other @ ..]) if (a, b) == (d, c) && one == other => true,
        ([_, one @ ..], other) if one == other => true,
        (one, [_, other @ ..]) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_case_a_slip_and_another_protocols_name_are_misspellings() {
        for (written, is) in [
            ("sessionId", "session_id"),
            ("sessionID", "session_id"),
            ("Task", "task"),
            ("task_id", "task"),
            ("timeout", "timeout_ms"),
            ("timeoutMs", "timeout_ms"),
            ("param", "params"),
            ("parms", "params"),
            ("parmas", "params"),
            ("on_dialgo", "on_dialog"),
            ("dialog_polcy", "dialog_policy"),
            ("prompt_txt", "prompt_text"),
        ] {
            assert_eq!(ours(written), Some(is), "{written}");
        }
    }

    #[test]
    fn our_own_fields_and_those_of_other_programs_are_none() {
        for field in
            FIELDS.iter().chain(&["token", "jsonrpc", "version", "client", "trace", "x", "", "comment", "tags"])
        {
            assert_eq!(ours(field), None, "{field}");
        }
    }
}
