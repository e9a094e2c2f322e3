//! One `Target.setAutoAttach`: which targets it takes, and whether they wait to be resumed.

use serde_json::Value;

use crate::wire::Command;

#[derive(Clone)]
pub(super) struct AutoAttach {
    pub(super) waits: bool,
    filter: Vec<Entry>,
}

/// The first entry that fits a target's type decides.
#[derive(Clone)]
struct Entry {
    kind: Option<String>,
    exclude: bool,
}

impl AutoAttach {
    /// Reads the command; none is "off".
    pub(super) fn read(command: &Command) -> Option<Self> {
        command.flag("autoAttach").filter(|on| *on)?;
        Some(Self {
            waits: command.flag("waitForDebuggerOnStart").unwrap_or(false),
            filter: match command.value("filter") {
                Some(Value::Array(entries)) => entries.iter().map(Entry::read).collect(),
                _ => default_filter(),
            },
        })
    }

    pub(super) fn takes(&self, kind: &str) -> bool {
        let fits = |entry: &&Entry| entry.kind.as_deref().is_none_or(|wanted| wanted == kind);
        self.filter.iter().find(fits).is_some_and(|entry| !entry.exclude)
    }
}

impl Entry {
    fn read(entry: &Value) -> Self {
        Self { kind: entry["type"].as_str().map(str::to_owned), exclude: entry["exclude"].as_bool().unwrap_or(false) }
    }
}

/// Everything but the browser itself and `tab` targets, which stand one level above pages.
fn default_filter() -> Vec<Entry> {
    let entry = |kind: Option<&str>, exclude| Entry { kind: kind.map(str::to_owned), exclude };
    vec![entry(Some("browser"), true), entry(Some("tab"), true), entry(None, false)]
}
