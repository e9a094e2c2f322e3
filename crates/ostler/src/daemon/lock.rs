//! One daemon per name: whoever holds the lock on the pid file is the daemon.
//!
//! The system drops a lock when its holder dies, however it dies, so there is no stale lock: after `kill -9` the
//! next daemon starts at once, whatever the file says. The number inside is for people and other programs.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::ownership::{self, Expected, PathRefused};
use crate::plain_file;

/// The longest pid file that is read.
const MAX_PID: u64 = 64;

/// The lock of a daemon on its name, held for life.
#[derive(Debug)]
pub(crate) struct DaemonLock {
    path: PathBuf,
    file: File,
}

impl DaemonLock {
    /// Takes the name, or returns `None` when a living daemon has it.
    pub(crate) fn acquire(path: &Path) -> Result<Option<Self>, PathRefused> {
        loop {
            let mut options = OpenOptions::new();
            let file = ownership::open_private(path, options.read(true).write(true).create(true))?;
            match Self::claim(file, path)? {
                Claim::Ours(lock) => return Ok(Some(lock)),
                Claim::Theirs => return Ok(None),
                Claim::Nameless => {}
            }
        }
    }

    /// Locks a file that was opened at `path`.
    fn claim(file: File, path: &Path) -> Result<Claim, PathRefused> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Claim::Theirs),
            Err(TryLockError::Error(error)) => return Err(PathRefused::io(path, error)),
        }
        if !is_named(&file, path)? {
            return Ok(Claim::Nameless);
        }
        let mut lock = Self { path: path.to_owned(), file };
        lock.write_pid().map_err(|error| PathRefused::io(path, error))?;
        Ok(Claim::Ours(lock))
    }

    fn write_pid(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)?;
        writeln!(self.file, "{}", std::process::id())
    }
}

/// What locking an opened file came to.
#[derive(Debug)]
enum Claim {
    /// The name is ours.
    Ours(DaemonLock),
    /// A living daemon has the lock.
    Theirs,
    /// The daemon before us removed the file after we had opened it: the lock is on a file that nobody else can
    /// find, and somebody may already hold the one that has the name now.
    Nameless,
}

impl Drop for DaemonLock {
    /// Removes the file while the lock still keeps others away from it.
    fn drop(&mut self) {
        if matches!(is_named(&self.file, &self.path), Ok(true)) {
            // A file that cannot be removed does no harm: the lock goes with us, and the next daemon takes the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the path still leads to this very file.
fn is_named(file: &File, path: &Path) -> Result<bool, PathRefused> {
    let opened = file.metadata().map_err(|error| PathRefused::io(path, error))?;
    let named = ownership::look(path, Expected::File)?;
    Ok(named.is_some_and(|named| ownership::same_file(&named, &opened)))
}

/// Returns the pid of the daemon that holds the lock, if one does and has written its number.
pub(crate) fn holder(path: &Path) -> Option<u32> {
    let file = ownership::open_private(path, OpenOptions::new().read(true)).ok()?;
    // A shared lock, so that two who look do not take each other for a daemon.
    let Err(TryLockError::WouldBlock) = file.try_lock_shared() else { return None };
    let text = String::from_utf8(plain_file::read_open(file, MAX_PID).ok()?).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_has_one_holder_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("bu-x.pid");
        let lock = DaemonLock::acquire(&path).expect("our file").expect("a free name");
        assert!(DaemonLock::acquire(&path).expect("our file").is_none());
        assert_eq!(holder(&path), Some(std::process::id()));
        drop(lock);
        assert!(!path.exists());
        assert_eq!(holder(&path), None);
        DaemonLock::acquire(&path).expect("our file").expect("a free name again");
    }

    #[test]
    fn a_file_that_a_killed_daemon_left_is_taken_over() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("bu-x.pid");
        fs::write(&path, "999999999 and more\n").expect("a stale pid file");
        assert_eq!(holder(&path), None);
        let _lock = DaemonLock::acquire(&path).expect("our file").expect("a free name");
        assert_eq!(fs::read_to_string(&path).expect("the file"), format!("{}\n", std::process::id()));
    }

    #[test]
    fn a_lock_on_a_file_that_lost_its_name_is_worth_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("bu-x.pid");
        let before = DaemonLock::acquire(&path).expect("our file").expect("a free name");
        let opened = File::open(&path).expect("the pid file");
        drop(before);
        let claimed = DaemonLock::claim(opened.try_clone().expect("a second handle"), &path).expect("our file");
        assert!(matches!(claimed, Claim::Nameless), "the name is gone: {claimed:?}");

        let _next = DaemonLock::acquire(&path).expect("our file").expect("a free name");
        let claimed = DaemonLock::claim(opened, &path).expect("our file");
        assert!(matches!(claimed, Claim::Nameless), "the name is another file's: {claimed:?}");
    }

    #[test]
    fn an_end_leaves_the_next_daemons_file_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("bu-x.pid");
        let old = DaemonLock::acquire(&path).expect("our file").expect("a free name");
        fs::rename(&path, folder.path().join("aside")).expect("a cleaner that takes the file away");
        let _new = DaemonLock::acquire(&path).expect("our file").expect("a free name");
        drop(old);
        assert!(path.exists());
    }

    #[test]
    fn threads_that_take_and_leave_the_name_never_hold_it_together() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("bu-x.pid");
        let holders = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(lock) = DaemonLock::acquire(&path).expect("our file") else { continue };
                        assert_eq!(holders.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        holders.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
    }
}
