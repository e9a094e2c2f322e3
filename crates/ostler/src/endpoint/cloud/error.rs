//! Says why there is no cloud browser, or why one may still run, and what to do about it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::provider::Provider;

/// What went wrong with a cloud browser. It travels from the guard to the daemon, so it is plain data.
///
/// No variant holds a key, a URL of a browser or what a user passed on: an error can be shown to anyone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CloudError {
    /// Nobody gave the API key.
    NoKey { provider: Provider },
    /// The API key is none that a header can carry.
    BadKey { provider: Provider },
    /// The setting that says where the API is cannot be used.
    BadApiBase { provider: Provider, problem: String },
    /// The API did not answer.
    Unreachable { provider: Provider, at: String, cause: String },
    /// The API answered with a refusal; `said` is its own reason, without anything secret.
    Refused { provider: Provider, doing: Doing, status: u16, said: String },
    /// The API answered something else than it promises.
    Nonsense { provider: Provider, doing: Doing, what: String },
    /// A name that can be no browser's.
    BadId { provider: Provider },
    /// The service made a browser and gives no address for it.
    NoAddress { provider: Provider, id: String },
    /// The browser cannot be written down, so it is not asked for.
    NotWritten { folder: String, cause: String },
    /// The browser was there and is over: stopped, or its time is up.
    Over { provider: Provider, id: String, cause: String },
    /// The browser runs by the service's word, and cannot be reached.
    OutOfReach { provider: Provider, id: String, cause: String, stopped: bool },
    /// The process that was to guard it did not do its work.
    GuardFailed { cause: String },
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Doing {
    Create,
    LookUp,
    Stop,
}

impl Doing {
    fn words(self) -> &'static str {
        match self {
            Self::Create => "start a browser",
            Self::LookUp => "look a browser up",
            Self::Stop => "stop a browser",
        }
    }
}

impl CloudError {
    /// Returns whether a browser may run that was asked for and whose name never came.
    pub(super) fn may_have_started_one(&self) -> bool {
        match self {
            Self::Refused { doing: Doing::Create, status, .. } => !(400..500).contains(status),
            Self::Nonsense { doing: Doing::Create, .. } => true,
            _ => false,
        }
    }

    /// Returns what happened.
    pub(crate) fn happened(&self) -> String {
        match self {
            Self::NoKey { provider } => format!("no API key for {} is known", provider.name()),
            Self::BadKey { provider } => format!("the API key for {} is none that can be sent", provider.name()),
            Self::BadApiBase { provider, problem } => format!("{} {problem}", provider.api_base_setting()),
            Self::Unreachable { provider, at, cause } => {
                format!("the API of {} does not answer at {at} ({cause})", provider.name())
            }
            Self::Refused { provider, doing, status, said } if said.is_empty() => {
                format!("{} refused to {} (status {status})", provider.name(), doing.words())
            }
            Self::Refused { provider, doing, status, said } => {
                format!("{} refused to {} (status {status}: {said})", provider.name(), doing.words())
            }
            Self::Nonsense { provider, doing, what } => {
                format!("{} was asked to {} and {what}", provider.name(), doing.words())
            }
            Self::BadId { provider } => format!("that is no id of a {} browser", provider.name()),
            Self::NoAddress { provider, id } => {
                format!("{} started browser {id} but gives no address for it", provider.name())
            }
            Self::NotWritten { folder, cause } => {
                format!("the cloud browser could not be written down in {folder} ({cause}), so none was started")
            }
            Self::Over { provider, id, cause } => {
                format!("the {} cloud browser {id} is over ({cause})", provider.name())
            }
            Self::OutOfReach { provider, id, cause, .. } => {
                format!("the {} cloud browser {id} cannot be reached ({cause})", provider.name())
            }
            Self::GuardFailed { cause } => format!("the process that guards the cloud browser failed: {cause}"),
        }
    }

    /// Returns what to do next.
    pub(crate) fn next_step(&self) -> String {
        match self {
            Self::NoKey { provider } | Self::BadKey { provider } => format!("set {}", provider.key_variable()),
            Self::BadApiBase { provider, .. } => {
                format!("set it to an https:// URL such as {}, or leave it out", provider.usual_api_base())
            }
            Self::Unreachable { .. } => "check the network and try again".to_owned(),
            Self::Refused { provider, status: 401 | 403, .. } => {
                format!("check {} and what its plan allows", provider.key_variable())
            }
            Self::Refused { status: 402 | 429, .. } => "free or add what its plan limits, then try again".to_owned(),
            Self::Refused { provider, .. } if self.may_have_started_one() => {
                format!("look in the dashboard of {} whether a browser runs, then try again", provider.name())
            }
            Self::Refused { doing: Doing::Create, .. } => "check the options that were passed on".to_owned(),
            Self::Refused { provider, .. } | Self::BadId { provider } => {
                format!("look at the browsers that run in the dashboard of {}", provider.name())
            }
            Self::Nonsense { provider, .. } => {
                format!("look in the dashboard of {} whether a browser runs", provider.name())
            }
            Self::NoAddress { .. } | Self::GuardFailed { .. } => "try again".to_owned(),
            Self::OutOfReach { stopped: true, .. } => "it is stopped again; try another time".to_owned(),
            Self::OutOfReach { provider, .. } => format!(
                "it is over, or the network is in the way: it is tried again, and `ostler connect --cloud {}` starts another",
                provider.name()
            ),
            Self::NotWritten { .. } => "make the folder writable, or set OSTLER_HOME to one that is".to_owned(),
            Self::Over { provider, .. } => format!("start another with `ostler connect --cloud {}`", provider.name()),
        }
    }
}

impl fmt::Display for CloudError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.happened(), self.next_step())
    }
}

impl std::error::Error for CloudError {}
