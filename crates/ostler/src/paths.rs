//! Where a daemon's files are, which follows from its name and the runtime folder alone.

use std::fmt;
use std::path::{Path, PathBuf};

/// The most bytes that the path of a Unix socket may have: the system's `sun_path` without its closing NUL.
const MAX_SOCKET_PATH: usize = if cfg!(any(target_os = "linux", target_os = "android")) { 107 } else { 103 };

/// The most characters of a daemon's name.
const MAX_NAME: usize = 64;

/// The files of one daemon: `bu-<NAME>.sock`, `.pid` and `.log` in the runtime folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paths {
    /// The daemon's name.
    pub(crate) name: String,
    /// The Unix socket that clients connect to.
    pub(crate) socket: PathBuf,
    /// The pid file, whose lock says that the daemon lives.
    pub(crate) pid_file: PathBuf,
    /// What a daemon in the background writes its log to.
    pub(crate) log: PathBuf,
}

impl Paths {
    /// Returns the files of the daemon `name`, or why there cannot be such a daemon.
    ///
    /// The folder must be absolute: a daemon in the background changes its working directory.
    pub(crate) fn new(name: &str, folder: &Path) -> Result<Self, PathsError> {
        if !is_name(name) {
            return Err(PathsError::BadName { name: name.to_owned() });
        }
        let file = |ending: &str| folder.join(format!("bu-{name}.{ending}"));
        let socket = file("sock");
        let len = socket.as_os_str().len();
        if len > MAX_SOCKET_PATH {
            return Err(PathsError::SocketPathTooLong { socket, len });
        }
        Ok(Self { name: name.to_owned(), socket, pid_file: file("pid"), log: file("log") })
    }

    /// Returns the files of every daemon that there is, or was, in the same folder, in the order of their names.
    pub(crate) fn all_in_folder(&self) -> Vec<Self> {
        let folder = self.pid_file.parent().unwrap_or(Path::new("/"));
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut all: Vec<_> = entries
            .filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                Self::new(file.strip_prefix("bu-")?.strip_suffix(".pid")?, folder).ok()
            })
            .collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }
}

/// Whether `name` can name a daemon: nothing in it may mean something to a file system or a shell.
fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Why a name and a folder make no daemon.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PathsError {
    /// The name has characters that it must not have, or none, or too many.
    BadName {
        /// The name as it was given.
        name: String,
    },
    /// The system cannot bind a socket at a path that long.
    SocketPathTooLong {
        /// The path.
        socket: PathBuf,
        /// Its length in bytes.
        len: usize,
    },
}

impl fmt::Display for PathsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName { name } => write!(
                f,
                "BU_NAME is {name:?}, which is no daemon name; use 1 to {MAX_NAME} letters, digits, `_` or `-`"
            ),
            Self::SocketPathTooLong { socket, len } => write!(
                f,
                "the socket path {} has {len} bytes and this system allows {MAX_SOCKET_PATH}; \
                 set BH_RUNTIME_DIR to a shorter folder or BU_NAME to a shorter name",
                socket.display()
            ),
        }
    }
}

impl std::error::Error for PathsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_carry_the_name() {
        let paths = Paths::new("work-1", Path::new("/run/x")).expect("a good name");
        assert_eq!(paths.socket, Path::new("/run/x/bu-work-1.sock"));
        assert_eq!(paths.pid_file, Path::new("/run/x/bu-work-1.pid"));
        assert_eq!(paths.log, Path::new("/run/x/bu-work-1.log"));
    }

    #[test]
    fn every_daemon_of_the_folder_is_found_by_its_pid_file() {
        let folder = tempfile::tempdir().expect("a folder");
        for file in ["bu-b.pid", "bu-a.pid", "bu-c.sock", "bu-.pid", "bu-x y.pid", "other.pid"] {
            std::fs::write(folder.path().join(file), "1\n").expect("a file");
        }
        let ours = Paths::new("mine", folder.path()).expect("a good name");
        let names: Vec<_> = ours.all_in_folder().into_iter().map(|paths| paths.name).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn names_that_could_leave_the_folder_or_split_a_line_are_refused() {
        let long = "n".repeat(65);
        for name in ["", "a/b", "..", "a.b", "a b", "a\n", "é", "a\0", long.as_str()] {
            assert_eq!(
                Paths::new(name, Path::new("/tmp")),
                Err(PathsError::BadName { name: name.to_owned() }),
                "{name:?}"
            );
        }
        Paths::new(&"n".repeat(64), Path::new("/tmp")).expect("the longest name");
    }

    #[test]
    fn the_longest_socket_path_is_allowed_and_one_more_byte_is_not() {
        let fixed = "/".len() + "/bu-n.sock".len();
        let folder = |len: usize| PathBuf::from(format!("/{}", "d".repeat(len)));
        Paths::new("n", &folder(MAX_SOCKET_PATH - fixed)).expect("the longest path");
        let error = Paths::new("n", &folder(MAX_SOCKET_PATH - fixed + 1)).expect_err("one byte too many");
        assert!(error.to_string().contains("BH_RUNTIME_DIR"), "{error}");
    }
}
