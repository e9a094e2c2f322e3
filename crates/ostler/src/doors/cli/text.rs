//! Text from the user and for people: JSON given in three ways, times, ages.

use std::fs;
use std::io::{self, Read};
use std::time::Duration;

use serde_json::value::RawValue;

use super::failure::Failure;

/// Reads a JSON argument: the text itself, `@file`, or `-` for standard input. Returns it on one line.
pub(super) fn json_argument(given: &str) -> Result<Box<RawValue>, Failure> {
    let (source, text) = match given {
        "-" => {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            read.map_err(|error| Failure::WrongCall(format!("standard input cannot be read: {error}")))?;
            ("standard input", text)
        }
        _ => match given.strip_prefix('@') {
            Some(file) => {
                let read = fs::read_to_string(file);
                (file, read.map_err(|error| Failure::WrongCall(format!("{file} cannot be read: {error}")))?)
            }
            None => ("the argument", given.to_owned()),
        },
    };
    let wrong = |error| Failure::WrongCall(format!("{source} is no JSON: {error}"));
    serde_json::from_str::<&RawValue>(&text).map_err(wrong)?;
    // A request is one line. Between tokens a blank does as well, and inside a string JSON has no raw line end.
    RawValue::from_string(text.trim().replace(['\n', '\r'], " ")).map_err(wrong)
}

/// Reads a time as it is given in arguments: a number of seconds above 0.
pub(super) fn seconds(given: &str) -> Result<Duration, String> {
    let seconds = given.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "a number of seconds above 0 is needed".to_owned())
}

/// Returns an age as a person says it.
pub(super) fn age(seconds: f64) -> String {
    // Clocks may disagree by a moment; nothing is open for a negative time.
    let seconds = seconds.max(0.0);
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_over_several_lines_becomes_one_line_and_stays_the_same_json() {
        let json = json_argument("{\n  \"a\": \"\\n\\ud800\",\r\n  \"b\": 1\n}\n").expect("JSON");
        assert_eq!(json.get(), "{   \"a\": \"\\n\\ud800\",    \"b\": 1 }");
    }

    #[test]
    fn what_is_no_json_is_a_wrong_call() {
        for given in ["{a:1}", "", "{} {}", "@/nowhere/at/all"] {
            assert!(matches!(json_argument(given), Err(Failure::WrongCall(_))), "{given}");
        }
    }

    #[test]
    fn ages_are_short() {
        for (seconds, text) in [(-0.2, "0.0 s"), (1.25, "1.2 s"), (61.0, "61 s"), (600.0, "10 min"), (90_000.0, "25 h")]
        {
            assert_eq!(age(seconds), text);
        }
    }
}
