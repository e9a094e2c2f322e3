//! Events as the contract prints them.

use ostler_core::SessionId;

use crate::tasks::Event;

/// Appends `{"seq","method","params","session_id"}`.
pub(super) fn write_numbered(out: &mut Vec<u8>, event: &Event) {
    out.extend_from_slice(format!(r#"{{"seq":{},"#, event.seq).as_bytes());
    write_rest(out, event);
}

/// Appends `{"method","params","session_id"}`.
pub(super) fn write(out: &mut Vec<u8>, event: &Event) {
    out.push(b'{');
    write_rest(out, event);
}

/// Appends a list of events, each through `write_one`.
pub(super) fn write_list(out: &mut Vec<u8>, events: &[Event], write_one: fn(&mut Vec<u8>, &Event)) {
    out.push(b'[');
    for (index, event) in events.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_one(out, event);
    }
    out.push(b']');
}

fn write_rest(out: &mut Vec<u8>, event: &Event) {
    out.extend_from_slice(br#""method":""#);
    out.extend_from_slice(&event.method);
    out.extend_from_slice(br#"","params":"#);
    out.extend_from_slice(&event.params);
    out.extend_from_slice(br#","session_id":"#);
    write_session(out, event.session_id.as_ref());
    out.push(b'}');
}

fn write_session(out: &mut Vec<u8>, session_id: Option<&SessionId>) {
    serde_json::to_writer(out, &session_id).expect("text serializes, and a vector takes it");
}
