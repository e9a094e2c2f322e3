//! Decides whether a path in a folder that others can write to is safely ours.
//!
//! The default runtime folder is `/tmp`. Another user may have put anything there under the name that we want: a
//! link to one of our own files, a pipe that blocks whoever opens it, a file of theirs. What is not plainly ours is
//! refused with words, and never removed, followed or written to.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// What a path should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// A regular file.
    File,
    /// A Unix socket.
    Socket,
}

/// Opens or creates a regular file of ours that nobody else can read, in the way that `options` says.
pub(crate) fn open_private(path: &Path, options: &mut OpenOptions) -> Result<File, PathRefused> {
    // NONBLOCK: a pipe in the place of our file must not hold us until somebody reads it.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).expect("open flags fit the system's int");
    let refused = |error| match fs::symlink_metadata(path) {
        // The open failed; what stands there usually says why better than the system's word does.
        Ok(found) => check(path, &found, Expected::File).err().unwrap_or_else(|| PathRefused::io(path, error)),
        Err(_) => PathRefused::io(path, error),
    };
    let file = options.mode(PRIVATE).custom_flags(flags).open(path).map_err(refused)?;
    let found = file.metadata().map_err(|error| PathRefused::io(path, error))?;
    check(path, &found, Expected::File)?;
    if found.mode() & 0o777 != PRIVATE {
        let private = Permissions::from_mode(PRIVATE);
        file.set_permissions(private).map_err(|error| PathRefused::io(path, error))?;
    }
    Ok(file)
}

/// Returns what stands at the path when that is ours and of the expected kind; nothing there is fine too.
pub(crate) fn look(path: &Path, expected: Expected) -> Result<Option<Metadata>, PathRefused> {
    match fs::symlink_metadata(path) {
        Ok(found) => check(path, &found, expected).map(|()| Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(PathRefused::io(path, error)),
    }
}

/// Returns the user whose rights this process has.
pub(crate) fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether the two describe one and the same file.
pub(crate) fn same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

fn check(path: &Path, found: &Metadata, expected: Expected) -> Result<(), PathRefused> {
    let kind = found.file_type();
    let right = match expected {
        Expected::File => kind.is_file(),
        Expected::Socket => kind.is_socket(),
    };
    let why = if !right {
        Why::Kind { is: word_for(kind), expected }
    } else if found.uid() != our_uid() {
        Why::Owner(found.uid())
    } else if expected == Expected::File && found.nlink() > 1 {
        // A hard link that someone made to a file of ours: writing here would write there.
        Why::Links(found.nlink())
    } else {
        return Ok(());
    };
    Err(PathRefused { path: path.to_owned(), why })
}

fn word_for(kind: fs::FileType) -> &'static str {
    if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_file() {
        "a regular file"
    } else {
        "a pipe or device"
    }
}

/// The mode of everything that we create.
const PRIVATE: u32 = 0o600;

/// Why a path is left alone.
#[derive(Debug)]
pub(crate) struct PathRefused {
    path: PathBuf,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Kind { is: &'static str, expected: Expected },
    Owner(u32),
    Links(u64),
    InUse,
    Io(io::Error),
}

impl PathRefused {
    /// The system refused.
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self { path: path.to_owned(), why: Why::Io(error) }
    }

    /// A program that is no daemon of this name listens there.
    pub(crate) fn in_use(path: &Path) -> Self {
        Self { path: path.to_owned(), why: Why::InUse }
    }
}

impl fmt::Display for PathRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.why {
            Why::Kind { is, expected } => {
                let expected = match expected {
                    Expected::File => "a regular file",
                    Expected::Socket => "a socket",
                };
                write!(f, "{path} is {is} where {expected} is needed; {WAY_OUT}")
            }
            Why::Owner(uid) => write!(f, "{path} belongs to another user (uid {uid}); {WAY_OUT}"),
            Why::Links(count) => write!(f, "{path} is one of {count} names of the same file; {WAY_OUT}"),
            Why::InUse => {
                write!(f, "another program listens on {path}; end it, or choose another BU_NAME or BH_RUNTIME_DIR")
            }
            Why::Io(error) => {
                write!(f, "{path} cannot be used: {error}; BH_RUNTIME_DIR must be a folder that you may write to")
            }
        }
    }
}

impl std::error::Error for PathRefused {}

/// What helps whenever something foreign is in the way.
const WAY_OUT: &str = "remove it if you know it, or choose another BU_NAME or BH_RUNTIME_DIR";

#[cfg(test)]
mod tests {
    use super::*;

    fn append() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        options
    }

    #[test]
    fn a_new_file_is_private() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = open_private(&folder.path().join("f"), &mut append()).expect("a new file");
        assert_eq!(file.metadata().expect("metadata").mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_of_ours_that_was_readable_becomes_private() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("f");
        fs::write(&path, "x").expect("a file");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("a wide mode");
        let file = open_private(&path, &mut append()).expect("our file");
        assert_eq!(file.metadata().expect("metadata").mode() & 0o777, 0o600);
    }

    #[test]
    fn links_folders_and_pipes_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), "precious").expect("a file");
        std::os::unix::fs::symlink(at("victim"), at("symlink")).expect("a symbolic link");
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).expect("a symbolic link");
        fs::hard_link(at("victim"), at("hard")).expect("a hard link");
        fs::create_dir(at("dir")).expect("a folder");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");

        for (name, word) in [
            ("symlink", "a symbolic link"),
            ("dangling", "a symbolic link"),
            ("hard", "one of 2 names"),
            ("dir", "a folder"),
            ("pipe", "a pipe"),
        ] {
            let refused = open_private(&at(name), &mut append()).expect_err(name).to_string();
            assert!(refused.contains(word) && refused.contains("BH_RUNTIME_DIR"), "{name}: {refused}");
        }
        assert_eq!(fs::read_to_string(at("victim")).expect("the file"), "precious");
        assert!(!at("nowhere").exists(), "a dangling link was followed");
    }
}
