//! What a container runs: `contrib/docker-entrypoint`, with a program in the place of ostler that tells what it is asked.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Returns the commands that the entry point runs, one on each line.
fn ran(args: &[&str], environment: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("ostler");
    fs::write(&program, "#!/bin/sh\necho \"$@\" >> \"$ASKED\"\n").expect("a program");
    fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("our file");
    let asked = folder.path().join("asked");
    let entry = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/docker-entrypoint");
    let mut command = Command::new("/bin/sh");
    command.arg(entry).args(args).env_clear().env("ASKED", &asked).env("PATH", folder.path());
    let ended = command.envs(environment.iter().copied()).status().expect("a shell");
    assert!(ended.success(), "{args:?}: {ended}");
    fs::read_to_string(asked).expect("it was asked something")
}

#[test]
fn a_browser_is_launched_for_what_needs_one_and_for_nothing_else() {
    for args in [&[] as &[&str], &["js", "1"], &["--json", "js", "1"], &["--task", "status", "js", "1"], &["mcp"]] {
        assert_eq!(ran(args, &[]), format!("connect --launch\n{}\n", args.join(" ")));
    }
    for args in [&["status"] as &[&str], &["--json", "doctor"], &["--task", "js", "status"], &["--help"]] {
        assert_eq!(ran(args, &[]), format!("{}\n", args.join(" ")));
    }
}

#[test]
fn a_browser_that_the_environment_names_is_taken() {
    for variable in ["BU_CDP_WS", "BU_CDP_URL", "BU_BROWSER_ID"] {
        assert_eq!(ran(&["js", "1"], &[(variable, "x")]), "js 1\n");
    }
}
