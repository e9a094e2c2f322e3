//! A daemon dies without a chance to clean up.

mod sandbox;

use sandbox::Sandbox;

#[test]
fn the_next_command_starts_a_new_daemon_at_once() {
    let sandbox = Sandbox::new();
    let first = sandbox.start();
    sandbox.kill();
    assert!(sandbox.socket().exists() && sandbox.pid_file().exists(), "kill -9 leaves the files behind");
    assert_ne!(sandbox.start(), first);
}

#[test]
fn status_and_stop_say_that_no_daemon_runs() {
    let sandbox = Sandbox::new();
    sandbox.start();
    sandbox.kill();
    for verb in ["status", "stop"] {
        let ran = sandbox.run(&[verb]);
        ran.assert_done();
        assert!(ran.stdout.starts_with("no daemon runs (name t)"), "{ran:?}");
    }
}
