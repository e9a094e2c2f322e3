//! A command line that is none: told as the argument parser tells it, and under `--json` as every other error.

use std::ffi::OsStr;

use clap::error::ErrorKind;

use super::failure::Failure;
use crate::exit_code::Exit;

/// Tells what is wrong, or what was asked for: help and the version come by this way too.
pub(super) fn tell(error: &clap::Error) -> Exit {
    let is_wrong = !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_wrong && asks_for_json(std::env::args_os()) {
        return Failure::WrongCall(sentence(&error.to_string())).show(true);
    }
    // Whoever would have read it may have gone.
    let _ = error.print();
    if is_wrong { Exit::WrongCall } else { Exit::Success }
}

/// Looks for the flag where nothing could be parsed. What comes after `--` is no flag of ours.
fn asks_for_json(args: impl Iterator<Item = impl AsRef<OsStr>>) -> bool {
    let mut ours = args.take_while(|arg| arg.as_ref() != "--");
    ours.any(|arg| arg.as_ref() == "--json")
}

/// Makes one sentence of the parser's lines, without the usage that follows them.
fn sentence(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    let said = lines.fold(String::new(), |said, line| match said.as_str() {
        "" => line.trim_start_matches("error: ").to_owned(),
        _ if said.ends_with(':') => format!("{said} {line}"),
        _ => format!("{said}; {line}"),
    });
    format!("{said}; --help says what there is")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Arguments;
    use super::*;

    fn told(args: &[&str]) -> String {
        sentence(&Arguments::try_parse_from(args).expect_err("a wrong call").to_string())
    }

    #[test]
    fn what_the_parser_says_in_paragraphs_is_one_sentence() {
        assert_eq!(
            told(&["ostler", "js"]),
            "the following required arguments were not provided: <EXPR>; --help says what there is"
        );
        assert_eq!(
            told(&["ostler", "connect", "--launhc"]),
            "unexpected argument '--launhc' found; tip: a similar argument exists: '--launch'; --help says what there is"
        );
        let said = told(&["ostler", "connect", "--policy", "sometimes"]);
        assert!(
            said.starts_with("invalid value 'sometimes' for '--policy <POLICY>'; [possible values: must"),
            "{said}"
        );
    }

    #[test]
    fn a_scripts_own_flag_is_not_ours() {
        assert!(asks_for_json(["ostler", "js", "--json"].iter()));
        assert!(!asks_for_json(["ostler", "run", "--", "file", "--json"].iter()));
    }
}
