//! A note on disk about a thing that must not be forgotten, held by whoever is responsible for it.
//!
//! Whoever is responsible holds a lock on the file, and the system drops a lock when its holder dies, however it dies. So
//! a file whose lock is free tells of a thing that nobody looks after any more, and whoever finds it does.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::daemon::ownership;
use crate::plain_file;

/// A file that makes no sense is removed only when it is this old: a younger one may be in the making.
const IN_THE_MAKING: Duration = Duration::from_secs(60);

/// The longest note that is read; one of ours has some hundred bytes.
const MAX_LENGTH: u64 = 64 << 10;

/// A note that we are responsible for: the lock is ours.
#[derive(Debug)]
pub(super) struct Note<T> {
    path: PathBuf,
    /// Holds the lock.
    file: File,
    /// What it says.
    pub(super) said: T,
}

impl<T: Serialize + DeserializeOwned> Note<T> {
    /// Writes a note before there is anything to forget. `kind` is the beginning of the file's name.
    pub(super) fn begin(folder: &Path, kind: &str, said: T) -> io::Result<Self> {
        // The umask could take more away than is good, never give more.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let file = locked(folder, &said)?;
        let path = folder.join(format!("{kind}-{}.json", fresh_name(file.path())));
        let file = file.persist(&path).map_err(|error| error.error)?;
        Ok(Self { path, file, said })
    }

    /// Says something else. The file is replaced in one step, so that a reader finds one or the other, whole.
    pub(super) fn say(&mut self, said: T) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        self.file = locked(folder, &said)?.persist(&self.path).map_err(|error| error.error)?;
        self.said = said;
        Ok(())
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file while the lock still keeps others away from it: there is nothing left to look after.
    pub(super) fn remove(self) {
        // One that cannot be removed is read again by whoever comes next, and looking after nothing does no harm.
        let _ = fs::remove_file(&self.path);
    }

    /// Returns the notes that nobody holds, and holds them from now on. Without the folder there are none.
    pub(super) fn abandoned(folder: &Path) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let mut found: Vec<_> = entries.flatten().filter_map(|entry| Self::claim(entry.path())).collect();
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    /// Takes a note over if its lock is free.
    fn claim(path: PathBuf) -> Option<Self> {
        let file = ownership::open_private(&path, OpenOptions::new().read(true).write(true)).ok()?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
        }
        // The holder before us may have replaced or removed it after we had opened it.
        let (opened, named) = (file.metadata().ok()?, fs::symlink_metadata(&path).ok()?);
        if (opened.dev(), opened.ino()) != (named.dev(), named.ino()) {
            return None;
        }
        let text = plain_file::read_open(file.try_clone().ok()?, MAX_LENGTH).ok();
        match text.and_then(|text| serde_json::from_slice(&text).ok()) {
            Some(said) => Some(Self { path, file, said }),
            None => {
                let age = opened.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
                if age.is_some_and(|age| age > IN_THE_MAKING) {
                    let _ = fs::remove_file(&path);
                }
                None
            }
        }
    }
}

/// Writes to a new file that is ours alone from the beginning.
fn locked(folder: &Path, said: &impl Serialize) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("new-").tempfile_in(folder)?;
    file.as_file().lock()?;
    serde_json::to_writer(&mut file, said)?;
    file.flush()?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Returns the random part of a temporary file's name, which is as good for the lasting one.
fn fresh_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_prefix("new-").map(str::to_owned).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn files(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect()
    }

    #[test]
    fn a_note_that_is_held_is_nobody_elses_and_one_that_was_dropped_is_found() {
        let temp = tempfile::tempdir().expect("a folder");
        let folder = temp.path().join("notes");
        let mut note = Note::begin(&folder, "x", 1).expect("written");
        note.say(2).expect("written");
        assert!(Note::<u32>::abandoned(&folder).expect("readable").is_empty(), "its holder lives");

        drop(note);
        let found = Note::<u32>::abandoned(&folder).expect("readable");
        assert_eq!(found.iter().map(|found| found.said).collect::<Vec<_>>(), [2]);
        assert!(Note::<u32>::abandoned(&folder).expect("readable").is_empty(), "we hold it now");
        found.into_iter().for_each(Note::remove);
        assert!(files(&folder).is_empty());
    }

    #[test]
    fn only_the_user_can_read_a_note_and_it_is_one_file_at_every_time() {
        let temp = tempfile::tempdir().expect("a folder");
        let folder = temp.path().join("notes");
        let mut note = Note::begin(&folder, "x", 1).expect("written");
        let before = files(&folder);
        note.say(2).expect("written");
        assert_eq!((before.len(), files(&folder)), (1, before.clone()));
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&before[0])), (0o700, 0o600));
    }

    #[test]
    fn what_makes_no_sense_is_left_while_it_may_be_in_the_making() {
        let temp = tempfile::tempdir().expect("a folder");
        let path = temp.path().join("new-x");
        fs::write(&path, "{").expect("a file");
        assert!(Note::<u32>::abandoned(temp.path()).expect("readable").is_empty() && path.exists());
        let long_ago = SystemTime::now() - 2 * IN_THE_MAKING;
        File::options().write(true).open(&path).and_then(|file| file.set_modified(long_ago)).expect("a time");
        assert!(Note::<u32>::abandoned(temp.path()).expect("readable").is_empty() && !path.exists());
    }

    #[test]
    fn what_is_no_note_is_passed_over() {
        let temp = tempfile::tempdir().expect("a folder");
        fs::create_dir(temp.path().join("folder")).expect("a folder");
        std::os::unix::fs::symlink("/dev/zero", temp.path().join("link")).expect("a link");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, temp.path().join("pipe"), rustix::fs::FileType::Fifo, mode, 0)
            .expect("a pipe");
        assert!(Note::<u32>::abandoned(temp.path()).expect("readable").is_empty());
        assert!(Note::<u32>::abandoned(&temp.path().join("none")).expect("no error").is_empty());
    }
}
