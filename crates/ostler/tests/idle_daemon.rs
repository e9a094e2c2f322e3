//! A daemon that nobody uses ends by itself, if it is told to.

mod sandbox;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;

use sandbox::{Sandbox, wait_until};

#[test]
fn it_ends_when_the_last_client_has_left_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.home().join("config.yaml"), "daemon:\n  idle_timeout: 1\n").expect("a configuration");
    let mut client = None;
    // On a slow machine it may end before the second client comes: then that one starts another.
    wait_until("a client is let in", || {
        sandbox.start();
        client = UnixStream::connect(sandbox.socket()).ok();
        client.as_mut().is_some_and(is_answered)
    });
    drop(client);
    wait_until("the daemon ends", || !sandbox.socket().exists() && !sandbox.pid_file().exists());
    let log = fs::read_to_string(sandbox.log()).expect("a log");
    assert!(log.contains("nobody uses it") && log.contains("ended"), "{log}");
}

fn is_answered(client: &mut UnixStream) -> bool {
    let mut pong = String::new();
    client.write_all(b"{\"meta\":\"ping\"}\n").is_ok()
        && BufReader::new(client).read_line(&mut pong).is_ok()
        && pong.contains("\"pong\":true")
}
