//! Reads a file of which only the name is known: whatever stands there, it neither hangs us nor fills the memory.
//!
//! A pipe under the name of `config.yaml` would hold whoever opens it until somebody writes, `/dev/zero` never ends, and
//! a file may be a disk image that was copied to the wrong place.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Reads a regular file of at most so many bytes. Links are followed: people keep such files in a repository of theirs.
pub(crate) fn read(path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
    read_open(open(path)?, at_most)
}

/// The same as text. What is no text is said by its place, and never repeated: it may be a key.
pub(crate) fn read_text(path: &Path, at_most: u64) -> io::Result<String> {
    String::from_utf8(read(path, at_most)?).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        refused(io::ErrorKind::InvalidData, format!("line {line} is not UTF-8 text"))
    })
}

/// Opens a regular file for reading, and nothing else.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    // Without NONBLOCK a pipe would hold us here already. On a regular file it means nothing.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("open flags fit the system's int");
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| match error.kind() {
        // Something is there, and somebody meant it to lead to a file.
        io::ErrorKind::NotFound if path.is_symlink() => {
            refused(io::ErrorKind::InvalidInput, "it is a link that leads nowhere".to_owned())
        }
        _ => error,
    })?;
    let kind = file.metadata()?.file_type();
    let is = match () {
        () if kind.is_file() => return Ok(file),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () => "a device",
    };
    Err(refused(io::ErrorKind::InvalidInput, format!("it is {is}, and a regular file is needed")))
}

/// Reads what is left of an open file, if that is at most so many bytes.
pub(crate) fn read_open(file: File, at_most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(at_most + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= at_most) {
        return Ok(bytes);
    }
    Err(refused(io::ErrorKind::FileTooLarge, format!("it has more than the {} that are read of it", size(at_most))))
}

fn refused(kind: io::ErrorKind, why: String) -> io::Error {
    io::Error::new(kind, why)
}

fn size(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{bytes} bytes") } else { format!("{} MiB", bytes >> 20) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn said(path: &Path) -> String {
        read_text(path, 1 << 20).expect_err("nothing to be read").to_string()
    }

    #[test]
    fn a_pipe_a_device_and_a_folder_are_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        assert_eq!(said(&pipe), "it is a pipe, and a regular file is needed");
        assert_eq!(said(Path::new("/dev/zero")), "it is a device, and a regular file is needed");
        assert_eq!(said(folder.path()), "it is a folder, and a regular file is needed");
    }

    #[test]
    fn a_file_that_is_far_too_long_is_not_taken_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("image");
        File::create(&path).and_then(|file| file.set_len(1 << 30)).expect("a file with a hole");
        assert_eq!(said(&path), "it has more than the 1 MiB that are read of it");
        fs::write(&path, "x".repeat(512)).expect("a file");
        assert_eq!(read(&path, 512).expect("it fits").len(), 512);
        assert!(read(&path, 511).expect_err("too long").to_string().contains("511 bytes"));
    }

    #[test]
    fn what_is_no_text_is_named_by_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("latin-1");
        fs::write(&path, b"one\ntwo\xe4\n").expect("a file");
        assert_eq!(said(&path), "line 2 is not UTF-8 text");
    }

    #[test]
    fn a_link_leads_to_the_file_and_one_to_nowhere_is_not_the_same_as_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "text").expect("a file");
        std::os::unix::fs::symlink("file", at("link")).expect("a link");
        std::os::unix::fs::symlink("none", at("dangling")).expect("a link");
        assert_eq!(read_text(&at("link"), 100).expect("readable"), "text");
        assert_eq!(said(&at("dangling")), "it is a link that leads nowhere");
        assert_eq!(read(&at("none"), 100).expect_err("nothing").kind(), io::ErrorKind::NotFound);
    }
}
