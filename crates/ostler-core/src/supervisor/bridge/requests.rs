//! Questions that come as requests of our script, held by `Fetch` until they are answered (facts B1, B2).
//!
//! The page is as deaf meanwhile as under a native dialog.

use memchr::memmem;

use super::super::{Purpose, Supervisor, wire};
use super::asking::Held;
use super::pauses::Told;
use super::question::Question;
use super::{Transport, Via};
use crate::ids::{FrameId, SessionId};

impl Supervisor {
    /// Returns the parameters of `Fetch.enable` that hold our script's requests and no others.
    pub(super) fn held_requests(&self) -> String {
        format!(r#"{{"patterns":[{{"urlPattern":"{}"}}]}}"#, self.script.address)
    }

    /// Returns whether clients are told of an event that may be about a request of ours.
    pub(in super::super) fn on_request_event(&mut self, method: &str, params: &str, id: &SessionId) -> Told {
        let by_request = self.bridge_mut(id).is_some_and(|bridge| bridge.transport == Transport::Request);
        // Most events name other addresses, and cost no more than a look. One may stand in any part of the event.
        let named = by_request && memmem::find(params.as_bytes(), self.script.address.as_bytes()).is_some();
        let about = if named { wire::read::<wire::AboutRequest<'_>>(params) } else { None };
        let Some(about) = about.filter(|about| about.url().is_some_and(|url| url == self.script.address)) else {
            return Told::Yes;
        };
        if method == "Fetch.requestPaused"
            && let Some(request) = about.request_id
        {
            self.on_request_held(params, id, &request);
        }
        Told::No
    }

    fn on_request_held(&mut self, params: &str, id: &SessionId, request: &str) {
        // Whatever cannot be read or shown is asked by the page's native dialog instead. Pages know the address from their
        // performance entries, and their own requests end the same way.
        if !self.take_question(params, id, request) {
            self.fail_held(id, request);
        }
    }

    /// Returns whether it is a question of our script.
    fn take_question(&mut self, params: &str, id: &SessionId, request: &str) -> bool {
        let Some(held) = wire::read::<wire::RequestPaused<'_>>(params) else { return false };
        let signed = held.request.post_data.as_deref().and_then(|body| Some(body.split_at(body.find('{')?)));
        let Some((signature, text)) = signed else { return false };
        if u64::from_str_radix(signature, 16) != Ok(self.script.secret.sign(text)) {
            return false;
        }
        let document = self.document_in(id, &held.frame_id);
        let held_request = Held::Request { id: request.into(), question: text.into(), document };
        self.ask_if_allowed(id, held.frame_id, held_request);
        true
    }

    /// The frame may ask.
    pub(super) fn ask_by_request(&mut self, id: &SessionId, frame: FrameId, request: &str, text: &str) {
        let Some(question) = wire::read::<Question<'_>>(text) else { return self.fail_held(id, request) };
        if question.is_print() {
            self.on_print(id, &frame, &question);
            return self.answer_request(Purpose::Ignored, id, request, r#"{"accept":true}"#);
        }
        self.close_before_question(id, |core| core.close_requests_of(id, &frame));
        let via = Via::Request { id: request.into() };
        if !self.on_bridge_question(id, frame, &question, via) {
            self.fail_held(id, request);
            self.adjust_bridge_of(id);
        }
    }

    /// A frame waits for one request at a time: what it asked before is over, by our answer if one is on its way, whose
    /// reply may come after its page has asked again.
    fn close_requests_of(&mut self, id: &SessionId, frame: &FrameId) {
        let Some(target) = self.sessions.get(id).and_then(|session| session.tab.clone()) else { return };
        let Some(tab) = self.tabs.get(&target) else { return };
        let of_frame = tab.dialogs.iter().filter(|dialog| {
            matches!(dialog.via, Via::Request { .. }) && dialog.owner == *id && dialog.view.frame_id == *frame
        });
        for number in of_frame.map(|dialog| dialog.view.id).collect::<Vec<_>>() {
            let Some(dialog) = self.take_dialog(&target, number) else { continue };
            if dialog.answer.is_none() {
                self.free_bridged(&dialog);
            }
            self.record_as_answered(&target, dialog);
        }
    }

    fn fail_held(&mut self, id: &SessionId, request: &str) {
        let params = super::object(&[("requestId", request), ("errorReason", "Failed")]);
        self.send_own(Purpose::Ignored, Some(id), "Fetch.failRequest", &params);
    }

    pub(in super::super) fn answer_request(&mut self, purpose: Purpose, id: &SessionId, request: &str, answer: &str) {
        let params = format!(
            r#"{{"requestId":{},"responseCode":200,"responseHeaders":[{{"name":"Access-Control-Allow-Origin","value":"*"}},{{"name":"Cross-Origin-Resource-Policy","value":"cross-origin"}},{{"name":"Content-Type","value":"text/plain; charset=utf-8"}},{{"name":"Cache-Control","value":"no-store"}}],"body":"{}"}}"#,
            serde_json::Value::from(request),
            base64(answer.as_bytes())
        );
        self.send(purpose, Some(id), "Fetch.fulfillRequest", Some(params.as_bytes()), super::super::answers::ANSWER);
    }
}

/// Encodes a body as CDP wants it.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0, |group, byte| group << 8 | usize::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[group >> (18 - 6 * place) & 63];
            out.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn a_body_is_encoded_as_rfc_4648_says() {
        for (text, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("ä?>", "w6Q/Pg==")] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }
}
