//! ostler against a real Chromium: each area's wiring, and what it promises there.
//!
//! A run without Chromium fails; nothing here is skipped.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod bridged;
mod browser;
mod cloud_service;
#[path = "../host/mod.rs"]
mod host;
mod line;
mod processes;
#[path = "../sandbox/mod.rs"]
mod sandbox;
mod screen;
mod site;
mod world;

mod asks_in_a_loop;
mod bridge;
mod bridge_by_request;
mod bridge_hostile;
mod bridge_loop;
mod bridge_sandbox;
mod bytes;
mod calls;
mod cloud;
mod connects_at_once;
mod dialogs;
mod discovery;
mod foreign;
mod frames;
mod given;
mod hung_page;
mod killed;
mod launch;
mod lost_browser;
mod mcp;
mod proofs;
mod quiet;
mod secrets;
mod sleep;
mod snapshot;
mod tabs;
mod tasks;
mod terminal;
mod tls;
mod tools;
mod windows;
