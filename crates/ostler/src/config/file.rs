//! Reads `config.yaml`, and refuses what it does not understand by file, line and key.
//!
//! Every value is read as text together with its line and judged here, so that a message can name the key and
//! the words that are allowed; the YAML parser alone knows only the place.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ostler_core::view::DialogPolicy;
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::NamedBrowser;
use crate::endpoint::{Given, Protocol};
use crate::secret::SecretUrl;
use crate::times;

/// What the file says; what it leaves out is `None`.
#[derive(Debug, Default)]
pub(super) struct FileSettings {
    pub(super) browser: Option<NamedBrowser>,
    pub(super) executable: Option<PathBuf>,
    pub(super) dialog_policy: Option<DialogPolicy>,
    pub(super) dialog_timeout: Option<Duration>,
}

/// Reads the file. One that does not exist says nothing.
pub(super) fn read(path: &Path) -> Result<FileSettings, FileError> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text).map_err(|fault| FileError::Wrong { path: path.to_owned(), fault }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FileSettings::default()),
        Err(error) => Err(FileError::Unreadable { path: path.to_owned(), error }),
    }
}

/// The shape of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    browser: Option<BrowserSection>,
}

/// The keys under `browser`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BrowserSection {
    dialog_policy: Option<Spanned<String>>,
    dialog_timeout_s: Option<Spanned<String>>,
    cdp_url: Option<Spanned<String>>,
    executable: Option<Spanned<String>>,
}

fn parse(text: &str) -> Result<FileSettings, Fault> {
    // An `Option`, because a file of comments alone is an empty document.
    let document: Option<Document> = serde_saphyr::from_str(text).map_err(|error| Fault::of_yaml(text, &error))?;
    let browser = document.and_then(|document| document.browser).unwrap_or_default();
    Ok(FileSettings {
        browser: judge("browser.cdp_url", browser.cdp_url, cdp_url)?,
        executable: judge("browser.executable", browser.executable, executable)?,
        dialog_policy: judge("browser.dialog_policy", browser.dialog_policy, dialog_policy)?,
        dialog_timeout: judge("browser.dialog_timeout_s", browser.dialog_timeout_s, dialog_timeout)?,
    })
}

/// Applies a key's own rule to its value.
fn judge<T>(
    key: &'static str,
    value: Option<Spanned<String>>,
    rule: fn(String) -> Result<T, String>,
) -> Result<Option<T>, Fault> {
    let Some(value) = value else { return Ok(None) };
    let line = value.referenced.line();
    rule(value.value).map(Some).map_err(|why| Fault { line, key: Some(key.to_owned()), why })
}

fn dialog_policy(value: String) -> Result<DialogPolicy, String> {
    match value.as_str() {
        "must_respond" => Ok(DialogPolicy::MustRespond),
        "auto_dismiss" => Ok(DialogPolicy::AutoDismiss),
        "auto_accept" => Ok(DialogPolicy::AutoAccept),
        other => Err(format!("{other:?} is no policy; use must_respond, auto_dismiss or auto_accept")),
    }
}

fn dialog_timeout(value: String) -> Result<Duration, String> {
    // What is no number is out of bounds as well, and told the same.
    times::dialog_timeout(value.parse().unwrap_or(f64::NAN)).map_err(|why| format!("{value:?} {why}"))
}

/// Never repeats the value: it may carry a token.
fn cdp_url(value: String) -> Result<NamedBrowser, String> {
    let given = Given { url: SecretUrl::new(value), by: "browser.cdp_url in config.yaml" };
    match Protocol::of(&given.url) {
        Some(Protocol::WebSocket) => Ok(NamedBrowser::WebSocket(given)),
        Some(Protocol::Http) => Ok(NamedBrowser::Http(given)),
        None => Err(Protocol::EITHER.to_owned()),
    }
}

fn executable(value: String) -> Result<PathBuf, String> {
    let path = PathBuf::from(&value);
    if path.is_absolute() { Ok(path) } else { Err(format!("{value:?} is no absolute path")) }
}

/// What is wrong in the file, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, counted from 1; 0 when the parser does not know.
    line: u64,
    /// The key, as far as one can be told.
    key: Option<String>,
    /// What is wrong with it.
    why: String,
}

impl Fault {
    /// Takes over what the parser says, in one line and without the excerpt, which could hold a secret.
    fn of_yaml(text: &str, error: &serde_saphyr::Error) -> Self {
        let line = error.location().map_or(0, |location| location.line());
        let key = usize::try_from(line).ok().and_then(|line| key_of_line(text, line));
        let plain = error.without_snippet().to_string();
        let why = plain.lines().next().unwrap_or("no YAML that ostler understands").to_owned();
        Self { line, key, why }
    }
}

/// Returns the key that stands on a line, if the line looks like one.
fn key_of_line(text: &str, line: usize) -> Option<String> {
    let (key, _) = text.lines().nth(line.checked_sub(1)?)?.split_once(':')?;
    let key = key.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    (!key.is_empty()).then(|| key.to_owned())
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        if let Some(key) = &self.key {
            write!(f, "`{key}`: ")?;
        }
        f.write_str(&self.why)
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

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } => write!(f, "{} cannot be read: {error}", path.display()),
            Self::Wrong { path, fault } => write!(f, "{} {fault}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        parse(text).expect_err("a faulty file").to_string()
    }

    #[test]
    fn every_key_is_read() {
        let settings = parse(
            "browser:\n  dialog_policy: auto_accept\n  dialog_timeout_s: 12.5\n  cdp_url: https://host.example/?token=T\n  executable: /opt/chrome\n",
        )
        .expect("a good file");
        assert_eq!(settings.dialog_policy, Some(DialogPolicy::AutoAccept));
        assert_eq!(settings.dialog_timeout, Some(Duration::from_millis(12_500)));
        let given =
            Given { url: SecretUrl::new("https://host.example/?token=T"), by: "browser.cdp_url in config.yaml" };
        assert_eq!(settings.browser, Some(NamedBrowser::Http(given)));
        assert_eq!(settings.executable, Some(PathBuf::from("/opt/chrome")));
    }

    #[test]
    fn a_file_that_says_nothing_leaves_the_defaults() {
        for text in ["", "# later\n", "---\n", "browser:\n", "browser: {}\n", "browser:\n  dialog_policy:\n"] {
            let settings = parse(text).unwrap_or_else(|fault| unreachable!("{text:?}: {fault}"));
            assert!(settings.dialog_policy.is_none() && settings.browser.is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_wrong_value_is_named_by_line_and_key() {
        assert_eq!(
            fault("# mine\nbrowser:\n  dialog_policy: sometimes\n"),
            "line 3: `browser.dialog_policy`: \"sometimes\" is no policy; use must_respond, auto_dismiss or auto_accept"
        );
        for value in ["soon", "0", "-1", "86401", "1e300", ".inf", "nan", "''"] {
            let fault = fault(&format!("browser:\n  dialog_timeout_s: {value}\n"));
            assert!(fault.starts_with("line 2: `browser.dialog_timeout_s`: "), "{fault}");
        }
        assert!(fault("browser:\n  executable: chrome\n").starts_with("line 2: `browser.executable`"));
    }

    #[test]
    fn a_wrong_url_is_not_repeated() {
        let fault = fault("browser:\n  cdp_url: S3CRET\n");
        assert!(fault.starts_with("line 2: `browser.cdp_url`: ") && !fault.contains("S3CRET"), "{fault}");
    }

    #[test]
    fn an_unknown_key_is_named_by_line() {
        for (text, line, key) in [("browsr: {}\n", 1, "browsr"), ("browser:\n\n  dialog_polcy: x\n", 3, "dialog_polcy")]
        {
            let fault = fault(text);
            assert!(fault.starts_with(&format!("line {line}: `{key}`: ")), "{fault}");
        }
    }

    #[test]
    fn a_list_where_a_word_is_needed_is_named_by_line_and_key() {
        let fault = fault("browser:\n  dialog_policy: [a]\n");
        assert!(fault.starts_with("line 2: `dialog_policy`: "), "{fault}");
    }

    #[test]
    fn a_key_given_twice_and_broken_yaml_are_named_by_line() {
        assert!(fault("browser:\n  executable: /a\n  executable: /b\n").starts_with("line 3: "));
        assert!(fault("browser:\n  executable: [\n").starts_with("line "));
    }
}
