//! A setting of `config.yaml`, declared once: reading the file, its JSON Schema and `ostler config show` all go by it.

use std::fmt;
use std::time::Duration;

use super::document::{Document, Fault, Node, Shape};

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
    /// A number of seconds above 0.
    Seconds {
        /// The largest one.
        at_most: Duration,
    },
    /// An absolute path.
    Path,
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
    pub(crate) fn shape(self) -> Shape {
        match self {
            Self::Word(_) | Self::Flag | Self::Seconds { .. } | Self::Path | Self::Url(_) | Self::Id => Shape::Text,
            Self::Flags => Shape::List,
            Self::Headers | Self::Options => Shape::Map,
        }
    }
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
