//! What is written down about a cloud browser, so that somebody stops it whatever dies.
//!
//! ```text
//!  guard:   intent ──▶ request ──▶ id ──▶ in use ──▶ stopped ──▶ removed
//!             └────────── the note is held all the time ───────────┘
//! ```
//!
//! A note that nobody holds is a browser that nobody looks after any more, and whoever finds it stops it. It holds no key.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::note::Note;
use super::super::process::Process;
use super::provider::Provider;

/// A browser that somebody pays for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Who rents it out.
    pub(crate) provider: Provider,
    /// Its name there; none while it is being asked for.
    pub(crate) id: Option<String>,
    /// Where the API is that knows it.
    pub(crate) api_base: String,
    /// The project that it belongs to, where there are such.
    pub(crate) project: Option<String>,
    /// The daemon that it was started for.
    pub(crate) daemon: String,
    /// That daemon's process: while it lives it looks after the browser, also without the guard.
    #[serde(default)]
    pub(super) process: Option<Process>,
    /// Why it could not be stopped, once that was tried.
    #[serde(default)]
    pub(crate) not_stopped: Option<String>,
}

/// A record on disk that we are responsible for.
pub(super) type Written = Note<Record>;

impl Written {
    /// Writes a record down before anything is asked for.
    pub(super) fn of(folder: &Path, record: Record) -> io::Result<Self> {
        Self::begin(folder, record.provider.name(), record)
    }

    /// Says whether nobody looks after it any more. One without an id nobody can stop, whoever lives.
    pub(super) fn is_left(&self) -> bool {
        self.said.id.is_none() || !self.said.process.is_some_and(Process::is_alive)
    }

    /// Adds why it could not be stopped, for whoever finds it. Where even that cannot be written, the rest says enough.
    pub(super) fn note_not_stopped(&mut self, why: String) {
        let _ = self.say(Record { not_stopped: Some(why), ..self.said.clone() });
    }

    /// Adds the id.
    pub(super) fn set_id(&mut self, id: &str) -> io::Result<()> {
        self.say(Record { id: Some(id.to_owned()), ..self.said.clone() })
    }
}
