//! From a source to a socket: finds the browser and dials it, once.

use std::time::Duration;

use tokio::sync::mpsc;

use super::handle::Shared;
use super::websocket::{DialError, Socket};
use crate::endpoint::{self, Endpoint, EndpointError, Found, Machine, Source};

/// How long the handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(60);
/// How long the person in front of a browser may take to allow the connection. Giving up and dialling again would only
/// raise a second prompt over the first.
const CONSENT: Duration = Duration::from_secs(600);
/// A handshake that takes longer than this waits for a person: without one it is a matter of milliseconds.
const SUSPICIOUS: Duration = Duration::from_secs(1);
/// What helps where a browser of this machine takes no connection.
const ALLOW: &str = "open chrome://inspect/#remote-debugging in it and allow remote debugging, then run `ostler connect`; a \
                     service's URL whose key has expired needs a fresh one, given with `ostler connect -`";
/// How many browsers that were found and then took no connection are passed over in one attempt.
const MAX_PASSED_OVER: usize = 8;

/// A prompt in front of the person at the browser, for as long as the handshake lasts.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) why: String,
    /// The browser, if it was discovered.
    pub(super) found: Option<Found>,
}

/// Why there is no connection, in words for the person who can help.
#[derive(Debug)]
pub(super) struct DialFailure {
    /// What happened.
    pub(super) happened: String,
    /// What to do about it.
    pub(super) next_step: Option<String>,
    /// Whether trying again may help without anybody doing anything.
    pub(super) may_pass: bool,
    /// Whether it ends by itself, so that there is nothing better to do than to wait.
    pub(super) passes: bool,
    /// Whether the other side does not take the key in the URL, or not any more.
    pub(super) key_refused: bool,
    /// Whether the person at the browser was asked and did not allow it: asking again is for somebody to decide.
    pub(super) turned_down: bool,
}

impl DialFailure {
    /// Returns all of it in one sentence.
    pub(super) fn why(&self) -> String {
        match &self.next_step {
            Some(step) => format!("{}: {step}", self.happened),
            None => self.happened.clone(),
        }
    }
}

impl From<EndpointError> for DialFailure {
    fn from(error: EndpointError) -> Self {
        Self {
            happened: error.happened(),
            next_step: Some(error.next_step()),
            may_pass: error.may_pass(),
            passes: error.passes(),
            key_refused: matches!(error, EndpointError::Denied { .. }),
            turned_down: false,
        }
    }
}

/// Finds and dials, by the first source that leads to a browser. Tells `asks` when the handshake waits for a person.
///
/// May be dropped at any point; a browser that was being launched is then taken down.
pub(super) async fn dial(
    sources: &[Source],
    machine: &Machine,
    shared: &Shared,
    asks: &mpsc::UnboundedSender<Prompt>,
) -> Result<(Socket, Endpoint), DialFailure> {
    let (last, first) = sources.split_last().expect("a driver has a source");
    for source in first {
        match dial_one(source, machine, shared, asks).await {
            Err(failure) if !failure.turned_down => {}
            dialled => return dialled,
        }
    }
    dial_one(last, machine, shared, asks).await
}

async fn dial_one(
    source: &Source,
    machine: &Machine,
    shared: &Shared,
    asks: &mpsc::UnboundedSender<Prompt>,
) -> Result<(Socket, Endpoint), DialFailure> {
    let (mut nobodys, mut failure) = (Vec::new(), None);
    loop {
        let mut endpoint = match endpoint::find(source, machine, &nobodys).await {
            Ok(endpoint) => endpoint,
            // What was found and did not answer says more than that there is nothing beside it.
            Err(error) => return Err(failure.unwrap_or_else(|| error.into())),
        };
        let dialled = match shake_hands(&endpoint, shared, asks).await {
            Err(DialError::NotFound) if let Some(renewed) = source.renewed() => {
                // The address names a browser that was there before; another one may answer at the same port.
                endpoint = endpoint::find(&renewed, machine, &[]).await?;
                shake_hands(&endpoint, shared, asks).await
            }
            dialled => dialled,
        };
        let error = match dialled {
            Ok(socket) => return Ok((socket, endpoint)),
            Err(error) => error,
        };
        let failed = DialFailure {
            happened: format!("{} {error}", endpoint.url.label()),
            next_step: match error {
                // A browser of this machine has no key that could be wrong, and a person who has not allowed it.
                DialError::Refused(401 | 403) if endpoint.may_ask => Some(ALLOW.to_owned()),
                _ => error.next_step().map(str::to_owned),
            },
            may_pass: match error {
                DialError::Refused(_) | DialError::TurnedDown(_) | DialError::Untrusted(_) => false,
                // A service forgets a browser that is over; at home another one may come to that port.
                DialError::NotFound => !source.is_cloud(),
                DialError::Failed(_) | DialError::Mute => true,
            },
            // No failure of the handshake is known to end by itself; whether a browser that was there comes back, the
            // driver judges.
            passes: false,
            key_refused: matches!(error, DialError::Refused(_)),
            turned_down: matches!(error, DialError::TurnedDown(_)),
        };
        let is_nobody = matches!(error, DialError::NotFound | DialError::Failed(_));
        if !(is_nobody && matches!(source, Source::Discover(_)) && nobodys.len() < MAX_PASSED_OVER) {
            return Err(failed);
        }
        nobodys.push(endpoint.url);
        failure.get_or_insert(failed);
    }
}

async fn shake_hands(
    endpoint: &Endpoint,
    shared: &Shared,
    asks: &mpsc::UnboundedSender<Prompt>,
) -> Result<Socket, DialError> {
    let label = endpoint.url.label();
    shared.say(format!("{label}: waiting for the browser to take the connection"));
    let mut dialling = std::pin::pin!(Socket::dial(&endpoint.url, &endpoint.headers));
    let timed_out = |time: Duration| DialError::Failed(format!("no handshake within {} s", time.as_secs()));
    let turned_down = |status| DialError::TurnedDown(format!("was not allowed to be debugged ({status})"));
    if let Ok(dialled) = tokio::time::timeout(SUSPICIOUS, &mut dialling).await {
        return match dialled {
            // A person who is quick. A browser that was found by its profile has no key that could be wrong.
            Err(DialError::Refused(status @ 403)) if endpoint.may_ask && endpoint.found.is_some() => {
                Err(turned_down(status))
            }
            dialled => dialled,
        };
    }
    // A person takes minutes, and a service that starts a browser takes its time; what answers nothing at all is neither.
    let answers = async { if endpoint::is_mute(&endpoint.url).await { Err(DialError::Mute) } else { Ok(()) } };
    tokio::select! {
        biased;
        dialled = &mut dialling => return dialled,
        answers = answers => answers?,
    }
    if !endpoint.may_ask {
        return tokio::time::timeout(HANDSHAKE, dialling).await.unwrap_or_else(|_| Err(timed_out(HANDSHAKE)));
    }
    // Nobody listens any more only when the driver ends, and this attempt with it.
    let why = format!(
        "the browser at {label} has not taken the connection yet: it asks whether it may be debugged; click Allow in its \
         window, and the connection goes on by itself"
    );
    let _ = asks.send(Prompt { why, found: endpoint.found.clone() });
    match tokio::time::timeout(CONSENT, dialling).await {
        Ok(Err(DialError::Refused(status))) => Err(turned_down(status)),
        Ok(dialled) => dialled,
        Err(_) => {
            let minutes = CONSENT.as_secs() / 60;
            Err(DialError::TurnedDown(format!("was not allowed to be debugged within {minutes} minutes")))
        }
    }
}
