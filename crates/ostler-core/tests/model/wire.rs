//! What travels between the model browser and the supervisor, and in which orders it may arrive.
//!
//! Every session is a lane: what is sent on one arrives in the order in which it was sent. What a
//! renderer says reaches the connection after a while, so lanes interleave at random; what the browser
//! process says itself (targets, dialogs) is there at once, before all that anybody says later. And one
//! message can be the cause of another (`after`): a session says nothing before it was announced.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::No;
use super::prng::Rng;

/// The lane of what the browser says without a session.
pub(crate) const BROWSER: No = 0;

/// One message on its way: its lane and its number.
pub(crate) type Stamp = (No, u64);

/// What the arrival of a message means to the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    Nothing,
    /// A session is announced.
    Attached(No),
    /// A dialog is announced, on this session.
    Opening(No, No),
    /// In this tab a frame was taken away under this dialog (fact A25), told on this session.
    Orphaned(No, No, No),
    /// This dialog is told to wait for its page's next document.
    Stuck(No),
    /// A question of the bridge is there to be read, on this session.
    Asked(No, No),
    /// A target is announced.
    Created(No),
}

#[derive(Debug)]
struct Mail {
    number: u64,
    by_browser: bool,
    text: String,
    after: Option<Stamp>,
    note: Note,
}

/// All messages that the browser has sent and that have not arrived.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    lanes: BTreeMap<No, VecDeque<Mail>>,
    /// What must arrive before anything of a lane does.
    gates: BTreeMap<No, Stamp>,
    /// The numbers of what the browser process itself has said.
    by_browser: BTreeSet<u64>,
    sent: u64,
    /// How many have arrived.
    pub(crate) arrived: u64,
}

impl Outbox {
    pub(crate) fn push(&mut self, lane: No, text: String, after: Option<Stamp>, note: Note) -> Stamp {
        self.sent += 1;
        let by_browser = lane == BROWSER || is_said_by_browser(&text);
        if by_browser {
            self.by_browser.insert(self.sent);
        }
        self.lanes.entry(lane).or_default().push_back(Mail { number: self.sent, by_browser, text, after, note });
        (lane, self.sent)
    }

    /// Lets nothing of `lane` arrive before `stamp` has.
    pub(crate) fn gate(&mut self, lane: No, stamp: Stamp) {
        self.gates.insert(lane, stamp);
    }

    /// Returns the newest message of a lane that is still on its way.
    pub(crate) fn tail(&self, lane: No) -> Option<Stamp> {
        Some((lane, self.lanes.get(&lane)?.back()?.number))
    }

    fn has_arrived(&self, (lane, number): Stamp) -> bool {
        self.lanes.get(&lane).and_then(VecDeque::front).is_none_or(|first| first.number > number)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Loses all that is on its way.
    pub(crate) fn lose(&mut self) {
        self.lanes.clear();
        self.gates.clear();
        self.by_browser.clear();
    }

    /// Takes a message that may arrive next.
    pub(crate) fn deliver(&mut self, rng: &mut Rng) -> Option<(String, Note)> {
        let lanes: Vec<No> = self.lanes.keys().copied().collect();
        let start = if lanes.is_empty() { return None } else { rng.below(lanes.len()) };
        let due = self.by_browser.first().copied().unwrap_or(u64::MAX);
        // The oldest of all waits for nothing, so one is found.
        for turn in 0..lanes.len() {
            let lane = lanes[(start + turn) % lanes.len()];
            let first = self.lanes.get(&lane).and_then(VecDeque::front).expect("empty lanes are dropped");
            let open = self.gates.get(&lane).is_none_or(|gate| self.has_arrived(*gate));
            if !open || first.number > due || first.after.is_some_and(|after| !self.has_arrived(after)) {
                continue;
            }
            self.gates.remove(&lane);
            let queue = self.lanes.get_mut(&lane).expect("it was just looked at");
            let mail = queue.pop_front().expect("it was just looked at");
            if queue.is_empty() {
                self.lanes.remove(&lane);
            }
            if mail.by_browser {
                self.by_browser.remove(&mail.number);
            }
            self.arrived += 1;
            return Some((mail.text, mail.note));
        }
        unreachable!("messages wait for each other in a circle: {:?}", self.lanes);
    }
}

/// Returns whether a message on a session comes from the browser process and not from a renderer.
fn is_said_by_browser(text: &str) -> bool {
    ["Target.", "Inspector.", "Page.javascriptDialog"]
        .iter()
        .any(|by| text.strip_prefix(r#"{"method":""#).is_some_and(|method| method.starts_with(by)))
}

/// Makes a message of its text. Where the text has a `~`, an object ends: a newer Chromium may say
/// more there, and so does a sprinkled schedule.
pub(crate) fn encode(text: &str, sprinkles: Option<&mut Rng>) -> Bytes {
    let Some(rng) = sprinkles else {
        return if text.contains('~') { text.replace('~', "").into() } else { text.to_owned().into() };
    };
    let mut out = String::with_capacity(text.len() + 64);
    for piece in text.split_inclusive('~') {
        match piece.strip_suffix('~') {
            None => out.push_str(piece),
            Some(start) => {
                out.push_str(start);
                let more = match rng.below(8) {
                    0 => r#","quantum":{"id":7,"method":"Page.frameDetached","params":[1,{"sessionId":"S"}]}"#,
                    1 => r#","newer":"\ud800""#,
                    2 => r#","newer":null,"newest":[[],{}]"#,
                    _ => "",
                };
                out.push_str(if out.ends_with('{') { more.trim_start_matches(',') } else { more });
            }
        }
    }
    out.into()
}

/// A command of the supervisor's as the browser reads it.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) id: u64,
    pub(crate) method: Box<str>,
    /// The session as it was written, empty for the browser, and its number.
    pub(crate) session: Option<No>,
    /// Which client's call this is; none for the supervisor's own.
    pub(crate) mark: Option<u64>,
    pub(crate) params: Params,
    /// How many messages had arrived at the supervisor when it sent this.
    pub(crate) heard: u64,
}

/// The parameters that the model acts on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Params {
    pub(crate) mark: Option<u64>,
    pub(crate) target_id: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) accept: Option<bool>,
    pub(crate) prompt_text: Option<String>,
    pub(crate) filter: Option<Vec<serde_json::Value>>,
    pub(crate) source: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) expression: Option<String>,
    pub(crate) call_frame_id: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) body: Option<String>,
}

impl Params {
    /// Returns the answer that these give to a question of the bridge.
    pub(crate) fn gives(&self) -> Option<bool> {
        // As base64 has them.
        const ACCEPTS: &str = "eyJhY2NlcHQiOnRydW";
        const DISMISSES: &str = "eyJhY2NlcHQiOmZhbHNl";
        let starts = |start| self.body.as_deref().is_some_and(|body| body.starts_with(start));
        let says = |what| self.expression.as_deref().is_some_and(|expression| expression.contains(what));
        let accepts = starts(ACCEPTS) || says(r#""accept":true"#);
        let dismisses = starts(DISMISSES) || says(r#""accept":false"#);
        (accepts || dismisses).then_some(accepts)
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    id: u64,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(rename = "sessionId")]
    session: Option<&'a str>,
}

/// Reads a command; `session` turns a session's name into its number, 0 if it never was one.
pub(crate) fn read(message: &Bytes, heard: u64, session: impl Fn(&str) -> No) -> Command {
    let envelope: Envelope<'_> = serde_json::from_slice(message).expect("the supervisor writes valid commands");
    let params: Params = match envelope.params.map(RawValue::get) {
        None | Some("{}") => Params::default(),
        Some(raw) => serde_json::from_str(raw).expect("parameters are an object"),
    };
    Command {
        id: envelope.id,
        method: envelope.method.into(),
        session: envelope.session.map(session),
        mark: params.mark,
        params,
        heard,
    }
}
