//! The daemon of this name: whether it answers, and whether it is of this version.

use std::fs;

use super::Finding;
use crate::client::{Client, ClientError, Pong};
use crate::config::{ClientSettings, Environment};
use crate::daemon::lock;
use crate::ending;

pub(super) fn look(environment: &Environment) -> Vec<Finding> {
    let Ok(settings) = environment.client_settings() else { return Vec::new() };
    let name = &settings.paths.name;
    let greeted = Client::connect(&settings).and_then(|client| match client {
        Some(mut client) => client.greet().cloned().map(Some),
        None => Ok(None),
    });
    vec![match greeted {
        // What stands in the place of the socket is told by the check of the files.
        Err(ClientError::Path(_)) => return Vec::new(),
        Err(error) => Finding::of_error(&error),
        Ok(Some(daemon)) => judge(&daemon, &settings),
        Ok(None) => match lock::holder(&settings.paths.pid_file) {
            Some(pid) => Finding::problem(format!("the daemon {name} (pid {pid}) lives and has no socket"))
                .fix(format!("end it with `kill {pid}`; the next command starts another one")),
            None => Finding::ok(format!("none runs (name {name}); the next command starts one")),
        },
    }]
}

fn judge(daemon: &Pong, settings: &ClientSettings) -> Finding {
    let (name, ours) = (&settings.paths.name, env!("CARGO_PKG_VERSION"));
    let Pong { pid: Some(pid), version: Some(version), .. } = daemon else {
        let socket = settings.paths.socket.display();
        let problem = Finding::problem(format!("a program that is not ostler answers on {socket}"));
        return problem.fix("end it, or choose another BU_NAME");
    };
    if version != ours {
        let problem =
            Finding::problem(format!("the daemon {name} (pid {pid}) has version {version}, this command {ours}"));
        return replaceable(problem, settings);
    }
    if runs_a_replaced_file(*pid) {
        let problem =
            Finding::problem(format!("the daemon {name} (pid {pid}) was started before its program file was replaced"));
        return replaceable(problem, settings);
    }
    Finding::ok(format!("{name} answers (pid {pid}, version {version})"))
}

/// Says whether the file that a process was started from has been replaced or removed since, where the system tells.
fn runs_a_replaced_file(pid: u32) -> bool {
    fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|file| file.to_string_lossy().ends_with(" (deleted)"))
}

fn replaceable(finding: Finding, settings: &ClientSettings) -> Finding {
    let settings = settings.clone();
    finding.fix("`ostler doctor --fix` replaces it; its tasks end, and browsers that it started too").repair(
        move || {
            ending::end(&settings).map_err(|error| error.to_string())?;
            let mut client = Client::connect_or_start(&settings).map_err(|error| error.to_string())?;
            let daemon = client.greet().map_err(|error| error.to_string())?;
            let pid = daemon.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
            Ok(format!("the daemon {} was replaced by one of this version{pid}", settings.paths.name))
        },
    )
}
