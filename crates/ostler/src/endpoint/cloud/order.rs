//! What is asked for: a new cloud browser, or the care for one that somebody else started.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::keys::Keys;
use super::provider::Provider;
use crate::secret::{Secret, SecretUrl};

/// What the daemon's settings say about cloud browsers.
#[derive(Clone, Debug)]
pub(crate) struct CloudSettings {
    /// The folder in which every cloud browser is written down.
    pub(crate) folder: PathBuf,
    /// The keys of the daemon's environment.
    pub(crate) keys: Keys,
    /// What holds for Browser Use.
    pub(crate) browser_use: ServiceSettings,
    /// What holds for Browserbase.
    pub(crate) browserbase: ServiceSettings,
    /// The daemon's name, for the records.
    pub(crate) daemon: String,
}

/// What the settings say about one service.
#[derive(Clone, Default)]
pub(crate) struct ServiceSettings {
    /// Where its API is, if not at its usual place.
    pub(crate) api_base: Option<SecretUrl>,
    /// The project that browsers are started in.
    pub(crate) project: Option<String>,
    /// What is passed on with every request for a browser.
    pub(crate) options: Map<String, Value>,
}

impl std::fmt::Debug for ServiceSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The options may hold a proxy's password.
        f.debug_struct("ServiceSettings").field("project", &self.project).finish_non_exhaustive()
    }
}

/// What one `connect` asks for.
#[derive(Clone)]
pub(crate) struct CloudOptions {
    /// Of whom.
    pub(crate) provider: Provider,
    /// The key of the command's environment; without one the daemon's own is used.
    pub(crate) key: Option<Secret>,
    /// The project of the command's environment.
    pub(crate) project: Option<String>,
    /// What is passed on, beside and before what the settings say.
    pub(crate) options: Map<String, Value>,
}

impl std::fmt::Debug for CloudOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CloudOptions").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// An order that can be carried out: everything that a guard needs.
#[derive(Clone)]
pub(crate) struct CloudOrder {
    pub(super) provider: Provider,
    pub(super) key: Option<Secret>,
    pub(super) api_base: SecretUrl,
    pub(super) project: Option<String>,
    pub(super) wanted: Wanted,
    pub(super) folder: PathBuf,
    pub(super) daemon: String,
}

impl CloudOrder {
    /// Says whether the browser that was ordered is what `asked` describes. What is not mentioned there may be anything.
    pub(crate) fn satisfies(&self, asked: &CloudOptions) -> bool {
        let Wanted::New(options) = &self.wanted else { return false };
        self.provider == asked.provider
            && (asked.key.is_none() || asked.key == self.key)
            && (asked.project.is_none() || asked.project == self.project)
            && asked.options.iter().all(|(name, value)| options.get(name) == Some(value))
    }
}

/// A new browser, or one that is there.
#[derive(Clone)]
pub(super) enum Wanted {
    New(Map<String, Value>),
    /// By its id; whether its address has to be asked for as well.
    Known {
        id: String,
        address: bool,
    },
}

impl std::fmt::Debug for CloudOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CloudOrder").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl CloudSettings {
    /// Completes what a command asked for with what the daemon was told.
    pub(crate) fn order(&self, asked: CloudOptions) -> CloudOrder {
        let CloudOptions { provider, key, project, options } = asked;
        let service = self.service(provider);
        let mut merged = service.options.clone();
        merged.extend(options);
        CloudOrder {
            provider,
            key: key.or_else(|| self.keys.of(provider).cloned()),
            api_base: self.api_base(provider),
            project: project.or_else(|| service.project.clone()),
            wanted: Wanted::New(merged),
            folder: self.folder.clone(),
            daemon: self.daemon.clone(),
        }
    }

    /// Returns the order to look after a Browser Use browser that somebody else started.
    pub(crate) fn adoption(&self, id: String, address: bool) -> CloudOrder {
        let provider = Provider::BrowserUse;
        CloudOrder {
            provider,
            key: self.keys.of(provider).cloned(),
            api_base: self.api_base(provider),
            project: None,
            wanted: Wanted::Known { id, address },
            folder: self.folder.clone(),
            daemon: self.daemon.clone(),
        }
    }

    fn service(&self, provider: Provider) -> &ServiceSettings {
        match provider {
            Provider::BrowserUse => &self.browser_use,
            Provider::Browserbase => &self.browserbase,
        }
    }

    fn api_base(&self, provider: Provider) -> SecretUrl {
        let set = self.service(provider).api_base.clone();
        set.unwrap_or_else(|| SecretUrl::new(provider.usual_api_base()))
    }
}
