//! MCP over HTTP, for hosts that cannot start a program: on this machine alone, and for those alone who have the token.
//!
//! Three things stand before the protocol. The socket listens on a loopback address. `Host` and `Origin` must name it,
//! so that no web page reaches it through a name of its own (DNS rebinding). And each request carries the token, since
//! every user of the machine can reach the port.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::Extensions;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::screen::{self, Fault, Handshake, Refusal};
use super::server::Server;
use super::token::Token;

/// Where the protocol is served.
pub(super) const PATH: &str = "/mcp";
/// The largest message, in bytes: what the SDK takes.
const MAX_BODY: usize = 4 << 20;
/// By this a request names its session.
const SESSION_HEADER: &str = "mcp-session-id";
/// How long a session lasts in which nothing happens: a person may come back to it the next morning.
const SESSION: Duration = Duration::from_secs(24 * 3_600);

type Mcp = StreamableHttpService<Server, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves hosts on `listener` until `end`, each with a server of `new_server`'s.
pub(super) async fn serve(
    listener: TcpListener,
    token: Token,
    new_server: impl Fn() -> Server + Send + Sync + 'static,
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let mcp = service(listener.local_addr()?, new_server);
    let token = Arc::new(token);
    let accept = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (mcp, token) = (mcp.clone(), Arc::clone(&token));
                    let gate = service_fn(move |request| answer(request, mcp.clone(), Arc::clone(&token)));
                    tokio::spawn(async move {
                        let mut http = http1::Builder::new();
                        // A host that goes away in the middle of a request is no concern of anybody's.
                        let _ = http.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), gate).await;
                    });
                }
                // Out of descriptors, most likely: they come back.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    };
    tokio::select! {
        () = accept => {}
        () = end => {}
    }
    Ok(())
}

fn service(address: SocketAddr, new_server: impl Fn() -> Server + Send + Sync + 'static) -> Mcp {
    let port = address.port();
    let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
    let origins = hosts.clone().map(|host| format!("http://{host}"));
    let config = StreamableHttpServerConfig::default().with_allowed_hosts(hosts).with_allowed_origins(origins);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION);
    StreamableHttpService::new(move || Ok(new_server()), Arc::new(sessions), config)
}

async fn answer(request: Request<Incoming>, mcp: Mcp, token: Arc<Token>) -> Result<Answer, Infallible> {
    if request.uri().path() != PATH {
        return Ok(plain(StatusCode::NOT_FOUND, "MCP is served at /mcp"));
    }
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    if !given.is_some_and(|given| token.is(given)) {
        let mut refusal =
            plain(StatusCode::UNAUTHORIZED, "send the token of `ostler mcp --http` as Authorization: Bearer TOKEN");
        refusal.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return Ok(refusal);
    }
    if request.method() != Method::POST {
        return Ok(mcp.handle(request).await);
    }
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
        return Ok(plain(StatusCode::PAYLOAD_TOO_LARGE, "a message may have 4 MiB at most"));
    };
    let body = body.to_bytes();
    // Who has a session has been through the handshake.
    let mut handshake = if head.headers.contains_key(SESSION_HEADER) { Handshake::Begun } else { Handshake::Missing };
    match screen::refusal(&body, MAX_BODY).or_else(|| handshake.take(&body)) {
        Some(refusal) => Ok(refused(&refusal)),
        None => Ok(mcp.handle(Request::from_parts(head, Full::new(body))).await),
    }
}

/// Returns what is answered in the SDK's place. What is a message, if not one that can be done, is a reply like others.
fn refused(refusal: &Refusal) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(refusal.to_string())).boxed());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if matches!(refusal.fault, Fault::Parse | Fault::Request) {
        *answer.status_mut() = StatusCode::BAD_REQUEST;
    }
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}

/// Returns the task that a host's URL names, as in `http://127.0.0.1:8931/mcp?task=research`.
pub(super) fn task_of(extensions: &Extensions) -> Option<String> {
    let query = extensions.get::<Parts>()?.uri.query()?;
    // Every character that a task's name may have stands for itself in a URL.
    query.split('&').find_map(|pair| pair.strip_prefix("task=")).filter(|name| !name.is_empty()).map(str::to_owned)
}
