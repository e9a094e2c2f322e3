//! Lets clients in: those of our own user, and as many as we can serve.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ostler_core::Words;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection;
use super::limits::Limits;
use super::outbox::Outbox;
use super::reply;
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::tools::Failure;

/// How long to wait after a failed accept: the usual cause is that no file descriptor is free, and
/// that does not change at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves clients until `stop` turns true, or whoever could turn it is gone. Then nobody new is let
/// in, no further request is read, and those under way have [`Limits::grace`] to be answered. `clients` is told how many there
/// are, whenever one comes or goes.
pub(crate) async fn serve<T: TaskLayer>(
    listener: UnixListener,
    tasks: Arc<T>,
    limits: Limits,
    clients: watch::Sender<usize>,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    let told = stop.clone();
    // Whether the newest client was turned away: said once, however many come while there is no room.
    let mut is_full = false;
    loop {
        tokio::select! {
            () = connection::told_to_stop(&mut stop) => break,
            Some(ended) = connections.join_next() => {
                report(ended);
                clients.send_replace(connections.len());
            }
            accepted = listener.accept() => match accepted.and_then(|(stream, _)| own_user(stream)) {
                Ok(stream) if connections.len() < limits.connections => {
                    connections.spawn(connection::serve(stream, Arc::clone(&tasks), limits, told.clone()));
                    clients.send_replace(connections.len());
                    is_full = false;
                }
                Ok(stream) => {
                    if !std::mem::replace(&mut is_full, true) {
                        tracing::warn!("turns clients away: {} connections are open", limits.connections);
                    }
                    turn_away(&stream, limits.connections);
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => tracing::warn!("{error}"),
                Err(error) => {
                    tracing::warn!("cannot accept a client: {error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    // New clients shall find no daemon rather than one that does not answer.
    drop(listener);
    let all_done = async {
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    };
    if tokio::time::timeout(limits.grace, all_done).await.is_err() {
        tracing::warn!("{} connections were cut off at the end", connections.len());
    }
}

/// Refuses a client of another user. The socket's mode says so already; this holds where that was
/// changed, or where a file system does not keep it.
fn own_user(stream: UnixStream) -> io::Result<UnixStream> {
    check_user(stream.peer_cred()?.uid(), rustix::process::geteuid().as_raw())?;
    Ok(stream)
}

fn check_user(peer: u32, own: u32) -> io::Result<()> {
    if peer == own {
        return Ok(());
    }
    let why = format!("turned away a client of user {peer}: this daemon serves user {own} alone");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Tells a client that there are too many. A fresh socket takes a short line without waiting; if it
/// does not, the client sees a closed connection.
fn turn_away(stream: &UnixStream, limit: usize) {
    let why = format!("the daemon serves {limit} connections already; close idle ones and try again");
    let mut refusal = Outbox::default();
    reply::write(&mut refusal, None, Err(Failure::of(bad("connection", why), Words::default())));
    let _ = stream.try_write(&refusal.into_bytes());
}

/// A panic in one connection ends that connection alone, but is never silent.
fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!("a connection ended abruptly: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_of_another_user_is_turned_away() {
        assert!(check_user(1000, 1000).is_ok());
        let refused = check_user(1001, 1000).expect_err("another user");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert!(refused.to_string().contains("user 1001"), "{refused}");
    }
}
