//! ④ The `meta` requests: what a client asks of the daemon itself rather than of the browser.
//!
//! Each request is a file of its own with one function, `answer`, and one line in the table below;
//! dispatch and the list in the error for an unknown name both come from that line. The requests see
//! the tasks only through [`TaskLayer`], so they are tested without a browser.

mod connect;
mod connection_status;
mod console;
mod current_tab;
mod dialog;
mod disconnect;
mod drain_events;
mod endpoint;
mod event_json;
mod events;
mod fields;
mod interrupt;
mod overview;
mod pending_dialog;
mod ping;
mod session;
mod set_session;
mod shutdown;
mod state;
mod subscribe;
mod task_layer;
mod tasks;
mod tool;
pub(crate) mod value;

use bytes::Bytes;
use ostler_core::CallError;
use serde::Serialize;

use fields::Fields;
pub(crate) use subscribe::Subscription;
pub(crate) use task_layer::{EventSource, TaskLayer};

use crate::tools::Failure;

/// What a `meta` request comes to when nothing went wrong.
#[derive(Debug)]
pub(crate) enum Outcome<E> {
    /// One JSON object, the whole reply but for the request's `id`.
    Reply(Bytes),
    /// From here on the connection carries events.
    Subscribe(Subscription<E>),
    /// A tool did not do what it was asked.
    Failed(Failure),
    /// The daemon ends once this reply has been written: it must not take its own answer with it.
    ReplyThenShutdown(Bytes),
}

/// What each request's `answer` returns.
type Answer<T> = Result<Outcome<<T as TaskLayer>::Events>, CallError>;

/// Declares the requests: their names on the wire are the names of their modules.
macro_rules! meta_requests {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        async fn dispatch<T: TaskLayer>(name: &str, tasks: &T, fields: &Fields<'_>) -> Answer<T> {
            match name {
                $(stringify!($name) => $name::answer(tasks, fields).await,)*
                unknown => Err(unknown_request(unknown)),
            }
        }
    };
}

meta_requests! {
    ping,
    session,
    set_session,
    current_tab,
    connection_status,
    pending_dialog,
    drain_events,
    events,
    subscribe,
    state,
    console,
    dialog,
    connect,
    disconnect,
    tasks,
    endpoint,
    overview,
    tool,
    interrupt,
    shutdown,
}

/// Answers one request, given as the line it came on.
pub(crate) async fn answer<T: TaskLayer>(tasks: &T, line: &str) -> Answer<T> {
    let fields = Fields::parse(line)?;
    let name = fields.required_text("meta")?;
    dispatch(&name, tasks, &fields).await
}

fn unknown_request(name: &str) -> CallError {
    let known = NAMES.join(", ");
    value::bad("meta", format!("{:?} is not known; the known ones are: {known}", value::shown(name)))
}

/// Returns a reply as JSON.
fn reply<E>(value: &impl Serialize) -> Outcome<E> {
    Outcome::Reply(json(value))
}

fn json(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).expect("plain data with text keys serializes").into()
}

/// The reply of requests that have nothing to tell but that they worked.
#[derive(Serialize)]
struct Worked {
    ok: bool,
}

impl Worked {
    const YES: Self = Self { ok: true };
}
