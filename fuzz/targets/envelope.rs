//! A message from the browser, of any bytes: it is read without a panic, and what is read of it is what it says.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use ostler_core::cdp::envelope::{self, Message};
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let message = Bytes::copy_from_slice(bytes);
    let Some(read) = envelope::read(&message) else { return };
    // Half surrogates are valid in raw JSON and in nothing else: then there is nothing to compare with.
    let Ok(whole) = serde_json::from_slice::<Value>(bytes) else { return };
    match read {
        Message::Response { id, outcome } => {
            assert_eq!(Some(id.0), whole["id"].as_u64());
            if let Ok(result) = outcome {
                assert!(!whole.as_object().expect("an object").contains_key("error") || whole["error"].is_null());
                let expected = if whole["result"].is_null() { None } else { Some(&whole["result"]) };
                let result: Value = serde_json::from_slice(&result).expect("a result is JSON");
                assert_eq!(&result, expected.unwrap_or(&result));
            }
        }
        Message::Event(event) => {
            assert_eq!(Some(&*event.method), whole["method"].as_str());
            let params: Value = serde_json::from_str(&event.params).expect("parameters are JSON");
            assert!(params == whole["params"] || whole["params"].is_null());
            assert_eq!(event.session.as_ref().map(|session| session.as_str()), whole["sessionId"].as_str());
        }
    }
});
