//! Finds an installed browser to launch.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::super::Machine;
use super::super::error::EndpointError;
use crate::plain_file;

/// Commands on the search path, the plainest browser first.
const COMMANDS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "google-chrome-beta",
    "google-chrome-unstable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "brave-browser",
    "vivaldi",
];

/// Longer than the script that stands for a Snap, and far shorter than a program.
const LONGEST_STUB: u64 = 64 << 10;

/// Programs inside macOS application folders.
const APPLICATIONS: &[&str] = &[
    "Chromium.app/Contents/MacOS/Chromium",
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "Google Chrome Canary.app/Contents/MacOS/Google Chrome Canary",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "Brave Browser.app/Contents/MacOS/Brave Browser",
    "Vivaldi.app/Contents/MacOS/Vivaldi",
];

/// Returns the first browser that is installed.
pub(super) fn find(machine: &Machine) -> Result<PathBuf, EndpointError> {
    // An empty entry of PATH means the working folder: nothing is run from there.
    let folders: Vec<_> = std::env::split_paths(&machine.search_path).filter(|folder| folder.is_absolute()).collect();
    let commands = COMMANDS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let applications = [PathBuf::from("/Applications"), machine.home.join("Applications")];
    let applications = applications.iter().flat_map(|folder| APPLICATIONS.iter().map(move |path| folder.join(path)));
    let mut found: Vec<_> = commands.chain(applications).filter(|path| is_executable(path)).collect();
    // The order stays otherwise.
    found.sort_by_key(|path| is_snap(path));
    found.into_iter().next().ok_or_else(|| EndpointError::NoExecutable {
        looked_for: format!("{} on PATH, and in the Applications folders", COMMANDS.join(", ")),
    })
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Says whether a command is a Snap, or the script that Ubuntu has in the place of one: that starts it, or says that it is
/// not installed. A Snap sees no folder of ours, so it is the last choice.
fn is_snap(path: &Path) -> bool {
    let leads_to_snap = path.canonicalize().is_ok_and(|program| program.ends_with("bin/snap"));
    let is_stub = || {
        let script = plain_file::read(path, LONGEST_STUB).unwrap_or_default();
        script.starts_with(b"#!") && String::from_utf8_lossy(&script).contains("/snap/bin/")
    };
    leads_to_snap || is_stub()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::super::devtools_port::tests::machine;
    use super::*;

    fn install(folder: &Path, name: &str, mode: u32) -> PathBuf {
        fs::create_dir_all(folder).expect("a folder");
        let path = folder.join(name);
        fs::write(&path, "").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        path
    }

    #[test]
    fn the_plainest_executable_browser_on_the_path_is_taken() {
        let home = tempfile::tempdir().expect("a folder");
        let (first, second) = (home.path().join("a"), home.path().join("b"));
        install(&first, "chromium", 0o644);
        install(&first, "google-chrome", 0o755);
        let chromium = install(&second, "chromium", 0o755);
        let mut machine = machine(home.path());
        machine.search_path = std::env::join_paths([&first, &second]).expect("a path");
        assert_eq!(find(&machine).expect("installed"), chromium);
    }

    #[test]
    fn a_snap_is_taken_only_where_there_is_nothing_else() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("bin");
        let stub = install(&folder, "chromium-browser", 0o755);
        fs::write(&stub, "#!/bin/sh\nif ! [ -x /snap/bin/chromium ]; then exit 1; fi\n").expect("a script");
        let mut machine = machine(home.path());
        machine.search_path = folder.clone().into();
        assert_eq!(find(&machine).expect("installed"), stub);
        let snap = install(&home.path().join("usr/bin"), "snap", 0o755);
        std::os::unix::fs::symlink(snap, folder.join("chromium")).expect("a link");
        let chrome = install(&folder, "google-chrome", 0o755);
        assert_eq!(find(&machine).expect("installed"), chrome);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_installed_says_what_was_looked_for() {
        let home = tempfile::tempdir().expect("a folder");
        let error = find(&machine(home.path())).expect_err("nothing is installed");
        assert!(error.to_string().contains("google-chrome-stable"), "{error}");
        assert!(!error.may_pass());
    }
}
