//! Reads `DevToolsActivePort`: the note in its profile folder where a browser says how to reach it.
//!
//! The note outlives a browser that crashed, so it is a claim to be checked, never a fact.

use std::collections::HashSet;
use std::path::Path;
use std::time::SystemTime;

use super::Machine;
use super::profiles::{self, Profile};
use crate::plain_file;

/// Two short lines; whatever is longer is no note of a browser's.
const MAX_LENGTH: u64 = 512;

/// What one profile folder claims.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) profile: Profile,
    pub(super) port: u16,
    /// `/devtools/browser/<uuid>`
    pub(super) path: String,
    pub(super) written: SystemTime,
}

/// Returns what the known profile folders claim, the newest claim first.
pub(super) fn recorded(machine: &Machine) -> Vec<Recorded> {
    of_profiles(profiles::known(machine))
}

/// Returns what these profile folders claim, the newest claim first. A folder that two of them lead to counts once.
pub(super) fn of_profiles(profiles: impl IntoIterator<Item = Profile>) -> Vec<Recorded> {
    let mut folders = HashSet::new();
    let mut found: Vec<_> = profiles
        .into_iter()
        .filter_map(|profile| {
            let (note, written) = read(&profile.folder)?;
            let (port, path) = parse(&note)?;
            let folder = profile.folder.canonicalize().ok()?;
            folders.insert(folder).then_some(Recorded { profile, port, path, written })
        })
        .collect();
    found.sort_by_key(|recorded| std::cmp::Reverse(recorded.written));
    found
}

/// Returns port and path once the browser of this profile has written them completely.
pub(super) fn of_profile(folder: &Path) -> Option<(u16, String)> {
    read(folder).and_then(|(note, _)| parse(&note))
}

fn read(folder: &Path) -> Option<(String, SystemTime)> {
    let file = plain_file::open(&folder.join("DevToolsActivePort")).ok()?;
    let written = file.metadata().and_then(|metadata| metadata.modified()).ok()?;
    let note = String::from_utf8(plain_file::read_open(file, MAX_LENGTH).ok()?).ok()?;
    Some((note, written))
}

fn parse(note: &str) -> Option<(u16, String)> {
    let mut lines = note.lines();
    let port = lines.next()?.trim().parse().ok().filter(|port| *port != 0)?;
    let path = lines.next()?.trim();
    // A half-written note has a path too short to hold an id.
    let id = path.strip_prefix("/devtools/browser/")?;
    (!id.is_empty() && !id.contains(char::is_whitespace)).then(|| (port, path.to_owned()))
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    pub(in crate::endpoint) fn machine(home: &Path) -> Machine {
        Machine {
            home: home.to_owned(),
            config_home: None,
            search_path: "".into(),
            temp: home.to_owned(),
            host: None,
            has_display: true,
        }
    }

    /// Writes a note into a profile folder below `home` and returns the folder.
    pub(in crate::endpoint) fn record(home: &Path, profile: &str, note: &str) -> PathBuf {
        let folder = home.join(profile);
        std::fs::create_dir_all(&folder).expect("a profile folder");
        std::fs::write(folder.join("DevToolsActivePort"), note).expect("a note");
        folder
    }

    #[test]
    fn a_note_is_a_port_and_a_browser_path() {
        let path = "/devtools/browser/a9635ae0-deed".to_owned();
        assert_eq!(parse("38177\n/devtools/browser/a9635ae0-deed"), Some((38177, path.clone())));
        assert_eq!(parse("38177\r\n/devtools/browser/a9635ae0-deed\r\n"), Some((38177, path)));
        for note in [
            "",
            "38177",
            "38177\n",
            "38177\n/devtools/br",
            "38177\n/devtools/browser/",
            "0\n/devtools/browser/1",
            "99999\n/devtools/browser/1",
            "-1\n/devtools/browser/1",
            "38177\n//evil.example/devtools/browser/1",
            "38177\n/devtools/browser/1 2",
            "\n38177\n/devtools/browser/1",
        ] {
            assert_eq!(parse(note), None, "{note:?}");
        }
    }

    #[test]
    fn the_newest_note_comes_first_and_unreadable_ones_are_passed_over() {
        let home = tempfile::tempdir().expect("a folder");
        for (profile, port, age) in
            [(".config/chromium", 1, 30), (".config/google-chrome", 2, 10), ("snap/chromium/common/chromium", 3, 20)]
        {
            let folder = record(home.path(), profile, &format!("{port}\n/devtools/browser/x"));
            let note = std::fs::File::options().write(true).open(folder.join("DevToolsActivePort")).expect("the note");
            note.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("an age");
        }
        record(home.path(), ".config/vivaldi", "garbage");
        std::fs::create_dir_all(home.path().join(".config/opera/DevToolsActivePort")).expect("a folder");

        let ports: Vec<_> = recorded(&machine(home.path())).iter().map(|recorded| recorded.port).collect();
        assert_eq!(ports, [2, 3, 1]);
    }
}
