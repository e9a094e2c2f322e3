//! The rows: each a function that sets its scene up, measures, and says what came of it.

mod calls;
mod core;
mod dialogs;
mod mcp;
mod memory;
mod processes;
mod snapshot;
mod tabs;

use crate::Result;
use crate::report::Figure;
use crate::setup::Setup;

/// One row of the design's table.
pub(crate) struct Row {
    /// Its name there.
    pub(crate) name: &'static str,
    pub(crate) measure: fn(&Setup) -> Result<Vec<Figure>>,
}

/// All rows that are measured, in the design's order.
pub(crate) const ROWS: [Row; 14] = [
    Row { name: "P1", measure: calls::kept_connection },
    Row { name: "P2", measure: calls::fresh_connections },
    Row { name: "P3", measure: dialogs::state_in_a_storm },
    Row { name: "P4", measure: dialogs::time_until_seen },
    Row { name: "P5", measure: calls::large_screenshot },
    Row { name: "P6", measure: processes::whole_commands },
    Row { name: "P7", measure: memory::resident },
    Row { name: "P8", measure: snapshot::of_a_large_page },
    Row { name: "P9", measure: mcp::tool_list },
    Row { name: "P10", measure: processes::first_result },
    Row { name: "P11", measure: tabs::a_thousand },
    Row { name: "P12", measure: core::events_per_second },
    Row { name: "P13", measure: mcp::over_stdio },
    Row { name: "dialog", measure: dialogs::while_one_is_open },
];
