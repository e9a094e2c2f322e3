//! The runtime folder with the daemon's socket, pid file and log: who else can reach them.

use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::Finding;
use crate::config::Environment;
use crate::daemon::ownership::{self, Expected};
use crate::paths::Paths;

/// Write for group or others, and the bit that keeps them from removing what is not theirs.
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let Ok(paths) = environment.paths() else { return Vec::new() };
    let folder = paths.socket.parent().unwrap_or(Path::new("/"));
    if let Some(problem) = folder_problem(folder) {
        return vec![problem];
    }
    let mut findings = file_problems(&paths);
    if findings.is_empty() {
        findings.push(Finding::ok(format!("{}: socket, pid file and log are this user's alone", folder.display())));
    }
    findings
}

/// Says why the folder cannot hold a daemon's files, or not safely.
fn folder_problem(folder: &Path) -> Option<Finding> {
    let shown = folder.display();
    let found = match fs::metadata(folder) {
        Ok(found) if found.is_dir() => found,
        Ok(_) => {
            let problem = Finding::problem(format!("{shown} is no folder, so no daemon can put its socket there"));
            return Some(problem.fix("set BH_RUNTIME_DIR to a folder, or unset it"));
        }
        Err(error) => {
            let problem = Finding::problem(format!("the runtime folder {shown} cannot be used ({error})"));
            return Some(problem.fix(format!("create it (`mkdir -m 700 {shown}`), or unset BH_RUNTIME_DIR")));
        }
    };
    if access(folder, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let problem = Finding::problem(format!("this user may not write to the runtime folder {shown}"));
        return Some(problem.fix("set BH_RUNTIME_DIR to a folder of your own"));
    }
    if let Some(problem) = owner_problem(folder, found.uid(), found.mode()) {
        return Some(problem);
    }
    (found.mode() & OTHERS_WRITE != 0 && found.mode() & STICKY == 0).then(|| {
        let problem = Finding::problem(format!("others can replace what is in the runtime folder {shown}"));
        problem.fix(format!("`chmod go-w {shown}`, or `chmod +t {shown}` if it is meant for all"))
    })
}

/// Says that whose folder it is can replace what is in it. Root may anyhow.
fn owner_problem(folder: &Path, uid: u32, mode: u32) -> Option<Finding> {
    (uid != ownership::our_uid() && uid != 0 && mode & STICKY == 0).then(|| {
        let shown = folder.display();
        let whose =
            format!("the runtime folder {shown} belongs to another user (uid {uid}), who can replace what is in it");
        Finding::problem(whose).fix("set BH_RUNTIME_DIR to a folder of your own")
    })
}

fn file_problems(paths: &Paths) -> Vec<Finding> {
    let expected = [(&paths.socket, Expected::Socket), (&paths.pid_file, Expected::File), (&paths.log, Expected::File)];
    let problem = |(path, expected): (&PathBuf, Expected)| match ownership::look(path, expected) {
        Ok(found) => found.and_then(|found| open_to_others(path, &found)),
        Err(refused) => Some(Finding::of_error(&refused)),
    };
    expected.into_iter().filter_map(problem).collect()
}

fn open_to_others(path: &Path, found: &Metadata) -> Option<Finding> {
    let mode = found.mode() & 0o777;
    if mode & 0o077 == 0 {
        return None;
    }
    let shown = path.display().to_string();
    let path = path.to_owned();
    let problem = Finding::problem(format!("{shown} is open to other users (mode {mode:o})"));
    Some(problem.fix(format!("`ostler doctor --fix`, or `chmod 600 {shown}`")).repair(move || {
        fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(|error| error.to_string())?;
        Ok(format!("closed {shown} to other users"))
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::doctor::Level;

    fn with_mode(mode: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).expect("our folder");
        folder
    }

    #[test]
    fn a_folder_is_good_if_others_cannot_replace_what_is_in_it() {
        for (mode, good) in [(0o700, true), (0o755, true), (0o1777, true), (0o777, false), (0o770, false)] {
            let problem = folder_problem(with_mode(mode).path());
            assert_eq!(problem.is_none(), good, "{mode:o}: {problem:?}");
        }
    }

    #[test]
    fn a_folder_of_another_user_is_a_problem_unless_it_is_sticky() {
        let ours = ownership::our_uid();
        for (uid, mode, good) in
            [(ours + 1, 0o755, false), (ours + 1, 0o1777, true), (0, 0o755, true), (ours, 0o755, true)]
        {
            assert_eq!(owner_problem(Path::new("/run/x"), uid, mode).is_none(), good, "{uid} {mode:o}");
        }
    }

    #[test]
    fn a_folder_that_is_missing_or_none_says_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder_problem(&folder.path().join("none")).expect("a problem");
        assert!(missing.fix.expect("a fix").contains("mkdir -m 700"));
        let file = folder.path().join("file");
        fs::write(&file, "").expect("a file");
        assert!(folder_problem(&file).expect("a problem").what.contains("no folder"));
    }

    #[test]
    fn a_socket_that_others_can_reach_is_closed_to_them() {
        let folder = with_mode(0o700);
        let paths = Paths::new("t", folder.path()).expect("a good name");
        let _listener = UnixListener::bind(&paths.socket).expect("a free path");
        fs::set_permissions(&paths.socket, Permissions::from_mode(0o666)).expect("our socket");
        let mut findings = file_problems(&paths);
        let fixed = findings.pop().expect("a problem").repaired();
        assert!(findings.is_empty() && fixed.level == Level::Fixed, "{fixed:?}");
        assert_eq!(fs::metadata(&paths.socket).expect("it is there").mode() & 0o777, 0o600);
        assert!(file_problems(&paths).is_empty());
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_a_problem_with_a_way_out() {
        let folder = with_mode(0o700);
        let paths = Paths::new("t", folder.path()).expect("a good name");
        std::os::unix::fs::symlink("/etc/passwd", &paths.log).expect("a link");
        let problem = file_problems(&paths).pop().expect("a problem");
        assert!(problem.what.contains("a symbolic link") && !problem.is_repairable(), "{problem:?}");
        assert!(problem.fix.expect("a fix").contains("BH_RUNTIME_DIR"));
    }
}
