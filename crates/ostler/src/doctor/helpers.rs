//! `helpers.py`, which is the agent's to edit: one that Python does not take stops every script.
//!
//! It is compiled and not run: a look must do nothing.

use std::path::Path;
use std::time::Duration;

use super::{Finding, python};
use crate::config::Environment;
use crate::scripts::ScriptHome;

/// Prints what Python says of the file that it is given.
const COMPILE: &str = r#"
import sys
path = sys.argv[1]
try:
    with open(path, "rb") as file:
        compile(file.read(), path, "exec")
    print("good")
except SyntaxError as error:
    print("line", error.lineno, "has the", type(error).__name__ + ":", error.msg)
except ValueError as error:
    print("it is no Python:", error)
"#;

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let Ok(home) = environment.home().map(ScriptHome::new) else { return Vec::new() };
    let edited = match home.helpers() {
        Ok(Some((_, edited))) => edited,
        // The first script writes it.
        Ok(None) => return Vec::new(),
        Err(error) => return vec![Finding::of_error(&error)],
    };
    compiled(&home.helpers_path(), edited, &python::interpreter(environment), python::LIMIT).into_iter().collect()
}

/// An interpreter that says nothing has a check of its own.
fn compiled(path: &Path, edited: bool, python: &Path, limit: Duration) -> Option<Finding> {
    let said = python::evaluate(python, COMPILE, &[path.as_os_str()], limit).ok().flatten()?;
    let shown = path.display();
    if said != "good" {
        let problem = Finding::problem(format!("{shown} does not load, so no script runs: {said}"));
        return Some(problem.fix(
            "repair it (`ostler helpers diff` shows what was edited), or put ours back with `ostler helpers reset`, \
             which keeps it beside them",
        ));
    }
    let whose = if edited { "edited" } else { "as shipped" };
    Some(Finding::ok(format!("{shown} is {whose}, and Python takes it")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::doctor::Level;

    fn judged(text: &str) -> Finding {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("helpers.py");
        fs::write(&path, text).expect("a file");
        compiled(&path, true, Path::new("python3"), Duration::from_secs(60)).expect("python3 says something")
    }

    #[test]
    fn a_syntax_error_is_told_with_its_line_and_nothing_of_the_file_runs() {
        let bad = judged("x = 1\n\ndef broken(:\n    pass\n");
        assert!(bad.level == Level::Problem && bad.what.contains("line 3 has the SyntaxError"), "{bad:?}");
        assert!(bad.fix.is_some_and(|fix| fix.contains("helpers diff") && fix.contains("helpers reset")));
        let bad = judged("def f():\npass\n");
        assert!(bad.what.contains("line 2 has the IndentationError"), "{bad:?}");
        assert_eq!(judged("import sys; sys.exit(3)\n").level, Level::Ok);
    }

    #[test]
    fn without_an_interpreter_there_is_nothing_to_say() {
        let path = Path::new("/nowhere/helpers.py");
        assert!(compiled(path, false, Path::new("/nowhere/python3"), Duration::from_secs(1)).is_none());
    }
}
