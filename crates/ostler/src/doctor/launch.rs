//! Whether `ostler connect --launch` would find a browser to start, and a place in which one works.

use std::path::Path;

use rustix::fs::statvfs;

use super::Finding;
use crate::config::Environment;
use crate::endpoint;

/// Containers get 64 MB by default, and tabs of larger pages crash then.
const SHARED_MEMORY: u64 = 128 << 20;

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let Ok(settings) = environment.daemon_settings() else { return Vec::new() };
    let mut findings = vec![match &settings.executable {
        Some(program) if program.is_file() => Finding::ok(format!("browser.executable is {}", program.display())),
        Some(program) => Finding::problem(format!("browser.executable names {}, which is no file", program.display()))
            .fix("correct it in config.yaml, or leave it out to have a browser looked for"),
        None => match endpoint::installed_browser(&settings.machine) {
            Ok(program) => Finding::ok(format!("{} is there to be launched", program.display())),
            Err(error) => Finding::note(error.happened()).fix(error.next_step()),
        },
    }];
    if rustix::process::geteuid().is_root() {
        findings.push(
            Finding::note("as root a browser is launched with --no-sandbox, so a hostile page is not contained")
                .fix("run ostler as a user that is not root"),
        );
    }
    if !settings.flags.iter().any(|flag| flag == "--disable-dev-shm-usage") {
        findings.extend(little_shared_memory(Path::new("/dev/shm"), SHARED_MEMORY));
    }
    findings
}

fn little_shared_memory(place: &Path, needed: u64) -> Option<Finding> {
    let found = statvfs(place).ok()?;
    let size = found.f_blocks.saturating_mul(found.f_frsize);
    (size < needed).then(|| {
        Finding::note(format!("{} holds {} MB, and tabs that need more crash", place.display(), size >> 20)).fix(
            "start the container with --shm-size=1g, or add --disable-dev-shm-usage to browser.flags in config.yaml",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_noted_where_it_is_little_and_there_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(little_shared_memory(folder.path(), u64::MAX).expect("a note").fix.is_some());
        assert!(little_shared_memory(folder.path(), 0).is_none());
        assert!(little_shared_memory(&folder.path().join("none"), u64::MAX).is_none());
    }
}
