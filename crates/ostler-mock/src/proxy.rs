//! A backend that stands between its clients and a real browser: it lets less through, and answers dialogs by itself.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_websockets::{ClientBuilder, Limits, Message};

use crate::door::{Door, WebSocket};
use crate::server::FIRST_BROWSER;
use crate::wire::{self, Command};

/// The way to a real browser that some backends are. It passes everything on as it comes until the test says otherwise.
///
/// Its HTTP side is reached through [`Door`], to which it dereferences.
#[derive(Debug)]
pub struct Proxy {
    door: Door,
    rules: Arc<Mutex<Rules>>,
    carrying: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Rules {
    refused: Vec<String>,
    dismisses: bool,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1, for the browser that has this WebSocket URL.
    pub async fn start(browser: &str) -> Self {
        let (door, arrivals) = Door::open(0, FIRST_BROWSER.to_owned()).await;
        let rules = Arc::default();
        let carrying = tokio::spawn(serve(arrivals, browser.to_owned(), Arc::clone(&rules)));
        Self { door, rules, carrying }
    }

    /// Answers every command of this domain with error -32601, from now on.
    pub fn refuse(&self, domain: &str) {
        locked(&self.rules).refused.push(domain.to_owned());
    }

    /// Dismisses every native dialog as soon as it opens, from now on. The client sees it open and close.
    pub fn dismiss_dialogs(&self) {
        locked(&self.rules).dismisses = true;
    }
}

impl Deref for Proxy {
    type Target = Door;

    fn deref(&self) -> &Door {
        &self.door
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.carrying.abort();
    }
}

impl Rules {
    /// Returns the answer to a command that is not passed on.
    fn refusal(&self, message: &Message) -> Option<String> {
        let command = Command::parse(message.as_text()?).ok()?;
        let refused = self.refused.iter().any(|domain| domain == command.domain());
        let why = format!("'{}' wasn't found", command.method);
        refused.then(|| wire::failure(command.id, command.session.as_ref(), -32601, &why))
    }

    /// Returns a command of the proxy's own, where the message tells of a dialog.
    fn dismissal(&self, message: &Message) -> Option<String> {
        let text = message.as_text().filter(|text| self.dismisses && text.contains(OPENING))?;
        let event: Value = serde_json::from_str(text).ok()?;
        let session = event["sessionId"].as_str().filter(|_| event["method"] == OPENING)?;
        Some(format!(
            r#"{{"id":{OWN_ID},"method":"Page.handleJavaScriptDialog","params":{{"accept":false}},"sessionId":"{session}"}}"#
        ))
    }
}

async fn serve(mut arrivals: mpsc::UnboundedReceiver<WebSocket>, browser: String, rules: Arc<Mutex<Rules>>) {
    // Connections end with the proxy: the set aborts them when it is dropped.
    let mut connections = JoinSet::new();
    while let Some(client) = arrivals.recv().await {
        connections.spawn(carry(client, browser.clone(), Arc::clone(&rules)));
        while connections.try_join_next().is_some() {}
    }
}

/// Carries messages both ways until either side ends.
async fn carry(mut client: WebSocket, browser: String, rules: Arc<Mutex<Rules>>) {
    let to_browser = ClientBuilder::new().uri(&browser).map(|client| client.limits(Limits::unlimited()));
    let Ok(to_browser) = to_browser else { return };
    let Ok((mut browser, _)) = to_browser.connect().await else { return };
    loop {
        let sent = tokio::select! {
            message = client.next() => {
                let Some(Ok(message)) = message else { return };
                let refusal = locked(&rules).refusal(&message);
                match refusal {
                    Some(refusal) => client.send(Message::text(refusal)).await,
                    None => browser.send(message).await,
                }
            }
            message = browser.next() => {
                let Some(Ok(message)) = message else { return };
                if message.as_text().is_some_and(|text| text.starts_with(OWN_REPLY)) {
                    continue;
                }
                let dismissal = locked(&rules).dismissal(&message);
                if let Some(dismissal) = dismissal && browser.send(Message::text(dismissal)).await.is_err() {
                    return;
                }
                client.send(message).await
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

fn locked(rules: &Mutex<Rules>) -> MutexGuard<'_, Rules> {
    rules.lock().unwrap_or_else(PoisonError::into_inner)
}

const OPENING: &str = "Page.javascriptDialogOpening";
/// The number of the proxy's own commands, far beyond those of any client.
const OWN_ID: u64 = 2_000_000_000;
/// How Chromium's replies to them begin.
const OWN_REPLY: &str = r#"{"id":2000000000,"#;
