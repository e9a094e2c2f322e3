//! Reads the daemon's replies, no deeper than a verb needs: a result may be a hundred megabytes.

use ostler_core::cdp::text::decode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::failure::Failure;

/// The fields that tell an error from a result.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    error_code: Option<String>,
}

/// The reply to a CDP call.
#[derive(Deserialize)]
struct Passed<'a> {
    #[serde(borrow)]
    result: &'a RawValue,
}

/// Returns the reply unless it is an error.
pub(super) fn not_an_error(reply: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let head: Head<'_> = serde_json::from_slice(&reply).map_err(|error| Failure::Nonsense(error.to_string()))?;
    let Some(error) = head.error else { return Ok(reply) };
    let sentence = decode(error.get()).unwrap_or_else(|| error.get().to_owned());
    let wrong_call = head.error_code.as_deref() == Some("bad_request");
    Err(Failure::Answer { sentence, reply, wrong_call })
}

/// Returns the browser's result, untouched.
pub(super) fn result(reply: &[u8]) -> Result<&RawValue, Failure> {
    let passed: Passed<'_> = serde_json::from_slice(reply).map_err(|error| Failure::Nonsense(error.to_string()))?;
    Ok(passed.result)
}

/// Returns the fields that `T` wants.
pub(super) fn read<T: DeserializeOwned>(reply: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(reply).map_err(|error| Failure::Nonsense(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_passes_untouched() {
        let reply = br#"{"id":1,"result":{"value":"\ud800","n":1.0}}"#.to_vec();
        let reply = not_an_error(reply).expect("no error");
        assert_eq!(result(&reply).expect("a result").get(), r#"{"value":"\ud800","n":1.0}"#);
    }

    #[test]
    fn an_error_is_a_failure_with_its_sentence() {
        let failure = not_an_error(br#"{"error":"no task x","error_code":"unknown_task","known":[]}"#.to_vec());
        let Err(Failure::Answer { sentence, wrong_call, .. }) = failure else { unreachable!("{failure:?}") };
        assert_eq!((sentence.as_str(), wrong_call), ("no task x", false));
    }

    #[test]
    fn what_is_no_json_object_is_nonsense() {
        for reply in ["", "hello", "[]", "{\"result\":"] {
            assert!(matches!(not_an_error(reply.into()), Err(Failure::Nonsense(_))), "{reply:?}");
        }
    }
}
