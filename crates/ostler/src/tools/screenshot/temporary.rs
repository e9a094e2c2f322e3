//! Pictures that nobody named a place for: they lie in the system's folder for temporary files, and do not pile up there.

use std::fs::Metadata;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const PREFIX: &str = "ostler-shot-";
const SUFFIX: &str = ".png";
/// How long one is kept.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How many are kept.
const MOST: usize = 200;

/// Writes a picture under a name of its own, and removes those of the same user that are of no use any more.
pub(super) fn keep(png: &[u8]) -> std::io::Result<PathBuf> {
    keep_in(&std::env::temp_dir(), png)
}

fn keep_in(folder: &Path, png: &[u8]) -> std::io::Result<PathBuf> {
    let mut file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)?;
    file.write_all(png)?;
    let owner = file.as_file().metadata()?.uid();
    let (_, path) = file.keep().map_err(|error| error.error)?;
    sweep(folder, owner, SystemTime::now());
    Ok(path)
}

/// Removes the pictures of a user that are too old or too many. What cannot be removed stays: it is no reason to fail.
fn sweep(folder: &Path, owner: u32, now: SystemTime) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut kept: Vec<_> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(PREFIX) && name.ends_with(SUFFIX)
        })
        // Of the entry itself: what a link leads to is not ours.
        .filter_map(|entry| Some((made(&entry.metadata().ok()?, owner)?, entry.path())))
        .collect();
    kept.sort();
    let too_many = kept.len().saturating_sub(MOST);
    for (number, (made, path)) in kept.iter().enumerate() {
        if number < too_many || now.duration_since(*made).is_ok_and(|age| age > LONGEST) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Returns when a user's file was written; `None` for anything else.
fn made(found: &Metadata, owner: u32) -> Option<SystemTime> {
    found.modified().ok().filter(|_| found.is_file() && found.uid() == owner)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn age(path: &Path, age: Duration) {
        File::options().write(true).open(path).expect("a file").set_modified(SystemTime::now() - age).expect("a time");
    }

    #[test]
    fn a_new_picture_removes_those_that_are_older_than_a_day_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = keep_in(folder.path(), b"old").expect("a picture");
        let recent = keep_in(folder.path(), b"recent").expect("a picture");
        let other = folder.path().join("ostler-shot-notes.txt");
        std::fs::write(&other, "mine").expect("a file");
        let link = folder.path().join("ostler-shot-link.png");
        std::os::unix::fs::symlink(&other, &link).expect("a link");
        age(&old, LONGEST + Duration::from_secs(60));
        age(&recent, LONGEST - Duration::from_secs(60));
        age(&other, 2 * LONGEST);
        let new = keep_in(folder.path(), b"new").expect("a picture");
        assert!(!old.exists());
        assert!([recent, other, link, new].iter().all(|path| path.exists()));
    }

    #[test]
    fn no_more_than_so_many_are_kept_and_the_newest_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = keep_in(folder.path(), b"first").expect("a picture");
        age(&first, Duration::from_secs(3600));
        for _ in 0..MOST {
            keep_in(folder.path(), b"more").expect("a picture");
        }
        assert!(!first.exists());
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), MOST);
    }
}
