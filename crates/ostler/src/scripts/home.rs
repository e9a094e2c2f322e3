//! The folder where the helpers live: `helpers.py` is the agent's, `lib/` is ours.
//!
//! `lib/helpers.shipped.py` remembers what we wrote to `helpers.py`. While the two are equal nobody has edited
//! the helpers, so a new version of ostler may bring its own; from the first edit on they are left alone.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{ScriptError, diff};
use crate::plain_file;

const HELPERS: &str = include_str!("../../../../python/helpers.py");
const CLIENT: &str = include_str!("../../../../python/client.py");
const BOOT: &str = include_str!("../../../../python/boot.py");

/// The longest `helpers.py` that is read: thousands of times ours.
const MAX_HELPERS: u64 = 16 << 20;

/// The folder with the helpers, `$OSTLER_HOME`.
#[derive(Debug)]
pub(crate) struct ScriptHome {
    home: PathBuf,
}

impl ScriptHome {
    /// Names the folder; nothing is read or written yet.
    pub(crate) fn new(home: PathBuf) -> Self {
        Self { home }
    }

    /// The agent's helpers.
    pub(crate) fn helpers_path(&self) -> PathBuf {
        self.home.join("helpers.py")
    }

    /// Makes the folder ready for a script; safe with any number of scripts starting at once.
    pub(crate) fn prepare(&self) -> Result<(), ScriptError> {
        self.prepare_lib()?;
        self.offer_helpers(HELPERS)
    }

    fn prepare_lib(&self) -> Result<(), ScriptError> {
        let lib = self.lib();
        DirBuilder::new().recursive(true).mode(0o700).create(&lib).map_err(at(&lib))?;
        write_if_different(&self.boot_path(), BOOT)?;
        write_if_different(&lib.join("client.py"), CLIENT)
    }

    /// The text of `helpers.py`, if there is one; whether it was edited.
    pub(crate) fn helpers(&self) -> Result<Option<(Vec<u8>, bool)>, ScriptError> {
        let found = self.read_helpers()?;
        Ok(found.map(|text| {
            let edited = text != HELPERS.as_bytes();
            (text, edited)
        }))
    }

    /// What the agent has changed in our helpers, as a unified diff; empty if nothing.
    pub(crate) fn diff(&self) -> Result<String, ScriptError> {
        let path = self.helpers_path();
        let edited = self
            .read_helpers()?
            .map_or_else(|| HELPERS.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(diff::unified("shipped helpers.py", &path.display().to_string(), HELPERS, &edited))
    }

    /// Puts our helpers back, whatever stands in their place. Returns where that was kept, so that no work is lost.
    pub(crate) fn reset(&self) -> Result<Option<PathBuf>, ScriptError> {
        self.prepare_lib()?;
        let path = self.helpers_path();
        let kept = match self.read_helpers() {
            Ok(Some(edited)) if edited != HELPERS.as_bytes() => {
                let kept = self.home.join("helpers.py.bak");
                write(&kept, &edited)?;
                write(&path, HELPERS.as_bytes())?;
                Some(kept)
            }
            Ok(_) => None,
            // A folder, a pipe, a link to nowhere: it cannot be copied, and it is somebody's.
            Err(_) => {
                let kept = self.free_place();
                fs::rename(&path, &kept).map_err(at(&path))?;
                Some(kept)
            }
        };
        self.offer_helpers(HELPERS)?;
        Ok(kept)
    }

    /// Returns a path beside the helpers at which nothing stands.
    fn free_place(&self) -> PathBuf {
        let place = |number: u32| self.home.join(format!("helpers.py.was-{number}"));
        (1..).map(place).find(|path| fs::symlink_metadata(path).is_err()).expect("numbers do not run out")
    }

    fn read_helpers(&self) -> Result<Option<Vec<u8>>, ScriptError> {
        let path = self.helpers_path();
        match plain_file::read(&path, MAX_HELPERS) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ScriptError::Helpers { path, source }),
        }
    }

    /// What the interpreter is started with.
    pub(super) fn boot_path(&self) -> PathBuf {
        self.lib().join("boot.py")
    }

    /// Writes `ours` to `helpers.py` if there is none or nobody has edited it.
    ///
    /// The note of what we wrote comes second: after a crash in between the worst is that a file counts as edited.
    fn offer_helpers(&self, ours: &str) -> Result<(), ScriptError> {
        let (path, shipped) = (self.helpers_path(), self.shipped_path());
        match self.read_helpers()? {
            None => create(&path, ours.as_bytes())?,
            Some(current) if current == ours.as_bytes() => {}
            Some(current) if read(&shipped)?.as_ref() == Some(&current) => write(&path, ours.as_bytes())?,
            Some(_) => return Ok(()),
        }
        write_if_different(&shipped, ours)
    }

    fn shipped_path(&self) -> PathBuf {
        self.lib().join("helpers.shipped.py")
    }

    fn lib(&self) -> PathBuf {
        self.home.join("lib")
    }
}

fn write_if_different(path: &Path, text: &str) -> Result<(), ScriptError> {
    match read(path)? {
        Some(current) if current == text.as_bytes() => Ok(()),
        _ => write(path, text.as_bytes()),
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, ScriptError> {
    match plain_file::read(path, MAX_HELPERS) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path)(error)),
    }
}

/// Replaces a file in one step, so that a reader sees the old text or the new. A link stays a link: people keep
/// such files in a repository of their own.
fn write(path: &Path, bytes: &[u8]) -> Result<(), ScriptError> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    beside(&path, bytes)?.persist(&path).map_err(|error| at(&path)(error.error))?;
    Ok(())
}

/// Writes a file that is not there yet; one that has appeared meanwhile is left as it is.
fn create(path: &Path, bytes: &[u8]) -> Result<(), ScriptError> {
    match beside(path, bytes)?.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(at(path)(error.error)),
        _ => Ok(()),
    }
}

/// A temporary file in the same folder, with everything in it.
fn beside(path: &Path, bytes: &[u8]) -> Result<NamedTempFile, ScriptError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder).map_err(at(path))?;
    file.write_all(bytes).map_err(at(path))?;
    Ok(file)
}

fn at(path: &Path) -> impl Fn(io::Error) -> ScriptError {
    move |source| ScriptError::Home { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, ScriptHome) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = ScriptHome::new(folder.path().join("ostler"));
        (folder, home)
    }

    fn helpers(home: &ScriptHome) -> String {
        fs::read_to_string(home.helpers_path()).expect("helpers.py is there")
    }

    #[test]
    fn first_use_writes_helpers_and_library() {
        let (_folder, home) = home();
        home.prepare().expect("prepared");
        assert_eq!(helpers(&home), HELPERS);
        assert_eq!(fs::read_to_string(home.lib().join("client.py")).expect("client.py"), CLIENT);
        assert_eq!(fs::read_to_string(home.boot_path()).expect("boot.py"), BOOT);
    }

    #[test]
    fn an_edit_survives_every_later_start() {
        let (_folder, home) = home();
        home.prepare().expect("prepared");
        fs::write(home.helpers_path(), "def mine(): pass\n").expect("edited");
        home.prepare().expect("prepared again");
        home.offer_helpers("# a newer version\n").expect("upgraded");
        assert_eq!(helpers(&home), "def mine(): pass\n");
    }

    #[test]
    fn an_upgrade_refreshes_helpers_that_nobody_edited() {
        let (_folder, home) = home();
        home.prepare().expect("prepared");
        home.offer_helpers("# second\n").expect("upgraded");
        home.offer_helpers("# third\n").expect("upgraded again");
        assert_eq!(helpers(&home), "# third\n");
    }

    #[test]
    fn a_lost_note_counts_as_edited_until_the_text_is_ours_again() {
        let (_folder, home) = home();
        home.prepare().expect("prepared");
        fs::remove_file(home.shipped_path()).expect("note removed");
        home.offer_helpers("# newer\n").expect("offered");
        assert_eq!(helpers(&home), HELPERS);
        home.prepare().expect("note written again");
        home.offer_helpers("# newer\n").expect("offered");
        assert_eq!(helpers(&home), "# newer\n");
    }

    #[test]
    fn our_own_files_are_repaired() {
        let (_folder, home) = home();
        home.prepare().expect("prepared");
        fs::write(home.boot_path(), "broken").expect("damaged");
        home.prepare().expect("repaired");
        assert_eq!(fs::read_to_string(home.boot_path()).expect("boot.py"), BOOT);
    }

    #[test]
    fn a_linked_helpers_file_stays_a_link() {
        let (folder, home) = home();
        home.prepare().expect("prepared");
        let kept = folder.path().join("dotfiles.py");
        fs::rename(home.helpers_path(), &kept).expect("moved");
        std::os::unix::fs::symlink(&kept, home.helpers_path()).expect("linked");
        home.offer_helpers("# newer\n").expect("upgraded");
        assert!(fs::symlink_metadata(home.helpers_path()).expect("metadata").is_symlink());
        assert_eq!(fs::read_to_string(kept).expect("target"), "# newer\n");
    }

    #[test]
    fn reset_puts_ours_back_and_keeps_the_edit() {
        let (_folder, home) = home();
        home.prepare().expect("prepared");
        assert_eq!(home.reset().expect("nothing to do"), None);
        fs::write(home.helpers_path(), "mine\n").expect("edited");
        let kept = home.reset().expect("reset").expect("an edit to keep");
        assert_eq!(fs::read_to_string(kept).expect("kept edit"), "mine\n");
        assert_eq!(helpers(&home), HELPERS);
    }

    #[test]
    fn whatever_stands_in_the_place_of_the_helpers_is_named_and_a_reset_puts_it_aside() {
        type Put = fn(&Path);
        let link: Put = |path| std::os::unix::fs::symlink("/nowhere/at/all", path).expect("a link");
        let folder: Put = |path| fs::create_dir(path).and_then(|()| fs::write(path.join("x"), "")).expect("a folder");
        let pipe: Put = |path| {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        };
        let (_folder, home) = home();
        for (number, (put, named)) in
            [(link, "a link that leads nowhere"), (folder, "a folder"), (pipe, "a pipe")].into_iter().enumerate()
        {
            home.prepare().expect("prepared");
            fs::remove_file(home.helpers_path()).expect("a file");
            put(&home.helpers_path());
            for error in [home.prepare().expect_err("no helpers"), home.diff().expect_err("no helpers")] {
                let said = error.to_string();
                assert!(said.contains(named) && said.contains("`ostler helpers reset`"), "{said}");
            }
            let kept = home.reset().expect("reset").expect("something was there");
            assert!(kept.ends_with(format!("helpers.py.was-{}", number + 1)), "{kept:?}");
            assert!(fs::symlink_metadata(&kept).is_ok_and(|found| !found.is_file()));
            assert_eq!(helpers(&home), HELPERS);
        }
    }

    #[test]
    fn diff_shows_only_what_was_changed() {
        let (_folder, home) = home();
        assert_eq!(home.diff().expect("no file yet"), "");
        home.prepare().expect("prepared");
        assert_eq!(home.diff().expect("unedited"), "");
        fs::write(home.helpers_path(), format!("{HELPERS}def mine(): pass\n")).expect("edited");
        let diff = home.diff().expect("edited");
        assert!(diff.contains("\n+def mine(): pass\n"), "{diff}");
        assert_eq!(diff.lines().filter(|line| line.starts_with('-')).count(), 1, "only the header: {diff}");
    }

    #[test]
    fn starts_at_the_same_time_leave_whole_files() {
        let (_folder, home) = home();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| home.prepare().expect("prepared"));
            }
        });
        assert_eq!(helpers(&home), HELPERS);
        let left = fs::read_dir(home.lib()).expect("lib").count() + fs::read_dir(&home.home).expect("home").count();
        assert_eq!(left, 5, "boot.py, client.py and the note; helpers.py and lib");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("a file in the way");
        let error = ScriptHome::new(file.join("ostler")).prepare().expect_err("a file is no folder").to_string();
        assert!(error.contains("file/ostler/lib") && error.contains("OSTLER_HOME"), "{error}");
    }
}
