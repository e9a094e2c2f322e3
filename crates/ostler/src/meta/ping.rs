//! `ping`: is a daemon there, and which one.

use serde::Serialize;

use super::{Answer, Fields, TaskLayer, reply};
use crate::endpoint::BrowserKind;

#[derive(Serialize)]
struct Pong {
    pong: bool,
    pid: u32,
    browser_kind: BrowserKind,
    version: &'static str,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, _: &Fields<'_>) -> Answer<T> {
    Ok(reply(&Pong {
        pong: true,
        pid: std::process::id(),
        browser_kind: tasks.browser_kind(),
        version: env!("CARGO_PKG_VERSION"),
    }))
}
