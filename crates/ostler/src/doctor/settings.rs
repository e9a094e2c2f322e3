//! Whether the environment and `config.yaml` can be used, as a daemon that starts now would read them.

use super::Finding;
use crate::config::Environment;

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    match (environment.daemon_settings(), environment.file()) {
        (Err(error), _) => vec![
            Finding::problem(error.to_string())
                .fix("correct it; docs/settings.md and `ostler config schema` say what is valid"),
        ],
        (Ok(_), Ok(file)) if file.exists() => vec![Finding::ok(format!("{} is valid", file.display()))],
        (Ok(_), _) => vec![Finding::ok("no config.yaml, so the defaults hold; the environment is valid")],
    }
}
