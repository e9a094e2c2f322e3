//! Stops the cloud browsers that nobody looks after any more: their daemon and their guard are dead.

use std::fmt;
use std::io;
use std::path::Path;

use super::api::Api;
use super::error::CloudError;
use super::keys::Keys;
use super::provider::Provider;
use super::record::Written;
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

/// Counts the leftovers recorded in `folder`, and leaves them to others.
pub(crate) fn count(folder: &Path) -> io::Result<usize> {
    Written::abandoned(folder).map(|found| found.len())
}

/// Stops all leftovers recorded in `folder`. Blocks for as long as the services take.
pub(crate) fn end_all(folder: &Path, keys: &Keys) -> Vec<Leftover> {
    end_those(folder, keys, |_| true)
}

/// The same with those of one service only, for whoever has no other's key.
pub(super) fn end_all_of(provider: Provider, folder: &Path, keys: &Keys) -> Vec<Leftover> {
    end_those(folder, keys, |written| written.said.provider == provider)
}

fn end_those(folder: &Path, keys: &Keys, wanted: impl Fn(&Written) -> bool) -> Vec<Leftover> {
    let found = match Written::abandoned(folder) {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!("{} cannot be read, so cloud browsers may have been left there: {error}", folder.display());
            return Vec::new();
        }
    };
    found.into_iter().filter(wanted).map(|written| end(written, keys)).collect()
}

fn end(written: Written, keys: &Keys) -> Leftover {
    let record = written.said.clone();
    let fate = match &record.id {
        None => Fate::NeverNamed,
        Some(id) => match stop(&written, id, keys) {
            Ok(()) => Fate::Stopped,
            Err(error) => Fate::Left(error),
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
    use super::super::record::Record;
    use super::*;

    #[test]
    fn whoever_stands_in_for_one_service_leaves_the_others_records_alone() {
        let temp = tempfile::tempdir().expect("a folder");
        for provider in [Provider::BrowserUse, Provider::Browserbase] {
            let record = Record {
                provider,
                id: None,
                api_base: "http://127.0.0.1:1".to_owned(),
                project: None,
                daemon: "t".to_owned(),
            };
            drop(Written::of(temp.path(), record).expect("written"));
        }
        let ended = end_all_of(Provider::BrowserUse, temp.path(), &Keys::default());
        assert_eq!(ended.iter().map(|ended| ended.provider).collect::<Vec<_>>(), [Provider::BrowserUse]);
        assert_eq!(count(temp.path()).expect("readable"), 1);
    }
}
