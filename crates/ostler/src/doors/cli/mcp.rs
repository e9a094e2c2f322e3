//! `ostler mcp`: the tools for an MCP host.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};

use super::context::Context;
use super::failure::Failure;
use crate::doors::mcp::{self, HttpOptions, Launch, Options, Task, Toolsets};
use crate::exit_code::Exit;

/// Serves the browser tools to an MCP host, over standard input and output or HTTP
///
///     ostler mcp                            what a host starts
///     ostler mcp --own-task                 the same, with tabs of this host's own
///     ostler mcp --launch                   the same, with a Chromium that ostler starts
///     ostler mcp --http 127.0.0.1:8931      for hosts that connect to a URL
///
/// docs/mcp.md has the configuration of the common hosts.
#[derive(Args, Debug)]
#[command(name = "mcp", verbatim_doc_comment)]
pub(super) struct Mcp {
    /// Listen there instead, a loopback address; the token is OSTLER_MCP_TOKEN, else the one in $OSTLER_HOME/mcp-token.
    /// A host asks for a task with ?task=NAME in the URL
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    http: Option<SocketAddr>,

    /// Work in a task of this host's own, which ends with it
    #[arg(long, conflicts_with = "http")]
    own_task: bool,

    /// Offer these tools too; may be repeated
    #[arg(long = "toolset", value_name = "NAME", value_enum)]
    toolsets: Vec<Toolset>,

    /// Start a browser of our own for the task
    #[arg(long)]
    launch: bool,

    /// With a window
    #[arg(long, requires = "launch")]
    headed: bool,
}

/// The contract's toolsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Toolset {
    /// All but the one that runs code; always offered
    Core,
    /// browser_run, which runs Python on this machine
    Scripts,
}

impl Mcp {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let task = match (&context.task, self.own_task) {
            (_, true) => Task::Own,
            (Some(name), false) => Task::Named(name.clone()),
            (None, false) => Task::Default,
        };
        let options = Options {
            daemon: context.settings()?,
            task,
            toolsets: Toolsets { scripts: self.toolsets.contains(&Toolset::Scripts) },
            launch: self.launch.then_some(Launch { headed: self.headed }),
        };
        let served = match self.http {
            None => mcp::serve_stdio(options),
            Some(address) => {
                let environment = &context.environment;
                let http = HttpOptions { address, token: environment.mcp_token()?, home: environment.home()? };
                mcp::serve_http(options, http, |url, token_file| {
                    let file =
                        token_file.map_or_else(|| "OSTLER_MCP_TOKEN".to_owned(), |file| file.display().to_string());
                    eprintln!("ostler: MCP is served at {url}; the token is in {file}");
                })
            }
        };
        served.map_err(|error| Failure::Work(error.to_string()))?;
        Ok(Exit::Success)
    }
}

/// Reads an address that only this machine can reach.
fn loopback(given: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = given
        .replace("localhost:", "127.0.0.1:")
        .parse()
        .map_err(|_| "must be an address and a port, such as 127.0.0.1:8931".to_owned())?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err("must be a loopback address, such as 127.0.0.1:8931; another machine gets in through an SSH tunnel"
            .to_owned())
    }
}
