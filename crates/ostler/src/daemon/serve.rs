//! Answers `ping` and `shutdown`, and tells everybody else that no browser is there yet.
//!
//! This holds the place of the line protocol, with just enough of it for the process around it to be tested.

use std::fmt;
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, oneshot};

use crate::config::Settings;

/// Serves clients until `meta: shutdown` or `asked_to_end`; calls `ready` once the socket answers.
pub(crate) async fn serve(
    listener: StdListener,
    settings: Settings,
    mut asked_to_end: oneshot::Receiver<()>,
    ready: impl FnOnce(),
) -> Result<(), ServeError> {
    let listener = UnixListener::from_std(listener).map_err(ServeError)?;
    tracing::debug!(
        policy = ?settings.dialog_policy,
        timeout_s = settings.dialog_timeout_s,
        executable = ?settings.executable,
        "tasks start with these settings"
    );
    let settings = Arc::new(settings);
    let shutdown = Arc::new(Notify::new());
    ready();
    loop {
        tokio::select! {
            client = listener.accept() => {
                let (stream, _) = client.map_err(ServeError)?;
                let (settings, shutdown) = (Arc::clone(&settings), Arc::clone(&shutdown));
                tokio::spawn(async move {
                    if let Err(error) = answer(stream, &settings, &shutdown).await {
                        tracing::debug!("a client went away: {error}");
                    }
                });
            }
            _ = &mut asked_to_end => return Ok(()),
            () = shutdown.notified() => return Ok(()),
        }
    }
}

async fn answer(stream: UnixStream, settings: &Settings, shutdown: &Notify) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    while let Some(line) = lines.next_line().await? {
        let request: Value = serde_json::from_str(&line).unwrap_or_default();
        let meta = request["meta"].as_str();
        let mut reply = match meta {
            Some("ping") => pong(&request, settings),
            Some("shutdown") => json!({"ok": true}),
            _ => json!({"error": "no browser is connected", "error_code": "browser_gone", "retry_after_ms": 1000}),
        }
        .to_string();
        reply.push('\n');
        write.write_all(reply.as_bytes()).await?;
        if meta == Some("shutdown") {
            shutdown.notify_one();
        }
    }
    Ok(())
}

fn pong(request: &Value, settings: &Settings) -> Value {
    let mut pong = json!({"pong": true, "pid": std::process::id(), "browser_kind": "cdp",
        "version": env!("CARGO_PKG_VERSION")});
    if let Some(url) = request["cdp_url"].as_str() {
        pong["same_browser"] = json!(settings.browser.as_ref().is_some_and(|named| named.url().expose() == url));
    }
    pong
}

/// The socket failed.
#[derive(Debug)]
pub(crate) struct ServeError(io::Error);

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the daemon's socket failed: {}", self.0)
    }
}
