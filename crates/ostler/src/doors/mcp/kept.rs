//! Results that are too large for a model's context, in files: a host with a file system opens the path, another one
//! reads the resource.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::Resource;
use tempfile::TempDir;

/// How many results are kept; the oldest one goes first.
const MAX_KEPT: usize = 20;

/// The large results of this process. Their folder is the user's alone, and goes with the process.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Files>);

#[derive(Debug, Default)]
struct Files {
    folder: Option<TempDir>,
    so_far: u64,
    newest: VecDeque<File>,
}

/// One result.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// Where it is.
    pub(super) path: PathBuf,
    /// How a host refers to it.
    pub(super) resource: Resource,
}

impl Kept {
    /// Writes a result into a file.
    pub(super) fn keep(&self, json: &str) -> io::Result<File> {
        let mut files = self.files();
        let folder = match files.folder.take() {
            Some(folder) => folder,
            None => tempfile::Builder::new().prefix("ostler-mcp-").tempdir()?,
        };
        let number = files.so_far + 1;
        let path = folder.path().join(format!("result-{number}.json"));
        files.folder = Some(folder);
        fs::write(&path, json)?;
        let resource = Resource::new(uri(&path), format!("result-{number}.json"))
            .with_mime_type("application/json")
            .with_size(json.len() as u64);
        let file = File { path, resource };
        files.so_far = number;
        files.newest.push_back(file.clone());
        if files.newest.len() > MAX_KEPT
            && let Some(oldest) = files.newest.pop_front()
        {
            let _ = fs::remove_file(oldest.path);
        }
        Ok(file)
    }

    /// Returns all of them, the oldest first.
    pub(super) fn list(&self) -> Vec<Resource> {
        self.files().newest.iter().map(|file| file.resource.clone()).collect()
    }

    /// Returns the text of the result at a URI; no other file is ever read.
    pub(super) fn read(&self, uri: &str) -> Option<String> {
        let path = self.files().newest.iter().find(|file| file.resource.uri == uri)?.path.clone();
        fs::read_to_string(path).ok()
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    path.as_os_str().as_encoded_bytes().iter().fold("file://".to_owned(), |uri, &byte| {
        if plain(byte) { uri + &char::from(byte).to_string() } else { format!("{uri}%{byte:02X}") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_and_nothing_else_can_be_read() {
        let kept = Kept::default();
        let first = kept.keep("1").expect("a file");
        assert_eq!(kept.read(&first.resource.uri).as_deref(), Some("1"));
        for number in 0..MAX_KEPT {
            kept.keep(&number.to_string()).expect("a file");
        }
        assert!(!first.path.exists());
        assert_eq!((kept.read(&first.resource.uri), kept.list().len()), (None, MAX_KEPT));
        assert_eq!(kept.read("file:///etc/passwd"), None);
    }

    #[test]
    fn a_path_is_a_uri_also_with_spaces_in_it() {
        assert_eq!(uri(Path::new("/tmp/a b/ü.json")), "file:///tmp/a%20b/%C3%BC.json");
    }
}
