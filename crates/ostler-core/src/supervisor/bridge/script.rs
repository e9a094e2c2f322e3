//! The script that the bridge puts into every document.

use std::sync::LazyLock;

use super::Transport;

/// The name under which the Debugger knows the script: all others are blackboxed.
pub(super) const NAME: &str = "ostler-bridge.js";
/// The function that a page is paused in when it asks.
pub(super) const ASK: &str = "ostlerBridgeAsk";

static BY_PAUSE: LazyLock<String> = LazyLock::new(|| source(include_str!("ask_by_debugger.js")));
static BY_REQUEST: LazyLock<String> = LazyLock::new(|| source(include_str!("ask_by_request.js")));

/// Returns the script for a transport as a JSON string.
pub(super) fn as_json(transport: Transport) -> &'static str {
    match transport {
        Transport::Pause => &BY_PAUSE,
        Transport::Request => &BY_REQUEST,
    }
}

fn source(ask: &str) -> String {
    let overrides = include_str!("overrides.js");
    serde_json::Value::from(format!("(() => {{\n\"use strict\";\n{ask}{overrides}}})();\n//# sourceURL={NAME}\n"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_that_asks_has_the_name_that_is_looked_for_in_both_transports() {
        for transport in [Transport::Pause, Transport::Request] {
            assert!(as_json(transport).contains(&format!("function {ASK}(question)")));
        }
    }
}
