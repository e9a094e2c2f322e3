//! The daemon's hold on a cloud browser: letting go stops it.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::time::timeout;

use super::super::guarded::{Guard, GuardCommand, Reports};
use super::error::CloudError;
use super::guard::{Report, Sealed};
use super::keys::Keys;
use super::leftovers;
use super::order::CloudOrder;
use super::provider::Provider;
use crate::secret::SecretUrl;

/// How long the guard may take to stop its browser: all its tries, each as slow as may be.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// A cloud browser that is ours to stop.
///
/// [`stop`] ends it and waits for that. Dropping ends it too, without waiting: the guard does the work, and goes on
/// with it even if we are gone the next moment.
///
/// [`stop`]: CloudLease::stop
#[derive(Debug)]
pub(crate) struct CloudLease {
    guard: Child,
    /// The guard waits for its end.
    release: Option<ChildStdin>,
    reports: Reports,
    order: CloudOrder,
    pub(crate) facts: CloudFacts,
    /// Whether the browser turned out to be over.
    spent: bool,
}

/// What may be known of a cloud browser by whoever asked for it.
#[derive(Clone, Debug)]
pub(crate) struct CloudFacts {
    /// Who rents it out.
    pub(crate) provider: Provider,
    /// Its name there.
    pub(crate) id: String,
    /// The way to it; none where somebody else told it.
    pub(crate) address: Option<SecretUrl>,
    /// Where that was said, for errors.
    pub(crate) by: &'static str,
    /// A page that shows it to a person. Whoever has this URL can drive the browser.
    pub(crate) live_url: Option<SecretUrl>,
}

impl CloudLease {
    /// Has a guard carry out the order, and waits for the browser. Dropped midway, the guard stops what it gets.
    pub(crate) async fn take(order: CloudOrder, guard: &GuardCommand) -> Result<Self, CloudError> {
        let failed = |cause: String| CloudError::GuardFailed { cause };
        let sealed = Sealed::new(&order)?;
        let mut line = serde_json::to_vec(&sealed).map_err(|error| failed(error.to_string()))?;
        line.push(b'\n');
        let nothing_more: [&str; 0] = [];
        let Guard { process, mut release, mut reports } =
            guard.spawn(nothing_more).map_err(|error| failed(format!("it did not start: {error}")))?;
        release.write_all(&line).await.map_err(|error| failed(error.to_string()))?;
        match next_report(&mut reports).await? {
            Report::Running { id, address, live_url } => {
                let facts = CloudFacts {
                    provider: order.provider,
                    id,
                    address: address.map(SecretUrl::new),
                    by: "the address that the cloud service gave",
                    live_url: live_url.map(SecretUrl::new),
                };
                tracing::info!("the {} cloud browser {} is ours to stop", facts.provider.name(), facts.id);
                Ok(Self { guard: process, release: Some(release), reports, order, facts, spent: false })
            }
            Report::Failed(error) | Report::NotStopped(error) => Err(error),
        }
    }

    /// Notes that the browser is over, and returns the error that says so.
    pub(crate) fn spend(&mut self, cause: String) -> CloudError {
        self.spent = true;
        CloudError::Over { provider: self.facts.provider, id: self.facts.id.clone(), cause }
    }

    /// Returns the error for a browser that does not answer any more, and may come back.
    pub(crate) fn out_of_reach(&self, cause: String) -> CloudError {
        CloudError::OutOfReach { provider: self.facts.provider, id: self.facts.id.clone(), cause, stopped: false }
    }

    /// Says whether the browser turned out to be over.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent
    }

    /// Stops the browser and returns when the service has said so, or when nothing more can be done from here: then with
    /// what is to be said of it.
    pub(crate) async fn stop(mut self) -> Option<String> {
        self.release = None;
        match timeout(STOP_LIMIT, self.guard.wait()).await {
            Ok(Ok(status)) if status.success() => return None,
            Ok(Ok(_)) => {}
            Ok(Err(_)) | Err(_) => {
                tracing::warn!("the guard of cloud browser {} does not end", self.facts.id);
                let _ = self.guard.kill().await;
            }
        }
        if let Ok(Report::NotStopped(error)) = next_report(&mut self.reports).await {
            let (provider, id) = (self.facts.provider.name(), &self.facts.id);
            let left = format!(
                "the {provider} cloud browser {id} was not stopped, and may still run and cost money ({}): try again with \
                 `ostler stop --all`, or stop it in the dashboard of {provider}",
                error.happened()
            );
            tracing::warn!("{left}");
            return Some(left);
        }
        // Somebody killed the guard. Its record is free now, and tells what to do.
        let (provider, folder, keys) = (self.order.provider, self.order.folder.clone(), self.order_keys());
        let id = self.facts.id.clone();
        let ended = tokio::task::spawn_blocking(move || leftovers::stand_in(provider, &id, &folder, &keys)).await;
        let leftover = ended.ok()??;
        tracing::warn!("{leftover}");
        (!leftover.is_stopped()).then(|| leftover.to_string())
    }

    fn order_keys(&self) -> Keys {
        match self.order.provider {
            Provider::BrowserUse => Keys { browser_use: self.order.key.clone(), ..Keys::default() },
            Provider::Browserbase => Keys { browserbase: self.order.key.clone(), ..Keys::default() },
        }
    }
}

async fn next_report(reports: &mut Reports) -> Result<Report, CloudError> {
    let failed = |cause: String| CloudError::GuardFailed { cause };
    let report = reports.next().await.map_err(|error| failed(error.kind().to_string()))?;
    report.ok_or_else(|| failed("it ended without a word".to_owned()))
}
