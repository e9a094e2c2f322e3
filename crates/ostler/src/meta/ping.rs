//! `ping`: is a daemon there, and which one.

use serde::Serialize;

use super::{Answer, Fields, TaskLayer, reply};
use crate::endpoint::BrowserKind;
use crate::secret::SecretUrl;

#[derive(Serialize)]
struct Pong {
    pong: bool,
    pid: u32,
    browser_kind: BrowserKind,
    version: &'static str,
    /// Only where the client asked with `cdp_url`: so it never drives another browser than its environment names.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_browser: Option<bool>,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    Ok(reply(&Pong {
        pong: true,
        pid: std::process::id(),
        browser_kind: tasks.browser_kind(),
        version: env!("CARGO_PKG_VERSION"),
        same_browser: fields.text("cdp_url")?.map(|url| tasks.drives(&SecretUrl::new(url))),
    }))
}
