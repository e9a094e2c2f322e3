//! The cloud services that ostler can ask for a browser, and how each wants to be asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A service that rents out browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Provider {
    /// Browser Use: its CDP address is an HTTP endpoint with a version page.
    BrowserUse,
    /// Browserbase: its CDP address is a WebSocket. It answers native dialogs by itself.
    Browserbase,
}

/// How a request to a service is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
    Patch,
}

impl Provider {
    /// All of them, in the order in which they are listed to a user.
    pub(crate) const ALL: [Self; 2] = [Self::BrowserUse, Self::Browserbase];

    /// Returns the provider of this name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// Returns its name on the command line and in requests.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BrowserUse => "browser-use",
            Self::Browserbase => "browserbase",
        }
    }

    /// Returns the environment variable that its API key is taken from.
    pub(crate) fn key_variable(self) -> &'static str {
        match self {
            Self::BrowserUse => "BROWSER_USE_API_KEY",
            Self::Browserbase => "BROWSERBASE_API_KEY",
        }
    }

    /// Returns where its API is, unless `config.yaml` says otherwise.
    pub(crate) fn usual_api_base(self) -> &'static str {
        match self {
            Self::BrowserUse => "https://api.browser-use.com/api/v3",
            Self::Browserbase => "https://api.browserbase.com/v1",
        }
    }

    /// Returns the key of `config.yaml` that moves its API.
    pub(super) fn api_base_setting(self) -> &'static str {
        match self {
            Self::BrowserUse => "cloud.browser_use.api_base",
            Self::Browserbase => "cloud.browserbase.api_base",
        }
    }

    /// Returns the header that carries the API key.
    pub(super) fn key_header(self) -> &'static str {
        match self {
            Self::BrowserUse => "X-Browser-Use-API-Key",
            Self::Browserbase => "X-BB-API-Key",
        }
    }

    /// Returns where its browsers are, below the API's base.
    pub(super) fn collection(self) -> &'static str {
        match self {
            Self::BrowserUse => "browsers",
            Self::Browserbase => "sessions",
        }
    }

    /// Returns the body that asks for a browser: the user's options as they are, and the project where there are such.
    pub(super) fn create_body(self, options: &Map<String, Value>, project: Option<&str>) -> Value {
        let mut body = options.clone();
        if let (Self::Browserbase, Some(project)) = (self, project) {
            body.entry("projectId").or_insert_with(|| json!(project));
        }
        Value::Object(body)
    }

    /// Returns how a browser is ended: a request to its own path.
    pub(super) fn stop_request(self, project: Option<&str>) -> (Verb, Value) {
        match (self, project) {
            (Self::BrowserUse, _) => (Verb::Patch, json!({"action": "stop"})),
            (Self::Browserbase, None) => (Verb::Post, json!({"status": "REQUEST_RELEASE"})),
            (Self::Browserbase, Some(project)) => {
                (Verb::Post, json!({"status": "REQUEST_RELEASE", "projectId": project}))
            }
        }
    }

    /// Returns the field that holds the address for CDP.
    pub(super) fn address_field(self) -> &'static str {
        match self {
            Self::BrowserUse => "cdpUrl",
            Self::Browserbase => "connectUrl",
        }
    }
}
