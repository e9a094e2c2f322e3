//! As much of HTTP as a DevTools endpoint needs: read one request head, write one answer.

use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The head of a request, and every byte of it as it was read.
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    headers: Vec<(String, String)>,
}

impl Request {
    /// Reads up to the empty line that ends the head; none when the client leaves or talks without end before that.
    pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Self> {
        let mut bytes = Vec::with_capacity(512);
        while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
            if bytes.len() > LONGEST_HEAD || stream.read_buf(&mut bytes).await.ok()? == 0 {
                return None;
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        let path = lines.next()?.split(' ').nth(1)?.to_owned();
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Some(Self { path, headers, bytes })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(have, _)| have == name)?;
        Some(value)
    }

    pub(crate) fn wants_websocket(&self) -> bool {
        self.header("upgrade").is_some_and(|upgrade| upgrade.eq_ignore_ascii_case("websocket"))
    }

    /// Returns whether Chromium would talk to a client that calls it by this name: an address, or a localhost name.
    pub(crate) fn has_local_host(&self) -> bool {
        let host = self.header("host").unwrap_or_default();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => host,
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || name.ends_with(".localhost") || name.parse::<IpAddr>().is_ok()
    }
}

/// Writes an answer and ends our side of the connection. A client that has left is not an error.
pub(crate) async fn answer(stream: &mut (impl AsyncWrite + Unpin), status: u16, body: &str) {
    let text = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        reason(status),
        body.len()
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        403 => "Forbidden",
        404 => "Not Found",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Answer",
    }
}

const LONGEST_HEAD: usize = 64 * 1024;
