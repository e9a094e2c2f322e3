//! What is wrong in `config.yaml`, and where.

use std::fmt;

/// A place in the file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// One fault. It never repeats a value that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(super) place: Option<Place>,
    /// The key, where one is at fault.
    pub(super) key: Option<String>,
    /// What is wrong with it, and what to do about it.
    pub(super) why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { line, column }) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        if let Some(key) = &self.key {
            write!(f, "`{key}`: ")?;
        }
        f.write_str(&self.why)
    }
}
