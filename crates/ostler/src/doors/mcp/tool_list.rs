//! Which tools a host is offered now, in MCP's form. The table itself is the tools' own.

use rmcp::model::Tool;
use serde_json::Value;

use super::Toolsets;
use crate::tools::{self, TABLE, Toolset};

/// Returns the tools of these toolsets; those that need a browser's endpoint only while it is `reachable`.
pub(super) fn offered(toolsets: Toolsets, reachable: bool) -> Vec<Tool> {
    let is_offered = |tool: &&tools::Tool| toolsets.have(tool.toolset) && (reachable || !tool.needs_cdp);
    TABLE.iter().filter(is_offered).map(in_mcp).collect()
}

/// Returns whether a host may call a tool of this name. An unknown one it may: the daemon tells which there are.
pub(super) fn is_offered(name: &str, toolsets: Toolsets) -> bool {
    TABLE.iter().find(|tool| tool.name == name).is_none_or(|tool| toolsets.have(tool.toolset))
}

/// Returns a tool by its name.
pub(super) fn find(name: &str) -> Option<Tool> {
    TABLE.iter().find(|tool| tool.name == name).map(in_mcp)
}

fn in_mcp(tool: &tools::Tool) -> Tool {
    let Value::Object(schema) = tool.schema() else {
        unreachable!("a tool's arguments are a struct, and the schema of a struct is an object")
    };
    Tool::new(tool.name, tool.description(), schema)
}

impl Toolsets {
    fn have(self, toolset: Toolset) -> bool {
        match toolset {
            Toolset::Core => true,
            Toolset::Scripts => self.scripts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(toolsets: Toolsets, reachable: bool) -> Vec<String> {
        offered(toolsets, reachable).into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    #[test]
    fn without_an_endpoint_neither_dialogs_nor_cdp_are_offered() {
        let (with, without) = (names(Toolsets::default(), true), names(Toolsets::default(), false));
        let gone: Vec<_> = with.iter().filter(|name| !without.contains(name)).collect();
        assert_eq!(gone, ["browser_dialog", "browser_cdp"]);
    }

    #[test]
    fn scripts_are_offered_to_those_who_asked_for_them() {
        let scripts: Vec<_> = TABLE.iter().filter(|tool| tool.toolset == Toolset::Scripts).collect();
        for tool in scripts {
            assert!(!names(Toolsets::default(), true).iter().any(|name| name == tool.name));
            assert!(names(Toolsets { scripts: true }, true).iter().any(|name| name == tool.name));
            assert!(!is_offered(tool.name, Toolsets::default()));
        }
    }
}
