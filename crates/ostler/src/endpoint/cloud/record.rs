//! What is written down about a cloud browser, so that somebody stops it whatever dies.
//!
//! ```text
//!  guard:   intent ──▶ request ──▶ id ──▶ in use ──▶ stopped ──▶ removed
//!             └────────── the file is locked all the time ──────────┘
//! ```
//!
//! Whoever is responsible holds a lock on the file, and the system drops a lock when its holder dies, however it
//! dies. So a file whose lock is free is a browser that nobody looks after any more, and whoever finds it stops it.
//! The file holds no key.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::provider::Provider;
use crate::daemon::ownership;
use crate::plain_file;

/// A file that makes no sense is removed only when it is this old: a younger one may be in the making.
const IN_THE_MAKING: Duration = Duration::from_secs(60);

/// The longest record that is read; one of ours has some hundred bytes.
const MAX_RECORD: u64 = 64 << 10;

/// A browser that somebody pays for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Who rents it out.
    pub(crate) provider: Provider,
    /// Its name there; none while it is being asked for.
    pub(crate) id: Option<String>,
    /// Where the API is that knows it.
    pub(crate) api_base: String,
    /// The project that it belongs to, where there are such.
    pub(crate) project: Option<String>,
    /// The daemon that it was started for.
    pub(crate) daemon: String,
}

/// A record on disk that we are responsible for: the lock is ours.
#[derive(Debug)]
pub(crate) struct Written {
    path: PathBuf,
    /// Holds the lock.
    file: File,
    pub(crate) record: Record,
}

impl Written {
    /// Writes a record down before anything is asked for.
    pub(super) fn begin(folder: &Path, record: Record) -> io::Result<Self> {
        // The umask could take more away than is good, never give more.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let file = locked(folder, &record)?;
        let path = folder.join(format!("{}-{}.json", record.provider.name(), fresh_name(file.path())));
        let file = file.persist(&path).map_err(|error| error.error)?;
        Ok(Self { path, file, record })
    }

    /// Adds the id. The file is replaced in one step, so that a reader finds one or the other, whole.
    pub(super) fn set_id(&mut self, id: &str) -> io::Result<()> {
        let record = Record { id: Some(id.to_owned()), ..self.record.clone() };
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        self.file = locked(folder, &record)?.persist(&self.path).map_err(|error| error.error)?;
        self.record = record;
        Ok(())
    }

    /// Removes the file while the lock still keeps others away from it: nobody has to stop this browser any more.
    pub(crate) fn remove(self) {
        // One that cannot be removed is read again by whoever comes next, and stopping twice does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the records that nobody holds, and holds them from now on. Without the folder there are none.
pub(crate) fn abandoned(folder: &Path) -> io::Result<Vec<Written>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found: Vec<_> = entries.flatten().filter_map(|entry| claim(entry.path())).collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Takes a record over if its lock is free.
fn claim(path: PathBuf) -> Option<Written> {
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
    let text = plain_file::read_open(file.try_clone().ok()?, MAX_RECORD).ok();
    match text.and_then(|text| serde_json::from_slice(&text).ok()) {
        Some(record) => Some(Written { path, file, record }),
        None => {
            let age = opened.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
            if age.is_some_and(|age| age > IN_THE_MAKING) {
                let _ = fs::remove_file(&path);
            }
            None
        }
    }
}

/// Writes a record to a new file that is ours alone from the beginning.
fn locked(folder: &Path, record: &Record) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("new-").tempfile_in(folder)?;
    file.as_file().lock()?;
    serde_json::to_writer(&mut file, record)?;
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

    fn record() -> Record {
        Record {
            provider: Provider::BrowserUse,
            id: None,
            api_base: "http://127.0.0.1:1".to_owned(),
            project: None,
            daemon: "t".to_owned(),
        }
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect()
    }

    #[test]
    fn a_record_that_is_held_is_nobody_elses_and_one_that_was_dropped_is_found() {
        let temp = tempfile::tempdir().expect("a folder");
        let folder = temp.path().join("cloud");
        let mut written = Written::begin(&folder, record()).expect("written");
        written.set_id("b-1").expect("written");
        assert!(abandoned(&folder).expect("readable").is_empty(), "its guard lives");

        drop(written);
        let found = abandoned(&folder).expect("readable");
        assert_eq!(found.iter().map(|found| found.record.id.as_deref()).collect::<Vec<_>>(), [Some("b-1")]);
        assert!(abandoned(&folder).expect("readable").is_empty(), "we hold it now");
        for found in found {
            found.remove();
        }
        assert!(files(&folder).is_empty());
    }

    #[test]
    fn only_the_user_can_read_a_record_and_it_is_one_file_at_every_time() {
        let temp = tempfile::tempdir().expect("a folder");
        let folder = temp.path().join("cloud");
        let mut written = Written::begin(&folder, record()).expect("written");
        let before = files(&folder);
        written.set_id("b-1").expect("written");
        assert_eq!((before.len(), files(&folder)), (1, before.clone()));
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&before[0])), (0o700, 0o600));
    }

    #[test]
    fn what_makes_no_sense_is_left_while_it_may_be_in_the_making() {
        let temp = tempfile::tempdir().expect("a folder");
        let path = temp.path().join("new-x");
        fs::write(&path, "{").expect("a file");
        assert!(abandoned(temp.path()).expect("readable").is_empty() && path.exists());
        let long_ago = SystemTime::now() - 2 * IN_THE_MAKING;
        File::options().write(true).open(&path).and_then(|file| file.set_modified(long_ago)).expect("a time");
        assert!(abandoned(temp.path()).expect("readable").is_empty() && !path.exists());
    }

    #[test]
    fn no_folder_means_no_records() {
        let temp = tempfile::tempdir().expect("a folder");
        assert!(abandoned(&temp.path().join("none")).expect("no error").is_empty());
    }
}
