//! Stops the cloud browsers that nobody looks after any more: their daemon and their guard are dead.

use std::fmt;
use std::io;
use std::path::Path;

use super::api::Api;
use super::error::CloudError;
use super::keys::Keys;
use super::provider::Provider;
use super::record::{Record, Written};
use crate::secret::SecretUrl;

/// What became of one leftover.
#[derive(Debug)]
pub(crate) struct Leftover {
    /// Who rents it out.
    pub(crate) provider: Provider,
    /// Its name there, if it ever got one.
    pub(crate) id: Option<String>,
    /// The daemon that it was started for.
    pub(crate) daemon: String,
    /// What became of it.
    pub(crate) fate: Fate,
}

/// What can become of a leftover.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It runs no more.
    Stopped,
    /// It may still run, for this reason; its record stays.
    Left(CloudError),
    /// It was asked for and the answer did not arrive, so whether there is one, and under which name, is not known.
    NeverNamed,
}

impl Leftover {
    /// Says whether nothing is left to be done about it.
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.fate, Fate::Stopped)
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (provider, daemon) = (self.provider.name(), &self.daemon);
        let id = self.id.as_deref().unwrap_or("of unknown id");
        match &self.fate {
            Fate::Stopped => write!(f, "stopped the {provider} cloud browser {id}, which daemon {daemon} left behind"),
            Fate::Left(error) => {
                write!(f, "the {provider} cloud browser {id} that daemon {daemon} left behind may still run: {error}")
            }
            Fate::NeverNamed => write!(
                f,
                "daemon {daemon} asked {provider} for a browser and never learned its name; look in the dashboard of {provider} \
                 whether one runs"
            ),
        }
    }
}

/// Returns the leftovers recorded in `folder`, and leaves them to others.
pub(crate) fn left(folder: &Path) -> io::Result<Vec<Record>> {
    Ok(found(folder)?.into_iter().map(|written| written.said.clone()).collect())
}

/// Stops all leftovers recorded in `folder`. Blocks for as long as the services take.
pub(crate) fn end_all(folder: &Path, keys: &Keys) -> Vec<Leftover> {
    end_those(folder, keys, |_| true)
}

/// The same where nobody is there to be told of those without a name: they stay for a command that a person runs.
pub(crate) fn end_named(folder: &Path, keys: &Keys) -> Vec<Leftover> {
    end_those(folder, keys, |written| written.said.id.is_some())
}

/// Stops one browser whose guard was killed, for the daemon that it belongs to.
pub(super) fn stand_in(provider: Provider, id: &str, folder: &Path, keys: &Keys) -> Option<Leftover> {
    let recorded = Written::abandoned(folder).unwrap_or_default().into_iter();
    let is_it = |written: &Written| written.said.provider == provider && written.said.id.as_deref() == Some(id);
    recorded.filter(is_it).map(|written| end(written, keys)).next()
}

/// A daemon that outlived its guard still looks after its browser.
fn found(folder: &Path) -> io::Result<Vec<Written>> {
    let mut found = Written::abandoned(folder)?;
    found.retain(Written::is_left);
    Ok(found)
}

fn end_those(folder: &Path, keys: &Keys, wanted: impl Fn(&Written) -> bool) -> Vec<Leftover> {
    let found = match found(folder) {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!("{} cannot be read, so cloud browsers may have been left there: {error}", folder.display());
            return Vec::new();
        }
    };
    found.into_iter().filter(wanted).map(|written| end(written, keys)).collect()
}

fn end(mut written: Written, keys: &Keys) -> Leftover {
    let record = written.said.clone();
    let fate = match &record.id {
        None => Fate::NeverNamed,
        Some(id) => match stop(&written, id, keys) {
            Ok(()) => Fate::Stopped,
            Err(error) => {
                written.note_not_stopped(error.happened());
                Fate::Left(error)
            }
        },
    };
    if !matches!(fate, Fate::Left(_)) {
        // Also the one without a name: it is told once, and nothing more can be done with the record.
        written.remove();
    }
    Leftover { provider: record.provider, id: record.id, daemon: record.daemon, fate }
}

fn stop(written: &Written, id: &str, keys: &Keys) -> Result<(), CloudError> {
    let record = &written.said;
    let key = keys.of(record.provider).ok_or(CloudError::NoKey { provider: record.provider })?;
    let base = SecretUrl::new(record.api_base.as_str());
    Api::new(record.provider, &base, key, record.project.as_deref())?.stop(id)
}

#[cfg(test)]
mod tests {
    use super::super::super::process::Process;
    use super::*;

    #[test]
    fn whoever_stands_in_for_one_guard_leaves_other_records_alone() {
        let temp = tempfile::tempdir().expect("a folder");
        for (provider, id) in
            [(Provider::BrowserUse, "b-1"), (Provider::BrowserUse, "b-2"), (Provider::Browserbase, "b-1")]
        {
            drop(Written::of(temp.path(), record(provider, Some(id), Some(Process::this()))).expect("written"));
        }
        let ended = stand_in(Provider::BrowserUse, "b-1", temp.path(), &Keys::default()).expect("it is recorded");
        assert!(matches!(ended.fate, Fate::Left(CloudError::NoKey { provider: Provider::BrowserUse })), "{ended:?}");
        assert!(end_all(temp.path(), &Keys::default()).is_empty(), "their daemon lives");
    }

    #[test]
    fn a_browser_without_a_name_is_told_to_a_person_and_then_forgotten() {
        let temp = tempfile::tempdir().expect("a folder");
        drop(Written::of(temp.path(), record(Provider::BrowserUse, None, Some(Process::this()))).expect("written"));
        assert!(end_named(temp.path(), &Keys::default()).is_empty());
        assert_eq!(left(temp.path()).expect("readable").len(), 1);
        assert!(matches!(end_all(temp.path(), &Keys::default())[..], [Leftover { fate: Fate::NeverNamed, .. }]));
        assert!(left(temp.path()).expect("readable").is_empty());
    }

    fn record(provider: Provider, id: Option<&str>, process: Option<Process>) -> Record {
        Record {
            provider,
            id: id.map(str::to_owned),
            api_base: "http://127.0.0.1:1".to_owned(),
            project: None,
            daemon: "t".to_owned(),
            process,
            not_stopped: None,
        }
    }
}
