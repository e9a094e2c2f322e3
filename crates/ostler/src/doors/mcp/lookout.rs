//! Looks out for the browser: tells when the list of tools is not what the host was last told.

use std::sync::Arc;

use tokio::sync::watch;

use super::daemon::Daemon;

/// What a host was told of the browser with the last list of tools, if it has asked for one.
pub(super) type Told = watch::Sender<Option<bool>>;

/// One host's lookout.
#[derive(Debug)]
pub(super) struct Lookout {
    daemon: Arc<Daemon>,
    task: Option<String>,
    told: watch::Receiver<Option<bool>>,
    /// Whether the host takes the browser to be reachable. Nothing is known of a host that never asked for the list.
    known: Option<bool>,
}

impl Lookout {
    /// Begins with what the host was told.
    pub(super) fn new(daemon: Arc<Daemon>, task: Option<String>, told: &Told) -> Self {
        let mut told = told.subscribe();
        let known = *told.borrow_and_update();
        Self { daemon, task, told, known }
    }

    /// Takes the host to know how things stand now, unless it was told otherwise: for one that asked on another
    /// connection.
    pub(super) async fn beginning_now(mut self) -> Self {
        if self.known.is_none() {
            self.known = Some(self.daemon.reachable(self.task.as_deref()).await);
        }
        self
    }

    /// Waits until the browser has appeared or gone since the host was last told. Dropping the future loses nothing.
    pub(super) async fn changed(&mut self) {
        loop {
            let (daemon, task, known) = (&self.daemon, self.task.as_deref(), self.known);
            let other = async {
                match known {
                    Some(known) => daemon.reachable_unlike(task, known).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                now = other => {
                    self.known = Some(now);
                    return;
                }
                // A list that was asked for meanwhile counts: it may tell the opposite by now.
                Ok(()) = self.told.changed() => self.known = *self.told.borrow_and_update(),
            }
        }
    }
}
