//! The API keys that the user gave, one for each service.

use super::provider::Provider;
use crate::secret::Secret;

/// The keys, as far as there are any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    /// `BROWSER_USE_API_KEY`.
    pub(crate) browser_use: Option<Secret>,
    /// `BROWSERBASE_API_KEY`.
    pub(crate) browserbase: Option<Secret>,
}

impl Keys {
    /// Returns the key for a service.
    pub(crate) fn of(&self, provider: Provider) -> Option<&Secret> {
        match provider {
            Provider::BrowserUse => self.browser_use.as_ref(),
            Provider::Browserbase => self.browserbase.as_ref(),
        }
    }
}
