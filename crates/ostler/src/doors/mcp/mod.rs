//! ⑤ MCP, through the official SDK: the tools for every host that speaks it.
//!
//! ```text
//!  host ──stdio or HTTP──▶ Server ──one line each──▶ the daemon's socket
//!                           │  stdio       lines in and out
//!                           │  screen      what the SDK is not to see
//!                           │  tool_list   what is offered now
//!                           │  lookout     when that changes
//!                           │  answer      what a host is given
//!                           └  kept        what is too large for it
//! ```
//!
//! It is a client like any other, so a script and an MCP host work in one browser. On standard output there is nothing
//! but the protocol.

mod answer;
mod daemon;
mod http;
mod kept;
mod link;
mod lookout;
mod screen;
mod server;
mod stdio;
mod token;
mod tool_list;

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use self::daemon::Daemon;
pub(crate) use self::daemon::Launch;
use self::kept::Kept;
use self::link::Link;
use self::server::Server;
use self::stdio::Pipes;
use self::token::{Token, TokenError};
use crate::config::ClientSettings;
use crate::secret::Secret;

/// Which toolsets are offered beside the core one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Toolsets {
    /// The one that runs code on this machine.
    pub(crate) scripts: bool,
}

/// Which task a host works in.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// The daemon's default one.
    Default,
    /// This one; it is started if it is not there.
    Named(String),
    /// One of this host's own, which ends with it.
    Own,
}

/// How a host is served, whichever way it comes.
#[derive(Debug)]
pub(crate) struct Options {
    /// Where the daemon is.
    pub(crate) daemon: ClientSettings,
    /// The task.
    pub(crate) task: Task,
    /// The toolsets.
    pub(crate) toolsets: Toolsets,
    /// A browser to start first.
    pub(crate) launch: Option<Launch>,
}

/// Where hosts reach us over HTTP, and who may.
#[derive(Debug)]
pub(crate) struct HttpOptions {
    /// The address, a loopback one.
    pub(crate) address: SocketAddr,
    /// The token that the user chose.
    pub(crate) token: Option<Secret>,
    /// The folder of the token that is made otherwise.
    pub(crate) home: PathBuf,
}

/// Serves the host on standard input and output until it goes.
pub(crate) fn serve_stdio(options: Options) -> Result<(), McpError> {
    run(async {
        let Options { daemon, task, toolsets, launch } = options;
        let link = Arc::new(Link::new(daemon));
        let early = Arc::clone(&link);
        // Beside the greeting: a daemon that has to be started first does not keep the host waiting.
        tokio::spawn(async move { early.warm_up().await });
        let daemon = Arc::new(Daemon::new(link, launch));
        let is_own = matches!(task, Task::Own);
        let task = match task {
            Task::Default => None,
            Task::Named(name) => Some(name),
            Task::Own => Some(own_task()),
        };
        let own = task.clone().filter(|_| is_own);
        let server = Server::new(Arc::clone(&daemon), task, toolsets, Arc::new(Kept::default()));
        let served = tokio::select! {
            served = serve_one(server) => served,
            () = told_to_end() => Ok(()),
        };
        if let Some(own) = own {
            daemon.end(&own).await;
        }
        served
    })
}

async fn serve_one(server: Server) -> Result<(), McpError> {
    let Pipes { input, output, written } = Pipes::take();
    let served = match server.serve((input, output)).await {
        // It ends when the host closes our standard input.
        Ok(running) => running.waiting().await.map(drop).map_err(|_| McpError::Failed),
        // The host went before it said anything, which is its right.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(McpError::Greeting(error.to_string())),
    };
    // What was said last is still on its way.
    let _ = written.await;
    served
}

/// Serves hosts over HTTP until the process is told to end. `ready` hears where, and in which file the token is if
/// the user chose none.
pub(crate) fn serve_http(
    options: Options,
    http: HttpOptions,
    ready: impl FnOnce(String, Option<PathBuf>),
) -> Result<(), McpError> {
    let (token, file) = match &http.token {
        Some(token) => (Token::given(token.clone())?, None),
        None => Token::in_file(&http.home).map(|(token, file)| (token, Some(file)))?,
    };
    run(async {
        let bind = |error| McpError::Bind { address: http.address, error };
        let listener = TcpListener::bind(http.address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let Options { daemon, task, toolsets, launch } = options;
        let (link, kept) = (Arc::new(Link::new(daemon)), Arc::new(Kept::default()));
        let task = match task {
            Task::Named(name) => Some(name),
            Task::Default | Task::Own => None,
        };
        let new_server = move || {
            // Each host has a browser started that wants one, in the task that its URL names.
            let daemon = Arc::new(Daemon::new(Arc::clone(&link), launch));
            Server::new(daemon, task.clone(), toolsets, Arc::clone(&kept))
        };
        ready(format!("http://{address}{}", http::PATH), file);
        http::serve(listener, token, new_server, told_to_end()).await.map_err(bind)
    })
}

/// One thread is enough: whatever takes time is the daemon's work.
fn run(work: impl Future<Output = Result<(), McpError>>) -> Result<(), McpError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(McpError::Runtime)?;
    let done = runtime.block_on(work);
    // A read of standard input that cannot be a pipe's waits on a thread for ever.
    runtime.shutdown_background();
    done
}

/// Waits until the process is told to end. It ends in order, since a task may be this host's own.
async fn told_to_end() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        // Without a handler the signal ends us by itself.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Returns a name that no other host has or had.
fn own_task() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("mcp-{}-{now:x}", std::process::id())
}

/// Why hosts cannot be served.
#[derive(Debug)]
pub(crate) enum McpError {
    /// There is no runtime to serve in.
    Runtime(io::Error),
    /// The host does not speak the protocol.
    Greeting(String),
    /// The address cannot be listened on.
    Bind {
        /// Which one.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// There is no token.
    Token(TokenError),
    /// A fault of ours.
    Failed,
}

impl From<TokenError> for McpError {
    fn from(error: TokenError) -> Self {
        Self::Token(error)
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runtime(error) => write!(f, "the MCP server could not be started: {error}"),
            Self::Greeting(why) => write!(
                f,
                "what came on standard input is no MCP greeting ({why}); `ostler mcp` is started by an MCP host, \
                 see docs/mcp.md"
            ),
            Self::Bind { address, error } => {
                write!(f, "{address} cannot be listened on ({error}): choose another port, or 0 for any free one")
            }
            Self::Token(error) => error.fmt(f),
            Self::Failed => f.write_str("the MCP server failed; please report what was done last"),
        }
    }
}

impl std::error::Error for McpError {}
