//! Standard input and output as the SDK gets them: each line is looked at first, and answered here where it is not for the
//! SDK.

use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::screen::{self, Handshake};

/// How much of a message is on its way to the SDK, or from it, at a time.
const PIPE: usize = 64 << 10;
/// The longest line, in bytes: what the SDK takes. It drops a longer one, and whoever sent it would wait for ever.
const MAX_LINE: usize = 16 << 20;

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
        tokio::spawn(read_lines(host_in, to_sdk, answers));
        let written = tokio::spawn(pass_on(from_sdk, refusals, host_out));
        Self { input, output, written }
    }
}

/// Passes on what is for the SDK, and has the rest answered.
async fn read_lines(host: impl AsyncRead + Unpin, mut sdk: DuplexStream, answers: mpsc::UnboundedSender<String>) {
    let mut host = BufReader::new(host);
    let (mut line, mut handshake) = (Vec::new(), Handshake::Missing);
    while host.read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
        if line.last() != Some(&b'\n') {
            // The last one counts as well.
            line.push(b'\n');
        }
        let refusal = match line.trim_ascii().is_empty() {
            true => None,
            false => screen::refusal(&line, MAX_LINE).or_else(|| handshake.take(&line)),
        };
        match refusal {
            Some(refusal) => {
                let _ = answers.send(format!("{refusal}\n"));
            }
            None if sdk.write_all(&line).await.is_err() => return,
            None => {}
        }
        line.clear();
    }
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
