//! `$OSTLER_HOME`: what is in it is run as Python or holds keys, so nobody else may write there.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::Finding;
use crate::config::Environment;
use crate::daemon::ownership;
use crate::room::nearest;

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let Ok(home) = environment.home() else { return Vec::new() };
    let found = match fs::metadata(&home) {
        Ok(found) if found.is_dir() => found,
        Ok(_) => {
            let problem = Finding::problem(format!("{} is no folder", home.display()));
            return vec![problem.fix("set OSTLER_HOME to a folder, or move what stands there away")];
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(problem) = nearest(&home).and_then(|folder| closed_to_us(folder, &home)) {
                return vec![problem];
            }
            return vec![Finding::ok(format!(
                "{} is not there yet; it is made when something is written there",
                home.display()
            ))];
        }
        Err(error) => {
            let problem = Finding::problem(format!("{} cannot be looked into ({error})", home.display()));
            return vec![problem.fix("make it accessible, or set OSTLER_HOME to a folder that is")];
        }
    };
    if let Some(problem) = closed_to_us(&home, &home) {
        return vec![problem];
    }
    let mut findings: Vec<_> = [PathBuf::new(), "helpers.py".into(), "lib".into(), "config.yaml".into()]
        .iter()
        .filter_map(|name| in_others_hands(&home.join(name)))
        .collect();
    findings.extend(readable_config(&home, &found));
    if findings.is_empty() {
        findings.push(Finding::ok(format!("{} is this user's alone to change", home.display())));
    }
    findings
}

/// Says that this user can write nothing there: no helpers, and so no scripts.
fn closed_to_us(folder: &Path, home: &Path) -> Option<Finding> {
    access(folder, Access::WRITE_OK | Access::EXEC_OK).err().map(|error| {
        let why = io::Error::from(error);
        let problem = Finding::problem(format!("{} cannot be written to ({why}), so no script runs", home.display()));
        problem.fix("make it writable for this user, or set OSTLER_HOME to a folder that is")
    })
}

/// Says that somebody else could change what is run or believed.
fn in_others_hands(path: &Path) -> Option<Finding> {
    let found = fs::metadata(path).ok()?;
    let shown = path.display().to_string();
    let uid = found.uid();
    if uid != ownership::our_uid() && uid != 0 {
        let problem = Finding::problem(format!("{shown} belongs to another user (uid {uid}), who can change it"));
        return Some(problem.fix("make it yours with chown, or set OSTLER_HOME to a folder of your own"));
    }
    let mode = found.mode() & 0o777;
    (mode & 0o022 != 0).then(|| {
        let problem = Finding::problem(format!("other users may write to {shown} (mode {mode:o})"));
        let problem = problem.fix(format!("`ostler doctor --fix`, or `chmod go-w {shown}`"));
        tightened(problem, path, mode & !0o022)
    })
}

/// Says that keys in `config.yaml` could be read by others: the file is open, and the way to it too.
fn readable_config(home: &Path, folder: &Metadata) -> Option<Finding> {
    let path = home.join("config.yaml");
    let mode = fs::metadata(&path).ok()?.mode() & 0o777;
    (mode & 0o044 != 0 && folder.mode() & 0o011 != 0).then(|| {
        let note = Finding::note(format!("other users may read {}, and it may hold keys", path.display()));
        tightened(note.fix(format!("`ostler doctor --fix`, or `chmod 600 {}`", path.display())), &path, 0o600)
    })
}

fn tightened(finding: Finding, path: &Path, mode: u32) -> Finding {
    let path = path.to_owned();
    finding.repair(move || {
        fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(|error| error.to_string())?;
        Ok(format!("{} now has mode {mode:o}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    fn file(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, "").expect("a file");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("our file");
        path
    }

    #[test]
    fn helpers_that_others_may_write_are_closed_and_nothing_else_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = file(folder.path(), "helpers.py", 0o666);
        let fixed = in_others_hands(&path).expect("a problem").repaired();
        assert_eq!(fixed.level, Level::Fixed);
        assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o777, 0o644);
        assert!(in_others_hands(&path).is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_home_that_cannot_be_written_to_is_a_problem_before_it_is_there() {
        let home = Path::new("/proc/self/ostler");
        let problem = nearest(home).and_then(|folder| closed_to_us(folder, home)).expect("nobody writes there");
        assert!(problem.level == Level::Problem && problem.fix.is_some(), "{problem:?}");
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("ostler");
        assert!(nearest(&home).and_then(|folder| closed_to_us(folder, &home)).is_none());
    }

    #[test]
    fn a_config_is_readable_by_others_only_through_an_open_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        file(folder.path(), "config.yaml", 0o644);
        for (mode, noted) in [(0o700, false), (0o755, true)] {
            fs::set_permissions(folder.path(), Permissions::from_mode(mode)).expect("our folder");
            let found = fs::metadata(folder.path()).expect("it is there");
            assert_eq!(readable_config(folder.path(), &found).is_some(), noted, "{mode:o}");
        }
    }
}
