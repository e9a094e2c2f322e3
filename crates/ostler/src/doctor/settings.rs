//! Whether the environment and `config.yaml` can be used, as a daemon that starts now would read them.

use std::io;

use super::Finding;
use crate::config::{ConfigError, Environment, FileError};

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    match (environment.daemon_settings(), environment.file()) {
        // A home that is none has a check of its own.
        (Err(ConfigError::File(FileError::Unreadable { error, .. })), _)
            if error.kind() == io::ErrorKind::NotADirectory =>
        {
            Vec::new()
        }
        (Err(error), _) => {
            let problem = Finding::of_error(&error);
            vec![match problem.fix {
                Some(_) => problem,
                None => problem.fix("correct it; docs/settings.md and `ostler config schema` say what is valid"),
            }]
        }
        (Ok(_), Ok(file)) if file.exists() => vec![Finding::ok(format!("{} is valid", file.display()))],
        (Ok(_), _) => vec![Finding::ok("no config.yaml, so the defaults hold; the environment is valid")],
    }
}
