//! What a daemon in the background tells the command that started it: one line on its standard output.
//!
//! Without it, the reason of a failed start would be in a log that the person at the terminal never opens.

use std::fmt;

use crate::exit_code::Exit;

/// How a start went.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StartReport {
    /// The socket answers.
    Ready,
    /// Another daemon has the name already: it is the one to talk to.
    Taken,
    /// This daemon cannot run.
    Failed {
        /// What the starting command exits with.
        exit: Exit,
        /// Why, in one sentence.
        why: String,
    },
}

impl StartReport {
    /// Reads the line that the daemon wrote. Anything else means that it ended before it could say a word.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        match line.trim_end().split_once(' ') {
            None if line.starts_with("ready") => Some(Self::Ready),
            None if line.starts_with("taken") => Some(Self::Taken),
            Some(("wrong-call", why)) => Some(Self::Failed { exit: Exit::WrongCall, why: why.to_owned() }),
            Some(("failed", why)) => Some(Self::Failed { exit: Exit::WorkFailed, why: why.to_owned() }),
            _ => None,
        }
    }
}

impl fmt::Display for StartReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Taken => f.write_str("taken"),
            Self::Failed { exit, why } => {
                let word = if *exit == Exit::WrongCall { "wrong-call" } else { "failed" };
                write!(f, "{word} {}", why.replace('\n', " "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_pipe() {
        for report in [
            StartReport::Ready,
            StartReport::Taken,
            StartReport::Failed { exit: Exit::WrongCall, why: "no such key; see the manual".to_owned() },
            StartReport::Failed { exit: Exit::WorkFailed, why: "ready".to_owned() },
        ] {
            assert_eq!(StartReport::parse(&format!("{report}\n")), Some(report));
        }
    }

    #[test]
    fn silence_and_other_words_are_no_report() {
        for line in ["", "\n", "failed", "hello there", "read"] {
            assert_eq!(StartReport::parse(line), None, "{line:?}");
        }
    }
}
