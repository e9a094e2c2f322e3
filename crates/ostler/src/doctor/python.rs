//! The Python that scripts run under: whether it starts, and whether it is new enough.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Finding;
use crate::config::{Environment, SECRET_VARIABLES};

/// The oldest version that the helpers are written for.
const OLDEST: (u32, u32) = (3, 8);
/// How long it may take to tell its version.
pub(super) const LIMIT: Duration = Duration::from_secs(8);
/// The most that is read of what it says.
const MOST_SAID: u64 = 300;
/// How often to look whether it has.
const STEP: Duration = Duration::from_millis(10);

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let program = interpreter(environment);
    vec![judge(&program, version(&program, LIMIT))]
}

/// Returns what scripts run under.
pub(super) fn interpreter(environment: &Environment) -> PathBuf {
    environment.python().unwrap_or_else(|| "python3".into())
}

fn judge(program: &Path, version: io::Result<Option<String>>) -> Finding {
    let shown = program.display();
    let without = "`ostler cdp`, `ostler js` and `ostler tool` work without it";
    let version = match version {
        Ok(Some(version)) => version,
        Ok(None) => {
            let problem = Finding::problem(format!("{shown} does not tell its version, so scripts may not run"));
            return problem.fix(format!("name a working interpreter in OSTLER_PYTHON; {without}"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && program.components().count() == 1 => {
            let problem = Finding::problem(format!("there is no {shown} on PATH, so scripts cannot run"));
            return problem.fix(format!("install python3, or name an interpreter in OSTLER_PYTHON; {without}"));
        }
        Err(error) => {
            let problem = Finding::problem(format!("{shown} does not start ({error}), so scripts cannot run"));
            return problem.fix(format!("install python3, or name an interpreter in OSTLER_PYTHON; {without}"));
        }
    };
    if parse(&version).is_none_or(|version| version < OLDEST) {
        let (major, minor) = OLDEST;
        let problem =
            Finding::problem(format!("{shown} is version {version}, and scripts need {major}.{minor} or newer"));
        return problem.fix("install a newer python3, or name one in OSTLER_PYTHON");
    }
    Finding::ok(format!("{shown} {version}"))
}

fn parse(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

/// Asks an interpreter for its version. None if it does not say one in time.
fn version(program: &Path, limit: Duration) -> io::Result<Option<String>> {
    evaluate(program, "import sys; print('.'.join(map(str, sys.version_info[:3])))", &[], limit)
}

/// Has an interpreter run a script of ours, and returns what that prints. None if it fails or does not end in time.
pub(super) fn evaluate(
    program: &Path,
    script: &str,
    arguments: &[&OsStr],
    limit: Duration,
) -> io::Result<Option<String>> {
    let mut command = Command::new(program);
    // Isolated: no code of the user's runs, and none in the folder that this happens to be.
    command.args(["-I", "-S", "-c", script]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    for secret in SECRET_VARIABLES {
        command.env_remove(secret);
    }
    let mut child = command.spawn()?;
    let until = Instant::now() + limit;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() < until => thread::sleep(STEP),
            None => {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
        }
    };
    let mut said = Vec::new();
    // It has ended; a child of its own that holds the pipe open has no part in this.
    if status.success()
        && let Some(pipe) = child.stdout.take()
    {
        pipe.take(MOST_SAID).read_to_end(&mut said)?;
    }
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    Ok((!said.is_empty()).then_some(said))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::doctor::Level;

    /// An interpreter that does what the shell says.
    fn asked(script: &str) -> Finding {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("python3");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
        fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("our file");
        judge(&path, version(&path, Duration::from_millis(500)))
    }

    #[test]
    fn the_version_decides() {
        for (version, good) in [("3.8.0", true), ("3.13.1", true), ("4.0.0", true), ("3.7.9", false), ("2.7.18", false)]
        {
            let finding = judge(Path::new("python3"), Ok(Some(version.to_owned())));
            assert_eq!(finding.level == Level::Ok, good, "{finding:?}");
        }
    }

    #[test]
    fn one_that_fails_says_nonsense_or_never_ends_is_a_problem_with_a_fix() {
        for script in ["exit 1", "echo hello", "exec sleep 60"] {
            let finding = asked(script);
            assert!(finding.level == Level::Problem && finding.fix.is_some(), "{script}: {finding:?}");
        }
        let missing = Path::new("/nowhere/python3");
        let finding = judge(missing, version(missing, LIMIT));
        assert!(finding.what.starts_with("/nowhere/python3 does not start"), "{finding:?}");
        let missing = Path::new("python-that-nobody-has");
        let finding = judge(missing, version(missing, LIMIT));
        assert!(finding.what.starts_with("there is no python-that-nobody-has on PATH"), "{finding:?}");
    }
}
