//! The names of things, each a type of its own, so that a frame is never taken for a session.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A map by id. It is walked in the same order whatever happened before, so that a schedule can be replayed; and with
/// the few ids that there are at a time it is found in as quickly as by a hash, which every event would have to take.
pub(crate) type IdMap<K, V> = BTreeMap<K, V>;

/// Declares a cheap-to-clone text id.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the id as the browser or the client wrote it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                std::borrow::Cow::<'de, str>::deserialize(deserializer).map(|text| Self::from(&*text))
            }
        }
    };
}

text_id! {
    /// A CDP target: a tab (`page`), an out-of-process frame (`iframe`), a worker, or the like.
    TargetId
}
text_id! {
    /// A flattened CDP session, attached to one target.
    SessionId
}
text_id! {
    /// A frame in a tab's tree. An OOPIF's frame id is also its target id (fact C13).
    FrameId
}
text_id! {
    /// One agent's work in a browser; `default` when nobody named one.
    TaskId
}

impl TaskId {
    /// The longest name a task may have, in bytes.
    pub const MAX_LEN: usize = 128;

    /// Returns the task that a request without `task` means.
    pub fn default_task() -> Self {
        Self::from("default")
    }
}

impl FrameId {
    /// Returns the id of the target that this frame has when it is an OOPIF or a tab's top frame.
    pub fn as_target(&self) -> TargetId {
        TargetId(self.0.clone())
    }
}

impl TargetId {
    /// Returns the id of the frame at the top of this target.
    pub fn as_frame(&self) -> FrameId {
        FrameId(self.0.clone())
    }
}

/// A dialog's number within its task: it counts up and is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DialogId(pub u64);

impl fmt::Display for DialogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d-{}", self.0)
    }
}

impl Serialize for DialogId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The number of one CDP command on the wire: it counts up per supervisor and is never reused,
/// so an answer that comes late or from an earlier connection finds nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// Whoever waits for an outcome outside the core: the core hands it back and does not look inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Waiter(pub u64);
