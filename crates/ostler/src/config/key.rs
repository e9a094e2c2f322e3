//! A setting of `config.yaml`, declared once: reading the file, its JSON Schema and `ostler config show` all go by it.

use std::borrow::Borrow;
use std::fmt;
use std::time::Duration;

use super::document::{Document, Node};
use super::fault::Fault;
use super::yaml::ScalarKind;
use crate::times;

/// One setting, and how its value becomes what the program works with.
#[derive(Debug)]
pub(crate) struct Key<T: 'static> {
    /// Its place in the file, such as `browser.dialog_policy`.
    pub(crate) name: &'static str,
    /// What it does, in one sentence.
    pub(crate) about: &'static str,
    /// What may stand there; said in the schema.
    pub(crate) kind: Kind,
    /// What holds when nobody sets it, as it would be written; none where there is no such value.
    pub(crate) default: Option<&'static str>,
    /// Reads the value, and says what is wrong with it. The last word: a kind can say less than a rule knows.
    pub(crate) read: fn(&Node) -> Result<T, Fault>,
}

impl<T: fmt::Debug> Key<T> {
    /// Returns what the file says, if it says anything.
    pub(crate) fn of(&self, document: &Document) -> Result<Option<T>, Fault> {
        document.node(self.name).map(self.read).transpose()
    }
}

/// What may stand as a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A number of seconds, at least [`times::SHORTEST`].
    Seconds {
        /// The largest one.
        at_most: Duration,
    },
    /// An absolute path.
    Path,
    /// Where a service's API is: over TLS, or on this machine. Its path may be a key, so it is never shown.
    ApiBase,
    /// A URL of one of these schemes. Its path and query may be a key, so they are never shown.
    Url(&'static [&'static str]),
    /// Flags of a browser's command line.
    Flags,
    /// HTTP headers by name. Their values may be keys, so they are never shown.
    Headers,
    /// What is passed on to a cloud service, by name. A password may be among it, so the values are never shown.
    Options,
    /// A name that somebody else gave: letters, digits, `-` and `_`.
    Id,
}

impl Kind {
    /// Returns how a value of this kind is written in YAML.
    pub(super) fn shape(self) -> Shape {
        match self {
            Self::Word(_)
            | Self::Flag
            | Self::Seconds { .. }
            | Self::Path
            | Self::Url(_)
            | Self::ApiBase
            | Self::Id => Shape::Scalar,
            Self::Flags => Shape::List,
            Self::Headers | Self::Options => Shape::Map,
        }
    }

    /// Says whether it, or a part of it, may be a scalar of this kind.
    pub(super) fn takes(self, scalar: ScalarKind) -> bool {
        match self {
            Self::Flag => scalar == ScalarKind::Truth,
            Self::Seconds { .. } => scalar == ScalarKind::Number,
            Self::Options => scalar != ScalarKind::Nothing,
            // What YAML takes for a number or a truth, `0123` or `on`, is sent otherwise than it is meant by somebody.
            Self::Word(_) | Self::Path | Self::Url(_) | Self::ApiBase | Self::Flags | Self::Headers | Self::Id => {
                scalar == ScalarKind::Text
            }
        }
    }

    /// Says whether a value of this kind may be, or hold, a secret.
    pub(super) fn is_secret(self) -> bool {
        matches!(self, Self::Url(_) | Self::ApiBase | Self::Headers | Self::Options)
    }

    /// Returns what may stand there, as the end of a sentence.
    pub(super) fn allowed(self) -> String {
        match self {
            Self::Word(words) => either(words),
            Self::Flag => "true or false, without quotes".to_owned(),
            Self::Seconds { at_most } => format!(
                "a number of seconds without quotes, at least {} and at most {}",
                times::SHORTEST.as_secs_f64(),
                at_most.as_secs()
            ),
            Self::Path => "an absolute path".to_owned(),
            Self::Url(schemes) => {
                let begins: Vec<_> = schemes.iter().map(|scheme| format!("{scheme}://")).collect();
                format!("a URL that begins with {}", either(&begins))
            }
            Self::ApiBase => "a URL such as https://api.example.com, or http:// on this machine".to_owned(),
            Self::Flags => "a list of flags, as in [--mute-audio]".to_owned(),
            Self::Headers => "headers by name, as in {X-Key: value}".to_owned(),
            Self::Options => "options by name, as in {timeout: 30}".to_owned(),
            Self::Id => "an id in quotes: letters, digits, - and _".to_owned(),
        }
    }

    /// Returns what a part of it may be, in the same way.
    pub(super) fn part_allowed(self) -> &'static str {
        match self {
            Self::Flags => "a flag, which begins with --",
            Self::Headers => "a text; put it in quotes",
            _ => "a text, a number, true or false",
        }
    }
}

/// Lists words as people do: `a, b or c`.
fn either<S: Borrow<str>>(words: &[S]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {}", first.join(", "), last.borrow()),
        words => words.concat(),
    }
}

/// How a value is written in YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A word, a number, a text.
    Scalar,
    /// A list of them.
    List,
    /// Some by name.
    Map,
}

/// A key whatever its value becomes, for what goes through all of them.
pub(crate) trait AnyKey: Sync {
    /// Returns its place in the file.
    fn name(&self) -> &'static str;
    /// Returns what it does.
    fn about(&self) -> &'static str;
    /// Returns what may stand there.
    fn kind(&self) -> Kind;
    /// Returns what holds when nobody sets it.
    fn default(&self) -> Option<&'static str>;
    /// Says what is wrong with a value, if anything is.
    fn check(&self, node: &Node) -> Result<(), Fault>;
}

impl<T> AnyKey for Key<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn default(&self) -> Option<&'static str> {
        self.default
    }

    fn check(&self, node: &Node) -> Result<(), Fault> {
        (self.read)(node).map(drop)
    }
}
