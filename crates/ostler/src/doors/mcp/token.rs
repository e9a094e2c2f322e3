//! The token that a host over HTTP must send: from the environment, or one of our own making in a file.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::secret::Secret;
use crate::{plain_file, random};

/// The file in `$OSTLER_HOME`. It is kept, so that a host that was configured once stays so.
const FILE: &str = "mcp-token";
/// How many random bytes a token of ours has; each is written as two letters.
const BYTES: usize = 32;
/// The shortest token that is taken: whatever else is allowed, nobody shall guess it.
const SHORTEST: usize = 16;
/// The longest file of one that is read.
const LONGEST: u64 = 64 << 10;

/// A secret that is long enough to be one.
#[derive(Debug)]
pub(super) struct Token(Secret);

impl Token {
    /// Takes the token that the user chose.
    pub(super) fn given(token: Secret) -> Result<Self, TokenError> {
        Self::checked(token).ok_or(TokenError::Unfit { place: "OSTLER_MCP_TOKEN".to_owned() })
    }

    /// Returns the token in the file of `home`, which is made if it is not there, and the file's path.
    pub(super) fn in_file(home: &Path) -> Result<(Self, PathBuf), TokenError> {
        let path = home.join(FILE);
        let failed = |error| TokenError::File { path: path.clone(), error };
        let text = match plain_file::read_text(&path, LONGEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(home, &path).map_err(failed)?,
            text => text.map_err(failed)?,
        };
        match Self::checked(Secret::new(text.trim())) {
            Some(token) => Ok((token, path)),
            None => Err(TokenError::Unfit { place: path.display().to_string() }),
        }
    }

    /// Compares in a time that tells nothing of how much was right.
    pub(super) fn is(&self, given: &[u8]) -> bool {
        let ours = self.0.expose().as_bytes();
        let differences = ours.iter().zip(given).fold(0, |differences, (a, b)| differences | (a ^ b));
        ours.len() == given.len() && differences == 0
    }

    fn checked(token: Secret) -> Option<Self> {
        let text = token.expose();
        let fits = text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Some(Self(token)) } else { None }
    }
}

/// Writes a new token, whole or not at all. Of two that are made at a time the first one counts.
fn make(home: &Path, path: &Path) -> io::Result<String> {
    let random = random::bytes::<BYTES>()?;
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    fs::create_dir_all(home)?;
    let mut file = tempfile::Builder::new()
        .make_in(home, |path| fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path))?;
    writeln!(file, "{token}")?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(token),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => plain_file::read_text(path, LONGEST),
        Err(error) => Err(error.error),
    }
}

/// Why there is no token.
#[derive(Debug)]
pub(crate) enum TokenError {
    /// The file cannot be read or made.
    File {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// What is there is no token.
    Unfit {
        /// Where it stands.
        place: String,
    },
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(
                f,
                "the token file {} cannot be read or made ({error}): make the folder accessible, or set OSTLER_MCP_TOKEN",
                path.display()
            ),
            Self::Unfit { place } => write!(
                f,
                "the token in {place} must be at least {SHORTEST} visible ASCII characters without spaces: set another one"
            ),
        }
    }
}

impl std::error::Error for TokenError {}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_for_its_user_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let (first, path) = Token::in_file(&home).expect("a token");
        let (again, _) = Token::in_file(&home).expect("the same");
        assert!(first.is(again.0.expose().as_bytes()) && first.0.expose().len() == 2 * BYTES);
        assert_eq!(fs::metadata(path).expect("the file").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn nothing_but_the_token_passes() {
        let token = Token::given(Secret::new("0123456789abcdef")).expect("long enough");
        assert!(token.is(b"0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdefg", "0123456789abcdeF"] {
            assert!(!token.is(wrong.as_bytes()), "{wrong}");
        }
        for unfit in ["short", "0123456789 abcdef", "0123456789äbcdef"] {
            assert!(Token::given(Secret::new(unfit)).is_err(), "{unfit}");
        }
        assert!(!format!("{token:?}").contains("0123"));
    }
}
