//! What the command tells the shell when it ends.

use std::process::ExitCode;

/// The outcomes that a caller can tell apart without reading anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done.
    Success,
    /// The call was right, the work failed: the browser refused, a page threw, nothing could be started.
    WorkFailed,
    /// The call itself cannot be carried out: wrong arguments, environment or configuration.
    WrongCall,
}

impl Exit {
    /// Returns the number for the shell.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::WorkFailed => 1,
            Self::WrongCall => 2,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
