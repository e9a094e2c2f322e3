//! Binds the daemon's socket, and removes it again when the daemon ends.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Mode;
use rustix::process::umask;

use super::lock::DaemonLock;
use super::ownership::{self, Expected, PathRefused};

/// How often the daemon looks whether its socket file is still there: folders for temporary files are cleaned.
const LOOK: Duration = Duration::from_secs(5);

/// The socket file of a running daemon; dropping this removes it.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    bound: Metadata,
}

/// Binds the socket with mode 0600 and returns its non-blocking listener.
///
/// The lock is proof that no daemon of this name lives, so a socket of ours that refuses connections is a dead
/// daemon's and is replaced. Must run before the process has a second thread: the umask belongs to them all.
pub(crate) fn bind(path: &Path, _lock: &DaemonLock) -> Result<(UnixListener, SocketFile), PathRefused> {
    let refused = |error| PathRefused::io(path, error);
    if ownership::look(path, Expected::Socket)?.is_some() {
        if somebody_listens(path) {
            return Err(PathRefused::in_use(path));
        }
        fs::remove_file(path).map_err(refused)?;
    }
    let listener = listen_aside(&path.with_extension("new"), path)?;
    let bound = fs::symlink_metadata(path).map_err(refused)?;
    let file = SocketFile { path: path.to_owned(), bound };
    listener.set_nonblocking(true).map_err(refused)?;
    Ok((listener, file))
}

/// Listens under another name first, so that whoever waits for the socket file and finds it finds somebody listening:
/// a socket is bound before it listens, and refuses connections between the two.
fn listen_aside(aside: &Path, path: &Path) -> Result<UnixListener, PathRefused> {
    let refused = |error| PathRefused::io(aside, error);
    if ownership::look(aside, Expected::Socket)?.is_some() {
        fs::remove_file(aside).map_err(refused)?;
    }
    // The mode is right from the first moment: setting it afterwards would leave a window, and follow the path.
    let before = umask(Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(aside);
    umask(before);
    let listener = listener.map_err(refused)?;
    fs::rename(aside, path).map_err(|error| PathRefused::io(path, error))?;
    Ok(listener)
}

/// Whether a living program accepts connections there; one without our lock is a stranger under our name, such as
/// another tool that uses the same file names.
fn somebody_listens(path: &Path) -> bool {
    match UnixStream::connect(path) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound),
    }
}

impl SocketFile {
    /// Waits until the file is gone or another one stands in its place: nobody can reach the daemon any more.
    pub(crate) async fn wait_until_removed(&self) {
        while self.is_there() {
            tokio::time::sleep(LOOK).await;
        }
    }

    fn is_there(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| ownership::same_file(&found, &self.bound))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Only the file that we made: whatever took its place since is not ours to remove.
        if self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }
}
