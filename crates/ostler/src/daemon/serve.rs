//! What the daemon does while it lives: the tasks, and the line protocol before them.

use std::fmt;
use std::future::Future;
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;

use tokio::net::UnixListener;
use tokio::sync::watch;

use crate::config::{NamedBrowser, Settings};
use crate::doors::line;
use crate::endpoint::Source;
use crate::tasks::{Defaults, Registry};

/// Serves clients until `meta: shutdown` or `asked_to_end`; calls `ready` once the socket answers.
///
/// The end is orderly: no new request is read, every browser is let go (open dialogs dismissed, held targets resumed),
/// and whoever still waits is told.
pub(crate) async fn serve(
    listener: StdListener,
    settings: Settings,
    asked_to_end: impl Future<Output = ()>,
    ready: impl FnOnce(),
) -> Result<(), ServeError> {
    let listener = UnixListener::from_std(listener).map_err(ServeError)?;
    let tasks = Arc::new(Registry::new(defaults(&settings), settings.machine));
    let (stop, stopped) = watch::channel(false);
    let door = tokio::spawn(line::serve(listener, Arc::clone(&tasks), line::Limits::STANDARD, stopped));
    ready();
    tokio::select! {
        () = asked_to_end => {}
        () = tasks.shutdown_requested() => {}
    }
    stop.send_replace(true);
    tasks.leave_all().await;
    // A door that panicked has no client left to wait for.
    let _ = door.await;
    Ok(())
}

fn defaults(settings: &Settings) -> Defaults {
    let source = match &settings.browser {
        Some(NamedBrowser::WebSocket(given)) => Source::WebSocket(given.clone()),
        Some(NamedBrowser::Http(given)) => Source::Http(given.clone()),
        None => Source::Discover,
    };
    Defaults {
        source,
        executable: settings.executable.clone(),
        flags: settings.flags.clone(),
        dialog_policy: settings.dialog_policy,
        dialog_timeout: settings.dialog_timeout,
        quiet: settings.quiet,
    }
}

/// The socket failed.
#[derive(Debug)]
pub(crate) struct ServeError(io::Error);

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the daemon's socket failed: {}", self.0)
    }
}
