//! One thing that a check has to say.

use std::fmt;

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing fails because of it.
    Note,
    /// Something does not work, or will not when it is needed.
    Problem,
    /// It was a problem or worth a note, and has just been put right.
    Fixed,
}

/// What was found, how it is put right, and maybe the way to do that at once.
pub(crate) struct Finding {
    /// How bad it is.
    pub(crate) level: Level,
    /// What is there.
    pub(crate) what: String,
    /// What to do about it, in one line.
    pub(crate) fix: Option<String>,
    repair: Option<Repair>,
}

/// Puts something right. Returns what was done, or why it could not be.
type Repair = Box<dyn FnOnce() -> Result<String, String> + Send>;

impl Finding {
    /// As it should be.
    pub(super) fn ok(what: impl Into<String>) -> Self {
        Self::new(Level::Ok, what.into())
    }

    /// Worth knowing.
    pub(super) fn note(what: impl Into<String>) -> Self {
        Self::new(Level::Note, what.into())
    }

    /// Wrong.
    pub(super) fn problem(what: impl Into<String>) -> Self {
        Self::new(Level::Problem, what.into())
    }

    /// Wrong, in the words of an error of ours: what happened, a semicolon, what to do about it.
    pub(super) fn of_error(error: &impl fmt::Display) -> Self {
        let sentence = error.to_string();
        match sentence.split_once("; ") {
            Some((what, fix)) => Self::problem(what).fix(fix),
            None => Self::problem(sentence),
        }
    }

    /// Says what to do about it.
    pub(super) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Adds what `--fix` does. It must be safe: nothing of the user's work may be lost without a word in the fix.
    pub(super) fn repair(mut self, repair: impl FnOnce() -> Result<String, String> + Send + 'static) -> Self {
        self.repair = Some(Box::new(repair));
        self
    }

    /// Returns whether `--fix` can put it right.
    pub(crate) fn is_repairable(&self) -> bool {
        self.repair.is_some()
    }

    /// Puts it right if that can be done at once; what cannot stays as it is.
    pub(crate) fn repaired(mut self) -> Self {
        match self.repair.take().map(|repair| repair()) {
            None => self,
            Some(Ok(done)) => Self::new(Level::Fixed, done),
            Some(Err(why)) => Self { what: format!("{}, and --fix could not change that: {why}", self.what), ..self },
        }
    }

    fn new(level: Level, what: String) -> Self {
        Self { level, what, fix: None, repair: None }
    }
}

impl fmt::Debug for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, what, fix, repair } = self;
        write!(f, "{level:?}: {what} ({fix:?}, repair: {})", repair.is_some())
    }
}
