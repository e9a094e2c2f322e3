//! The tools on a real Chromium, through the line protocol.

mod click;
mod documented;
mod navigate;
mod poisoned;
mod refs;
mod screenshot;
mod scripts;
mod tabs;
mod typing;
mod waiting;

use serde_json::{Value, json};

use super::world::World;

impl World {
    /// Runs a tool and returns its whole answer.
    #[track_caller]
    pub(crate) fn try_tool(&mut self, name: &str, args: Value) -> Value {
        self.line.ask(json!({"meta": "tool", "name": name, "args": args}))
    }

    /// Runs a tool that succeeds and returns its `{"text", "data"}`.
    #[track_caller]
    pub(crate) fn tool(&mut self, name: &str, args: Value) -> Value {
        let answer = self.try_tool(name, args);
        assert!(answer.get("error").is_none(), "{name}: {answer}");
        answer["result"].clone()
    }
}

/// Returns a result's text.
#[track_caller]
fn text(result: &Value) -> &str {
    result["text"].as_str().expect("every result has a text")
}
