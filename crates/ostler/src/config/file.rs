//! Finds and reads `config.yaml`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::fault::Fault;
use super::keys;
use crate::plain_file;

/// The longest file that is read.
const MAX_LENGTH: u64 = 1 << 20;

/// Reads the file. One that does not exist says nothing.
///
/// Unknown keys are refused here; a wrong value when its key is read.
pub(super) fn read(path: &Path) -> Result<Document, FileError> {
    match plain_file::read_text(path, MAX_LENGTH) {
        Ok(text) => Document::parse(&text, keys::ALL).map_err(|fault| FileError::wrong(path, fault)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Document::default()),
        Err(error) => Err(FileError::Unreadable { path: path.to_owned(), error }),
    }
}

/// Why the file cannot be used.
#[derive(Debug)]
pub(crate) enum FileError {
    /// It is there and cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Something in it is wrong.
    Wrong {
        /// The file.
        path: PathBuf,
        /// What, and where.
        fault: Fault,
    },
}

impl FileError {
    pub(super) fn wrong(path: &Path, fault: Fault) -> Self {
        Self::Wrong { path: path.to_owned(), fault }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } => write!(
                f,
                "{} cannot be read: {error}; put it right, or move it away to go on with the defaults",
                path.display()
            ),
            Self::Wrong { path, fault } => write!(f, "{} {fault}", path.display()),
        }
    }
}
