//! The script that the bridge puts into every document, and the names by which it is known.

use std::fmt;

use super::Transport;
use super::secret::BridgeSecret;

/// The function that a page is paused in when it asks.
pub(super) const ASK: &str = "ostlerBridgeAsk";

/// One supervisor's script, for either transport.
pub(in super::super) struct Script {
    pub(super) secret: BridgeSecret,
    /// The name under which the Debugger knows it: all others are blackboxed.
    pub(in super::super) name: String,
    /// Where it sends its requests: a host that no network has (RFC 6761), over `https` so that secure pages may (fact B1).
    pub(in super::super) address: String,
    /// The sources as JSON strings.
    by_pause: String,
    by_request: String,
}

impl Script {
    pub(in super::super) fn new(secret: BridgeSecret) -> Self {
        let label = secret.label();
        let (name, address) = (format!("ostler-bridge-{label}.js"), format!("https://{label}.ostler-bridge.invalid/"));
        let proves = format!("const key = \"{}\";\n", secret.proof());
        let [first, second] = secret.key();
        let signs =
            format!("const key0 = 0x{first:x}n;\nconst key1 = 0x{second:x}n;\nconst address = \"{address}\";\n");
        let source = |knows: &str, ask: &str| {
            let overrides = include_str!("overrides.js");
            let text = format!("(() => {{\n\"use strict\";\n{knows}{ask}{overrides}}})();\n//# sourceURL={name}\n");
            serde_json::Value::from(text).to_string()
        };
        let by_pause = source(&proves, include_str!("ask_by_debugger.js"));
        let by_request = source(&signs, include_str!("ask_by_request.js"));
        Self { secret, name, address, by_pause, by_request }
    }

    /// Returns its source for a transport as a JSON string.
    pub(super) fn as_json(&self, transport: Transport) -> &str {
        match transport {
            Transport::Pause => &self.by_pause,
            Transport::Request => &self.by_request,
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_that_asks_has_the_name_that_is_looked_for_in_both_transports() {
        let script = Script::new(BridgeSecret::new([1, 2, 3]));
        for transport in [Transport::Pause, Transport::Request] {
            assert!(script.as_json(transport).contains(&format!("function {ASK}(question)")));
        }
    }

    #[test]
    fn a_script_that_prints_itself_keeps_its_key() {
        let script = Script::new(BridgeSecret::new([0xfeed, 0xbeef, 3]));
        let printed = format!("{script:?}");
        assert!(!printed.contains("feed") && !printed.contains("beef"), "{printed}");
    }
}
