//! How much room there is on a disk. A full one makes programs fail in ways that do not name it.

use std::path::Path;

use rustix::fs::statvfs;

/// Returns how many bytes this user can still write where a path leads, or would if it were there. A file system that
/// does not tell its size does not tell this either.
pub(crate) fn left(path: &Path) -> Option<u64> {
    let found = statvfs(nearest(path)?).ok().filter(|found| found.f_blocks > 0)?;
    // Some count no files, and say that there are none in all.
    let has_files_left = found.f_files == 0 || found.f_favail > 0;
    Some(if has_files_left { found.f_bavail.saturating_mul(found.f_frsize) } else { 0 })
}

/// Returns the part of a path that is there.
pub(crate) fn nearest(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_without_a_size_says_nothing() {
        assert_eq!(left(Path::new("/proc/self")), None);
    }

    #[test]
    fn what_is_not_there_yet_has_the_room_of_the_folder_that_it_would_be_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("a/b/c");
        assert_eq!(nearest(&deep), Some(folder.path()));
        assert_eq!(left(&deep), left(folder.path()));
    }
}
