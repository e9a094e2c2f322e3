//! A program between a client and the browser that does nothing but pass bytes on: what any process in between costs
//! on this machine, before it does a thing. What a ratio has above this one is ours.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use crate::Result;

/// The hidden argument that makes this program a relay to the host and port behind it.
pub(crate) const AS_A_PROCESS: &str = "--relay";

/// A running relay, gone when dropped.
pub(crate) struct Relay {
    child: Child,
    /// The browser's WebSocket, by way of the relay.
    pub(crate) url: String,
}

impl Relay {
    /// Starts a relay to the browser at `url`; returns once it listens.
    pub(crate) fn start(url: &str) -> Result<Self> {
        let address = url.split('/').nth(2).ok_or("the browser's URL names no host")?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args([AS_A_PROCESS, address]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut relay = Self { child: command.spawn()?, url: String::new() };
        let mut own_address = String::new();
        relay.child.stdout.take().ok_or("the relay's output is a pipe of ours")?.read_to_string(&mut own_address)?;
        relay.url = url.replace(address, &own_address);
        Ok(relay)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says where it listens, then passes bytes between its first client and the browser until one of them is gone.
pub(crate) fn as_a_process(address: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut stdout = std::io::stdout();
        write!(stdout, "{}", listener.local_addr()?)?;
        stdout.flush()?;
        // The end of the output is the end of the address.
        rustix::stdio::dup2_stdout(std::fs::File::options().write(true).open("/dev/null")?)?;
        let (mut client, _) = listener.accept().await?;
        let mut browser = TcpStream::connect(address).await?;
        client.set_nodelay(true)?;
        browser.set_nodelay(true)?;
        copy_bidirectional(&mut client, &mut browser).await?;
        Ok(())
    })
}
