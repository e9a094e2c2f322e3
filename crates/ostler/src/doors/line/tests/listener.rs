//! Letting clients in, and letting them finish.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::super::serve;
use super::fake_tasks::{FakeTasks, Script};
use super::{Limits, assert_error, within};

struct Served {
    folder: tempfile::TempDir,
    script: Script,
    stop: watch::Sender<bool>,
    served: JoinHandle<()>,
}

impl Served {
    fn start(limits: Limits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("sock")).expect("a socket");
        let (tasks, script) = FakeTasks::new();
        let (stop, stopped) = watch::channel(false);
        let served = tokio::spawn(serve(listener, tasks, limits, watch::Sender::new(0), stopped));
        Self { folder, script, stop, served }
    }

    async fn connect(&self) -> BufReader<UnixStream> {
        let connecting = UnixStream::connect(self.folder.path().join("sock"));
        BufReader::new(within(connecting).await.expect("the daemon listens"))
    }
}

async fn ask(client: &mut BufReader<UnixStream>, line: &str) -> String {
    client.write_all(format!("{line}\n").as_bytes()).await.expect("the daemon reads");
    read(client).await
}

async fn read(client: &mut BufReader<UnixStream>) -> String {
    let mut line = String::new();
    within(client.read_line(&mut line)).await.expect("a line");
    line
}

#[tokio::test]
async fn several_clients_are_served_at_once() {
    let served = Served::start(Limits::STANDARD);
    let (mut one, mut two) = (served.connect().await, served.connect().await);
    assert!(ask(&mut two, r#"{"meta":"ping"}"#).await.contains("pong"));
    assert!(ask(&mut one, r#"{"meta":"ping"}"#).await.contains("pong"));
}

#[tokio::test]
async fn a_client_over_the_limit_is_told_so_and_a_freed_place_is_used_again() {
    let served = Served::start(Limits { connections: 1, ..Limits::STANDARD });
    let mut first = served.connect().await;
    assert!(ask(&mut first, r#"{"meta":"ping"}"#).await.contains("pong"));
    let mut second = served.connect().await;
    let refusal = read(&mut second).await;
    assert_error(&refusal, "bad_request", "serves 1 connections already");
    assert_eq!(read(&mut second).await, "");
    drop(first);
    // The place is free once the daemon has noticed; until then, being told is the right answer.
    within(async {
        loop {
            let mut next = served.connect().await;
            if next.write_all(b"{\"meta\":\"ping\"}\n").await.is_ok() && read(&mut next).await.contains("pong") {
                return;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn at_the_end_nobody_is_let_in_and_those_inside_get_their_answers() {
    let mut served = Served::start(Limits::STANDARD);
    let mut client = served.connect().await;
    client.write_all(b"{\"method\":\"A.b\"}\n").await.expect("the daemon reads");
    let call = served.script.call().await;
    served.stop.send_replace(true);
    within(async {
        while UnixStream::connect(served.folder.path().join("sock")).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    call.succeed("{}");
    assert_eq!(read(&mut client).await, "{\"result\":{}}\n");
    within(served.served).await.expect("no panic");
}

#[tokio::test]
async fn at_the_end_a_call_that_does_not_finish_is_cut_off() {
    let limits = Limits { grace: std::time::Duration::from_millis(20), ..Limits::STANDARD };
    let mut served = Served::start(limits);
    let mut client = served.connect().await;
    client.write_all(b"{\"method\":\"A.b\"}\n").await.expect("the daemon reads");
    let call = served.script.call().await;
    drop(served.stop);
    within(served.served).await.expect("no panic");
    call.dropped().await;
}
