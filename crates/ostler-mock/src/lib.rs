//! A CDP server that does what a test says, and what a real browser will not do on demand.
//!
//! Two ways to use it, each on a port of its own at 127.0.0.1:
//!
//! - [`MockServer`] hands the test one [`Peer`] per connection, and the test plays the browser by hand, as a script of
//!   expect and send. For the wire itself: dead handshakes, garbage, silence, half-closed sockets.
//! - [`MockBrowser`] plays the browser by itself: pages, frames, sessions and dialogs with the event orders that Chromium
//!   was seen to use. The test changes the world behind it ([`Page`], [`Frame`]) and bends its rules ([`Script`]): refuse
//!   a domain, never answer a method, hold messages back, flood, crash, go away and come back.
//!
//! A [`Proxy`] stands between clients and a real browser, as some backends do: it refuses, and answers dialogs by itself.
//!
//! All share one HTTP side, whose answers are the test's to choose ([`Door`]).
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use ostler_mock::{Dialog, MockBrowser};
//!
//! let browser = MockBrowser::start().await;
//! let page = browser.add_page("https://example.com/");
//! let ads = page.main_frame().add_oopif("https://ads.example.net/");
//! browser.script().refuse("Debugger").mute("DOM.getDocument");
//! let answer = ads.open_dialog(Dialog::confirm("Leave?"));
//! // A client that is connected to `browser.ws_url()` now sees the dialog on the page's session.
//! # drop(answer);
//! # });
//! ```

// A broken expectation fails the test that holds it, and a panic is how a test is failed.
#![allow(clippy::panic)]

mod browser;
mod door;
mod http;
mod ids;
mod peer;
mod proxy;
mod server;
mod wire;

pub use browser::{
    Answer, Dialog, DialogKind, Flood, Frame, Identity, MockBrowser, OpenDialog, Opener, Page, RemovalOrder, Script,
    Unknown,
};
pub use door::{Door, Upgrade, Version};
pub use ids::{FrameId, SessionId, TargetId};
pub use peer::Peer;
pub use proxy::Proxy;
pub use server::MockServer;
pub use wire::Command;
