//! A client of the daemon's socket: one JSON line each way, one request at a time.

use std::path::Path;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::Result;

/// A connection that is kept.
pub(crate) struct Line {
    stream: UnixStream,
    /// The last reply; its room is used again.
    reply: Vec<u8>,
}

impl Line {
    pub(crate) async fn connect(socket: &Path) -> Result<Self> {
        Ok(Self { stream: UnixStream::connect(socket).await?, reply: Vec::new() })
    }

    /// Sends one request, which ends in a line end, and returns the reply, which is none of an error.
    pub(crate) async fn ask(&mut self, request: &str) -> Result<&[u8]> {
        self.exchange(request).await?;
        if self.reply.starts_with(br#"{"error""#) {
            return Err(format!("{} got {}", request.trim_end(), String::from_utf8_lossy(&self.reply)).into());
        }
        Ok(&self.reply)
    }

    /// Sends one request, which ends in a line end, and takes in the reply, whatever it is.
    async fn exchange(&mut self, request: &str) -> Result<()> {
        self.stream.write_all(request.as_bytes()).await?;
        self.reply.clear();
        // Only one request is under way, so the first line end is the last byte.
        while self.reply.last() != Some(&b'\n') {
            if self.stream.read_buf(&mut self.reply).await? == 0 {
                return Err("the daemon closed the connection".into());
            }
        }
        Ok(())
    }

    /// Sends a request that is to fail; returns whether it failed with `code`.
    pub(crate) async fn fails_with(&mut self, request: &str, code: &str) -> Result<bool> {
        self.exchange(request).await?;
        let reply: Value = serde_json::from_slice(&self.reply)?;
        Ok(reply["error_code"] == code)
    }

    /// Calls a method on the current tab; returns how long the reply was.
    pub(crate) async fn call(&mut self, method: &str, params: &str) -> Result<usize> {
        let request = format!("{{\"method\":\"{method}\",\"params\":{params}}}\n");
        Ok(self.ask(&request).await?.len())
    }

    /// Runs a tool, given as a whole request; returns how long the reply was.
    pub(crate) async fn tool(&mut self, request: &str) -> Result<usize> {
        Ok(self.ask(request).await?.len())
    }

    /// Makes a `meta` request; returns the reply.
    pub(crate) async fn meta(&mut self, fields: &str) -> Result<Value> {
        Ok(serde_json::from_slice(self.ask(&format!("{{\"meta\":{fields}}}\n")).await?)?)
    }

    /// Returns the current tab, which is attached from now on.
    pub(crate) async fn current_tab(&mut self) -> Result<String> {
        self.meta("\"session\"").await?;
        let tab = self.meta("\"current_tab\"").await?;
        Ok(tab["targetId"].as_str().ok_or("the current tab has no target")?.to_owned())
    }

    /// Opens a tab for the task; returns its target.
    pub(crate) async fn open_tab(&mut self) -> Result<String> {
        let reply = self.ask("{\"method\":\"Target.createTarget\",\"params\":{\"url\":\"about:blank\"}}\n").await?;
        let reply: Value = serde_json::from_slice(reply)?;
        Ok(reply["result"]["targetId"].as_str().ok_or("createTarget names no target")?.to_owned())
    }
}
