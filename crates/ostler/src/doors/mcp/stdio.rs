//! Standard input and output as the SDK gets them: it drops a line that it cannot read, and whoever sent it would wait
//! for ever. So each line is looked at first, and such a one is answered here.

use rmcp::transport::stdio_pipes;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How much of a message is on its way to the SDK, or from it, at a time.
const PIPE: usize = 64 << 10;

/// The SDK's side of standard input and output.
pub(super) struct Pipes {
    pub(super) input: DuplexStream,
    pub(super) output: DuplexStream,
    /// Ends once everything that was written has been passed on.
    pub(super) written: JoinHandle<()>,
}

impl Pipes {
    /// Takes standard input and output. To be called once.
    pub(super) fn take() -> Self {
        let (stdin, stdout) = stdio_pipes();
        Self::between(stdin, stdout)
    }

    fn between(
        host_in: impl AsyncRead + Unpin + Send + 'static,
        host_out: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        let (input, to_sdk) = duplex(PIPE);
        let (output, from_sdk) = duplex(PIPE);
        let (answers, refusals) = mpsc::unbounded_channel();
        tokio::spawn(screen(host_in, to_sdk, answers));
        let written = tokio::spawn(pass_on(from_sdk, refusals, host_out));
        Self { input, output, written }
    }
}

/// Passes on what can be read, and has the rest answered.
async fn screen(host: impl AsyncRead + Unpin, mut sdk: DuplexStream, answers: mpsc::UnboundedSender<String>) {
    let mut host = BufReader::new(host);
    let mut line = Vec::new();
    while host.read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
        if line.last() != Some(&b'\n') {
            // The last one counts as well.
            line.push(b'\n');
        }
        match refusal(&line) {
            Some(refusal) => {
                let _ = answers.send(refusal);
            }
            None if sdk.write_all(&line).await.is_err() => return,
            None => {}
        }
        line.clear();
    }
}

/// Returns the answer to a line that is no JSON, or whose texts are none.
fn refusal(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    if line.trim_ascii().is_empty() {
        return None;
    }
    let error = serde_json::from_slice::<Value>(line).err()?;
    let named = serde_json::from_slice::<Named<'_>>(line).ok();
    let why = match &named {
        // Its form is sound, so a text in it is not.
        Some(_) => {
            "a text in it holds half of a surrogate pair, which MCP cannot carry; write \\ufffd for it".to_owned()
        }
        None => format!("the line is no JSON ({error}); send one JSON-RPC message on a line"),
    };
    let id = named.and_then(|named| named.id).map_or("null", RawValue::get);
    let message = Value::from(why);
    Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32700,\"message\":{message}}}}}\n"))
}

/// Writes the SDK's lines and our refusals, each as a whole, until the SDK writes no more.
async fn pass_on(sdk: DuplexStream, mut refusals: mpsc::UnboundedReceiver<String>, mut host: impl AsyncWrite + Unpin) {
    let mut sdk = BufReader::new(sdk);
    // What was read of a line stays here while a refusal goes first.
    let mut line = Vec::new();
    loop {
        let written = tokio::select! {
            read = sdk.read_until(b'\n', &mut line) => {
                if !read.is_ok_and(|length| length > 0) {
                    break;
                }
                let written = host.write_all(&line).await;
                line.clear();
                written
            }
            Some(refusal) = refusals.recv() => host.write_all(refusal.as_bytes()).await,
        };
        if written.is_err() || host.flush().await.is_err() {
            return;
        }
    }
    while let Ok(refusal) = refusals.try_recv() {
        if host.write_all(refusal.as_bytes()).await.is_err() {
            return;
        }
    }
    let _ = host.flush().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_cannot_be_read_is_refused_under_its_id() {
        for (line, id, why) in [
            ("not json\n", "null", "no JSON"),
            ("{\"jsonrpc\":\"2.0\",\"id\":1\n", "null", "no JSON"),
            (r#"{"jsonrpc":"2.0","id":14,"method":"x","params":{"a":"'\ud800'"}}"#, "14", "surrogate"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"x","params":{"a":"\udc00"}}"#, "\"a\"", "surrogate"),
        ] {
            let refusal = refusal(line.as_bytes()).expect("it cannot be read");
            let read: Value = serde_json::from_str(&refusal).expect("JSON");
            assert_eq!(
                (read["id"].to_string().as_str(), &read["error"]["code"]),
                (id, &Value::from(-32700)),
                "{refusal}"
            );
            assert!(read["error"]["message"].as_str().expect("a sentence").contains(why), "{refusal}");
        }
        for line in ["\n", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", "[]\n"] {
            assert_eq!(refusal(line.as_bytes()), None, "{line}");
        }
    }
}
