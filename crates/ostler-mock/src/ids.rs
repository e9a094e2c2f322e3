//! The ids that CDP names things by, one type each, so that a session is never passed where a frame is meant.

use std::fmt;
use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the id as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

id!(
    /// A target: a page, or a frame that has a renderer process of its own.
    TargetId
);
id!(
    /// A flattened session that one connection holds on one target.
    SessionId
);
id!(
    /// A frame. Chromium gives a page's main frame, and an OOPIF, the id of its target.
    FrameId
);

impl TargetId {
    /// Returns the frame at the root of this target.
    pub(crate) fn root_frame(&self) -> FrameId {
        FrameId(self.0.clone())
    }
}

impl FrameId {
    /// Returns the target this frame has once it is an OOPIF.
    pub(crate) fn own_target(&self) -> TargetId {
        TargetId(self.0.clone())
    }
}
