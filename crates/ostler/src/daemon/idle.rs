//! Notices that nobody uses the daemon any more.

use std::future::pending;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

/// Returns once no client has been connected for so long. Without a limit, never.
pub(super) async fn unused(mut clients: watch::Receiver<usize>, patience: Option<Duration>) {
    let Some(patience) = patience else { return pending().await };
    loop {
        let nobody = *clients.borrow_and_update() == 0;
        // Whoever comes and goes while we look is a change as well, and the time begins again.
        let changed = tokio::select! {
            () = sleep(patience), if nobody => return,
            changed = clients.changed() => changed,
        };
        if changed.is_err() {
            // The door is closed: the daemon ends anyway.
            return pending().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_daemon_without_clients_is_unused_after_its_time() {
        let (clients, seen) = watch::channel(0);
        timeout(LONG, unused(seen, Some(SOON))).await.expect("nobody came");
        drop(clients);
    }

    #[tokio::test]
    async fn a_client_that_stays_keeps_it_and_one_that_left_does_not() {
        let (clients, seen) = watch::channel(1);
        timeout(SOON * 10, unused(seen.clone(), Some(SOON))).await.expect_err("somebody is there");
        let waiting = tokio::spawn(unused(seen, Some(SOON)));
        clients.send_replace(0);
        timeout(LONG, waiting).await.expect("nobody is left").expect("no panic");
    }

    #[tokio::test]
    async fn without_a_limit_it_stays() {
        let (_clients, seen) = watch::channel(0);
        timeout(SOON * 10, unused(seen, None)).await.expect_err("it stays");
    }
}
