//! The mock browser as a program.

mod support;

use std::process::Stdio;

use serde_json::json;
use support::supervisor;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

#[tokio::test]
async fn the_program_prints_its_url_and_serves_many_pages() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ostler-mock"))
        .args(["--pages", "1000", "--port", "0"])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    let out = program.stdout.take().expect("its output is piped");
    let url = BufReader::new(out).lines().next_line().await.expect("it can be read");
    let mut client = supervisor(&url.expect("it prints a line")).await;
    let session = client.set_up_next().await;
    let targets = client.call(None, "Target.getTargets", json!({})).await;
    assert_eq!(targets["targetInfos"].as_array().map(Vec::len), Some(1000));
    client.catch_up().await;
    client.flood_and_count(&session, 5_000).await;
}

#[tokio::test]
async fn the_program_refuses_what_it_does_not_know() {
    for arguments in [["--pages", "many"], ["--port", "70000"], ["--what", ""]] {
        let output = Command::new(env!("CARGO_BIN_EXE_ostler-mock")).args(arguments).output().await;
        let output = output.expect("the program starts");
        assert_eq!(output.status.code(), Some(2));
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(words.contains(arguments[0]) && words.contains("usage:"), "{words}");
    }
}
